"""A made-up census of one state: `python made_up.py FOLDER --state small` writes areas, persons and housing units there.

The counties, the number of persons in each and of those in group quarters are those of 2020, which are public. All else is
drawn: tracts, block groups and blocks of about the usual sizes, who lives where, and the units. Nobody is real.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
RACES = ["white", "black", "native", "asian", "pacific", "other"]
EVERY_RACE = ["+".join(some) for many in range(1, 7) for some in combinations(RACES, many)]
QUARTERS = [
    "household", "correctional", "juvenile", "nursing", "other institution", "college", "military", "other quarters",
]  # fmt: skip
YES = ["no", "yes"]
CATEGORIES = {
    "kind": ["person", "unit"],
    "race": EVERY_RACE,
    "hispanic": YES,
    "voting_age": YES,
    "quarters": QUARTERS,
    "occupancy": ["occupied", "vacant"],
}

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Size:
    """A state, and how large its areas are.

    Args:
        state: its code in counties.csv.
        part: of its persons.
        tract: persons of a tract.
        groups: block groups of a tract, about.
        blocks: blocks of a group, about.
    """

    state: str
    part: float = 1
    tract: int = 4000
    groups: float = 2.7
    blocks: float = 33


SIZES = {
    "tiny": Size("10", part=1 / 400, tract=400, groups=1.3, blocks=2),
    "small": Size("50", tract=3300, groups=2.9, blocks=44),
    "large": Size("37"),
}


@dataclass(frozen=True)
class County:
    """A county: its code and name, the blocks in it, and for each of these how many persons and persons in quarters."""

    code: str
    name: str
    blocks: list[str]
    persons: Ints
    in_quarters: Ints


def write(folder: Path, size: Size, seed: int = 2020) -> int:
    """Writes plan.toml, areas.csv and census.parquet; the number of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "plan.toml", folder / "plan.toml")
    chosen = np.random.default_rng(seed)
    rows, areas, parts = 0, [], folder / "parts"
    parts.mkdir(exist_ok=True)
    listed = pl.read_csv(HERE / "counties.csv", infer_schema=False).filter(pl.col("state") == size.state)
    for one in listed.rows(named=True):
        county = made_up_county(one, size, chosen)
        areas.append(areas_of(county, one))
        found = pl.concat([persons_of(county, chosen), units_of(county, chosen)])
        found.write_parquet(parts / f"{county.code}.parquet")
        rows += found.height
    pl.concat(areas).write_csv(folder / "areas.csv")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(folder / "census.parquet")
    shutil.rmtree(parts)
    return rows


