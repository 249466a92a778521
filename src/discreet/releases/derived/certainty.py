"""Intervals of a ratio and of a difference of two published numbers, at a confidence that is proved for both together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, exact, text
from discreet.releases.derived.fieller import Interval, quotient_interval, quotient_of_box
from discreet.releases.derived.linear import LEVEL, Linear
from discreet.releases.derived.reading import Printed, Published

__all__ = ["box_of", "check_confidence", "difference_interval", "ratio_interval"]


def check_confidence(confidence: Amount) -> Fraction:
    """The probability with which each interval holds. Raises ArgumentError."""
    level = exact(confidence, "confidence")
    if not 0 < level < 1:
        raise ArgumentError(f"confidence={printed(confidence)}: must lie strictly between 0 and 1, such as 0.95")
    return level


def ratio_interval(over: Published, under: Published, confidence: Fraction) -> Interval | None:
    """Ends that enclose the true ratio with probability ≥ `confidence` wherever it exists; None where none were found.

    Raises:
        ArgumentError: printed intervals that do not hold together with that probability.
    """
    if isinstance(over, Linear) and isinstance(under, Linear):
        return quotient_interval(over, under, confidence)
    return quotient_of_box(*box_of([over, under], confidence))


def difference_interval(after: Published, before: Published, confidence: Fraction) -> Interval:
    """Ends that enclose the true difference with probability ≥ `confidence`.

    Raises:
        ArgumentError: printed intervals that do not hold together with that probability.
    """
    if isinstance(after, Linear) and isinstance(before, Linear):
        apart = after.plus(Fraction(-1), before)
        half = apart.half_width(confidence)
        return apart.value - half, apart.value + half
    late, early = box_of([after, before], confidence)
    return late[0] - early[1], late[1] - early[0]


def box_of(ones: Sequence[Published], confidence: Fraction) -> list[Interval]:
    """Intervals that hold together with probability ≥ `confidence` (Boole's inequality).

    A printed interval fails with probability at most 5 %, all intervals of one statement together; the linear numbers share
    what is left.
    """
    statements = {one.statement for one in ones if isinstance(one, Printed)}
    noisy = sum(isinstance(one, Linear) and bool(one.terms) for one in ones)
    left = 1 - confidence - len(statements) * (1 - LEVEL)
    if left < 0 or (noisy and not left > 0):
        most = 1 - (len(statements) + 1 * (noisy > 0)) * (1 - LEVEL)
        raise ArgumentError(
            f"confidence={text(confidence)}: only the printed intervals of these numbers are known, each with 95 %; "
            f"together they allow confidence={text(most)}; or ask the releases for simultaneous() intervals"
        )
    return [_ends(one, left / max(1, noisy)) for one in ones]


def _ends(one: Published, failing: Fraction) -> Interval:
    if isinstance(one, Printed):
        return one.low, one.high
    half = one.half_width(1 - failing) if one.terms else Fraction(0)
    return one.value - half, one.value + half
