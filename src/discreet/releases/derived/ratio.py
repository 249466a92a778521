"""The ratio of two quantities: rates, weighted means, indices, shares of shares."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, exact, text
from discreet.releases.derived.certainty import check_confidence, ratio_interval
from discreet.releases.derived.groups import match
from discreet.releases.derived.operands import Numbers, numbers
from discreet.releases.derived.reading import Published
from discreet.releases.derived.result import Derived, Figure, figure
from discreet.releases.document import Release

__all__ = ["operand", "ratio", "ratio_figure"]


def ratio(over: Numbers | Release, under: Numbers | Release, *, per: Amount = 1, confidence: Amount = "0.95") -> Derived:
    """For each group `per` times one number over another, with an interval that needs no assumption about either.

    A sum over a sum is a weighted mean, a count over public constants a rate, a number over the number of one group
    (`numbers(…, at=…)`) an index, a count over its sum over other groups (`numbers(…, by=…)`) a share of a share. Where the
    interval of the denominator holds 0 the ratio is unbounded, and no number is given.

    Args:
        over: the numerator.
        under: the denominator, for the same groups or for fewer group columns.
        per: a factor, such as 1000 or 100.
        confidence: each interval holds the true ratio with at least this probability (Theorem D3).

    Raises:
        ArgumentError: operands that share no group, or printed intervals that do not reach the confidence together.
    """
    level, factor = check_confidence(confidence), exact(per, "per")
    if not factor > 0:
        raise ArgumentError(f"per={text(factor)}: must be greater than 0")
    top, bottom = operand(over, "over"), operand(under, "under")
    matched = match(top, bottom, ("over", "under"))
    figures = tuple(ratio_figure(first, second, level, factor) for _, first, second in matched.pairs)
    scale = "" if factor == 1 else f"{text(factor)} times "
    return Derived(
        "ratio",
        f"{scale}{top} over {bottom}",
        matched.keys,
        tuple(key for key, _, _ in matched.pairs),
        (("ratio", figures),),
        level,
        (top.source, bottom.source, {"per": text(factor), "words": "per"}),
        (matched.first_only, matched.second_only, ()),
    )


def ratio_figure(
    over: Published, under: Published, confidence: Fraction, factor: Fraction = Fraction(1), less: Fraction = Fraction(0)
) -> Figure:
    """Factor · (over/under - less) with its interval; nothing where that is unbounded."""
    ends = ratio_interval(over, under, confidence)
    if ends is None or under.value == 0:
        return figure(None, None)
    low, high = (factor * (end - less) for end in ends)
    return figure(factor * (over.value / under.value - less), (low, high))


def operand(given: object, name: str) -> Numbers:
    """The numbers that are meant; a release stands for its first column of numbers. Raises ArgumentError."""
    if isinstance(given, Release):
        return numbers(given)
    if not isinstance(given, Numbers):
        raise ArgumentError(f"{name}: must be numbers(release, 'statistic'), constants(…) or a Release")
    return given
