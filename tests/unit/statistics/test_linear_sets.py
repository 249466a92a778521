"""What intervals of coefficients rest on: bounds of random matrices, and every part of the factors of a combination."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.bits import system_bits
from discreet.noise.lattice.vector_laplace import vector_laplace
from discreet.noise.lattice.vector_laplace_laws import VectorLaplaceCell
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.statistics import linear_sets, noise_matrices
from discreet.statistics.linear_sets import Asked, solve
from discreet.statistics.moments import Normal
from discreet.statistics.noise_matrices import bound_norm

LAWS = [RoundedGaussian(Fraction(100)), DiscreteLaplace(Fraction(10)), VectorLaplaceCell(Fraction(10), 6)]
RUNS = 4000


def draws(law: object, parts: int, runs: int) -> np.ndarray:
    if isinstance(law, VectorLaplaceCell):
        return vector_laplace(law.scale, parts, runs, system_bits()).astype(float)
    return np.asarray(law.sample(parts * runs, system_bits()), dtype=float).reshape(runs, parts)  # type: ignore[attr-defined]


def symmetric(size: int) -> np.ndarray:
    """A part for each entry of a symmetric matrix."""
    found = []
    for i in range(size):
        for j in range(i, size):
            one = np.zeros((size, size))
            one[i, j] = one[j, i] = 1 + 0.1 * i
            found.append(one)
    return np.array(found)


def beyond(law: object, failing: Fraction) -> float:
    """How often the norm of drawn matrices is beyond its bound."""
    matrices = symmetric(3)
    norms = np.linalg.norm(np.einsum("rp,pij->rij", draws(law, 6, RUNS), matrices), 2, axis=(1, 2))
    return float((norms > bound_norm(law, matrices, failing)).mean())  # type: ignore[arg-type]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_norms_of_drawn_matrices_are_seldom_beyond_their_bound(law: object) -> None:
    assert beyond(law, Fraction(1, 20)) <= 0.05 + 7 * (0.05 * 0.95 / RUNS) ** 0.5


def test_a_bound_of_half_the_size_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = noise_matrices._deviation
    monkeypatch.setattr(noise_matrices, "_deviation", lambda *given: (real(*given) or 0.0) / 3)
    assert beyond(LAWS[0], Fraction(1, 20)) > 0.2


def test_the_norm_of_a_matrix_of_normal_numbers_is_bounded_better_than_entry_by_entry() -> None:
    law, matrices = LAWS[0], symmetric(5)
    wide = float(law.half_width(1 - Fraction(1, 1000) / len(matrices)))  # type: ignore[attr-defined]
    assert bound_norm(law, matrices, Fraction(1, 1000)) < 0.7 * np.linalg.norm(wide * matrices.sum(axis=0), 2)  # type: ignore[arg-type]


def equations(rows: int, noise: np.ndarray) -> Normal:
    """y = 0.9x over rows with x = ±1, half of them each; every moment but the first with its own noise."""
    part = np.array([[-1, 0, 1], [0, 2, 3], [1, 3, -1]])
    exact = np.array([[rows, 0.0, 0.0], [0.0, rows, 0.9 * rows], [0.0, 0.9 * rows, 0.81 * rows]])
    added = np.where(part >= 0, noise[:, np.maximum(part, 0)], 0.0)
    return Normal(exact + added, part, np.where(part >= 0, 1.0, 0.0))


def held(rows: int, deviation: int) -> tuple[float, float]:
    """How often the interval of the slope holds, and its median half-width in deviations of its error."""
    law = RoundedGaussian(Fraction(deviation) ** 2)
    noise = np.random.default_rng(3).normal(0, deviation, (RUNS, 4))
    found = solve(equations(rows, np.rint(noise)), law, Fraction(1, 20), Asked(np.eye(2), np.eye(2)))
    off = np.abs(found.value[:, 1] - 0.9)
    return float((off <= found.half[:, 1]).mean()), float(np.median(found.half[:, 1]) / np.std(found.value[:, 1]))


def test_intervals_hold_and_are_about_as_wide_as_they_must_be() -> None:
    for rows, deviation, most in ((10_000, 20, 2.4), (2_000, 40, 2.9)):
        part, width = held(rows, deviation)
        assert part >= 0.95 - 7 * (0.05 * 0.95 / RUNS) ** 0.5
        assert width < most


def test_factors_that_are_known_too_well_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solution is near 0 in these equations, but it need not be: what is left open must be among the factors."""
    law = RoundedGaussian(Fraction(400))
    exact = equations(400, np.zeros((1, 4)))
    system = linear_sets._System(exact)
    near = np.array([[0.0, 0.5]])
    wide = linear_sets._combined(system, law, Fraction(1, 20), (np.eye(2), near))
    for slope in (0.9 - 0.5, 0.9, 0.9 + 0.5):
        # The second equation is off by E₂₁·0 + E₂₂·slope - e₂, whose deviation is 20·√(slope² + 1).
        assert wide[0, 1] >= 1.9599 * 20 * (slope**2 + 1) ** 0.5
    assert wide[0, 1] <= 1.97 * 20 * (1.4**2 + 1) ** 0.5 + 2


def test_the_spread_holds_the_true_inverse() -> None:
    """Of matrices Ĝ that are G with drawn noise, the bounds of G⁻¹ are at least those of G⁻¹."""
    law = RoundedGaussian(Fraction(900))
    noise = np.rint(np.random.default_rng(4).normal(0, 30, (RUNS, 4)))
    found = solve(equations(1_000, noise), law, Fraction(1, 20), Asked(np.eye(2), np.eye(2)))
    known = np.isfinite(found.half[:, 1])
    assert known.mean() > 0.99
    assert (found.spread[known, 1] >= 1 / 1_000).mean() >= 0.95 - 7 * (0.05 * 0.95 / RUNS) ** 0.5
    assert np.median(found.spread[known, 1]) < 2 / 1_000
