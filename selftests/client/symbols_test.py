#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what libsdmacc exports: symbols_test.py LIBRARY MAP HEADER.

The version script, the functions that the header declares and the symbols of the library must be
the same names, all of version SDMACC_1, and the soname must be libsdmacc.so.1.
"""

import re
import subprocess
import sys
import unittest

LIBRARY, MAP, HEADER = sys.argv[1:4]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)


class Symbols(unittest.TestCase):
    def setUp(self):
        lines = output("nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY).splitlines()
        self.exported = {}
        for line in lines:
            name, _, version = line.split()[2].partition("@")
            self.exported[name] = (line.split()[1], version.lstrip("@"))
        self.exported.pop("SDMACC_1", None)  # the version's own name
        body = re.search(r"SDMACC_1\s*{\s*global:(.*?)local:\s*\*;", read(MAP), re.DOTALL).group(1)
        self.listed = re.findall(r"\w+", body)

    def test_library_exports_what_the_map_lists(self):
        self.assertEqual(sorted(self.exported), sorted(self.listed))

    def test_map_lists_what_the_header_declares(self):
        declared = re.findall(r"^[\w* ]+?\**(sdmacc_\w+)\(", read(HEADER), re.MULTILINE)
        self.assertEqual(sorted(declared), sorted(self.listed))
        self.assertGreater(len(declared), 20)

    def test_all_are_functions_of_the_first_version(self):
        self.assertEqual(set(self.exported.values()), {("T", "SDMACC_1")})

    def test_soname(self):
        self.assertIn("Library soname: [libsdmacc.so.1]", output("readelf", "-d", LIBRARY))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
