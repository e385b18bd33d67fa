"""Counts test points, not programs: the TAP lines that meson kept in testlog.json.

usage: count.py TESTLOG

Prints the compilers that tests say they used ("# compiler NAME: VERSION"), the failed and skipped
points by name and, last, "N passed, N failed, N skipped". A program
that crashed, ran out of time or printed fewer points than its plan counts as failed. Exit code 1
where anything failed or nothing ran.
"""
import json
import re
import sys

POINT = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\s*(#\s*skip\b.*)?$", re.IGNORECASE)
COMPILER = re.compile(r"^# compiler (\S.*)$")
SKIP = re.compile(r"#\s*(skip|todo)\b", re.IGNORECASE)


class Count:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.compilers = 0, [], [], []

    def point(self, program, line):
        match = POINT.match(line)
        if not match:
            return
        name = "%s: %s" % (program, match.group(3))
        if SKIP.search(line):
            self.skipped.append(name)
        elif match.group(1):
            self.failed.append(name)
        else:
            self.passed += 1

    def total(self):
        return self.passed + len(self.failed) + len(self.skipped)

    def program(self, test):
        """One program: its points, then what its points do not tell."""
        name, result = test["name"], test["result"]
        before, failed_before, plans = self.total(), len(self.failed), []
        for line in (test.get("stdout") or "").splitlines():
            plan = PLAN.match(line)
            if plan:
                plans.append(int(plan.group(1)))
            used = COMPILER.match(line)
            if used and used.group(1) not in self.compilers:
                self.compilers.append(used.group(1))
            self.point(name, line)
        points = self.total() - before
        if points < sum(plans):
            self.failed += ["%s: point %d of %d never ran" % (name, i + 1, sum(plans))
                            for i in range(points, sum(plans))]
        elif result not in ("OK", "SKIP") and len(self.failed) == failed_before:
            self.failed.append("%s: %s" % (name, result))
        elif not points and result == "OK":
            self.passed += 1
        elif not points and plans:
            self.skipped.append("%s: all" % name)
        elif not points:
            self.failed.append("%s: printed no test point" % name)


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            return [json.loads(line) for line in log if line.strip()]
    except (OSError, ValueError) as error:
        print("count.py: %s: %s" % (path, error))
        return []


def main():
    count = Count()
    for test in read(sys.argv[1]):
        count.program(test)
    for name in count.compilers:
        print("compiler " + name)
    for name in count.skipped:
        print("skipped  " + name)
    for name in count.failed:
        print("FAILED   " + name)
    print("%d passed, %d failed, %d skipped" % (count.passed, len(count.failed), len(count.skipped)))
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
