#!/usr/bin/env python3
"""The table of bench_peers.py, made of recorded and of made-up cells: nothing is timed.

Prints TAP.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import bench_peers  # noqa: E402
import points  # noqa: E402
from points import equal, holds  # noqa: E402

SCRIPT = os.path.join(HERE, "bench_peers.py")
RECORDED = os.path.join(HERE, "data", "peers")

MIX = """strategy,size,ns,lo,hi,size_hi,mix,form
libc,0,20,19,21,8188,named,called
rep_movsb,0,30,29,31,8188,named,called
lib.so,0,16,15,17,8188,named,called
ucopy_x_01_02 called,0,16,15,17,8188,named,called
ucopy_x_01_02 inlined,0,8,7.5,8.5,8188,named,inline
"""
SLOWER = MIX.replace("inlined,0,8,7.5,8.5", "inlined,0,32,31,33")
SIZES = """strategy,size,ns,lo,hi,form
libc,64,10,9,11,called
libc,1024,10,9.9,10.1,called
libc,2097152,100000,90000,110000,called
ucopy_x_01_02 called,64,10.6,10,11,called
ucopy_x_01_02 called,1024,10.6,10.5,10.7,called
ucopy_x_01_02 called,2097152,50000,40000,60000,called
"""


def table_of(**files):
    """The script's rows of files by name: mix_x is mix-x.csv."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name.replace("_", "-", 1) + ".csv"), "w", encoding="utf-8") as f:
                f.write(text)
        return bench_peers.read_folder(folder)


