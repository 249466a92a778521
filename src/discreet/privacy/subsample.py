"""The account of a sample of rows that fills nothing: how many of the rows that differ are in it (W5 of samples.md).

A law of that number is all that a guarantee needs to pass through the sample (Theorems R1 to R3).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.domain.neighbours import Neighbours
from discreet.domain.row_samples import SampleEach, SampleRows
from discreet.errors import unreachable
from discreet.privacy import _copies
from discreet.privacy._resampled import Resampled, largest_mu
from discreet.privacy.measures import GDP, ApproxDP

__all__ = ["Subsample", "subsample_of"]


@dataclass(frozen=True, slots=True)
class Subsample:
    """A sample as a guarantee sees it.

    Attributes:
        law: P(K = 0), P(K = 1), …: how many of the rows that differ are in the sample, exactly.
        both: whether the tables with and without the rows are compared, so that both directions count (R2); otherwise the
            two tables have as many rows (R1).
        exchanged: where a row may appear, and also be exchanged for another one, the law of the number of steps between
            the two samples, by which profiles are bounded (R1); None elsewhere.
    """

    law: _copies.Law
    both: bool
    exchanged: _copies.Law | None = None

    @property
    def most(self) -> int:
        """The largest number of rows that differ in the sample."""
        return len(self.law) - 1

    def profile(self, inner: Any) -> Resampled:
        """The δ(ε), for the table, of what is `inner` on the sample: rounded up, exact for Gaussian noise and one row."""
        law, both = self._compared
        return Resampled(inner, law, both=both)

    def gaussian(self, target: ApproxDP) -> GDP:
        """The largest μ found whose Gaussian noise on the sample gives `target` for the table; verified."""
        law, both = self._compared
        return GDP(largest_mu(law, target, both=both))

    @property
    def _compared(self) -> tuple[_copies.Law, bool]:
        return (self.law, self.both) if self.exchanged is None else (self.exchanged, False)


def subsample_of(step: SampleEach | SampleRows, neighbours: Neighbours, group: int = 1) -> Subsample:
    """The sample as a guarantee sees it: the five cases of W5.

    Args:
        step: the sample.
        neighbours: how tables are compared.
        group: how many rows differ together beside exact totals; else the rows of a person count.
    """
    together, rows = group * neighbours.rows_per_person, neighbours.rows
    most = together if rows is None else min(together, rows)
    match step:
        case SampleEach(rate=rate):
            return Subsample(_copies.binomial(most, rate), both=rows is None, exchanged=_exchanged(neighbours, rate))
        case SampleRows(rows=sampled) if rows is None:
            # The table may have fewer rows than the sample, which then has all of them: no rate, and nothing is amplified.
            return Subsample(_copies.certain(min(most, sampled)), both=False)
        case SampleRows(rows=sampled) if rows is not None:
            return Subsample(_copies.hypergeometric(rows, most, sampled), both=False)
    raise unreachable(step)


def _exchanged(neighbours: Neighbours, rate: Fraction) -> _copies.Law | None:
    """Two steps with the chance that the row is drawn, else none: both tables share the draw."""
    exchanges = neighbours.appears and neighbours.replacing == 1
    return (1 - rate, Fraction(0), rate) if exchanges else None
