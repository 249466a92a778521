"""What a row-wise query costs beside the plain query that computes the same: processor time, one thread, one run.

    python benchmarks/bench_queries.py [ROWS] [RUNS]        (default 4e6 rows, 5 runs)

A Parquet file has an integer, a double, a text, a day and a state. For each expression the plain query groups by it in a
connection that is open; a release counts by a column that a query computes, in a session that is open. Plain queries may
fail on a row, or write what no category names: that is what the difference pays for. What a request costs on 1,000 rows is
taken off both.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_types import spent

ROWS, FEW, RUNS = 4_000_000, 1000, 5
CODES = list(range(12))
EXPRESSIONS: dict[str, Any] = {
    "state": [f"State {number:02d}" for number in range(51)],
    "age // 10": CODES,
    "CASE WHEN age < 15 THEN 0 WHEN age < 65 THEN 1 ELSE 2 END": CODES,
    "CAST(round(pay / 1000) AS BIGINT)": CODES,
    "upper(trim(sex))": ["F", "M"],
    "CAST(code AS BIGINT)": CODES,
    "year(born) % 10": CODES,
    "(DATE '2026-01-01' - born) // 3650": CODES,
}
"""Expressions that mean the same in a plan and in DuckDB, and the categories of what they give."""


def write(path: Path, rows: int) -> None:
    """The file is there, the same at each call."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1; SELECT setseed(0.5)")
    connection.execute(
        f"""COPY (SELECT 'State ' || lpad(CAST(floor(51 * random()) AS INT)::VARCHAR, 2, '0') AS state,
                         CASE WHEN random() < 0.02 THEN NULL ELSE CAST(110 * random() AS INT) END AS age,
                         12000 * random() AS pay,
                         CASE WHEN random() < 0.5 THEN ' f' ELSE 'm ' END AS sex,
                         CAST(floor(12 * random()) AS INT)::VARCHAR AS code,
                         DATE '1920-01-01' + CAST(38000 * random() AS INT) AS born
                  FROM range({rows})) TO '{path}' (FORMAT parquet)"""
    )
    connection.close()


def plain(path: Path, expression: str) -> Callable[[], object]:
    """The query of an analyst."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    query = f"SELECT {expression} AS x, count(*) FROM '{path}' GROUP BY 1"
    return lambda: connection.execute(query).fetchall()


def release(path: Path, expression: str, categories: Any) -> Callable[[], object]:
    """A whole request, in an open session of one thread."""
    import discreet as dp

    session = dp.Session(
        path,
        dp.Schema(x=dp.Category(categories)),
        dataset="queries",
        ledger=":memory:",
        budget=dp.ZCDP(10_000),
        neighbours=dp.AddRemove(),
        limits=dp.Limits(threads=1),
        query=f"SELECT {expression} AS x FROM source",
    )
    request = session.table.group_by("x").agg(dp.count())
    names = iter(range(10**6))
    return lambda: session.release(request, spend=1, name=str(next(names)))


def measured(large: Callable[[], object], small: Callable[[], object], runs: int) -> float:
    """The median processor time that the rows take."""
    for call in (large, small):
        call()
    return statistics.median(spent(large) for _ in range(runs)) - statistics.median(spent(small) for _ in range(runs))


def main() -> int:
    """The table: a line for each expression."""
    rows, runs = (int(float(given)) for given in (*sys.argv[1:], *("4e6", "5")[len(sys.argv) - 1 :]))
    print(f"{'':60}{'plain':>8}{'release':>9}{'ratio':>7}   (seconds, {rows:,} rows, one thread)")
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "many.parquet", Path(folder) / "few.parquet"
        for path, size in zip(files, (rows, FEW), strict=True):
            write(path, size)
        for expression, categories in EXPRESSIONS.items():
            query = measured(*(plain(path, expression) for path in files), runs)
            asked = measured(*(release(path, expression, categories) for path in files), runs)
            print(f"{expression:60}{query:8.3f}{asked:9.3f}{asked / query:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
