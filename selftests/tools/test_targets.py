#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the ninja targets that the tests of one Meson suite need: test_targets.py BUILD_DIR SUITE.

`./dev test` builds only those in the ThreadSanitizer folder, where most programs have no use.
"""

import json
import os
import sys


def load(build_dir, kind):
    path = os.path.join(build_dir, "meson-info", f"intro-{kind}.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def targets_of(build_dir, suite):
    files = {target["id"]: target["filename"] for target in load(build_dir, "targets")}
    needed = set()
    for test in load(build_dir, "tests"):
        if suite in (name.rpartition(":")[2] for name in test["suite"]):
            for target in test["depends"]:
                needed.update(os.path.relpath(path, build_dir) for path in files[target])
    return sorted(needed)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: test_targets.py BUILD_DIR SUITE")
    print("\n".join(targets_of(os.path.realpath(sys.argv[1]), sys.argv[2])))
