#!/usr/bin/env python3
"""Text files as C strings: embed.py OUT FILE...

Each FILE becomes `static const char <stem>_<suffix>[]`. Files of one suffix are not joined.
"""
import os
import sys


def literal(line):
    quoted = line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return '    "%s\\n"' % quoted


def main(out, paths):
    with open(out, "w", encoding="utf-8") as f:
        for path in paths:
            with open(path, encoding="utf-8") as text:
                lines = text.read().splitlines()
            name = os.path.basename(path).replace(".", "_").replace("-", "_")
            f.write("static const char %s[] =\n%s;\n\n" % (name, "\n".join(map(literal, lines))))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
