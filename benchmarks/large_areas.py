"""Areas of five levels in files, 10^8 cells at the last one: time of processor and clock, and memory, of each step.

    python benchmarks/large_areas.py [ROWS] [FOLDER]        (default 10,000,000 rows, a folder that is removed)

51,200 blocks, 63 × 2 × 2 × 8 groups in each, five tables for every level. Each step is a process of its own. Promised for
the release: ten minutes of the clock on two idle cores, and 2 GB.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

FANS = {"state": 2, "county": 16, "tract": 16, "group": 10, "block": 10}
GROUPS = {"race": 63, "origin": 2, "adult": 2, "quarters": 8}
BY = [[], ["race"], ["origin", "race"], ["quarters"], ["race", "origin", "adult", "quarters"]]
SECONDS, MEBIBYTES = 600, 2048
"""What is promised: of the clock on two idle cores, and of the peak."""


def make(folder: Path, rows: int) -> None:
    """The table of areas, and the rows: a few groups are frequent, and a third of the blocks are empty."""
    codes = [""]
    levels: dict[str, list[str]] = {}
    for name, fan in FANS.items():
        codes = [f"{code}{number:02}" for code, number in itertools.product(codes, range(fan))]
        levels[name] = codes
    table = {name: np.repeat(own, len(codes) // len(own)) for name, own in levels.items()}
    pl.DataFrame(table).write_csv(folder / "areas.csv")
    chosen = np.random.default_rng(22)
    weights = np.where(chosen.random(len(codes)) < 1 / 3, 0, chosen.exponential(1, len(codes)))
    at = chosen.choice(len(codes), rows, p=weights / weights.sum())
    columns = {"area": pl.Series(codes).gather(at)}
    for name, many in GROUPS.items():
        often = 1 / np.arange(1, many + 1) ** 2
        columns[name] = pl.Series(chosen.choice(many, rows, p=often / often.sum()).astype(np.int8)).cast(pl.String)
    pl.DataFrame(columns).write_parquet(folder / "rows.parquet")


def release(folder: Path, rows: int) -> None:
    """The release, in files."""
    import discreet as dp

    area = dp.Hierarchy(folder / "areas.csv", levels=list(FANS))
    groups = {name: dp.Category([str(value) for value in range(many)]) for name, many in GROUPS.items()}
    schema, relation = dp.Schema(area=area, **groups), dp.ReplaceOne(rows=rows)
    source = str(folder / "rows.parquet")
    with dp.Session(source, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(3), neighbours=relation) as session:
        table = session.table.impute({name: dp.Weights({"0": 1}) for name in GROUPS})
        asked = table.agg(dp.agreeing_areas("area", by=BY))
        session.release(asked, spend=3, name="areas", to=folder / "out").save(folder / "out")


def verify(folder: Path, rows: int) -> None:  # noqa: ARG001
    """All cells again from the measured integers."""
    import discreet as dp

    print(f"  {dp.verify(dp.Release.load(folder / 'out'))}", flush=True)


def whole(folder: Path, rows: int) -> None:  # noqa: ARG001
    """The whole numbers."""
    import discreet as dp

    found = dp.write_whole(dp.Release.load(folder / "out"), folder / "whole")
    print(f"  {found.height} lines of deviations", flush=True)


STEPS = {"make": make, "release": release, "verify": verify, "whole": whole}


def run(step: str, folder: Path, rows: int) -> None:
    """A step in a process of its own, with its time and its peak."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, __file__, step, str(folder), str(rows)]
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    clock, load = time.perf_counter() - begun, os.getloadavg()[0]
    # ru_maxrss is the largest of all children so far.
    print(f"{step}: {spent:.0f} s of processor, {clock:.0f} s of clock at a load of {load:.1f}, {after.ru_maxrss >> 10} MiB")


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in STEPS:
        STEPS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(scratch)
        for step in STEPS:
            run(step, folder, rows)


if __name__ == "__main__":
    main()
