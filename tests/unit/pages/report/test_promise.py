from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import pytest

import discreet as dp
from discreet.pages.report import promise
from discreet.pages.words import english
from discreet.releases.guarantee import Guarantee


def stated(measure, relation="add-remove", **beside):
    delta = measure.delta if isinstance(measure, dp.ApproxDP) else Fraction(1, 10**9)
    return Guarantee(measure, relation, 1, delta, measure.epsilon_at(delta), **beside)


@pytest.mark.parametrize("mu", ["0.1", "0.5", "1", "3"])
def test_the_detection_bound_holds_for_the_gaussian_and_is_tight(mu):
    truth = NormalDist().cdf(NormalDist().inv_cdf(0.05) + float(mu))
    assert truth <= promise._power(stated(dp.GDP(mu))) <= truth + 0.03
    assert truth <= promise._power(stated(dp.ZCDP(Fraction(mu) ** 2 / 2))) <= truth + 0.15


@pytest.mark.parametrize(
    ("measure", "bound"),
    [
        (dp.PureDP(1), 0.05 * 2.718281828459045),
        (dp.ApproxDP(1, "0.01"), 0.05 * 2.718281828459045 + 0.01),
        (dp.PureDP(5), 1 - 0.95 * 0.006737946999085467),
        (dp.PureDP(100), 1.0),
        (dp.ZCDP(1000), 1.0),
        (dp.PureDP("1e-400"), 0.05),
    ],
)
def test_the_detection_bound_of_randomised_response(measure, bound):
    assert bound <= promise._power(stated(measure)) <= bound * (1 + 1e-6)


def test_the_detection_bound_is_that_of_the_effective_guarantee():
    beside = stated(dp.PureDP(2), "replace-one", ordinary=dp.PureDP(1), semi_adjacency=2)
    assert promise._power(beside) == promise._power(stated(dp.PureDP(2)))
    assert promise._power(beside) > promise._power(stated(dp.PureDP(1)))


@pytest.mark.parametrize(
    "measure", [dp.PureDP("1/3"), dp.ApproxDP("1/3", "1e-6"), dp.ZCDP("0.1"), dp.GDP("1/7"), dp.ZCDP("0.0123456789")]
)
def test_no_printed_privacy_loss_is_below_the_truth(measure):
    guarantee = stated(measure)
    printed = str(guarantee).split("(ε = ")[-1].split(" at ")[0].split(")")[0]
    assert Fraction(guarantee.epsilon) <= Fraction(printed) <= Fraction(guarantee.epsilon) * Fraction(1002, 1000)
    assert printed in promise.epsilon_words(guarantee, english())


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        (dp.PureDP("1/3"), "ε = 1/3 (pure DP)"),
        (dp.ApproxDP("0.5", "1e-6"), "ε = 0.5, δ = 0.000001 (approximate DP)"),
        (dp.ZCDP("0.213"), "ρ = 0.213 (zero-concentrated DP)"),
        (dp.GDP("0.12345678901234"), "μ ≤ 0.123457 (Gaussian DP)"),
    ],
)
def test_a_guarantee_is_shown_exactly_or_rounded_up(measure, shown):
    assert promise.measure_words(measure, english()) == shown


@pytest.mark.parametrize(
    ("a", "others"), [(1, ""), (2, "together with at most one other row"), (1001, "together with at most 1,000 other rows")]
)
def test_beside_totals_only_tables_with_the_same_totals_are_compared(a, others):
    beside = stated(dp.ZCDP(1), "replace-one", ordinary=dp.ZCDP("0.25"), semi_adjacency=a)
    words = promise.comparison_words(beside, english())
    assert "leaves the exact totals as they are" in words
    assert promise.others_words(a, english()) == others
    assert others in words
    assert ("other row" in words) is (a > 1)
    assert dict(promise.figures_of(beside, english()))["Holds for"].endswith(f"at most a = {a:,} row{'s' if a > 1 else ''}")
    assert "exact totals" not in promise.comparison_words(stated(dp.ZCDP(1), "replace-one"), english())
