#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints the results of one KUnit run for people, and counts them.

kunit_report.py JSON KERNEL REPEAT

JSON is what "kunit.py exec --json" wrote, KERNEL the name to show, REPEAT
the command that runs one failed case again (the case's name is appended).
The last line is "PASSED FAILED SKIPPED", for the calling script.
"""

import json
import sys


def leaves(group, path):
    """Yields (path, status) of each test; a parameter counts as a test."""
    for case in group["test_cases"]:
        yield path + [case["name"]], case["status"]
    for sub in group["sub_groups"]:
        yield from leaves(sub, path + [sub["name"]])


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: kunit_report.py JSON KERNEL REPEAT")
    with open(sys.argv[1], encoding="utf-8") as file:
        top = json.load(file)
    kernel, repeat = sys.argv[2:]
    suites = {}
    bad = []
    unnamed = 0
    for path, status in leaves(top, []):
        # What the plan announced and the kernel did not live to run.
        if not path[0]:
            unnamed += 1
            continue
        counts = suites.setdefault(path[0], {"PASS": 0, "FAIL": 0, "SKIP": 0})
        kind = status if status in counts else "FAIL"
        counts[kind] += 1
        if kind == "FAIL":
            bad.append((path, status))
    total = [sum(c[k] for c in suites.values())
             for k in ("PASS", "FAIL", "SKIP")]
    total[1] += unnamed
    width = max([len(s) for s in suites] + [10])
    for suite, counts in suites.items():
        print(f"  {suite:{width}}  {counts['PASS']:4} passed "
              f"{counts['FAIL']:4} failed {counts['SKIP']:4} skipped")
    if unnamed:
        print(f"txts: {unnamed} suites did not run, {kernel}: the kernel "
              "crashed or hung in the last one above")
    shown = None
    for path, status in bad:
        if not path[-1]:
            print(f"txts: a case of {path[0]} did not run, {kernel}")
            continue
        how = "crashed" if status == "ERROR" else "failed"
        print(f"txts: {how}: suite {path[0]}, case "
              f"{' '.join(path[1:]) or '(all of it)'}, {kernel}")
        again = ".".join(path[:2])
        if again != shown:
            print(f"txts: repeat with: {repeat} {again}")
        shown = again
    print(*total)


if __name__ == "__main__":
    main()
