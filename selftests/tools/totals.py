#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the test cases of one `meson test` run.

Meson counts programs; people want cases. Each program in meson-logs/testlog.json counts as the
cases it reports: GoogleTest's result file, TAP lines, or one case when it reports none. The last
line printed is "PASSED FAILED SKIPPED"; what failed, and why, goes to standard error. Exits 1
when a case failed or when no case ran.
"""

import argparse
import collections
import fnmatch
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
Case = collections.namedtuple("Case", "name outcome why", defaults=[""])

TAP_LINE = re.compile(r"(not )?ok\b\s*(\d*)[ -]*([^#]*)(?:#\s*(\w+)\s*(.*))?")
OF_RESULT = {"OK": PASSED, "EXPECTEDFAIL": PASSED, "SKIP": SKIPPED}  # all others are failures
CLOCK_SLACK = 0.1  # seconds that a file's time may lag behind the system's clock


def read_allowed(path):
    """Returns the (pattern, reason) pairs of a file of `PATTERN: REASON` lines."""
    allowed = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            pattern, _, reason = line.partition(": ")
            if not reason.strip():
                raise ValueError(f"{path}:{number}: '{line}' gives no reason: write PATTERN: REASON")
            allowed.append((pattern, reason.strip()))
    return allowed


def gtest_cases(test, path, entry):
    """The cases in GoogleTest's result file, or one failure when this run did not write it."""
    try:
        if os.path.getmtime(path) < entry["starttime"] - CLOCK_SLACK:
            return [Case(test, FAILED, f"{ending(entry)}; {path} is of an earlier run")]
        root = ElementTree.parse(path).getroot()
    except FileNotFoundError:
        return [Case(test, FAILED, f"{ending(entry)}; it did not write {path}")]
    except ElementTree.ParseError as error:
        return [Case(test, FAILED, f"{ending(entry)}; {path} is broken: {error}")]
    cases = []
    for node in root.iter("testcase"):
        name = f"{test}/{node.get('classname')}.{node.get('name')}"
        if node.find("failure") is not None or node.find("error") is not None:
            cases.append(Case(name, FAILED, "assertion failed"))
        elif node.find("skipped") is not None or node.get("status") == "notrun":
            cases.append(Case(name, SKIPPED))
        else:
            cases.append(Case(name, PASSED))
    return cases


def tap_cases(test, text):
    """The cases of a TAP stream; Meson has already judged its plan and its syntax."""
    cases = []
    for line in text.splitlines():
        match = TAP_LINE.match(line)
        if not match:
            continue
        bad, number, title, directive, why = match.groups()
        directive = (directive or "").upper()
        outcome = FAILED if bad else PASSED
        if directive == "SKIP":
            outcome = SKIPPED
        elif directive == "TODO":
            outcome = PASSED if bad else FAILED
        cases.append(Case(f"{test}/{title.strip() or number}", outcome, why or ""))
    return cases


def name_of(entry):
    return entry["name"].rpartition(" / ")[2]  # Meson writes PROJECT:SUITES / NAME


def cases_of(entry, known, build_dir):
    """The cases of one entry of testlog.json, where a bad end counts as at least one failure.

    `known` is the test's entry in intro-tests.json.
    """
    test = name_of(entry)
    outcome = OF_RESULT.get(entry["result"], FAILED)
    if entry["result"] == "EXPECTEDFAIL" or outcome == SKIPPED:
        return [Case(test, outcome)]
    if known["protocol"] == "gtest":
        path = os.path.join(known["workdir"] or build_dir, test + ".xml")
        cases = gtest_cases(test, path, entry)
    elif known["protocol"] == "tap":
        cases = tap_cases(test, entry.get("stdout") or "")
    else:
        return [Case(test, outcome, ending(entry))]
    if outcome == FAILED and not any(case.outcome == FAILED for case in cases):
        cases.append(Case(test, FAILED, ending(entry)))
    return cases or [Case(test, FAILED, "ran no case")]


def ending(entry):
    return f"{entry['result']}, exit status {entry['returncode']}"


def collect(build_dir):
    """All cases of the last `meson test` in build_dir, in the order in which they ended."""
    log = os.path.join(build_dir, "meson-logs", "testlog.json")
    if not os.path.exists(log):
        return []
    with open(os.path.join(build_dir, "meson-info", "intro-tests.json"), encoding="utf-8") as file:
        tests = json.load(file)
    known = {test["name"]: test for test in tests}
    cases = []
    for name, times in collections.Counter(test["name"] for test in tests).items():
        if times > 1:  # they would overwrite each other's result files
            cases.append(Case(name, FAILED, f"{times} tests have this name"))
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            cases += cases_of(entry, known[name_of(entry)], build_dir)
    return cases


def judge(cases, allowed):
    """Turns each skipped case that no line of `allowed` excuses into a failure."""
    for case in cases:
        if case.outcome == SKIPPED:
            excused = any(fnmatch.fnmatchcase(case.name, pattern) for pattern, _ in allowed)
            if not excused:
                case = case._replace(outcome=FAILED, why=f"skipped without leave {case.why}".strip())
        yield case


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Counts the test cases of one meson test run.")
    parser.add_argument("build_dir")
    parser.add_argument("--allowed", default=os.path.join(here, "allowed-skips"), metavar="FILE")
    parser.add_argument("--status", type=int, default=0, help="exit status of meson test")
    options = parser.parse_args(arguments)

    cases = list(judge(collect(options.build_dir), read_allowed(options.allowed)))
    if options.status != 0 and not any(case.outcome == FAILED for case in cases):
        cases.append(Case("meson test", FAILED, f"ended with status {options.status}"))
    if not any(case.outcome in (PASSED, FAILED) for case in cases):
        cases.append(Case(options.build_dir, FAILED, "no test ran"))
    for case in cases:
        if case.outcome == FAILED:
            print(f"FAILED {case.name}: {case.why}", file=sys.stderr)
    count = collections.Counter(case.outcome for case in cases)
    print(count[PASSED], count[FAILED], count[SKIPPED])
    return 1 if count[FAILED] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
