"""Counts of areas of several levels on five data sets: deviations, coverage, errors of the counts and of the whole numbers.

    python benchmarks/agreeing_areas.py DATA [RELEASES]

DATA is a folder with the files that `DATA_SETS` names; the last data set is made up. So many releases of one row added or
removed are made of each, with ρ = 1/2; nothing of them is kept. Errors, coverage and bias are means over all cells without
nulls in all releases. A view is worse than the counts where a ratio is above 1; `large` is over the cells in which truly
more than ten deviations are.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

import discreet as dp
from discreet.releases.whole_areas import whole_areas

SPEND = dp.ZCDP("1/2")
RACES = ["hisp", "white", "black", "aian", "asian", "nhpi", "other", "two"]


@dataclass(frozen=True)
class Data:
    """Counts of persons: the columns of the levels, the last one finest, those by which tables are made, and `many`."""

    counts: pl.DataFrame
    levels: Sequence[str]
    by: Sequence[Sequence[str]]

    @property
    def columns(self) -> list[str]:
        """The columns of all tables."""
        return list(dict.fromkeys(column for own in self.by for column in own))

    def persons(self) -> pl.DataFrame:
        """A row for each person."""
        every = self.counts.filter(pl.col("many") > 0).select(*self.columns, area=self.levels[-1], many="many")
        return every.select(*self.columns, "area", each=pl.int_ranges("many")).explode("each").drop("each")

    def schema(self) -> dp.Schema:
        """The areas that exist, and the values of each column."""
        codes = self.counts.select(self.levels).unique(maintain_order=True)
        area = dp.Hierarchy({one: codes[one].to_list() for one in self.levels}, levels=list(self.levels))
        values = {one: dp.Category(self.counts[one].unique().sort().to_list()) for one in self.columns}
        return dp.Schema(area=area, **values)

    def truth(self) -> pl.DataFrame:
        """The counts, with the levels under their names in a release."""
        return self.counts.rename({one: f"area.{one}" for one in self.levels})


def districts(folder: Path) -> Data:
    """Three states, 36 counties, 2,810 voting districts, by race and age."""
    file = folder / "census/pl94_2020_vtd_RI_NV_VT.csv"
    source = pl.read_csv(file, infer_schema_length=None, schema_overrides={"GEOID20": pl.String})
    longest = source["GEOID20"].str.len_chars().max()
    wide = source.with_columns(
        state=pl.col("GEOID20").str.slice(0, 2),
        county=pl.col("GEOID20").str.slice(0, 5),
        district=pl.col("GEOID20").str.pad_end(longest, "0"),
    )
    parts = [
        wide.select("state", "county", "district", many=many, race=pl.lit(race), age=pl.lit(age))
        for race in RACES
        for age, many in (("adult", pl.col(f"vap_{race}")), ("minor", pl.col(f"pop_{race}") - pl.col(f"vap_{race}")))
    ]
    return Data(pl.concat(parts), ["state", "county", "district"], [[], ["race"], ["age"], ["race", "age"]])


def blocks(folder: Path) -> Data:
    """Seven tracts, 28 block groups, 569 blocks of one county, by race."""
    source = pl.read_csv(folder / "census/ri2018_e2e_prototype_blocks.csv", schema_overrides={"geoid": pl.String})
    races = source.columns[source.columns.index("total") + 1 : source.columns.index("hispanic")]
    own = source.filter(pl.col("sumlev").cast(pl.String).str.ends_with("750")).with_columns(pl.col("geoid").str.tail(15))
    long = own.unpivot(on=races, index="geoid", variable_name="race", value_name="many")
    digits = {"tract": 11, "group": 12, "block": 15}
    counts = long.with_columns(pl.col("geoid").str.slice(0, many).alias(level) for level, many in digits.items())
    return Data(counts, list(digits), [[], ["race"]])


def origins(folder: Path) -> Data:
    """The states and 15 areas of a survey, by 9 races and 24 origins, nearly all cells empty."""
    source = pl.read_csv(folder / "tables/pums_race_hispanic_by_puma.csv", infer_schema=False)
    counts = source.select(
        state="state_fips",
        puma=pl.col("state_fips") + pl.col("puma"),
        race="rac1p",
        origin="hisp",
        many=pl.col("count").cast(pl.Int64),
    )
    return Data(counts, ["state", "puma"], [[], ["race"], ["origin"], ["race", "origin"]])


def survey(folder: Path) -> Data:
    """18 states and 31 areas of a survey, by sex, race and tens of ages."""
    source = pl.read_parquet(folder / "tutorial/acs2019_persons.parquet")
    counts = source.select(
        state=pl.col("STATE").cast(pl.String),
        puma=pl.col("STATE").cast(pl.String) + "-" + pl.col("PUMA").cast(pl.String),
        sex=pl.col("SEX").cast(pl.String),
        race=pl.col("RAC1P").cast(pl.String),
        age=(pl.col("AGEP") // 10).cast(pl.String),
    )
    found = counts.group_by(counts.columns).agg(many=pl.len().cast(pl.Int64))
    return Data(found, ["state", "puma"], [[], ["sex"], ["race"], ["age"], ["sex", "age"], ["sex", "race", "age"]])


def skewed(_: Path) -> Data:
    """Two states, 8 counties, 200 areas of made-up persons whose numbers differ ten thousandfold, by 6 kinds and 8 places.

    In each area nearly all persons of a kind are in one place, and more than half of the kinds are nowhere.
    """
    drawn, areas = np.random.default_rng(2020), 200
    sizes = drawn.lognormal(3, 2.5, (areas, 6)) * (drawn.uniform(size=(areas, 6)) < 0.4)
    many = np.zeros((areas, 6, 8), dtype=np.int64)
    many[..., 0] = np.rint(np.minimum(sizes, 1e5))
    many[drawn.integers(0, areas, 60), drawn.integers(0, 6, 60), drawn.integers(1, 8, 60)] = drawn.integers(1, 200, 60)
    area, kind, place = (axis.ravel() for axis in np.indices(many.shape))
    source = pl.DataFrame({"area": area, "kind": kind, "place": place, "many": many.ravel()})
    counts = source.select(
        state=(pl.col("area") // 100).cast(pl.String),
        county=(pl.col("area") // 25).cast(pl.String),
        part=pl.col("area").cast(pl.String).str.zfill(3),
        kind=pl.col("kind").cast(pl.String),
        place=pl.col("place").cast(pl.String),
        many="many",
    )
    return Data(counts, ["state", "county", "part"], [[], ["kind"], ["kind", "place"]])


DATA_SETS: Mapping[str, Callable[[Path], Data]] = {
    "districts": districts,
    "blocks": blocks,
    "origins": origins,
    "survey": survey,
    "skewed": skewed,
}


@dataclass
class Found:
    """Sums over the cells of a table in all releases."""

    sums: dict[str, float] = field(default_factory=dict)

    def add(self, table: pl.DataFrame) -> None:
        """The cells of one release: count, its interval, whole and exact."""
        deviation = (pl.col("count_high") - pl.col("count_low")) / 3.92
        large = pl.col("exact") > 10 * deviation
        count, whole = ((pl.col(one) - pl.col("exact")) for one in ("count", "whole"))
        found = table.select(
            cells=pl.len(),
            deviation=deviation.sum(),
            count=count.abs().sum(),
            whole=whole.abs().sum(),
            inside=pl.col("exact").is_between("count_low", "count_high").sum(),
            large=large.sum(),
            large_count=count.abs().filter(large).sum(),
            large_whole=whole.abs().filter(large).sum(),
            large_bias=whole.filter(large).sum(),
        )
        for key, value in found.row(0, named=True).items():
            self.sums[key] = self.sums.get(key, 0) + value

    def __str__(self) -> str:
        """Means."""
        own = self.sums
        cells, large = own["cells"], max(1, own["large"])
        ratio, large_ratio = own["whole"] / (own["count"] or 1), own["large_whole"] / (own["large_count"] or 1)
        return (
            f"deviation {own['deviation'] / cells:.2f}, error {own['count'] / cells:.2f}, whole {own['whole'] / cells:.2f}, "
            f"ratio {ratio:.3f}, large {large_ratio:.3f}, bias of large {own['large_bias'] / large:+.2f}, "
            f"{own['inside'] / cells:.2%} of the intervals hold"
        )


def measure(data: Data, releases: int) -> dict[str, Found]:
    """For each table the sums over some releases."""
    persons, truth, found = data.persons(), data.truth(), dict[str, Found]()
    budget = dp.ZCDP(releases)
    session = dp.Session(persons, data.schema(), dataset="d", ledger=":memory:", budget=budget, neighbours=dp.AddRemove())
    asked = session.table.agg(dp.agreeing_areas("area", by=data.by))
    for number in range(releases):
        document = (release := session.release(asked, spend=SPEND, name=f"areas {number}")).document
        whole = whole_areas(document, document["measured"][0], document["frames"])
        for frame, counts in zip(document["frames"], whole, strict=True):
            table = release.tables[frame["name"]].with_columns(whole=pl.Series(counts))
            keys = [one for one in table.columns if one not in {"count", "count_low", "count_high", "whole"}]
            exact = (
                truth.group_by(keys).agg(exact=pl.col("many").sum()) if keys else truth.select(exact=pl.col("many").sum())
            )
            own = table.drop_nulls(keys).join(exact, on=keys, how="left") if keys else table.join(exact, how="cross")
            found.setdefault(frame["name"], Found()).add(own.with_columns(pl.col("exact").fill_null(0)))
    return found


def main() -> None:
    folder, releases = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    for name, make in DATA_SETS.items():
        begun = time.process_time()
        found = measure(make(folder), releases)
        print(f"{name}: {releases} releases in {time.process_time() - begun:.0f} s of processor time")
        for table, own in found.items():
            print(f"  {table}, {own.sums['cells'] // releases:,} cells: {own}")


if __name__ == "__main__":
    main()
