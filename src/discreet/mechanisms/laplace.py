"""Discrete Laplace noise: ε-DP at the scale Δ₁/ε, because one row changes the log-density by at most |Δ|₁/scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from discreet.exact.numbers import text
from discreet.mechanisms.adding import add_noise
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.held import restrict_to_held
from discreet.mechanisms.losses import absolute_loss, audit_cells
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.noise.single.laws import DiscreteLaplace

__all__ = ["LAPLACE", "LaplaceNoise"]

_WORDS = NoiseWords(
    name="discrete Laplace",
    parameter="scale",
    sentence="P(k) ∝ exp(−|k| / scale) for every integer k, in each group by itself.",
)


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """P(k) ∝ exp(-|k|/scale) in every cell, independently.

    Args:
        scale: an exact rational in (0, 10^17].

    Attributes:
        independent: the law of every cell.
    """

    scale: Fraction
    independent: DiscreteLaplace = field(init=False, repr=False, compare=False)
    words: ClassVar[NoiseWords] = _WORDS
    everywhere: ClassVar[bool] = True
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "independent", DiscreteLaplace(self.scale))
        object.__setattr__(self, "scale", self.independent.scale)

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
        """The ratio of the norms ‖·‖₁, by which alone the loss is bounded."""
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        """Name and exact scale."""
        return {"noise": _WORDS.name, _WORDS.parameter: text(self.scale)}

    def prepare_audit(self) -> Audited:
        """Its loss is the loss of absolute values."""
        return audit_cells(self, absolute_loss(self.scale), squared=False, is_gdp=False)


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    scale = guarantee.laplace_scale(sensitivity.l1)
    if isinstance(answer, Vector) and scale is not None:
        yield restrict_to_held(answer, LaplaceNoise(scale))


LAPLACE = Mechanism((_WORDS,), _candidates)
