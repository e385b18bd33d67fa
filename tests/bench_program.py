#!/usr/bin/env python3
"""A program with a generated header's copy as its memcpy, against the same program with libc's.

bench_program.py [--header FILE]... [--preload LIB.so]... [--pairs N] [--core N] [--stdin FILE] [--count FILE]
                 [--keep FILE] -- PROGRAM [ARGUMENT...]

Each header is built into a preloaded library (tests/preload.c, -O2, -march=native); --preload names other libraries
that hold a memcpy. First one run of each: its output and exit code must be those of the program alone. With a header
the first is also run with its calls counted. Then pairs (a run of each, in random order): the program alone, the
program alone once more (what differs between these two is noise), the program with each library. All are started on
one CPU with an environment of the same size, stdout goes nowhere.

Compared by `ucopy-tune stats`, for wall time and for CPU time: the ratio is the program's time alone over its time
with the library, above 1 the library is faster. "by pairs" is the median of the ratios within pairs with its 95 %
interval, which holds out against a machine that drifts.

--count keeps the sizes that were counted, one size,count a line, as --sizes-from reads them; --keep keeps the seconds
(FILE.wall.csv and FILE.cpu.csv). The program to compare with is $UCOPY_TUNE, else ucopy-tune; the compiler $CC, else
cc. Not a test: it decides nothing.
"""
import argparse
import collections
import fcntl
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOCK = "/tmp/ucopy-tune.lock"  # of all timed runs of ucopy-tune on this machine
ALONE, AGAIN = "libc", "libc again"
CLOCKS = ("wall", "cpu")

Outcome = collections.namedtuple("Outcome", "code digest wall cpu")


class Failure(Exception):
    """One line for stderr, and the exit code."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


# ---- the preloaded library


def function_of(header):
    """ucopy_amd_1a_02, from the include guard of its header."""
    try:
        with open(header, encoding="utf-8") as f:
            match = re.search(r"^#ifndef (UCOPY_\w+)_H$", f.read(), re.M)
    except OSError as why:
        raise Failure(f"{header}: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise Failure(f"{header}: no UTF-8 text") from why
    if not match:
        raise Failure(f"{header}: this is no generated header")
    return match.group(1).lower()


def build(header, folder, flags=()):
    """The library's path."""
    function = function_of(header)
    path = os.path.join(folder, f"{function}{'-count' if flags else ''}.so")
    command = shlex.split(os.environ.get("CC") or "cc") + [
        "-O2", "-march=native", "-fPIC", "-shared", *flags, f'-DUCOPY_HEADER="{os.path.abspath(header)}"',
        f"-DUCOPY_COPY={function}", os.path.join(HERE, "preload.c"), "-o", path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as why:
        raise Failure(f"{command[0]}: {why.strerror}", 3) from why
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr.strip()]
        raise Failure(f"{header}: {command[0]} fails: {errors[0]}")
    return path


# ---- runs


def environment(library, count=None):
    """The program alone gets a variable of the same length: the stack of each starts where the others' does."""
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "UCOPY_COUNT")}
    env["LD_PRELOAD" if library else "NO_PRELOAD"] = library or "/"
    if count:
        env["UCOPY_COUNT"] = count
    return env


def padded(libraries):
    """name -> library (None: alone) and environment, all of one size."""
    longest = max(len(path or "/") for path in libraries.values())
    made = {}
    for name, path in libraries.items():
        env = environment(path)
        env["UCOPY_PAD"] = "x" * (longest - len(path or "/"))
        made[name] = env
    return made


