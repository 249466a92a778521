"""Laplace noise for vectors: ε-DP by the largest change of any number of a cell, not by the sum of all changes.

Between compared tables the answers differ by a vector u_c in each cell c. With Σ max_i|u_c,i| ≤ D over the cells, noise with
P(v) ∝ exp(-(ε/D) Σ max_i|v_c,i|) hides it, by the triangle inequality. Where each row adds a count of 1 and sums of numbers
from -M to M, no norm is smaller: D times its unit ball is the hull of all such u, beside exact totals but for what these say
of the counts (V7 and V8 in docs/proofs/vectors.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import text
from discreet.mechanisms._placing import put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, CellLaw, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.base import law_of_cell as law_of_independent
from discreet.mechanisms.losses import Loss, audit_lattice, copy_blocks
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.noise.lattice.vector_laplace_laws import VectorLaplaceCell
from discreet.totals.structure import Blocks

__all__ = ["VECTOR_LAPLACE", "VectorLaplace", "law_of_parts"]

_WORDS = NoiseWords(
    name="Laplace of vectors",
    parameter="scale",
    sentence="P(v) ∝ exp(−max|vᵢ| / scale) for every vector v of whole numbers, one vector in each group by itself.",
    formula="scale = Δ∞ / ε",
)


@dataclass(frozen=True, slots=True, eq=False)
class VectorLaplace:
    """P(v) ∝ exp(-max|v_i|/scale) for the vector of each cell, independent of all others.

    Args:
        structure: the positions of the vectors: a block for each, all of one size.
        scale: an exact rational.
    """

    structure: Blocks
    scale: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    keeps_totals: ClassVar[bool] = False

    @property
    def parts(self) -> int:
        """How many numbers a vector has."""
        return int(self.structure.sizes[0])

    @property
    def cell(self) -> VectorLaplaceCell:
        """The law of one number."""
        return VectorLaplaceCell(self.scale, self.parts)

    @property
    def held(self) -> NDArray[np.int64] | None:
        """The positions of the vectors; None where those are all."""
        return None if self.structure.size == self.structure.cells else np.sort(self.structure.order)

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for the whole answer; 0 outside the vectors."""
        from discreet.noise.lattice.vector_laplace import vector_laplace

        drawn = vector_laplace(self.scale, self.parts, len(self.structure.sizes), bits)
        return put_in_place(self.structure.cells, self.structure.order, drawn.ravel())

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> Integers:
        """For each number of the answer a w with P(|noise| ≤ w) ≥ level."""
        return put_in_place(self.structure.cells, self.structure.order, np.array([self.cell.half_width(level)]))

    def variance(self) -> float:
        """The variance of a number, rounded up."""
        return self.cell.variance()

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, _changes: SomeChanges, _guarantee: Guarantee) -> None:
        """None: its norm is not one of those that a sensitivity has."""

    def to_json(self) -> dict[str, str]:
        """Name and exact scale: the vectors follow from the query."""
        return {"noise": _WORDS.name, _WORDS.parameter: text(self.scale)}

    def prepare_audit(self) -> Audited:
        """Each vector is a block by itself."""
        return audit_lattice(
            self.structure,
            _loss(self.scale),
            lambda window, copies: VectorLaplace(copy_blocks(self.structure, window, copies), self.scale),
            squared=False,
            cell=lambda: self.cell,
        )


def _loss(scale: Fraction) -> Loss:
    """(max|v − move| − max|v|)/scale over the numbers that move, as if in one vector: near enough to tell answers apart."""
    rate = float(1 / scale)

    def loss(noise: NDArray[np.float64], move: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((np.abs(noise - move).max(axis=1) - np.abs(noise).max(axis=1)) * rate)

    return loss


def law_of_parts(noise: Noise) -> CellLaw:
    """The law of the numbers of one vector: of each by itself, where these are independent.

    Raises:
        InternalError: cells depend on each other in another way.
    """
    return noise.cell if isinstance(noise, VectorLaplace) else law_of_independent(noise)


def _candidates(answer: Answer, _sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    """Empty where a radius would seldom be taken: at a large ε, with many numbers in a vector."""
    if not isinstance(answer, Vector) or answer.together is None or not len(answer.together.blocks.sizes):
        return
    scale = guarantee.laplace_scale(answer.together.largest)
    if scale is not None:
        found = VectorLaplace(answer.together.blocks, scale)
        if found.parts > 1 and found.cell.is_drawn_soon():
            yield found


VECTOR_LAPLACE = Mechanism((_WORDS,), _candidates)
