"""Means of strata put together by the exact, public sizes of the strata: post-processing of a release.

W8 of docs/proofs/samples.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import ArgumentError, InternalError
from discreet.exact.numbers import Amount, sqrt_up, text
from discreet.releases.derived.certainty import box_of, check_confidence
from discreet.releases.derived.fieller import Interval
from discreet.releases.derived.groups import match
from discreet.releases.derived.linear import LEVEL, Linear
from discreet.releases.derived.operands import Numbers
from discreet.releases.derived.ratio import operand
from discreet.releases.derived.reading import Printed, Published
from discreet.releases.derived.result import Derived, figure
from discreet.releases.document import Release

__all__ = ["poststratified"]

_NOTE = "The interval covers the noise, for the weighted file. It does not cover which persons were drawn and answered."
_DRAWN_NOTE = (
    "The interval is approximate, for the population: it covers noise and draw as the release declares the draw, and takes "
    "the strata to be drawn independently of each other."
)


def poststratified(means: Numbers | Release, sizes: Numbers, *, confidence: Amount = "0.95") -> Derived:
    """The total Σ N·mean over all strata, and the mean of all, from a mean for each stratum and its exact public size N.

    Args:
        means: means or weighted means, one for each stratum; with intervals that hold together, `request.simultaneous()`, or
            intervals for the population, a column such as "weighted_mean_hours_population_poisson".
        sizes: the public size of each stratum, such as `constants("sizes.csv")`.
        confidence: the intervals hold the numbers of the weighted file with at least this probability; for the population it
            is 0.95, of all strata together, and approximate.

    Raises:
        ArgumentError: other statistics than means, sizes with noise or below 0, strata that only one side has, or intervals
            that do not hold together with this probability, or not with another one.
    """
    level = check_confidence(confidence)
    top, bottom = operand(means, "means"), operand(sizes, "sizes")
    if top.quantity.statistic not in {"mean", "weighted_mean"}:
        raise ArgumentError(f"means: {top} is not a mean; release a mean or a weighted mean for each stratum")
    matched = match(top, bottom, ("means", "sizes"))
    # The group of nulls is not a stratum: nobody knows its size.
    if any(None not in key for key in matched.first_only) or matched.second_only:
        raise ArgumentError("means, sizes: do not have the same strata; give a size for every stratum and none besides")
    counts = [_size(cell) for _, _, cell in matched.pairs]
    total = sum(counts, Fraction(0))
    if not total:
        raise ArgumentError("sizes: add up to 0; give the number of persons of each stratum")
    cells = [cell for _, cell, _ in matched.pairs]
    drawn = top.quantity.output.startswith("_population_")
    value = sum((size * cell.value for size, cell in zip(counts, cells, strict=True)), Fraction(0))
    low, high = _drawn_ends(value, counts, cells, level) if drawn else _certified_ends(counts, cells, level)
    return Derived(
        "poststratified",
        f"{top}, over strata of public sizes",
        (),
        ((),),
        (
            ("total", (figure(value, (low, high)),)),
            ("mean", (figure(value / total, (low / total, high / total)),)),
        ),
        level,
        (top.source, bottom.source),
        ((), ()),
        (_DRAWN_NOTE if drawn else _NOTE,),
    )


def _certified_ends(sizes: Sequence[Fraction], cells: Sequence[Published], level: Fraction) -> Interval:
    """The sums of the ends, between which the total lies wherever all intervals hold."""
    ends = box_of(cells, level)
    low, high = (sum((size * one[side] for size, one in zip(sizes, ends, strict=True)), Fraction(0)) for side in (0, 1))
    return low, high


def _drawn_ends(value: Fraction, sizes: Sequence[Fraction], cells: Sequence[Published], level: Fraction) -> Interval:
    """Errors of strata that are drawn independently add up as squares.

    Raises:
        ArgumentError: another confidence than that of the intervals.
    """
    if level != LEVEL:
        raise ArgumentError(f"confidence={text(level)}: intervals for the population hold with 0.95 each; leave it out")
    low, high = (
        sqrt_up(
            sum(((size * (one.value - end)) ** 2 for size, one, end in zip(sizes, cells, ends, strict=True)), Fraction(0))
        )
        for ends in ([_end(one, side) for one in cells] for side in ("low", "high"))
    )
    return value - low, value + high


def _end(cell: Published, side: str) -> Fraction:
    if not isinstance(cell, Printed):
        raise InternalError("a number for the population has a printed interval")
    return cell.low if side == "low" else cell.high


def _size(cell: object) -> Fraction:
    """The public size of a stratum."""
    if not isinstance(cell, Linear) or cell.terms or cell.value < 0:
        raise ArgumentError("sizes: must be exact public numbers of at least 0, such as constants({...})")
    return cell.value
