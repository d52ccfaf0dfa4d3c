#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints which lines and branches a run executed, from lcov's data.

coverage.py INFO

Prints the numbers of each file and of all, then each line that was not
executed and each branch that was not taken. Exits with 1 below the limits.
"""

import os
import sys

LINES, BRANCHES = 97.0, 90.0


class File:
    """Counts of one source file."""

    def __init__(self, path):
        self.path = path
        self.lines = {}
        self.branches = {}

    def done(self):
        """(lines executed, lines, branches taken, branches)"""
        taken = [b for b in self.branches.values()]
        return (sum(c > 0 for c in self.lines.values()), len(self.lines),
                sum(c > 0 for c in taken), len(taken))


def read(name):
    """Returns the files of an lcov info file."""
    files = {}
    current = None
    with open(name, encoding="utf-8") as info:
        for line in info:
            key, _, value = line.strip().partition(":")
            if key == "SF":
                current = files.setdefault(value, File(value))
            elif key == "DA":
                number, count = value.split(",")[:2]
                number = int(number)
                current.lines[number] = (current.lines.get(number, 0) +
                                         int(count))
            elif key == "BRDA":
                number, block, branch, taken = value.split(",")
                # "-": the line itself was never reached.
                count = 0 if taken == "-" else int(taken)
                where = (int(number), block, branch)
                current.branches[where] = (current.branches.get(where, 0) +
                                           count)
    return [files[path] for path in sorted(files)]


def percent(done, total):
    """As a number; nothing to do is all done."""
    return 100.0 * done / total if total else 100.0


def show(name, counts):
    """One row of the table."""
    lines, all_lines, taken, branches = counts
    print(f"  {name:16} {percent(lines, all_lines):6.1f} % of {all_lines:4} "
          f"lines {percent(taken, branches):6.1f} % of {branches:4} branches")


def missing(file):
    """Prints what of a file was not executed."""
    with open(file.path, encoding="utf-8") as source:
        text = [""] + source.read().split("\n")
    untaken = {}
    for (line, _, _), count in file.branches.items():
        if not count and file.lines.get(line, 1):
            untaken[line] = untaken.get(line, 0) + 1
    cold = {line for line, count in file.lines.items() if not count}
    for line in sorted(cold | set(untaken)):
        what = ("not executed" if line in cold else
                f"{untaken[line]} branches not taken")
        print(f"  {os.path.basename(file.path)}:{line}: {what}: "
              f"{text[line].strip()}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: coverage.py INFO")
    files = read(sys.argv[1])
    total = [0, 0, 0, 0]
    for file in files:
        counts = file.done()
        total = [a + b for a, b in zip(total, counts)]
        show(os.path.basename(file.path), counts)
    if "core.c" not in {os.path.basename(file.path) for file in files}:
        sys.exit("txts: error: the data say nothing about lib/txts")
    show("all", total)
    for file in files:
        missing(file)
    bad = False
    for name, done, all_, limit in (("lines", total[0], total[1], LINES),
                                    ("branches", total[2], total[3],
                                     BRANCHES)):
        value = percent(done, all_)
        if value < limit:
            lacking = -(-all_ * limit // 100) - done
            print(f"txts: {value:.1f} % of the {name} is below {limit:.0f} %: "
                  f"{lacking:.0f} more are needed; write cases for the list "
                  "above")
            bad = True
    sys.exit(bad)


if __name__ == "__main__":
    main()
