"""The exact (ε, δ) profile of μ-GDP (Theorem G1), certified by interval arithmetic, and its two inverses.

δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = ½ (erfc a − e^ε erfc b) with a, b = (ε/μ ∓ μ/2)/√2, tails included. The two
inverses are found by Newton's method and then *verified*: what they return is the side on which `delta` itself, rounded
up, meets the target. Arguments are doubles already checked to lie in the domain.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import inf, isfinite, log, nextafter, pi, sqrt

from discreet.exact.balls import Ball, ball, enclose, pi_ball, upper
from discreet.exact.precision import ORDINARY_BITS, with_precision
from discreet.privacy import _zcdp

_MARGIN = 4 * 2.0**-53
_FAR = 57.0  # Φ(−57) < 1e-700: below every double
_STEPS = 300
_NEAR = 16  # doubles that are tried beyond the root that was found


def _place(mu: float, epsilon: float) -> int:
    """-1 when δ is below the smallest double, +1 when 1 − δ is, 0 otherwise. Never wrong by rounding."""
    low, high = epsilon / mu, mu / 2
    if low == inf:
        return -1
    distance = low - high
    if abs(distance) < _FAR and low < 1e10:
        return 0
    if abs(distance) < _MARGIN * low + 2 * _FAR:  # rounding may decide: use exact arithmetic
        exactly = Fraction(epsilon) / Fraction(mu) - Fraction(mu) / 2
        return 0 if abs(exactly) <= _FAR else (1 if exactly < 0 else -1)
    return 1 if distance < 0 else -1


def _parts(mu: float, epsilon: float) -> tuple[Ball, Ball]:
    """½ erfc a and ½ e^ε erfc b at the current precision."""
    m, e = ball(mu), ball(epsilon)
    root = ball(2).sqrt()
    near, far = (e / m - m / 2) / root, (e / m + m / 2) / root
    first = near.erfc() / 2
    if far < 1e6:
        return first, far.erfc() * e.exp() / 2
    # b² − a² = ε, hence e^ε erfc b = e^{-a²} erfcx b, and the asymptotic series of erfcx alternates.
    square = 1 / (far * far)
    low = 1 - square / 2
    scaled = low.union(low + 3 * square * square / 4) / (far * pi_ball().sqrt())
    return first, (-near * near).exp() * scaled / 2


def upper_tail(place: Ball) -> Ball:
    """P(Z ≥ place) of a standard normal Z, at the current precision."""
    return (place / ball(2).sqrt()).erfc() / 2


def profile(mu: float, epsilon: float) -> Ball:
    """An enclosure of δ(ε) with relative radius at most 2**-64, where `_place` says 0."""

    def compute() -> Ball:
        first, second = _parts(mu, epsilon)
        return first - second

    return enclose(compute)


def delta(mu: float, epsilon: float) -> float:
    """δ(ε) of μ-GDP, rounded up, for 0 ≤ μ ≤ ∞ and 0 ≤ ε ≤ ∞."""
    if mu == 0 or epsilon == inf:
        return 0.0
    if mu == inf:
        return 1.0
    place = _place(mu, epsilon)
    if place:
        return _zcdp.TINY if place < 0 else 1.0
    return min(upper(profile(mu, epsilon)), 1.0)


def epsilon(mu: float, delta_target: float) -> float:
    """The smallest ε of μ-GDP at δ, rounded up and verified, for 0 ≤ μ ≤ ∞ and 0 ≤ δ ≤ 1."""
    if mu == 0 or delta_target == 1:
        return 0.0
    if delta_target == 0 or mu == inf:
        return inf
    if delta(mu, 0.0) <= delta_target:
        return 0.0
    # Φ(−t) ≤ e^{-t²/2} puts the start right of the root, from where Newton's method on the concave log δ never leaves.
    start = mu * mu / 2 + mu * sqrt(-2 * log(delta_target))
    if not isfinite(start):
        return inf

    def step(at: float) -> float:
        value = profile(mu, at)
        return float((value * (value / ball(delta_target)).log() / _parts(mu, at)[1]).mid())

    guess = _newton(step, start, lambda at: _place(mu, at) == 0)
    return _verify(guess, inf, lambda at: delta(mu, at) <= delta_target)


def mu(epsilon_target: float, delta_target: float) -> float:
    """The largest μ that implies (ε, δ), rounded down and verified, for 0 ≤ ε ≤ ∞ and 0 ≤ δ ≤ 1."""
    if epsilon_target == inf or delta_target == 1:
        return inf
    if delta_target == 0:
        return 0.0
    # Both start values are left of the root: a Gaussian is μ²/2-zCDP, and δ(ε) ≤ δ(0) ≤ μ/√(2π).
    start = max(sqrt(2 * _zcdp.zcdp_rho(epsilon_target, delta_target)), sqrt(2 * pi) * delta_target)

    def step(at: float) -> float:
        value = profile(at, epsilon_target)
        m = ball(at)
        density = (-((ball(epsilon_target) / m - m / 2) ** 2) / 2).exp() / (2 * pi_ball()).sqrt()
        # In log μ, so that a start far to the left costs few steps.
        relative = (ball(delta_target) / value).log() * value / (density * m)
        return at * min(float(relative.mid()), 1.0)

    guess = _newton(step, start, lambda at: _place(at, epsilon_target) == 0)
    return _verify(guess, 0.0, lambda at: delta(at, epsilon_target) <= delta_target)


def _newton(step: Callable[[float], float], start: float, inside: Callable[[float], bool]) -> float:
    at = start
    for _ in range(_STEPS):
        if not inside(at):
            break
        change = with_precision(ORDINARY_BITS, partial(step, at))
        at += change
        if not abs(change) > 1e-15 * abs(at):
            break
    return at


def _verify(guess: float, safe: float, holds: Callable[[float], bool]) -> float:
    """An argument near `guess` for which `holds` is true, and the last one before it is not, unless `_NEAR` are skipped."""
    away = 0.0 if safe == inf else inf
    at, width = guess if guess > 0 else _zcdp.TINY, 2.0**-53  # NaN is not a guess
    while not holds(at):  # ends at the latest with `safe`
        at = nextafter(at * (1 + width if safe == inf else 1 - width), safe)
        width = min(2 * width, 0.5)
    for _ in range(_NEAR):
        nearer = nextafter(at, away)
        if not holds(nearer):
            break
        at = nearer
    return at
