"""The largest change of the answers of a request by one row: a vector of integers for every cell of the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.domain.neighbours import Neighbours
from discreet.errors import InternalError
from discreet.privacy.base import NoiseMeasure

__all__ = ["Change", "Sensitivity", "SomeChanges", "change_of", "change_of_vector", "joint_factor", "worst"]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Upper bounds of Δ₁ and Δ₂² of an integer vector query, for one row."""

    l1: int
    l2_squared: int


@dataclass(frozen=True, slots=True)
class SomeChanges:
    """Some of the changes that a noise hides: they may cost less than all of them.

    Args:
        moved: the norms of these changes. Each of them is a sum of m moves of one row from a cell to another, or to none,
            where these are m times, and m² times, those of one move.
        most: the norms of all changes that the noise hides.
        keeps_places: whether no changed row goes to another place of the exact margins.
    """

    moved: Sensitivity
    most: Sensitivity
    keeps_places: bool

    def ratio(self, guarantee: NoiseMeasure) -> Fraction:
        """What they cost where the loss of a noise is bounded by a norm alone: ‖·‖₁, or ‖·‖₂² (programmes.md, P3).

        Raises:
            InternalError: `most` is nothing.
        """
        whole = type(guarantee).size(self.most)
        if not whole:
            raise InternalError("a query that nothing changes has no noise")
        return Fraction(type(guarantee).size(self.moved), whole)


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of one row on the answer of one query, by where it was and where it is afterwards.

    Args:
        within: it stays in its cell, with other values.
        across: it moves to another cell.
        leaves: it counted somewhere and counts nowhere afterwards, or the other way round.
    """

    within: Sensitivity
    across: Sensitivity
    leaves: Sensitivity


def change_of(
    least: int, most: int, *, at_once: int, parts: int, cells: int, nullable: bool, skipped: bool, neighbours: Neighbours
) -> Change:
    """The change of a vector in which each row adds an integer in [least, most] to `at_once` coordinates of one cell.

    Args:
        least: the least integer that a row adds.
        most: the greatest.
        at_once: in how many coordinates of its cell a row counts (the levels of a tree).
        parts: how many coordinates a cell has.
        cells: how many cells there are.
        nullable: whether a row in a cell may add nothing: its value is null, or in none of the coordinates.
        skipped: whether a row may be in no cell.
        neighbours: the neighbouring relation: a row appears (every coordinate changes by what it adds), or is replaced.
    """
    largest = max(abs(least), abs(most))
    alone = Sensitivity(at_once * largest, at_once * largest**2)
    if neighbours.appears:
        return Change(alone, alone, alone)
    low, high = (min(least, 0), max(most, 0)) if nullable else (least, most)
    # In the same coordinate f(x) becomes f(y); in two of them -f(x) and +f(y). At most all of `at_once` move.
    same = Sensitivity(at_once * (high - low), at_once * (high - low) ** 2)
    nothing, twice = Sensitivity(0, 0), Sensitivity(2 * alone.l1, 2 * alone.l2_squared)
    within = same if parts == 1 else _larger(same, twice)
    return Change(within, twice if cells > 1 else nothing, alone if skipped else nothing)


def change_of_vector(
    alone: Sensitivity, apart: Sensitivity, *, cells: int, nullable: bool, skipped: bool, neighbours: Neighbours
) -> Change:
    """The change of a vector answer to which each row adds a vector in one cell, from the joint norms of that vector (V2).

    Args:
        alone: the norms of the vector of a row.
        apart: the norms of the difference between the vectors of two rows.
        cells: how many cells there are.
        nullable: whether a row in a cell may add nothing.
        skipped: whether a row may be in no cell.
        neighbours: the neighbouring relation.
    """
    if neighbours.appears:
        return Change(alone, alone, alone)
    nothing, twice = Sensitivity(0, 0), Sensitivity(2 * alone.l1, 2 * alone.l2_squared)
    within = _larger(apart, alone) if nullable else apart
    return Change(within, twice if cells > 1 else nothing, alone if skipped else nothing)


def _larger(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    return Sensitivity(max(one.l1, other.l1), max(one.l2_squared, other.l2_squared))


def worst(change: Change) -> Sensitivity:
    """The sensitivity: the largest norms over all changes of the row. There is no parallel composition (soundness 11)."""
    return _larger(_larger(change.within, change.across), change.leaves)


def joint_factor(changes: Sequence[Change], shares: Sequence[Fraction], size: Callable[[Sensitivity], int]) -> Fraction:
    """By how much the queries of one request cost less together than one by one, in (0, 1].

    A row does one thing to all queries at once: it stays, moves or leaves. With noise that gives query i the share sᵢ of a
    guarantee at its own worst change Δᵢ, the loss of the whole vector is the largest over the three moves of Σ sᵢ cᵢ/Δᵢ,
    where cᵢ ≤ Δᵢ is the change in that move, both as the measure of the guarantee sizes them: squared for Gaussian noise.
    """
    totals = [Fraction(0)] * 3
    for change, share in zip(changes, shares, strict=True):
        largest = size(worst(change))
        for place, move in enumerate((change.within, change.across, change.leaves)):
            totals[place] += share * Fraction(size(move), max(1, largest))
    return max(totals)
