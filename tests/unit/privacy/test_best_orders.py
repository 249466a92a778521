"""The orders that C1 is evaluated at are the best ones, as nearly as two or three steps promise, and no step is wasted.

Every order gives a bound; what these tests hold is that no tightness is lost on the way: the roots are compared with
bisections, between one and two times as far away as they were found to be.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from math import exp, hypot, log, log1p, sqrt

import numpy as np
import pytest

from discreet.privacy import _zcdp, _zcdp_arrays


def random_points() -> random.Random:
    """The same points for a test, whichever tests have run before."""
    return random.Random(5)  # noqa: S311 - test points, not noise


def bisected(increasing: Callable[[float], float]) -> float:
    """The root u of a function that increases with u."""
    low, high = -700.0, 380.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if increasing(exp(middle)) >= 0 else (middle, high)
    return exp(high)


def off(found: float, increasing: Callable[[float], float]) -> float:
    """How far `found` is from the root, relatively."""
    return abs(log(found / bisected(increasing)))


def some(count: int) -> list[tuple[float, float]]:
    """Pairs (ρ, ε) for which δ lies between 1e-300 and 1, and some with ε next to 0 or below ρ."""
    pairs = [(0.03998892601401876, 0.0), (0.21301300532496115, 0.0), (2.0020584533558563, 0.0), (0.062, 0.107)]
    source = random_points()
    for _ in range(count):
        rho = 10 ** source.uniform(-8, 4)
        pairs.append((rho, rho + 2 * sqrt(rho * 10 ** source.uniform(-4, 2.84))))
        pairs.append((rho, max(0.0, rho + source.uniform(-39, 1) * source.random())))
    return pairs


def start_of(rho: float, epsilon: float) -> float:
    return (epsilon + hypot(epsilon, sqrt(8 * rho))) / (4 * rho) - 0.5


def test_the_best_order_for_delta() -> None:
    for rho, epsilon in some(150):
        d = epsilon - rho

        def slope(u: float, rho: float = rho, d: float = d) -> float:
            return 2 * rho * u - log1p(1 / u) - d

        start = start_of(rho, epsilon)
        assert off(_zcdp.delta_root(rho, epsilon, d), slope) <= (2e-8 if start >= 0.25 else 3e-12)
        if start >= 1:
            (found,) = _zcdp_arrays._delta_root(np.array([rho]), np.array([d]), np.array([start]))
            assert off(float(found), slope) <= 2.5e-8


def test_the_best_orders_for_epsilon_and_rho() -> None:
    points = [
        (2.0888870e-3, 1.00363e-12),
        (4.6854e-5, 1.593566e-15),
        (1.818e-6, 1.19e-17),
        (6.2344e-5, 1.9129e-3),
        (1e301, 0.1),
    ]
    source = random_points()
    for _ in range(150):
        points.append((10 ** source.uniform(-8, 4), 10 ** source.uniform(-100, -0.05)))
    for first, delta in points:
        length = -log(delta)

        def for_epsilon(u: float, rho: float = first, l: float = length) -> float:  # noqa: E741
            return rho * u * u + log1p(u) - l

        def for_rho(u: float, epsilon: float = first, l: float = length) -> float:  # noqa: E741
            return epsilon + log1p(1 / u) - (2 * u + 1) * (l - log1p(u)) / u / u

        assert off(_zcdp.epsilon_root(first, delta, length), for_epsilon) <= 3e-9
        if first < 1e300:
            assert off(_zcdp._rho_root(first, delta, length), for_rho) <= 5e-14


def test_the_best_orders_for_many_epsilons() -> None:
    rho = np.array([6.2344e-5, 1.4461e-5, 1e-6, 1e-3, 0.5, 1.0, 0.02, 1e-2, 0.3, 3e-4])
    delta = np.array([1.9129e-3, 9.811e-4, 1e-6, 1e-9, 1e-6, 1e-100, 1e-12, 0.1, 1e-3, 1e-30])
    length = -np.log(delta)
    start = np.minimum(
        np.sqrt(np.maximum(length - np.log1p(np.sqrt(length / rho)), 0.25 * np.minimum(length, 2.0)) / rho), 0.9 / delta
    )
    for place, found in enumerate(_zcdp_arrays._epsilon_root(rho, length, start).tolist()):
        assert off(found, lambda u, k=place: rho[k] * u * u + log1p(u) - length[k]) <= 2e-7  # type: ignore[misc]


def test_the_fraction_for_l_is_near_from_one_on() -> None:
    u = np.array([1.0, 1.1, 1.3, 1.7, 2.5, 5.0, 20.0, 1e3, 1e9])
    found = _zcdp_arrays._pade(u) * 1.0
    assert np.all(np.abs(found / np.log1p(1 / u) - 1) <= 5e-8 / u**8 + 1e-15)


def test_a_step_is_of_third_order() -> None:
    # Halley's method leaves the third power of what it starts with, on the axis of log u.
    rho, d = 0.01, 0.5
    root = bisected(lambda u: 2 * rho * u - log1p(1 / u) - d)
    left = []
    for apart in (0.2, 0.1, 0.05):
        start = np.array([root * exp(-apart)])
        (moved,) = _zcdp_arrays._halley(np.array([rho]), np.array([d]), start, np.log1p(1 / start))
        left.append(abs(log(float(moved) / root)))
    assert left[0] <= 0.2**3
    assert 6 <= left[0] / left[1] <= 10
    assert 6 <= left[1] / left[2] <= 10


def test_no_more_steps_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def counted(x: float) -> float:
        asked.append(x)
        return math.log1p(x)

    monkeypatch.setattr(_zcdp, "log1p", counted)
    steps, source = [], random_points()
    for _ in range(200):
        epsilon, delta = 10 ** source.uniform(-6, 3), 10 ** source.uniform(-100, -0.1)
        asked.clear()
        _zcdp._rho_root(epsilon, delta, -log(delta))
        steps.append(len(asked) / 2)
    assert sum(steps) / len(steps) <= 8
    assert max(steps) <= 16


def test_the_largest_rho_is_found_at_once_and_is_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    forward = _zcdp.zcdp_delta

    def counted(rho: float, epsilon: float) -> float:
        asked.append(rho)
        return forward(rho, epsilon)

    monkeypatch.setattr(_zcdp, "zcdp_delta", counted)
    count, source = 300, random_points()
    for _ in range(count):
        epsilon, delta = 10 ** source.uniform(-6, 3), 10 ** source.uniform(-100, -0.1)
        rho = _zcdp.zcdp_rho(epsilon, delta)
        assert forward(rho, epsilon) <= delta
        assert forward(rho * (1 + 2.0**-45), epsilon) > delta
    assert len(asked) <= 1.05 * count


def test_what_overflows_is_no_guarantee() -> None:
    one, odd = np.array([1.0]), np.array([math.nan])
    with np.errstate(all="ignore"):
        assert _zcdp_arrays._delta_bound(odd, one, one) == 1
        assert _zcdp_arrays._delta_bound(np.array([5.0]), one, one) == 1
        assert _zcdp_arrays._epsilon_bound(odd, one, one) == math.inf
    assert _zcdp.delta_at_order(1.0, math.nan, 1.0) == 1
    assert _zcdp.delta_at_order(1.0, 1.0, 5.0) == 1
    assert _zcdp.epsilon_at_order(1.0, math.nan, 1.0) == math.inf
    assert _zcdp.epsilon_at_order(1.0, 0.0, 1e-3) == 0
