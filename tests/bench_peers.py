#!/usr/bin/env python3
"""One table: what the copies at hand cost on size distributions and on fixed sizes, beside a generated header.

bench_peers.py [--header FILE] [--peer LIB.so[:SYMBOL]]... [--consumer none|read|wait] [--order random|learned]
               [--distributions FILE...] [--sizes LIST] [--budget TIME] [--core N] [--keep DIR]
bench_peers.py --from DIR

Columns: libc, the kernel's three (unrolled, rep_movsq, rep_movsb), each peer, the header called and inlined. Rows:
each distribution, then fixed sizes. From the size on at which the header's copy streams it is timed with all of dst
read after it (scan), and its nocache from where that streams with a warm set read again after it (evict): what a
streaming store saves or costs is only seen there. All copies of a row are interleaved in one `ucopy-tune bench`.

A cell is ns a call, and libc's time over it. "x best peer" is the time of the fastest other column over the header's:
above 1 the header is faster. Its interval is what the intervals of both leave.

--keep writes what bench printed as DIR/*.csv; --from makes the table of such files and times nothing.
The program is $UCOPY_TUNE, else ucopy-tune. Not a test: it decides nothing.
"""
import argparse
import collections
import csv
import glob
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KERNELS = ["unrolled", "rep_movsq", "rep_movsb"]  # as the kernel copies: see strategies/
LOST = 0.97  # a size is lost where the whole interval of the ratio to the best peer lies below
TOP = 64 << 20

Cost = collections.namedtuple("Cost", "ns lo hi")
Ratio = collections.namedtuple("Ratio", "mid lo hi")
Row = collections.namedtuple("Row", "label size consumer order costs")  # size None: a distribution


class Failure(Exception):
    """One line for stderr, and the exit code."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


# ---- what bench printed


def read_text(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError as why:
        raise Failure(f"{path}: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise Failure(f"{path}: no UTF-8 text") from why


def read_number(row, name, path, line):
    try:
        value = float(row[name])
    except (KeyError, TypeError, ValueError):
        value = math.nan
    if not 0 < value < math.inf:
        raise Failure(f"{path}:{line}: column {name}: no number above 0")
    return value


def read_name(row, path, line):
    if not row.get("strategy"):
        raise Failure(f"{path}:{line}: column strategy: empty")
    return row["strategy"]


def column_of(strategy):
    """The table's column of a bench subject: a header's forms share theirs whatever CPU it is for."""
    match = re.fullmatch(r"ucopy_\w+ (called|inlined)", strategy)
    return f"header {match.group(1)}" if match else strategy


def read_cells(text, path, label=None):
    """The rows of one bench run; label names a distribution, None stands for fixed sizes."""
    rows = {}
    reader = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    for row in reader:
        ns = read_number(row, "ns", path, reader.line_num)
        told = bool(row.get("lo") and row.get("hi"))
        lo, hi = (read_number(row, c, path, reader.line_num) if told else ns for c in ("lo", "hi"))
        size = None
        if label is None:
            size = int(read_number(row, "size", path, reader.line_num))
        elif row.get("size") != "0":
            continue  # the large sizes of a mix, which bench tells apart: not in this figure
        place = size, row.get("consumer") or "none", row.get("order") or "random"
        rows.setdefault(place, {})[column_of(read_name(row, path, reader.line_num))] = Cost(ns, lo, hi)
    if not rows:
        raise Failure(f"{path}: no cells")
    return [Row(label or size_text(size), size, consumer, order, costs)
            for (size, consumer, order), costs in rows.items()]


def read_folder(folder):
    """mix-NAME.csv and sizes-CONSUMER.csv, as --keep writes them: distributions first, then by size."""
    rows = []
    paths = sorted(glob.glob(os.path.join(glob.escape(folder), "*.csv")))
    if not paths:
        raise Failure(f"{folder}: no *.csv in it")
    for path in paths:
        match = re.fullmatch(r"mix-(.+)\.csv", os.path.basename(path))
        rows += read_cells(read_text(path), path, match and match.group(1))
    return in_order(rows)


def in_order(rows):
    """Distributions as they came; fixed sizes of copy by size, and those of nocache after them."""
    return sorted(rows, key=lambda r: (r.size is not None, r.consumer == "evict", r.size or 0))


# ---- ratios


def best_peer(row):
    """The name of the fastest column that is not the header's."""
    peers = {name: c.ns for name, c in row.costs.items() if not name.startswith("header ")}
    return min(peers, key=peers.get) if peers else None


def ratio(over, under):
    return Ratio(over.ns / under.ns, over.lo / under.hi, over.hi / under.lo)


