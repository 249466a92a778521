"""Laplace noise for sums of numbers of one sign beside exact totals: the K-norm of all that such sums can change by.

Each of the a rows that differ takes at most M from one cell and adds at most M to another of its block. So the positive
changes of a block add up to at most kM, the negative ones too, and Σ k ≤ a: the norm Σ max(v⁺, v⁻) over the blocks is at
most aM. With one more cell in each block, that holds minus its sum, twice this norm is ‖v‖₁, so that the noise is drawn as
integers of sum 0 (Theorem L6, docs/proofs/lattice-l1.md). Where numbers have both signs alike, independent noise is the
K-norm already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import text
from discreet.mechanisms._placing import by_block, mean_of_blocks, put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.losses import absolute_loss, audit_lattice, copy_blocks
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.totals.structure import Blocks

__all__ = ["ONE_SIGN_LAPLACE", "OneSignLaplace"]

_WORDS = NoiseWords(
    name="K-norm of sums",
    parameter="scale",
    sentence=(
        "P(v) ∝ exp(−2‖v‖ / scale) for integers v; ‖v‖ adds up over the blocks of groups between which no record moves, in "
        "each the larger one of the sum of its positive numbers and that of its negative ones."
    ),
    formula="scale = 2aM / ε",
)


@dataclass(frozen=True, slots=True, eq=False)
class OneSignLaplace:
    """P(v) ∝ exp(-2 Σ max(v⁺, v⁻)/scale), the sum over blocks, v⁺ and v⁻ the sums of their positive and negative numbers."""

    structure: Blocks
    scale: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    keeps_totals: ClassVar[bool] = False

    @property
    def held(self) -> NDArray[np.int64] | None:
        """The cells of the blocks; None where those are all."""
        return None if self.structure.size == self.structure.cells else np.sort(self.structure.order)

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the blocks."""
        from discreet.noise.lattice.sum_zero import sum_zero_laplace

        sizes = self.structure.sizes + 1
        inside = np.ones(int(sizes.sum()), dtype=bool)
        inside[np.cumsum(sizes) - 1] = False
        return put_in_place(self.structure.cells, self.structure.order, sum_zero_laplace(self.scale, sizes, bits)[inside])

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        return by_block(self.structure, lambda size: SumZeroLaplaceCell(self.scale, size + 1).half_width(level))

    def variance(self) -> float:
        """The mean variance of the cells, rounded up."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        return mean_of_blocks(self.structure, lambda size: SumZeroLaplaceCell(self.scale, size + 1).variance())

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, _changes: SomeChanges, _guarantee: Guarantee) -> None:
        """None: its norm is not one of those that a sensitivity has."""

    def to_json(self) -> dict[str, str]:
        """Name and exact scale: the blocks follow from plan and totals."""
        return {"noise": self.words.name, self.words.parameter: text(self.scale)}

    def prepare_audit(self) -> Audited:
        """The loss of absolute values is not its own, but tells answers apart nearly as well."""
        return audit_lattice(
            self.structure,
            absolute_loss(self.scale),
            lambda window, copies: OneSignLaplace(copy_blocks(self.structure, window, copies), self.scale),
            squared=False,
        )


def _candidates(answer: Answer, _sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    if not isinstance(answer, Vector) or answer.one_sign is None:
        return
    scale = guarantee.laplace_scale(answer.one_sign.l1)
    if scale is not None:
        yield OneSignLaplace(answer.one_sign.blocks, scale)


ONE_SIGN_LAPLACE = Mechanism((_WORDS,), _candidates)
