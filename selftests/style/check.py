#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rules that a compiler cannot: formatting, licences, includes, paths, shell scripts.

`check.py [NAME…]` runs the named checks, or all of them, and prints a TAP line for each, with what
is wrong and where below it. `check.py --fix format` rewrites the files that clang-format would.
Exits 1 when a check fails.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

CXX = (".c", ".h", ".cc", ".cpp", ".hpp")
LONG_FILE = 400  # lines; longer files are reported, not refused

# Prose, files that others wrote, and those that cannot hold a comment.
NO_LICENCE_LINE = ["*.md", "LICENSES/*", "packaging/debian/*", "*.json", "*.npy", "*.csv", "*.bin", "*.hex",
                   "*.golden", "*.png", "*.svg", "selftests/golden/*.txt"]
LICENCES = [  # the first pattern that matches says which licence a file has
    ("kernel/*", "GPL-2.0-only"),
    ("libuapi/uapi/*.h", "GPL-2.0-only WITH Linux-syscall-note OR MIT"),
    ("libuapi/core/*.[ch]", "GPL-2.0-only OR MIT"),
    ("*", "MIT"),
]

# Which parts of the tree a part may include beside itself; the parts that are not named may include
# all. The longest name that fits a file counts.
MAY_INCLUDE = {
    "libuapi": [],
    "kernel": ["libuapi"],
    "firmware-stub": ["libuapi"],
    "daemon": ["libuapi"],
    "daemon/device": ["libuapi", "daemon", "firmware-stub"],
}
CORE_HEADERS = {"stdbool.h", "stddef.h", "stdint.h", "string.h"}  # what kernel code can have too

INCLUDE = re.compile(r'^\s*#\s*(?:include|define HWY_TARGET_INCLUDE)\s*([<"])([^>"]+)[>"]')
CLIMBING_PATH = re.compile(r"(?<![\w./*-])(?:\.\.?/)*\.\./[\w./-]*")
MACHINE_PATH = re.compile(r"(?<![\w.~$}*])/(?:home|root|work|Users)/[\w.-]+")
DOCUMENT = re.compile(r"(?<![\w./*-])[\w./-]*\w\.md\b")


