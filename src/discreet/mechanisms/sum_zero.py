"""Laplace noise whose sums are 0: ε-DP with exact totals where these leave blocks or tables of two rows free.

Where θ(X) - θ(X') ∈ L for equal totals, noise V on L with P(v) ∝ exp(-ε‖v‖/Δ) is ε-semi-DP for every norm with ‖u‖ ≤ Δ on
the sensitivity space, by the triangle inequality (Theorem L1, docs/proofs/semi-dp.md). Here it is ‖v‖₁ = Σ |vᵢ|.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import unreachable
from discreet.exact.numbers import text
from discreet.mechanisms._placing import by_block, is_paired, mean_of_blocks, put_in_place, two_rows
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.losses import absolute_loss, audit_lattice, copy_blocks, copy_tables
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.totals.structure import Blocks, Kernel, Tables, describe

__all__ = ["SUM_ZERO", "PairedLaplace", "SumZeroLaplace"]

_IN_BLOCKS = NoiseWords(
    name="K-norm on the lattice",
    parameter="scale",
    sentence="P(v) ∝ exp(−(|v₁| + |v₂| + …) / scale) for integers v that add up to 0 in each block.",
    title="K-norm on the lattice, blocks",
    lattices=(" block of ", " blocks of "),
)
_IN_TABLES = NoiseWords(
    name="K-norm on the lattice",
    parameter="scale",
    sentence=(
        "P(v) ∝ exp(−(|v₁| + |v₂| + …) / (2 · scale)) for integers v that add up to 0 in each row and column of a table."
    ),
    formula="scale = Δ₁ / (2ε)",
    title="K-norm on the lattice, tables",
    lattices=(" table of ", " tables of "),
)


@dataclass(frozen=True, slots=True, eq=False)
class SumZeroLaplace:
    """P(v) ∝ exp(-‖v‖₁/scale) on vectors that sum to 0 in each block (Theorem L2)."""

    structure: Blocks
    scale: Fraction
    words: ClassVar[NoiseWords] = _IN_BLOCKS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.sum_zero import sum_zero_laplace

        return put_in_place(
            self.structure.cells, self.structure.order, sum_zero_laplace(self.scale, self.structure.sizes, bits)
        )

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        return by_block(self.structure, lambda size: SumZeroLaplaceCell(self.scale, size).half_width(level))

    def variance(self) -> float:
        """The mean variance of the cells, rounded up."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        return mean_of_blocks(self.structure, lambda size: SumZeroLaplaceCell(self.scale, size).variance())

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        """The ratio of the norms ‖·‖₁, by which alone the loss is bounded."""
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        """Name, exact scale and lattice."""
        return {"noise": self.words.name, self.words.parameter: text(self.scale), "lattice": describe(self.structure)}

    def prepare_audit(self) -> Audited:
        """The loss is the loss of absolute values."""
        return audit_lattice(
            self.structure,
            absolute_loss(self.scale),
            lambda window, copies: SumZeroLaplace(copy_blocks(self.structure, window, copies), self.scale),
            squared=False,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairedLaplace:
    """P(v) ∝ exp(-‖v‖₁/(2 scale)) on tables of 2 x J with both margins 0: a row w that sums to 0, and -w beneath."""

    structure: Tables
    scale: Fraction
    words: ClassVar[NoiseWords] = _IN_TABLES
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.sum_zero import sum_zero_laplace

        rows = [two_rows(table.order) for table in self.structure.tables]
        sizes = np.array([row.shape[1] for row in rows], dtype=np.int64)
        drawn = sum_zero_laplace(self.scale, sizes, bits)
        both = np.concatenate([np.concatenate(list(row)) for row in rows])
        pairs = np.split(drawn, np.cumsum(sizes)[:-1])
        return put_in_place(self.structure.cells, both, np.concatenate([part for row in pairs for part in (row, -row)]))

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        widths = np.zeros(self.structure.cells, dtype=np.int64)
        for table in self.structure.tables:
            size = two_rows(table.order).shape[1]
            widths[table.order.ravel()] = SumZeroLaplaceCell(self.scale, size).half_width(level)
        return widths

    def variance(self) -> float:
        """The mean variance of the cells, rounded up."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        sizes = [(table.order.size, two_rows(table.order).shape[1]) for table in self.structure.tables]
        total = sum(cells * SumZeroLaplaceCell(self.scale, size).variance() for cells, size in sizes)
        return total / max(1, sum(cells for cells, _ in sizes))

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        """The ratio of the norms ‖·‖₁, by which alone the loss is bounded."""
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        """Name, exact scale and lattice."""
        return {"noise": self.words.name, self.words.parameter: text(self.scale), "lattice": describe(self.structure)}

    def prepare_audit(self) -> Audited:
        """The loss is the loss of absolute values; of every pair of rows each number counts twice."""
        return audit_lattice(
            self.structure,
            absolute_loss(2 * self.scale),
            lambda window, copies: PairedLaplace(copy_tables(self.structure, window, copies), self.scale),
            squared=False,
        )


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    scale = guarantee.laplace_scale(sensitivity.l1)
    if not isinstance(answer, Vector) or answer.lattice is None or scale is None:
        return
    structure = answer.lattice.structure
    match structure:
        case Blocks():
            yield SumZeroLaplace(structure, scale)
        case Tables() if is_paired(structure):
            yield PairedLaplace(structure, scale / 2)
        case Tables() | Kernel():
            return
        case _:
            raise unreachable(structure)


SUM_ZERO = Mechanism((_IN_BLOCKS, _IN_TABLES), _candidates)
