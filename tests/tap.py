"""Runs a test program and passes its TAP on, put right: cmocka 1.1.5 prints a skipped test as
"not ok N # SKIP", which TAP readers take for a failure, and a program's own words on stdout are
no TAP at all.

--nice: it gives way to tests that time something, whose disturbed readings are dropped.

usage: tap.py [--nice] PROGRAM [ARGUMENT...]
"""
import os
import re
import subprocess
import sys

TAP = re.compile(r"(ok|not ok)\b|1\.\.\d|#|Bail out!|TAP version|\s|$")
SKIPPED = re.compile(r"not (ok \d+ # SKIP\b)")


def main():
    words = sys.argv[1:]
    if words[0] == "--nice":
        os.nice(19)
        words = words[1:]
    with subprocess.Popen(words, stdout=subprocess.PIPE, encoding="utf-8",
                          errors="replace") as program:
        for line in program.stdout:
            line = SKIPPED.sub(r"\1", line, count=1) if line.startswith("not") else line
            print(line if TAP.match(line) else "# " + line, end="", flush=True)
    # A shell's way to tell a signal: meson reads a negative number as none.
    return program.returncode if program.returncode >= 0 else 128 - program.returncode


if __name__ == "__main__":
    sys.exit(main())
