#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints which lines and branches a run executed, from lcov's data.

coverage.py INFO GAPS

Prints the numbers of each file and of all, then each line that was not
executed and each branch that was not taken, with the reason that the file
GAPS gives. Exits with 1 below the limits, if something is not explained, or
if a reason explains nothing any more.
"""

import os
import re
import sys

LINES, BRANCHES = 97.0, 90.0
GAP = re.compile(r"(\S+): (.*\S) => (\S.*)")


class Gap:
    """One reason: where it holds, and how often it was needed."""

    def __init__(self, match, where):
        self.file, self.text, self.reason = match.groups()
        self.where = where
        self.used = 0

    def explains(self, name, function, line):
        """True if it is about this line, or about all of its function."""
        if self.file not in ("*", name):
            return False
        return self.text == f"{function}()" or self.text in line


def read_gaps(name):
    """Returns the reasons."""
    gaps = []
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            match = GAP.fullmatch(line)
            if not match:
                sys.exit(f"{name}:{number}: not FILE: TEXT => REASON")
            gaps.append(Gap(match, f"{name}:{number}"))
    return gaps


class File:
    """Counts of one source file."""

    def __init__(self, path):
        self.path = path
        self.lines = {}
        self.branches = {}
        self.functions = {}

    def function_at(self, line):
        """The name of the function that the line is in."""
        starts = [start for start in self.functions if start <= line]
        return self.functions[max(starts)] if starts else None

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
            elif key == "FN":
                number, function = value.split(",")[:2]
                current.functions[int(number)] = function
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


def missing(file, gaps):
    """Prints what of a file was not executed; returns what is unexplained."""
    with open(file.path, encoding="utf-8") as source:
        text = [""] + source.read().split("\n")
    name = os.path.basename(file.path)
    untaken = {}
    for (line, _, _), count in file.branches.items():
        if not count and file.lines.get(line, 1):
            untaken[line] = untaken.get(line, 0) + 1
    cold = {line for line, count in file.lines.items() if not count}
    unexplained = 0
    for line in sorted(cold | set(untaken)):
        what = ("not executed" if line in cold else
                f"{untaken[line]} branches not taken")
        print(f"  {name}:{line}: {what}: {text[line].strip()}")
        why = [gap for gap in gaps
               if gap.explains(name, file.function_at(line),
                               " ".join(text[line].split()))]
        for gap in why[:1]:
            gap.used += 1
            print(f"      {gap.reason}")
        unexplained += not why
    return unexplained


def below(name, done, total, limit):
    """True, and says so, if a figure is below its limit."""
    value = percent(done, total)
    if value >= limit:
        return False
    lacking = -(-total * limit // 100) - done
    print(f"txts: {value:.1f} % of the {name} is below {limit:.0f} %: "
          f"{lacking:.0f} more are needed; write cases for the list above")
    return True


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: coverage.py INFO GAPS")
    files = read(sys.argv[1])
    gaps = read_gaps(sys.argv[2])
    total = [0, 0, 0, 0]
    for file in files:
        counts = file.done()
        total = [a + b for a, b in zip(total, counts)]
        show(os.path.basename(file.path), counts)
    if "core.c" not in {os.path.basename(file.path) for file in files}:
        sys.exit("txts: error: the data say nothing about lib/txts")
    show("all", total)
    unexplained = sum(missing(file, gaps) for file in files)
    bad = below("lines", total[0], total[1], LINES)
    bad |= below("branches", total[2], total[3], BRANCHES)
    if unexplained:
        print(f"txts: {unexplained} of these lines have no reason in "
              f"{sys.argv[2]}: write cases, or say there why none can")
        bad = True
    for gap in gaps:
        if not gap.used:
            print(f"txts: {gap.where} explains nothing: {gap.text}; "
                  "remove it")
            bad = True
    sys.exit(bad)


if __name__ == "__main__":
    main()
