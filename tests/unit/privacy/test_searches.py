"""Searches end at the last number that holds, after as few evaluations as they promise."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from math import inf, nextafter
from typing import Any, NamedTuple

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.errors import ArgumentError
from discreet.privacy import _copies, _gaussian, _resampled, _zcdp, _zcdp_arrays, convert
from discreet.privacy._search import first_below
from discreet.privacy.calculus import compose as compose_module
from discreet.privacy.calculus._contour import Bounds, Contour
from discreet.privacy.calculus._losses import UNIT, Grid, discrete_gaussian, discrete_laplace
from discreet.privacy.calculus.compose import compose
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.measures import GDP, ApproxDP, PureDP

_SOURCE = random.Random(11)  # noqa: S311 - test points, not noise


# Gaussian noise ----------------------------------------------------------------------------------------------------------

PAIRS = [(10 ** _SOURCE.uniform(-4, 1.5), 10 ** _SOURCE.uniform(-80, -0.3)) for _ in range(25)] + [(3.0, 0.85), (1e-3, 1e-9)]


def test_the_smallest_epsilon_of_gaussian_noise_is_the_last_double_that_holds() -> None:
    for mu, delta in PAIRS:
        found = _gaussian.epsilon(mu, delta)
        assert _gaussian.delta(mu, found) <= delta
        assert found == 0 or _gaussian.delta(mu, nextafter(found, 0)) > delta
    for mu, epsilon in ((1.0, 0.5), (0.3, 1.25), (5.0, 10.0), (0.01, 0.02)):
        assert _gaussian.epsilon(mu, _gaussian.delta(mu, epsilon)) <= epsilon  # a target that is met exactly


def test_the_largest_mu_is_the_last_double_that_holds() -> None:
    for epsilon, delta in PAIRS:
        found = _gaussian.mu(epsilon, delta)
        assert _gaussian.delta(found, epsilon) <= delta
        assert _gaussian.delta(nextafter(found, inf), epsilon) > delta
    for mu, epsilon in ((1.0, 0.5), (0.3, 1.25), (5.0, 10.0), (0.01, 0.02)):
        assert _gaussian.mu(epsilon, _gaussian.delta(mu, epsilon)) >= mu


def test_the_inverses_of_the_gaussian_profile_take_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    plain = _gaussian.profile

    def counted(mu: float, epsilon: float) -> Any:
        asked.append(mu)
        return plain(mu, epsilon)

    monkeypatch.setattr(_gaussian, "profile", counted)
    counts = []
    for inverse in (_gaussian.epsilon, _gaussian.mu):
        for first, delta in PAIRS:
            asked.clear()
            inverse(first, delta)
            counts.append(len(asked))
    assert max(counts) <= 26
    assert sum(counts) / len(counts) <= 10


def test_the_place_of_a_profile_is_never_wrong() -> None:
    # 0 unless δ, or 1 − δ, is beyond 57 standard deviations, decided exactly.
    far = Fraction(57)
    for mu in (1e-3, 0.5, 1.0, 3.0, 100.0, 113.9999, 114.1, 1e8, 1e150):
        middle = mu * mu / 2
        edges = [side * 57 * mu * (1 + nudge) + middle for side in (-1, 1) for nudge in (-1e-12, 0.0, 1e-12, 0.5, 1.5, -0.9)]
        for epsilon in [0.0, 1e-3, 1.0, middle, 50.0, 1e10, *edges]:
            if not 0 <= epsilon < inf:
                continue
            exactly = Fraction(epsilon) / Fraction(mu) - Fraction(mu) / 2
            assert _gaussian._place(mu, epsilon) == (0 if abs(exactly) <= far else (1 if exactly < 0 else -1))


# zCDP --------------------------------------------------------------------------------------------------------------------


def test_the_usual_elements_of_an_array_take_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(first: float, second: float) -> float:
        raise AssertionError((first, second))

    rho = np.array([1e-6, 1e-3, 0.1, 0.5, 1.0, 1e-150])
    delta, epsilon = np.array([1e-9, 1e-6, 1e-12, 1e-3, 1e-290, 1e-30]), np.array([1e-2, 0.4, 1.0, 5.0, 30.0, 1e-73])
    with monkeypatch.context() as patched:
        patched.setattr(_zcdp, "zcdp_epsilon", refused)
        patched.setattr(_zcdp, "zcdp_delta", refused)
        found_epsilon, found_delta = _zcdp_arrays.zcdp_epsilon(rho, delta), _zcdp_arrays.zcdp_delta(rho, epsilon)
    for place in range(len(rho)):
        r = float(rho[place])
        assert found_epsilon[place] == pytest.approx(_zcdp.zcdp_epsilon(r, float(delta[place])), rel=1e-12)
        assert found_delta[place] == pytest.approx(_zcdp.zcdp_delta(r, float(epsilon[place])), rel=1e-12)


def test_other_elements_of_an_array_are_the_scalars() -> None:
    odd = [
        (1e101, 2e101),
        (1e-201, 1e-100),
        (30.0, 1.0),
        (1e5, 0.0),
        (0.0, 1.0),
        (1e-300, inf),
        (1e-250, 1e-140),
        (60.0, 15.0),
    ]
    rho, epsilon = (np.array(column) for column in zip(*odd, strict=True))
    for place, value in enumerate(_zcdp_arrays.zcdp_delta(rho, epsilon).tolist()):
        assert value == _zcdp.zcdp_delta(*odd[place])
    odd = [
        (1e101, 0.5),
        (1e-201, 1e-3),
        (1e-9, 0.4),
        (0.3, 0.999),
        (0.5, 1e-301),
        (0.5, 1.0),
        (0.0, 0.3),
        (0.2, 0.5),
        (1e-12, 1e-6),
    ]
    rho, delta = (np.array(column) for column in zip(*odd, strict=True))
    for place, value in enumerate(_zcdp_arrays.zcdp_epsilon(rho, delta).tolist()):
        assert value == pytest.approx(_zcdp.zcdp_epsilon(*odd[place]), rel=1e-12)


@pytest.mark.parametrize(("name", "first", "most"), [("epsilon_root", (0.3, 1e-6), 4), ("delta_root", (0.3, 1.7), 3)])
def test_roots_for_zcdp_take_two_or_three_steps(monkeypatch: pytest.MonkeyPatch, name: str, first: Any, most: int) -> None:
    asked: list[float] = []

    def counted(x: float) -> float:
        asked.append(x)
        return math.log1p(x)

    monkeypatch.setattr(_zcdp, "log1p", counted)
    other = first[1] - first[0] if name == "delta_root" else -math.log(first[1])
    getattr(_zcdp, name)(*first, other)
    assert 1 <= len(asked) <= most


# Copies ------------------------------------------------------------------------------------------------------------------

LAW = _copies.binomial(3, Fraction(1, 2))


def moment(law: Any, epsilon: Fraction) -> mpf:
    at = mpf(epsilon.numerator) / epsilon.denominator
    return mp.fsum(mpf(w.numerator) / w.denominator * mp.exp(k * at) for k, w in enumerate(law))


@pytest.mark.parametrize("epsilon", ["1e-9", "0.3", "5", "333", "334", "400", "5000"])
def test_the_loss_of_a_sample_is_rounded_up_to_eighteen_digits(epsilon: str) -> None:
    with mp.workdps(60):
        found = _copies.epsilon_up(LAW, Fraction(epsilon))
        truth = mp.log(moment(LAW, Fraction(epsilon)))
        assert 0 <= (mpf(found.numerator) / found.denominator) / truth - 1 <= mpf(10) ** -15


@pytest.mark.parametrize("law", [LAW, _copies.binomial(1, Fraction(1, 1000)), _copies.hypergeometric(50, 5, 20)])
@pytest.mark.parametrize("target", ["1e-12", "0.01", "1", "40", "900"])
def test_the_loss_that_a_sample_allows_is_the_largest_to_sixteen_digits(law: Any, target: str) -> None:
    found = _copies.functional_epsilon(law, Fraction(target))
    assert _copies.epsilon_up(law, found) <= Fraction(target)
    assert _copies.epsilon_up(law, found * (1 + Fraction(1, 10**15))) > Fraction(target)


def test_constant_numbers_of_copies_are_exact() -> None:
    twice = (Fraction(0), Fraction(0), Fraction(1))
    third = Fraction(1, 3)
    assert _copies.functional_epsilon(twice, third) == third / 2
    assert _copies.epsilon_up(twice, third) == 2 * third
    assert _copies.renyi_up(twice, third, Fraction(5, 2), public=True) == 4 * third * Fraction(5, 2)
    assert _copies.functional_epsilon((Fraction(1),), third) == third
    assert _copies.epsilon_up((Fraction(1),), third) == 0
    assert _copies.functional_delta((Fraction(1),), third, Fraction(1, 7)) == Fraction(1, 7)
    assert _copies.hypergeometric(10, 3, 9) == (0, 0, Fraction(3, 10), Fraction(7, 10))
    assert _copies.hypergeometric(4, 2, 1) == (Fraction(1, 2), Fraction(1, 2))


def test_a_delta_for_a_small_sample_stays_below_one() -> None:
    law = _copies.binomial(1, Fraction(1, 100))
    assert _copies.functional_delta(law, Fraction(1), Fraction(1, 2)) == Fraction(2**53 - 1, 2**53)
    assert _copies.functional_delta(law, Fraction(1), Fraction(1, 1000)) == Fraction(1, 10)


# Composition -------------------------------------------------------------------------------------------------------------


class Fake(NamedTuple):
    """A contour with these bounds of δ(ε)."""

    most: float
    upper: Any
    lower: Any = None

    def bounds(self, epsilon: float) -> Bounds:
        return Bounds(self.lower(epsilon) if self.lower else 0.0, self.upper(epsilon))


def test_the_upper_end_is_the_smallest_that_meets_the_target() -> None:
    def end(contour: Fake, target: float, guess: float) -> float:
        return compose_module._upper_end(contour, target, guess)  # type: ignore[arg-type]

    for guess in (1e-9, 1.0, 100.0):
        assert end(Fake(inf, lambda x: math.exp(-x)), 1e-6, guess) == pytest.approx(6 * math.log(10), rel=1e-14)
    assert end(Fake(5.0, lambda x: 0.0 if x >= 5 else 1.0), 1e-6, 0.01) == pytest.approx(5.0, rel=1e-14)
    assert end(Fake(5.0, lambda x: 1.0), 1e-6, 0.01) == 5.0
    assert end(Fake(5.0, lambda x: 1.0), 1e-6, 7.0) == 5.0
    asked: list[float] = []
    assert end(Fake(inf, lambda x: asked.append(x) or 1.0), 1e-6, 0.01) == inf  # type: ignore[func-returns-value]
    assert len(asked) == 200  # then the end would be 1e19 times the guess


def test_the_lower_end_is_polished_to_thirty_bits() -> None:
    contour: Any = Fake(inf, None, lambda x: 1.0 if x <= 3 else 0.0)
    contour = contour._replace(upper=lambda x: 1.0)
    found = compose_module._polish(contour, 1.0, 9.0, 0.5)
    assert 3 - 8 * 2.0**-29 <= found <= 3
    assert compose_module._polish(contour._replace(lower=lambda x: 0.5), 1.0, 9.0, 0.5) > 9 - 8 * 2.0**-29


def test_the_support_of_narrow_noise_grows_with_the_tilt_that_is_found() -> None:
    asked: list[float] = []

    class Total(NamedTuple):
        gaussian: tuple[int, ...]

        def losses(self, tilt: float) -> list[Any]:
            asked.append(tilt)
            return []

    def tilts(gaussian: tuple[int, ...], c: float) -> list[float]:
        asked.clear()
        _, found, other = compose_module._saddle(Total(gaussian), lambda _: (c, 7.0))  # type: ignore[arg-type]
        assert (found, other) == (c, 7.0)
        return list(asked)

    assert tilts((1,), 1.6) == [8.0]
    assert tilts((1,), 2.0) == [8.0, 12.0]
    assert tilts((1,), 10.0) == [8.0, 32.0, 60.0]
    assert tilts((), 10.0) == [8.0]


def test_bounds_of_composed_gaussians_hold_at_epsilons_that_are_no_doubles() -> None:
    for mu in (Fraction(1), Fraction(2), Fraction(5, 2)):
        for epsilon in [Fraction(90 + k, 3) for k in range(0, 40, 2) if k % 3]:
            bounds = compose([GDP(mu)]).delta_at(epsilon)
            with mp.workdps(60):
                m, e = mpf(mu.numerator) / mu.denominator, mpf(epsilon.numerator) / epsilon.denominator
                truth = mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)
                assert bounds.lower <= truth <= bounds.upper
                assert bounds.upper <= bounds.lower * (1 + 1e-12) + 1e-320


def test_the_largest_loss_has_no_chance_even_where_it_is_no_double() -> None:
    for third in (Fraction(1, 3), Fraction(2, 3), Fraction(10, 3)):
        assert compose([PureDP(third)]).delta_at(third) == (0.0, 0.0)
        assert compose([(PureDP(third), 3)]).delta_at(3 * third) == (0.0, 0.0)


def test_the_lattice_of_all_sums_is_the_coarsest() -> None:
    parts: list[Any] = [
        (DiscreteLaplace(Fraction(3, 2), 1), 2),
        (DiscreteLaplace(Fraction(5), 3), 1),
        (DiscreteGaussian(Fraction(7, 3), 2), 3),
    ]
    offset, spacing = compose_module._total(parts).lattice()  # type: ignore[misc]
    rows = [discrete_laplace(Fraction(3, 2), 1)] * 2 + [discrete_laplace(Fraction(5), 3)]
    rows += [discrete_gaussian(Fraction(7, 3), 2, 1.0)] * 3
    steps = [row.spacing for row in rows]
    assert ((sum(row.first for row in rows) - offset) / spacing).denominator == 1
    assert all((step / spacing).denominator == 1 for step in steps)
    assert math.gcd(*((step / spacing).numerator for step in steps)) == 1
    fine: list[Any] = [(DiscreteLaplace(Fraction(10**7 + 1)), 1), (DiscreteLaplace(Fraction(10**7)), 1)]
    assert compose_module._total(fine).lattice() is None


# Narrow noise ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma2", "shift", "tilt"), [(Fraction(2), 1, 3.0), (Fraction(1, 2), 3, 10.0), (Fraction(39, 10), 2, 0.5)]
)
def test_narrow_noise_is_cut_where_nothing_is_left_and_no_later(sigma2: Fraction, shift: int, tilt: float) -> None:
    row = discrete_gaussian(sigma2, shift, tilt)
    low = (row.first - Fraction(shift**2) / (2 * sigma2)) * sigma2 / shift
    high, sigma = low + len(row.logs) - 1, math.sqrt(sigma2)
    assert low.denominator == 1
    assert 12 * sigma + 1 <= -low <= 12 * sigma + 2
    assert 12 * sigma + 2 <= high - tilt * shift <= 12 * sigma + 3
    with mp.workdps(40):
        s2 = mpf(sigma2.numerator) / sigma2.denominator
        whole = mp.nsum(lambda x: mp.exp(-x * x / (2 * s2)), [-mp.inf, mp.inf])
        for place, value in enumerate(row.logs):
            x = int(low) + place
            assert value == pytest.approx(float(-x * x / (2 * s2) - mp.log(whole)), rel=1e-14, abs=1e-14)


def test_twenty_thousand_outcomes_are_composed_and_one_more_is_not() -> None:
    assert len(discrete_gaussian(Fraction(1), 1, 19_972.0).logs) == 20_001
    with pytest.raises(ValueError, match="too many outcomes"):
        discrete_gaussian(Fraction(1), 1, 19_973.0)
    assert len(discrete_laplace(Fraction(100), 19_999).logs) == 20_000
    with pytest.raises(ValueError, match="19999"):
        discrete_laplace(Fraction(100), 20_000)


def test_a_unit_of_rounding_is_a_little_more_than_half_a_last_place() -> None:
    assert 2.0**-53 < UNIT < 2.0**-53 * (1 + 2e-6)


# Samples -----------------------------------------------------------------------------------------------------------------


def test_the_search_for_a_sample_begins_with_the_noise_of_the_whole_group(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float]] = []

    def spied(value: Any, target: float, low: float, high: float) -> float:
        seen.append((low, high))
        return first_below(value, target, low, high)

    monkeypatch.setattr(_resampled, "first_below", spied)
    law, target = _copies.binomial(3, Fraction(1, 2)), ApproxDP(1, "1e-6")
    found = _resampled.largest_mu(law, target, both=True)
    whole = 3 / _gaussian.mu(1.0, 1e-6)
    ((low, high),) = seen
    assert 2.0**-41 < high / whole - 1 < 2.0**-39  # so that rounding cannot bring it below
    assert low == pytest.approx(whole / 10**4, rel=1e-11)
    assert 1 / whole < found
    for nothing in ((Fraction(1),), (Fraction(1, 2), Fraction(1, 2))):
        assert _resampled.largest_mu(nothing, ApproxDP(1, 0), both=False) == 0


def test_the_smallest_delta_is_above_a_thousand_zeros() -> None:
    once = (Fraction(0), Fraction(1))
    least = Fraction(1, 10**1000)
    assert _copies.functional_delta(once, Fraction(1), least) == 0
    assert least < _copies.functional_delta(once, Fraction(1), 2 * least) <= 2 * least


def test_the_tables_of_a_grid_are_as_short_as_each_other() -> None:
    for count in (1, 2, 4, 5, 16, 17, 64, 65, 1000, 4097):
        grid = Grid(0.5, count)
        assert grid.rows <= grid.block
        assert grid.block**2 < 4 * max(count, 2)
        assert len(grid.points) >= count
        turned = grid.turn(0.3)
        assert np.allclose(turned, np.exp(1j * 0.3 * grid.points), rtol=0, atol=1e-11)


def test_one_copy_in_half_of_all_samples_needs_less_noise() -> None:
    half, target = (Fraction(1, 2), Fraction(1, 2)), ApproxDP(1, "1e-6")
    plain = _gaussian.mu(1.0, 1e-6)
    for both in (False, True):
        found = _resampled.largest_mu(half, target, both=both)
        assert 1.3 * plain < found < 2 * plain
        assert _resampled.Resampled(GDP(found), half, both).delta_at(1) <= 1e-6
        assert _resampled.Resampled(GDP(found * (1 + Fraction(1, 10**12))), half, both).delta_at(1) > 1e-6
    assert float(_resampled.largest_mu((Fraction(0), Fraction(1)), target, both=False)) == pytest.approx(plain, rel=1e-11)


@pytest.mark.parametrize("kind", [RoundedGaussian, DiscreteGaussian])
def test_beyond_forty_standard_deviations_there_is_the_smallest_double(kind: Any) -> None:
    # The best threshold is at 100 ε + 1/2, and one step is left for the sensitivity.
    assert kind(100).delta_at(5) == 5e-324
    assert kind(100).delta_at("3.75") > 1e-320


def test_both_ends_of_a_composed_epsilon_take_few_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    plain = Contour.bounds

    def counted(self: Contour, epsilon: float) -> Bounds:
        asked.append(epsilon)
        return plain(self, epsilon)

    monkeypatch.setattr(Contour, "bounds", counted)
    counts = []
    for parts in ([(DiscreteLaplace(Fraction(1, 1000)), 3)], [(DiscreteLaplace(10), 300)], [(DiscreteGaussian(40), 50)]):
        asked.clear()
        low, high = compose(parts).epsilon_at("1e-6")
        assert low <= high <= low * (1 + 1e-6)
        counts.append(len(asked))
    assert max(counts) <= 95


def test_only_a_small_difference_of_large_terms_is_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    plain = _zcdp.enclose_epsilon

    def counted(rho: float, delta: float, u: float) -> float:
        asked.append(rho)
        return plain(rho, delta, u)

    monkeypatch.setattr(_zcdp, "enclose_epsilon", counted)
    for rho, delta in ((0.5, 1e-6), (1e-3, 1e-9), (30.0, 1e-100), (1e-6, 1e-12)):
        _zcdp.zcdp_epsilon(rho, delta)
    assert asked == []
    edge = _zcdp.zcdp_delta(0.3, 0.0)
    for share in (1e-6, 1e-9):
        assert 0 < _zcdp.zcdp_epsilon(0.3, edge * (1 - share)) < 1e-5
    assert len(asked) == 2


@pytest.mark.parametrize("epsilon", ["1", "0.0123", "7.5"])
def test_a_target_that_is_met_exactly_is_met(epsilon: str) -> None:
    for law in (_copies.binomial(1, Fraction(1, 2)), LAW):
        assert _copies.functional_epsilon(law, _copies.epsilon_up(law, Fraction(epsilon))) >= Fraction(epsilon)


def test_the_loss_and_not_the_noise_decides_what_is_composed() -> None:
    assert compose([DiscreteLaplace(10**40, 10**15)]).parts
    with pytest.raises(ArgumentError, match="losses of about"):
        compose([DiscreteLaplace(Fraction(1, 10**30), 10**25)])


def test_the_root_for_copies_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    plain = _copies.ball

    def counted(value: Any) -> Any:
        asked.append(value)
        return plain(value)

    monkeypatch.setattr(_copies, "ball", counted)
    for target in ("1e-6", "0.5", "20"):
        asked.clear()
        _copies.functional_epsilon(LAW, Fraction(target))
        assert len(asked) <= 400


def test_two_doubles_are_converted_without_a_detour(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any) -> Any:
        raise AssertionError(arguments)

    monkeypatch.setattr(convert, "_apply", refused)
    assert convert.zcdp_epsilon(0.5, 1e-6) > convert.zcdp_epsilon(0.5, 1e-3)
    assert convert.zcdp_delta(0.5, 1.0) > convert.zcdp_delta(0.5, 2.0)
