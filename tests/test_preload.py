#!/usr/bin/env python3
"""A generated header as a program's memcpy (preload.c), and bench_program.py around it: nothing is decided by time.

Prints TAP.
"""
import collections
import ctypes
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import bench_program  # noqa: E402
import points  # noqa: E402
from points import equal, holds  # noqa: E402

HEADERS = sorted(glob.glob(os.path.join(ROOT, "profiles", "*.h")))
KERNEL = [path for path in HEADERS if "-kernel" in path][0]  # general registers: it runs on any x86-64
COMPILERS = ["cc", "gcc", "clang"]
FOLDER = tempfile.TemporaryDirectory()

# Python's own memcpy calls: 1000 pieces of 777 bytes, and one of every size to 5000.
JOIN = """
import hashlib
parts = [bytes([i % 251]) * 777 for i in range(1000)] + [bytes([i % 253]) * i for i in range(5000)]
print(hashlib.sha256(b"".join(parts)).hexdigest())
"""


def compiled(header, *flags, compiler="cc"):
    """Built as bench_program.py builds it, but for the baseline and with warnings as errors."""
    if not shutil.which(compiler):
        raise points.Skip(f"no {compiler}")
    path = tempfile.mktemp(suffix=".so", dir=FOLDER.name)
    done = subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", *flags,
                           f'-DUCOPY_HEADER="{header}"', f"-DUCOPY_COPY={bench_program.function_of(header)}",
                           os.path.join(HERE, "preload.c"), "-o", path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{compiler} {header}:\n{done.stderr}")
    return path


def python(code, library=None, count=None):
    return subprocess.run([sys.executable, "-c", code], env=bench_program.environment(library, count),
                          capture_output=True, text=True, check=False)


def script(*arguments):
    return subprocess.run([sys.executable, os.path.join(HERE, "bench_program.py"), *arguments], capture_output=True,
                          text=True, check=False)


def check_copies(library):
    """Every size to 600 and some above, through the function itself: what it returns, moves and leaves alone."""
    copy = ctypes.CDLL(library).memcpy
    copy.restype, copy.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    source = bytes(i * 7 % 251 for i in range(70000))
    src = ctypes.create_string_buffer(source, 70000)
    equal(copy(None, None, 0), None)
    for n in [*range(601), 1024, 4097, 65536]:
        dst = ctypes.create_string_buffer(b"\xff" * 70000, 70000)
        at = ctypes.addressof(dst) + 3
        equal(copy(at, ctypes.addressof(src) + 1, n), at)
        equal(dst.raw, b"\xff" * 3 + source[1:1 + n] + b"\xff" * (70000 - 3 - n))


def test_it_builds_without_warnings_and_copies():
    tried = [c for c in COMPILERS if shutil.which(c)]
    if not tried:
        raise points.Skip("no compiler")
    for compiler in tried:
        for header in HEADERS:
            check_copies(compiled(header, compiler=compiler))


def test_its_fallback_is_not_itself():
    check_copies(compiled(KERNEL, "-DUCOPY_NO_ASM"))


def test_memcpy_of_a_program_is_replaced():
    path = os.path.join(FOLDER.name, "counts")
    done = python(JOIN, compiled(KERNEL, "-DUCOPY_COUNT"), path)
    equal((done.returncode, done.stdout), (0, python(JOIN).stdout))
    counts = collections.Counter()
    with open(path, encoding="ascii") as f:
        for line in f:
            size, calls = map(int, line.split(","))
            counts[size] += calls
    for n in (1, 64, 2048, 4096):
        equal(counts.get(n, 0) >= 1, True)
    equal(counts.get(777, 0) >= 1000, True)
    equal(all(n <= 4096 or n & (n - 1) == 0 for n in counts), True)
    equal(bench_program.read_counts(path), (sum(counts.values()), sum(n * c for n, c in counts.items())))


def test_a_program_does_the_same_with_each_header():
    want = python(JOIN)
    equal(want.returncode, 0)
    for header in HEADERS:
        for flags in ([], ["-march=native"], ["-DUCOPY_NO_ASM"]):
            done = python(JOIN, compiled(header, *flags))
            equal((done.returncode, done.stdout, done.stderr), (0, want.stdout, ""))


def test_the_fortified_call_is_replaced_and_still_fortified():
    call = "import ctypes; b = ctypes.create_string_buffer(64); " \
           "ctypes.CDLL(None).__memcpy_chk(b, bytes(range(65, 81)), ctypes.c_size_t(16), ctypes.c_size_t({})); " \
           "print(b.value.decode())"
    library, path = compiled(KERNEL, "-DUCOPY_COUNT"), os.path.join(FOLDER.name, "chk")
    equal(python(call.format(16), library, path).stdout, "ABCDEFGHIJKLMNOP\n")
    done = python(call.format(15), library)
    equal(done.returncode, -signal.SIGABRT)
    holds(done.stderr, "buffer overflow detected")


