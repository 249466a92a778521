"""Mean weekly income in each state, from 29,501 persons of the US census of 2000, under zero-concentrated privacy.

Choosing a bound is choosing between two errors. A clamp at 2,000 dollars makes the means of rich states a little too low,
once and for all; a clamp at 200,000 would make the noise a hundred times larger. The bound is decided in advance, from what
everybody knows about wages, never by looking at the data.
"""

import sys
from pathlib import Path

import polars as pl

import discreet as dp
from discreet import datasets
from discreet.pages.report import write_report

STATES = """Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, District of Columbia, Florida,
Georgia, Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan,
Minnesota, Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York,
North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota, Tennessee,
Texas, Utah, Vermont, Virginia, Washington, West Virginia, Wisconsin, Wyoming"""

states = [state.strip() for state in STATES.replace("\n", " ").split(",")]
schema = dp.Schema(state=dp.Category(states), weekinc=dp.Number(0, 200_000))
with dp.Session(
    datasets.path("census2000"),
    schema,
    dataset="census2000",
    ledger=":memory:",
    budget=dp.ZCDP("0.5"),
    neighbours=dp.ReplaceOne(rows=29_501),
) as session:
    # This table has no nulls, but nobody may know that from looking: as long as a column could be null, it needs a law.
    table = session.table.clamp({"weekinc": (0, 2000)}).impute(
        {"weekinc": dp.Uniform(0, 2000), "state": dp.Weights(dict.fromkeys(states, 1))}
    )
    request = table.group_by("state").agg(dp.count(), dp.mean("weekinc", weight=2))
    print(session.quote(request, spend="0.1"))
    release = session.release(request, spend="0.1", name="mean weekly income by state")
    # A median for the same spend, with the narrowest interval; its error is stated in rank. It is quoted, not bought.
    median = table.group_by("state").agg(dp.median("weekinc", interval="chosen"))
    print(str(session.quote(median, spend="0.1")).splitlines()[-1])

with pl.Config(tbl_rows=8, float_precision=0):
    print(release.table.sort("mean_weekinc", descending=True))
print(release.guarantee)
if len(sys.argv) > 1:
    place = release.save(Path(sys.argv[1]))
    print(f"Report: {write_report(release, place).resolve().as_uri()}")
