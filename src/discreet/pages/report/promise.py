"""The promise to every person, in words and figures: the compared tables, and the success of an attacker."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp

from discreet.domain.neighbours import find_relation
from discreet.exact.figures import amount, number, percent_up
from discreet.exact.numbers import decimal_up, text
from discreet.privacy.coordinates import Budget, parameters
from discreet.releases.guarantee import Guarantee
from discreet.totals.words import compared_tables

__all__ = ["comparison_words", "detection_words", "epsilon_words", "figures_of", "measure_words", "others_words"]

_FALSE_ALARMS = Fraction(1, 20)


def comparison_words(guarantee: Guarantee) -> str:
    """The publications that the promise compares."""
    start = "Compare this publication with one in which any one person's data had been"
    compared = find_relation(guarantee.relation).compared
    if guarantee.semi_adjacency is None:
        return f"{start} {compared}."
    others = others_words(guarantee.semi_adjacency)
    return f"{start} {compared} that leaves the exact totals as they are{others and f', {others}'}."


def others_words(a: int) -> str:
    """The further rows that change with the row of one person, so that the exact totals stay the same; empty for a = 1."""
    if a == 1:
        return ""
    return "together with at most one other row" if a == 2 else f"together with at most {number(a - 1)} other rows"


def detection_words(guarantee: Guarantee) -> str:
    """The guarantee as a bound on an attacker's success."""
    if guarantee.semi_adjacency is not None:
        tables = compared_tables(guarantee.semi_adjacency)
        attacker = f"the exact totals and wants to find out from which of two {tables} the other numbers were made"
    else:
        attacker = f"the data of all others and wants to find out {find_relation(guarantee.relation).guess}"
    return (
        f"Somebody who knows {attacker}, and accepts a false alarm in {percent_up(_FALSE_ALARMS)} of cases, succeeds in at "
        f"most {percent_up(_power(guarantee))}; by mere guessing it would be {percent_up(_FALSE_ALARMS)}."
    )


def figures_of(guarantee: Guarantee) -> tuple[tuple[str, str], ...]:
    """The guarantee in figures: as it was spent, as (ε, δ), and the tables for which it holds."""
    holds = find_relation(guarantee.relation).holds
    if guarantee.semi_adjacency is not None:
        holds = compared_tables(guarantee.semi_adjacency)
    return (
        ("Guarantee", measure_words(guarantee.effective)),
        ("As (ε, δ)", epsilon_words(guarantee)),
        ("Holds for", holds),
    )


def epsilon_words(guarantee: Guarantee) -> str:
    """(ε, δ), both rounded up."""
    return f"(ε = {decimal_up(guarantee.epsilon, 4)}, δ = {decimal_up(guarantee.report_delta)})"


def measure_words(measure: Budget) -> str:
    """A guarantee with the name of its kind: "ρ = 0.5 (zero-concentrated DP)"; long amounts rounded up, "ρ ≤ …"."""
    amounts = ", ".join(_equal(symbol, value) for symbol, value in parameters(measure))
    return f"{amounts} ({measure.long_name})"


def _equal(symbol: str, value: Fraction) -> str:
    shown = amount(text(value))
    return f"{symbol} {shown}" if shown.startswith("≤") else f"{symbol} = {shown}"


def _power(guarantee: Guarantee) -> float:
    """An upper bound of the power of any test of level 5 % against one person's data.

    For every (ε, δ) that holds, power ≤ min(e^ε·α + δ, 1 − e^−ε·(1 − δ − α)); the least over a few of them is rounded up
    by more than the error of the doubles.
    """
    return min(1.0, min(_power_at(*pair) for pair in _pairs(guarantee.effective)) * (1 + 1e-9))


def _pairs(measure: Budget) -> list[tuple[float, float]]:
    if measure.pair is not None:
        epsilon, delta = measure.pair
        return [(float(epsilon), float(delta))]
    largest = max(1, ceil(measure.epsilon_at("1e-9")))
    grid = [Fraction(k * min(largest, 50), 100) for k in range(101)]
    return [(float(at), measure.delta_at(at)) for at in grid]


def _power_at(epsilon: float, delta: float) -> float:
    if epsilon > 50:
        return 1.0
    alarms = float(_FALSE_ALARMS)
    return min(exp(epsilon) * alarms + delta, 1 - exp(-epsilon) * (1 - delta - alarms))
