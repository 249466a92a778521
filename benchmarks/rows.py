"""How near fitted rows are to the rows that nobody may see, and how long they take: all two-way tables of a census excerpt.

`python benchmarks/rows.py FILE.parquet [PERSONS] [ROWS]` reads the excerpt of `agreeing_tables.py`, releases its 171 two-way
tables at ρ = 1/2 and prints, for all pairs and triples of columns, the total variation between the excerpt and its fitted
rows. With PERSONS the data are so many of the persons, chosen at random; with ROWS so many rows are made instead of as many
as there are persons.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import combinations
from math import prod
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from agreeing_tables import read

import discreet as dp


def codes(frame: pl.DataFrame, schema: dp.Schema) -> list[np.ndarray]:
    """Each column as numbers, null last."""
    labels = [[*column.values, None] for column in schema.columns.values()]
    return [
        np.array([{one: place for place, one in enumerate(own)}[value] for value in frame[name]])
        for name, own in zip(schema.columns, labels, strict=True)
    ]


def distances(true: list[np.ndarray], made: list[np.ndarray], sizes: list[int], ways: int) -> np.ndarray:
    """The total variation between both in each table of so many columns."""

    def shares(columns: list[np.ndarray], own: tuple[int, ...]) -> np.ndarray:
        shape = [sizes[place] for place in own]
        flat = np.ravel_multi_index([columns[place] for place in own], shape)
        return np.bincount(flat, minlength=prod(shape)) / len(flat)

    tables = combinations(range(len(sizes)), ways)
    return np.array([np.abs(shares(true, own) - shares(made, own)).sum() / 2 for own in tables])


def main(path: Path, persons: int | None = None, rows: int | None = None) -> None:
    """Time, the share of cells that fit, and the distances."""
    schema, frame = read(path)
    frame = frame if persons is None else frame.sample(persons, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        ledger, relation = Path(folder) / "budget.db", dp.AddRemove()
        session = dp.Session(frame, schema, dataset="acs", neighbours=relation, budget=dp.ZCDP("0.5"), ledger=ledger)
        pairs = [list(one) for one in combinations(schema.columns, 2)]
        release = session.release(session.table.agg(dp.agreeing_tables(*pairs)), spend="0.5", name="all")
    began = process_time()
    made = dp.fit_rows(release, rows=rows)
    print(f"{process_time() - began:.0f} s of processor time", made, sep="\n")
    sizes = [len(column.values) + 1 for column in schema.columns.values()]
    both = codes(frame, schema), codes(made.frame.select(frame.columns), schema)
    for ways in (2, 3):
        found = distances(*both, sizes, ways)
        print(f"{ways} columns: mean {found.mean():.4f}, largest {found.max():.3f}, score {1000 * (1 - found.mean()):.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
