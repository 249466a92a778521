"""One version of discreet against another, in turns: ratios of processor time, and peak memory.

    python benchmarks/bench_versions.py OLD_PYTHON [NEW_PYTHON] [--runs N] [--only TEXT]

The two are interpreters of environments in which the two versions are installed; the new one is this interpreter if it is
left out. Each piece of work runs in processes of its own, old and new in turns, and its best repetition counts. A ratio is
the median over pairs of runs: above 1, the new version is slower. Only names that both versions document are used.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_release import make_table

ROWS = 4_000_000
SETUP = """
import json, re, sys, time
path, times = sys.argv[1], int(sys.argv[2])
start = time.process_time()
"""
SESSION = """
import discreet as dp
states = [f"State {i:02d}" for i in range(51)]
schema = dp.Schema(state=dp.Category(states), sex=dp.Category(["F", "M"]), age=dp.Number(0, 115), wage=dp.Number(0, 4095))
session = dp.Session(path, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1000), neighbours=dp.AddRemove(),
                     limits=dp.Limits(threads=1))
names = iter(range(10**6))
"""
TIMED = """
best = None
for _ in range(times + 1):
    start = time.process_time()
    work()
    taken = time.process_time() - start
    best = taken if best is None else min(best, taken)
"""
REPORT = """
peak = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())
print(json.dumps([best, int(peak[1]) / 1024]))
"""
STATISTICS = 'dp.count(), dp.sum("wage", nulls="skip"), dp.mean("wage", nulls="skip")'
WORK = {
    "import": "import discreet\nbest = time.process_time() - start\n",
    "release, 4e6 rows": SESSION
    + f"""
request = session.table.group_by("state", "sex").agg({STATISTICS})
def work(): session.release(request, spend="1", name=str(next(names)))
"""
    + TIMED,
    "release after a resize": SESSION
    + f"""
prepared = session.table.impute({{"wage": dp.Uniform(0, 4095), "age": dp.Uniform(0, 115)}}).resize({ROWS}, proportion="0.9")
request = prepared.group_by(dp.bins("age", [0, 18, 65, 115])).agg(dp.count(), dp.mean("wage"))
def work(): session.release(request, spend="1", name=str(next(names)))
"""
    + TIMED,
    "median by state": SESSION
    + """
request = session.table.group_by("state").agg(dp.median("wage", nulls="skip"))
def work(): session.release(request, spend="1", name=str(next(names)))
"""
    + TIMED,
    "quote": SESSION
    + f"""
more = dp.std("wage", nulls="skip"), dp.median("wage", nulls="skip")
request = session.table.group_by("state", "sex").agg({STATISTICS}, *more)
def work(): [session.quote(request, spend=f"0.{{i}}") for i in range(1, 10)]
"""
    + TIMED,
    "noise, 4e6 draws": """
from fractions import Fraction
try:
    from discreet.noise.single import scalar
except ImportError:
    from discreet.noise import scalar
from discreet.noise.bits import system_bits
bits = system_bits()
def work():
    scalar.discrete_laplace(Fraction(10), 4_000_000, bits)
    scalar.rounded_gaussian(Fraction(100), 4_000_000, bits)
"""
    + TIMED,
    "conversions": """
import discreet as dp
def work():
    for i in range(1, 40):
        dp.ZCDP(f"0.{i:02d}").epsilon_at("1e-9"); dp.GDP(f"0.{i:02d}").epsilon_at("1e-9"); dp.ZCDP.for_approx(i, "1e-6")
"""
    + TIMED,
}


def measure(python: str, work: str, path: Path, times: int) -> tuple[float, float]:
    """Processor seconds of the best of some repetitions, and the peak of the process in MiB."""
    program = SETUP + work + REPORT
    done = subprocess.run([python, "-c", program, str(path), str(times)], check=True, stdout=subprocess.PIPE, text=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def main() -> None:
    """A line for each piece of work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", help="the interpreter of the old version")
    parser.add_argument("new", nargs="?", default=sys.executable, help="the interpreter of the new version")
    parser.add_argument("--runs", type=int, default=7, help="pairs of runs")
    parser.add_argument("--only", default="", help="what the names of the work contain")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "persons.parquet"
        make_table(path, ROWS)
        for name, work in WORK.items():
            if asked.only not in name:
                continue
            pairs = [[measure(python, work, path, 3) for python in (asked.old, asked.new)] for _ in range(asked.runs)]
            seconds = statistics.median(new[0] / old[0] for old, new in pairs)
            memory = statistics.median(new[1] / old[1] for old, new in pairs)
            (old, before), (new, after) = (min(side) for side in zip(*pairs, strict=True))
            print(
                f"  {name:24s} {old:7.3f} s -> {new:7.3f} s   ratio {seconds:5.3f}   "
                f"{before:4.0f} -> {after:4.0f} MiB   ratio {memory:5.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
