"""The plain query, without privacy: what the same work costs anyway. The Parquet file is read in the measured time."""

from __future__ import annotations

from pathlib import Path

import duckdb
from measured import TOP, Line, measure

QUERY = f"""
    SELECT state, sex, count(*), count(w), sum(w)
    FROM (SELECT state, sex, CASE WHEN wage < 0 THEN 0 WHEN wage > {TOP} THEN {TOP} ELSE wage END AS w FROM '%s')
    GROUP BY state, sex
"""


def prepare(path: Path) -> tuple[duckdb.DuckDBPyConnection, Path]:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection, path


def request(source: tuple[duckdb.DuckDBPyConnection, Path]) -> list[Line]:
    connection, path = source
    rows = connection.execute(QUERY % path).fetchall()
    return [(state, sex, count, total, total / known) for state, sex, count, known, total in rows]


if __name__ == "__main__":
    measure(prepare, request, ["duckdb"])