class Tree:
    """The files that are, or would be, in the repository: tracked ones and new ones not ignored."""

    def __init__(self, root):
        self.root = root
        listing = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=root, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        self.files = sorted({name for name in listing if os.path.isfile(self.path(name))})

    def path(self, name):
        return os.path.join(self.root, name)

    def has(self, name):
        return os.path.exists(self.path(name))

    def has_inside(self, name, runtime=False):
        """Whether name does not climb out of the tree and exists, or may exist at run time."""
        name = os.path.normpath(name)
        top = name.partition("/")[0]
        return top != ".." and (runtime or top == "build" or self.has(name))

    def sources(self):
        return [name for name in self.files
                if name.endswith(CXX) and not name.startswith("selftests/golden/")]

    def lines(self, name):
        """The numbered lines of a text file; none of a binary one."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        try:
            return list(enumerate(data.decode().splitlines(), 1)) if b"\0" not in data else []
        except UnicodeDecodeError:
            return []


def format_arguments(fix):
    return ["clang-format", "-i"] if fix else ["clang-format", "--dry-run", "-Werror"]


def check_format(tree, fix=False):
    """C and C++ are formatted by clang-format; `./dev fmt` does it"""
    files = tree.sources()

    def run(batch):
        done = subprocess.run(format_arguments(fix) + batch, cwd=tree.root, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    problems = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, text in pool.map(run, [files[i:i + 8] for i in range(0, len(files), 8)]):
            found = re.findall(r"^(\S+?):(\d+):\d+: error: code should", text, re.MULTILINE)
            for name in sorted({name for name, _ in found}):
                first = next(line for other, line in found if other == name)
                problems.append(f"{name}:{first}: is not formatted: run ./dev fmt")
            if code != 0 and not found:
                problems.append(f"clang-format: {text.strip()}")
    return problems


def check_licence(tree):
    """each file starts with the SPDX line of its folder, and LICENSES/ has each text"""
    problems, used = [], set()
    for name in tree.files:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in NO_LICENCE_LINE):
            continue
        wanted = next(licence for pattern, licence in LICENCES if fnmatch.fnmatchcase(name, pattern))
        top = "\n".join(line for _, line in tree.lines(name)[:3])
        found = re.search(r"SPDX-License-Identifier: ([\w.() -]*[\w.)])", top)
        got = re.sub(r"[()]", "", found.group(1)) if found else "nothing"
        if got != wanted:
            problems.append(f"{name}:1: SPDX-License-Identifier is {got}, should be {wanted}")
        used.update(re.findall(r"[A-Z][\w.-]*(?:-only|-note)|MIT", wanted))
    return problems + [f"LICENSES/{licence}.txt: is used but missing" for licence in sorted(used)
                       if not tree.has(f"LICENSES/{licence}.txt")]


def part_of(name):
    """The longest key of MAY_INCLUDE that name lies in, else its first folder."""
    parts = [part for part in MAY_INCLUDE if name.startswith(part + "/")]
    return max(parts, key=len) if parts else name.partition("/")[0]


def include_problem(tree, name, opening, target):
    beside = os.path.normpath(os.path.join(os.path.dirname(name), target))
    here = part_of(name)
    if tree.has(target):
        found = os.path.normpath(target)
    elif opening == '"' and tree.has(beside):
        found = beside
    elif here in MAY_INCLUDE and any(file.endswith("/" + target) for file in tree.files):
        return f"{target} must be named by its path from the root of the tree"
    elif name.startswith("libuapi/core/") and not target.startswith("linux/"):
        return None if target in CORE_HEADERS else f"<{target}> cannot be had in the kernel"
    else:
        return None
    allowed = [here] + MAY_INCLUDE.get(here, [""])
    if any(found.startswith(part and part + "/") for part in allowed):
        return None
    return f"{here} includes {found}, but may include only {', '.join(allowed)}"


def check_include(tree):
    """libuapi, kernel, firmware-stub and daemon include only what they may"""
    problems = []
    for name in tree.sources():
        for number, line in tree.lines(name):
            match = INCLUDE.match(line)
            problem = include_problem(tree, name, *match.groups()) if match else None
            if problem:
                problems.append(f"{name}:{number}: {problem}")
    return problems


def path_problems(tree, name, line):
    folder = os.path.dirname(name)
    for match in CLIMBING_PATH.finditer(line):
        literal = name.endswith(CXX) and line[:match.start()].endswith('"')
        if not tree.has_inside(os.path.join(folder, match.group().rstrip(".")), runtime=literal):
            yield f"'{match.group()}' is not in the tree"
    for match in MACHINE_PATH.finditer(line):
        yield f"'{match.group()}' is a path of one machine"
    for match in DOCUMENT.finditer(line):
        places = ("", folder, "docs")
        if not any(tree.has_inside(os.path.join(place, match.group())) for place in places):
            yield f"'{match.group()}' is not in the tree"


def check_path(tree):
    """nothing names a path outside the tree, or a document that is not in it"""
    return [f"{name}:{number}: {problem}" for name in tree.files
            if not fnmatch.fnmatchcase(name, "LICENSES/*") and name not in OWN_FILES
            for number, line in tree.lines(name) for problem in path_problems(tree, name, line)]


OWN_FILES = ("selftests/style/check.py", "selftests/style/check_test.py")  # they hold bad examples


def check_shell(tree):
    """shellcheck has nothing to say about any shell script"""
    scripts = [name for name in tree.files
               if any(re.match(r"#!.*\b(sh|bash|dash)\b", line) for _, line in tree.lines(name)[:1])]
    if not scripts:
        return []
    run = subprocess.run(["shellcheck", "-f", "gcc", *scripts], cwd=tree.root, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.stdout.splitlines() or ([f"shellcheck: status {run.returncode}"] if run.returncode else [])


def check_tools(tree):
    """the scripts that judge the tests pass their own tests"""
    problems = []
    for name in tree.files:
        if re.fullmatch(r"selftests/(style|tools)/\w+_test\.py", name):
            run = subprocess.run([sys.executable, "-B", tree.path(name)], check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            ran = re.search(r"^Ran [1-9]\d* tests?", run.stdout, re.MULTILINE)
            if run.returncode != 0 or not ran:
                problems += [f"{name}: status {run.returncode}"] + run.stdout.splitlines()
    return problems


CHECKS = {"format": check_format, "licence": check_licence, "include": check_include,
          "path": check_path, "shell": check_shell, "tools": check_tools}


def long_files(tree):
    counts = [(len(tree.lines(name)), name) for name in tree.files
              if name.endswith(CXX + (".py", ".sh")) or name == "dev"]
    return sorted((count for count in counts if count[0] > LONG_FILE), reverse=True)


def main(arguments):
    parser = argparse.ArgumentParser(description="Checks the style of the tree.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CHECKS))
    parser.add_argument("--fix", action="store_true", help="format the files instead of checking")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in CHECKS]
    if unknown:
        parser.error(f"there is no check '{unknown[0]}', only {', '.join(CHECKS)}")

    tree = Tree(ROOT)
    failed = False
    for number, name in enumerate(options.names or CHECKS, 1):
        check = CHECKS[name]
        problems = check(tree, options.fix) if name == "format" else check(tree)
        failed |= bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {name}: {check.__doc__}")
        for problem in problems:
            print(f"#   {problem}")
        sys.stdout.flush()
    if not options.names:
        for count, name in long_files(tree):
            print(f"# {name} has {count} lines (aim: at most {LONG_FILE})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
