"""Laws of the conversions: monotone, in range, mutually inverse, and never below an independent 60-digit oracle."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.privacy.convert import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    rdp_delta,
    rdp_epsilon,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)

positive = st.floats(min_value=5e-324, max_value=1e300)
at_least_zero = st.one_of(st.just(0.0), positive)
useful = st.floats(min_value=1e-6, max_value=1e4)
chance = st.floats(min_value=5e-324, max_value=1 - 2**-53)
useful_chance = st.floats(min_value=1e-300, max_value=0.999)


@given(rho=at_least_zero, epsilon=at_least_zero)
@example(rho=5e-324, epsilon=0.0)
@example(rho=1e300, epsilon=1e300)
@example(rho=1e300, epsilon=math.nextafter(1e300, math.inf))
@example(rho=1e-16, epsilon=5e-324)
@example(rho=50.0, epsilon=12.0)
def test_delta_is_a_probability(rho: float, epsilon: float) -> None:
    for delta in (zcdp_delta(rho, epsilon), gaussian_delta(rho, epsilon)):
        assert 0 <= delta <= 1
        assert (delta == 0) == (rho == 0)


@given(rho=useful, epsilon=useful, factor=st.floats(1 + 1e-9, 10))
@example(rho=0.5, epsilon=1.0, factor=1.000001)
def test_delta_grows_with_the_loss_and_falls_with_epsilon(rho: float, epsilon: float, factor: float) -> None:
    # Upper bounds are each within 1e-12 of monotone truths.
    for function in (zcdp_delta, gaussian_delta):
        here = function(rho, epsilon) * (1 - 2e-12)
        assert here <= function(rho * factor, epsilon)
        assert function(rho, epsilon * factor) * (1 - 2e-12) <= function(rho, epsilon)


@given(rho=useful, delta=useful_chance, factor=st.floats(1 + 1e-9, 10))
def test_epsilon_grows_with_the_loss_and_falls_with_delta(rho: float, delta: float, factor: float) -> None:
    for function in (zcdp_epsilon, gaussian_epsilon):
        here = function(rho, delta) * (1 - 2e-12)
        assert here <= function(rho * factor, delta) + 1e-15
        assert function(rho, min(delta * factor, 1.0)) * (1 - 2e-12) <= function(rho, delta) + 1e-15


@given(epsilon=at_least_zero, delta=chance)
@example(epsilon=0.0, delta=5e-324)
@example(epsilon=1.0, delta=1e-6)
@example(epsilon=1e300, delta=0.5)
@example(epsilon=1e-300, delta=1 - 2**-53)
def test_the_largest_loss_for_a_target_meets_it(epsilon: float, delta: float) -> None:
    assert zcdp_delta(zcdp_rho(epsilon, delta), epsilon) <= delta
    assert gaussian_delta(gaussian_mu(epsilon, delta), epsilon) <= delta


@given(rho=useful, delta=useful_chance)
def test_epsilon_and_delta_are_inverse(rho: float, delta: float) -> None:
    epsilon = zcdp_epsilon(rho, delta)
    if epsilon > 1e-6:
        # ε is an upper bound within a few roundings: δ at it is about the target, δ a little below it is above.
        assert zcdp_delta(rho, epsilon * (1 + 1e-12)) <= delta * (1 + 1e-10 * max(1, epsilon / rho))
        assert zcdp_delta(rho, epsilon * (1 - 1e-9)) > delta
    epsilon = gaussian_epsilon(rho, delta)
    assert gaussian_delta(rho, epsilon) <= delta


@given(rho=useful, epsilon=useful)
def test_the_gaussian_is_never_worse_than_its_concentration(rho: float, epsilon: float) -> None:
    # Every Gaussian with μ = √(2ρ) is ρ-zCDP: its exact profile is a floor under any sound conversion.
    mu = math.sqrt(2 * rho) * (1 - 1e-15)
    assert gaussian_delta(mu, epsilon) <= zcdp_delta(rho, epsilon)


@given(rho=st.floats(1e-3, 10), epsilon=st.floats(0, 30), order=st.floats(1.001, 500))
def test_one_order_is_never_better_than_the_best(rho: float, epsilon: float, order: float) -> None:
    tau = order * rho
    assert rdp_delta([order], [tau], epsilon) >= zcdp_delta(rho, epsilon) * (1 - 1e-11)
    assert rdp_epsilon([order], [tau], 1e-9) >= zcdp_epsilon(rho, 1e-9) * (1 - 1e-11)


def log_delta(u: mpf, rho: mpf, epsilon: mpf) -> mpf:
    """Theorem 1.3 as it is printed: log of e^((α−1)(αρ−ε))/(α−1) · (1−1/α)^α, α = 1 + u."""
    alpha = 1 + u
    return u * (alpha * rho - epsilon) - mp.log(u) + alpha * mp.log(u / alpha)


def oracle_delta(rho: float, epsilon: float) -> mpf:
    """The infimum over all orders, by a bracketed Newton method on the derivative (2u + 1)ρ − ε − log(1 + 1/u)."""
    r, e = mpf(rho), mpf(epsilon)

    def slope(u: mpf) -> mpf:
        return (2 * u + 1) * r - e - mp.log1p(1 / u)

    # 1/(u + 1/2) ≤ log(1 + 1/u) ≤ 1/u puts the root into this interval of length 1/2.
    high = (e + mp.sqrt(e * e + 8 * r)) / (4 * r)
    low = max(high - mpf(1) / 2, mpf(0))
    u = low or high
    for _ in range(400):
        value = slope(u)
        low, high = (u, high) if value < 0 else (low, u)
        step = value / (2 * r + 1 / (u * (u + 1)))
        new = u - step
        if not low < new < high:
            new = mp.sqrt(low * high) if low else high * mpf(10) ** -4
        if abs(new - u) < abs(u) * mpf(10) ** -30:
            break
        u = new
    return min(mp.exp(log_delta(u, r, e)), mpf(1))


def random_point(source: random.Random) -> tuple[float, float]:
    rho = 10 ** source.choice((source.uniform(-8, 4), source.uniform(-300, 100)))
    epsilon = rho + 2 * math.sqrt(rho * 10 ** source.uniform(-4, 2.84))
    if source.random() < 0.2:
        epsilon = max(0.0, rho + source.uniform(-39, 1) * source.random())
    return rho, 0.0 if source.random() < 0.02 else epsilon


def check_random_points(seed: int, count: int) -> tuple[int, float]:
    """How many answers are below the truth, and the largest relative excess where the truth is at least 1e-300."""
    source = random.Random(seed)  # noqa: S311 - test points, not noise
    optimistic, excess = 0, 0.0
    for _ in range(count):
        rho, epsilon = random_point(source)
        got = mpf(zcdp_delta(rho, epsilon))
        # 60 digits beyond what cancels: rho and epsilon may be 300 orders of magnitude away from u.
        mp.dps = 60 if 1e-9 < rho < 1e5 else 420
        truth = oracle_delta(rho, epsilon)
        optimistic += got < truth
        if truth > 1e-300:
            excess = max(excess, float(got / truth - 1))
        epsilon_back = zcdp_epsilon(rho, float(got)) if 1e-300 < got < 1 else None
        if epsilon_back is not None:  # δ at the reported ε must not exceed the target, again by the oracle
            optimistic += oracle_delta(rho, epsilon_back) > got
    return optimistic, excess


def test_random_points_against_sixty_digits() -> None:
    optimistic, excess = check_random_points(seed=1, count=300)
    assert optimistic == 0
    assert excess <= 1e-12


def test_the_oracle_test_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    # A mutant without the error bound, as most accountants are, must be caught.
    from discreet.privacy import _zcdp

    monkeypatch.setattr(_zcdp, "_ULP", 0.0)
    monkeypatch.setattr(_zcdp, "_EXP_UP", 1.0)
    optimistic, _ = check_random_points(seed=1, count=100)
    assert optimistic > 0


@pytest.mark.exhaustive
def test_a_hundred_thousand_points_against_sixty_digits() -> None:
    optimistic, excess = check_random_points(seed=2, count=100_000)
    assert optimistic == 0
    assert excess <= 1e-12
