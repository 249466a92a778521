"""The mechanisms over the reals have the laws of their papers, corrected."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb

from discreet.errors import ArgumentError
from discreet.noise.lattice.cones import KNorm, k_norm

from .over_the_reals import continuous_k_norm, projected_gaussian

# What up to three records can change in a 3 x 3 table of fixed margins: 18 moves of two records, 12 of three.
FREE = np.array(list(product(range(-1, 2), repeat=4))).reshape(-1, 2, 2)
ROWS = np.concatenate([FREE, -FREE.sum(axis=2, keepdims=True)], axis=2)
TABLES = np.concatenate([ROWS, -ROWS.sum(axis=1, keepdims=True)], axis=1).reshape(-1, 9)
SIZES = np.abs(TABLES).sum(axis=1)
POINTS = TABLES[(SIZES > 0) & (SIZES <= 6)]
SQUARES = TABLES[SIZES == 4]
DRAWS = 1200


class Altered:
    """A generator of which one method gives something else."""

    def __init__(self, seed: int, **methods) -> None:
        self._generator = np.random.default_rng(seed)
        self._methods = methods

    def __getattr__(self, name: str):
        return self._methods.get(name) or getattr(self._generator, name)


def norms(norm: KNorm, noise: np.ndarray) -> np.ndarray:
    """‖v‖_K of real vectors in the span, by the facets."""
    basis = norm.basis.astype(float)
    normals = np.array([[float(entry) for entry in normal] for normal in norm.polytope.facets])
    return ((noise @ np.linalg.pinv(basis)) @ normals.T).max(axis=1)


def distance(sample: np.ndarray, shape: int) -> float:
    """√n times the Kolmogorov-Smirnov distance from Gamma(shape); above 2.5 with probability below 1e-5."""
    cdf = np.array([float(arb(x).gamma_lower(arb(shape), regularized=1)) for x in np.sort(sample)])
    steps = np.arange(sample.size + 1) / sample.size
    return float(max((steps[1:] - cdf).max(), (cdf - steps[:-1]).max()) * sample.size**0.5)


def test_the_norm_of_the_k_norm_noise_is_gamma() -> None:
    generator, norm = np.random.default_rng(3), k_norm(POINTS)
    noise = np.array([continuous_k_norm(np.zeros(9), POINTS, "0.5", generator) for _ in range(DRAWS)])
    assert distance(norms(norm, noise) / 2, shape=4) < 2.5
    assert distance(norms(norm, noise) / 2.4, shape=4) > 2.5


def test_a_radius_of_one_shape_less_is_noticed() -> None:
    seeded = np.random.default_rng(4)
    generator = Altered(5, standard_gamma=lambda shape: seeded.standard_gamma(shape - 1))
    noise = np.array([continuous_k_norm(np.zeros(9), POINTS, 1, generator) for _ in range(DRAWS)])
    assert distance(norms(k_norm(POINTS), noise), shape=4) > 4


@pytest.mark.parametrize(("points", "length", "square"), [(POINTS, 1.4327, 2.1542), (SQUARES, 1.2207, 1.5638)])
def test_the_direction_is_a_uniform_point_of_the_hull(points, length, square) -> None:
    """The mean length and square of a uniform point of K, with a radius of 1."""
    generator = Altered(6, standard_gamma=lambda _: 1.0)
    drawn = np.array([continuous_k_norm(np.zeros(9), points, 1, generator) for _ in range(DRAWS)])
    lengths = np.linalg.norm(drawn, axis=1)
    assert lengths.mean() == pytest.approx(length, abs=6 * lengths.std() / DRAWS**0.5)
    assert (lengths**2).mean() == pytest.approx(square, abs=6 * (lengths**2).std() / DRAWS**0.5)


def test_noise_keeps_the_margins_and_is_centred_at_the_statistic() -> None:
    generator, theta = np.random.default_rng(7), np.arange(9.0)
    for noise in (
        continuous_k_norm(theta, POINTS, 1, generator) - theta,
        projected_gaussian(theta, POINTS, 1, generator) - theta,
    ):
        table = noise.reshape(3, 3)
        assert np.abs(table).max() > 0.01
        assert np.abs(table.sum(axis=0)).max() < 1e-12
        assert np.abs(table.sum(axis=1)).max() < 1e-12


def test_the_gaussian_is_the_projected_one_with_the_length_of_hexagons() -> None:
    """Normal numbers replaced by unit vectors show the matrix of the noise: √6/μ times the projector."""
    columns = iter(np.eye(9))
    generator = Altered(8, standard_normal=lambda _: next(columns))
    matrix = np.array([projected_gaussian(np.zeros(9), POINTS, "0.1", generator) for _ in range(9)])
    centred = np.eye(3) - np.ones((3, 3)) / 3
    assert np.allclose(matrix, 6**0.5 / 0.1 * np.kron(centred, centred))
    assert not np.allclose(matrix, 2 / 0.1 * np.kron(centred, centred))  # the length of the moves of two records


def test_the_gaussian_has_the_covariance_of_its_law() -> None:
    generator, total = np.random.default_rng(9), [(1, -1, 0), (-1, 1, 0), (0, 1, -1), (0, -1, 1)]
    noise = np.array([projected_gaussian(np.zeros(3), total, 2, generator) for _ in range(DRAWS)])
    expected = 2 / 4 * (np.eye(3) - np.ones((3, 3)) / 3)
    assert np.abs(noise.T @ noise / DRAWS - expected).max() < 6 * 0.5 / DRAWS**0.5


@pytest.mark.parametrize("theta", [np.zeros(8), np.zeros((3, 3)), np.full(9, np.nan)])
@pytest.mark.parametrize("mechanism", [continuous_k_norm, projected_gaussian])
def test_statistics_that_do_not_fit_are_refused(mechanism, theta) -> None:
    with pytest.raises(ArgumentError, match="theta: must be 9 finite numbers"):
        mechanism(theta, POINTS, 1, np.random.default_rng(0))


@pytest.mark.parametrize("rate", [0, -1, Fraction(-1, 3), "nan", True])
@pytest.mark.parametrize(("mechanism", "name"), [(continuous_k_norm, "epsilon"), (projected_gaussian, "mu")])
def test_parameters_that_are_not_positive_are_refused(mechanism, name, rate) -> None:
    with pytest.raises(ArgumentError, match=name):
        mechanism(np.zeros(9), POINTS, rate, np.random.default_rng(0))