def start(options, env, stdout):
    """Runs the program to its end: its exit code, seconds by the clock, and of the CPU with those of its children."""
    stdin = open(options.stdin, "rb") if options.stdin else subprocess.DEVNULL
    begin = time.monotonic()
    try:
        child = subprocess.Popen(options.command, env=env, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
    except OSError as why:
        raise Failure(f"{options.command[0]}: {why.strerror}", 3) from why
    finally:
        if options.stdin:
            stdin.close()
    stderr = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    child.stderr.close()
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, stderr, wall, usage.ru_utime + usage.ru_stime


def checked_run(options, env):
    with tempfile.TemporaryFile() as out:
        code, stderr, wall, cpu = start(options, env, out)
        out.seek(0)
        digest = hashlib.sha256()
        for block in iter(lambda: out.read(1 << 20), b""):
            digest.update(block)
    return Outcome(code, digest.hexdigest(), wall, cpu), stderr.decode(errors="replace")


def timed_run(options, env, name):
    code, stderr, wall, cpu = start(options, env, subprocess.DEVNULL)
    if code != options.code:
        last = stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Failure(f"{options.command[0]} with {name}: exit code {code}, first {options.code}: {''.join(last)}", 1)
    return wall, cpu


def check_outputs(options, environments):
    """One run of each, which also warms the files: the library changes nothing that can be seen."""
    alone, stderr = checked_run(options, environments[ALONE])
    if alone.code < 0 or alone.code >= 126:
        raise Failure(f"{options.command[0]}: exit code {alone.code}: {''.join(stderr.splitlines()[-1:])}", 1)
    options.code = alone.code
    for name, env in environments.items():
        other, stderr = checked_run(options, env)
        if "from LD_PRELOAD cannot be preloaded" in stderr:  # the loader says so and goes on without
            raise Failure(f"{name}: cannot be preloaded")
        if other.code != alone.code:
            raise Failure(f"{options.command[0]} with {name}: exit code {other.code}, {alone.code} without", 1)
        if other.digest != alone.digest:
            raise Failure(f"{options.command[0]} with {name}: another output than without (its own outputs differ, "
                          "or it hands memcpy buffers that overlap)", 1)


def measure(options, environments):
    """clock -> name -> seconds, a value a pair."""
    rng = random.Random(options.seed)
    seconds = {clock: {name: [] for name in environments} for clock in CLOCKS}
    for pair in range(options.pairs):
        order = list(environments)
        rng.shuffle(order)
        for name in order:
            for clock, value in zip(CLOCKS, timed_run(options, environments[name], name)):
                seconds[clock][name].append(value)
        if sys.stderr.isatty():
            print(f"\rpair {pair + 1} of {options.pairs}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return seconds


# ---- counting


def read_counts(path):
    """(calls, bytes) of the lines that a counting library wrote."""
    try:
        with open(path, encoding="ascii") as f:
            pairs = [tuple(map(int, line.split(","))) for line in f]
    except FileNotFoundError:
        pairs = []
    return sum(c for _, c in pairs), sum(n * c for n, c in pairs)


def count_calls(options, library, folder):
    path = os.path.join(folder, "counts")
    _, stderr = checked_run(options, environment(library, path))
    calls, size = read_counts(path)
    print(f"# {calls} calls of memcpy" + (f", {size / calls:.0f} bytes each" if calls else ""))
    for line in stderr.splitlines():
        if line.startswith("preload: "):
            print(f"# {line[len('preload: '):]}")
    if options.count:
        shutil.copy(path, options.count) if calls else open(options.count, "w", encoding="ascii").close()


# ---- comparing


def csv_text(rows):
    """Rows as `ucopy-tune stats` reads them: a name, then its values."""
    most = max(len(values) for values in rows.values())
    lines = [",".join(["name"] + [f"pair {i + 1}" for i in range(most)])]
    lines += [",".join([name] + [f"{v:.9g}" for v in values]) for name, values in rows.items()]
    return "\n".join(lines) + "\n"


def stats(tune, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as f:
        f.write(csv_text(rows))
        f.flush()
        try:
            done = subprocess.run([tune, "stats", f.name, "--format", "json"], stdout=subprocess.PIPE, check=False)
        except OSError as why:
            raise Failure(f"{tune}: {why.strerror}", 3) from why
    if done.returncode:
        raise Failure("", done.returncode if done.returncode > 0 else 128 - done.returncode)
    return json.loads(done.stdout)


def span(interval):
    return f"{interval['lo']:.4f} to {interval['hi']:.4f}" if interval else "not enough pairs"


def turned(ratio, interval):
    """Of a time over libc's: libc's over it."""
    return 1 / ratio, interval and {"lo": 1 / interval["hi"], "hi": 1 / interval["lo"]}


VERDICT = {"first larger": "faster", "second larger": "slower"}


def table(tune, seconds):
    """A line a row and clock: median, ratio to libc over all runs with its verdict, ratio by pairs."""
    lines = [("clock", "row", "median s", "libc over it", "interval", "verdict", "by pairs", "interval")]
    for clock, rows in seconds.items():
        result = stats(tune, rows)
        pairs = {name: [a / v for a, v in zip(rows[ALONE], values)] for name, values in rows.items() if name != ALONE}
        by_pairs = {row["name"]: row for row in stats(tune, pairs)["rows"]}
        against = {c["second"]: c for c in result["comparisons"] if c["first"] == ALONE}
        for row in result["rows"]:
            line = [clock, row["name"], f"{row['median']:.4f}"]
            if row["name"] in against:
                c = against[row["name"]]
                ratio, interval = turned(c["ratio"], c["interval"])
                line += [f"{ratio:.4f}", span(interval), VERDICT.get(c["verdict"], c["verdict"])]
                line += [f"{by_pairs[row['name']]['median']:.4f}", span(by_pairs[row["name"]]["median_interval"])]
            lines.append(tuple(line + [""] * (8 - len(line))))
    width = [max(len(line[i]) for line in lines) for i in range(8)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, width)).rstrip() for line in lines)


# ---- the command line


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(message)


def pairs_value(text):
    if not text.isdecimal() or not 2 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 2 to 1000")
    return int(text)


def parse(argv):
    p = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--header", action="append", default=[], metavar="FILE")
    p.add_argument("--preload", action="append", default=[], metavar="LIB.so")
    p.add_argument("--pairs", type=pairs_value, default=15, metavar="N", help="default: 15")
    p.add_argument("--core", type=int, metavar="N", help="default: the last that this process may use")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="of the order within pairs; default: 1")
    p.add_argument("--stdin", metavar="FILE", help="default: empty")
    p.add_argument("--count", metavar="FILE", help="keep the sizes of the calls")
    p.add_argument("--keep", metavar="FILE", help="keep the seconds")
    p.add_argument("--tune", default=os.environ.get("UCOPY_TUNE", "ucopy-tune"), help=argparse.SUPPRESS)
    p.add_argument("command", nargs="+", metavar="PROGRAM")
    options = p.parse_args(argv)
    if not options.header and not options.preload:
        p.error("nothing to compare: give --header or --preload")
    if options.count and not options.header:
        p.error("--count: counting needs a --header")
    for path in options.preload + ([options.stdin] if options.stdin else []):
        if not os.access(path, os.R_OK):
            p.error(f"{path}: cannot be read")
    return options


