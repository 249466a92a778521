"""Additive integer noise with an exact law, for each guarantee.

* PureDP(ε): discrete Laplace with scale Δ₁/ε. One row changes the log-density by at most |Δ|₁/scale = ε.
* ZCDP(ρ) and GDP(μ): rounded Gaussian with σ² = Δ₂²/(2ρ) and σ² = Δ₂²/μ². Rounding N(0, σ²) and adding it to integers is
  post-processing of the Gaussian mechanism, hence exactly μ-GDP and μ²/2-zCDP in every dimension (soundness 15).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.mechanisms.lattice import LATTICE_LAWS, LatticeLaw, PlainLaw
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise.bits import Bits
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.privacy import GDP, ZCDP, PureDP

__all__ = ["add_noise", "add_noise_in_place", "law_for"]


def law_for(sensitivity: Sensitivity, guarantee: PureDP | ZCDP | GDP) -> PlainLaw:
    """The noise that gives `guarantee` for one row. Its scale is an exact rational.

    Raises:
        InternalError: a sensitivity or guarantee of 0, which no noise law can serve.
    """
    if not sensitivity.l1 > 0:
        raise InternalError("a query that no row can change needs no noise")
    match guarantee:
        case PureDP(epsilon=epsilon) if epsilon > 0:
            return DiscreteLaplace(Fraction(sensitivity.l1) / epsilon)
        case ZCDP(rho=rho) if rho > 0:
            return RoundedGaussian(Fraction(sensitivity.l2_squared) / (2 * rho))
        case GDP(mu=mu) if mu > 0:
            return RoundedGaussian(Fraction(sensitivity.l2_squared) / mu**2)
    raise InternalError("a guarantee of 0 would need infinite noise")


def add_noise(values: NDArray[Any], law: PlainLaw | LatticeLaw, bits: Bits) -> NDArray[Any]:
    """`values` plus noise for every cell, empty or not, in integers that cannot overflow.

    The noise of cells is independent, or on the lattice that exact totals leave free. It is drawn before it meets a value,
    so that drawing cannot depend on one.
    """
    noise = law.sample(bits) if isinstance(law, LATTICE_LAWS) else law.sample(len(values), bits)
    if values.dtype == np.int64 and len(noise) and int(np.abs(noise).max()) < 2**62:
        # Values are below 2**62 by the static bound of `queries`; both halves together fit.
        return np.asarray(values + noise)
    return np.asarray(values.astype(np.object_) + noise.astype(np.object_))


def add_noise_in_place(values: NDArray[Any], law: PlainLaw | LatticeLaw, bits: Bits, *, chunk: int) -> NDArray[Any]:
    """`add_noise` for `chunk` cells at a time, in the memory of `values` wherever their type can hold the answers.

    Noise of independent cells has the same law however it is cut. That of a lattice is one draw.
    """
    if isinstance(law, LATTICE_LAWS):
        return add_noise(values, law, bits)
    for start in range(0, len(values), chunk):
        noisy = add_noise(values[start : start + chunk], law, bits)
        if noisy.dtype != values.dtype:
            values = values.astype(np.object_)
        values[start : start + chunk] = noisy
    return values
