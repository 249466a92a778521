"""The plain query of DuckDB: different persons per group, without noise and without a bound."""

from __future__ import annotations

from pathlib import Path

import duckdb
from visits import measure


def request(path: Path) -> dict[str, float]:
    duckdb.sql("SET threads = 2")
    duckdb.sql("SET memory_limit = '3GB'")
    return dict(duckdb.sql(f"SELECT shop, count(DISTINCT person) FROM '{path}' GROUP BY shop").fetchall())


if __name__ == "__main__":
    measure(request)
