"""All mechanisms and all noises, and the choice among them."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import InternalError
from discreet.mechanisms.base import Answer, Guarantee, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.correlated_lattice import CORRELATED_LATTICE, CorrelatedLattice
from discreet.mechanisms.gaussian import GAUSSIAN, GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.interval_choice import INTERVAL_CHOICE, ExponentialIntervals
from discreet.mechanisms.k_norm import K_NORM, KNormLaplace
from discreet.mechanisms.laplace import LAPLACE, LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LATTICE_GAUSSIAN, LatticeGaussian
from discreet.mechanisms.lattice_laplace import LATTICE_LAPLACE, LatticeLaplace
from discreet.mechanisms.one_sign_laplace import ONE_SIGN_LAPLACE, OneSignLaplace
from discreet.mechanisms.projected_laplace import PROJECTED_LAPLACE, ProjectedLaplace
from discreet.mechanisms.quantile_choice import QUANTILE_CHOICE, ExponentialQuantiles
from discreet.mechanisms.rounded_lattice import ROUNDED_LATTICE, RoundedLattice
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.mechanisms.sum_zero import SUM_ZERO, PairedLaplace, SumZeroLaplace
from discreet.mechanisms.vector_laplace import VECTOR_LAPLACE, VectorLaplace

__all__ = ["MECHANISMS", "NOISES", "candidates", "noise_for", "words_of"]

MECHANISMS: tuple[Mechanism, ...] = (
    LAPLACE,
    GAUSSIAN,
    SUM_ZERO,
    LATTICE_LAPLACE,
    PROJECTED_LAPLACE,
    ONE_SIGN_LAPLACE,
    VECTOR_LAPLACE,
    LATTICE_GAUSSIAN,
    ROUNDED_LATTICE,
    CORRELATED_LATTICE,
    K_NORM,
    QUANTILE_CHOICE,
    INTERVAL_CHOICE,
)

NOISES: tuple[type[Noise], ...] = (
    LaplaceNoise,
    GaussianNoise,
    HeldCells,
    SumZeroLaplace,
    PairedLaplace,
    LatticeLaplace,
    ProjectedLaplace,
    OneSignLaplace,
    VectorLaplace,
    LatticeGaussian,
    RoundedLattice,
    CorrelatedLattice,
    KNormLaplace,
    ExponentialQuantiles,
    ExponentialIntervals,
)
"""Every noise that a mechanism offers; the type checker sees here that each has all that the library asks of one."""


def candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> list[tuple[float, Noise]]:
    """The noises that give `guarantee` to an answer, each with its variance, from the least noise to the most.

    Of noises of equal variance the one that keeps exact totals comes first.

    Raises:
        ArgumentError: a noise beyond what can be drawn.
        InternalError: a sensitivity or guarantee of 0, which no noise can serve, or a guarantee that no mechanism gives.
    """
    if not sensitivity.l1 > 0:
        raise InternalError("a query that no row can change needs no noise")
    if not any(guarantee.coordinates):
        raise InternalError("a guarantee of 0 would need infinite noise")
    found = [noise for mechanism in MECHANISMS for noise in mechanism.candidates(answer, sensitivity, guarantee)]
    if not found:
        raise InternalError(f"no mechanism gives {type(guarantee).__name__}")
    return sorted(((noise.variance(), noise) for noise in found), key=lambda one: (one[0], not one[1].keeps_totals))


def noise_for(sensitivity: Sensitivity, guarantee: Guarantee) -> Noise:
    """The least noise with which every cell of an answer by itself has `guarantee`. Its parameter is an exact rational.

    Raises:
        ArgumentError: see `candidates`.
        InternalError: see `candidates`.
    """
    return candidates(Vector(1), sensitivity, guarantee)[0][1]


def words_of(written: Mapping[str, str]) -> NoiseWords | None:
    """The words of a noise that a document names; None where this version has none of that name."""
    return next((words for mechanism in MECHANISMS for words in mechanism.words if words.fit(written)), None)
