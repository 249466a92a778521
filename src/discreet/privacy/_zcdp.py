"""Certified scalar kernels of Theorem C1: ρ-zCDP (or one RDP order) to (ε, δ) and back, in doubles with an error bound.

With u = α − 1 > 0, L = log(1 + 1/u), M = log(1 + u) and l = log(1/δ), Theorem 1.3 of the zCDP notes reads
log δ(u) = u((u + 1)ρ − ε) − uL − M. It holds for *every* u > 0, so the root finders below are free to be approximate:
they only decide how tight the answer is. What makes it a bound is the single evaluation at the end, whose rounding
error is bounded beforehand and added on the safe side. See docs/proofs/privacy.md, T1, C1 and C2.

The one assumption: exp, log and log1p of the C library are within `_LIB`/2 = 2 units in the last place (measured: 0.7).
Arguments are doubles already checked to lie in the domain.
"""

from __future__ import annotations

from math import exp, hypot, inf, log, log1p, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.exact.balls import Ball

_ULP = 2.0**-53 * (1 + 1e-6)  # the excess over 2⁻⁵³ covers all products of two rounding errors
_LIB = 4
_TWO, _THREE = (0, 1), (0, 1, 2)
_U_MIN, _U_MAX = 1e-300, 1e165  # beyond these 1/u or u² leaves the range of doubles; every u inside is sound
_ERROR_L = _LIB + 4
_EXP_UP = 1 + 2.0**-50  # for exp, the product and the sum: `_LIB` + 2 units of 2⁻⁵³, and two to spare
SUM_UP = 1 + 2.0**-52  # for a product and a sum
TINY = 5e-324
CANCELLED = 100.0
EXPONENT_FLOOR = 760.0  # e^-760 is below the smallest positive double


def clamp_u(u: float) -> float:
    """`u` moved into the range in which the error bounds below hold; NaN becomes the lower end."""
    return min(u, _U_MAX) if u > _U_MIN else _U_MIN


def delta_root(rho: float, epsilon: float, d: float) -> float:
    """An approximation of the u that minimises δ, the root of 2ρu − L = d = ε − ρ."""
    # L ≥ 1/(u + 1/2) turns the equation into a quadratic whose root lies left of the true one.
    u = (epsilon + hypot(epsilon, sqrt(8 * rho))) / (4 * rho) - 0.5
    if u < 0.25:
        return _delta_root_small(rho, d, u)
    twice = 2 * rho
    for _ in _TWO:  # Halley's steps, relative to u so that nothing overflows
        ratio = u / (u + 1)
        value = u * (twice * u - log1p(1 / u) - d)
        slope = twice * u * u + ratio
        step = 2 * value * slope / (2 * slope * slope + value * ratio * (1 + ratio))
        u -= u * step
        if step > -4e-3:  # cubic convergence from the left: what is left is below 1e-7
            break
    return u


def _delta_root_small(rho: float, d: float, start: float) -> float:
    """The same root where u is small: w = 2ρu solves w + log w − log(1 + u) = d + log 2ρ, Lambert's equation nearly."""
    y = d + log(2 * rho)
    guess = y + log1p(max(start, 0.0))
    soft = log1p(exp(guess)) if guess < 700 else guess
    w = soft * (1 - log1p(soft) / (2 + soft))
    for _ in range(3):
        u = w / (2 * rho)
        w *= 1 - (w + log(w) - log1p(u) - y) / (1 + w - u / (1 + u))
    return w / (2 * rho)


