"""The part of its guarantee that a noise spends on some of the changes that it hides: less where they are smaller.

A change of another size costs in proportion to it where the loss of the noise depends on nothing but the norm. Every other
noise is said to spend all of its guarantee on any change (docs/proofs/programmes.md, P3).
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InternalError
from discreet.mechanisms.base import Guarantee, Noise
from discreet.mechanisms.correlated_lattice import CorrelatedLattice
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.lattice_laplace import LatticeLaplace
from discreet.mechanisms.projected_laplace import ProjectedLaplace
from discreet.mechanisms.rounded_lattice import RoundedLattice
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.mechanisms.sum_zero import PairedLaplace, SumZeroLaplace

__all__ = ["advertised_part", "part_of_guarantee"]

_BY_NORM: tuple[type[Noise], ...] = (
    LaplaceNoise,
    GaussianNoise,
    HeldCells,
    SumZeroLaplace,
    PairedLaplace,
    LatticeLaplace,
    ProjectedLaplace,
    LatticeGaussian,
    RoundedLattice,
)
"""The noises whose loss between two answers is bounded by the norm of their difference alone: ‖·‖₁, or ‖·‖₂²."""


def part_of_guarantee(
    noise: Noise, moved: Sensitivity, most: Sensitivity, guarantee: Guarantee, *, keeps_places: bool
) -> Fraction | None:
    """What changes cost at most, in the coordinates of the guarantee and relative to it; it may be more than 1.

    None where the noise has no such rule: then they cost what any changes do.

    Args:
        noise: it has `guarantee` for answers within `most` of each other.
        moved: the norms of these changes. Each of them is a sum of m moves of one row from a cell to another, or to none,
            where these are m times, and m² times, those of one move.
        most: all changes that the noise hides.
        guarantee: of the noise.
        keeps_places: whether no changed row goes to another place of the exact margins.

    Raises:
        InternalError: `most` is nothing.
    """
    if isinstance(noise, CorrelatedLattice):
        return _of_two_variances(noise, moved, guarantee, keeps_places=keeps_places)
    return _by_norm(moved, most, guarantee) if isinstance(noise, _BY_NORM) else None


def advertised_part(noise: Noise, ordinary: Sensitivity, most: Sensitivity, guarantee: Guarantee) -> Fraction:
    """The part for any one replaced row, as somebody states it who counts no exact totals: only printed.

    Such a row may go to another place, where noise of two variances is less. For other noises it is the ratio of the norms.
    """
    if isinstance(noise, CorrelatedLattice):
        return _of_two_variances(noise, ordinary, guarantee, keeps_places=False)
    return _by_norm(ordinary, most, guarantee)


def _by_norm(moved: Sensitivity, most: Sensitivity, guarantee: Guarantee) -> Fraction:
    whole = type(guarantee).size(most)
    if not whole:
        raise InternalError("a query that nothing changes has no noise")
    return Fraction(type(guarantee).size(moved), whole)


def _of_two_variances(noise: CorrelatedLattice, moved: Sensitivity, guarantee: Guarantee, *, keeps_places: bool) -> Fraction:
    """The form of the noise: |Wu|²/σ² + |Bu|²/τ² for u = e_x - e_y, where |Bu|² is 2/F between places and 0 within one."""
    unit = guarantee.gaussian_variance(1)
    if unit is None:
        raise InternalError("a Gaussian whose guarantee is not one")
    within = unit / noise.within
    between = within * (1 - Fraction(1, noise.depth)) + unit / (noise.between * noise.depth)
    return moved.l2_squared * (within if keeps_places else between)
