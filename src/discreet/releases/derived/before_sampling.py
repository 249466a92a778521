"""Numbers of the table before its rows were sampled, with certified intervals, from the release of the sample alone.

The interval of a release covers its noise. Here the error of the sample comes on top, by bounds that hold for every table:
W7 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf, log, sqrt
from typing import Any

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, exact
from discreet.releases.derived.certainty import check_confidence
from discreet.releases.derived.fieller import Interval
from discreet.releases.derived.groups import match
from discreet.releases.derived.linear import Linear
from discreet.releases.derived.operands import Numbers
from discreet.releases.derived.ratio import operand
from discreet.releases.derived.result import Derived, Figure, figure
from discreet.releases.document import Release

__all__ = ["before_sampling"]

_OF_NOISE = Fraction(1, 5)
"""The part of what may fail that the noise gets; the rest is for the error of the sample, which is mostly the larger one."""
_SLACK = 1e-9  # relative, outwards: far more than the rounding of the few operations below
_NOTE = (
    "The interval covers the noise and the error of the sample, by bounds that hold for every table. The same spend on all "
    "rows would have given a shorter one."
)


def before_sampling(sampled: Numbers | Release, *, over: Numbers | None = None, confidence: Amount = "0.95") -> Derived:
    """For each group the count or the sum of the table before its rows were sampled, or their quotient, a mean.

    Args:
        sampled: counts or sums of a release whose rows were sampled, such as `numbers(release, "sum_wage")`.
        over: the counts of the same release to divide sums by: the result is the mean.
        confidence: each interval holds the number of the table with at least this probability, noise and sample together.

    Raises:
        ArgumentError: no sampled rows, a private number of rows behind `sample(rows=…)`, other statistics than counts and
            sums, a sum of values of both signs that is not divided, or numbers of which only an interval is known.
    """
    level = check_confidence(confidence)
    top = operand(sampled, "sampled")
    design = _design(top)
    if over is not None:
        return _means(top, over, design, level)
    bound = _bound_of(top, design)
    figures = tuple(_figure(_linear(cell, top), bound, design, level) for cell in top.cells.values())
    words = f"{top}, for the table before its rows were sampled"
    columns = (("before", figures),)
    return Derived("before_sampling", words, top.keys, tuple(top.cells), columns, level, (top.source,), ((),), (_NOTE,))


def _design(numbers: Numbers) -> Mapping[str, Any]:
    design: Mapping[str, Any] | None = numbers.source.get("sample")
    if design is None:
        raise ArgumentError(
            f"{numbers}: its rows were not sampled, so its interval speaks of the prepared table already; give numbers of a "
            'release of table.sample("1/10")'
        )
    if design["rate"] is None:
        raise ArgumentError(
            f"{numbers}: nothing public says which part of the table was sampled, because its number of rows is private; "
            'sample at a rate, sample("1/10"), or declare ReplaceOne(rows=…)'
        )
    return design


def _linear(cell: object, numbers: Numbers) -> Linear:
    if not isinstance(cell, Linear):
        raise ArgumentError(f"{numbers}: only its interval is known, not the law of its noise; release a count or a sum")
    return cell


# Totals -------------------------------------------------------------------------------------------------------------------


def _bound_of(numbers: Numbers, design: Mapping[str, Any]) -> Fraction | None:
    """The value of largest size that a row adds; None for counts, to which it adds 1."""
    if numbers.quantity.statistic == "count":
        return None
    if numbers.quantity.statistic != "sum":
        raise ArgumentError(
            f"{numbers}: only counts and sums are estimated for the table before the sample; for a mean release the sum and "
            'the count of the column, and give before_sampling(numbers(release, "sum_…"), over=numbers(release, "count_…"))'
        )
    low, high = _ends_of(numbers, design)
    if low < 0 < high:
        raise ArgumentError(
            f"{numbers}: has values of both signs, so that no total is bounded by its own sample; clamp to values of one "
            "sign, or divide by a count, over=numbers(release, …)"
        )
    return low if low < 0 else high


def _ends_of(numbers: Numbers, design: Mapping[str, Any]) -> Interval:
    """The least and the greatest value that a row can add."""
    if "lower" not in design:
        raise ArgumentError(f"{numbers}: the bounds of its column are not known from the release; release a count or a sum")
    return exact(design["lower"], "lower"), exact(design["upper"], "upper")


def _figure(cell: Linear, bound: Fraction | None, design: Mapping[str, Any], level: Fraction) -> Figure:
    rate, failing = exact(design["rate"], "rate"), 1 - level
    half = cell.half_width(1 - _OF_NOISE * failing)
    ends = cell.value - half, cell.value + half
    budget = _log_up(2 / ((1 - _OF_NOISE) * failing))
    if bound is None:
        return figure(cell.value / rate, _count_before(ends, rate, budget, design["rows"]))
    return figure(cell.value / rate, _sum_before(ends, rate, budget, bound))


def _count_before(ends: Interval, rate: Fraction, budget: float, rows: int | None) -> Interval:
    """The numbers C of rows for which a sample within `ends` is not too unlikely: C·KL(k/C‖s) ≤ log(1/β) (Chernoff)."""
    least, most = (max(0.0, float(end)) for end in ends)
    s, rest = float(rate), float(1 - rate)  # the rest from the exact rate: it may be far smaller than a rounding of 1

    def cost(kept: float) -> Callable[[float], float]:
        return lambda size: _term(kept, size * s) + _term(size - kept, size * rest)

    high = _find_crossing(cost(most), most / s, budget, up=True)
    low = _find_crossing(cost(least), least / s, budget, up=False, stop=least) if least else 0.0
    return Fraction(low), Fraction(min(high, inf if rows is None else rows))


def _sum_before(ends: Interval, rate: Fraction, budget: float, bound: Fraction) -> Interval:
    """The totals for which the sample is not too unlikely: z log(z/μ) − z + μ ≤ log(1/β), both in units of `bound`."""
    if not bound:
        return Fraction(0), Fraction(0)
    least, most = sorted(max(0.0, float(end / bound)) for end in ends)

    def cost(kept: float) -> Callable[[float], float]:
        return lambda mean: _term(kept, mean) - kept + mean

    high = _find_crossing(cost(most), most, budget, up=True)
    low = _find_crossing(cost(least), least, budget, up=False, stop=0.0) if least else 0.0
    found = [bound / rate * Fraction(end) for end in (low, high)]
    return min(found), max(found)


def _term(kept: float, mean: float) -> float:
    """Kept · log(kept/mean), rounded downwards; 0 where nothing is kept, infinite where nothing can be."""
    if kept <= 0:
        return 0.0
    if mean <= 0:
        return inf
    found = kept * log(kept / mean)
    return found - 1e-15 * (abs(found) + kept)


def _find_crossing(cost: Callable[[float], float], start: float, budget: float, *, up: bool, stop: float = inf) -> float:
    """The end of where a convex cost that is 0 at `start` stays within the budget, above or below it, rounded outwards."""
    inside, step = start, max(1.0, start)
    outside = start + step if up else stop
    while up and cost(outside) <= budget:
        inside, step = outside, 2 * step
        outside = start + step
    for _ in range(200):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if cost(middle) <= budget else (inside, middle)
    return outside * (1 + _SLACK) if up else max(0.0, outside * (1 - _SLACK))


def _log_up(value: Fraction) -> float:
    return log(float(value)) * (1 + _SLACK)


# Means --------------------------------------------------------------------------------------------------------------------


def _means(top: Numbers, over: Numbers, design: Mapping[str, Any], level: Fraction) -> Derived:
    """Sums over counts: Σ(x − mean) over the sample is within Bernstein's bound of 0."""
    bottom = operand(over, "over")
    if (top.quantity.statistic, bottom.quantity.statistic) != ("sum", "count"):
        raise ArgumentError(f"over: {top} over {bottom} is not a mean; give a sum, and over= the count of its column")
    if top.quantity.column != bottom.quantity.column:
        raise ArgumentError(f"over: {bottom} has other rows than {top}; give the count of the same column, count_…")
    if top.source["digest"] != bottom.source["digest"]:
        raise ArgumentError("over: is of another release, which had another sample; give two columns of one release")
    matched = match(top, bottom, ("sampled", "over"))
    figures = tuple(
        _mean_figure(_linear(sums, top), _linear(counts, bottom), _ends_of(top, design), design, level)
        for _, sums, counts in matched.pairs
    )
    return Derived(
        "before_sampling",
        f"{top} over {bottom}, for the table before its rows were sampled",
        matched.keys,
        tuple(key for key, _, _ in matched.pairs),
        (("before", figures),),
        level,
        (top.source, bottom.source),
        (matched.second_only, matched.first_only),
        (_NOTE,),
    )


