"""Laplace noise of independent cells, moved to the lattice that exact totals leave free: ε-DP given the totals.

θ + Z is ε-DP at the scale Δ₁/ε. Which coset of the lattice θ lies in follows from the totals, and the map to the lattice
commutes in law with adding one of its vectors. So the result is post-processing, and its noise does not depend on θ
(docs/proofs/lattice-l1.md). It serves tables of any size and number of axes, and small general lattices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, unreachable
from discreet.exact.numbers import text
from discreet.mechanisms._placing import by_table, draw_tables, is_paired, mean_of_tables, put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.lattice_gaussian import lattice_of_kernel
from discreet.mechanisms.losses import absolute_loss, audit_lattice, copy_tables
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.totals.structure import Blocks, Kernel, Tables, describe

__all__ = ["PROJECTED_LAPLACE", "ProjectedLaplace"]

_WORDS = NoiseWords(
    name="projected Laplace on the lattice",
    parameter="scale",
    sentence=(
        "P(k) ∝ exp(−|k| / scale) for every integer k in each group by itself; of this the part that changes no exact "
        "total, rounded at random to integers that change none either."
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class ProjectedLaplace:
    """White Laplace noise, projected on the span of the lattice of the structure and rounded at random along it."""

    structure: Tables | Kernel
    scale: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.projected_laplace import projected_lattice, projected_margins

        structure = self.structure
        match structure:
            case Tables():
                return draw_tables(
                    structure,
                    lambda shape, depth, blocks: projected_margins(self.scale, shape, bits, depth=depth, blocks=blocks),
                )
            case Kernel(order=order):
                drawn = projected_lattice(lattice_of_kernel(structure), self.scale, bits)
                return put_in_place(structure.cells, order, drawn)
        raise unreachable(structure)

    def can_be_drawn(self) -> bool:
        """True for tables, and for equations whose projector is worked out."""
        from discreet.noise.lattice.projected_laplace_laws import cells_of_lattice

        try:
            if isinstance(self.structure, Kernel):
                cells_of_lattice(lattice_of_kernel(self.structure), self.scale)
        except ArgumentError:
            return False
        return True

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[np.int64]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.projected_laplace_laws import cells_of_lattice, margins_half_widths

        structure = self.structure
        widths = np.zeros(structure.cells, dtype=np.int64)
        match structure:
            case Tables():
                return by_table(structure, lambda shape, depth: margins_half_widths(self.scale, shape, depth, level))
            case Kernel(order=order):
                cells = cells_of_lattice(lattice_of_kernel(structure), self.scale)
                each = {cell: cell.half_width(level) for cell in set(cells)}
                widths[order] = [each[cell] for cell in cells]
            case _:
                raise unreachable(structure)
        return widths

    def variance(self) -> float:
        """At least the mean variance of the cells, rounded up."""
        from discreet.noise.lattice.projected_laplace_laws import lattice_variance, margins_variance

        structure = self.structure
        match structure:
            case Tables():
                return mean_of_tables(structure, lambda shape, depth: margins_variance(self.scale, shape, depth))
            case Kernel():
                return lattice_variance(lattice_of_kernel(structure), self.scale)
        raise unreachable(structure)

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        """The ratio of the norms ‖·‖₁, by which alone the loss is bounded."""
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        """Name, exact scale of the noise of a cell, and lattice."""
        return {"noise": self.words.name, self.words.parameter: text(self.scale), "lattice": describe(self.structure)}

    def prepare_audit(self) -> Audited:
        """The loss of absolute values is not its own, but tells answers apart nearly as well."""
        return audit_lattice(self.structure, absolute_loss(self.scale), self._copy, squared=False)

    def _copy(self, window: NDArray[np.int64], copies: int) -> Noise | None:
        if not isinstance(self.structure, Tables):
            return None
        return ProjectedLaplace(copy_tables(self.structure, window, copies), self.scale)


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    """Blocks, and tables of two rows, have noise of their own with less variance."""
    scale = guarantee.laplace_scale(sensitivity.l1)
    if not isinstance(answer, Vector) or answer.lattice is None or scale is None:
        return
    structure = answer.lattice.structure
    match structure:
        case Blocks():
            return
        case Tables() if is_paired(structure):
            return
        case Tables() | Kernel():
            found = ProjectedLaplace(structure, scale)
            if found.can_be_drawn():
                yield found
        case _:
            raise unreachable(structure)


PROJECTED_LAPLACE = Mechanism((_WORDS,), _candidates)
