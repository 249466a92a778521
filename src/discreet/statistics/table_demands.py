"""What is asked of several tables: how much the variances of each count, and how wide its intervals may be at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

__all__ = ["TableDemand"]


@dataclass(frozen=True, slots=True)
class TableDemand:
    """What is asked of the noise of some tables.

    Without errors the weighted sum of the variances of all cells is the least. Where no table has a weight, the largest
    quotient of a half-width and its error is the least. Else all errors are met, and the sum is the least among those.

    Args:
        weights: how much the variances of each table count; 0 for a table that has an error only.
        errors: the half-width that the intervals of each table may have; None for any.
        room: where both are asked: how far the largest squared quotient may be above the least possible one.
    """

    weights: tuple[float, ...]
    errors: tuple[Fraction | None, ...]
    room: float = 1.0

    def of_noisy(self, noisy: Sequence[bool]) -> TableDemand:
        """What is left to ask for where tables without noise meet their errors, and have no variances to weigh.

        Where these alone are weighed beside errors of others, the others weigh 1 each, so that their errors are still met.
        """
        errors = tuple(one if there else None for one, there in zip(self.errors, noisy, strict=True))
        weights = tuple(one if there else 0.0 for one, there in zip(self.weights, noisy, strict=True))
        if self.mixed and not any(weights):
            weights = tuple(map(float, noisy))
        return replace(self, weights=weights, errors=errors)

    @property
    def limited(self) -> bool:
        """True if some tables have errors."""
        return any(one is not None for one in self.errors)

    @property
    def alike(self) -> bool:
        """True if all tables are to get to their errors together."""
        return self.limited and not any(self.weights)

    @property
    def mixed(self) -> bool:
        """True if some tables have errors, which are met, and the variances of some count."""
        return self.limited and any(self.weights)

    def importance(self, cells: Sequence[int]) -> list[float]:
        """How much the variance of a cell counts in each table of so many; about that, where errors are to be met alike.

        Where no table with noise has a cell that is printed, all count alike.
        """
        if self.alike:
            return [0.0 if one is None else 1 / float(one) ** 2 for one in self.errors]
        found = [weight * many for weight, many in zip(self.weights, cells, strict=True)]
        return found if any(found) else [1.0] * len(found)

    def quotient(self, halves: Sequence[Fraction]) -> Fraction:
        """The largest quotient of a half-width and its error."""
        each = zip(halves, self.errors, strict=True)
        return max((half / most for half, most in each if most is not None), default=Fraction(0))

    def error(self, halves: Sequence[Fraction]) -> Fraction:
        """What a quote states: the widest half-width of the tables that count; or the quotient, where none does."""
        if self.alike:
            return self.quotient(halves)
        return max((half for half, weight in zip(halves, self.weights, strict=True) if weight), default=Fraction(0))

    @property
    def unit(self) -> str:
        """The words after the number."""
        return "times the error that its table should have" if self.alike else ""
