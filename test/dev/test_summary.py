"""test/summary.py: the sum of several runners' JUnit files."""

import os
import subprocess
import sys

SUMMARY = os.path.join(os.path.dirname(__file__), "..", "summary.py")
CTEST = """<testsuite tests="2"><testcase name="a" status="run"/>
<testcase name="b" status="fail"><failure message=""/></testcase>
<testcase name="c" status="notrun"><skipped message=""/></testcase></testsuite>"""
LIT = """<testsuites><testsuite><testcase name="a"/><testcase name="b"/></testsuite></testsuites>"""


def summarize(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.xml").write_text(text)
    stems = [str(folder / name) for name in files] + [str(folder / "absent")] * (not files)
    done = subprocess.run([sys.executable, SUMMARY, *stems], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()[-1]


def test_adds_up(tmp_path):
    assert summarize(tmp_path, lit=LIT) == (0, "2 passed, 0 failed, 0 skipped")


def test_a_failure_counts(tmp_path):
    assert summarize(tmp_path, lit=LIT, unit=CTEST) == (1, "3 passed, 1 failed, 1 skipped")


def test_nothing_ran_is_a_failure(tmp_path):
    assert summarize(tmp_path, lit=LIT, unit="<testsuite/>")[0] == 1


def test_a_missing_file_is_a_failure(tmp_path):
    assert summarize(tmp_path) == (1, "0 passed, 1 failed, 0 skipped")
