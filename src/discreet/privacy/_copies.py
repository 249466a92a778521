"""The law of K, the number of a person's copies in the sample, and the closed forms of Theorem R3 over it.

A law is a tuple of exact probabilities of 0, 1, …, most. Everything rounds up for a charge and down for what may
be spent; the inverses are verified with the forward functions.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, ball, enclose, lower_rational, upper_rational
from discreet.exact.numbers import text
from discreet.privacy._digits import digits_down, digits_up

Law = tuple[Fraction, ...]

_MOST_COPIES = 2_000
_DIGITS = 18  # of what is rounded: short texts, and less than a double loses
_ALMOST_ONE = Fraction(2**53 - 1, 2**53)
_LEAST = Fraction(1, 10**1000)  # no δ below it can be written down


def binomial(trials: int, rate: Fraction) -> Law:
    """The law of Binomial(trials, rate), without impossible values at the end: K of Theorem R2."""
    _check(trials)
    if rate == 0:
        return (Fraction(1),)
    return tuple(comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1))


def hypergeometric(population: int, marked: int, drawn: int) -> Law:
    """The law of the number of marked ones among `drawn` out of `population`, likewise: K of Theorem R1."""
    most = min(marked, drawn)
    _check(most)
    # P(K = k+1)/P(K = k) = (marked − k)(drawn − k)/((k + 1)(population − marked − drawn + k + 1)).
    least = max(0, marked + drawn - population)
    weights = [Fraction(0)] * least + [Fraction(1)]
    for k in range(least, most):
        odds = Fraction((marked - k) * (drawn - k), (k + 1) * (population - marked - drawn + k + 1))
        weights.append(weights[-1] * odds)
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def certain(copies: int) -> Law:
    """The law of a number that is `copies` for certain."""
    _check(copies)
    return (*(Fraction(0) for _ in range(copies)), Fraction(1))


def _check(most: int) -> None:
    if most > _MOST_COPIES:
        raise ArgumentError(
            f"proportion, group: up to {most} copies of the protected rows would be sampled; at most {_MOST_COPIES} "
            "are supported. Take a smaller proportion"
        )


def _moment_excess(law: Law, epsilon: Fraction) -> Ball:
    """E e^{εK} − 1, without cancellation."""
    total = ball(0)
    for k, weight in enumerate(law):
        if k and weight:
            total += ball(weight) * ball(k * epsilon).expm1()
    return total


def _log_moment(law: Law, epsilon: Fraction) -> Ball:
    """Log E e^{εK}; the factor e^{ε·most} is taken out where it would be too large to write down."""
    most = len(law) - 1
    if most * epsilon < 1000:
        return _moment_excess(law, epsilon).log1p()
    total = ball(0)
    for k, weight in enumerate(law):
        if weight:
            total += ball(weight) * ball((k - most) * epsilon).exp()
    return ball(most * epsilon) + total.log()


def epsilon_up(law: Law, epsilon: Fraction) -> Fraction:
    """Log E e^{εK}, rounded up to a rational; exact when K is constant. Theorem R3."""
    most = len(law) - 1
    if epsilon == 0 or most == 0:
        return Fraction(0)
    if law[most] == 1:
        return most * epsilon
    return min(digits_up(upper_rational(enclose(lambda: _log_moment(law, epsilon), 90), 80), _DIGITS), most * epsilon)


def delta_factor_up(law: Law, epsilon: Fraction) -> Fraction:
    """E (1 + e^ε + … + e^{(K−1)ε}) = (E e^{εK} − 1)/(e^ε − 1), rounded up; exact for ε = 0 and for K ≤ 1."""
    most = len(law) - 1
    if epsilon == 0 or most <= 1:
        return sum((k * weight for k, weight in enumerate(law)), start=Fraction(0))
    if most * epsilon > 10_000:
        return Fraction(2) ** 20_000  # no δ that can be written down survives it
    return upper_rational(enclose(lambda: _moment_excess(law, epsilon) / ball(epsilon).expm1(), 90), 80)


def functional_epsilon(law: Law, target: Fraction) -> Fraction:
    """The largest ε found with epsilon_up(law, ε) ≤ target: rounded down and verified."""
    most = len(law) - 1
    if target == 0 or most == 0:
        return target
    if law[most] == 1:
        return target / most
    # log E e^{εK} is a small difference of numbers near 1 where the target is small.
    bits = 128 + max(0, target.denominator.bit_length() - target.numerator.bit_length())
    root = lower_rational(enclose(lambda: _root(law, target), 60, bits), 80)
    shrink = Fraction(0)
    while epsilon_up(law, guess := digits_down(root * (1 - shrink), _DIGITS - 1)) > target:
        shrink = 2 * shrink + Fraction(1, 10**_DIGITS)
        if shrink >= 1:
            return target / most
    return guess


def _root(law: Law, target: Fraction) -> Ball:
    """The root of log E e^{εK} = target by Newton's method; convex and increasing, started right of it."""
    mean = sum((k * weight for k, weight in enumerate(law)), start=Fraction(0))
    most = len(law) - 1
    # Jensen: ε E K ≤ log E e^{εK}. And w_most e^{ε·most} ≤ E e^{εK}. Both give ends to the right of the root.
    at = ball(target / mean)
    if law[most]:
        other = (ball(target) - ball(law[most]).log()) / most
        at = at if at < other else other
    at = at.mid()
    for _ in range(200):
        top, first = ball(0), ball(0)
        for k, weight in enumerate(law):
            if weight:
                part = ball(weight) * ((k - most) * at).exp()
                top += part
                first += k * part
        step = ((most * at + top.log() - ball(target)) * top / first).mid()
        at = (at - step).mid()
        if abs(step) < abs(at) * 2.0**-80:
            break
    return at


def functional_delta(law: Law, epsilon: Fraction, target: Fraction) -> Fraction:
    """The largest δ < 1 with δ·delta_factor_up(law, epsilon) ≤ target, rounded down."""
    factor = delta_factor_up(law, epsilon)
    if factor == 0 or target == 0:
        return target
    share = target / factor
    return min(digits_down(share, _DIGITS), _ALMOST_ONE) if share > _LEAST else Fraction(0)


def renyi_up(law: Law, rho: Fraction, order: Fraction, *, public: bool) -> Fraction:
    """The Rényi divergence at this order for a ρ-zCDP mechanism on the sample, rounded up (Theorem Y1)."""
    if not order > 1:
        raise ArgumentError(f"order={text(order)}: every order must be greater than 1")
    most = len(law) - 1
    if rho == 0 or most == 0:
        return Fraction(0)
    unit = (order - 1) * rho * (order if public else 1)

    def compute() -> Ball:
        total = ball(0)
        for k, weight in enumerate(law):
            if weight:
                total += ball(weight) * ball((k * k - most * most) * unit).exp()
        whole = ball(most * most * unit) + total.log()
        return whole / ball(order - 1) * (1 if public else ball(order))

    # Never worse than without sampling.
    return min(upper_rational(enclose(compute)), order * most * most * rho)


__all__ = [
    "Law",
    "binomial",
    "certain",
    "delta_factor_up",
    "epsilon_up",
    "functional_delta",
    "functional_epsilon",
    "hypergeometric",
    "renyi_up",
]
