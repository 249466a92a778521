"""How near households and the persons in them are to real ones, beside rows of either table alone, and how long they take.

    python benchmarks/households.py FILE.parquet [--totals] [--number]

reads the excerpt of `tables.py`. Persons outside group quarters with the same area, tenure, size of family, poverty,
density and weight of the household, from one part of the excerpt, are taken for one household: 17,814 for 41,646 persons.
Its size is how many they are, "7+" from 7 on, and 24 at most. All tables of two columns of households, and of persons,
are released at ρ = 1/2 each, with a public number of rows. With --totals the households and the persons by area, the sizes
and the sexes in each area are exact; with --number the size is a number in bins 1, 2, 3–4, 5–24.

It prints time, memory, whether every household has as many persons as it says and every exact fact holds, and the mean
total variation over all tables of two columns between the made and the true rows, together and alone.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from rows import codes, distances
from tables import read

import discreet as dp

HOUSEHOLD = ["EXCERPT", "PUMA", "OWN_RENT", "NPF", "POVPIP", "WGTP", "DENSITY"]
SHARED = ["PUMA", "OWN_RENT", "NPF", "POVPIP"]
LARGEST, OPEN = 24, 7
EDGES = [1, 2, 3, 5, 24]


def tables_of(path: Path) -> tuple[pl.DataFrame, pl.DataFrame, dp.Schema]:
    """Households with their numbers of persons, persons, and the columns of persons."""
    schema, frame = read(path)
    raw = pl.read_parquet(path)
    there = raw["HOUSING_TYPE"] == 1
    order = raw.filter(there).select(pl.struct(HOUSEHOLD).rank("dense").alias("home"))
    persons = frame.filter(there).drop("HOUSING_TYPE").with_columns(order)
    homes = persons.group_by("home", maintain_order=True).agg(pl.col(SHARED).first(), pl.len().cast(pl.Int64).alias("SIZE"))
    columns = {name: column for name, column in schema.columns.items() if name != "HOUSING_TYPE"}
    return homes.drop("home"), persons.drop("home"), dp.Schema(**columns)


def released(frame: pl.DataFrame, schema: dp.Schema, groups: list[object], totals: dp.Invariants | None) -> dp.Release:
    """All tables of two columns at ρ = 1/2."""
    with tempfile.TemporaryDirectory() as folder:
        session = dp.Session(
            frame,
            schema,
            dataset="acs",
            neighbours=dp.ReplaceOne(rows=len(frame)),
            budget=dp.ZCDP("0.5"),
            ledger=Path(folder) / "budget.db",
            invariants=totals,
        )
        return session.release(session.table.agg(dp.tables(*dp.ways(groups, 2))), spend="0.5", name="all")


def variation(true: pl.DataFrame, made: pl.DataFrame, schema: dp.Schema) -> float:
    """The mean total variation over all tables of two columns."""
    sizes = [len(column.values) + 1 for column in schema.columns.values()]
    both = ((codes(one.select([*schema.columns]), schema), np.ones(len(one), int)) for one in (true, made))
    return float(distances(*both, sizes, 2).mean())


def main(given: argparse.Namespace) -> None:
    """Time, memory, what holds, and the distances."""
    homes, persons, of_persons = tables_of(given.file)
    labels = [*map(str, range(1, OPEN)), f"{OPEN}+"]
    named = pl.when(pl.col("SIZE") < OPEN).then(pl.col("SIZE").cast(pl.String)).otherwise(pl.lit(labels[-1]))
    told = homes if given.number else homes.with_columns(SIZE=named)
    size = dp.Number(1, LARGEST) if given.number else dp.Category(labels)
    of_homes = dp.Schema(**{name: of_persons[name] for name in SHARED}, SIZE=size)
    groups = [*SHARED, dp.bins("SIZE", EDGES) if given.number else "SIZE"]
    exact = dp.Totals("PUMA") if given.number else dp.Totals("PUMA") + dp.Totals("SIZE")
    facts = [("PUMA",)] if given.number else [("PUMA",), ("SIZE",)]
    release = released(told, of_homes, groups, exact if given.totals else None)
    other = released(persons, of_persons, [*of_persons.columns], dp.Totals("PUMA", "SEX") if given.totals else None)
    began = process_time()
    made = dp.fit_households(release, other, size="SIZE", largest=None if given.number else LARGEST)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{process_time() - began:.0f} s of processor time, {memory:.1f} GiB in all", made, sep="\n")
    living = made.persons.frame.group_by("household").len().sort("household")["len"]
    said = made.homes.frame["SIZE"]
    kept = said if given.number else pl.Series([f"{OPEN}+" if one >= OPEN else str(one) for one in living])
    print("sizes hold:", kept.equals(said) and (not given.number or living.cast(pl.Int64).equals(said)), living.max())
    if given.totals:
        every = [(told, made.homes.frame, one) for one in facts] + [(persons, made.persons.frame, ("PUMA", "SEX"))]
        held = (sorted(a.select(one).rows(), key=str) == sorted(b.select(one).rows(), key=str) for a, b, one in every)
        print("exact facts hold:", [*held])
    cut = dp.Schema(**{name: of_persons[name] for name in SHARED}, SIZE=dp.Category(labels))
    true = homes.with_columns(SIZE=named)
    sized = made.homes.frame.with_columns(SIZE=named) if given.number else made.homes.frame
    alone = [dp.fit_rows(one).frame for one in (release, other)]
    mine = alone[0].with_columns(SIZE=named) if given.number else alone[0]
    print(f"households: {variation(true, sized, cut):.4f} together, {variation(true, mine, cut):.4f} alone")
    near = [variation(persons, one, of_persons) for one in (made.persons.frame, alone[1])]
    print(f"persons: {near[0]:.4f} together, {near[1]:.4f} alone")
    for name in ("OWN_RENT", "PUMA"):
        means = made.persons.frame.group_by(name).agg((pl.len() / pl.col("household").n_unique()).alias("made"))
        both = homes.group_by(name).agg(pl.col("SIZE").mean()).join(means, on=name)
        apart = (both["SIZE"] - both["made"]).abs()
        print(f"persons of a household by {name}: mean deviation {apart.mean():.3f}, largest {apart.max():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--totals", action="store_true")
    parser.add_argument("--number", action="store_true")
    main(parser.parse_args())
