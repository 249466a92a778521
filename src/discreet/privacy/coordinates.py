"""Guarantees as the ledger sees them: coordinates that add, shares of a spend, and canonical JSON.

A ledger adds (ε), (ε, δ), (ρ) or (μ²): exact rationals, refused by plain comparison (Theorem M1).
RDP is not a budget and has none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from discreet.errors import ArgumentError
from discreet.exact.numbers import decimal_text, sqrt_down, sqrt_up, text
from discreet.privacy.base import SpentMeasure
from discreet.privacy.measures import Budget, Measure, budgets, find_measure, is_budget

__all__ = [
    "Budget",
    "amount_of",
    "coordinates",
    "from_coordinates",
    "from_json",
    "kind_name",
    "parameters",
    "scale",
    "to_json",
]


def kind_name(measure: Measure | type[Measure]) -> str:
    """The name of the measure in plans, ledgers and releases: "pure-dp", "approx-dp", "zcdp", "gdp" or "rdp"."""
    kind = measure if isinstance(measure, type) else type(measure)
    word = getattr(kind, "word", None)
    if word is None or find_measure(word) is not kind:
        raise ArgumentError(f"measure={kind.__name__}: must be PureDP, ApproxDP, ZCDP, GDP or RDP")
    return str(word)


def coordinates(measure: Budget) -> tuple[Fraction, ...]:
    """The exact coordinates in which the measure adds: (ε,), (ε, δ), (ρ,) or (μ²,)."""
    if is_budget(measure):
        return measure.coordinates
    raise ArgumentError(f"measure={type(measure).__name__}: has no additive coordinates; use PureDP, ApproxDP, ZCDP or GDP")


def from_coordinates(kind: type[Budget], coordinates: tuple[Fraction, ...]) -> Budget:
    """The measure with these additive coordinates; for GDP the root is rounded up, a bound of the loss."""
    if kind not in budgets() or len(coordinates) != len(kind.fields):
        raise ArgumentError(f"coordinates: {len(coordinates)} of them do not make a {getattr(kind, '__name__', kind)}")
    if any(value < 0 for value in coordinates):
        raise ArgumentError(f"coordinates={tuple(map(decimal_text, coordinates))}: must not be negative")
    return kind.of_coordinates(coordinates, sqrt_up)


def scale(measure: Budget, share: Fraction) -> Budget:
    """The part `share` of the measure in its additive coordinates; for GDP rounded down, to cost at most that.

    Raises:
        ArgumentError: unless 0 ≤ share ≤ 1.
    """
    if not 0 <= share <= 1:
        raise ArgumentError(f"share={text(share)}: must lie between 0 and 1")
    return type(measure).of_coordinates([share * value for value in coordinates(measure)], sqrt_down)


def parameters(measure: SpentMeasure) -> tuple[tuple[str, Fraction], ...]:
    """The parameters, each with its symbol: (("ε", ε), ("δ", δ))."""
    return tuple((symbol, getattr(measure, field)) for symbol, field in zip(measure.symbols, measure.fields, strict=True))


def amount_of(measure: SpentMeasure) -> Fraction:
    """The first parameter, in which a spend is stated: ε, ρ or μ."""
    return parameters(measure)[0][1]


def to_json(measure: Measure) -> dict[str, Any]:
    """The canonical JSON object: {"kind": "zcdp", "rho": "0.5"}; equal measures give equal objects."""
    return {"kind": kind_name(measure), **measure.to_json()}


def from_json(document: Any) -> Measure:
    """The measure that `to_json` wrote.

    Raises:
        ArgumentError: for another form, an unknown kind, missing or surplus fields, and numbers not written as text.
    """
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ArgumentError('measure: must be an object such as {"kind": "zcdp", "rho": "0.5"}')
    kind = find_measure(document["kind"])
    if set(document) != {"kind", *kind.fields}:
        raise ArgumentError(f"measure: a {kind.word} has exactly the fields {', '.join(('kind', *kind.fields))}")
    return cast("Measure", kind.read(document))
