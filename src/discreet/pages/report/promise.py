"""The promise to every person, in words and figures: the compared tables, and the success of an attacker."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp

from discreet.domain.neighbours import find_relation, part_words
from discreet.exact.figures import amount, percent_up
from discreet.exact.numbers import decimal_up, text
from discreet.pages.words import Words
from discreet.privacy.coordinates import Budget, parameters
from discreet.releases.guarantee import Guarantee

__all__ = [
    "comparison_words",
    "detection_words",
    "epsilon_words",
    "figures_of",
    "measure_words",
    "others_words",
    "tables_words",
]

_FALSE_ALARMS = Fraction(1, 20)


def comparison_words(guarantee: Guarantee, words: Words) -> str:
    """The publications that the promise compares."""
    change = words.said(find_relation(guarantee.relation).compared)
    if guarantee.semi_adjacency is None:
        part = part_words(guarantee.relation)
        compared = words("report.guarantee.compare", change=change)
        return f"{compared} {words.said(part)}" if part else compared
    others = others_words(guarantee.semi_adjacency, words)
    if not others:
        return words("report.guarantee.compare_totals", change=change)
    return words("report.guarantee.compare_others", change=change, others=others)


def others_words(a: int, words: Words) -> str:
    """The further rows that change with the row of one person, so that the exact totals stay the same; empty for a = 1."""
    return words.many("report.guarantee.others", a - 1) if a > 1 else ""


def tables_words(a: int, words: Words) -> str:
    """The tables that a guarantee compares alongside exact totals."""
    return words("report.guarantee.tables", a=words.number(a), rows=words.many("report.guarantee.rows", a))


def detection_words(guarantee: Guarantee, words: Words) -> str:
    """The guarantee as a bound on an attacker's success."""
    alarms, power = (words.figures(percent_up(one)) for one in (_FALSE_ALARMS, _power(guarantee)))
    if guarantee.semi_adjacency is not None:
        tables = tables_words(guarantee.semi_adjacency, words)
        return words("report.guarantee.attack_totals", tables=tables, alarms=alarms, power=power)
    guess = words.said(find_relation(guarantee.relation).guess)
    return words("report.guarantee.attack", guess=guess, alarms=alarms, power=power)


def figures_of(guarantee: Guarantee, words: Words) -> tuple[tuple[str, str], ...]:
    """The guarantee in figures: as it was spent, as (ε, δ), and the tables for which it holds."""
    a = guarantee.semi_adjacency
    holds = words.said(find_relation(guarantee.relation).holds) if a is None else tables_words(a, words)
    return (
        (words("report.guarantee.guarantee"), measure_words(guarantee.effective, words)),
        (words("report.guarantee.pair"), epsilon_words(guarantee, words)),
        (words("report.guarantee.holds"), holds),
    )


def epsilon_words(guarantee: Guarantee, words: Words) -> str:
    """(ε, δ), both rounded up."""
    return words.figures(f"(ε = {decimal_up(guarantee.epsilon, 4)}, δ = {decimal_up(guarantee.report_delta)})")


def measure_words(measure: Budget, words: Words) -> str:
    """A guarantee with the name of its kind: "ρ = 0.5 (zero-concentrated DP)"; long amounts rounded up, "ρ ≤ …"."""
    amounts = ", ".join(_equal(symbol, value) for symbol, value in parameters(measure))
    return words.said(f"{amounts} ({measure.long_name})")


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
    largest = max(1, ceil(measure.epsilon_at(measure.reported_at(Fraction(1, 10**9)))))
    grid = [Fraction(k * min(largest, 50), 100) for k in range(101)]
    return [(float(at), measure.delta_at(at)) for at in grid]


def _power_at(epsilon: float, delta: float) -> float:
    if epsilon > 50:
        return 1.0
    alarms = float(_FALSE_ALARMS)
    return min(exp(epsilon) * alarms + delta, 1 - exp(-epsilon) * (1 - delta - alarms))
