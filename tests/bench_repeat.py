#!/usr/bin/env python3
"""Is the answer the same tomorrow? Tunes this box several times in empty folders, each run with a seed
of its own and no prior in reach, and compares the profiles: what each header costs on the cells of
each other run, and how many runs agree in strategies and in numbers. A gate for a benchmark, not a
test: it takes a minute a run and wants a quiet machine.

With --load a real load runs on the same CPU through the last run: its grade must be lower.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

GATE = 0.01  # what a header may cost more on another run's cells, weighted mean


def tune(program, folder, seed, budget, environment):
    """One run; its profile, and the seconds that it took."""
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    command = [program, "tune", "-q", "-o", folder, "--seed", str(seed), "--environment", environment]
    if budget:
        command += ["--budget", budget]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.json")), time.monotonic() - begun


def ladder(profile, entry):
    return [(s["strategy"], s["max"]) for s in profile["entries"][entry]["segments"]]


def most(values):
    """How many are alike, and as what."""
    best = max(values, key=values.count)
    return values.count(best), best


def spell(steps):
    return ", ".join(f"{name} to {limit}" if limit else f"{name} above" for name, limit in steps)


def tell_agreement(profiles):
    for entry in ("copy", "nocache"):
        ladders = [ladder(p, entry) for p in profiles]
        same, _ = most([tuple(name for name, _ in steps) for steps in ladders])
        numbers, _ = most([tuple(limit for _, limit in steps) for steps in ladders])
        both, which = most([tuple(steps) for steps in ladders])
        print(f"{entry}: of {len(profiles)} runs {same} agree in strategies, {numbers} in numbers, {both} in both: "
              f"{spell(which)}")


def matrix(program, paths):
    out = subprocess.run([program, "compare", "--format", "json", *paths], check=True, stdout=subprocess.PIPE).stdout
    return {t["entry"]: t["loss"] for t in json.loads(out)["tables"]}


def tell_costs(losses):
    """Prints the largest cost of a header on another run's cells; True where it is within the gate."""
    good = True
    for entry, rows in losses.items():
        others = [r for r in rows if r["profile"] != r["on"] and r["mean"] is not None]
        worst = max(others, key=lambda r: r["mean"])
        mean = sum(max(r["mean"], 0) for r in others) / len(others)
        good = good and worst["mean"] <= GATE
        print(f"{entry}: a header costs at most {100 * worst['mean']:.1f} % more on another run's cells "
              f"({worst['profile']} on {worst['on']}), {100 * mean:.2f} % on average; "
              f"{sum(r['mean'] > GATE for r in others)} of {len(others)} pairs above {100 * GATE:.0f} %")
    return good


def under_load(program, folder, arguments, quiet):
    """A run beside a busy loop on its CPU."""
    cpu = min(os.sched_getaffinity(0))
    code = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
    load = subprocess.Popen([sys.executable, "-c", code, str(cpu)])
    try:
        command = [program, "tune", "-q", "-o", folder, "--core", str(cpu), "--budget", arguments.load_budget]
        folder.mkdir()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    finally:
        load.kill()
        load.wait()
    profile = json.loads(next(folder.glob("*.json")).read_text())
    noise, grade = profile["method"]["noise"], profile["method"]["grade"]
    print(f"beside a load on its CPU: grade {grade} (quiet: {quiet}): {'; '.join(noise['reasons'])}")
    return grade > quiet


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--budget", help="of each run (default: the tool's own)")
    parser.add_argument("--environment", default="user")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the profiles in this folder; those of it are used again")
    parser.add_argument("--load", action="store_true", help="one more run, beside a real load")
    parser.add_argument("--load-budget", default="10s")
    arguments = parser.parse_args()
    program = os.environ.get("UCOPY_TUNE", "build/ucopy-tune")

    with tempfile.TemporaryDirectory() as scratch:
        root = arguments.keep or pathlib.Path(scratch)
        paths, seconds = [], []
        for seed in range(1, arguments.runs + 1):
            kept = list((root / str(seed)).glob("*.json"))
            if kept:
                paths.append(kept[0])
                continue
            path, took = tune(program, root / str(seed), seed, arguments.budget, arguments.environment)
            paths.append(path)
            seconds.append(took)
        profiles = [json.loads(p.read_text()) for p in paths]
        if seconds:
            print(f"{len(seconds)} runs of {min(seconds):.1f} to {max(seconds):.1f} s")
        print("grades:", " ".join(p["method"]["grade"] for p in profiles))
        tell_agreement(profiles)
        good = tell_costs(matrix(program, paths)) if len(paths) > 1 else True
        if arguments.load:
            good = under_load(program, pathlib.Path(scratch) / "load", arguments, profiles[0]["method"]["grade"]) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
