"""A session with exact totals, and the table behind it."""

from __future__ import annotations

from collections import Counter

import polars as pl

import discreet as dp
from discreet.totals.exact_totals import exact_totals_of

SCHEMA = dp.Schema(
    state=dp.Category(["A", "B", "C"]),
    sex=dp.Category(["f", "m"]),
    owner=dp.Category([False, True]),
    age=dp.Number(0, 10),
    wage=dp.Number(0, 2, "0.5"),
)


FRAME = pl.DataFrame(
    {
        "state": ["A"] * 12 + ["B"] * 7 + [None, "elsewhere", "B", "A", "C"],
        "sex": (["f", "m", None, "f", "f", "?"] * 4),
        "owner": [True, False, None, True] * 6,
        "age": ([0, 3, 7, 10, None, 12, -4, 5] * 3),
        "wage": ([0.0, 0.5, 1.0, 2.0, None, 0.7, 9.0, 1.5] * 3),
    }
)


TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=24))


STATES = {("A",): 13, ("B",): 8, ("C",): 1, (None,): 2}


BY_BOTH = ("state", "sex")


def session(invariants, *, source=FRAME, budget=None, rows=24, ledger=":memory:", schema=SCHEMA, dataset="d"):
    return dp.Session(
        source,
        schema,
        dataset=dataset,
        ledger=ledger,
        budget=budget or dp.ZCDP(1),
        neighbours=dp.ReplaceOne(rows=rows),
        invariants=invariants,
    )


def unpublished(invariants):
    return exact_totals_of(invariants, SCHEMA, None, 24)


def counted(one, *by):
    return one.table.group_by(*(by or BY_BOTH)).agg(dp.count())


def cells(totals, part=0):
    return {cell: n for cell, n in totals.cells(totals.invariants.parts[part], SCHEMA).items() if n}


def sums(release, *columns):
    """The published counts, added up by some of the group columns."""
    found = Counter()
    for row in release.table.iter_rows(named=True):
        found[tuple(row[column] for column in columns)] += row["count"]
    return {cell: count for cell, count in found.items() if count}
