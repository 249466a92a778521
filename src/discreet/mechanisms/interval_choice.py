"""Intervals of quantiles, chosen around values that are public already: one of a few nested intervals for each.

Interval k around a centre v reaches from v - d_k to v + d_k, cut at the ends of the grid; d_0 = 0, each d is about 7/5 of
the one before, and the last interval is everything. Its *margin* is how many records it reaches beyond the q-quantile, on
the side where these are fewest: an interval that misses the quantile has none. Wanted is the smallest interval with a
margin of at least t: the loss of interval k is

  max(margin(k - 1) - t, t - margin(k)),

and it is chosen with probability proportional to weight_k · e^(-range · loss / (2·max(q, 1 - q))). The weights grow by a
factor of 8/5, so the intervals that miss weigh little together, however many there are; t follows from level and range.
docs/proofs/intervals.md proves the cost and, for every table, the coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.domain.neighbours import Neighbours
from discreet.errors import InternalError
from discreet.exact.balls import ball, enclose, upper_rational
from discreet.exact.numbers import text
from discreet.mechanisms.base import Answer, Around, Guarantee, Integers, Mechanism, Noise, NoiseWords
from discreet.mechanisms.quantile_choice import levels_change, range_for
from discreet.mechanisms.sensitivity import Change, Sensitivity, SomeChanges
from discreet.noise.bits import Bits

__all__ = ["INTERVAL_CHOICE", "ExponentialIntervals", "hold_to", "intervals_change", "intervals_for"]

_LEVEL = Fraction(95, 100)
_CHUNK = 1 << 18  # candidates that are looked at together
_WIDE = 1 << 20  # denominators from which ranks may leave 64 bits, whatever the data
_FAR = 1 << 60  # margins wanted from which losses may leave 64 bits: where next to nothing is spent


_WORDS = NoiseWords(
    name="exponential mechanism of intervals",
    parameter="range",
    sentence=(
        "P(k) ∝ weight_k · exp(−range · loss(k) / (2·max(q, 1 − q))) for nested intervals around every chosen quantile; the "
        "loss of k is how many records it is off the smallest interval that reaches t records beyond the q-quantile. t is "
        "such that an interval misses the quantile with at most the stated probability. The sensitivities count choices."
    ),
)


@dataclass(frozen=True, slots=True)
class ExponentialIntervals:
    """The law of the intervals of the quantiles of every cell, around given centres.

    Args:
        size: how many codes the column has, at least 2.
        cells: of how many cells there are quantiles.
        at: the q, ascending, all different.
        reach: by how much one record can change the logarithm of the ratio of two probabilities, in each choice.
        level: with at least this probability an interval holds its quantile, whatever the records and centres are.
    """

    size: int
    cells: int
    at: tuple[Fraction, ...]
    reach: Fraction
    level: Fraction = _LEVEL
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = False

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """The ends of the intervals: int64, shape (cells · 2 · quantiles,), low and high of each, cell by cell.

        Args:
            values: int64, shape (n, 3): for each cell its centres, as a cell, a code and 0; then the records, as a cell, a
                code and how many have it, sorted: see `cube.queries.around`.
            bits: independent uniform bits.
        """
        count = self.cells * len(self.at)
        centres = values[:count, 1].reshape(self.cells, len(self.at))
        records = _Records.of(values[count:], self)
        found = np.zeros((self.cells, len(self.at), 2), dtype=np.int64)
        once = max(1, _CHUNK // len(distances(self.size)))  # public: does not depend on the records
        for start in range(0, self.cells, once):
            cells = np.arange(start, min(start + once, self.cells))
            for place, q in enumerate(self.at):
                found[cells, place] = _choose(records, cells, centres[cells, place], self, q, bits)
        return found.ravel()

    def half_widths(self, _level: Fraction) -> int:
        """Not available: no noise is added.

        Raises:
            InternalError: always.
        """
        raise InternalError("chosen intervals have no additive noise")

    def variance(self) -> float:
        """About the variance of the margin, in records: 2 over the square of the cost of one record for a median."""
        return 2.0 / float(self.reach) ** 2

    def rank_error(self, level: Fraction) -> float:
        """With probability `level` an interval reaches no more records beyond its quantile than about this.

        Where records are spread evenly: the next larger interval holds 7/5 of the records, and the weights favour it.
        """
        worst = max(2 * float(max(q, 1 - q)) for q in self.at) / float(self.reach)
        t = max(find_margin(q, self.reach, self.level) / q.denominator for q in self.at)
        return 1.4 * t + worst * -log(1 - float(level)) / 2

    def part_of_guarantee(self, _changes: SomeChanges, _guarantee: Guarantee) -> None:
        """None: chosen intervals have no norm."""

    def to_json(self) -> dict[str, str]:
        """Name, exact range of a choice, the quantiles, and the level."""
        at = ", ".join(map(text, self.at))
        return {"noise": _WORDS.name, _WORDS.parameter: text(self.reach), "at": at, "level": text(self.level)}

    def prepare_audit(self) -> None:
        """No noise is added; an audit attacks the choices themselves."""


def intervals_for(sensitivity: Sensitivity, guarantee: Guarantee, asked: Around) -> ExponentialIntervals:
    """The choices of intervals that together give `guarantee` where they cost `sensitivity`.

    Raises:
        ArgumentError: a guarantee that leaves next to nothing to choose by.
    """
    return ExponentialIntervals(asked.size, asked.cells, asked.at, range_for(sensitivity, guarantee))


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    if isinstance(answer, Around):
        yield intervals_for(sensitivity, guarantee, answer)


INTERVAL_CHOICE = Mechanism((_WORDS,), _candidates)


def hold_to(noise: Noise, level: Fraction) -> Noise:
    """The same noise, where intervals are chosen such that each holds with at least `level`; it costs the same."""
    return replace(noise, level=level) if isinstance(noise, ExponentialIntervals) else noise


def intervals_change(quantiles: int, *, cells: int, skipped: bool, neighbours: Neighbours) -> Change:
    """The effect of one row on the choices of this many intervals: a record counts in the margins of each of them."""
    return levels_change(quantiles, cells=cells, skipped=skipped, neighbours=neighbours)


def distances(size: int) -> NDArray[np.int64]:
    """The d_k of a grid of this many codes: 0, 1, 2, …, then by factors of 7/5, up to the first that reaches everything."""
    found = [0]
    while found[-1] < size - 1:
        found.append(min(max(found[-1] + 1, found[-1] * 7 // 5), size - 1))
    return np.array(found, dtype=np.int64)


def weights(count: int) -> NDArray[np.int64]:
    """The first weights: each is at least 8/5 of the one before, and below 2**53 for grids of up to 2**36 codes."""
    found = [1]
    while len(found) < count:
        found.append(-(-found[-1] * 8 // 5))
    return np.array(found[:count], dtype=np.int64)


def find_margin(q: Fraction, reach: Fraction, level: Fraction) -> int:
    """t, in 1/(denominator of q) records: the least margin such that intervals without any are chosen too rarely to matter.

    With g = 8/5 the others weigh at least 2√g·(g - 1)·e^(rate · t) times as much as these, if e^(rate · t) ≥ 2√g; both
    numbers are rounded towards a larger t.
    """
    rate = reach / (2 * max(q.numerator, q.denominator - q.numerator))
    needed = max(level / (1 - level) / Fraction(3, 2), Fraction(38, 15))
    return max(1, ceil(upper_rational(enclose(lambda: ball(needed).log())) / rate))


@dataclass(frozen=True, slots=True, eq=False)
class _Records:
    """The records of all cells on one line, one cell after another, and how many lie before."""

    key: NDArray[np.int64]
    before: NDArray[np.int64]
    size: int

    @staticmethod
    def of(values: Integers, law: ExponentialIntervals) -> _Records:
        summed = np.concatenate([np.zeros(1, np.int64), np.cumsum(values[:, 2])])
        return _Records(values[:, 0] * law.size + values[:, 1], summed, law.size)

    def below(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of records of each cell with a code below this one; codes up to `size` are possible."""
        first = self.before[np.searchsorted(self.key, cells * self.size)]
        return np.asarray(self.before[np.searchsorted(self.key, cells * self.size + codes)] - first)


