#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Looks for reports of the kernel's own checkers in the log of a KUnit run.

kunit_log.py LOG

Prints each report with the lines after it and exits with 1 if there is one.
Not counted: what stands between the lines

  txts-kunit: warning expected: begin
  txts-kunit: warning expected: end

data races in which neither side is in the tracker (its name in one of the two
innermost frames), and the memory that the suite txts_leak loses on purpose. If that suite ran
its scans, at least one of those blocks must have been reported: else the scan
finds nothing and the absence of reports means nothing.
"""

import re
import sys

REPORT = re.compile(
    r"BUG: |WARNING: |INFO: possible|INFO: task|inconsistent lock|ODEBUG: |"
    r"Kernel panic|UBSAN: |refcount_t: |suspicious RCU|possible recursive|"
    r"blocked for more than|scheduling while atomic|detected.* stall")
EXPECTED = "txts-kunit: warning expected: "
SCANNED = "txts-kunit: leak scans done"
PLANTED = "leak_on_purpose"
LEAK = "unreferenced object"
RACE = "BUG: KCSAN: "
STACK = re.compile(r" by (task|interrupt)|value changed|race at unknown origin")
SHOWN = 12


def leaks(lines):
    """Yields each report of kmemleak: its first line and those after it."""
    for at, line in enumerate(lines):
        if LEAK not in line:
            continue
        report = [line]
        for more in lines[at + 1:at + 40]:
            if LEAK in more or "kmemleak" not in more:
                break
            report.append(more)
        yield report


def race_is_ours(report):
    """True if a frame near the top of either stack is the tracker's."""
    for at, line in enumerate(report):
        if RACE in line or STACK.search(line):
            if any("txts" in frame for frame in report[at:at + 3]):
                return True
    return False


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: kunit_log.py LOG")
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip() for line in file]
    bad = []
    expected = False
    skip_to = 0
    for at, line in enumerate(lines):
        if EXPECTED in line:
            expected = line.endswith("begin")
        elif not expected and at >= skip_to and REPORT.search(line):
            if RACE in line:
                end = next((n for n in range(at + 1, len(lines))
                            if "========" in lines[n]), len(lines))
                if race_is_ours(lines[at:end]):
                    bad.append(lines[at:end])
                skip_to = end
                continue
            bad.append(lines[at:at + SHOWN])
            skip_to = at + SHOWN
    planted = 0
    for report in leaks(lines):
        if any(PLANTED in line for line in report):
            planted += 1
        else:
            bad.append(report[:SHOWN])
    if any(SCANNED in line for line in lines) and not planted:
        bad.append(["kmemleak did not find the blocks that txts_leak lost on "
                    "purpose: its scan does not work"])
    for report in bad[:3]:
        print("\n".join(report))
    if len(bad) > 3:
        print(f"... and {len(bad) - 3} more")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
