"""What every law of noise has: a name for people, canonical JSON values, half-widths."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from discreet.errors import InternalError, unreachable
from discreet.exact.numbers import decimal_text, exact, text
from discreet.mechanisms.lattice import (
    HeldCells,
    KNormLaplace,
    LatticeGaussian,
    LatticeLaw,
    PairedLaplace,
    PlainLaw,
    SumZeroLaplace,
)
from discreet.mechanisms.selection import ExponentialQuantiles
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.totals.structure import describe

__all__ = ["Noise", "half_widths", "law_json", "law_text"]

Noise = PlainLaw | LatticeLaw | ExponentialQuantiles
"""How the answers of one query are made public."""


def law_text(law: Noise) -> str:
    """The law for people: its parameter exactly when that is short, else to six digits; a release states it exactly."""
    name, parameter = list(law_json(law).items())[:2]
    written = parameter[1] if len(parameter[1]) <= 12 else "about " + decimal_text(exact(parameter[1], parameter[0]))
    return f"{name[1]}, {parameter[0]} {written}"


def law_json(law: Noise) -> dict[str, str]:
    """The law of a noise as canonical JSON values: its name, its exact parameter and, for a lattice, its structure."""
    match law:
        case DiscreteLaplace(scale=parameter):
            return {"noise": "discrete Laplace", "scale": text(parameter)}
        case RoundedGaussian(sigma2=parameter):
            return {"noise": "rounded Gaussian", "variance": text(parameter)}
        case HeldCells(law=inner):
            return law_json(inner)
        case SumZeroLaplace(structure=structure, scale=parameter):
            return {"noise": "K-norm on the lattice", "scale": text(parameter), "lattice": describe(structure)}
        case PairedLaplace(structure=structure, scale=parameter):
            return {"noise": "K-norm on the lattice", "scale": text(parameter), "lattice": describe(structure)}
        case LatticeGaussian(structure=structure, sigma2=parameter):
            return {"noise": "Gaussian on the lattice", "variance": text(parameter), "lattice": describe(structure)}
        case KNormLaplace(structure=structure, epsilon=parameter):
            return {"noise": "K-norm of the hull", "epsilon": text(parameter), "lattice": describe(structure)}
        case ExponentialQuantiles(reach=parameter, at=at):
            return {"noise": "exponential mechanism", "range": text(parameter), "at": ", ".join(map(text, at))}
    raise unreachable(law)


def half_widths(law: Noise, level: Fraction) -> int | NDArray[Any]:
    """A w with P(|noise of a cell| ≤ w) ≥ level: one for all cells, or one for each on a lattice."""
    match law:
        case DiscreteLaplace() | RoundedGaussian():
            return law.half_width(level)
        case HeldCells() | SumZeroLaplace() | PairedLaplace() | LatticeGaussian() | KNormLaplace():
            return law.half_widths(level)
        case ExponentialQuantiles():
            raise InternalError("chosen quantiles have no additive noise")
    raise unreachable(law)
