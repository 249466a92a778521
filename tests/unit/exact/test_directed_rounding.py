"""Every number that is rounded in a stated direction is rounded in that direction, on numbers that no double holds.

Whoever turns a direction round gives away privacy by the last digit only, which no test of a release can see; so each
function is asked by itself. It must also not be further off than it says, or rounding to 0 would do.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

import discreet as dp
from discreet.audit import bounds
from discreet.domain.row_samples import dyadic_below
from discreet.exact import balls, figures
from discreet.exact.numbers import decimal_up, exact, float_down, float_up, sqrt_down, sqrt_up
from discreet.pages.planner import curves
from discreet.privacy import GDP, ZCDP, _checks, _copies, _digits, _profiles, convert
from discreet.privacy._digits import digits_down, digits_up, show_up
from discreet.privacy.amounts import budget_down
from discreet.privacy.coordinates import coordinates, from_coordinates, scale
from discreet.quotes import space
from discreet.quotes.allocate import _part
from discreet.statistics.totals import values_apart

# Neither doubles nor short decimals; the nearest double of about half of them is above, of the others below.
AWKWARD = [
    *(Fraction(n, d) for d in (3, 7, 11, 13, 17, 19, 23, 29) for n in (1, 2, 5)),
    *(Fraction(1, 10) + Fraction(k, 10**20) for k in (-1, 1)),
    Fraction(10**17 + 1, 10**18),
    Fraction(1, 3 * 10**12),
]
SMALL = [value for value in AWKWARD if value < 1]


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def percent(written: str) -> Fraction:
    return Fraction(written.replace("\u00a0", " ").removesuffix(" %")) / 100


UP: dict[str, tuple[Callable[[Fraction], Any], float]] = {
    "float_up": (float_up, 1e-15),
    "decimal_up": (lambda value: Fraction(decimal_up(value)), 1e-4),
    "decimal_up of three digits": (lambda value: Fraction(decimal_up(value, 3)), 1e-1),
    "digits_up": (lambda value: digits_up(value, 12), 1e-10),
    "a percentage of the report": (lambda value: percent(figures.percent_up(value)), 1e10),
    "a percentage of an explanation": (lambda value: percent(_profiles.percent_up(float_up(value))), 1e10),
    "a long amount": (lambda value: Fraction(figures.amount(str(value + Fraction(1, 10**40))).removeprefix("≤ ")), 1e-4),
    "an argument of a conversion": (lambda value: convert._above(value, "epsilon"), 1e-15),
    "the upper end of a ball": (lambda value: balls.upper(ball(value)), 1e-14),
    "the upper end of a ball as a rational": (lambda value: balls.upper_rational(ball(value)), 1e-14),
    "the upper end of an enclosure": (lambda value: balls.enclosure(lambda: ball(value))[1], 1e-14),
    "a root": (lambda value: sqrt_up(value) ** 2, 1e-20),
    "a μ of coordinates": (lambda value: from_coordinates(GDP, (value,)).mu ** 2, 1e-20),
}
DOWN: dict[str, tuple[Callable[[Fraction], Any], float]] = {
    "float_down": (float_down, 1e-15),
    "digits_down": (lambda value: digits_down(value, 12), 1e-10),
    "a short amount": (lambda value: _digits.short_down(float_down(value)), 1e-14),
    "an ε to meet": (lambda value: _checks.target_down(value, Fraction(1, 10))[0], 1e-15),
    "a δ to meet": (lambda value: _checks.target_down(1, value)[1] if value < 1 else float_down(value), 1e-15),
    "an argument of a conversion": (lambda value: convert._below(value, "epsilon"), 1e-15),
    "the lower end of a ball": (lambda value: balls.lower(ball(value)), 1e-14),
    "the lower end of a ball as a rational": (lambda value: balls.lower_rational(ball(value)), 1e-14),
    "the lower end of an enclosure": (lambda value: balls.enclosure(lambda: ball(value))[0], 1e-14),
    "a root": (lambda value: sqrt_down(value) ** 2, 1e-20),
    "what is left of a budget": (lambda value: coordinates(budget_down(GDP(1), (value,)))[0], 1e-20),
    "a share of a μ": (lambda value: coordinates(_part(GDP(1), value))[0], 1e-20),
    "a part of a μ": (lambda value: coordinates(scale(GDP(1), value))[0] if value <= 1 else value, 1e-20),
    "the range for a ρ": (lambda value: ZCDP(value).choice_range(1, 1) ** 2 / 8, 1e-20),
    "the rate of a sample": (lambda value: dyadic_below(value) if value < 1 else value, 1e-6),
}


@pytest.mark.parametrize("name", UP)
def test_what_is_rounded_up_is_never_below(name: str) -> None:
    check(UP[name], sign=1)


@pytest.mark.parametrize("name", DOWN)
def test_what_is_rounded_down_is_never_above(name: str) -> None:
    check(DOWN[name], sign=-1)


def check(asked: tuple[Callable[[Fraction], Any], float], *, sign: int) -> None:
    function, off = asked
    moved = 0
    with ctx.workprec(200):
        for value in SMALL:
            found = Fraction(function(value))
            assert 0 <= sign * (found - value) <= value * Fraction(off)
            moved += found != value
    assert moved > 0.8 * len(SMALL)


@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 2 / 3, 1e-300, 123456.789])
def test_what_is_shown_of_a_bound_is_never_below_it_when_it_is_read_back(value: float) -> None:
    assert Fraction(repr(show_up(value))) >= Fraction(value)
    assert show_up(value) <= value * (1 + 1e-15)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 2 / 3, 1e-300, 123456.7891234, 5e20])
def test_a_number_of_the_planner_is_never_below_the_decimal_that_it_stands_for(value: float) -> None:
    assert exact(value, "value") <= exact(curves._up(value), "shown") <= exact(value, "value") * Fraction(10**8 + 1, 10**8)


@pytest.mark.parametrize("mu", ["0.1", "1", "3", "71"])
def test_the_range_for_a_mu_costs_no_more_than_the_mu(mu: str) -> None:
    """2·ln(Φ(m/2)/Φ(-m/2)) at 300 bits is never below what is taken."""
    with ctx.workprec(300):
        root = ball(Fraction(mu)) / (2 * arb(2).sqrt())
        truth = 2 * ((-root).erfc() / root.erfc()).log()
        found = ball(GDP(mu).choice_range(1, 1))
        assert found <= truth
        assert found > truth * 0.7


def test_bounds_in_steps_of_the_grid_are_rounded_outwards() -> None:
    schema = dp.Schema(v=dp.Number("-0.5", "2.5", 1))
    plan = dp.Table(schema, dp.ReplaceOne(rows=3)).agg(dp.sum("v", nulls="skip"))
    assert values_apart(plan.statistics[0], plan.facts) == (-1, 3)


# The account of copies --------------------------------------------------------------------------------------------------

COPIES = [
    (Fraction(1, 3), Fraction(2, 3)),
    (Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)),
    (Fraction(8, 27), Fraction(12, 27), Fraction(6, 27), Fraction(1, 27)),
]
LOSSES = [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(1, 10**6)]


def moment(law: tuple[Fraction, ...], value: Callable[[int], arb]) -> arb:
    return sum((ball(chance) * value(kept) for kept, chance in enumerate(law)), arb(0))


@pytest.mark.parametrize("epsilon", LOSSES, ids=str)
@pytest.mark.parametrize("law", COPIES, ids=len)
def test_an_amplified_loss_is_never_below_the_true_one(law: tuple[Fraction, ...], epsilon: Fraction) -> None:
    """Theorem R3, Y1: log E e^(εK), E(1 + … + e^((K-1)ε)) and the Rényi divergence, at 400 bits."""
    with ctx.workprec(400):
        truth = moment(law, lambda kept: (kept * ball(epsilon)).exp()).log()
        found = ball(_copies.epsilon_up(law, epsilon))
        assert truth <= found <= truth * (1 + ball(Fraction(1, 10**12)))
        factor = moment(law, lambda kept: sum(((i * ball(epsilon)).exp() for i in range(kept)), arb(0)))
        found = ball(_copies.delta_factor_up(law, epsilon))
        assert factor <= found * (1 + ball(Fraction(1, 10**80))) <= factor * (1 + ball(Fraction(1, 10**12)))
        order = Fraction(5, 2)
        for public, unit in ((True, (order - 1) * epsilon * order), (False, (order - 1) * epsilon)):
            log = moment(law, lambda kept, unit=unit: (kept * kept * ball(unit)).exp()).log()
            truth = log / ball(order - 1) * (1 if public else ball(order))
            found = ball(_copies.renyi_up(law, epsilon, order, public=public))
            assert truth <= found <= truth * (1 + ball(Fraction(1, 10**10)))


@pytest.mark.parametrize("target", LOSSES, ids=str)
@pytest.mark.parametrize("law", COPIES, ids=len)
def test_a_loss_of_the_sample_is_never_above_what_meets_the_target(law: tuple[Fraction, ...], target: Fraction) -> None:
    with ctx.workprec(400):
        found = _copies.functional_epsilon(law, target)
        reached = moment(law, lambda kept: (kept * ball(found)).exp()).log()
        assert reached <= ball(target) <= reached * (1 + ball(Fraction(1, 10**8)))
        delta = _copies.functional_delta(law, Fraction(1, 3), target / 10)
        assert delta * _copies.delta_factor_up(law, Fraction(1, 3)) <= target / 10


@pytest.mark.parametrize("squared", [2, 3, 5, 6, 7, 8, 10, 10**17 + 1])
def test_a_norm_that_a_user_is_told_is_never_below_its_root(squared: int, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = dp.Schema(g=dp.Category(["x", "y"]))
    monkeypatch.setattr(space, "_largest", lambda *_: space.Sensitivity(1, squared))
    found = Fraction(dp.Totals("g").sensitivity(schema, dp.count(), 2))
    assert squared <= found**2 <= squared * Fraction(10**15 + 1, 10**15)


def test_a_threshold_of_the_audit_lies_below_outputs_of_equal_likelihood() -> None:
    """By more than the last digits in which a statistic of the two differs, and by less than a step of the noise."""
    values = np.array([-5.0, 0.0, 1e-3, 2.0, 1e6])
    cuts = bounds.thresholds(values, values)
    assert (cuts < values - 1e-10 * (1 + np.abs(values))).all()
    assert (cuts > values - 1e-8 * (1 + np.abs(values))).all()
