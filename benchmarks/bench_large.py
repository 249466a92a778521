"""A release of ten million cells beside the plain query, each in a process of its own: time beyond it, and peak memory.

    python benchmarks/bench_large.py [ROWS]        (default 10,000,000)

51 states × 64 counties × 30 tracts × 102 ages and the null groups are 10.7 million cells. `count` is a table of counts;
`mean` has means and sums besides. CPU time is that of all threads: on a busy machine it says more than the clock.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROWS = 10_000_000
MEMORY = "400MB"
"""What the driver may use for its GROUP BY, in both processes."""

SECONDS, MEBIBYTES = 10, 1024
"""What is promised: seconds beyond the query, and the peak of the process."""


def make_table(path: Path, rows: int) -> None:
    """The benchmark's table, written by DuckDB."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        f"""COPY (SELECT 'State ' || lpad(CAST(floor(51 * random()) AS INT)::VARCHAR, 2, '0') AS state,
                         CAST(floor(64 * random()) AS INT) AS county, CAST(floor(30 * random()) AS INT) AS tract,
                         CAST(floor(102 * random()) AS INT) AS age, CAST(floor(1000 * random()) AS INT) AS wage
                  FROM range({rows})) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 1000000)"""
    )
    connection.close()


def peak_mib() -> int:
    """The largest resident size of this process so far, in MiB."""
    status = Path("/proc/self/status")
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def timed(what: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which prints its time and the peak so far."""

    def run(*values: Any, **options: Any) -> Any:
        clock, spent = time.perf_counter(), time.process_time()
        answer = call(*values, **options)
        clock, spent = time.perf_counter() - clock, time.process_time() - spent
        print(f"{what} {clock:.2f} {spent:.2f} {peak_mib()}", flush=True)
        return answer

    return run


def plain(path: Path, kind: str) -> None:
    """The query without privacy, its answer fetched as arrays."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{MEMORY}'")
    connection.execute(f"SET temp_directory = '{path.parent}/spill'")
    sums = ", count(wage), sum(wage)" if kind == "mean" else ""
    query = f"SELECT state, county, tract, age, count(*){sums} FROM '{path}' GROUP BY ALL"
    timed("query", lambda: connection.execute(query).fetchnumpy())()


def release(path: Path, kind: str) -> None:
    """The same as a release: reserve, aggregate, noise, intervals, files, commit."""
    import discreet as dp
    from discreet.releases import publish as large

    schema = dp.Schema(
        state=dp.Category([f"State {i:02d}" for i in range(51)]),
        county=dp.Category(range(64)),
        tract=dp.Category(range(30)),
        age=dp.Number(0, 101),
        wage=dp.Number(0, 999),
    )
    session = dp.Session(
        path, schema, dataset="bench", ledger=path.parent / f"{kind}.db", budget=dp.ZCDP(1), neighbours=dp.AddRemove(),
        limits=dp.Limits(memory=MEMORY),
    )  # fmt: skip
    sums = (dp.mean("wage", nulls="skip"), dp.sum("wage", nulls="skip")) if kind == "mean" else ()
    grouped = session.table.group_by("state", "county", "tract", dp.bins("age", range(102)))
    session._engine = _Timed(session._engine)  # type: ignore[assignment]  # noqa: SLF001
    for module, name, what in ((large, "exact_answers", "answers"), (large, "noisy_answers", "noise")):
        setattr(module, name, timed(what, getattr(module, name)))
    timed("release", session.release)(grouped.agg(dp.count(), *sums), spend=1, name="r", to=path.parent / kind)
    timed("load", dp.Release.load)(path.parent / kind)


class _Timed:
    def __init__(self, engine: Any) -> None:
        self._engine, self.header = engine, engine.header
        self.aggregate, self.snapshot, self.close = timed("scan", engine.aggregate), engine.snapshot, engine.close


def measured(what: str, path: Path, kind: str) -> dict[str, list[float]]:
    """What a process of its own prints: seconds, seconds of CPU and peak MiB of each step."""
    run = subprocess.run(
        [sys.executable, __file__, what, str(path), kind], check=True, capture_output=True, text=True, env=os.environ
    )
    return {line.split()[0]: [float(one) for one in line.split()[1:]] for line in run.stdout.splitlines()}


def main(rows: int) -> int:
    """1 if what is promised is missed by the CPU time or the memory."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        make_table(path, rows)
        for kind in ("count", "mean"):
            query, steps = measured("plain", path, kind)["query"], measured("release", path, kind)
            print(f"{rows:>11,} rows, 10,687,560 cells, {kind}: seconds, seconds of CPU, peak MiB so far")
            for name, numbers in {"plain query": query, **steps}.items():
                print(f"  {name:<12} {numbers[0]:7.2f} {numbers[1]:7.2f} {numbers[2]:6.0f}")
            beyond = [one - other for one, other in zip(steps["release"], query, strict=True)]
            size = sum(file.stat().st_size for file in (path.parent / kind / "table").iterdir())
            print(f"  beyond the query: {beyond[0]:.2f} s, {beyond[1]:.2f} s of CPU; files {size / 1e6:.0f} MB")
            missed += beyond[1] > SECONDS or steps["release"][2] > MEBIBYTES
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        {"plain": plain, "release": release}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
        sys.exit(0)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
