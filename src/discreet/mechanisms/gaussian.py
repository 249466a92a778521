"""Rounded Gaussian noise: with σ² = Δ₂²/μ² exactly μ-GDP, and with σ² = Δ₂²/(2ρ) exactly ρ-zCDP.

Rounding N(0, σ²) and adding it to integers is post-processing of the Gaussian mechanism, hence exactly μ-GDP and
μ²/2-zCDP in every dimension (soundness 15).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from discreet.exact.numbers import text
from discreet.mechanisms.adding import add_noise
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.held import restrict_to_held
from discreet.mechanisms.losses import audit_cells, squared_loss
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.noise.single.laws import RoundedGaussian

__all__ = ["GAUSSIAN", "GaussianNoise"]

_WORDS = NoiseWords(
    name="rounded Gaussian",
    parameter="variance",
    sentence="a normal number of variance σ², rounded to the nearest integer; in each group by itself.",
)


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """round(N(0, sigma2)) in every cell, independently.

    Args:
        sigma2: an exact rational in (0, 10^34].

    Attributes:
        independent: the law of every cell.
    """

    sigma2: Fraction
    independent: RoundedGaussian = field(init=False, repr=False, compare=False)
    words: ClassVar[NoiseWords] = _WORDS
    everywhere: ClassVar[bool] = True
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "independent", RoundedGaussian(self.sigma2))
        object.__setattr__(self, "sigma2", self.independent.sigma2)

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise for every cell, empty or not."""
        return add_noise(values, self.independent, bits)

    def half_widths(self, level: Fraction) -> int:
        """The smallest w with P(|noise of a cell| ≤ w) ≥ level."""
        return self.independent.half_width(level)

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def variance(self) -> float:
        """The variance in a cell, rounded up."""
        return self.independent.variance()

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        """The ratio of the squared norms ‖·‖₂², by which alone the guarantee goes."""
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        """Name and exact variance before rounding."""
        return {"noise": _WORDS.name, _WORDS.parameter: text(self.sigma2)}

    def prepare_audit(self) -> Audited:
        """Its loss is linear in the noise, but for rounding."""
        return audit_cells(self, squared_loss(self.variance()), squared=True, is_gdp=True)


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    variance = guarantee.gaussian_variance(sensitivity.l2_squared)
    if isinstance(answer, Vector) and variance is not None:
        yield restrict_to_held(answer, GaussianNoise(variance))


GAUSSIAN = Mechanism((_WORDS,), _candidates)
