#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The list of planted faults, and what became of one, for mutants.sh.

mutants.py list LIST [NAME...]
    Checks the list; prints name, suite and files of each fault, or of those
    named. Exits with 2 if there is none of a name.

mutants.py plant LIST NAME FROM TO INFO
    Writes the files of the fault from the directory FROM, with the fault in
    them, to the directory TO. Fails, and says why, if its old text is not
    there exactly once, or a line of it not executed by INFO, lcov's counts.

mutants.py verdict LOG KUNIT_LOG
    Prints which case or suite noticed something in the log of a run, or
    "survived". Fails if KUnit did not even begin. KUNIT_LOG is the script that
    finds reports of the kernel.
"""

import difflib
import os
import re
import subprocess
import sys

from coverage import read

FORMAT = "NAME FILE SUITE: OLD => NEW"
LINE = re.compile(r"(\w+) ([\w.-]+\.[ch]) (\w+): (\S.*?) =>(?: (.*))?$")
RESULT = re.compile(r"^( *)(not ok|ok) (\d+) (.*)$")
SUBTEST = re.compile(r"^    # Subtest: (\S+)$")
PLAN = re.compile(r"^1\.\.(\d+)$")


class Change:
    """What is replaced in a file, and who is expected to notice."""

    def __init__(self, match):
        self.name, self.file, self.suite, self.old, self.new = match.groups()
        self.new = self.new or ""

    def pattern(self):
        """Of the old text; one space stands for any white space."""
        return re.compile(r"\s+".join(re.escape(word)
                                      for word in self.old.split()))


def load(name):
    """Returns the changes of each fault, or ends with what is wrong."""
    mutants = {}
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            match = LINE.match(line)
            if not match:
                sys.exit(f"{name}:{number}: not of the form {FORMAT}")
            change = Change(match)
            mutants.setdefault(change.name, []).append(change)
    if not mutants:
        sys.exit(f"{name}: no mutant in it")
    return mutants


def show_list(name, chosen):
    """Prints the faults, or those chosen."""
    mutants = load(name)
    wrong = [which for which in chosen if which not in mutants]
    for which in wrong:
        close = difflib.get_close_matches(which, mutants)
        print(f"there is no planted fault {which}"
              + (f", perhaps {' or '.join(close)}" if close else ""),
              file=sys.stderr)
    if wrong:
        sys.exit(2)
    for which, changes in mutants.items():
        if not chosen or which in chosen:
            print(which, changes[0].suite, *{c.file for c in changes})


def not_executed(info, file, first, last):
    """Why the lines are no proof that the fault is executed, or None."""
    counts = {}
    for source in read(info):
        if os.path.basename(source.path) == file:
            counts.update((line, count) for line, count
                          in source.lines.items() if first <= line <= last)
    if not counts:
        return "no code in the lines that it changes"
    cold = sorted(line for line, count in counts.items() if not count)
    return f"no suite executes line {cold[0]}" if cold else None


def plant(name, which, source, target, info):
    """Writes the files with the fault."""
    texts = {}
    for change in load(name)[which]:
        if change.file not in texts:
            with open(os.path.join(source, change.file),
                      encoding="utf-8") as file:
                texts[change.file] = original = file.read()
        found = list(change.pattern().finditer(original))
        if len(found) != 1:
            print(f"does not apply: {change.file} has its old text "
                  f"{len(found)} times, not once: adapt {name}")
            sys.exit(1)
        start, end = found[0].span()
        first = original.count("\n", 0, start) + 1
        why = not_executed(info, change.file, first,
                           first + original.count("\n", start, end))
        if why:
            print(f"proves nothing: {why} of {change.file}; write a case")
            sys.exit(1)
        texts[change.file] = change.pattern().sub(lambda _: change.new,
                                                  texts[change.file], 1)
    for file, text in texts.items():
        with open(os.path.join(target, file), "w", encoding="utf-8") as out:
            out.write(text)


def verdict(log, kunit_log):
    """Prints who noticed."""
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip() for line in file]
    plan, suite, done, bad = None, None, 0, []
    for line in lines:
        if suite is None and PLAN.match(line):
            plan = int(PLAN.match(line).group(1))
        elif SUBTEST.match(line):
            suite = SUBTEST.match(line).group(1)
        match = RESULT.match(line)
        if match and not match.group(1):
            done += 1
        elif match and len(match.group(1)) == 4 and match.group(2) != "ok":
            bad.append(f"{suite}.{match.group(4).split()[0]}")
    if plan is None or suite is None:
        print("KUnit did not begin")
        sys.exit(1)
    if bad:
        more = f" and {len(bad) - 1} more cases" if len(bad) > 1 else ""
        print(f"{bad[0]}{more}")
    elif done < plan:
        print(f"{suite}: the kernel crashed or hung in it")
    else:
        run = subprocess.run([sys.executable, kunit_log, log], check=False,
                             capture_output=True, text=True)
        report = run.stdout.strip().split("\n")[0]
        print(f"a report of the kernel: {report}" if run.returncode
              else "survived")


def main():
    args = sys.argv[1:]
    if len(args) >= 2 and args[0] == "list":
        show_list(args[1], args[2:])
    elif len(args) == 6 and args[0] == "plant":
        plant(*args[1:])
    elif len(args) == 3 and args[0] == "verdict":
        verdict(*args[1:])
    else:
        sys.exit(f"usage:{__doc__}")


if __name__ == "__main__":
    main()
