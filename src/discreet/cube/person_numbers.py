"""What a person counts for in a cell: whole numbers that follow from this person's rows there, in any order.

Each is bounded whatever these rows are (U2, U3 and U5 of docs/proofs/persons.md). A person without a row in a cell counts
for nothing there. Codes of a column are numbers of its grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

__all__ = [
    "FINE",
    "Here",
    "KnownUpTo",
    "Part",
    "Parts",
    "PersonNumber",
    "RowsUpTo",
    "SquaresUpTo",
    "Total",
    "TotalSquared",
    "Valued",
    "ValuesUpTo",
    "share_unit",
]

FINE = 2**20
"""What is divided among the rows of a person is rounded down to about this part of the most that a person can have."""


@dataclass(frozen=True, slots=True)
class Part:
    """The known values of a column in the rows of a person in a cell.

    Args:
        known: how many there are.
        codes: the sum of their codes.
        squares: the sum of the squares of their distances from the middle of the codes, in halves of a step.
    """

    known: int = 0
    codes: int = 0
    squares: int = 0


Parts = Mapping[str, Part]
"""By the names of the columns."""


class _Number(Protocol):
    """One whole number for each person in a cell. The union of those below is `PersonNumber`; frozen and hashable."""

    @property
    def column(self) -> str | None:
        """The column that it reads, if any."""

    @property
    def squared(self) -> bool:
        """Whether it needs the squares of the codes."""

    def of(self, rows: int, parts: Parts) -> int:
        """The number of a person with so many rows, and these known values."""

    def reach(self) -> tuple[int, int]:
        """The least and the greatest that it can be."""


@dataclass(frozen=True, slots=True)
class Here:
    """1: the person is there."""

    column: None = None
    squared: bool = False

    def of(self, rows: int, parts: Parts) -> int:
        return 1

    def reach(self) -> tuple[int, int]:
        return 1, 1


@dataclass(frozen=True, slots=True)
class RowsUpTo:
    """The rows of the person, at most `most` of them."""

    most: int
    column: None = None
    squared: bool = False

    def of(self, rows: int, parts: Parts) -> int:
        return min(rows, self.most)

    def reach(self) -> tuple[int, int]:
        return 1, self.most


@dataclass(frozen=True, slots=True)
class KnownUpTo:
    """The rows of the person with a value of the column, at most `most` of them; for 1, whether there is one."""

    column: str
    most: int
    squared: bool = False

    def of(self, rows: int, parts: Parts) -> int:
        return min(parts[self.column].known, self.most)

    def reach(self) -> tuple[int, int]:
        return 0, self.most


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of step·code + origin over the values of the person, moved to the nearest of `low` and `high`; 0 for none."""

    column: str
    step: int
    origin: int
    low: int
    high: int
    squared: bool = False

    def of(self, rows: int, parts: Parts) -> int:
        own = parts[self.column]
        return self.clamped(own.known, own.codes) if own.known else 0

    def clamped(self, known: int, codes: int) -> int:
        """The total of `known` ≥ 1 values whose codes add up to `codes`."""
        return min(max(self.step * codes + self.origin * known, self.low), self.high)

    def is_within(self, rows: int, parts: Parts) -> bool:
        """True if no bound moves the total of a person."""
        own = parts[self.column]
        return not own.known or self.of(rows, parts) == self.step * own.codes + self.origin * own.known

    def reach(self) -> tuple[int, int]:
        return min(self.low, 0), max(self.high, 0)

    def of_known(self, known: int) -> tuple[int, int]:
        """The least and the greatest that it can be, of a person with `known` ≥ 1 of her rows counted here."""
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class TotalSquared:
    """The square of a total's distance from the middle of its bounds, in halves of a step, over `coarse`; 0 for none."""

    total: Total
    coarse: int
    squared: bool = False

    @property
    def column(self) -> str:
        """The column of the total."""
        return self.total.column

    def of(self, rows: int, parts: Parts) -> int:
        total = self.total
        if not parts[self.column].known:
            return 0
        return int((2 * total.of(rows, parts) - total.low - total.high) ** 2 // self.coarse)

    def reach(self) -> tuple[int, int]:
        return 0, (self.total.high - self.total.low) ** 2 // self.coarse

    def of_known(self, known: int) -> tuple[int, int]:
        return self.reach()


@dataclass(frozen=True, slots=True)
class ValuesUpTo:
    """The codes above `low`, those of `most` rows on average, in units of 1/`fine`, rounded down.

    Of m known values with the sum s of codes above `low` it is fine·s for m ≤ most, and fine·s·most/m for more.
    """

    column: str
    low: int
    high: int
    most: int
    fine: int
    squared: bool = False

    def of(self, rows: int, parts: Parts) -> int:
        own = parts[self.column]
        return _of_rows(own.codes - self.low * own.known, own.known, self.most, self.fine, 1)

    def reach(self) -> tuple[int, int]:
        return self.of_known(self.most)

    def of_known(self, known: int) -> tuple[int, int]:
        return 0, self.fine * known * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class SquaresUpTo:
    """The squares of the distances from the middle of the codes, those of `most` rows on average, times fine/coarse.

    Distances are in halves of a step, at most `span`. One of `fine` and `coarse` is 1.
    """

    column: str
    span: int
    most: int
    fine: int
    coarse: int
    squared: bool = True

    def of(self, rows: int, parts: Parts) -> int:
        own = parts[self.column]
        return _of_rows(own.squares, own.known, self.most, self.fine, self.coarse)

    def reach(self) -> tuple[int, int]:
        return self.of_known(self.most)

    def of_known(self, known: int) -> tuple[int, int]:
        return 0, self.fine * known * self.span**2 // self.coarse


Valued = Total | TotalSquared | ValuesUpTo | SquaresUpTo
"""Numbers that are made of values; a person without one has 0."""

PersonNumber = Here | RowsUpTo | KnownUpTo | Total | TotalSquared | ValuesUpTo | SquaresUpTo


def _of_rows(total: int, known: int, most: int, fine: int, coarse: int) -> int:
    """⌊fine·total·min(known, most)/(known·coarse)⌋, and 0 for no known value."""
    return fine * total * min(known, most) // (known * coarse) if known else 0


def share_unit(most: int) -> int:
    """The parts into which one row is divided, where a person has up to `most` rows: about FINE for all of them."""
    return max(1, FINE >> (most - 1).bit_length())
