"""By how much the vectors of compared tables differ, where a vector of integers counts by its largest number.

A row that stays, moves or leaves changes each number of a vector by what it does to a query of that number alone. Over the
cells the largest changes add up to at most the greatest of these, for each way of a row (V7 in docs/proofs/vectors.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from discreet.cube.queries import Query, VectorSum
from discreet.errors import InternalError
from discreet.mechanisms import Change, Sensitivity, Together, worst
from discreet.quotes.one_row import row_of
from discreet.quotes.primitives import Asked
from discreet.totals.structure import Blocks

__all__ = ["together_of"]

Moves = tuple[int, int, int]
"""What a row does at most when it stays in its cell, moves to another one, or leaves."""


def together_of(asked: Asked, query: Query, sensitivity: Sensitivity, joint: Fraction) -> Together | None:
    """The vectors of a query and their largest change; None where what is said of it needs independent noise.

    Args:
        asked: the request.
        query: a vector of sums.
        sensitivity: of the query, with exact totals.
        joint: the cost of all queries of the request together, relative to the sum of their costs.
    """
    if not isinstance(query, VectorSum):
        raise InternalError(f"'{query.words()}' is not a vector of sums")
    if asked.plan.target is not None:
        return None
    cells = asked.plan.layout.cells
    held = np.arange(cells, dtype=np.int64) if asked.space is None else asked.space.held
    parts = len(query.parts)
    order = (held[:, None] + cells * np.arange(parts, dtype=np.int64)).ravel()
    blocks = Blocks(cells * parts, order, np.full(len(held), parts, dtype=np.int64), None)
    return Together(blocks, _largest(asked, query, sensitivity, joint))


def _largest(asked: Asked, query: VectorSum, sensitivity: Sensitivity, joint: Fraction) -> int:
    """The bound by which the noise is made.

    Where queries cost less together, each move must cost this noise no more of its share than it costs the norm by which
    that was found. With exact totals, what the noise guarantees for one row follows from the same norm.
    """
    change = query.change(row_of(asked), asked.facts)
    alone = _moves(asked, query, frozenset())
    if asked.space is None:
        sums = change.within.l1, change.across.l1, change.leaves.l1
        shares = (Fraction(own * worst(change).l1, summed) for own, summed in zip(alone, sums, strict=True) if summed)
        return max(alone) if joint == 1 else max(map(ceil, shares))
    ordinary = ceil(Fraction(max(alone) * sensitivity.l1, worst(change).l1))
    return max(ordinary, min(_beside_totals(asked, query)))


def _beside_totals(asked: Asked, query: VectorSum) -> Iterator[int]:
    """The bounds for all a rows together: the rows that differ are matched by the cells of any one table of totals (V3)."""
    if asked.space is None:
        raise InternalError("there are no exact totals")
    for kept in (frozenset[str](), *asked.space.tables):
        within, across, leaves = ((most, most**2) for most in _moves(asked, query, kept))
        yield asked.space.matched_by(kept).of_moves(within, across, leaves).l1


def _moves(asked: Asked, query: VectorSum, kept: frozenset[str]) -> Moves:
    """What one row does at most, by the queries of one number each; what replaces it agrees with it in some columns."""
    row = replace(row_of(asked), kept=kept)
    found: list[Change] = [one.change(row, asked.facts) for one in query.each()]
    return (
        max(one.within.l1 for one in found),
        max(one.across.l1 for one in found),
        max(one.leaves.l1 for one in found),
    )
