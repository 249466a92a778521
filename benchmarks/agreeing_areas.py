"""Counts of areas of several levels: deviations, errors of the unbiased counts and of the whole numbers, and times.

    python benchmarks/agreeing_areas.py DISTRICTS.csv [RHO]

DISTRICTS.csv has a row for each voting district: GEOID20, and the persons of each group of race (pop_hisp, …), those of
voting age among them (vap_hisp, …). One release of one row added or removed is made; nothing of it is kept.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import discreet as dp
from discreet.releases.whole_areas import whole_areas

RACES = ["hisp", "white", "black", "aian", "asian", "nhpi", "other", "two"]
BY = [[], ["race"], ["age"], ["race", "age"]]


def persons_of(districts: pl.DataFrame) -> pl.DataFrame:
    """A row for each person."""
    parts = []
    for race in RACES:
        for age, many in (("adult", pl.col(f"vap_{race}")), ("minor", pl.col(f"pop_{race}") - pl.col(f"vap_{race}"))):
            parts.append(districts.select("district", many=many, race=pl.lit(race), age=pl.lit(age)))
    every = pl.concat(parts).filter(pl.col("many") > 0)
    return every.select("race", "age", area="district", each=pl.int_ranges("many")).explode("each").drop("each")


def main() -> None:
    source = pl.read_csv(sys.argv[1], infer_schema_length=None, schema_overrides={"GEOID20": pl.String})
    longest = source["GEOID20"].str.len_chars().max()
    levels = {"state": pl.col("GEOID20").str.slice(0, 2), "county": pl.col("GEOID20").str.slice(0, 5)}
    districts = source.with_columns(**levels, district=pl.col("GEOID20").str.pad_end(longest, "0"))
    persons = persons_of(districts)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "areas.csv")
        districts.select("state", "county", "district").write_csv(table)
        area = dp.Hierarchy(table, levels=["state", "county", "district"])
    schema = dp.Schema(area=area, race=dp.Category(RACES), age=dp.Category(["adult", "minor"]))
    spend = dp.ZCDP(sys.argv[2] if len(sys.argv) > 2 else "0.5")
    session = dp.Session(persons, schema, dataset="d", ledger=":memory:", budget=spend, neighbours=dp.AddRemove())
    begun = time.process_time()
    release = session.release(session.table.agg(dp.agreeing_areas("area", by=BY)), spend=spend, name="areas")
    print(f"release: {time.process_time() - begun:.1f} s of processor time; {dp.verify(release)}")
    begun, document = time.process_time(), release.document
    whole = whole_areas(document, document["measured"][0], document["frames"])
    print(f"whole numbers: {time.process_time() - begun:.1f} s")
    truth = persons.with_columns(
        pl.col("area").str.slice(0, 2).alias("area.state"),
        pl.col("area").str.slice(0, 5).alias("area.county"),
        pl.col("area").alias("area.district"),
    )
    for frame, counts in zip(document["frames"], whole, strict=True):
        report(frame["name"], release.tables[frame["name"]].with_columns(whole=pl.Series(counts)), truth)


def report(name: str, table: pl.DataFrame, truth: pl.DataFrame) -> None:
    """The deviation and the mean errors of a table, over its cells without nulls."""
    keys = [one for one in table.columns if one not in {"count", "count_low", "count_high", "whole"}]
    if keys:
        exact = truth.group_by(keys).agg(exact=pl.len().cast(pl.Int64))
        table = table.drop_nulls(keys).join(exact, on=keys, how="left").with_columns(pl.col("exact").fill_null(0))
    else:
        table = table.with_columns(exact=pl.lit(len(truth)))
    deviation = (pl.col("count_high") - pl.col("count_low")).mean() / 3.92
    errors = [(pl.col(one) - pl.col("exact")).abs().mean().alias(one) for one in ("count", "whole")]
    bias = (pl.col("whole") - pl.col("exact")).filter(pl.col("count") > 10 * deviation).mean().alias("bias of large")
    found = table.select(deviation.alias("deviation"), *errors, bias)
    covered = table.filter(pl.col("exact").is_between("count_low", "count_high"))
    told = ", ".join(f"{key} {found[key][0] or 0:.2f}" for key in found.columns)
    print(f"{name}, {len(table):,} cells: {told}; {len(covered) / len(table):.1%} of the intervals hold")


if __name__ == "__main__":
    main()
