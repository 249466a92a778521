"""Every noise of the registry has the guarantee, the half-widths and the law that its mechanism claims."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.exact.lattices import independent_rows, kernel_basis
from discreet.mechanisms import NOISES, ExponentialIntervals, ExponentialQuantiles, Sensitivity, candidates, law_of_cell
from discreet.mechanisms.base import Vector
from discreet.mechanisms.correlated_lattice import CorrelatedLattice
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.k_norm import KNormLaplace
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.lattice_laplace import LatticeLaplace
from discreet.mechanisms.one_sign_laplace import OneSignLaplace
from discreet.mechanisms.projected_laplace import ProjectedLaplace
from discreet.mechanisms.rounded_lattice import RoundedLattice
from discreet.mechanisms.sum_zero import PairedLaplace, SumZeroLaplace
from discreet.mechanisms.vector_laplace import VectorLaplace
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.totals.structure import Blocks, Kernel, Table, Tables, margin_equations

from .every_noise import assert_added, assert_half_widths, guarantees, points_of

BLOCK = Blocks(3, np.arange(3), np.array([3]), None)
TWO_CELLS = Blocks(2, np.arange(2), np.array([2]), None)
PAIR = Tables(6, (Table(np.arange(6).reshape(2, 3, 1), None),))
PLACES = Tables(8, (Table(np.arange(8).reshape(2, 2, 2), None),))
SQUARE = Tables(9, (Table(np.arange(9).reshape(3, 3, 1), None),))
LINE = Kernel(3, np.arange(3), np.array([[1, 1, 1], [1, 2, 3]]))


def sums(structure: Tables | Blocks | Kernel) -> np.ndarray:
    """A basis of the lattice of the structure."""
    if isinstance(structure, Blocks):
        equations = np.ones((1, 3), dtype=np.int64)
    elif isinstance(structure, Kernel):
        equations = structure.equations
    else:
        equations = margin_equations(structure.tables[0])
    rows = equations[independent_rows(equations.tolist())].tolist()
    return np.array(kernel_basis(rows, equations.shape[1]), dtype=np.int64)


def absolute(rate: float):
    return lambda points: rate * np.abs(points).sum(axis=1)


def one_sign(scale: float):
    """The larger one of the sums of positive and of negative numbers."""

    def weight(points: np.ndarray) -> np.ndarray:
        return 2 / scale * np.maximum(np.maximum(points, 0).sum(axis=1), np.maximum(-points, 0).sum(axis=1))

    return weight


def boxes(sigma2: float):
    """Minus the logarithm of the chance that a Gaussian of the span of 3 x 3 tables lies in the box around a table."""
    sides = np.array([[1 / 2, 1 / 2, -1], [1, -1, 0]])
    vectors = np.array([np.outer(row, column).ravel() for row in sides for column in sides])
    norms = (vectors**2).sum(axis=1)

    def weight(points: np.ndarray) -> np.ndarray:
        at, deviation = points @ vectors.T / norms, np.sqrt(sigma2 / norms)
        chances = ndtr((0.5 - np.abs(at)) / deviation) - ndtr((-0.5 - np.abs(at)) / deviation)
        return -np.log(np.maximum(chances, 1e-300)).sum(axis=1)

    return weight


def projected(scale: float):
    """Minus the logarithm of the chance that Z₁ - 2Z₂ + Z₃, a multiple of 1/6 after projection, is rounded to the point."""
    near = np.arange(-60, 61)
    masses = np.exp(-np.abs(near) / scale)
    twice = np.zeros(2 * masses.size - 1)
    twice[::2] = masses
    sums = np.convolve(np.convolve(masses, masses), twice / masses.sum() ** 3)
    at = (np.arange(sums.size) - sums.size // 2) / 6

    def weight(points: np.ndarray) -> np.ndarray:
        chances = [(sums * np.maximum(0, 1 - np.abs(at - z))).sum() for z in points[:, 0]]
        return -np.log(np.maximum(chances, 1e-300))

    return weight


def two_boxes(within: float, between: float):
    """The same for two cells at each place of a 2 x 2 table: the four pairs of cells, and the exchange of places."""
    exchange = np.array([1, 1, -1, -1, -1, -1, 1, 1]) / 2
    vectors = np.array([exchange, *np.kron(np.eye(4), [1, -1])])
    deviations = np.sqrt(np.array([between, within, within, within, within]) / (vectors**2).sum(axis=1))

    def weight(points: np.ndarray) -> np.ndarray:
        at = points @ vectors.T / (vectors**2).sum(axis=1)
        chances = ndtr((0.5 - np.abs(at)) / deviations) - ndtr((-0.5 - np.abs(at)) / deviations)
        return -np.log(np.maximum(chances, 1e-300)).sum(axis=1)

    return weight


ALL_CELLS = np.eye(1, dtype=np.int64)
ENUMERATED = {
    LaplaceNoise: (LaplaceNoise(Fraction(3)), ALL_CELLS, absolute(1 / 3), 120),
    SumZeroLaplace: (SumZeroLaplace(BLOCK, Fraction(3)), sums(BLOCK), absolute(1 / 3), 90),
    PairedLaplace: (PairedLaplace(PAIR, Fraction(2)), sums(PAIR), absolute(1 / 4), 70),
    LatticeLaplace: (LatticeLaplace(SQUARE, Fraction(1)), sums(SQUARE), absolute(1), 9),
    ProjectedLaplace: (ProjectedLaplace(LINE, Fraction(3)), sums(LINE), projected(3), 40),
    OneSignLaplace: (OneSignLaplace(TWO_CELLS, Fraction(6)), np.eye(2, dtype=np.int64), one_sign(6), 120),
    VectorLaplace: (
        VectorLaplace(TWO_CELLS, Fraction(6)),
        np.eye(2, dtype=np.int64),
        lambda points: np.abs(points).max(axis=1) / 6,
        150,
    ),
    LatticeGaussian: (
        LatticeGaussian(SQUARE, Fraction(3)),
        sums(SQUARE),
        lambda points: (points**2).sum(axis=1) / 6,
        9,
    ),
    RoundedLattice: (RoundedLattice(SQUARE, Fraction(3)), sums(SQUARE), boxes(3), 9),
    CorrelatedLattice: (
        CorrelatedLattice(PLACES, Fraction(1), Fraction(1, 4), listed=True),
        sums(PLACES),
        two_boxes(1, 1 / 4),
        6,
    ),
    KNormLaplace: (
        KNormLaplace(LINE, np.array([[1, -2, 1], [-1, 2, -1]]), Fraction(1, 2)),
        sums(LINE),
        lambda points: np.abs(points[:, 0]) / 2,
        90,
    ),
}
"""Each with a basis of its lattice, the weight of its law written down a second time, and how far to look."""

EXCESS = {LatticeLaplace: 4}
"""Half-widths that follow from a bound of the mean may be wider."""


@pytest.mark.parametrize("kind", ENUMERATED)
def test_half_widths_are_those_of_the_law(kind: type) -> None:
    noise, basis, weight, reach = ENUMERATED[kind]
    assert_half_widths(noise, *points_of(basis, weight, reach), EXCESS.get(kind, 2))


def test_half_widths_of_rounded_and_of_held_noise_are_those_of_the_law_of_a_cell() -> None:
    noise = GaussianNoise(Fraction(9))
    near = range(-40, 41)
    chances = np.array([noise.independent.pmf(k)[0] for k in near])
    assert_half_widths(noise, np.array(near)[:, None], chances)
    held = HeldCells(3, np.array([2]), noise)
    assert held.half_widths(Fraction(9, 10)).tolist() == [0, 0, noise.half_widths(Fraction(9, 10))]


def test_half_widths_that_are_too_small_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, basis, weight, reach = ENUMERATED[SumZeroLaplace]
    whole = SumZeroLaplace.half_widths
    for wrong in (-1, 2):
        monkeypatch.setattr(SumZeroLaplace, "half_widths", lambda law, level, by=wrong: whole(law, level) + by)
        with pytest.raises(AssertionError):
            assert_half_widths(noise, *points_of(basis, weight, reach))


def test_no_additive_noise_is_left_out() -> None:
    assert set(ENUMERATED) == set(NOISES) - {GaussianNoise, HeldCells, ExponentialQuantiles, ExponentialIntervals}


@pytest.mark.parametrize("kind", ENUMERATED)
def test_noise_is_added_to_values_as_they_are(kind: type) -> None:
    noise = ENUMERATED[kind][0]
    assert_added(noise, 6 if kind is LaplaceNoise else noise.structure.cells)


@pytest.mark.parametrize("measure", [PureDP("0.7"), ZCDP("0.3"), GDP("0.8"), PureDP(2), ZCDP(2), GDP(2)], ids=str)
@pytest.mark.parametrize("shift", [1, 3])
def test_the_least_noise_of_a_guarantee_has_it(measure: PureDP | ZCDP | GDP, shift: int) -> None:
    ((_, noise),) = candidates(Vector(1), Sensitivity(shift, shift**2), measure)
    assert guarantees(law_of_cell(noise), shift, measure)
    ((_, less),) = candidates(Vector(1), Sensitivity(shift, shift**2), type(measure)(*(2 * one for one in vars_of(measure))))
    assert not guarantees(law_of_cell(less), shift, measure)


def vars_of(measure: PureDP | ZCDP | GDP) -> list[Fraction]:
    return [getattr(measure, field) for field in measure.fields]
