"""Accuracy against budget: the errors that a quote promises, and the errors of releases on real data.

The error of a release should be at most the error of its quote, 95 times in 100, and halve when ρ is four times as large.
The truth comes from the file, which is possible only for data that are public anyway: here 2,000 persons of the American
Community Survey.
"""

import numpy as np
import polars as pl

import discreet as dp
from discreet import datasets

LADDER = ["0.005", "0.02", "0.08", "0.32", "1.28"]
REPEATED = 12

source = datasets.path("acs12")
schema = dp.Schema(gender=dp.Category(["female", "male"]), hrs_work=dp.Number(0, 80))
truth = pl.read_parquet(source).filter(gender="female")["hrs_work"].clip(0, 80).mean()

print("mean hours of work of women: error at each budget\n")
print("      ρ   promised (95 %)   95 % of the releases   within the interval")
with dp.Session(
    source, schema, dataset="acs12", ledger=":memory:", budget=dp.ZCDP(100), neighbours=dp.ReplaceOne(rows=2000)
) as session:
    request = session.table.clamp({"hrs_work": (0, 80)}).group_by("gender").agg(dp.mean("hrs_work", nulls="skip"))
    for rho in LADDER:
        errors, covered = [], 0
        for run in range(REPEATED):
            table = session.release(request, spend=rho, name=f"ρ = {rho}, run {run}").table
            mean, low, high = table.row(0)[1:]
            errors.append(abs(mean - truth))
            covered += low <= truth <= high
        promised = (high - low) / 2
        seen = float(np.quantile(errors, 0.95))
        print(f"{rho:>7} {promised:>17.3f} {seen:>22.3f} {covered:>15} of {REPEATED}")
