"""How near the division of a spend among many tables is to the best one, and how long it takes: made-up columns and errors.

`python benchmarks/table_shares.py [TABLES] [COLUMNS]` prints for one row added or removed, and for one replaced, with an
error for each table and with the least sum of variances: the certified gap between the division and the best one, the
processor time of the division, and that of the whole quote. Tables are of two columns, then of three, then of four; 5,000 of
50 columns without arguments. Columns have 2 to 11 groups, fewer than 40 columns 2 to 5.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, islice
from time import process_time
from typing import Any

import numpy as np

import discreet as dp
from discreet.mechanisms.effect_search import Division
from discreet.quotes import effects
from discreet.quotes.allocate import quote

SEED = 1


def schema_of(columns: int, most: int) -> dp.Schema:
    draw = np.random.default_rng(SEED)
    sizes = draw.integers(2, most + 1, columns)
    return dp.Schema(**{f"c{place}": dp.Category(list(map(str, range(size)))) for place, size in enumerate(sizes)})


def groupings_of(schema: dp.Schema, tables: int) -> list[list[str]]:
    """All tables of two columns, and so many of three, and of four, chosen at random."""
    draw, found = np.random.default_rng(SEED), list[list[str]]()
    for many in (2, 3, 4):
        some = [list(one) for one in combinations(schema.columns, many)]
        order = draw.permutation(len(some)) if many > 2 else range(len(some))
        found += [some[place] for place in islice(order, max(0, tables - len(found)))]
    return found


@contextmanager
def watched() -> Iterator[list[tuple[float, Division]]]:
    """The divisions that are made meanwhile, each with its processor time."""
    found, divide = list[tuple[float, Division]](), effects.best_precisions

    def measured(*given: Any) -> Division:
        began = process_time()
        division = divide(*given)
        found.append((process_time() - began, division))
        return division

    effects.best_precisions = measured
    try:
        yield found
    finally:
        effects.best_precisions = divide


def main(tables: int = 5_000, columns: int = 50) -> None:
    schema = schema_of(columns, 11 if columns >= 40 else 5)
    groupings = groupings_of(schema, tables)
    errors = np.random.default_rng(SEED).uniform(5, 50, len(groupings)).round(1).tolist()
    for relation in (dp.AddRemove(), dp.ReplaceOne(rows=10**6)):
        for told, demand in (("errors", {"errors": errors}), ("least sum", {})):
            plan = dp.Table(schema, relation).agg(dp.tables(*groupings, **demand))
            with watched() as found:
                began = process_time()
                quote(plan, dp.ZCDP("0.5"))
                spent = process_time() - began
            ((own, division),) = found
            gap = max(division.largest / division.least - 1, 0.0)
            print(
                f"{len(groupings)} tables of {columns} columns, {relation.word}, {told}: gap {gap:.1e}, "
                f"division {own:.2f} s, quote {spent:.1f} s of processor time",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
