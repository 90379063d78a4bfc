#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests totals.py and test_targets.py on a real `meson test` run of a toy project.

The toy has one program, which passes, fails, skips, crashes or hangs as its arguments say, so the
files that totals.py reads are those that the installed Meson writes.
"""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import test_targets
import totals

HERE = os.path.dirname(os.path.abspath(__file__))

TOY = r'''
import os, sys, time
action = sys.argv[1]
xml = [a[len("--gtest_output=xml:"):] for a in sys.argv if a.startswith("--gtest_output=xml:")]

def case(name, inner="", status="run"):
    return f'<testcase name="{name}" classname="Suite" status="{status}">{inner}</testcase>'

def gtest(*cases):
    with open(xml[0], "w") as out:
        out.write("<testsuites><testsuite name='Suite'>" + "".join(cases) + "</testsuite></testsuites>")

if action == "gtest-pass":
    gtest(case("A"), case("B"), case("C"))
elif action == "gtest-fail":
    gtest(case("A"), case("Bad", "<failure/>"))
    sys.exit(1)
elif action == "gtest-skip":
    gtest(case("A"), case("NoDevice", "<skipped/>"), case("DISABLED_Old", status="notrun"))
elif action == "gtest-empty":
    gtest()
elif action == "gtest-silent":
    pass
elif action == "gtest-stale":
    gtest(case("A"))
    os.utime(xml[0], (1, 1))
elif action == "gtest-crash":
    gtest(case("A"))
    sys.stdout.flush()
    os.abort()
elif action == "tap":
    print("1..4\nok 1 - one\nnot ok 2 - two\nok 3 - three # SKIP no device\nnot ok 4 - four # TODO later")
elif action == "hang":
    time.sleep(60)
else:
    sys.exit(int(action))
'''

MESON = '''
project('toy')
toy = find_program('toy.py')
copy = custom_target('copy', output: 'copy', command: ['cp', files('toy.py'), '@OUTPUT@'])
foreach action : ['pass', 'fail', 'skip', 'empty', 'silent', 'stale', 'crash']
  test(action, toy, args: 'gtest-' + action, protocol: 'gtest', suite: 'gtest')
endforeach
test('tap', toy, args: 'tap', protocol: 'tap', suite: 'tap')
test('hang', toy, args: 'hang', timeout: 1, suite: ['plain', 'slow'])
test('zero', toy, args: '0', suite: 'plain', depends: copy)
test('one', toy, args: '1', suite: 'plain')
test('expected', toy, args: '1', should_fail: true, suite: 'plain')
test('unexpected', toy, args: '0', should_fail: true, suite: 'plain')
test('skipped', toy, args: '77', suite: 'plain')
test('error', toy, args: '99', suite: 'plain')
'''


class Totals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.build = os.path.join(cls.folder.name, "build")
        cls.write("toy.py", f"#!{sys.executable}\n{TOY}")
        os.chmod(os.path.join(cls.folder.name, "toy.py"), 0o755)
        cls.write("meson.build", MESON)
        cls.write("allowed", "")
        cls.run_in("meson", "setup", cls.build)
        cls.status = cls.run_in("meson", "test", "-C", cls.build, "--no-rebuild", check=False)
        cls.outcomes = {case.name: case.outcome for case in totals.collect(cls.build)}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write(cls, name, text):
        path = os.path.join(cls.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    @classmethod
    def run_in(cls, *command, check=True):
        return subprocess.run(command, cwd=cls.folder.name, check=check,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def cases(self, test):
        return {name.partition("/")[2]: outcome for name, outcome in self.outcomes.items()
                if name.partition("/")[0] == test}

    def main(self, *arguments):
        run = subprocess.run([sys.executable, os.path.join(HERE, "totals.py"), *arguments],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.split("\n")[-2:-1], run.stderr

    def test_gtest_cases_are_counted_one_by_one(self):
        self.assertEqual(self.cases("pass"), dict.fromkeys(("Suite.A", "Suite.B", "Suite.C"), "passed"))
        self.assertEqual(self.cases("fail"), {"Suite.A": "passed", "Suite.Bad": "failed"})
        self.assertEqual(self.cases("skip"), {
            "Suite.A": "passed", "Suite.NoDevice": "skipped", "Suite.DISABLED_Old": "skipped"})

    def test_gtest_without_believable_results_fails(self):
        for test in ("empty", "silent", "stale"):
            self.assertEqual(self.cases(test), {"": "failed"}, test)

    def test_torn_result_file_fails(self):
        torn = self.write("torn.xml", "<testsuites><test")
        entry = {"starttime": 0, "result": "FAIL", "returncode": 1}
        [case] = totals.gtest_cases("torn", torn, entry)
        self.assertEqual(case.outcome, "failed")
        self.assertIn("torn.xml is broken", case.why)

    def test_crash_fails_although_all_its_cases_passed(self):
        self.assertEqual(self.cases("crash"), {"Suite.A": "passed", "": "failed"})

    def test_tap_lines_are_counted_one_by_one(self):
        self.assertEqual(self.cases("tap"), {
            "one": "passed", "two": "failed", "three": "skipped", "four": "passed"})

    def test_plain_programs_count_once(self):
        wanted = {"zero": "passed", "one": "failed", "expected": "passed", "unexpected": "failed",
                  "skipped": "skipped", "error": "failed", "hang": "failed"}
        self.assertEqual({test: self.cases(test)[""] for test in wanted}, wanted)

    def test_skip_without_leave_is_a_failure(self):
        strict = self.write("allowed", "# nothing\n")
        code, line, errors = self.main(self.build, "--allowed", strict)
        self.assertEqual((code, line), (1, ["10 14 0"]))
        self.assertIn("FAILED skip/Suite.NoDevice: skipped without leave", errors)
        lenient = self.write("lenient", "skip/*: the toy has no device\nskipped: always\ntap/*: no\n")
        code, line, errors = self.main(self.build, "--allowed", lenient)
        self.assertEqual((code, line), (1, ["10 10 4"]))
        self.assertNotIn("NoDevice", errors)

    def test_leave_needs_a_reason(self):
        code, _, errors = self.main(self.build, "--allowed", self.write("reasonless", "skip/*\n"))
        self.assertEqual(code, 1)
        self.assertIn("gives no reason", errors)

    def test_passing_run_is_success_unless_meson_disagrees(self):
        build = os.path.join(self.folder.name, "build-ok")
        self.run_in("meson", "setup", build)
        self.run_in("meson", "test", "-C", build, "--no-rebuild", "pass", "zero")
        self.assertEqual(self.main(build)[:2], (0, ["4 0 0"]))
        code, line, errors = self.main(build, "--status", "3")
        self.assertEqual((code, line), (1, ["4 1 0"]))
        self.assertIn("meson test: ended with status 3", errors)

    def test_nothing_ran_is_a_failure(self):
        code, line, errors = self.main(os.path.join(self.folder.name, "nowhere"))
        self.assertEqual((code, line), (1, ["0 1 0"]))
        self.assertIn("no test ran", errors)

    def test_two_tests_of_one_name_are_a_failure(self):
        source = os.path.join(self.folder.name, "twice")
        os.mkdir(source)
        self.write("twice/toy.py", f"#!{sys.executable}\n{TOY}")
        os.chmod(os.path.join(source, "toy.py"), 0o755)
        self.write("twice/meson.build", textwrap.dedent("""
            project('twice')
            test('pass', find_program('toy.py'), args: 'gtest-pass', protocol: 'gtest', suite: 'a')
            test('pass', find_program('toy.py'), args: 'gtest-pass', protocol: 'gtest', suite: 'b')
            """))
        build = os.path.join(source, "build")
        self.run_in("meson", "setup", build, source)
        self.run_in("meson", "test", "-C", build, "--no-rebuild")
        self.assertIn("pass: 2 tests have this name", self.main(build)[2])

    def test_targets_of_a_suite(self):
        self.assertEqual(test_targets.targets_of(self.build, "plain"), ["copy"])
        self.assertEqual(test_targets.targets_of(self.build, "slow"), [])


if __name__ == "__main__":
    unittest.main()
