"""Laplace noise on the lattice that two exact margins leave free: ε-DP given the totals, with scale = Δ₁/ε.

P(v) ∝ exp(-‖v‖₁/scale) on L is ε-semi-DP by the triangle inequality (Theorem L1, docs/proofs/semi-dp.md). It is drawn by
rejection, so it is offered where that takes few trials; how many is known in advance and depends on shapes alone
(docs/proofs/lattice-l1.md). In few dimensions `k_norm` has less noise, and `projected_laplace` serves the other tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import text
from discreet.mechanisms._placing import draw_tables, is_paired
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.losses import absolute_loss, audit_lattice, copy_tables
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.totals.structure import Table, Tables, describe

__all__ = ["LATTICE_LAPLACE", "LatticeLaplace"]

_MOST_CELLS = 2 * 10**7
"""About so many cells are drawn in trials at most: three seconds of an idle core."""

_WORDS = NoiseWords(
    name="Laplace on the lattice",
    parameter="scale",
    sentence="P(v) ∝ exp(−(|v₁| + |v₂| + …) / scale) for integers v that change no exact total.",
)


@dataclass(frozen=True, slots=True, eq=False)
class LatticeLaplace:
    """P(v) ∝ exp(-‖v‖₁/scale) on tables of two axes with both margins 0."""

    structure: Tables
    scale: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.margin_laplace import margins_laplace

        return draw_tables(
            self.structure,
            lambda shape, depth, blocks: margins_laplace(self.scale, _two(shape), bits, depth=depth, blocks=blocks),
        )

    def can_be_drawn(self) -> bool:
        """True if every table has two axes, and the trials of all tables are few."""
        from discreet.noise.lattice.margin_laplace import LEAST_SCALE, MOST_DEPTH

        tables = self.structure.tables
        if self.scale < LEAST_SCALE or any(len(one.shape) != 2 or one.depth > MOST_DEPTH for one in tables):
            return False
        return self._expected_cells() <= _MOST_CELLS

    def _expected_cells(self) -> float:
        """About how many numbers are drawn in the trials of all tables."""
        from discreet.noise.lattice.margin_laplace import expected_cells

        many = Counter(table.order.shape for table in self.structure.tables)
        return sum(times * expected_cells(_two(shape[:-1]), shape[-1]) for shape, times in many.items())

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.margin_laplace_laws import MarginLaplaceCell

        widths = np.zeros(self.structure.cells, dtype=np.int64)
        shares = {_share(table) for table in self.structure.tables}
        found = {share: MarginLaplaceCell(self.scale, share).half_width(level) for share in shares}
        for table in self.structure.tables:
            widths[table.order.ravel()] = found[_share(table)]
        return widths

    def variance(self) -> float:
        """At least the mean variance of the cells, rounded up."""
        from discreet.noise.lattice.margin_laplace_laws import MarginLaplaceCell

        shares = {_share(table) for table in self.structure.tables}
        each = {share: MarginLaplaceCell(self.scale, share).variance() for share in shares}
        total = sum(table.order.size * each[_share(table)] for table in self.structure.tables)
        return total / max(1, self.structure.size)

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
            lambda window, copies: LatticeLaplace(copy_tables(self.structure, window, copies), self.scale),
            squared=False,
            effort=max(1.0, self._expected_cells() / max(1, self.structure.size)),
        )


def _two(shape: tuple[int, ...]) -> tuple[int, int]:
    rows, columns = shape
    return rows, columns


def _share(table: Table) -> Fraction:
    return Fraction(table.rank, table.order.size)


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    """Tables of two rows have noise of their own, of the same law."""
    scale = guarantee.laplace_scale(sensitivity.l1)
    if not isinstance(answer, Vector) or answer.lattice is None or scale is None:
        return
    structure = answer.lattice.structure
    if isinstance(structure, Tables) and not is_paired(structure):
        found = LatticeLaplace(structure, scale)
        if found.can_be_drawn():
            yield found


LATTICE_LAPLACE = Mechanism((_WORDS,), _candidates)
