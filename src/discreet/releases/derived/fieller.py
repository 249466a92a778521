"""The interval of a ratio by the law of its numerator less θ times its denominator, and over a box.

For numbers A = α + X and B = β + Y with linear noises, the set of all θ with |A - θB| ≤ q(θ), where q(θ) is the smallest
number with P(|X - θY| ≤ q(θ)) ≥ coverage, holds α/β with probability at least `coverage` (Theorem D3). Nothing is assumed
about B: no series, no normal law, no denominator far from 0. What is returned contains that set, and is None where the set
may be unbounded.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.releases.derived.linear import Linear

__all__ = ["Interval", "quotient_interval", "quotient_of_box"]

Interval = tuple[Fraction, Fraction]

_SPLITS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""Parts of the failing probability for the noise of the denominator alone. Every part encloses the same set."""

_CLEAR = 4
"""A denominator of this many widths is clearly not 0: the first part is then as good as any."""

_ROUNDS = 4


def quotient_interval(over: Linear, under: Linear, coverage: Fraction) -> Interval | None:
    """Ends that enclose the set of Theorem D3, so that they enclose the true ratio with probability ≥ `coverage`.

    None where no bound of the set was found: 0 is in the interval of the denominator.
    """
    if under.value < 0:
        over, under = over.times(Fraction(-1)), under.times(Fraction(-1))
    if not under.terms:
        return _over_constant(over, under.value, coverage)
    low: Fraction | None = None
    high: Fraction | None = None
    for split in _SPLITS:
        rest = split * (1 - coverage)
        width = under.half_width(1 - rest)
        if under.value <= width:
            continue
        half = _half_widths(over, under, coverage + rest)
        upper = _upper_end(over.value, under.value, width, half)
        lower = -_upper_end(-over.value, under.value, width, lambda theta, half=half: half(-theta))  # type: ignore[misc]
        low = lower if low is None else max(low, lower)
        high = upper if high is None else min(high, upper)
        if under.value >= _CLEAR * width:
            break
    return None if low is None or high is None else (low, high)


def _over_constant(over: Linear, under: Fraction, coverage: Fraction) -> Interval | None:
    if under == 0:
        return None
    half = over.half_width(coverage)
    return (over.value - half) / under, (over.value + half) / under


def _half_widths(over: Linear, under: Linear, coverage: Fraction) -> Callable[[Fraction], Fraction]:
    return lambda theta: over.plus(-theta, under).half_width(coverage)


def _upper_end(a: Fraction, b: Fraction, width: Fraction, half: Callable[[Fraction], Fraction]) -> Fraction:
    """A number that no θ of the set exceeds, for b > width.

    q(θ) ≤ half(t) + |θ - t|·width for every t (Lemma D4), so the set lies in {θ: θb - a ≤ half(t) + |θ - t|·width}, whose
    upper end is the root of an increasing function. Every t gives a bound; t near the end gives a close one.
    """
    theta = _round(a / b, Fraction(0))
    best = _root(a, b, width, theta, wide := half(theta))
    for _ in range(_ROUNDS):
        nearer = _round(best, wide / b)
        if nearer == theta:
            break
        theta = nearer
        best = min(best, _root(a, b, width, theta, wide := half(theta)))
    return best


def _root(a: Fraction, b: Fraction, width: Fraction, t: Fraction, half: Fraction) -> Fraction:
    """The θ with θb - a = half + |θ - t|·width, for b > width."""
    if t * b - a >= half:  # it is at most t
        return (a + half + t * width) / (b + width)
    return (a + half - t * width) / (b - width)


def _round(theta: Fraction, half: Fraction) -> Fraction:
    """θ on a grid that is coarse for an interval of ± half: any t serves, and groups then share the laws of sums."""
    size = max(abs(theta) / 128, half / 16)
    if size == 0:
        return theta
    step = Fraction(2) ** (size.numerator.bit_length() - size.denominator.bit_length())
    return round(theta / step) * step


def quotient_of_box(over: Interval, under: Interval) -> Interval | None:
    """The least and the greatest quotient over a box of numerators and denominators; None where 0 is a denominator."""
    if under[0] <= 0 <= under[1]:
        return None
    corners = [top / bottom for top in over for bottom in under]
    return min(corners), max(corners)
