"""The largest change of an answer between two tables of rows with equal totals, by all pairs of small tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np


def farthest(at: Any, kept: Sequence[Iterable[object]], *, changed: int, rows: int, power: int = 2) -> float:
    """The largest squared distance between the sums over two tables that differ in at most `changed` rows.

    Args:
        at: for every kind of row what it adds.
        kept: for every kind the totals that it counts in, which are equal in both tables.
        changed: of how many rows.
        rows: in a table.
        power: 1 for the sum of distances instead.
    """
    kinds = len(kept)
    counts = np.array([np.bincount(one, minlength=kinds) for one in combinations_with_replacement(range(kinds), rows)])
    names = [set(one) for one in kept]
    labels = sorted(set().union(*names), key=repr)
    totals = counts @ np.array([[label in one for label in labels] for one in names], dtype=int).reshape(kinds, -1)
    most = 0.0
    for own, mine in zip(counts, totals, strict=True):
        moved = counts[(totals == mine).all(axis=1)] - own
        moved = moved[np.abs(moved).sum(axis=1) <= 2 * changed]
        most = max(most, float((np.abs(moved @ at) ** power).sum(axis=1).max()))
    return most