def script(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def refused(text, *arguments, code=2):
    done = script(*arguments)
    equal((done.returncode, done.stdout), (code, ""))
    equal(done.stderr.count("\n"), 1)
    holds(done.stderr, text)


def test_a_cell_is_ns_and_libcs_time_over_it():
    [row] = table_of(mix_x=MIX)
    equal(bench_peers.cost_text(row.costs["lib.so"], row.costs["libc"]), "16.00 1.25")
    equal(bench_peers.cost_text(row.costs["rep_movsb"], row.costs["libc"]), "30.00 0.67")
    equal(bench_peers.cost_text(bench_peers.Cost(123456, 1, 1), None), "123456 -")
    equal(bench_peers.cost_text(None, row.costs["libc"]), "-")


def test_the_large_sizes_of_a_mix_are_not_counted():
    large = MIX + "".join(line.replace(",0,", ",8189,", 1) + "\n" for line in MIX.splitlines()[1:])
    equal(table_of(mix_x=large), table_of(mix_x=MIX))


def test_the_best_peer_is_the_fastest_other_column():
    [row] = table_of(mix_x=MIX)
    equal(bench_peers.best_peer(row), "lib.so")
    equal(bench_peers.against_best(row, "inlined"), bench_peers.Ratio(2, 15 / 8.5, 17 / 7.5))
    equal(bench_peers.against_best(row, "called"), bench_peers.Ratio(1, 15 / 17, 17 / 15))


def test_the_last_lines_tell_mean_and_worst():
    lines = bench_peers.summary(table_of(mix_x=MIX, mix_y=SLOWER))
    equal(lines, ["distributions, called, geometric mean against the best peer 1.00, worst 1.00 (x); "
                  "against libc 1.25, worst 1.25 (x)",
                  "distributions, inlined, geometric mean against the best peer 1.00, worst 0.50 (y); "
                  "against libc 1.25, worst 0.62 (y)"])


def test_a_size_is_lost_by_its_whole_interval():
    lines = bench_peers.summary(table_of(sizes_none=SIZES))
    equal(lines, ["fixed sizes, called, interval under 0.97 of the best peer: 1 of 3\n"
                  "  1k none 0.94 (0.93 to 0.96) of libc"])


def test_rows_are_distributions_then_sizes_then_nocache():
    evict = "strategy,size,ns,lo,hi,consumer\nlibc,128,5,5,5,evict\nucopy_x_nocache called,128,4,4,4,evict\n"
    rows = table_of(sizes_evict=evict, sizes_none=SIZES, mix_x=MIX)
    equal([(r.label, r.consumer) for r in rows],
          [("x", "none"), ("64", "none"), ("1k", "none"), ("2M", "none"), ("128", "evict")])
    equal(list(rows[-1].costs), ["libc", "header called"])


def test_the_whole_table():
    lines = bench_peers.report(table_of(mix_x=MIX, sizes_none=SIZES)).splitlines()
    equal(lines[0], "# ns a copy, libc's time over it; distributions in random order")
    equal(lines[1].split(), "sizes dst then libc rep_movsb lib.so header called header inlined best peer "
                            "called x best peer inlined x best peer".split())
    equal(lines[2].split(), "x none 20.00 1.00 30.00 0.67 16.00 1.25 16.00 1.25 8.00 2.50 lib.so "
                            "1.00 (0.88 to 1.13) 2.00 (1.76 to 2.27)".split())
    equal(lines[3].split(), "64 none 10.00 1.00 - - 10.60 0.94 - libc 0.94 (0.82 to 1.10) -".split())
    equal(len({len(line) for line in lines[1:6]}), 1)


def test_without_a_header_the_peers_stand_alone():
    text = bench_peers.report(table_of(mix_x="".join(line + "\n" for line in MIX.splitlines()[:4])))
    holds(text, "lib.so")
    equal(len(text.splitlines()), 3)


def test_cells_without_an_interval():
    [row] = table_of(mix_x="strategy,size,ns\nlibc,0,2\nucopy_x called,0,1\n")
    equal(bench_peers.against_best(row, "called"), bench_peers.Ratio(2, 2, 2))


def test_a_recorded_run():
    done = script("--from", RECORDED)
    equal((done.returncode, done.stderr), (0, ""))
    with open(os.path.join(RECORDED, "table.txt"), encoding="utf-8") as f:
        equal(done.stdout, f.read())


HEADER = """#define UCOPY_X_01_02_COPY_1_MAX 256
#define UCOPY_X_01_02_COPY_2_MAX 8388608
#define UCOPY_X_01_02_COPY_3_MAX 16777216
#define UCOPY_X_01_02_COPY_AVX2_LOOP_X4_MAX 8388608
#define UCOPY_X_01_02_COPY_STREAMS 1
#define UCOPY_X_01_02_COPY_1_STRATEGY "short"
#define UCOPY_X_01_02_COPY_2_STRATEGY "avx2_loop_x4"
#define UCOPY_X_01_02_COPY_3_STRATEGY "stream_a"
#define UCOPY_X_01_02_COPY_4_STRATEGY "stream_b"
#define UCOPY_X_01_02_COPY_INLINE_MAX 64
#define UCOPY_X_01_02_COPY_INLINE_STRATEGY "short"
#define UCOPY_X_01_02_NOCACHE_1_STRATEGY "stream_b"
"""


def test_the_streaming_threshold_of_a_header():
    streaming = {"stream_a", "stream_b"}
    equal(bench_peers.ranges(HEADER, "COPY"), [(256, "short"), (8388608, "avx2_loop_x4"), (16777216, "stream_a"),
                                               (None, "stream_b")])
    equal(bench_peers.streams_above(HEADER, "COPY", streaming), 8388608)
    equal(bench_peers.streams_above(HEADER, "NOCACHE", streaming), 0)
    equal(bench_peers.streams_above(HEADER, "COPY", set()), None)
    equal(bench_peers.streams_above("", "COPY", streaming), None)


def test_the_runs_of_bench():
    options = bench_peers.parse(["--sizes", "64,8M,9M,64k", "--distributions", "a/Memcpy_7.csv", "--order", "learned",
                                 "--consumer", "read"])
    equal(bench_peers.plan(options, HEADER, {"stream_a"}),
          [("mix-Memcpy_7", ["--sizes-from", "a/Memcpy_7.csv", "--order", "learned", "--consumer", "read"]),
           ("sizes-read", ["--size", "64,65536,8388608", "--consumer", "read"]),
           ("sizes-scan", ["--size", "9437184", "--consumer", "scan"])])
    equal(bench_peers.plan(options, HEADER, {"stream_b"})[-1],
          ("sizes-evict", ["--size", "64,65536,8388608,9437184", "--consumer", "evict"]))


def test_the_grid_reaches_from_1_to_64m():
    grid = bench_peers.grid()
    equal((grid[0], grid[-1]), (1, 64 << 20))
    equal(grid, sorted(set(grid)))
    for n in (2, 3, 31, 32, 33, 256, 257, 384, 49152, 48 << 20):
        equal(n in grid, True)


def test_bad_input_is_one_line():
    refused("nowhere: no *.csv in it", "--from", "nowhere")
    refused("'3x' is no size", "--sizes", "3x")
    refused("'0' is no size", "--sizes", "1,0")
    refused("nowhere.h: No such file", "--header", "nowhere.h", "--distributions", "--sizes", "1",
            "--tune", os.environ.get("UCOPY_TUNE", "ucopy-tune"))
    refused("no-such-program: No such file", "--tune", "no-such-program", code=3)
    with tempfile.TemporaryDirectory() as folder:
        for text, words in (("", "no cells"), ("strategy,size,ns\nlibc,1,x\n", "column ns: no number above 0"),
                            ("strategy,size,ns\nlibc,0,1\n", "column size: no number above 0"),
                            ("strategy,size\nlibc,1\n", "column ns: no number above 0"),
                            ("size,ns\n1,1\n", "column strategy")):
            with open(os.path.join(folder, "sizes-none.csv"), "w", encoding="utf-8") as f:
                f.write(text)
            refused(words, "--from", folder)


if __name__ == "__main__":
    points.main(sys.modules["__main__"])
