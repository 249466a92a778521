"""The exact implications of (ε, δ)-DP at other ε' and δ' (Theorem P1), and the wording of the guarantees.

The worst (ε, δ)-DP mechanism (Kairouz, Oh and Viswanath 2015) reveals everything with probability δ and otherwise answers
like randomised response; its profile is δ + (1 − δ)(e^ε − e^ε')⁺/(1 + e^ε), and every other one lies below.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.exact.balls import ball, enclose, upper, upper_rational
from discreet.exact.numbers import decimal_up, float_up
from discreet.exact.precision import with_precision
from discreet.privacy._digits import show_up

_BITS = 256


def approx_delta(epsilon: Fraction, delta: Fraction, at: Fraction) -> float:
    """The smallest δ' such that every (ε, δ)-DP mechanism is (at, δ')-DP, rounded up."""
    if at >= epsilon:
        return show_up(float_up(delta), delta)
    # (e^ε − e^ε')/(1 + e^ε) = (1 − e^(ε'−ε))/(1 + e^(−ε)), which cannot overflow.
    result = enclose(
        lambda: ball(delta) - ball(1 - delta) * ball(at - epsilon).expm1() / (1 + ball(-epsilon).exp()),
    )
    return show_up(min(upper(result), 1.0))


def approx_epsilon(epsilon: Fraction, delta: Fraction, at: Fraction) -> float:
    """The smallest ε' such that every (ε, δ)-DP mechanism is (ε', at)-DP, rounded up; ∞ when at < δ."""
    if at < delta:
        return math.inf
    if at == delta:
        return show_up(float_up(epsilon), epsilon)
    result = with_precision(_BITS, lambda: _epsilon_left(epsilon, (at - delta) / (1 - delta)))
    return show_up(min(max(0.0, result), float_up(epsilon)))


def _epsilon_left(epsilon: Fraction, share: Fraction) -> float:
    """ε + log(1 − share·(1 + e^(−ε))), rounded up: the argument of the logarithm is, and the logarithm increases."""
    inside = (1 - ball(share) * (1 + ball(-epsilon).exp())).upper()
    return upper(ball(epsilon) + inside.log()) if inside > 0 else 0.0


def group_factor(epsilon: Fraction, a: int) -> Fraction:
    """1 + e^ε + … + e^((a−1)ε), rounded up to a rational; exact for ε = 0 and for a = 1. Theorem M2."""
    if epsilon == 0 or a == 1:
        return Fraction(a)
    if a * epsilon > 10_000:
        return Fraction(2) ** 20_000  # no δ that can be written down survives it
    return upper_rational(enclose(lambda: ball(a * epsilon).expm1() / ball(epsilon).expm1()))


def exp_text(epsilon: Fraction | float) -> str:
    """e^ε for people, three significant digits, never below the truth."""
    if epsilon > 30:
        return f"e^{decimal_up(epsilon, 4)}"
    # exp is within two units in the last place.
    return decimal_up(math.exp(float_up(Fraction(epsilon))) * (1 + 1e-15), 3) if epsilon else "1"


def factor_text(epsilon: Fraction) -> str:
    """The bound of pure ε on probabilities, the beginning of a sentence."""
    return (
        "Whatever is concluded from the results, one record changes its probability by a factor of at most "
        f"{exp_text(epsilon)} (ε = {decimal_up(epsilon)})"
    )


def percent_up(value: float) -> str:
    """A share in percent for people, never below the truth."""
    return f"{math.ceil(Fraction(min(value, 1.0)) * 1000) / 10:g} %"


def in_a_million(epsilon: float) -> str:
    """The meaning of an ε that holds up to δ = 1e-6, in words."""
    if epsilon == math.inf:
        return "no bound of any use follows at a chance of one in a million (δ = 1e-6)."
    return (
        f"up to a chance of one in a million (δ = 1e-6) it changes a probability by a factor of at most "
        f"{exp_text(epsilon)} (ε = {decimal_up(epsilon, 4)})."
    )
