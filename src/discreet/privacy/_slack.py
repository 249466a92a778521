"""A δ beside a guarantee: the chance of an event that the guarantee says nothing about (docs/proofs/discovery.md).

For neighbours there are laws with P = δ₀B + (1 − δ₀)P̂ and Q = δ₀B′ + (1 − δ₀)Q̂ such that (P̂, Q̂) has the guarantee. So
δ(ε) = δ₀ + (1 − δ₀)·δ̂(ε), where δ̂ is of the guarantee alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, exact, float_up
from discreet.privacy._checks import check_delta

__all__ = ["delta_beside", "left_beside", "pair_of", "refuse_copies", "stated_beside"]


def delta_beside(slack: Fraction, delta: float) -> float:
    """δ₀ + (1 − δ₀)·δ̂, rounded up."""
    return min(1.0, float_up(slack + (1 - slack) * Fraction(delta)))


def left_beside(slack: Fraction, delta: Amount) -> Fraction:
    """The δ̂ that is left of a δ; negative where the δ is not even δ₀."""
    return (check_delta(delta) - slack) / (1 - slack)


def stated_beside(slack: Fraction, delta: Fraction) -> Fraction:
    """The δ at which ε is stated: as asked for, or twice δ₀ where that is more, but always below 1."""
    return max(delta, min(2 * slack, (1 + slack) / 2))


def pair_of(spend: object, whole: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """A pair as it is; of a single number the same share of the budget's δ.

    Raises:
        ArgumentError: neither a number nor a pair of numbers.
    """
    pair: list[Any] = list(spend) if isinstance(spend, Sequence) and not isinstance(spend, str) else [spend]
    if len(pair) not in (1, 2):
        raise ArgumentError(f"spend={printed(spend)}: must be an amount, or a pair of it and a delta")
    amount = exact(pair[0], "spend")
    return amount, exact(pair[1], "spend[1]") if len(pair) == 2 else min(delta * amount / whole, delta)


def refuse_copies(slack: Fraction, copies: int) -> None:
    """Checks that a guarantee with a δ beside it is asked for one record, or for at most one copy of it.

    Raises:
        ArgumentError: there is a δ, and several records or copies, for which no bound is known.
    """
    if slack and copies > 1:
        raise ArgumentError(
            "delta: a guarantee with a δ beside it has no known bound for several records, or copies of one, at once; "
            "spend without a δ, or budget with dp.ApproxDP"
        )
