"""How far a statistic of the prepared table is from the same of the table as recorded, if something is assumed of the rows.

The difference has two parts (O6 of docs/proofs/original.md): its expectation, which is linear in each of the assumed numbers
and so largest at a vertex of what is assumed; and what drawn values and sampled rows add by chance, which is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor, log, sqrt

from discreet.domain.steps import Resize
from discreet.exact.numbers import float_up
from discreet.quotes.assumptions import Assumed, Range
from discreet.quotes.moved import DrawLaw
from discreet.statistics.base import Kind, Statistic
from discreet.statistics.counts import Count
from discreet.statistics.means import Mean
from discreet.statistics.quantile import Median, Quantiles, orders_of
from discreet.statistics.sums import Sum

__all__ = ["Off", "Rows", "all_rows", "count_off", "is_stated", "known_rows", "off_by", "resized_rows"]

_CHANCE = Fraction(1, 40)
"""The probability with which draws may add more than is stated; the noise has the same beside them."""

_SLACK = 1 + 1e-12
"""For the roundings of a few floating-point operations."""


@dataclass(frozen=True, slots=True)
class Off:
    """How far a statistic is from that of the table as recorded.

    Args:
        expected: the size of the expected difference, at most.
        draws: what draws add to it, at most, but with a probability of 1/40.
        anywhere: the width of the range in which the statistic is with any answer of those who gave none, at most.
    """

    expected: float
    draws: float
    anywhere: float


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a group of the prepared table.

    Args:
        corners: the numbers of rows of the group, each with the share of the prepared rows that are of the data, at the
            vertices of what is possible.
        resize: the resize, if there is one.
        apart: the number of sampled rows, at most, that chance adds or takes.
    """

    corners: tuple[tuple[Fraction, Fraction], ...]
    resize: Resize | None
    apart: float

    @property
    def most(self) -> Fraction:
        """The most rows."""
        return max(rows for rows, _ in self.corners)

    def prepared(self, rows: Fraction) -> Fraction:
        """The number of rows of the prepared table, where the recorded one has `rows`."""
        return rows if self.resize is None else Fraction(self.resize.rows)


def all_rows(rows: Range) -> Rows:
    """The rows of a group where every row stays."""
    return Rows(tuple((end, Fraction(1)) for end in sorted(set(rows))), None, 0.0)


def resized_rows(resize: Resize, rows: Range, *, public: bool) -> Rows:
    """The rows of a resized table.

    Where the number of rows is public, ⌊p·rows⌋ are sampled. Else each copy is, with the probability s, and the number of
    these is within `apart` of its expectation (Bernstein's inequality), but with a probability of 1/120.
    """
    p, n, s = resize.proportion, resize.rows, resize.rate
    apart = 0.0
    if s < 1 and not public:
        copies = float(resize.copies * rows[1])
        apart = _bernstein(copies * float(s * (1 - s)), float(max(s, 1 - s)), _CHANCE / 3)
    below = Fraction(1) if public and s < 1 else Fraction(0)  # what rounding down leaves out
    more = Fraction(ceil(apart)) if apart else Fraction(0)
    kinks = {n / p, (n + more + below) / p, (n - more) / p}
    places = sorted({*rows, *(kink for kink in kinks if rows[0] < kink < rows[1])})
    corners = []
    for place in places:
        ends = (p * place - more - below, p * place + more)
        corners += [(place, min(max(end, Fraction(0)), Fraction(n)) / n) for end in ends]
    return Rows(tuple(dict.fromkeys(corners)), resize, apart)


def is_stated(kind: Kind, rows: Rows) -> bool:
    """True if there is a form for the kind of statistic: of a resized table not for quantiles."""
    return type(kind) in _FORMS and (rows.resize is None or _FORMS[type(kind)] is not _rank_off)


def count_off(rows: Rows) -> Off:
    """How far the number of rows is off."""
    return Off(float_up(max(abs(rows.prepared(one) - one) for one, _ in rows.corners)), 0.0, 0.0)


def off_by(one: Statistic, assumed: Assumed, rows: Rows) -> Off:
    """How far a statistic of a column of numbers is off, for a kind that `is_stated`."""
    return _FORMS[type(one.kind)](one, assumed, rows)


@dataclass(frozen=True, slots=True)
class _Vertex:
    """One vertex of all that is assumed: what the clamp moves the mean by, the mean, and shares and numbers of rows.

    Args:
        clip: what the clamp moves the mean of the known values by.
        mean: the mean of the known values.
        nulls: the share of nulls in the table as recorded.
        rows: its number of rows.
        prepared: the number of rows of the prepared table.
        known: the share of these whose value is known; 1 where nulls are left out.
    """

    clip: Fraction
    mean: Fraction
    nulls: Fraction
    rows: Fraction
    prepared: Fraction
    known: Fraction

    @property
    def recorded(self) -> Fraction:
        """The number of rows of the table as recorded whose value is known."""
        return self.rows * (1 - self.nulls)


def _vertices(assumed: Assumed, rows: Rows) -> Iterator[_Vertex]:
    skipped = assumed.moved.law is None
    for (clip, mean), nulls, (many, real) in product(assumed.points, set(assumed.nulls), rows.corners):
        prepared = many * (1 - nulls) if skipped else rows.prepared(many)
        yield _Vertex(clip, mean, nulls, many, prepared, Fraction(1) if skipped else real * (1 - nulls))


