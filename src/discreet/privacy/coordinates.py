"""Guarantees as the ledger sees them: coordinates that add, shares of a spend, and canonical JSON.

A ledger adds (ε), (ε, δ), (ρ) or (μ²): exact rationals, refused by plain comparison (Theorem M1).
RDP is no budget and has none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.errors import ArgumentError, did_you_mean
from discreet.exact.numbers import decimal_text, exact, sqrt_down, sqrt_up, text
from discreet.privacy.measures import GDP, RDP, ZCDP, ApproxDP, Measure, PureDP

__all__ = ["Budget", "coordinates", "from_coordinates", "from_json", "kind_name", "scale", "to_json"]

Budget = PureDP | ApproxDP | ZCDP | GDP

_NAMES: dict[type[Measure], str] = {PureDP: "pure-dp", ApproxDP: "approx-dp", ZCDP: "zcdp", GDP: "gdp", RDP: "rdp"}
_KINDS: dict[str, Any] = {name: kind for kind, name in _NAMES.items()}
_FIELDS = {
    "pure-dp": ("epsilon",),
    "approx-dp": ("epsilon", "delta"),
    "zcdp": ("rho",),
    "gdp": ("mu",),
    "rdp": ("curve",),
}


def kind_name(measure: Measure | type[Measure]) -> str:
    """The name of the measure in plans, ledgers and releases: "pure-dp", "approx-dp", "zcdp", "gdp" or "rdp"."""
    kind = measure if isinstance(measure, type) else type(measure)
    if kind not in _NAMES:
        raise ArgumentError(f"measure={kind.__name__}: must be PureDP, ApproxDP, ZCDP, GDP or RDP")
    return _NAMES[kind]


def coordinates(measure: Budget) -> tuple[Fraction, ...]:
    """The exact coordinates in which the measure adds: (ε,), (ε, δ), (ρ,) or (μ²,)."""
    match measure:
        case PureDP(epsilon=epsilon):
            return (epsilon,)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return (epsilon, delta)
        case ZCDP(rho=rho):
            return (rho,)
        case GDP(mu=mu):
            return (mu**2,)
    raise ArgumentError(f"measure={type(measure).__name__}: has no additive coordinates; use PureDP, ApproxDP, ZCDP or GDP")


def from_coordinates(kind: type[Budget], coordinates: tuple[Fraction, ...]) -> Budget:
    """The measure with these additive coordinates; for GDP the root is rounded up, a bound of the loss."""
    expected = 2 if kind is ApproxDP else 1
    if kind not in (PureDP, ApproxDP, ZCDP, GDP) or len(coordinates) != expected:
        raise ArgumentError(f"coordinates: {len(coordinates)} of them do not make a {getattr(kind, '__name__', kind)}")
    if any(value < 0 for value in coordinates):
        raise ArgumentError(f"coordinates={tuple(map(decimal_text, coordinates))}: must not be negative")
    if kind is GDP:
        return GDP(sqrt_up(coordinates[0]))
    if kind is ApproxDP:
        return ApproxDP(coordinates[0], coordinates[1])
    return ZCDP(coordinates[0]) if kind is ZCDP else PureDP(coordinates[0])


def scale(measure: Budget, share: Fraction) -> Budget:
    """The part `share` of the measure in its additive coordinates; for GDP rounded down, to cost at most that.

    Raises:
        ArgumentError: unless 0 ≤ share ≤ 1.
    """
    if not 0 <= share <= 1:
        raise ArgumentError(f"share={text(share)}: must lie between 0 and 1")
    parts = tuple(share * value for value in coordinates(measure))
    return GDP(sqrt_down(parts[0])) if isinstance(measure, GDP) else from_coordinates(type(measure), parts)


def to_json(measure: Measure) -> dict[str, Any]:
    """The canonical JSON object: {"kind": "zcdp", "rho": "0.5"}; equal measures give equal objects."""
    name = kind_name(measure)
    if isinstance(measure, RDP):
        return {"kind": name, "curve": [[text(order), text(tau)] for order, tau in measure.curve]}
    return {"kind": name, **{field: text(getattr(measure, field)) for field in _FIELDS[name]}}


def from_json(document: Any) -> Measure:
    """The measure that `to_json` wrote.

    Raises:
        ArgumentError: for another form, an unknown kind, missing or surplus fields, and numbers not written as text.
    """
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ArgumentError('measure: must be an object such as {"kind": "zcdp", "rho": "0.5"}')
    name = document["kind"]
    if name not in _KINDS:
        raise ArgumentError(f"measure: kind='{name}' is unknown{did_you_mean(name, _KINDS)}")
    wanted = _FIELDS[name]
    if set(document) != {"kind", *wanted}:
        raise ArgumentError(f"measure: a {name} has exactly the fields {', '.join(('kind', *wanted))}")
    if name == "rdp":
        return RDP(document["curve"])
    if not all(isinstance(document[field], str) for field in wanted):
        raise ArgumentError(f"measure: {', '.join(wanted)} must be written as text, to stay exact")
    measure: Measure = _KINDS[name](*(exact(document[field], field) for field in wanted))
    return measure
