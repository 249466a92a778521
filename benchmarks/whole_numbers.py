"""How near the whole numbers of the census come to the truth, beside the unbiased counts: by level, table and size.

    python examples/census/made_up.py CENSUS --state small
    cd CENSUS
    discreet release plan.toml --set rows=926478 --out results
    discreet consistent results/persons
    python benchmarks/whole_numbers.py CENSUS

CENSUS is the folder with census.parquet, areas.csv and results. For each table of persons: the mean error of the whole
numbers over that of the counts, over all cells and over those in which truly more than ten deviations are; and the mean of
whole number less truth, over cells where nobody is, and up to 3, 10 and more deviations. Then the same ratio for areas that
are in no level: 100 sets of blocks, drawn without a look at the data, and every second block of each block group.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import polars as pl

import discreet as dp

COUNTS = ["count", "count_low", "count_high"]
CLASSES = [(-1.0, 0.0), (0.0, 3.0), (3.0, 10.0), (10.0, float("inf"))]
PARTS = 100


def cells_of(folder: Path, release: dp.Release, place: int, name: str, truth: pl.LazyFrame) -> pl.LazyFrame:
    """The cells of a table: labels, count, deviation, whole number and true count."""
    table = release.scan(name)
    keys = [one for one in table.collect_schema().names() if one not in COUNTS]
    whole = pl.scan_parquet(folder / "whole" / f"whole-{place}-*.parquet").select("count_consistent")
    there = table.drop_nulls(keys) if keys else table  # nobody is in no area, and whole numbers leave it out
    both = pl.concat([there, whole], how="horizontal").with_columns(pl.col(keys).cast(pl.String))
    exact = truth.group_by(keys).agg(exact=pl.len()) if keys else truth.select(exact=pl.len())
    joined = both.join(exact, on=keys, how="left") if keys else pl.concat([both, exact], how="horizontal")
    return joined.select(
        *keys,
        "count",
        pl.col("exact").fill_null(0).cast(pl.Int64),
        deviation=(pl.col("count_high") - pl.col("count_low")) / 3.92,
        whole="count_consistent",
    )


def errors(cells: pl.LazyFrame) -> dict[str, float]:
    """The ratios and biases of a table."""
    count, whole = ((pl.col(one) - pl.col("exact")) for one in ("count", "whole"))
    size = pl.when(pl.col("exact") > 0).then(pl.col("exact") / pl.col("deviation")).otherwise(0.0)
    found = [pl.len().alias("cells"), pl.col("deviation").mean(), (whole.abs().sum() / count.abs().sum()).alias("ratio")]
    for place, (low, high) in enumerate(CLASSES):
        own = (size > low) & (size <= high)
        found.append(whole.filter(own).mean().alias(f"bias {place}"))
    large = size > CLASSES[-1][0]
    ratio = whole.abs().filter(large).sum() / count.abs().filter(large).sum()
    found += [large.sum().alias("large"), ratio.alias("ratio of large")]
    return cells.select(found).collect(engine="streaming").row(0, named=True)


def beside_levels(cells: pl.LazyFrame) -> tuple[float, float]:
    """The ratio for sets of blocks, and for every second block of each group."""
    block = pl.col("area.block")
    drawn = block.map_elements(lambda code: zlib.crc32(code.encode()) % PARTS, return_dtype=pl.Int64)
    parts = cells.select("area.block").unique().with_columns(part=drawn).collect()
    labels = [
        one for one in cells.collect_schema().names() if one not in {"count", "whole", "exact", "deviation", "area.block"}
    ]
    half = (block.str.slice(0, 12) + (block.str.slice(12, 3).cast(pl.Int64) % 2).cast(pl.String)).alias("part")
    found = []
    for sums in (cells.join(parts.lazy(), on="area.block"), cells.with_columns(half)):
        added = sums.group_by("part", *labels).agg(pl.col("count", "whole", "exact").sum())
        error = [(pl.col(one) - pl.col("exact")).abs().sum() for one in ("whole", "count")]
        found.append(added.select(error[0] / error[1]).collect(engine="streaming").item())
    return found[0], found[1]


def main() -> None:
    census = Path(sys.argv[1])
    folder = census / "results" / "persons"
    release = dp.Release.load(folder)
    areas = pl.scan_csv(census / "areas.csv", infer_schema=False).select(
        pl.col(one).alias(f"area.{one}") for one in ("state", "county", "tract", "group", "block")
    )
    persons = pl.scan_parquet(census / "census.parquet").filter(pl.col("kind") == "person").rename({"area": "area.block"})
    truth = persons.join(areas, on="area.block")
    for place, frame in enumerate(release.document["frames"]):
        name = frame["name"]
        cells = cells_of(folder, release, place, name, truth)
        own = errors(cells)
        if not own["deviation"]:
            continue
        biases = " / ".join(
            "-" if own[f"bias {one}"] is None else f"{own[f'bias {one}']:+.2f}" for one in range(len(CLASSES))
        )
        line = f"{name}, {own['cells']:,} cells, deviation {own['deviation']:.1f}: ratio {own['ratio']:.3f}"
        line += (
            f", of {own['large']:,} large {own['ratio of large']:.3f}; bias {biases}" if own["large"] else f"; bias {biases}"
        )
        if "area.block" in name:
            line += "; {:.3f} for sets of blocks, {:.3f} for every second block".format(*beside_levels(cells))
        print(line, flush=True)


if __name__ == "__main__":
    main()
