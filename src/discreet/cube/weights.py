"""The weights of persons in many groups: public tables of whole numbers (U2 of docs/proofs/persons.md)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Literal

from discreet.domain.bounds import MOST_GROUPS
from discreet.errors import unreachable

__all__ = ["WEIGHTINGS", "Weighting", "norms_of", "unit_of", "weight"]

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
    """The largest ‖·‖₁ and ‖·‖₂² of what one person adds to a vector over the cells."""

    l1: int
    l2_squared: int


def norms_of(weighting: Weighting, groups: int, cells: int, most: int) -> Norms:
    """The norms where a person adds weight·x to each cell that she is in, with integers |x| ≤ `most`.

    Each is the maximum over the number of cells that a person can be in, and is attained.
    """
    counts = range(1, min(cells, MOST_GROUPS) + 1)
    weights = [(count, weight(weighting, count, groups, cells)) for count in counts]
    return Norms(max(g * w for g, w in weights) * most, max(g * w * w for g, w in weights) * most**2)
