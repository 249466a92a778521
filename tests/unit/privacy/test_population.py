"""The guarantee for a population: one conversion of the total, never below the truth and not far above it."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import pytest

from discreet.errors import ArgumentError
from discreet.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.population import PopulationGuarantee, for_file


# The truth to twelve digits, computed with 50 digits: log(1 + s(e^ε − 1)), ε of the file at δ/s.
@pytest.mark.parametrize(
    ("total", "rate", "true"),
    [
        (PureDP(1), "1/100", 0.0170368632362),
        (PureDP(1), "1/10", 0.158565078740),
        (PureDP(2), "1/10", 0.494028708044),
        (ZCDP("0.1"), "1/100", 0.04157),
        (ZCDP("0.1"), "1/10", 0.456),
        (ZCDP("0.1"), 1, 2.142),
    ],
)
def test_known_values(total: PureDP | ZCDP, rate: str, true: float) -> None:
    found, _ = PopulationGuarantee(total, rate).pair("1e-6")
    close = 1e-11 if isinstance(total, PureDP) else 1e-3
    assert abs(found - true) <= close * true


def test_a_pure_total_is_never_below_the_truth() -> None:
    epsilon, delta = PopulationGuarantee(PureDP(1), "1/100").pair("1e-6")
    assert 0.017036863236176549786 <= epsilon <= 0.017036863236176555
    assert delta == 0


def test_an_approximate_total_has_its_own_delta() -> None:
    epsilon, delta = PopulationGuarantee(ApproxDP(1, "1e-6"), "1/10").pair("1e-9")
    assert epsilon == PopulationGuarantee(PureDP(1), "1/10").pair("1e-9")[0]
    assert delta == Fraction(1, 10**7)


@pytest.mark.parametrize("total", [PureDP(1), ApproxDP(1, "1e-6"), ZCDP("0.1"), GDP("0.4")])
def test_a_draw_of_everybody_changes_nothing(total: Any) -> None:
    whole = PopulationGuarantee(total, 1)
    delta = total.pair[1] if total.pair else Fraction(1, 10**6)
    assert whole.pair("1e-6") == (pytest.approx(total.epsilon_at(delta), rel=1e-12), delta)


@pytest.mark.parametrize("total", [PureDP(3), ApproxDP(3, "1e-6"), ZCDP("0.5"), GDP("1.2")])
def test_the_profile_and_its_inverse_agree(total: Any) -> None:
    seen = PopulationGuarantee(total, "1/20")
    epsilon = seen.epsilon_at("1e-5")
    assert 0 < epsilon < total.epsilon_at("1e-5")
    assert 0.999e-5 < seen.delta_at(epsilon) <= 1.000001e-5


def test_a_total_of_everything_promises_nothing() -> None:
    assert PopulationGuarantee(ApproxDP(1, "1e-6"), "1/10").epsilon_at("1e-8") == inf


@pytest.mark.parametrize("rate", ["1/100", "1/7", "1/2", 1])
@pytest.mark.parametrize("target", [PureDP("0.01"), PureDP(1), PureDP(20), ApproxDP(1, "1e-9")])
def test_a_budget_for_the_population_is_verified(target: Any, rate: Any) -> None:
    found = for_file(target, rate)
    back = PopulationGuarantee(found, rate).pair("1e-9")
    assert 0.999999999 * float(target.epsilon) <= back[0] <= float(target.epsilon) * (1 + 1e-15)
    assert found.through((1 - Fraction(rate), Fraction(rate))).epsilon <= target.epsilon
    assert 0.999 * target.pair[1] <= back[1] <= target.pair[1]


def test_known_budgets() -> None:
    assert (
        Fraction("5.15229793824444") < for_file(PureDP(1), "1/100").epsilon < Fraction("5.152297938244454705")
    )  # log(1 + 100(e − 1))
    assert for_file(ApproxDP(1, "1e-9"), "1/100").delta == Fraction(1, 10**7)


@pytest.mark.parametrize("rate", [0, "-1/2", "1.5", "x", None, True])
def test_a_rate_outside_its_range_is_refused(rate: Any) -> None:
    for make in (PopulationGuarantee, for_file):
        with pytest.raises(ArgumentError, match="rate"):
            make(PureDP(1), rate)


def test_what_is_no_budget_is_refused() -> None:
    with pytest.raises(ArgumentError, match="total=RDP: must be PureDP, ApproxDP, ZCDP or GDP"):
        PopulationGuarantee(RDP([(2, 1)]), "1/2")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="target=ZCDP: must be PureDP or ApproxDP: a population has no ρ"):
        for_file(ZCDP(1), "1/2")