def made_up_county(listed: dict[str, str], size: Size, chosen: np.random.Generator) -> County:
    """A county with the public numbers of its persons, divided among made-up blocks: a third of them are empty."""
    persons, in_quarters = (round(int(listed[key]) * size.part) for key in ("persons", "in_group_quarters"))
    blocks = list(made_up_blocks(listed["county"], max(1, round(persons / size.tract)), size, chosen))
    weights = np.where(chosen.random(len(blocks)) < 0.3, 0, chosen.lognormal(0, 1, len(blocks)))
    weights[0] += 1e-9
    at_home = chosen.multinomial(persons - in_quarters, weights / weights.sum())
    institutions = np.zeros(len(blocks))
    institutions[chosen.integers(0, len(blocks), 1 + in_quarters // 150)] = 1
    elsewhere = chosen.multinomial(in_quarters, institutions / institutions.sum())
    return County(listed["county"], listed["county_name"], blocks, at_home + elsewhere, elsewhere)


def made_up_blocks(county: str, tracts: int, size: Size, chosen: np.random.Generator) -> Iterator[str]:
    """Codes of blocks: five digits of the county, six of the tract, one of the group, and three more."""
    for tract in range(1, tracts + 1):
        for group in range(1, 2 + min(8, int(chosen.poisson(size.groups - 1)))):
            for block in range(1 + min(998, int(chosen.negative_binomial(2, 2 / (1 + size.blocks))))):
                yield f"{county}{tract:04}00{group}{block:03}"


def areas_of(county: County, listed: dict[str, str]) -> pl.DataFrame:
    """The table of the areas that each block lies in."""
    block = pl.Series("block", county.blocks)
    first = [block.str.slice(0, digits).alias(level) for level, digits in (("tract", 11), ("group", 12))]
    frame = pl.DataFrame([*first, block])
    return frame.select(
        pl.lit(listed["state"]).alias("state"),
        pl.lit(listed["state_name"]).alias("state_name"),
        pl.lit(county.code).alias("county"),
        pl.lit(county.name).alias("county_name"),
        "tract",
        "group",
        "block",
    )


def persons_of(county: County, chosen: np.random.Generator) -> pl.DataFrame:
    """One row for each person: neighbours are more alike than others, and those in quarters are in one kind of them."""
    at = np.repeat(np.arange(len(county.blocks)), county.persons)
    started = np.cumsum(county.persons) - county.persons
    place = np.arange(len(at)) - started[at]
    kinds = chosen.choice(np.arange(1, 8), len(county.blocks), p=[0.27, 0.03, 0.19, 0.01, 0.34, 0.04, 0.12])
    quarters = np.where(place < county.in_quarters[at], kinds[at], 0)
    hispanic = chosen.random(len(at)) < chosen.beta(0.6, 5, len(county.blocks))[at]
    adult = chosen.random(len(at)) < np.where(quarters == 2, 0, np.where(quarters > 0, 1, 0.77))
    return frame_of(
        {
            "kind": np.zeros(len(at), dtype=np.int64),
            "race": races_of(at, len(county.blocks), chosen),
            "hispanic": hispanic,
            "voting_age": adult,
            "quarters": quarters,
        },
        at,
        county,
    )


def races_of(at: Ints, blocks: int, chosen: np.random.Generator) -> Ints:
    """The race of each person, as a position of EVERY_RACE: one in fourteen has several."""
    usual = np.array([0.66, 0.2, 0.02, 0.04, 0.005, 0.075])
    each = np.cumsum(chosen.dirichlet(5 * usual, blocks), axis=1)
    alone = (chosen.random(len(at))[:, np.newaxis] > each[at]).sum(axis=1).clip(max=5)
    single = np.array([usual[[RACES.index(part) for part in name.split("+")]].prod() for name in EVERY_RACE])
    single[:6] = 0
    several = chosen.choice(len(EVERY_RACE), len(at), p=single / single.sum())
    return np.where(chosen.random(len(at)) < 0.07, several, alone)


def units_of(county: County, chosen: np.random.Generator) -> pl.DataFrame:
    """One row for each housing unit: those where somebody lives, and about one in eight that is vacant."""
    homes = county.persons - county.in_quarters
    occupied = (homes + 1) * 2 // 5
    vacant = chosen.poisson(0.13 * occupied + 0.2)
    at = np.repeat(np.arange(len(homes)), occupied + vacant)
    started = np.cumsum(occupied + vacant) - occupied - vacant
    empty = np.arange(len(at)) - started[at] >= occupied[at]
    return frame_of({"kind": np.ones(len(at), dtype=np.int64), "occupancy": empty}, at, county)


def frame_of(codes: dict[str, NDArray[np.generic]], at: Ints, county: County) -> pl.DataFrame:
    """The rows with these positions in the categories of some columns, and null in the others."""
    columns = [pl.Series("area", county.blocks).gather(at)]
    for name, categories in CATEGORIES.items():
        known = codes.get(name)
        columns.append(
            pl.repeat(None, len(at), dtype=pl.String, eager=True).alias(name)
            if known is None
            else pl.Series(name, categories).gather(known.astype(np.int64))
        )
    return pl.DataFrame(columns)


def main() -> None:
    """Writes the state that is asked for, and says what comes next."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--state", choices=SIZES, default="small")
    given = asked.parse_args()
    rows = write(given.folder, SIZES[given.state])
    print(f"{rows:,} rows; now, in {given.folder}: discreet quote plan.toml --set rows={rows}")


if __name__ == "__main__":
    main()