def _mean_figure(sums: Linear, counts: Linear, ends: Interval, design: Mapping[str, Any], level: Fraction) -> Figure:
    """{t : |S − tN| ≤ u} over the box of S and N, within the bounds of the column.

    A fifth of what may fail is for each of the two noises, a fifth for how many rows there are before the sample, and two
    for Bernstein's inequality.
    """
    failing, (low, high), rate = (1 - level) / 5, ends, exact(design["rate"], "rate")
    half_sum, half_count = sums.half_width(1 - failing), counts.half_width(1 - failing)
    kept = counts.value - half_count, counts.value + half_count
    _, size = _count_before(kept, rate, _log_up(1 / failing), design["rows"])
    spread = float(high - low)
    budget = _log_up(1 / failing)  # 2 exp(−budget) for both sides, of two fifths
    error = sqrt(2 * budget * float(rate * size) * spread**2 / 4) + spread * budget / 3
    whole = half_sum + Fraction(error * (1 + _SLACK))
    fewest, most = max(Fraction(0), kept[0]), max(Fraction(0), kept[1])
    middle = min(max(sums.value / max(counts.value, Fraction(1)), low), high)
    if fewest < 1:
        return figure(middle, (low, high))
    found = [end / n for end in (sums.value - whole, sums.value + whole) for n in (fewest, most)]
    return figure(middle, (min(max(min(found), low), middle), max(min(max(found), high), middle)))
