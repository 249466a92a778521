"""How near fitted rows are to the rows that nobody may see, and how long they take: all two-way tables of a census excerpt.

    python benchmarks/rows.py FILE.parquet [--persons N] [--rows N] [--each N] [--totals PUMA,SEX] [--more N]

reads the excerpt of `tables.py`, releases its 171 two-way tables at ρ = 1/2, and prints for all pairs and triples
of columns the total variation between the excerpt and its fitted rows; and the same in each PUMA, with the quotient of
the worst area and the mean. With --persons the data are so many of the persons, chosen at random; with --rows so many rows
are made instead of as many as there are persons; with --each a row stands for up to so many; with --totals the totals of
these columns are published exactly, and one person is replaced by another; with --more so many tables of three columns are
measured besides, at the same ρ in all: those in which rows of the pairs alone are furthest from the excerpt. That look at
the excerpt is not charged, so that no private choice of as many tables can be expected to do better.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Iterable
from itertools import combinations
from math import prod
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from tables import read

import discreet as dp

AREA = "PUMA"


def codes(frame: pl.DataFrame, schema: dp.Schema) -> list[np.ndarray]:
    """Each column as numbers, null last."""
    labels = [[*column.values, None] for column in schema.columns.values()]
    return [
        np.array([{one: place for place, one in enumerate(own)}[value] for value in frame[name]])
        for name, own in zip(schema.columns, labels, strict=True)
    ]


Coded = tuple[list[np.ndarray], np.ndarray]
"""The columns of rows as numbers, and for how many each row stands."""


def distances(true: Coded, made: Coded, sizes: list[int], ways: int) -> np.ndarray:
    """The total variation between both in each table of so many columns."""

    def shares(rows: Coded, own: tuple[int, ...]) -> np.ndarray:
        shape = [sizes[place] for place in own]
        flat = np.ravel_multi_index([rows[0][place] for place in own], shape)
        return np.bincount(flat, rows[1], minlength=prod(shape)) / rows[1].sum()

    tables = combinations(range(len(sizes)), ways)
    return np.array([np.abs(shares(true, own) - shares(made, own)).sum() / 2 for own in tables])


def by_area(true: Coded, made: Coded, sizes: list[int], area: int, ways: int) -> np.ndarray:
    """The mean total variation over the tables of the other columns in each area."""
    others = [place for place in range(len(sizes)) if place != area]

    def inside(rows: Coded, one: int) -> Coded:
        there = rows[0][area] == one
        return [rows[0][place][there] for place in others], rows[1][there]

    every = range(sizes[area] - 1)
    own = [sizes[place] for place in others]
    return np.array([distances(inside(true, one), inside(made, one), own, ways).mean() for one in every])


def released(frame: pl.DataFrame, schema: dp.Schema, totals: list[str], more: Iterable[tuple[str, ...]] = ()) -> dp.Release:
    """All tables of two columns, and more of them, at ρ = 1/2."""
    relation = dp.ReplaceOne(rows=len(frame)) if totals else dp.AddRemove()
    with tempfile.TemporaryDirectory() as folder:
        session = dp.Session(
            frame,
            schema,
            dataset="acs",
            neighbours=relation,
            budget=dp.ZCDP("0.5"),
            ledger=Path(folder) / "budget.db",
            invariants=dp.Totals(*totals) if totals else None,
        )
        tables = dp.tables(*dp.ways([*schema.columns], 2), *map(list, more))
        return session.release(session.table.agg(tables), spend="0.5", name="all")


def furthest(frame: pl.DataFrame, schema: dp.Schema, totals: list[str], many: int) -> list[tuple[str, ...]]:
    """The tables of three columns in which rows that are fitted to pairs alone are furthest from the persons."""
    made = released(frame, schema, totals).rows().frame
    sizes = [len(column.values) + 1 for column in schema.columns.values()]
    both = ((codes(one.select(frame.columns), schema), np.ones(len(one), int)) for one in (frame, made))
    order = np.argsort(-distances(*both, sizes, 3), kind="stable")[:many]
    tables = [*combinations(schema.columns, 3)]
    return [tables[place] for place in order]


def main(given: argparse.Namespace) -> None:
    """Time, the share of cells that fit, and the distances."""
    schema, frame = read(given.file)
    frame = frame if given.persons is None else frame.sample(given.persons, seed=1)
    more = furthest(frame, schema, given.totals, given.more) if given.more else []
    release = released(frame, schema, given.totals, more)
    began = process_time()
    made = release.rows(given.rows, each=given.each)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{process_time() - began:.0f} s of processor time, {memory:.1f} GiB in all", made, sep="\n")
    sizes = [len(column.values) + 1 for column in schema.columns.values()]
    weights = made.frame["weight"].to_numpy() if given.each > 1 else np.ones(len(made.frame), int)
    true = codes(frame, schema), np.ones(len(frame), int)
    both = true, (codes(made.frame.select(frame.columns), schema), weights)
    for ways in (2, 3):
        found = distances(*both, sizes, ways)
        print(f"{ways} columns: mean {found.mean():.4f}, largest {found.max():.3f}, score {1000 * (1 - found.mean()):.1f}")
    for ways in (1, 2, 3):
        areas = by_area(*both, sizes, [*schema.columns].index(AREA), ways)
        print(f"in areas, {ways} columns: mean {areas.mean():.4f}, worst over mean {areas.max() / areas.mean():.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--persons", type=int)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--totals", type=lambda text: text.split(","), default=[])
    main(parser.parse_args())
