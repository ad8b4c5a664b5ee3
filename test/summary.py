"""Sums the JUnit files of several test runners.

usage: summary.py STEM...   reads STEM.xml each

The last line is `N passed, M failed, K skipped`. Exits 1 when a file is
missing, a test failed or a runner ran nothing.
"""

import sys
import xml.etree.ElementTree as ET


def count(path):
    """(passed, failed, skipped) of the test cases in one JUnit file."""
    passed = failed = skipped = 0
    for case in ET.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        if case.find("failure") is not None or case.find("error") is not None or status == "fail":
            failed += 1
        elif case.find("skipped") is not None or status in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(stems):
    total = [0, 0, 0]
    ok = True
    for stem in stems:
        try:
            counts = count(stem + ".xml")
        except (OSError, ET.ParseError) as error:
            print(f"{stem}: no results ({error})")
            total[1] += 1
            continue
        if sum(counts) == counts[2]:
            print(f"{stem}: nothing ran")
            ok = False
        total = [a + b for a, b in zip(total, counts)]
    print("{} passed, {} failed, {} skipped".format(*total))
    return 0 if ok and total[1] == 0 and total[0] > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
