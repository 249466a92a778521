"""discreet: a session and a release, with a ledger on disk. The Parquet file is read in the measured time."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

from measured import EPSILON, SEXES, STATES, TOP, Line, measure

import discreet as dp

FOLDER = tempfile.TemporaryDirectory()
NAMES = count()


def opened(path: Path, budget: dp.PureDP) -> dp.Session:
    return dp.Session(
        path,
        dp.Schema(state=dp.Category(STATES), sex=dp.Category(SEXES), wage=dp.Number(0, TOP)),
        dataset=f"wages {next(NAMES)}",
        ledger=Path(FOLDER.name) / "ledger.db",
        budget=budget,
        neighbours=dp.AddRemove(),
        limits=dp.Limits(threads=1),
    )


def released(session: dp.Session) -> list[Line]:
    statistics = (dp.count("wage"), dp.sum("wage", nulls="skip"), dp.mean("wage", nulls="skip"))
    request = session.table.group_by("state", "sex").agg(*statistics)
    release = session.release(request, spend=dp.PureDP(EPSILON), name=f"by state and sex {next(NAMES)}")
    # Every group of the schema is there, null for each key too; no row of the data has one, so they are not compared.
    lines = release.table.select("state", "sex", "count_wage", "sum_wage", "mean_wage").rows()
    return [line for line in lines if line[0] is not None and line[1] is not None]


def request(path: Path) -> list[Line]:
    with opened(path, dp.PureDP(EPSILON)) as session:
        return released(session)


if __name__ == "__main__":
    measure(lambda path: path, request, ["discreet", "duckdb"])
