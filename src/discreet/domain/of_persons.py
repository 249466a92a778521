"""What becomes of all rows of a person: the columns of a table with one row for each person.

Each is a function of the rows of this person as a multiset, whatever their order (U6 of docs/proofs/persons.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from discreet.domain.neighbours import whole_number
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.numbers import Amount, exact, text

__all__ = ["HOW", "How", "OfRows", "distinct", "earliest", "latest", "only", "rows", "total"]

How = Literal["rows", "total", "distinct", "latest", "earliest", "only"]

HOW: tuple[How, ...] = ("rows", "total", "distinct", "latest", "earliest", "only")
"""All ways to make one value of all rows of a person, in the order in which messages list them."""


@dataclass(frozen=True, slots=True)
class OfRows:
    """One column of a table with a row for each person.

    Args:
        how: what is made of the rows.
        column: of which column; None for the rows themselves.
        bounds: the least and the greatest value, to which others are moved; None where the column has its own.
    """

    how: How
    column: str | None
    bounds: tuple[Fraction, Fraction] | None

    def to_json(self) -> dict[str, object]:
        """The column as canonical JSON values."""
        of = {} if self.column is None else {"column": self.column}
        ends = {} if self.bounds is None else {"bounds": [text(end) for end in self.bounds]}
        return {"how": self.how, **of, **ends}


def rows(low: int, high: int | None = None) -> OfRows:
    """The number of rows of a person that fulfil the conditions, moved to the nearest of two bounds.

    A person without such a row is not in the table, so that `low` is of use where it is above 1. Made-up rows that agree
    with a release are something else: `release.rows()`, or `fit_rows(release)`.

    Raises:
        ArgumentError: bounds that are no whole numbers, are not in order, or are missing; a release.
    """
    if hasattr(low, "document"):
        raise ArgumentError(
            "rows(…): counts the rows of each person, as in rows(0, 50); rows that agree with a release are release.rows(), "
            "or fit_rows(release)"
        )
    if high is None:
        raise ArgumentError(f"rows({printed(low)}): needs the largest number too, such as rows({printed(low)}, 50)")
    least, most = whole_number(low, "rows(low)", least=0), whole_number(high, "rows(high)", least=1)
    return OfRows("rows", None, _ordered("rows", Fraction(least), Fraction(most)))


def total(column: str, low: Amount, high: Amount) -> OfRows:
    """The sum of the values of a person in a column of numbers, moved to the nearest of two bounds; null without a value."""
    bounds = _ordered("total", exact(low, "total(low)"), exact(high, "total(high)"))
    return OfRows("total", _named(column, "total"), bounds)


def distinct(column: str, *, most: int) -> OfRows:
    """The number of different values of a person in a column, at most `most`; nulls do not count."""
    bounds = Fraction(0), Fraction(whole_number(most, "distinct(most)", least=1))
    return OfRows("distinct", _named(column, "distinct"), bounds)


def latest(column: str) -> OfRows:
    """The greatest value of a person in a column of numbers or days; null without a value."""
    return OfRows("latest", _named(column, "latest"), None)


def earliest(column: str) -> OfRows:
    """The least value of a person in a column of numbers or days; null without a value."""
    return OfRows("earliest", _named(column, "earliest"), None)


def only(column: str) -> OfRows:
    """The one value that a person has in a column; null where this person has two different ones, or none."""
    return OfRows("only", _named(column, "only"), None)


def _named(column: object, how: str) -> str:
    if not isinstance(column, str):
        raise PlanError(f"{how}({printed(column)}): must be the name of a column of the schema")
    return column


def _ordered(how: str, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    if low >= high:
        raise ArgumentError(f"{how}({text(low)}, {text(high)}): low must be below high")
    return low, high
