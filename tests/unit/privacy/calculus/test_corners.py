"""Corners in which an answer must be a bound or a refusal: no crash, no endless search, no rounding to the wrong side."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.errors import ArgumentError
from discreet.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP, convert
from discreet.privacy.amplify import Resampling, poisson, without_replacement
from discreet.privacy.calculus.calibrate import least_noise
from discreet.privacy.calculus.compose import compose
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace, RoundedGaussian

RESIZE = Resampling(10, "3/2", AddRemove())
LAWS = [RESIZE, Resampling(10, "1/2", AddRemove()), Resampling(10, 2, AddRemove()), Resampling(10, "3/2", ReplaceOne(100))]


@pytest.mark.parametrize("plan", LAWS)
@pytest.mark.parametrize("epsilon", [501, 600, 5000, 10**7])
def test_the_gaussian_after_a_resize_exists_for_large_losses(plan: Resampling, epsilon: int) -> None:
    # Profiles after a resize stop following at ε = 500; the group bound takes over, and is verified.
    found = plan.gaussian(ApproxDP(epsilon, "1e-6"))
    assert found.mu > 0
    assert (plan.most * found).delta_at(epsilon) <= 1e-6 or plan.profile(found).delta_at(epsilon) <= 1e-6


@pytest.mark.parametrize("inner", [GDP(60), PureDP(300), PureDP(700), DiscreteLaplace("0.001")])
@pytest.mark.parametrize("plan", LAWS)
def test_losses_after_a_resize_are_bounded_where_the_profile_stops(plan: Resampling, inner: Any) -> None:
    epsilon = plan.profile(inner).epsilon_at("1e-6")
    whole = inner.guarantee if isinstance(inner, DiscreteLaplace) else inner
    assert 0 < epsilon <= whole.group(plan.most).epsilon_at("1e-6") * (1 + 1e-6)


@pytest.mark.parametrize("plan", LAWS)
def test_profiles_after_a_resize_answer_everywhere(plan: Resampling) -> None:
    assert plan.profile(GDP(0)).delta_at(0) == 0
    for inner in (GDP("1e1000"), PureDP("1e1000"), GDP("1e-1000"), PureDP("1e-1000"), DiscreteLaplace("1e-1000")):
        for epsilon in (0, 1, "1e1000"):
            assert 0 <= plan.profile(inner).delta_at(epsilon) <= 1
    assert plan.profile(PureDP("1e1000")).delta_at("1e1000") > 0
    tiny = Resampling(10, "1e-1000", AddRemove())
    assert tiny.profile(GDP(1)).delta_at(0) == 5e-324
    assert tiny.gaussian(ApproxDP(1, "1e-320")).mu > 0


@pytest.mark.parametrize("target", ["1e-12", "1e-30", "1e-300"])
def test_functional_losses_are_tight_for_tiny_targets(target: str) -> None:
    inner = RESIZE.functional(PureDP(target)).epsilon
    ideal = Fraction(target) / Fraction(3, 2)  # ε E K in the limit
    assert ideal * (1 - 2 * Fraction(target) - Fraction(1, 10**14)) <= inner <= ideal
    rare = Resampling(10, target, AddRemove()).functional(PureDP(target)).epsilon
    assert float(rare) == pytest.approx(math.log(2), rel=1e-11)


def test_a_functional_delta_that_cannot_be_written_down_is_zero() -> None:
    functional = RESIZE.functional(ApproxDP(10**6, "1e-6"))
    assert functional.delta == 0
    assert RESIZE.guarantee(functional).epsilon <= 10**6


def test_a_sampled_gaussian_answers_far_out() -> None:
    assert poisson(GDP(1), 1).add_delta_at("1e1000") == 5e-324
    assert poisson(GDP(1), 1).remove_delta_at("1e1000") == 5e-324
    assert poisson(GDP(1), 1).add_delta_at(3) == pytest.approx(GDP(1).delta_at(3), rel=1e-14)


@pytest.mark.parametrize("bad", ["x", None, 1, [PureDP(1)]])
def test_only_guarantees_can_be_sampled(bad: Any) -> None:
    with pytest.raises(ArgumentError, match="guarantee="):
        poisson(bad, "1/2")
    with pytest.raises(ArgumentError, match="guarantee="):
        without_replacement(bad, 1, 2)
    with pytest.raises(ArgumentError, match="inner="):
        RESIZE.renyi(PureDP(1), [2])  # type: ignore[arg-type]
    assert poisson(RDP([(2, 1)]), "1/2").delta_at(3) <= RDP([(2, 1)]).delta_at(3)


@pytest.mark.parametrize("noise", [RoundedGaussian("1e-8"), DiscreteGaussian("1e-7")])
def test_noise_that_hides_nothing_has_the_loss_of_its_guarantee(noise: Any) -> None:
    assert noise.epsilon_at("1e-6") >= float(1 / (2 * noise.sigma2)) * 0.99


def test_groups_far_beyond_use_are_refused() -> None:
    for wide in (ApproxDP(1000, "1e-6"), ApproxDP("1e1000", "1e-1000")):
        with pytest.raises(ArgumentError, match="not be a guarantee"):
            wide.group(2)
        with pytest.raises(ArgumentError, match="no guarantee"):
            RESIZE.guarantee(wide)


def test_targets_and_laws_beyond_use_are_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="epsilon="):
        least_noise(RoundedGaussian, ApproxDP("1e7", "1e-6"), 1)
    with pytest.raises(ArgumentError, match="sigma2="):
        DiscreteGaussian("1e1000").delta_at(0)
    assert DiscreteGaussian("1e100").delta_at(0) == pytest.approx(1e-50 / math.sqrt(2 * math.pi), rel=1e-12)


@pytest.mark.parametrize("bad", ["2", None, math.nan, True, 0, -3, 1.5])
@pytest.mark.parametrize("kind", [DiscreteLaplace, RoundedGaussian, DiscreteGaussian])
@pytest.mark.parametrize("target", [ApproxDP(1, "1e-6"), ZCDP(1)])
def test_calibration_refuses_what_is_no_sensitivity(kind: Any, target: Any, bad: Any) -> None:
    with pytest.raises(ArgumentError, match="sensitivity="):
        least_noise(kind, target, bad)


def test_the_largest_rho_does_not_vanish_for_huge_losses() -> None:
    assert convert.zcdp_rho(1.7e308, 1e-6) >= 9e299
    assert ZCDP.for_approx("1e1000", "1e-6").rho >= 10**299
    assert GDP.for_approx("1e1000", "1e-6").mu >= 10**149


# Composition


@pytest.mark.parametrize(
    "part",
    [PureDP("1e300"), PureDP("1e-300"), GDP("1e300"), GDP("1e-1000"), DiscreteLaplace("1e300"), DiscreteGaussian("1e-300"),
     RoundedGaussian("1e300"), (PureDP(1), 10**13), (ApproxDP(1, "1e-3"), 10**8)],
)  # fmt: skip
def test_what_doubles_cannot_follow_is_not_composed(part: Any) -> None:
    with pytest.raises(ArgumentError, match="parts: "):
        compose([PureDP(1), part])


@pytest.mark.parametrize(
    "parts",
    [
        [PureDP("1e-50"), GDP("1e-50")],
        [DiscreteLaplace("1e49")],
        [DiscreteGaussian("1e49")],
        [DiscreteGaussian("1e-49")],
        [GDP("1e49")],
        [GDP(1)],
    ],
)
def test_composition_answers_at_its_ends(parts: list[Any]) -> None:
    total = compose(parts)
    for epsilon in (0, 1, "1e1000"):
        low, high = total.delta_at(epsilon)
        assert 0 <= low <= high <= 1
    for delta in ("1e-400", "1e-323", "0.999999999"):
        low, high = total.epsilon_at(delta)
        assert 0 <= low <= high


def test_the_leading_factor_is_summed_without_growth_of_error() -> None:
    # Its error bound counts a few units of K and not one for every row.
    mp.dps = 40
    from discreet.privacy.calculus._losses import Lattices, discrete_laplace, stack

    rows = [(discrete_laplace(Fraction(1000 + k, 700), 1), 1) for k in range(20_000)]
    (lattices,) = stack(rows)
    assert isinstance(lattices, Lattices)
    value = lattices.cumulant(3.0)[0]
    _, ones = lattices._tilt(3.0)
    exact = mp.fsum(mpf(one) for one in ones.tolist())
    assert abs(value - exact) <= 2.0**-53 * abs(exact) * 2


# Conversions


def test_other_numbers_of_numpy_are_exact_or_refused() -> None:
    single: Callable[..., float] = convert.zcdp_delta
    assert single(np.float32(0.5), np.float16(0.25)) == convert.zcdp_delta(0.5, 0.25)
    assert single(np.float32(math.inf), 1.0) == 1
    for bad in (np.float32(math.nan), np.float16(-1), np.longdouble(1), np.bool_(True)):
        with pytest.raises(ArgumentError, match="rho="):
            single(bad, 1.0)


@pytest.mark.parametrize("bad", [[True, 0.5], [[1.0], [1.0, 2.0]], (False, 1), [np.True_, 1.0], ["1"]])
def test_lists_that_are_no_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(ArgumentError, match="rho: "):
        convert.zcdp_delta(bad, 1.0)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ArgumentError, match="shapes"):
        convert.zcdp_delta([1.0, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("function", [convert.rdp_delta, convert.rdp_epsilon])
def test_renyi_orders_increase_and_are_numbers(function: Callable[..., float]) -> None:
    for alphas, taus, last in (([3, 2], [1, 1], 0.5), ([2], [1], [0.5]), ([[2.0, 3.0]], [1.0], 0.5), ([2], [[1.0]], 0.5)):
        with pytest.raises(ArgumentError, match=r"(alphas|taus|epsilon|delta)"):
            function(alphas, taus, last)


def test_an_order_that_is_one_as_a_double_bounds_nothing() -> None:
    nearly = 1 + Fraction(1, 10**30)
    assert convert.rdp_delta([nearly], [1], 1) == 1
    assert RDP([(nearly, 1), (2, 1)]).delta_at(1) == RDP([(2, 1)]).delta_at(1)


def test_every_order_is_the_theorem_rounded_up() -> None:
    # Beyond 2⁵³ the order of the formula is α + 1.
    mp.dps = 60
    for alpha in (1 + 2.0**-52, 1.5, 2.0, 2.0**53 + 2, 2.0**54, 1e20):
        for tau, epsilon in ((1.0, 1.0), (1.0, 1 + 1e-15), (0.3, 0.3 + 30 / alpha), (5.0, 5.0 + 1 / alpha)):
            u = mpf(alpha) - 1
            truth = mp.exp(u * (mpf(tau) - mpf(epsilon)) - u * mp.log1p(1 / u) - mp.log1p(u))
            assert convert.rdp_delta([alpha], [tau], epsilon) >= min(truth, 1)


# Words


@pytest.mark.parametrize("epsilon", ["1e-1000", "1e-12", "1e-9", "0.1", "0.6931471805599", "1", "30", "30.0049", "700.04"])
def test_a_factor_in_words_is_never_below_the_truth(epsilon: str) -> None:
    mp.dps = 50
    words = PureDP(epsilon).explain()
    factor = words.split("at most ")[1].split(" ")[0]
    shown = mpf(factor[2:]) if factor.startswith("e^") else mp.log(mpf(factor))
    truth = mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
    assert shown >= truth
    assert shown <= truth * mpf("1.01") + mpf("0.0101")


def test_nothing_and_everything_have_words_too() -> None:
    assert "at most 1 (ε = 0)" in PureDP(0).explain()
    for guarantee in (ZCDP("1e1000"), RDP([(2, "1e1000")])):
        assert "no bound" in guarantee.explain()
    for other in (PureDP("1e1000"), GDP("1e1000"), GDP("1e-1000")):
        assert other.explain().endswith(".")
