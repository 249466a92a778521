"""How wide agreeing tables are, and how long they take: all two-way, and all two- and three-way tables of a census excerpt.

`python benchmarks/agreeing_tables.py PERSONS.parquet [2|3] [shown|complete|imputed]` reads the excerpt of the American
Community Survey of 2019 with its 19 columns (docs/accuracy.md says where it is from) and prints one line. Null groups are
shown in all columns; or only in those that have nulls, where rows without a value in another column are in its first
category, or are imputed by a uniform law.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl

import discreet as dp
from discreet.noise.single.weighted import variance_of_weighted
from discreet.quotes.allocate import quote
from discreet.statistics.effects import weights_of_cells
from discreet.statistics.filled import blocks_of_cells

COMPLETE = ("PUMA", "AGEP", "SEX", "HISP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "DEYE", "DEAR")
"""The columns in which nothing is missing."""
NULLS = ("shown", "complete", "imputed")
CUT = {"AGEP": (5, 17), "POVPIP": (100, 5)}
"""Columns of numbers: the width of their groups, and the last one."""
OTHERS = "PUMA SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT INDP_CAT EDU PINCP_DECILE DVET DREM DPHY DEYE DEAR"


def read(path: Path) -> tuple[dp.Schema, pl.DataFrame]:
    """The persons, every column as categories, and their schema; null is a group of every column."""
    raw = pl.read_parquet(path)
    cut = [(pl.col(name).cast(pl.Int64) // width).clip(0, last).alias(name) for name, (width, last) in CUT.items()]
    frame = raw.select(*(pl.col(name) for name in OTHERS.split()), *cut)
    frame = frame.select(pl.all().cast(pl.String))
    found = {name: dp.Category(sorted(frame[name].drop_nulls().unique().to_list())) for name in frame.columns}
    return dp.Schema(**found), frame


def deviation(asked: object) -> float:
    """The root of the mean variance of all cells of all tables."""
    (line,) = asked.lines
    recipe, noises = line.recipe, asked.noises(line)
    behind, effects = recipe.noise_behind(noises), recipe.effects
    each = [(table, cells) for table in recipe.axes for cells in blocks_of_cells(effects.sizes, table, recipe.fills)]
    sizes = [cells.many for _, cells in each]
    variances = [variance_of_weighted(weights_of_cells(effects, table, behind, cells)) for table, cells in each]
    return float(np.sqrt(np.dot(sizes, variances) / sum(sizes)))


def prepare(table: dp.Table, nulls: str) -> dp.Table:
    """The table without null groups in some columns."""
    if nulls == "shown":
        return table
    values = {name: table.schema[name].values[: 1 if nulls == "complete" else None] for name in COMPLETE}
    return table.impute({name: dp.Weights(dict.fromkeys(some, 1)) for name, some in values.items()})


def main(path: Path, most: int, nulls: str) -> None:
    """One line: tables, cells, the deviation, and the time and memory of a quote and of a release."""
    schema, frame = read(path)
    names = list(schema.columns)
    groupings = dp.ways(names, *range(2, most + 1))
    start = perf_counter()
    plan = prepare(dp.Table(schema, dp.AddRemove()), nulls).agg(dp.agreeing_tables(*groupings))
    planned = perf_counter()
    asked = quote(plan, dp.ZCDP("0.5"))
    quoted = perf_counter()
    found = deviation(asked)
    print(
        f"{len(groupings)} tables: deviation {found:.3f}; plan {planned - start:.1f} s, quote {quoted - planned:.1f} s",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        ledger, relation = Path(folder) / "budget.db", dp.AddRemove()
        session = dp.Session(frame, schema, dataset="acs", neighbours=relation, budget=dp.ZCDP("0.5"), ledger=ledger)
        began = perf_counter()
        session.release(prepare(session.table, nulls).agg(dp.agreeing_tables(*groupings)), spend="0.5", name="all")
        took = perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"release {took:.1f} s, {memory:.0f} MiB in all")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2, sys.argv[3] if len(sys.argv) > 3 else "shown")
