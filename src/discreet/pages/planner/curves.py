"""How the errors of a request follow from one number: what one row is guaranteed, or what is spent.

Where every noise is plain, independent and of one scale, the half-widths are closed forms, and the page computes them:
Laplace noise of scale l/(ε f) has P(|Y| > w) = 2 e^(-(w+1)/scale)/(1 + e^(-1/scale)), rounded Gaussian noise of variance
l/(2ρf) or l/(μ²f) has P(|Y| > w) = erfc((w + 1/2)/√(2σ²)), where f is the share of the query. Everything else, which
depends on choices (trees, noise on a lattice, the better of two noises) or has no closed form (sums of two noises,
quantiles), is a table of quotes; between two of them the page takes the worse one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log10, sqrt
from statistics import NormalDist
from typing import Any

from discreet.cube.queries import LevelCounts
from discreet.errors import PlanError
from discreet.exact.figures import name
from discreet.exact.numbers import decimal_up, exact, float_up
from discreet.plan.plan import Plan
from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP
from discreet.quotes.allocate import quote, row_quote
from discreet.quotes.quote import Line, Measured, Quote, expected_error
from discreet.totals.beside import Beside

__all__ = ["ROWS", "Range", "curve_of_rows", "curve_of_spend"]

ROWS = 1000
"""The size of the group in which the errors of means, shares and variances are stated."""

_PER_DECADE = 16
_MOST_POINTS = 64
_CAREFUL = 1 + 1e-12

Row = PureDP | ZCDP | GDP
Curve = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Range:
    """The amounts that the page is made for, and those that have a quote of their own, without rounding."""

    low: float
    high: float
    own: tuple[float, ...]

    def points(self, per_decade: int) -> list[float]:
        """Ascending amounts of four digits between the ends, evenly by ratio, and the own ones."""
        decades = max(log10(self.high / self.low), 0.01)
        many = min(max(2, round(per_decade * decades)), _MOST_POINTS)
        ratio = (self.high / self.low) ** (1 / many)
        return sorted({*(float(f"{self.low * ratio**k:.4g}") for k in range(many + 1)), *self.own})


def curve_of_rows(plan: Plan, kind: type[Row], beside: Beside | None, amounts: Range) -> Curve:
    """The errors by the guarantee for one row of the table that is asked, in the measure `kind`.

    A request that is refused whatever is spent gives {"refused": why}.
    """
    try:
        top = row_quote(plan, kind(exact(amounts.high, "amount")), beside)
    except PlanError as refused:
        return {"refused": name(refused)}
    fixed = _fixed_shape(top)
    lines = [_closed(top, line, kind) if fixed else None for line in top.lines]
    needed = [line is None for line in lines]
    curve: Curve = {
        "queries": [_query(one, kind, top.joint) for one in top.measured],
        "lines": lines,
        "raise": [_raise(top, kind)],
    }
    if any(needed):
        curve |= _table(lambda x: row_quote(plan, kind(exact(x, "amount")), beside), amounts, needed, _PER_DECADE)
        curve["raise"] = [_raise(one, kind) if one else None for one in curve.pop("quotes")]
    return curve


def curve_of_spend(plan: Plan, spend: ApproxDP, beside: Beside | None, amounts: Range, *, per_decade: int) -> Curve:
    """The errors by the ε of a spend whose δ grows with ε; `advertised` is the ε that would be stated without the totals."""

    def quoted(epsilon: float) -> Quote:
        amount = exact(epsilon, "epsilon")
        return quote(plan, ApproxDP(amount, spend.delta * amount / spend.epsilon), beside)

    try:
        top = quoted(amounts.high)
    except PlanError as refused:
        return {"refused": name(refused)}
    curve: Curve = {"queries": [], "lines": [None] * len(top.lines)}
    curve |= _table(quoted, amounts, [True] * len(top.lines), per_decade)
    curve["advertised"] = [_epsilon_up(one) if one else None for one in curve.pop("quotes")]
    return curve


def _epsilon_up(one: Quote) -> float | None:
    pair = one.advertised.pair
    return None if pair is None else _finite(float_up(pair[0]))


def _table(quoted: Callable[[float], Quote], amounts: Range, needed: Sequence[bool], per_decade: int) -> Curve:
    """Quotes at the points of the range; None where a spend is too little for any noise."""
    at = amounts.points(per_decade)
    quotes: list[Quote | None] = []
    for amount in at:
        try:
            quotes.append(quoted(amount))
        except PlanError:
            quotes.append(None)
    errors = [
        [_finite(expected_error(one, one.lines[place], rows=ROWS)) if one else None for one in quotes] if wanted else None
        for place, wanted in enumerate(needed)
    ]
    return {"at": at, "errors": errors, "quotes": quotes}


def _finite(error: float) -> float | None:
    return _up(error) if isfinite(error) else None


def _up(value: float) -> float:
    """The value with nine digits, rounded up: shorter in the page. A short decimal stays as it is."""
    return float(decimal_up(exact(value, "value"), 9))


def _fixed_shape(top: Quote) -> bool:
    """Whether shares, sensitivities and levels are the same for every amount: no tree, whose shape follows the noise."""
    if any(isinstance(one.query, LevelCounts) for one in top.measured):
        return False
    return top.plan.intervals == "each" or all(map(_is_plain, top.measured))


def _is_plain(one: Measured) -> bool:
    return len(one.alternatives) == 1 and one.law.independent is not None


def _closed(top: Quote, line: Line, kind: type[Row]) -> Curve | None:
    """The closed form of a line's error, None where it has none."""
    form = line.recipe.form(top.noises(line), ROWS)
    places = {one.asked: place for place, one in enumerate(top.measured)}
    if form is None or not all(_is_plain(top.measured[places[query]]) for query, _ in form.terms):
        return None
    tail = float(1 - line.level)
    certain = tail if kind is PureDP else -NormalDist().inv_cdf(tail / 2) * _CAREFUL
    return {
        "terms": [[places[query], float(factor)] for query, factor in form.terms],
        "take": form.take,
        "root": form.root,
        "certain": certain,
    }


def _query(one: Measured, kind: type[Row], joint: Fraction) -> Curve:
    return {"size": float(kind.size(one.sensitivity)), "share": float(one.share / joint)}


def _raise(top: Quote, kind: type[Row]) -> float:
    """What a guarantee for semi-adjacent tables becomes for one replaced row, relative to it: rounded up."""
    total = Fraction(0)
    for one in top.measured:
        total += one.share * Fraction(kind.size(one.ordinary), kind.size(one.sensitivity))
    return (sqrt(total) if kind is GDP else float(total)) * _CAREFUL
