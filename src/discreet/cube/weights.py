"""The weights of persons in many groups: public tables of whole numbers (U2 of docs/proofs/persons.md)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Literal

from discreet.domain.bounds import MOST_GROUPS
from discreet.errors import unreachable

__all__ = ["WEIGHTINGS", "Norms", "Weighting", "norms_apart", "norms_of", "unit_of", "weight"]

Weighting = Literal["squares", "sums"]
"""What stays bounded however many groups a person is in: the sum of the squared weights, or the sum of the weights."""

WEIGHTINGS: tuple[Weighting, ...] = ("squares", "sums")
"""Both, in the order in which engines give their totals."""

_UNITS: dict[Weighting, int] = {"squares": 2**10, "sums": 2**20}


def unit_of(weighting: Weighting, groups: int, cells: int) -> int:
    """W: the weight of a person who counts fully; 1 where everybody does, because there are no more cells than groups."""
    return 1 if groups >= cells else _UNITS[weighting]


def weight(weighting: Weighting, count: int, groups: int, cells: int) -> int:
    """What a person who is in `count` ≥ 1 of the cells weighs in each of them, rounded down; 0 beyond `MOST_GROUPS`.

    With g the larger of `count` and `groups` = L, it is ⌊√(W²L/g)⌋ for "squares" and ⌊WL/g⌋ for "sums".
    """
    unit, larger = unit_of(weighting, groups, cells), max(count, groups)
    if count > MOST_GROUPS:
        return 0
    match weighting:
        case "squares":
            return isqrt(unit * unit * groups // larger)
        case "sums":
            return unit * groups // larger
    raise unreachable(weighting)


@dataclass(frozen=True, slots=True)
class Norms:
    """The largest ‖·‖₁ and ‖·‖₂² of a vector over the cells: of what one person adds, or of a difference of two of these."""

    l1: int
    l2_squared: int


def norms_of(weighting: Weighting, groups: int, cells: int, most: int) -> Norms:
    """The norms where a person adds weight·x to each cell that she is in, with integers |x| ≤ `most`.

    Each is the maximum over the number of cells that a person can be in, and is attained.
    """
    counts = range(1, min(cells, MOST_GROUPS) + 1)
    weights = [(count, weight(weighting, count, groups, cells)) for count in counts]
    return Norms(max(g * w for g, w in weights) * most, max(g * w * w for g, w in weights) * most**2)


_FEW_CELLS = 64
"""Up to so many cells all pairs of numbers of cells are tried."""


def norms_apart(weighting: Weighting, groups: int, cells: int, low: int, high: int) -> Norms:
    """The norms of y − y′, where y and y′ are what a person can add with two states of all rows (U4).

    Each is 0, or has weight·x in each cell that the person is in, with integers x from `low` ≤ 0 to `high` ≥ 0. Both are
    attained up to `_FEW_CELLS` cells, and where all cells are counted fully.
    """
    most = max(-low, high)
    if groups >= cells:  # every weight is 1
        apart = max(high - low, most)
        return Norms(cells * apart, cells * apart**2)
    if cells <= _FEW_CELLS:
        return _norms_of_pairs(weighting, groups, cells, low, high)
    alone = norms_of(weighting, groups, cells, most)
    # ‖y − y′‖² ≤ ‖y‖² + ‖y′‖² where no coordinate of y and y′ has different signs, and ≤ (‖y‖ + ‖y′‖)² always.
    return Norms(2 * alone.l1, (2 if not low or not high else 4) * alone.l2_squared)


def _norms_of_pairs(weighting: Weighting, groups: int, cells: int, low: int, high: int) -> Norms:
    """The maxima over g and h, the numbers of cells of both states, of which k are the same cells.

    A norm is linear in k, so that the least and the greatest k have its maximum.
    """
    most, l1, l2_squared = max(-low, high), 0, 0
    for g in range(1, cells + 1):
        v = weight(weighting, g, groups, cells)
        for h in range(g + 1):
            w = weight(weighting, h, groups, cells) if h else 0
            same = max(v * high - w * low, w * high - v * low)
            for k in (max(0, g + h - cells), h):
                l1 = max(l1, ((g - k) * v + (h - k) * w) * most + k * same)
                l2_squared = max(l2_squared, ((g - k) * v**2 + (h - k) * w**2) * most**2 + k * same**2)
    return Norms(l1, l2_squared)
