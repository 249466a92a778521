"""Independent noise where exact totals leave cells that can hold a record: the others are 0 in every table, and stay 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms._placing import put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Audited, Guarantee, Independent, Integers, Noise, NoiseWords, Vector
from discreet.mechanisms.losses import copy_positions
from discreet.mechanisms.sensitivity import SomeChanges
from discreet.noise.bits import Bits
from discreet.noise.single.laws import Law

__all__ = ["HeldCells", "restrict_to_held"]


@dataclass(frozen=True, slots=True, eq=False)
class HeldCells:
    """Independent noise for the cells `held` of an answer of `cells` integers.

    Args:
        cells: how many integers the answer has.
        held: int64, their positions.
        noise: what they get.
    """

    cells: int
    held: NDArray[np.int64]
    noise: Independent
    everywhere: ClassVar[bool] = False
    keeps_totals: ClassVar[bool] = False

    @property
    def words(self) -> NoiseWords:
        """The words of the noise."""
        return self.noise.words

    @property
    def independent(self) -> Law:
        """The law of a cell that can hold a record."""
        return self.noise.independent

    def sample(self, bits: Bits) -> Integers:
        """One draw for all cells of the request."""
        return put_in_place(self.cells, self.held, self.independent.sample(len(self.held), bits))

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[np.int64]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        return put_in_place(self.cells, self.held, np.array([self.independent.half_width(level)]))

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def variance(self) -> float:
        """The variance in a cell that can hold a record, rounded up."""
        return self.noise.variance()

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction | None:
        """As the noise of the cells that can hold a record: the others never change."""
        return self.noise.part_of_guarantee(changes, guarantee)

    def to_json(self) -> dict[str, str]:
        """The JSON values of the noise: the cells that can hold a record follow from plan and totals."""
        return self.noise.to_json()

    def prepare_audit(self) -> Audited | None:
        """The functions of the noise; copies of cells have copies of the cells that can hold a record."""
        inner = self.noise.prepare_audit()
        if inner is None:
            return None
        return replace(inner, noisy=int(self.held[0]) if len(self.held) else 0, copied=self._copy)

    def _copy(self, window: NDArray[np.int64], copies: int) -> Noise:
        return HeldCells(copies * len(window), copy_positions(self.held, window, copies), self.noise)


def restrict_to_held(answer: Vector, noise: Independent) -> Noise:
    """The noise, only where a cell can hold a record."""
    return noise if answer.held is None else HeldCells(answer.size, answer.held, noise)
