"""Persons per group by discreet, by three other libraries and by the plain query: time, processor time, memory.

    python benchmarks/persons/run.py [--rows 1000000] [--only opendp] [--runs 1]

Each person counts in at most four of 1,000 groups that are listed. Each library is asked as its documentation says, in a
process and an environment of its own; ratios are of seconds in the same run, to the plain `count(DISTINCT person)`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from environments import Library, cache, environment  # noqa: E402
from visits import write_visits  # noqa: E402

LIBRARIES = {
    "plain query": Library("ask_duckdb.py"),
    "discreet": Library("ask_discreet.py"),
    "opendp": Library("ask_opendp.py", ("opendp[polars]==0.16.0",)),
    "pipeline-dp": Library("ask_pipelinedp.py", ("pipeline-dp==0.3.1", "pyarrow==26.0.1")),
    "tmlt-analytics": Library("ask_tmlt.py", ("tmlt-analytics==0.21.0", "setuptools<81"), needs="java"),
}
SMALL = 10_000


def table(rows: int) -> Path:
    """The file with so many visits, made once."""
    path = cache() / "tables" / f"visits-{rows}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_visits(path, rows)
    return path


def asked(name: str, rows: int) -> dict[str, float] | str:
    """What one request of this library took, or why there is none."""
    python = environment(name, LIBRARIES[name], cache() / "environments")
    if isinstance(python, str):
        return python
    command = [python, HERE / LIBRARIES[name].program, table(SMALL), table(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def main() -> int:
    """One line for each library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", action="append", choices=list(LIBRARIES))
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.rows:,} rows, {options.runs} runs, medians")
    plain: float | None = None
    for name in options.only or LIBRARIES:
        found = [asked(name, options.rows) for _ in range(options.runs)]
        if any(isinstance(one, str) for one in found):
            print(f"{name:16} {next(one for one in found if isinstance(one, str))}")
            continue
        wall, cpu, peak = (statistics.median(one[what] for one in found) for what in ("wall", "cpu", "peak"))
        plain = cpu if plain is None else plain
        taken = f"{wall:8.2f} s, processor {cpu:8.2f} s ({cpu / plain:6.2f}), {peak:5.2f} GB"
        print(f"{name:16} {taken}, {found[0]['groups']} groups")
    return 0


if __name__ == "__main__":
    sys.exit(main())