def against_best(row, form):
    name, own = best_peer(row), row.costs.get(f"header {form}")
    return ratio(row.costs[name], own) if name and own else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


# ---- the table


def size_text(n):
    for shift, letter in ((20, "M"), (10, "k")):
        if n and n % (1 << shift) == 0:
            return f"{n >> shift}{letter}"
    return str(n)


def cost_text(cost, libc):
    if not cost:
        return "-"
    ns = f"{cost.ns:.2f}" if cost.ns < 100 else f"{cost.ns:.0f}"
    return f"{ns} {libc.ns / cost.ns:.2f}" if libc else f"{ns} -"


def ratio_text(r):
    return f"{r.mid:.2f} ({r.lo:.2f} to {r.hi:.2f})" if r else "-"


def columns(rows):
    """In the order in which bench printed them; the header's last."""
    names = dict.fromkeys(name for row in rows for name in row.costs)
    return sorted(names, key=lambda name: name.startswith("header "))


def table(rows):
    names = columns(rows)
    forms = [form for form in ("called", "inlined") if f"header {form}" in names]
    lines = [["sizes", "dst then"] + names + ["best peer"] + [f"{form} x best peer" for form in forms]]
    for row in rows:
        libc = row.costs.get("libc")
        lines.append([row.label, row.consumer] + [cost_text(row.costs.get(name), libc) for name in names]
                     + [best_peer(row) or "-"] + [ratio_text(against_best(row, form)) for form in forms])
    width = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join([line[0].ljust(width[0])] + [cell.rjust(w) for cell, w in zip(line[1:], width[1:])])
            for line in lines]


def mixes_line(rows, form):
    """What is asked of the distributions: the mean of the ratio and its worst, to the best peer and to libc."""
    own = f"header {form}"
    mixes = [row for row in rows if row.size is None and own in row.costs]
    if not mixes:
        return []
    texts = []
    for what, of in (("the best peer", best_peer), ("libc", lambda row: "libc" if "libc" in row.costs else None)):
        ratios = {row.label: row.costs[of(row)].ns / row.costs[own].ns for row in mixes if of(row)}
        if ratios:
            worst = min(ratios, key=ratios.get)
            texts.append(f"{what} {geometric_mean(ratios.values()):.2f}, worst {ratios[worst]:.2f} ({worst})")
    return [f"distributions, {form}, geometric mean against " + "; against ".join(texts)]


def lost_line(rows, form):
    told = [(row, against_best(row, form)) for row in rows if row.size is not None]
    told = [(row, r) for row, r in told if r]
    if not told:
        return []
    lost = [f"{row.label} {row.consumer} {ratio_text(r)} of {best_peer(row)}" for row, r in told if r.hi < LOST]
    return [f"fixed sizes, {form}, interval under {LOST} of the best peer: {len(lost)} of {len(told)}"
            + "".join("\n  " + text for text in lost)]


def summary(rows):
    lines = []
    for form in ("called", "inlined"):
        lines += mixes_line(rows, form)
    for form in ("called", "inlined"):
        lines += lost_line(rows, form)
    return lines


def report(rows):
    order = sorted({row.order for row in rows if row.size is None})
    title = "# ns a copy, libc's time over it" + "".join(f"; distributions in {word} order" for word in order)
    return "\n".join([title] + table(rows) + summary(rows))


# ---- the header


def ranges(text, entry):
    """[(largest size or None, strategy)] of an entry of a header, from its macros."""
    most = {int(k): int(v) for k, v in re.findall(rf"^#define UCOPY_\w+?_{entry}_(\d+)_MAX (\d+)$", text, re.M)}
    name = {int(k): v for k, v in re.findall(rf'^#define UCOPY_\w+?_{entry}_(\d+)_STRATEGY "(\w+)"$', text, re.M)}
    return [(most.get(k), name[k]) for k in sorted(name)]


def streams_above(text, entry, streaming):
    """The largest size that the header does not stream, None where it never does."""
    below = 0
    for largest, strategy in ranges(text, entry):
        if strategy in streaming:
            return below
        below = largest
    return None


# ---- measuring