def delta_at_order(u: float, d: float, rho: float) -> float:
    """An upper bound of δ at order 1 + u, d = ε − ρ with one rounding; (u, ε − τ, 0) is one RDP order."""
    growth = u * rho
    big_l = u * log1p(1 / u)
    big_m = log1p(u)
    centre = u * (growth - d)
    exponent = centre - big_l - big_m
    # One rounding in d and one in u·ρ; two in `centre`; 1/u, log1p and product in L; log1p in M; three sums. Where u is
    # an order α rounded in α − 1, that rounding replaces the roundings of u·ρ, and counts in L.
    error = u * (growth + abs(d)) + 3 * abs(centre) + _ERROR_L * big_l + _LIB * big_m + 2 * abs(exponent)
    top = exponent + _ULP * error
    if not top < 0:  # also when something overflowed, and when the exponent is not negative
        return 1.0
    result = exp(top) * _EXP_UP + 1e-323  # the sum covers the absolute error of results below the normal range
    return result if result < 1 else 1.0


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The smallest δ of Theorem C1, rounded up, for 0 ≤ ρ ≤ ∞ and 0 ≤ ε ≤ ∞."""
    if rho == 0 or epsilon == inf:
        return 0.0
    d = epsilon - rho  # one rounding; (2u + 1)ρ − ε would cancel
    if d <= -40:
        return 1.0
    if d > 0 and (d / rho) * (d / 4) > EXPONENT_FLOOR:
        return TINY  # u = d/2ρ gives δ ≤ exp(−d²/4ρ)
    if rho > 1e100:
        return 1.0  # neighbouring doubles ε are so far apart that only 0 and 1 occur
    u = delta_root(rho, epsilon, d)
    return delta_at_order(u if _U_MIN < u < _U_MAX else clamp_u(u), d, rho)


def epsilon_at_order(u: float, tau: float, l: float) -> float:  # noqa: E741 - the symbol of the theorem
    """An upper bound of ε at order 1 + u with divergence τ (two roundings allowed in τ), l = log(1/δ) rounded."""
    big_l = log1p(1 / u)
    big_m = log1p(u)
    slack = (l - big_m) / u
    value = tau + slack - big_l
    # Two roundings in τ; log and log1p, their difference and the quotient; u itself, for an order α rounded in
    # α − 1; 1/u and log1p in L; three sums.
    error = 3 * tau + _LIB * (l + big_m) / u + 4 * abs(slack) + _ERROR_L * big_l + 2 * abs(value)
    top = value + _ULP * error
    if top <= 0:
        return 0.0
    return top * SUM_UP + 1e-323 if top < inf else inf  # NaN, from an overflow, becomes inf


def epsilon_root(rho: float, delta: float, l: float) -> float:  # noqa: E741
    """An approximation of the u that minimises ε, the root of ρu² + log(1 + u) = l."""
    if rho > 1e300:
        return sqrt(l / rho)
    u = 2 * l / (1 + sqrt(1 + 4 * rho * l))  # left of the root, because log(1 + u) ≤ u
    if u > 0.5:
        room = l - log1p(sqrt(l / rho))  # ρu² at the root is a little more, and at least 1/2 where ε > 0
        u = sqrt((room if room > 0.5 else 0.5) / rho)
        if u * delta > 0.9:
            u = 0.9 / delta  # the root is left of 1/δ − 1
    for _ in _THREE:
        square = rho * u * u
        ratio = u / (u + 1)
        value = square + log1p(u) - l
        slope = 2 * square + ratio
        step = 2 * value * slope / (2 * slope * slope - value * (2 * square - ratio * ratio))
        if -2e-3 < step < 2e-3:
            return u - u * step
        u -= u * (step if step < 0.9 else 0.9)
    return u


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The smallest ε of Theorem C1, rounded up, for 0 ≤ ρ ≤ ∞ and 0 ≤ δ ≤ 1."""
    if rho == 0 or delta == 1:
        return 0.0
    if delta == 0 or rho == inf:
        return inf
    l = -log(delta)  # noqa: E741
    u = epsilon_root(rho, delta, l)
    if not _U_MIN < u < _U_MAX:
        u = clamp_u(u)
    bound = epsilon_at_order(u, rho + u * rho, l)
    # Where ε is the small difference of large terms the error bound is no longer below 1e-12 of it.
    return bound if not 0 < CANCELLED * bound * u < l else enclose_epsilon(rho, delta, u)


def enclose_epsilon(rho: float, delta: float, u: float) -> float:
    """The same bound at the same u by interval arithmetic."""
    from discreet.exact.balls import ball, enclose, upper

    def compute() -> Ball:
        at = ball(u)
        return (at + 1) * ball(rho) - (ball(delta).log() + at.log1p()) / at - (1 / at).log1p()

    return max(0.0, upper(enclose(compute)))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest ρ of Theorem C1, rounded down and verified with `zcdp_delta`, for 0 ≤ ε ≤ ∞ and 0 ≤ δ ≤ 1."""
    if epsilon == inf or delta == 1:
        return inf
    if delta == 0:
        return 0.0
    rho = _rho_lower(min(epsilon, 1e300), delta)  # beyond, the arithmetic overflows; ρ grows with ε
    step = 4 * _ULP
    while zcdp_delta(rho, epsilon) > delta:  # ends at the latest with ρ = 0
        rho = max(0.0, rho - step * rho - TINY)
        step *= 2
    return rho


def _rho_lower(epsilon: float, delta: float) -> float:
    l = -log(delta)  # noqa: E741
    u = clamp_u(_rho_root(epsilon, delta, l))
    big_l = log1p(1 / u)
    big_m = log1p(u)
    slack = (l - big_m) / u
    value = (epsilon + big_l - slack) / (u + 1)
    error = 2 * epsilon + _ERROR_L * big_l + _LIB * (l + big_m) / u + 4 * abs(slack)
    low = value - _ULP * error / (u + 1) - 5 * _ULP * abs(value)
    return low if 0 < low < inf else 0.0


def _rho_root(epsilon: float, delta: float, l: float) -> float:  # noqa: E741
    """An approximation of the u that maximises ρ, the root of (2u + 1)(l − M)/u² − L = ε."""
    ceiling = 1 / delta - 1 if delta > 1e-300 else 1e300  # l − M > 0 below it
    u = 0.6 * ceiling
    if epsilon > 0:
        u = min(u, sqrt(l) * (sqrt(l + epsilon) + sqrt(l)) / epsilon)
    u = clamp_u(u)
    for _ in range(40):
        room = l - log1p(u)
        if room <= 0:
            u *= 0.5
            continue
        value = (2 + 1 / u) * room - u * log1p(1 / u) - u * epsilon
        step = value / (2 * room * (u + 1) / u + 1)
        step = min(max(step, -0.6), 1.5)
        u = min(u * (1 + step), 0.5 * (u + ceiling))
        if abs(step) < 1e-7:
            break
    return u
