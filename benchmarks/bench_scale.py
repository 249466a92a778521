"""How the cost of a release grows with the rows, beside the plain query: ratios of time, peak memory, a line through both.

    python benchmarks/bench_scale.py [--json FILE] [ROWS ...]        (default 1e6 3e6 1e7; 1e8 needs 400 MB of disk)

For each number of rows: count, sum and mean by state and sex; and the same from the table imputed and resized with p = 0.3,
over 27,030 joint cells, under both neighbour relations. All read one Parquet file, in a process of its own for each number
of rows; runs alternate, medians of processor and wall time are compared. Releases contain the writing of the ledger.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_release import make_table, peak_mib

SIZES, RUNS = [1_000_000, 3_000_000, 10_000_000], 5
WAGES, STEP = 265, 16  # 265 wages in 102 groups are 27,030 joint cells


def releases(path: Path, rows: int, folder: str) -> dict[str, Callable[[], object]]:
    """What is measured, by name; each call is a complete release."""
    import discreet as dp

    states = [f"State {i:02d}" for i in range(51)]
    skip = {"nulls": "skip"}
    calls: dict[str, Callable[[], object]] = {}

    def session(name: str, neighbours: Any, wage: Any, budget: Any) -> Any:
        schema = dp.Schema(state=dp.Category(states), sex=dp.Category(["F", "M"]), wage=wage)
        return dp.Session(path, schema, dataset="b", ledger=f"{folder}/{name}.db", budget=budget, neighbours=neighbours)

    def repeated(opened: Any, request: Any, spend: Any) -> Callable[[], object]:
        names = iter(range(10**6))
        return lambda: opened.release(request, spend=spend, name=str(next(names)))

    moments = session("moments", dp.ReplaceOne(rows=rows), dp.Number(0, 4095), dp.ZCDP(1000))
    asked = moments.table.group_by("state", "sex").agg(dp.count(), dp.sum("wage", **skip), dp.mean("wage", **skip))
    calls["count, sum, mean"] = repeated(moments, asked, 1)
    for name, neighbours in (("replace one", dp.ReplaceOne(rows=rows)), ("add or remove", dp.AddRemove())):
        resized = session(name, neighbours, dp.Number(0, (WAGES - 1) * STEP, STEP), dp.PureDP(1000))
        laws = {"state": dp.Weights(dict.fromkeys(states, 1)), "sex": dp.Weights({"F": 1, "M": 1}), "wage": dp.Uniform()}
        table = resized.table.impute(laws)
        table = table.resize(rows=rows * 3 // 10, proportion="0.3")
        request = table.group_by("state", "sex").agg(dp.count(), dp.sum("wage"), dp.mean("wage"))
        calls[f"resize 0.3, {name}"] = repeated(resized, request, 1)
    return calls


def plain_query(path: Path) -> Callable[[], object]:
    import duckdb

    connection = duckdb.connect()
    query = f"""SELECT state, sex, count(*), count(w), sum(w) FROM
                (SELECT state, sex, CASE WHEN wage < 0 THEN 0 WHEN wage > 4095 THEN 4095 ELSE wage END AS w FROM '{path}')
                GROUP BY state, sex"""
    return lambda: connection.execute(query).fetchall()


def timed(call: Callable[[], object]) -> tuple[float, float]:
    start = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - start[0], time.perf_counter() - start[1]


def measure(path: Path, rows: int) -> dict[str, Any]:
    """Medians of (processor, wall) seconds by name, and the peak memory after the first release and after all."""
    with tempfile.TemporaryDirectory() as folder:
        calls = releases(path, rows, folder)
        calls["count, sum, mean"]()
        first = peak_mib()
        calls = {"plain query": plain_query(path), **calls}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
        for run in range(RUNS + 1):
            for name, call in calls.items():
                spent = timed(call)
                if run:
                    times[name].append(spent)
    medians = {name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in times.items()}
    return {"rows": rows, "seconds": medians, "peak_mib_of_one": first, "peak_mib": peak_mib()}


def show(result: dict[str, Any]) -> None:
    base = result["seconds"]["plain query"]
    print(
        f"{result['rows']:>11,} rows   peak {result['peak_mib_of_one']} MiB of one release, {result['peak_mib']} MiB of all"
    )
    for name, (cpu, wall) in result["seconds"].items():
        print(f"  {name:28s} processor {cpu:7.3f} s {cpu / base[0]:5.2f} ×   wall {wall:7.3f} s {wall / base[1]:5.2f} ×")


def show_lines(results: list[dict[str, Any]]) -> None:
    """Least squares of processor seconds on rows: what a million rows and what none cost."""
    for name in results[0]["seconds"]:
        points = [(result["rows"] / 1e6, result["seconds"][name][0]) for result in results]
        slope, start = statistics.linear_regression(*zip(*points, strict=True))
        worst = max(abs(start + slope * x - y) for x, y in points)
        print(f"  {name:28s} {start:.3f} s + {slope:.4f} s per million rows; largest distance from the line {worst:.3f} s")


def main() -> None:
    """Every size in a process of its own, then the lines."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("rows", nargs="*", type=float)
    arguments.add_argument("--json", type=Path)
    asked = arguments.parse_args()
    results = []
    for rows in [int(rows) for rows in asked.rows] or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            make_table(path, rows)
            one = [sys.executable, __file__, "--one", str(path), str(rows)]
            results.append(json.loads(subprocess.run(one, check=True, capture_output=True, text=True).stdout))
        show(results[-1])
    if len(results) > 1:
        show_lines(results)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(Path(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()
