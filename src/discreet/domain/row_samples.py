"""The samples that a request can take of the rows of its table: each row by itself, or a fixed number of rows.

This is algorithm A′ of the sampling post (seed 003): nothing is filled in, and the mechanism sees the sample only. W5 of
docs/proofs/samples.md says what it guarantees for the table. (A source that is itself a secret sample is in `draws`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.domain.neighbours import Neighbours, ReplaceOne, whole_number
from discreet.errors import ArgumentError, PlanError
from discreet.exact.figures import number
from discreet.exact.numbers import Amount, exact, text

__all__ = ["Compared", "SampleEach", "SampleRows", "dyadic_below", "sample_words", "sampling_step"]


@dataclass(frozen=True, slots=True)
class Compared:
    """The difference of samples of neighbours: in rows by this relation and, with `vanishes`, also in their number."""

    neighbours: Neighbours
    vanishes: bool


@dataclass(frozen=True, slots=True)
class SampleEach:
    """Each row is kept independently with probability `rate`. How many are kept is private."""

    rate: Fraction

    title: ClassVar[str] = "sample(rate)"

    def rows_after(self, neighbours: Neighbours) -> int | None:  # noqa: ARG002
        """None: the number of kept rows is random, and private."""
        return None

    def rate_of(self, neighbours: Neighbours) -> Fraction | None:  # noqa: ARG002
        """The probability with which a row is kept."""
        return self.rate

    def compared(self, neighbours: Neighbours) -> Compared:
        """A replaced row may be kept or not, alike in both tables; the row before and the one after may count apart."""
        return Compared(neighbours, vanishes=not neighbours.appears)

    def to_json(self) -> dict[str, object]:
        """The step as canonical JSON values."""
        return {"step": "sample", "rate": text(self.rate)}


@dataclass(frozen=True, slots=True)
class SampleRows:
    """A uniformly drawn set of `rows` rows is kept; all rows of a table that has fewer."""

    rows: int

    title: ClassVar[str] = "sample(rows)"

    def rows_after(self, neighbours: Neighbours) -> int | None:
        """`rows` of a table with at least as many, which is known where its number of rows is public.

        Raises:
            PlanError: a public number of rows that is smaller.
        """
        if neighbours.rows is None:
            return None
        if self.rows > neighbours.rows:
            raise PlanError(
                f"sample(rows={self.rows}): must be at most the {neighbours.rows} rows of the table; sample fewer, or leave "
                "the sample out"
            )
        return self.rows

    def rate_of(self, neighbours: Neighbours) -> Fraction | None:
        """The probability with which a row is kept; None where the number of rows of the table is private."""
        return None if neighbours.rows is None else Fraction(self.rows, neighbours.rows)

    def compared(self, neighbours: Neighbours) -> Compared:
        """Rows are replaced. A table whose number of rows is private may have fewer, and then a row may appear too."""
        return Compared(ReplaceOne(self.rows), vanishes=neighbours.appears)

    def to_json(self) -> dict[str, object]:
        """The step as canonical JSON values."""
        return {"step": "sample", "rows": self.rows}


def dyadic_below(rate: Fraction) -> Fraction:
    """⌊s·2^64⌋/2^64 ≤ s: fewer records are kept, never more, so the account with s stays an upper bound."""
    return rate if rate == 1 else Fraction(rate.numerator * 2**64 // rate.denominator, 2**64)


def sampling_step(rate: Amount | None, rows: object) -> SampleEach | SampleRows:
    """The sample of each row with probability `rate`, or of `rows` rows; exactly one of the two is given.

    Raises:
        PlanError: both or none, a rate outside [2^-64, 1), or a number of rows that is not whole and at least 1.
    """
    if (rate is None) == (rows is None):
        raise PlanError('sample(): takes either a rate, sample("1/10"), or a number of rows, sample(rows=1000)')
    try:
        if rate is None:
            return SampleRows(whole_number(rows, "sample(rows)", least=1))
        share = exact(rate, "sample(rate)")
    except ArgumentError as wrong:
        raise PlanError(str(wrong)) from None
    if not 0 < share < 1:
        raise PlanError(f"sample({text(share)}): must be greater than 0 and less than 1; for a number of rows write rows=…")
    if not dyadic_below(share):
        raise PlanError(f"sample({text(share)}): must be at least 2^-64, the smallest rate at which rows are drawn")
    return SampleEach(share)


def sample_words(step: Mapping[str, Any]) -> str:
    """The step, as `to_json` writes it, in a sentence."""
    nothing = "nothing is filled in"
    if "rows" in step:
        return f"A random selection of {number(step['rows'])} rows is kept, or all rows if there are fewer; {nothing}."
    return f"Each row is kept with probability {step['rate']}, independently of the others; {nothing}."
