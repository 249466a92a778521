"""How much one row can change a vector of integer sums, one for each cell."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.neighbours import AddRemove, Neighbours

__all__ = ["Sensitivity", "sensitivity_of"]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Upper bounds of Δ₁ and Δ₂² of an integer vector query, for one row."""

    l1: int
    l2_squared: int


def sensitivity_of(least: int, most: int, *, cells: int, may_skip: bool, neighbours: Neighbours) -> Sensitivity:
    """The sensitivity of a vector in which each row adds an integer in [least, most] to one of `cells` cells.

    With `may_skip` a row may also add nothing. Add/remove: one row's contribution appears, Δ₁ = Δ₂ = max|f|. Replace-one:
    within a cell f(x) becomes f(y); across two cells -f(x) in one and +f(y) in the other. There is no parallel composition:
    the cells are one vector (soundness 11).
    """
    largest = max(abs(least), abs(most))
    if isinstance(neighbours, AddRemove):
        return Sensitivity(largest, largest**2)
    low, high = (min(least, 0), max(most, 0)) if may_skip else (least, most)
    within = high - low
    if cells == 1:
        return Sensitivity(within, within**2)
    # Δ₂² ≤ max(within², 2·largest²): a move across cells changes two coordinates by at most `largest` each.
    return Sensitivity(max(within, 2 * largest), max(within**2, 2 * largest**2))
