"""discreet: a session and a release, with a ledger on disk. The Parquet file is read in the measured time."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

from measured import EPSILON, SEXES, STATES, TOP, Line, measure

import discreet as dp

FOLDER = tempfile.TemporaryDirectory()
NAMES = count()


def request(path: Path) -> list[Line]:
    schema = dp.Schema(state=dp.Category(STATES), sex=dp.Category(SEXES), wage=dp.Number(0, TOP))
    with dp.Session(
        path,
        schema,
        dataset=f"wages {next(NAMES)}",
        ledger=Path(FOLDER.name) / "ledger.db",
        budget=dp.PureDP(EPSILON),
        neighbours=dp.AddRemove(),
        limits=dp.Limits(threads=1),
    ) as session:
        statistics = (dp.count("wage"), dp.sum("wage", nulls="skip"), dp.mean("wage", nulls="skip"))
        release = session.release(session.table.group_by("state", "sex").agg(*statistics), name="by state and sex")
    # Every group of the schema is there, null for each key too; no row of the data has one, so they are not compared.
    lines = release.table.select("state", "sex", "count_wage", "sum_wage", "mean_wage").rows()
    return [line for line in lines if line[0] is not None and line[1] is not None]


if __name__ == "__main__":
    measure(lambda path: path, request, ["discreet", "duckdb"])