def _mean_off(_: Statistic, assumed: Assumed, rows: Rows) -> Off:
    """Known·clip + (1 − known)·(mean of the draws − mean)."""
    drawn = _drawn_mean(assumed)
    worst = max(abs(one.known * one.clip + (1 - one.known) * (drawn - one.mean)) for one in _vertices(assumed, rows))
    fewest = min(rows.prepared(many) for many, _ in rows.corners)
    draws = _draws(assumed, rows) / float(fewest) if fewest else 0.0
    return Off(float_up(worst), draws * _SLACK, float_up(assumed.nulls[1] * _width(assumed)))


def _sum_off(_: Statistic, assumed: Assumed, rows: Rows) -> Off:
    """The prepared rows times their mean, less the known rows times theirs."""
    drawn = _drawn_mean(assumed)
    worst = max(
        abs(one.prepared * (one.known * (one.mean + one.clip) + (1 - one.known) * drawn) - one.recorded * one.mean)
        for one in _vertices(assumed, rows)
    )
    return Off(float_up(worst), _draws(assumed, rows), float_up(assumed.nulls[1] * rows.most * _width(assumed)))


def _known_off(_: Statistic, assumed: Assumed, rows: Rows) -> Off:
    """Nulls that are filled are counted, and so are rows that are."""
    worst = max(abs(one.prepared - one.recorded) for one in _vertices(assumed, rows))
    return Off(float_up(worst), 0.0, float_up(assumed.nulls[1] * rows.most))


def _rank_off(one: Statistic, assumed: Assumed, rows: Rows) -> Off:
    """Values that are drawn move a rank by their number; a clamp moves it only where it cuts off the quantile itself."""
    orders = orders_of(one)
    drawn = Fraction(0) if assumed.moved.law is None else assumed.nulls[1] * max(max(q, 1 - q) for q in orders)
    beyond = max(max(assumed.above[1] - (1 - q), assumed.below[1] - q, Fraction(0)) for q in orders)
    return Off(float_up(rows.most * (drawn + beyond)), 0.0, 0.0)


_FORMS: Mapping[type, Callable[[Statistic, Assumed, Rows], Off]] = {
    Count: _known_off,
    Mean: _mean_off,
    Median: _rank_off,
    Quantiles: _rank_off,
    Sum: _sum_off,
}


def _drawn_mean(assumed: Assumed) -> Fraction:
    law = assumed.moved.law
    return Fraction(0) if law is None else law.mean


def _width(assumed: Assumed) -> Fraction:
    least, most = assumed.moved.bounds
    return most - least


def _draws(assumed: Assumed, rows: Rows) -> float:
    """What drawn values and sampled rows add to a sum by chance, at most, but with a probability of 1/40."""
    law, resize = assumed.moved.law, rows.resize
    if law is None:
        return 0.0
    nulls = float(assumed.nulls[1] * rows.most)
    if resize is None:
        return _of_law(law, nulls, 1.0, _CHANCE)
    sampled = max(float(real) for _, real in rows.corners) * resize.rows
    filled = (1 - min(float(real) for _, real in rows.corners)) * resize.rows
    # A value that is drawn for a null stands in all copies of its row.
    drawn = _of_law(law, resize.copies**2 * nulls + filled, float(resize.copies), _CHANCE / 3)
    return drawn + (0.0 if _takes_all(rows) else _of_sample(assumed, sampled))


def _takes_all(rows: Rows) -> bool:
    """True if every copy of every row is in the prepared table, whatever chance does."""
    resize = rows.resize
    return resize is None or (resize.rate == 1 and resize.copies * rows.most <= resize.rows)


def _of_sample(assumed: Assumed, sampled: float) -> float:
    """Sampled rows without replacement: at most what as many draws with replacement add (Hoeffding 1963, Theorem 4)."""
    low, high = assumed.moved.kept
    return float(high - low) * sqrt(sampled * log(2 / (_CHANCE / 3)) / 2) * _SLACK


def _of_law(law: DrawLaw, squares: float, most: float, chance: Fraction) -> float:
    """Σ fᵢ(Vᵢ − E V) for independent draws with Σ fᵢ² ≤ squares and |fᵢ| ≤ most: the less of Hoeffding's and Bernstein's."""
    hoeffding = float(law.high - law.low) * sqrt(squares * log(2 / chance) / 2)
    away = float(max(law.high - law.mean, law.mean - law.low))
    return min(hoeffding, _bernstein(squares * float(law.variance), most * away, chance)) * _SLACK


def _bernstein(variance: float, most: float, chance: Fraction) -> float:
    """A t with P(|sum| ≥ t) ≤ chance, for independent terms of mean 0, of this variance together, each at most `most`."""
    log_of = log(2 / chance)
    linear = most * log_of / 3
    return (linear + sqrt(linear**2 + 2 * variance * log_of)) * _SLACK


def known_rows(rows: int, nulls: Range) -> int:
    """The fewest rows of a group whose value is known, at least 1."""
    return max(1, floor(rows * (1 - nulls[1])))
