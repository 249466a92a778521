"""Ten statistics of ten columns in one release, beside the plain queries for them; and one joint cube beside one for each.

    python benchmarks/bench_wide.py [ROWS]        (default 10,000,000)

The table has 51 states and ten integer columns of 1,000 values with 1 % nulls, spread evenly: the worst case for a joint
cube, whose cells are all occupied. Both read the same Parquet file in one process; runs alternate, and the medians of the
processor time of all threads are compared.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import discreet as dp
from discreet.engines import open_source
from discreet.plan import layout as layouts
from discreet.plan.plan import Plan

ROWS = 10_000_000
RUNS = 3
SCHEMA = dp.Schema(
    state=dp.Category([f"State {i:02d}" for i in range(51)]), **{f"v{j}": dp.Number(0, 999) for j in range(10)}
)
SKIP = {"nulls": "skip"}
EDGES = [*range(0, 1000, 100), 999]


def make_table(path: Path, rows: int) -> None:
    """The benchmark's table, written by DuckDB."""
    values = ", ".join(
        f"CASE WHEN hash(i, {j}) % 100 > 0 THEN CAST(hash({j}, i) % 1000 AS INT) END AS v{j}" for j in range(10)
    )
    state = "'State ' || lpad(CAST(hash(i) % 51 AS VARCHAR), 2, '0') AS state"
    duckdb.execute(f"COPY (SELECT {state}, {values} FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)")


def timed(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def alternated(*calls: Callable[[], object]) -> list[float]:
    """The median time of each after one run that is not counted; runs alternate."""
    runs = [[timed(call) for call in calls] for _ in range(RUNS + 1)][1:]
    return [statistics.median(column) for column in zip(*runs, strict=True)]


@contextmanager
def joint_cubes_up_to(cells: int) -> Iterator[None]:
    usual, layouts.JOINT_CELLS = layouts.JOINT_CELLS, cells
    yield
    layouts.JOINT_CELLS = usual


def ten_statistics(path: Path, rows: int) -> None:
    """Four medians, three histograms and three means by state, beside ten plain queries, one after the other."""
    plain = duckdb.connect()
    queries = [f"SELECT state, quantile_disc(v{j}, 0.5) FROM '{path}' GROUP BY state" for j in range(4)]
    queries += [f"SELECT state, v{j} // 100, count(*) FROM '{path}' GROUP BY ALL" for j in range(4, 7)]
    queries += [f"SELECT state, count(v{j}), sum(v{j}) FROM '{path}' GROUP BY state" for j in range(7, 10)]
    with dp.Session(
        path, SCHEMA, dataset="wide", ledger=":memory:", budget=dp.ZCDP(1000), neighbours=dp.ReplaceOne(rows=rows)
    ) as session:
        wanted = [dp.median(f"v{j}", **SKIP) for j in range(4)]
        wanted += [dp.histogram(f"v{j}", EDGES) for j in range(4, 7)]
        wanted += [dp.mean(f"v{j}", **SKIP) for j in range(7, 10)]
        request = session.table.group_by("state").agg(*wanted)
        names = iter(range(10**6))
        asked, private = alternated(
            lambda: [plain.execute(query).fetchall() for query in queries],
            lambda: session.release(request, spend=1, name=f"run {next(names)}"),
        )
    print(f"{rows:>11,} rows, ten statistics by state: {request.layout}")
    print(f"{'':>12}ten plain queries {asked:6.2f} s, one release {private:6.2f} s: {private / asked:.2f} times")


def brought(path: Path, plan: Plan) -> Callable[[], object]:
    engine = open_source(path, SCHEMA)
    return lambda: [engine.aggregate(part.axes, part.moments) for part in plan.layout.scans]


def one_or_several(path: Path) -> None:
    """Histograms of several columns: one joint cube, and one cube for each, by the number of cells of the joint one."""
    print("one joint cube beside one for each histogram, by state")
    for columns, places in [(2, 5), (2, 10), (3, 5), (2, 16), (2, 30), (3, 10), (2, 100)]:
        edges = [*range(0, 1000, 1000 // places)][:places]
        wanted = [dp.histogram(f"v{j}", [*edges, 999]) for j in range(columns)]
        plans = []
        for cells in (10**9, 0):
            with joint_cubes_up_to(cells):
                plans.append(dp.Table(SCHEMA, dp.AddRemove()).group_by("state").agg(*wanted))
        joint, apart = alternated(*(brought(path, plan) for plan in plans))
        shown = f"{plans[0].layout.joint:>9,} cells of {columns} columns"
        print(f"  {shown}: joint {joint:5.2f} s, apart {apart:5.2f} s: {joint / apart:.2f} times", flush=True)


def sums_beside_keys(path: Path) -> None:
    """Three sums beside the keys of a median, and in a scan of their own, by the number of cells of the median."""
    print("three sums beside the keys of a median, and in a scan of their own")
    for grouped in ([], ["state"], ["state", dp.bins("v1", EDGES)]):
        median, sums = [dp.median("v0", **SKIP)], [dp.sum(f"v{j}", **SKIP) for j in range(2, 5)]
        table = dp.Table(SCHEMA, dp.AddRemove()).group_by(*grouped)
        both, *alone = (table.agg(*asked) for asked in ([*median, *sums], median, sums))
        calls = [brought(path, plan) for plan in alone]
        together, apart = alternated(brought(path, both), lambda calls=calls: [call() for call in calls])  # type: ignore[misc]
        print(
            f"  {both.layout.joint:>9,} cells: beside {together:5.2f} s, apart {apart:5.2f} s: {together / apart:.2f} times"
        )


def main() -> int:
    rows = int(sys.argv[1]) if sys.argv[1:] else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.parquet"
        make_table(path, rows)
        ten_statistics(path, rows)
        one_or_several(path)
        sums_beside_keys(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