def _choose(  # noqa: PLR0917 (one choice)
    records: _Records,
    cells: NDArray[np.int64],
    centres: NDArray[np.int64],
    law: ExponentialIntervals,
    q: Fraction,
    bits: Bits,
) -> NDArray[np.int64]:
    """The chosen interval of one quantile in every one of these cells: shape (cells, 2)."""
    from discreet.noise.single.exponential import Candidates, choose

    reaches = distances(law.size)
    low = np.maximum(centres[:, None] - reaches, 0)
    high = np.minimum(centres[:, None] + reaches, law.size - 1)
    whole = (low == 0) & (high == law.size - 1)
    kept = np.column_stack([np.ones(len(cells), dtype=bool), ~whole[:, :-1]])  # up to the first that is everything
    margin = _margins(records, cells[:, None], low, high, q)
    losses = _losses(margin, whole, find_margin(q, law.reach, law.level))
    many = np.broadcast_to(weights(len(reaches)), kept.shape)
    rate = law.reach / (2 * max(q.numerator, q.denominator - q.numerator))
    place = choose(Candidates(losses[kept], many[kept], np.cumsum(kept.sum(axis=1))), rate, bits)
    return np.column_stack([low[kept][place], high[kept][place]])


def _margins(
    records: _Records, cells: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], q: Fraction
) -> NDArray[Any]:
    """The margins, in 1/(denominator of q) records: at least 1 only where the interval holds the quantile.

    That is the first code with max(qN, 1) records up to it. At an end of the grid an interval reaches far enough; where it
    does at both ends, there is no margin to speak of, and what stands here is not used.
    """
    unit = q.denominator
    records_of = [records.below(cells, np.full_like(cells, records.size)), records.below(cells, high + 1)]
    everything, upto, before = (
        count if unit < _WIDE else count.astype(np.object_) for count in (*records_of, records.below(cells, low))
    )
    wanted = q.numerator * everything if q else np.ones_like(everything)
    above, beneath = unit * upto - wanted + 1, wanted - unit * before
    ends = np.where(low == 0, above, np.minimum(above, beneath))
    return np.asarray(np.where((high == records.size - 1) & (low > 0), beneath, ends))


def _losses(margin: NDArray[Any], whole: NDArray[np.bool_], wanted: int) -> NDArray[Any]:
    """The losses of all intervals; everything is only too large, and the smallest interval only too small."""
    margin = margin if wanted < _FAR else margin.astype(np.object_)
    small = wanted - margin
    large = margin[:, :-1] - wanted
    rest = np.where(whole[:, 1:], large, np.maximum(large, small[:, 1:]))
    return np.asarray(np.column_stack([small[:, :1], rest]))
