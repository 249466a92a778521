"""The price of comparing the number of rows before the charge, as every release under ReplaceOne does.

    python benchmarks/bench_look.py [ROWS]        (default 2,000,000)

Three columns: 51 groups as text, integers, and numbers with two decimals. For each source the least time of some counts of
its rows, and of some releases of a count and a mean in each group, runs alternating in one process.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

import discreet as dp
from discreet.engines import open_source
from discreet.engines.base import rows_of

ROWS = 2_000_000
RUNS = 5
GROUPS = [f"g{i}" for i in range(51)]
SCHEMA = dp.Schema(g=dp.Category(GROUPS), v=dp.Number(0, 100_000))


def make_sources(folder: Path, rows: int) -> dict[str, Callable[[], Any]]:
    """The same rows in every form, each opened anew for each run."""
    place = str(folder / "d.parquet")
    with closing(duckdb.connect()) as connection:
        connection.execute(
            "COPY (SELECT 'g' || CAST(hash(i) % 51 AS INT) AS g, CAST(hash(i, 1) % 100000 AS INT) AS v, "
            f"CAST(hash(i, 2) % 10000 / 100 AS DECIMAL(6, 2)) AS w FROM range({rows}) AS t(i)) TO '{place}'"
        )
        connection.execute(f"COPY (FROM '{place}') TO '{folder / 'd.csv'}'")
        connection.execute(f"ATTACH '{folder / 'd.duckdb'}' AS d; CREATE TABLE d.t AS FROM '{place}'; DETACH d")
    with closing(sqlite3.connect(folder / "d.sqlite")) as connection:
        connection.execute("CREATE TABLE t (g TEXT, v INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", pl.read_parquet(place, columns=["g", "v"]).iter_rows())
        connection.commit()
    frame, kept = pl.read_parquet(place), duckdb.connect()
    return {
        "Parquet file": lambda: place,
        "DuckDB table": lambda: f"{folder / 'd.duckdb'}::t",
        "SQLite table": lambda: f"{folder / 'd.sqlite'}::t",
        "frame in memory": lambda: frame,
        "CSV file": lambda: folder / "d.csv",
        "relation over the Parquet file": lambda: kept.read_parquet(place),
        "relation over the CSV file": lambda: kept.read_csv(str(folder / "d.csv")),
        "function that opens a stream": lambda: frame.to_arrow,
    }


def timed(call: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def released(source: Any) -> None:
    """A release under AddRemove, which looks at nothing before its charge."""
    given: dict[str, Any] = {"dataset": "d", "ledger": ":memory:", "budget": dp.ZCDP(1), "neighbours": dp.AddRemove()}
    with dp.Session(source, SCHEMA, **given) as session:
        request = session.table.group_by("g").agg(dp.count(), dp.mean("v", nulls="skip"))
        session.release(request, spend="0.1", name="r")


def main(rows: int) -> None:
    """Prints a line for each source."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'source':32} {'count':>10} {'release':>10}")
        for name, source in make_sources(Path(folder), rows).items():
            engine = open_source(source(), SCHEMA)
            runs = [(timed(lambda: rows_of(engine)), timed(lambda: released(source()))) for _ in range(RUNS)]  # noqa: B023
            engine.close()
            looks, whole = (min(times) for times in zip(*runs, strict=True))
            print(f"{name:32} {1000 * looks:7.1f} ms {1000 * whole:7.0f} ms", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
