"""smartnoise-sql over a SQLite file, its fastest source without a server. Filling the file is not in the measured time.

Its ε is for each column, so it is divided by the privacy cost. The mean is a quotient of the other two.
"""

from __future__ import annotations

import atexit
import sqlite3
import tempfile
import warnings
from pathlib import Path

import pyarrow.parquet as pq
from measured import EPSILON, TOP, Line, measure, quotient
from snsql import Privacy, from_connection
from snsql.sql.private_reader import PrivateReader

warnings.simplefilter("ignore")
COLUMNS = ("state", "sex", "wage")
QUERY = "SELECT state, sex, COUNT(*) AS n, SUM(wage) AS s FROM main.wages GROUP BY state, sex"
DESCRIBED = {
    "row_privacy": True,
    "censor_dims": False,
    "state": {"type": "string", "nullable": False},
    "sex": {"type": "string", "nullable": False},
    "wage": {"type": "int", "lower": 0, "upper": TOP, "nullable": False},
}


def prepare(path: Path) -> sqlite3.Connection:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    connection = sqlite3.connect(Path(folder.name) / "wages.sqlite")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE wages (state TEXT, sex TEXT, wage INTEGER)")
    for batch in pq.ParquetFile(path).iter_batches(columns=list(COLUMNS)):
        rows = zip(*(batch.column(name).to_pylist() for name in COLUMNS), strict=True)
        connection.executemany("INSERT INTO wages VALUES (?, ?, ?)", rows)
    connection.commit()
    return connection


def request(connection: sqlite3.Connection) -> list[Line]:
    cost, _ = _reader(connection, 1.0).get_privacy_cost(QUERY)
    return [quotient(*row) for row in _reader(connection, EPSILON / cost).execute(QUERY)[1:]]


def _reader(connection: sqlite3.Connection, epsilon: float) -> PrivateReader:
    metadata = {"": {"main": {"wages": DESCRIBED}}}
    return from_connection(connection, privacy=Privacy(epsilon=epsilon, delta=1e-9), metadata=metadata, engine="sqlite")


if __name__ == "__main__":
    measure(prepare, request, ["smartnoise-sql"])
