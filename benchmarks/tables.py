"""How wide tables are, and how long they take: all two-way, and all two- and three-way tables of a census excerpt.

`python benchmarks/tables.py PERSONS.parquet [2|3] [shown|complete|imputed] [zcdp|pure]` reads the excerpt of the American
Community Survey of 2019 with its 19 columns (docs/accuracy.md says where it is from) and prints two lines. Null groups are
shown in all columns; or only in those that have nulls, where rows without a value in another column are in its first
category, or are imputed by a uniform law. The spend is ρ = 1/2, or ε = 1.

Beside the deviation stands what 0.1.0 has on the same cells: each table with noise of its own at an equal share, and least
squares over these.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl

import discreet as dp
from discreet.exact.numbers import sqrt_down
from discreet.mechanisms import Sensitivity, Vector, candidates, law_of_cell
from discreet.quotes.allocate import quote
from discreet.statistics.effects import gain_of, parts_of
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


def deviations(asked: object) -> tuple[float, float, float]:
    """The root of the mean variance of all cells of all tables: of this version, and in 0.1.0 as measured and agreeing."""
    (line,) = asked.lines
    domain = line.recipe.domain
    effects, tables = domain.effects, domain.tables
    variance = law_of_cell(expected_noise(asked, len(tables))).variance()
    each = dict.fromkeys(effects.parts, 0.0)
    for table in tables:
        for part in parts_of(effects, table):
            each[part] += 1 / (variance * np.prod([effects.sizes[axis] for axis in table if axis not in part]))
    least_squares = {part: 1 / one for part, one in each.items()}
    found = [mean_variance(domain, some) for some in (line.recipe.variances(asked.noises(line)), least_squares)]
    return found[0] ** 0.5, variance**0.5, found[1] ** 0.5


def expected_noise(asked: object, tables: int) -> object:
    """The noise of one of so many tables with equal shares, of which a row is added or removed."""
    spend, one = asked.spend, Sensitivity(1, 1)
    part = type(spend).of_coordinates([value / tables for value in spend.coordinates], sqrt_down)
    return candidates(Vector(1), one, part)[0][1]


def mean_variance(domain: object, variances: object) -> float:
    """The mean over all cells, for effects of these variances."""
    effects, total, many = domain.effects, 0.0, 0
    for table in domain.tables:
        parts = [part for part in parts_of(effects, table) if part in variances]
        outside = [float(np.prod([effects.sizes[axis] for axis in table if axis not in part])) for part in parts]
        for cells in blocks_of_cells(effects.sizes, table, domain.fills):
            gains = (
                float(gain_of(table, part, cells.readings)) / size**2 for part, size in zip(parts, outside, strict=True)
            )
            total += cells.many * sum(float(variances[part]) * gain for part, gain in zip(parts, gains, strict=True))
            many += cells.many
    return total / many


def prepare(table: dp.Table, nulls: str) -> dp.Table:
    """The table without null groups in some columns."""
    if nulls == "shown":
        return table
    if nulls == "complete":
        return table.complete({name: table.schema[name].values[0] for name in COMPLETE})
    return table.impute({name: dp.Weights(dict.fromkeys(table.schema[name].values, 1)) for name in COMPLETE})


def main(path: Path, most: int, nulls: str, measure: str) -> None:
    """Two lines: tables, cells, the deviation, and the time and memory of a quote and of a release."""
    schema, frame = read(path)
    names = list(schema.columns)
    groupings = dp.ways(names, *range(2, most + 1))
    spend = dp.PureDP(1) if measure == "pure" else dp.ZCDP("0.5")
    start = perf_counter()
    plan = prepare(dp.Table(schema, dp.AddRemove()), nulls).agg(dp.tables(*groupings))
    planned = perf_counter()
    asked = quote(plan, spend)
    quoted = perf_counter()
    found, alone, agreeing = deviations(asked)
    took = f"plan {planned - start:.1f} s, quote {quoted - planned:.1f} s"
    before = f"0.1.0: {alone:.2f}, agreeing {agreeing:.2f}"
    print(f"{len(groupings)} tables: deviation {found:.3f} ({before}); {took}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        ledger, relation = Path(folder) / "budget.db", dp.AddRemove()
        session = dp.Session(frame, schema, dataset="acs", neighbours=relation, budget=spend, ledger=ledger)
        began = process_time()
        session.release(prepare(session.table, nulls).agg(dp.tables(*groupings)), name="all")
        spent = process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"release {spent:.1f} s of processor time, {memory:.0f} MiB in all")


if __name__ == "__main__":
    given = [*sys.argv[2:], *("2", "shown", "zcdp")[len(sys.argv) - 2 :]]
    main(Path(sys.argv[1]), int(given[0]), *given[1:])
