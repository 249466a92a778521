"""An example of every noise and of every lattice, for the tests that no member is left out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.mechanisms import ExponentialIntervals, ExponentialQuantiles
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
from discreet.totals.structure import Blocks, Kernel, Table, Tables

HALF = Fraction(1, 2)

BLOCKS = Blocks(4, np.arange(4), np.array([2, 2]), None)
PAIR = Tables(6, (Table(np.arange(6).reshape(2, 3, 1), None),))
SQUARE = Tables(9, (Table(np.arange(9).reshape(3, 3, 1), None),))
PLACES = Tables(8, (Table(np.arange(8).reshape(2, 2, 2), None),))
KERNEL = Kernel(3, np.arange(3), np.array([[1, 1, 1], [1, 2, 3]]))
STRUCTURES = {type(one): one for one in (BLOCKS, PAIR, KERNEL)}


OF_NOISES: dict[type, tuple[Any, str, str]] = {
    LaplaceNoise: (LaplaceNoise(Fraction(2)), "pure-dp", "scale = Δ₁ / ε"),
    GaussianNoise: (GaussianNoise(Fraction(4)), "zcdp", "σ² = Δ₂² / (2ρ)"),
    HeldCells: (HeldCells(3, np.array([0, 2]), GaussianNoise(Fraction(4))), "gdp", "σ² = Δ₂² / μ²"),
    SumZeroLaplace: (SumZeroLaplace(BLOCKS, Fraction(2)), "pure-dp", "scale = Δ₁ / ε"),
    PairedLaplace: (PairedLaplace(PAIR, Fraction(2)), "pure-dp", "scale = Δ₁ / (2ε)"),
    LatticeLaplace: (LatticeLaplace(SQUARE, Fraction(2)), "pure-dp", "scale = Δ₁ / ε"),
    ProjectedLaplace: (ProjectedLaplace(SQUARE, Fraction(2)), "pure-dp", "scale = Δ₁ / ε"),
    OneSignLaplace: (OneSignLaplace(BLOCKS, Fraction(2)), "pure-dp", "scale = 2aM / ε"),
    VectorLaplace: (VectorLaplace(BLOCKS, Fraction(2)), "pure-dp", "scale = Δ∞ / ε"),
    LatticeGaussian: (LatticeGaussian(SQUARE, Fraction(50)), "zcdp", "σ² = Δ₂² / (2ρ)"),
    RoundedLattice: (RoundedLattice(SQUARE, Fraction(6)), "gdp", "σ² = Δ₂² / μ²"),
    CorrelatedLattice: (CorrelatedLattice(PLACES, Fraction(18), Fraction(18, 5), listed=True), "gdp", "(σ², τ²)"),
    KNormLaplace: (KNormLaplace(KERNEL, np.array([[1, -2, 1], [-1, 2, -1]]), HALF), "pure-dp", "ε"),
    ExponentialQuantiles: (ExponentialQuantiles(4, 1, (HALF,), HALF), "zcdp", "range² = 8ρ / Δ₂²"),
    ExponentialIntervals: (ExponentialIntervals(4, 1, (HALF,), HALF), "zcdp", "range² = 8ρ / Δ₂²"),
}
CHOSEN = {ExponentialQuantiles, ExponentialIntervals}  # nothing is added; what is drawn depends on the records
UNTIED = {*CHOSEN, OneSignLaplace, VectorLaplace}  # these keep no totals, though cells depend on each other
