"""Means of strata put together by the exact, public sizes of the strata: post-processing of a release.

W8 of docs/proofs/samples.md.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount
from discreet.releases.derived.certainty import box_of, check_confidence
from discreet.releases.derived.groups import match
from discreet.releases.derived.linear import Linear
from discreet.releases.derived.operands import Numbers
from discreet.releases.derived.ratio import operand
from discreet.releases.derived.result import Derived, figure
from discreet.releases.document import Release

__all__ = ["poststratified"]

_NOTE = "The interval covers the noise, for the weighted file. It does not cover which persons were drawn and answered."


def poststratified(means: Numbers | Release, sizes: Numbers, *, confidence: Amount = "0.95") -> Derived:
    """The total Σ N·mean over all strata, and the mean of all, from a mean for each stratum and its exact public size N.

    Args:
        means: means or weighted means, one for each stratum; with intervals that hold together, `request.simultaneous()`.
        sizes: the public size of each stratum, such as `constants("sizes.csv")`.
        confidence: the intervals hold the numbers of the weighted file with at least this probability.

    Raises:
        ArgumentError: other statistics than means, sizes with noise or below 0, strata that only one side has, or intervals
            that do not hold together with this probability.
    """
    level = check_confidence(confidence)
    top, bottom = operand(means, "means"), operand(sizes, "sizes")
    if top.quantity.statistic not in {"mean", "weighted_mean"}:
        raise ArgumentError(f"means: {top} is not a mean; release a mean or a weighted mean for each stratum")
    matched = match(top, bottom, ("means", "sizes"))
    # The group of nulls is no stratum: nobody knows its size.
    if any(None not in key for key in matched.first_only) or matched.second_only:
        raise ArgumentError("means, sizes: do not have the same strata; give a size for every stratum and none besides")
    counts = [_size(cell) for _, _, cell in matched.pairs]
    total = sum(counts, Fraction(0))
    if not total:
        raise ArgumentError("sizes: add up to 0; give the number of persons of each stratum")
    ends = box_of([cell for _, cell, _ in matched.pairs], level)
    parts = zip(counts, [cell.value for _, cell, _ in matched.pairs], ends, strict=True)
    found = [(size * value, size * low, size * high) for size, value, (low, high) in parts]
    value, low, high = (sum(column, Fraction(0)) for column in zip(*found, strict=True))
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
        (_NOTE,),
    )


def _size(cell: object) -> Fraction:
    """The public size of a stratum."""
    if not isinstance(cell, Linear) or cell.terms or cell.value < 0:
        raise ArgumentError("sizes: must be exact public numbers of at least 0, such as constants({...})")
    return cell.value
