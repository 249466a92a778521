"""OpenDP: the Polars interface of `dp.Context`, which takes the first groups of each person (`keep="sample"` raises)."""

from __future__ import annotations

import warnings
from pathlib import Path

import opendp.prelude as dp
import polars as pl
from visits import BOUND, GROUPS, RHO, measure, shop

dp.enable_features("contrib")
warnings.simplefilter("ignore")
KEYS = pl.LazyFrame({"shop": [shop(number) for number in range(GROUPS)]})


def request(path: Path) -> dict[str, float]:
    context = dp.Context.compositor(
        data=pl.scan_parquet(path).select("person", "shop"),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
        privacy_loss=dp.loss_of(rho=RHO),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["shop"], max_groups=GROUPS)],
    )
    bounded = context.query().truncate_per_group(1, by=["shop"]).truncate_num_groups(BOUND, by=["shop"], keep="first")
    return dict(bounded.group_by("shop").agg(dp.len()).with_keys(KEYS).release().collect().rows())


if __name__ == "__main__":
    measure(request)
