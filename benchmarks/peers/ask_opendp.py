"""OpenDP: the Polars interface of `dp.Context`. The Parquet file is read in the measured time.

The mean is a quotient of the other two: nothing is paid for it.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import opendp.prelude as dp
import polars as pl
from measured import CELLS, EPSILON, TOP, Line, measure, quotient

dp.enable_features("contrib")
warnings.simplefilter("ignore")
MOST_ROWS = 1_000_000_000
KEYS = pl.LazyFrame(CELLS, schema=["state", "sex"], orient="row")


def request(path: Path) -> list[Line]:
    context = dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=MOST_ROWS)],
    )
    statistics = (dp.len(), pl.col("wage").dp.sum((0, TOP)))
    table = context.query().group_by("state", "sex").agg(*statistics).with_keys(KEYS).release().collect()
    return [quotient(*row) for row in table.select("state", "sex", "len", "wage").rows()]


if __name__ == "__main__":
    measure(lambda path: path, request, ["opendp", "polars"])
