"""Conversions: arrays agree with scalars, corners are answered, bad arguments are refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import ArgumentError
from discreet.privacy import convert

DELTAS: list[Callable[..., float]] = [convert.zcdp_delta, convert.gaussian_delta]
EPSILONS: list[Callable[..., float]] = [convert.zcdp_epsilon, convert.gaussian_epsilon]
STRENGTHS: list[Callable[..., float]] = [convert.zcdp_rho, convert.gaussian_mu]
CORNERS = [0.0, 5e-324, 1e-310, 1e-160, 1e-16, 1e-3, 1.0, 50.0, 1e5, 1e16, 1e155, 1e300, 1.7e308, math.inf]
CHANCES = [0.0, 5e-324, 1e-310, 1e-100, 1e-6, 0.5, 1 - 2**-53, 1.0]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("function", DELTAS)
@pytest.mark.parametrize("pair", list(product(CORNERS, CORNERS)))
def test_delta_at_every_corner(function: Callable[..., float], pair: tuple[float, float]) -> None:
    strength, epsilon = pair
    delta = function(strength, epsilon)
    assert 0 <= delta <= 1
    assert (delta == 0) == (strength == 0 or epsilon == math.inf)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("function", EPSILONS)
@pytest.mark.parametrize("pair", list(product(CORNERS, CHANCES)))
def test_epsilon_at_every_corner(function: Callable[..., float], pair: tuple[float, float]) -> None:
    strength, delta = pair
    epsilon = function(strength, delta)
    assert epsilon >= 0
    if delta == 0 or strength == math.inf:
        assert epsilon == (0 if strength == 0 or delta == 1 else math.inf)
    elif epsilon == 0:
        forward = convert.zcdp_delta if function is convert.zcdp_epsilon else convert.gaussian_delta
        assert delta == 1 or forward(strength, 0.0) <= delta * (1 + 1e-11)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("inverse", "forward"), list(zip(STRENGTHS, DELTAS, strict=True)))
@pytest.mark.parametrize("pair", list(product(CORNERS, CHANCES)))
def test_the_inverse_is_verified(
    inverse: Callable[..., float], forward: Callable[..., float], pair: tuple[float, float]
) -> None:
    epsilon, delta = pair
    strength = inverse(epsilon, delta)
    assert strength >= 0
    assert forward(strength, epsilon) <= delta


def test_exact_arguments_are_rounded_to_the_safe_side() -> None:
    third = Fraction(1, 3)
    assert convert.zcdp_delta(third, 1) >= convert.zcdp_delta(1 / 3, 1.0)
    assert convert.zcdp_delta("0.1", Fraction(1)) == convert.zcdp_delta(0.1, 1.0)
    assert convert.zcdp_rho(1, "1e-400") == 0
    assert convert.zcdp_epsilon("1e-400", "1e-9") == convert.zcdp_epsilon(5e-324, 1e-9)


@pytest.mark.parametrize("function", DELTAS + EPSILONS + STRENGTHS)
@pytest.mark.parametrize("bad", [math.nan, -1.0, -5e-324, True, None, "x", 1j, -math.inf, np.array([1.0, math.nan])])
def test_bad_arguments_are_refused(function: Callable[..., float], bad: object) -> None:
    for arguments in ((bad, 0.5), (0.5, bad)):
        with pytest.raises(ArgumentError, match=r"(rho|mu|epsilon|delta)"):
            function(*arguments)


@pytest.mark.parametrize("function", EPSILONS + STRENGTHS)
def test_delta_above_one_is_refused(function: Callable[..., float]) -> None:
    for bad in (1.5, "2", np.array([0.5, 1.5])):
        with pytest.raises(ArgumentError, match="delta"):
            function(0.5, bad)


@pytest.mark.parametrize("function", DELTAS + EPSILONS + STRENGTHS)
def test_arrays_broadcast_and_agree_with_scalars(function: Callable[..., float]) -> None:
    first = np.array([0.0, 1e-310, 1e-9, 0.03, 0.4, 7.0, 300.0, 1e120, np.inf])[:, None]
    second = np.array([0.0, 1e-320, 1e-12, 1e-3, 0.3, 1.0])
    got = function(first, second)
    assert got.shape == (9, 6)
    want = np.array([[function(float(a), float(b)) for b in second] for a in first[:, 0]])
    for g, w in zip(got.ravel(), want.ravel(), strict=True):
        assert g == w or g == pytest.approx(w, rel=1e-11)
    assert function(0.5, [0.1, 0.2]).shape == (2,)
    assert function(np.float64(0.5), np.float64(0.25)) == function(0.5, 0.25)
    assert np.asarray(function(np.zeros((0,)), np.zeros((0,)))).shape == (0,)


def test_arrays_that_are_no_doubles_are_refused() -> None:
    for bad in (np.array(["1"]), np.array([True]), np.array([1], dtype=np.longdouble), np.array([2**60])):
        with pytest.raises(ArgumentError, match="rho"):
            convert.zcdp_delta(bad, 1.0)


def test_a_small_epsilon_is_as_tight_as_a_large_one() -> None:
    # Near the δ of ε = 0 the answer is a small difference of large terms.
    for rho in (1e-9, 1.923013066913089e-05, 0.3):
        edge = convert.zcdp_delta(rho, 0.0)
        for share in (1e-3, 1e-6, 1e-9):
            epsilon = convert.zcdp_epsilon(rho, edge * (1 - share))
            assert 0 < epsilon < 1
            assert convert.zcdp_delta(rho, epsilon * (1 - 1e-4)) > edge * (1 - share)


def test_renyi_curves_take_the_best_order_and_refuse_what_is_no_curve() -> None:
    orders, bounds = [2, 8, 64], [Fraction(a, 10) for a in (2, 8, 64)]
    best = min(convert.rdp_epsilon([a], [t], 1e-6) for a, t in zip(orders, bounds, strict=True))
    assert convert.rdp_epsilon(orders, bounds, 1e-6) == best
    assert convert.rdp_epsilon(orders, bounds, 1e-6) >= convert.zcdp_epsilon(0.1, 1e-6)
    assert convert.rdp_delta(orders, bounds, 1) >= convert.zcdp_delta(0.1, 1.0)
    for epsilon in ("0.1", 1, 3):  # the best order counts
        alone = [convert.rdp_delta([order], [bound], epsilon) for order, bound in zip(orders, bounds, strict=True)]
        assert min(alone) < max(alone)
        assert convert.rdp_delta(orders, bounds, epsilon) == min(alone)
    assert convert.rdp_delta([2], [0], 0) == 0
    assert convert.rdp_delta([2], [1], math.inf) == 0
    assert convert.rdp_delta([2], [math.inf], 1) == 1
    assert convert.rdp_epsilon([2], [1], 0.0) == math.inf
    assert convert.rdp_epsilon([2], [1], 1.0) == 0
    for alphas, taus in (([1], [1]), ([0.5], [1]), ([2, 3], [1]), ([math.nan], [1]), ([2], [-1])):
        with pytest.raises(ArgumentError):
            convert.rdp_epsilon(alphas, taus, 1e-6)
