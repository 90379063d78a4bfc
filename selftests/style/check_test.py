#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests check.py: each rule is broken once in a toy tree, and must say where and why."""

import os
import subprocess
import tempfile
import unittest

import check


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        subprocess.run(["git", "init", "-q", self.root], check=True)
        for licence in ("MIT", "GPL-2.0-only", "Linux-syscall-note"):
            self.write(f"LICENSES/{licence}.txt", "text\n")
        self.write(".clang-format", "# SPDX-License-Identifier: MIT\nBasedOnStyle: Google\n")

    def write(self, name, text, licence="MIT"):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if name.endswith(check.CXX) and licence:
            text = f"// SPDX-License-Identifier: {licence}\n{text}"
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    def problems(self, rule):
        return check.CHECKS[rule](check.Tree(self.root))

    def one(self, rule, *words):
        """Expects exactly one problem, with all the words in it."""
        found = self.problems(rule)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_format(self):
        self.write("daemon/a.cpp", "int a;\n")
        self.assertEqual(self.problems("format"), [])
        self.write("daemon/b.cpp", "int  b ;\n")
        self.one("format", "daemon/b.cpp:2:", "./dev fmt")
        check.check_format(check.Tree(self.root), fix=True)
        self.assertEqual(self.problems("format"), [])

    def test_licence(self):
        self.write("daemon/a.cpp", "")
        self.write("kernel/a.c", "", "GPL-2.0-only")
        self.write("libuapi/core/a.c", "", "GPL-2.0-only OR MIT")
        self.write("libuapi/uapi/a.h", "", "((GPL-2.0-only WITH Linux-syscall-note) OR MIT)")
        self.write("README.md", "Prose.\n")
        self.write("run", "#!/bin/sh\n# SPDX-License-Identifier: MIT\n")
        self.assertEqual(self.problems("licence"), [])

    def test_licence_missing(self):
        self.write("daemon/a.cpp", "int a;\n", licence=None)
        self.one("licence", "daemon/a.cpp:1:", "is nothing, should be MIT")

    def test_licence_of_another_folder(self):
        self.write("kernel/a.c", "", "MIT")
        self.one("licence", "kernel/a.c:1:", "is MIT, should be GPL-2.0-only")

    def test_licence_text_missing(self):
        self.write("kernel/a.c", "", "GPL-2.0-only")
        os.remove(os.path.join(self.root, "LICENSES/GPL-2.0-only.txt"))
        self.one("licence", "LICENSES/GPL-2.0-only.txt")

    def includes(self, name, line):
        for header in ("libuapi/abi/word.h", "firmware-stub/cce/add.hpp", "daemon/emit/emit.hpp",
                       "daemon/device/device.hpp", "kernel/ring.h", "selftests/unit/help.hpp"):
            self.write(header, "")
        self.write(name, line + "\n")
        return self.problems("include")

    def test_include_allowed(self):
        for name, line in (
                ("libuapi/core/a.c", '#include "libuapi/abi/word.h"'),
                ("libuapi/core/a.c", "#include <stdint.h>"),
                ("libuapi/core/a.c", "#include <linux/types.h>"),
                ("libuapi/client/a.cpp", "#include <vector>"),
                ("libuapi/client/a.cpp", '#include "fmt/format.h"'),
                ("libuapi/abi/a.h", '#include "word.h"'),
                ("kernel/a.c", '#include "libuapi/abi/word.h"'),
                ("kernel/a.c", '#include "ring.h"'),
                ("firmware-stub/cce/a.cpp", '#define HWY_TARGET_INCLUDE "firmware-stub/cce/a.cpp"'),
                ("firmware-stub/model/a.cpp", '#include "firmware-stub/cce/add.hpp"'),
                ("daemon/server/a.cpp", '#include "daemon/device/device.hpp"'),
                ("daemon/device/a.cpp", '#include "firmware-stub/cce/add.hpp"'),
                ("daemon/device/a.cpp", '#include "daemon/emit/emit.hpp"'),
                ("selftests/unit/a.cpp", '#include "firmware-stub/cce/add.hpp"'),
                ("packaging/examples/a.c", "#include <word.h>")):
            self.assertEqual(self.includes(name, line), [], (name, line))

    def test_include_refused(self):
        for name, line in (
                ("libuapi/client/a.cpp", '#include "daemon/emit/emit.hpp"'),
                ("libuapi/client/a.cpp", "#include <daemon/emit/emit.hpp>"),
                ("libuapi/abi/a.h", '#  include "firmware-stub/cce/add.hpp"'),
                ("libuapi/abi/a.h", '#include "../../kernel/ring.h"'),
                ("libuapi/core/a.c", "#include <stdio.h>"),
                ("kernel/a.c", '#include "daemon/emit/emit.hpp"'),
                ("firmware-stub/cce/a.cpp", '#include "daemon/emit/emit.hpp"'),
                ("firmware-stub/cce/a.cpp", '#include "selftests/unit/help.hpp"'),
                ("firmware-stub/cce/a.cpp", '#define HWY_TARGET_INCLUDE "daemon/emit/emit.hpp"'),
                ("daemon/server/a.cpp", '#include "firmware-stub/cce/add.hpp"'),
                ("daemon/device/a.cpp", '#include "kernel/ring.h"'),
                ("daemon/server/a.cpp", '#include "emit/emit.hpp"'),
                ("libuapi/client/a.cpp", "#include <emit/emit.hpp>")):
            found = self.includes(name, line)
            self.assertEqual(len(found), 1, (name, line, found))
            self.assertIn(f"{name}:2: ", found[0])
            os.remove(os.path.join(self.root, name))

    def test_path_allowed(self):
        self.write("docs/device.md", "")
        self.write("daemon/README.md", "See ../docs/device.md, device.md, docs/device.md, *.md.\n")
        self.write("daemon/emit/a.cpp", "// ../../docs and a/../b, /usr/include, /dev/null, $HOME/work/x\n")
        self.write("daemon/cli/a.cpp", 'open("../sbin/x");  // ../../build/release/x\n')
        self.assertEqual(self.problems("path"), [])

    def test_path_refused(self):
        for name in ("README", "daemon/README"):
            for text in ("../other/x", "./../x", "'../../x'", "../../daemon", "/home/me/x", "(/root/x)",
                         "a missing.md", "docs/missing.md"):
                self.write(name, f"\n{text}\n")
                self.one("path", f"{name}:2:", "' is ")
            os.remove(os.path.join(self.root, name))
        self.write("daemon/a.cpp", 'open("../../x");\n')
        self.one("path", "daemon/a.cpp:2:", "'../../x' is not in the tree")

    def test_shell(self):
        self.write("run", "#!/bin/sh\ntrue\n")
        self.assertEqual(self.problems("shell"), [])
        self.write("bad", "#!/bin/sh\nrm $1\n")
        self.one("shell", "bad:2:", "SC2086")

    def test_tools(self):
        good = "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertTrue({})\nunittest.main()\n"
        self.write("selftests/tools/a_test.py", good.format("1"))
        self.assertEqual(self.problems("tools"), [])
        self.write("selftests/tools/b_test.py", good.format("0"))
        self.assertIn("selftests/tools/b_test.py: status 1", self.problems("tools"))
        self.write("selftests/tools/b_test.py", "pass\n")
        self.assertIn("selftests/tools/b_test.py: status 0", self.problems("tools"))

    def test_ignored_files_are_not_checked(self):
        self.write(".gitignore", "# SPDX-License-Identifier: MIT\nbuild/\n")
        self.write("build/a.cpp", "int  a ;\n", licence=None)
        self.assertEqual(self.problems("format") + self.problems("licence"), [])

    def test_long_files_are_reported(self):
        self.write("daemon/a.cpp", "\n" * check.LONG_FILE)
        self.write("daemon/b.cpp", "\n")
        self.assertEqual(check.long_files(check.Tree(self.root)), [(401, "daemon/a.cpp")])


if __name__ == "__main__":
    unittest.main()