def run(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as why:
        raise Failure(f"{command[0]}: {why.strerror}", 3) from why
    if done.returncode:  # it has said why
        raise Failure("", done.returncode if done.returncode > 0 else 128 - done.returncode)
    return done.stdout


def default_header(key):
    """The committed profile of this CPU, None where there is none."""
    path = os.path.join(ROOT, "profiles", f"{key}.h")
    if os.path.exists(path):
        return path
    print(f"bench_peers.py: profiles/ holds none of this CPU ({key}): no header in the table; name one by --header",
          file=sys.stderr)
    return None


def plan(options, header_text, streaming):
    """[(name of the kept file, arguments of bench)]."""
    runs = []
    for path in options.distributions:
        label = os.path.splitext(os.path.basename(path))[0]
        runs.append((f"mix-{label}", ["--sizes-from", path, "--order", options.order,
                                      "--consumer", options.consumer]))
    copy = streams_above(header_text, "COPY", streaming)
    nocache = streams_above(header_text, "NOCACHE", streaming)
    for consumer, sizes in (
            (options.consumer, [n for n in options.sizes if copy is None or n <= copy]),
            ("scan", [n for n in options.sizes if copy is not None and n > copy and n >= 64]),
            ("evict", [n for n in options.sizes if nocache is not None and n > nocache])):
        if sizes:
            runs.append((f"sizes-{consumer}", ["--size", ",".join(map(str, sizes)), "--consumer", consumer]))
    return runs


def measure(options):
    text = read_text(options.header) if options.header else ""
    strategies = json.loads(run([options.tune, "list", "--format", "json"]))["strategies"]
    key = json.loads(run([options.tune, "info", "--format", "json"]))["cpus"][0]["key"]
    header = options.header or default_header(key)
    text = text or (read_text(header) if header else "")
    print(f"# {key}; header {os.path.basename(header) if header else 'none'}")
    streaming = {s["name"] for s in strategies if "streaming" in s["flags"]}
    common = [options.tune, "bench", "libc"] + KERNELS + ["--format", "csv", "--budget", options.budget]
    common += ["--core", str(options.core)] if options.core is not None else []
    common += ["--header", header] if header else []
    for peer in options.peer:
        common += ["--peer", peer]
    rows = []
    for name, arguments in plan(options, text, streaming):
        out = run(common + arguments)
        if options.keep:
            with open(os.path.join(options.keep, f"{name}.csv"), "w", encoding="utf-8") as f:
                f.write(out)
        rows += read_cells(out, name, name[4:] if name.startswith("mix-") else None)
    return in_order(rows)


def size_value(text):
    match = re.fullmatch(r"(\d+)([kM]?)", text)
    n = int(match.group(1)) << {"": 0, "k": 10, "M": 20}[match.group(2)] if match else 0
    if not 0 < n <= TOP << 2:
        raise argparse.ArgumentTypeError(f"'{text}' is no size from 1 to 256M")
    return n


def size_list(text):
    return sorted({size_value(item) for item in text.split(",")})


def grid():
    """Powers of two and what lies half-way between, 1 B to 64 MiB; to 256 their neighbours, where dispatches turn."""
    octaves = [1 << k for k in range(27)]
    edges = [n + d for n in (8, 16, 32, 64, 128, 256) for d in (-1, 1)]
    return sorted(n for n in {*octaves, *(3 * n // 2 for n in octaves if n > 1), *edges} if n <= TOP)


def default_distributions():
    data = os.environ.get("UCOPY_TEST_DATA", "")
    return sorted(glob.glob(os.path.join(glob.escape(data), "distributions", "*.csv"))) if data else []


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(message)


def parse(argv):
    p = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--header", metavar="FILE", help="default: the committed profile of this CPU")
    p.add_argument("--peer", action="append", default=[], metavar="LIB.so[:SYMBOL]")
    p.add_argument("--consumer", choices=["none", "read", "wait"], default="none")
    p.add_argument("--order", choices=["random", "learned"], default="random")
    p.add_argument("--distributions", nargs="*", metavar="FILE", default=default_distributions(),
                   help="default: all of $UCOPY_TEST_DATA/distributions")
    p.add_argument("--sizes", type=size_list, default=grid(), metavar="LIST",
                   help="by commas, k and M binary; default: two an octave from 1 to 64M, and the edges to 256")
    p.add_argument("--no-sizes", dest="sizes", action="store_const", const=[], help="distributions alone")
    p.add_argument("--budget", default="10s", metavar="TIME", help="of each bench run; default: 10s")
    p.add_argument("--core", type=int, metavar="N")
    p.add_argument("--keep", metavar="DIR", help="keep what bench printed there")
    p.add_argument("--from", dest="folder", metavar="DIR", help="the table of what was kept there")
    p.add_argument("--tune", default=os.environ.get("UCOPY_TUNE", "ucopy-tune"), help=argparse.SUPPRESS)
    return p.parse_args(argv)


def main(argv):
    try:
        options = parse(argv)
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
        print(report(read_folder(options.folder) if options.folder else measure(options)))
    except Failure as why:
        if str(why):
            print(f"bench_peers.py: {why}", file=sys.stderr)
        return why.code
    except OSError as why:
        print(f"bench_peers.py: {why.filename}: {why.strerror}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