def pin(core):
    allowed = os.sched_getaffinity(0)
    if core is not None and core not in allowed:
        raise Failure(f"--core {core}: not among the CPUs that this process may use ({sorted(allowed)})")
    os.sched_setaffinity(0, {max(allowed) if core is None else core})


def take_lock():
    fd = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("bench_program.py: waiting for another timed run on this machine to end", file=sys.stderr)
        fcntl.flock(fd, fcntl.LOCK_EX)


def compare(options):
    if not shutil.which(options.tune):  # asked now, not after all pairs
        raise Failure(f"{options.tune}: not found; it compares the times: build it, or name it by UCOPY_TUNE", 3)
    with tempfile.TemporaryDirectory() as folder:
        libraries = {ALONE: None, AGAIN: None}
        for path in options.header:
            libraries[os.path.basename(path)] = build(path, folder)
        for path in options.preload:
            libraries[os.path.basename(path)] = os.path.abspath(path)
        counting = build(options.header[0], folder, ["-DUCOPY_COUNT"]) if options.header else None
        pin(options.core)
        take_lock()
        environments = padded(libraries)
        check_outputs(options, environments)
        print(f"# {' '.join(shlex.join(options.command).split())}: {options.pairs} pairs on CPU {min(os.sched_getaffinity(0))}")
        if counting:
            count_calls(options, counting, folder)
        seconds = measure(options, environments)
    for clock in CLOCKS:
        if options.keep:
            with open(f"{options.keep}.{clock}.csv", "w", encoding="utf-8") as f:
                f.write(csv_text(seconds[clock]))
    print(table(options.tune, seconds))


def main(argv):
    try:
        compare(parse(argv))
    except Failure as why:
        if str(why):
            print(f"bench_program.py: {why}", file=sys.stderr)
        return why.code
    except OSError as why:
        print(f"bench_program.py: {why.filename}: {why.strerror}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
