"""Values at and beside every boundary where the accounting changes its formula, and the work that a search may take."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from discreet import privacy
from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.errors import ArgumentError
from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP, _gaussian, _slopes, convert
from discreet.privacy._copies import delta_factor_up
from discreet.privacy._digits import digits_down, digits_up
from discreet.privacy._search import first_below
from discreet.privacy.amplify import Resampling, poisson, without_replacement
from discreet.privacy.calculus.compose import _contour_for_epsilon, _total, compose
from discreet.privacy.calculus.profile import DiscreteGaussian, RoundedGaussian


def removed_and_added(mu: str, rate: str, epsilon: str) -> tuple[float, float]:
    """Both directions of δ(ε) of a sampled Gaussian: integrals of the positive part, by the trapezoidal rule."""
    x, step = np.linspace(-12, 16, 1_000_001, retstep=True)
    without = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    mixture = (1 - float(rate)) * without + float(rate) * np.exp(-((x - float(mu)) ** 2) / 2) / math.sqrt(2 * math.pi)
    factor = math.exp(float(epsilon))
    removed, added = (np.maximum(p - factor * q, 0) for p, q in ((mixture, without), (without, mixture)))
    return float(removed.sum() * step), float(added.sum() * step)


@pytest.mark.parametrize(("mu", "rate", "epsilon"), [("1", "0.5", "0.3"), ("2", "0.9", "0.5"), ("0.5", "0.25", "0.05")])
def test_both_directions_of_a_sampled_gaussian_are_the_integrals(mu: str, rate: str, epsilon: str) -> None:
    removed, added = removed_and_added(mu, rate, epsilon)
    profile = poisson(GDP(mu), rate)
    assert profile.remove_delta_at(epsilon) == pytest.approx(removed, rel=1e-7)
    assert profile.add_delta_at(epsilon) == pytest.approx(added, rel=1e-7)
    assert added < removed


def test_a_loss_that_adding_a_record_cannot_have_has_no_chance() -> None:
    # Without the record the density is at most 1/(1 − rate) times that with it.
    profile = poisson(GDP(1), "0.5")
    assert profile.add_delta_at("0.69") > 0
    assert profile.add_delta_at("0.7") == 0


def test_a_delta_of_one_or_more_is_no_guarantee_after_a_resize() -> None:
    plan = Resampling(250, "2.5", ReplaceOne(100))
    assert plan.guarantee(ApproxDP("0.5", "0.2")).delta < 1
    for delta in ("0.4", "0.9"):  # 1 < δ' < 2 for the first
        with pytest.raises(ArgumentError, match="gives no guarantee on the original data"):
            plan.guarantee(ApproxDP("0.5", delta))


@pytest.mark.parametrize("relation", [AddRemove(), ReplaceOne(100_000)])
def test_more_copies_than_are_supported_are_refused_by_name(relation: AddRemove | ReplaceOne) -> None:
    with pytest.raises(ArgumentError, match="copies of the protected rows would be sampled"):
        _ = Resampling(10**9, 20_000, relation, group=5).law


@pytest.mark.parametrize("neighbours", [AddRemove(), ReplaceOne(100)])
@pytest.mark.parametrize("order", [1, "0.5", 0, -2])
def test_orders_that_are_not_above_one_are_refused(neighbours: AddRemove | ReplaceOne, order: object) -> None:
    with pytest.raises(ArgumentError, match=r"order=.*greater than 1"):
        Resampling(90, "1.5", neighbours).renyi(ZCDP("0.1"), [2, order])  # type: ignore[list-item]


def test_the_range_of_a_gdp_guarantee_is_the_quantile_up_to_seventy_and_a_lower_bound_beyond() -> None:
    with mp.workdps(700):
        for mu in ("0.5", "30", "70"):
            half = mpf(mu) / 2
            truth = 2 * mp.log(mpmath.ncdf(half) / mpmath.ncdf(-half))
            found = GDP(mu).choice_range(1, 1)
            assert Fraction(found) <= Fraction(str(mpmath.nstr(truth, 60)))
            assert float(found) == pytest.approx(float(truth), rel=1e-15)
    for mu in ("70.5", "71", "1000"):
        assert GDP(mu).choice_range(1, 1) == Fraction(mu) ** 2 / 4


# Searches ----------------------------------------------------------------------------------------------------------------


def evaluations(function: object, target: float, low: float, high: float) -> tuple[float, int]:
    """The root that is found, and how often the function was asked."""
    asked: list[float] = []

    def counted(at: float) -> float:
        asked.append(at)
        return function(at)  # type: ignore[operator]

    return first_below(counted, target, low, high), len(asked)


def test_a_search_ends_whatever_the_function_does() -> None:
    root, asked = evaluations(lambda x: math.exp(-x * x), 1e-9, 0.0, 100.0)
    assert root == pytest.approx(math.sqrt(9 * math.log(10)), rel=1e-14)
    assert asked <= 65
    for place in (0.3, 77.0, 1e-3):
        root, asked = evaluations(lambda x, place=place: 0.9 if x < place else 1e-300, 0.5, 1e-4, 100.0)
        assert place <= root <= place * (1 + 2**-49)
        assert asked <= 65


def test_the_ends_of_a_search_are_answers_too() -> None:
    assert first_below(lambda _: 0.5, 0.5, 1.0, 2.0) == 1.0
    assert first_below(lambda x: 0.5 if x >= 2 else 0.6, 0.5, 1.0, 2.0) == 2.0


# Arrays ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [convert.zcdp_delta, convert.zcdp_epsilon, convert.zcdp_rho])
def test_arrays_are_as_tight_as_scalars(function: object) -> None:
    first = np.array([1e-9, 1e-6, 1e-3, 0.02, 0.3, 1.0, 4.0, 30.0, 1e4])
    second = np.array([1e-300, 1e-30, 1e-9, 1e-3, 0.2, 0.9])
    if function is convert.zcdp_delta:
        second = np.array([1e-6, 1e-3, 0.05, 0.7, 2.0, 40.0])
    whole = function(first[:, None], second[None, :])  # type: ignore[operator]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            alone = function(float(one), float(other))  # type: ignore[operator]
            assert whole[i, j] == pytest.approx(alone, rel=1e-9, abs=1e-307)


# Limits ------------------------------------------------------------------------------------------------------------------


def test_the_factor_of_delta_is_exact_until_no_delta_survives_it() -> None:
    law = Resampling(5, 2, AddRemove()).law
    fair = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    with mp.workdps(40):
        for epsilon in (1, 30, 5000):
            truth = (mp.exp(2 * mpf(epsilon)) / 4 + mp.exp(mpf(epsilon)) / 2 - mpf(3) / 4) / mp.expm1(mpf(epsilon))
            found = delta_factor_up(fair, Fraction(epsilon))
            ratio = mpf(found.numerator) / found.denominator / truth
            assert 1 <= ratio <= 1 + mpf(10) ** -15
    assert delta_factor_up(fair, Fraction(5001)) == Fraction(2) ** 20_000
    assert delta_factor_up(law, Fraction(0)) == 2


def test_a_million_million_repetitions_are_composed_and_one_more_is_not() -> None:
    most = 10**12
    total = compose([(GDP("1e-9"), most)])
    assert total.delta_at("1e-3").upper <= GDP("0.001").delta_at("1e-3") * (1 + 1e-9)
    with pytest.raises(ArgumentError, match="at most 10"):
        compose([(GDP("1e-9"), most + 1)])


@pytest.mark.parametrize("nothing", [PureDP(0), ZCDP(0), GDP(0)])
def test_a_guarantee_of_nothing_leaves_no_range(nothing: PureDP | ZCDP | GDP) -> None:
    assert nothing.choice_range(1, 1) <= 0


@pytest.mark.parametrize(
    ("m", "n", "named"), [(-1, 5, "m=-1: must be an integer"), (1, -1, "n=-1"), (0, 0, "m=0, n=0"), (3, 2, "m=3, n=2")]
)
def test_a_sample_is_a_part_of_the_table(m: int, n: int, named: str) -> None:
    with pytest.raises(ArgumentError, match=named):
        without_replacement(PureDP(1), m, n)


def test_a_loss_that_no_double_can_show_has_the_smallest_positive_chance() -> None:
    for noise in (RoundedGaussian(1), DiscreteGaussian(1)):
        assert noise.delta_at(1000) == 5e-324
    assert RoundedGaussian(1, 7).delta_at(1000) == 5e-324


def test_the_pieces_of_the_worst_mechanism_are_two_probability_laws() -> None:
    # The widths are the probabilities under Q, widths times slopes those under P; what is left of P is revealed.
    for epsilon in (Fraction(1, 2), Fraction(2)):
        for step in (Fraction(0), Fraction(1, 100)):
            for k in (1, 2, 3, 5):
                revealed, pieces = _slopes.Chain(epsilon, step)._pieces(k)
                steep = sum(math.exp(place) * float(width.mid()) for place, width in pieces)
                assert steep + float(revealed) == pytest.approx(1, rel=1e-12)
                if pieces:
                    assert sum(float(width.mid()) for _, width in pieces) + float(revealed) == pytest.approx(1, rel=1e-12)
                    assert all(width >= 0 for _, width in pieces)
    for k in (1, 2, 3):
        masses = _slopes.Steps(Fraction(3), 2)._masses(k)
        assert sum(float(width.mid()) for _, width in masses) == pytest.approx(1, rel=1e-12)
        assert sum(math.exp(place) * float(width.mid()) for place, width in masses) == pytest.approx(1, rel=1e-12)


def test_arrays_are_probabilities_at_every_corner() -> None:
    ends = np.array([0.0, 5e-324, 1e-310, 1e-160, 1e-16, 1e-3, 1.0, 39.0, 41.0, 50.0, 1e5, 1e16, 1e155, 1e300, math.inf])
    found = convert.zcdp_delta(ends[:, None], ends[None, :])
    assert np.all((found >= 0) & (found <= 1))
    for i, rho in enumerate(ends):
        for j, epsilon in enumerate(ends):
            assert found[i, j] == pytest.approx(convert.zcdp_delta(float(rho), float(epsilon)), rel=1e-9, abs=1e-307)


@pytest.mark.parametrize("far", ["999999", "1000001", "3e6", "1e9"])
@pytest.mark.parametrize("near", ["-3", "0", "4", "30"])
def test_both_tails_of_a_gaussian_profile_are_enclosed_near_and_far(near: str, far: str) -> None:
    from flint import ctx

    # a, b = (ε/μ ∓ μ/2)/√2, so μ = (b − a)√2 and ε = (b² − a²); both as doubles.
    mu = math.sqrt(2) * (float(far) - float(near))
    epsilon = (float(far) - float(near)) * (float(far) + float(near))
    with ctx.workprec(256):
        enclosed = [_ends(part) for part in _gaussian._parts(mu, epsilon)]
    with mp.workprec(600):
        a, b = ((mpf(epsilon) / mpf(mu) + side * mpf(mu) / 2) / mp.sqrt(2) for side in (-1, 1))
        # e^ε erfc b through the continued fraction of erfc, because e^ε alone is beyond every exponent.
        scaled = mpf(0)
        for k in range(60, 0, -1):
            scaled = mpf(k) / 2 / (b + scaled)
        second = mp.exp(-a * a) / (mp.sqrt(mp.pi) * (b + scaled)) / 2
        for (low, high), truth in zip(enclosed, (mp.erfc(a) / 2, second), strict=True):
            assert low <= truth <= high
            assert far == "999999" or high - low <= abs(truth) * mpf(10) ** -12


def _ends(value: object) -> tuple[mpf, mpf]:
    """The lower and upper end of an enclosure."""
    ends = (value.lower().man_exp(), value.upper().man_exp())  # type: ignore[attr-defined]
    low, high = (mpmath.ldexp(int(mantissa), int(exponent)) for mantissa, exponent in ends)
    return low, high


# Composition -------------------------------------------------------------------------------------------------------------


def test_what_is_revealed_for_certain_is_added_to_the_rest_and_no_more() -> None:
    # (ε, δ) alone: δ(x) = δ + (1 − δ)(e^ε − e^x)/(1 + e^ε) for x ≤ ε.
    whole = compose([ApproxDP(1, "0.1")])
    for at in (0.0, 0.5, 0.9):
        truth = 0.1 + 0.9 * (math.e - math.exp(at)) / (1 + math.e)
        found = whole.delta_at(at)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower < 1e-6 * truth


def test_an_overflow_in_a_contour_bounds_nothing() -> None:
    contour = _contour_for_epsilon(_total([(PureDP(1), 3), (GDP(1), 1)]), 0.5)
    usual = contour.bounds(0.5)
    assert 0 < usual.lower <= usual.upper < 1
    with np.errstate(all="ignore"):
        for name, broken in (("weights", np.full_like(contour.weights, math.inf)), ("sizes", contour.sizes * math.inf)):
            assert replace(contour, **{name: broken}).bounds(0.5) == (0.0, 1.0)


def test_the_width_of_a_bound_holds_all_the_roundings_that_are_counted() -> None:
    contour = _contour_for_epsilon(_total([(PureDP("0.1"), 50)]), 2.0)
    assert contour.lattice is not None
    found = contour.bounds(2.0)
    width = (found.upper - found.lower) / found.upper
    assert 2 * 2.0**-53 * (contour.errors.cumulant + 4 * abs(contour.cumulant) + 64) <= width < 1e-8


def test_the_calculus_is_found_by_name_and_nothing_else_is() -> None:
    assert privacy.__getattr__("compose").compose is compose
    with pytest.raises(AttributeError, match="nothing"):
        _ = privacy.nothing


@pytest.mark.parametrize("count", [2, 3, 5, 7, 11, 13, 1000])
@pytest.mark.parametrize("mu", ["0.1", "1", "2.3"])
def test_the_root_of_a_sum_of_gaussians_is_rounded_to_the_safe_side(mu: str, count: int) -> None:
    whole, variance = compose([(GDP(mu), count)]), count * Fraction(mu) ** 2
    above = math.sqrt(variance)
    while Fraction(above) ** 2 < variance:
        above = math.nextafter(above, math.inf)
    found = whole.epsilon_at("1e-6")
    assert found.upper >= convert.gaussian_epsilon(above, "1e-6")
    assert found.lower <= found.upper <= found.lower * (1 + 1e-9)


@pytest.mark.parametrize("neighbours", [AddRemove(), ReplaceOne(100)])
@pytest.mark.parametrize("order", ["1.25", "1.5", "3", "7"])
def test_a_renyi_divergence_after_a_resize_is_the_theorem_rounded_up(neighbours: AddRemove | ReplaceOne, order: str) -> None:
    plan = Resampling(90, "1.5", neighbours)
    ((_, found),) = plan.renyi(ZCDP("0.1"), [order]).curve
    with mp.workdps(40):
        alpha, public = mpf(order), isinstance(neighbours, ReplaceOne)
        unit = (alpha - 1) * mpf("0.1") * (alpha if public else 1)
        mean = sum(mpf(w.numerator) / w.denominator * mp.exp(k * k * unit) for k, w in enumerate(plan.law))
        truth = mp.log(mean) / (alpha - 1) * (1 if public else alpha)
        truth = min(truth, alpha * plan.most**2 * mpf("0.1"))
        assert 1 - mpf(10) ** -30 <= mpf(found.numerator) / found.denominator / truth <= 1 + mpf(10) ** -15


def test_no_noise_is_needed_where_nothing_is_asked_and_no_limit_where_anything_may_be_told() -> None:
    for mu, rate in ((0, "0.5"), (1, 0), (0, 0)):
        profile = poisson(GDP(mu), rate)
        for epsilon in (0, "0.1", 1):
            assert profile.add_delta_at(epsilon) == profile.remove_delta_at(epsilon) == 0
    assert convert.zcdp_rho(math.inf, 0.5) == convert.zcdp_rho(1.0, 1.0) == convert.zcdp_rho(math.inf, 1.0) == math.inf
    assert convert.zcdp_rho(1.0, 0.0) == 0


def test_losses_from_1e_minus_50_to_1e50_are_composed() -> None:
    for size in (Fraction(10**50), Fraction(1, 10**50)):
        assert compose([PureDP(size)]).parts == ((PureDP(size), 1),)
    for size in (Fraction(10**50) * 2, Fraction(1, 2 * 10**50)):
        with pytest.raises(ArgumentError, match="from 1e-50 to 1e50"):
            compose([PureDP(size)])


def test_short_numbers_have_the_digits_that_are_asked_and_lie_on_the_named_side() -> None:
    for value in (Fraction(1, 3), Fraction(2, 3), Fraction(22, 7), Fraction(10**9, 7), Fraction(1, 7 * 10**30)):
        low, high = digits_down(value, 5), digits_up(value, 5)
        assert low < value < high < low * (1 + Fraction(1, 10**3))
        assert all(len(str(part.numerator).rstrip("0")) <= 7 for part in (low * 10**60, high * 10**60))
    assert digits_up(Fraction(1, 4), 5) == digits_down(Fraction(1, 4), 5) == Fraction(1, 4)
    assert digits_up(Fraction(0), 5) == digits_down(Fraction(0), 5) == 0


def test_no_single_loss_is_an_exception_for_a_sample() -> None:
    sampled = without_replacement(DiscreteGaussian(4), 1, 10)
    for at in (Fraction(1, 10), Fraction(1), Fraction(2)):
        assert sampled.delta_at(at) == pytest.approx(sampled.delta_at(at + Fraction(1, 10**9)), rel=1e-6)