def test_overlapping_calls_are_told():
    call = "import ctypes; b = ctypes.create_string_buffer(64); a = ctypes.addressof(b); " \
           "f = ctypes.CDLL(None).memcpy; f.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_size_t]; f(a + {}, a, 10)"
    library, path = compiled(KERNEL, "-DUCOPY_COUNT"), os.path.join(FOLDER.name, "overlap")
    equal(python(call.format(9), library, path).stderr, "preload: 1 calls of memcpy overlapped\n")
    for apart in (0, 10):
        equal(python(call.format(apart), library, path).stderr, "")


def test_the_environments_are_of_one_size():
    made = bench_program.padded({"libc": None, "a": "/tmp/a.so", "b": "/tmp/longer.so"})
    equal(len({sum(len(k) + len(v) for k, v in env.items()) for env in made.values()}), 1)
    equal([env.get("LD_PRELOAD") for env in made.values()], [None, "/tmp/a.so", "/tmp/longer.so"])


def test_the_ratio_is_libcs_time_over_the_librarys():
    tune = os.environ.get("UCOPY_TUNE", "ucopy-tune")
    base = [1 + i / 100 for i in range(15)]
    rows = {"libc": base, "libc again": base, "fast": [v / 2 for v in base], "slow": [v * 4 for v in base]}
    lines = [line.split() for line in bench_program.table(tune, {"wall": rows}).splitlines()]
    equal(lines[1], ["wall", "libc", "1.0700"])
    equal(lines[2][3:5], ["1.0700", "1.0000"])
    holds(" ".join(lines[2]), "no difference")
    equal(lines[3][2:4], ["0.5350", "2.0000"])
    equal(lines[3][7:], ["faster", "2.0000", "2.0000", "to", "2.0000"])
    equal(lines[4][3], "0.2500")
    equal(lines[4][7:], ["slower", "0.2500", "0.2500", "to", "0.2500"])


def test_a_whole_comparison():
    kept = os.path.join(FOLDER.name, "kept")
    done = script("--header", KERNEL, "--pairs", "2", "--count", kept + ".sizes", "--keep", kept, "--", sys.executable,
                  "-c", JOIN)
    equal(done.returncode, 0)
    lines = done.stdout.splitlines()
    holds(lines[0], ": 2 pairs on CPU ")
    holds(lines[1], " calls of memcpy, ")
    equal([line.split("  ")[0] for line in lines[2:]], ["clock"] + ["wall"] * 3 + ["cpu"] * 3)
    holds(lines[5], os.path.basename(KERNEL))
    for clock in bench_program.CLOCKS:
        with open(f"{kept}.{clock}.csv", encoding="utf-8") as f:
            equal([line.split(",")[0] for line in f], ["name", "libc", "libc again", os.path.basename(KERNEL)])
    equal(bench_program.read_counts(kept + ".sizes")[0] > 6000, True)


def refused(code, words, *arguments):
    done = script(*arguments)
    equal((done.returncode, done.stdout), (code, ""))
    holds(done.stderr, words)
    equal(done.stderr.replace("waiting for another timed run on this machine to end\n", "").count("\n"), 1)


def test_bad_input_is_one_line():
    text = os.path.join(FOLDER.name, "x.h")
    with open(text, "w", encoding="utf-8") as f:
        f.write("int x;\n")
    broken = os.path.join(FOLDER.name, "broken.h")
    with open(broken, "w", encoding="utf-8") as f:
        f.write("#ifndef UCOPY_X_H\n#error no\n#endif\n")
    refused(2, "give --header or --preload", "true")
    refused(2, "nowhere.h: No such file", "--header", "nowhere.h", "true")
    refused(2, "x.h: this is no generated header", "--header", text, "true")
    refused(2, "broken.h: cc fails: ", "--header", broken, "true")
    refused(2, "nowhere.so: cannot be read", "--preload", "nowhere.so", "true")
    refused(2, "x.h: cannot be preloaded", "--preload", text, "true")
    refused(2, "'1' is no number from 2 to 1000", "--header", KERNEL, "--pairs", "1", "true")
    refused(2, "--core 9999: not among", "--header", KERNEL, "--core", "9999", "true")
    refused(3, "/nowhere/ucopy-tune: not found", "--tune", "/nowhere/ucopy-tune", "--header", KERNEL, "true")
    refused(3, "no-such-program: No such file", "--header", KERNEL, "no-such-program")
    refused(1, "another output than without", "--header", KERNEL, "--", "sh", "-c", "echo $LD_PRELOAD")
    refused(1, "exit code 3, 0 without", "--header", KERNEL, "--", "sh", "-c", "test -z \"$LD_PRELOAD\" || exit 3")


if __name__ == "__main__":
    points.main(sys.modules["__main__"])
