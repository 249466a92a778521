"""Gaussian noise on the lattice that exact totals leave free: ρ-zCDP given the totals, with σ² = Δ₂²/(2ρ).

P(v) ∝ exp(-|v|²/(2σ²)) on L is ρ-semi-zCDP because a shifted lattice has no more mass than L itself (Theorem L1,
docs/proofs/semi-dp.md). It has no GDP guarantee; `rounded_lattice` has one.
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
from discreet.mechanisms._placing import by_block, draw_tables, put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.losses import audit_lattice, copy_structure, squared_loss
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise._parameters import MOST_SIGMA2
from discreet.noise.bits import Bits, system_bits
from discreet.totals.structure import Blocks, Kernel, Structure, Tables, describe

__all__ = ["LATTICE_GAUSSIAN", "LatticeGaussian", "lattice_of_kernel"]

_WORDS = NoiseWords(
    name="Gaussian on the lattice",
    parameter="variance",
    sentence="P(v) ∝ exp(−(v₁² + v₂² + …) / (2σ²)) for integers v that change no exact total.",
)


@dataclass(frozen=True, slots=True, eq=False)
class LatticeGaussian:
    """P(v) ∝ exp(-|v|²/(2 sigma2)) on the lattice of the structure (Theorem L3)."""

    structure: Structure
    sigma2: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        structure = self.structure
        match structure:
            case Blocks(sizes=sizes, order=order):
                from discreet.noise.lattice.margin_gaussian import sum_zero_gaussian

                return put_in_place(structure.cells, order, sum_zero_gaussian(self.sigma2, sizes, bits))
            case Tables():
                from discreet.noise.lattice.margin_gaussian import margins_gaussian

                return draw_tables(
                    structure,
                    lambda shape, depth, blocks: margins_gaussian(self.sigma2, shape, bits, depth=depth, blocks=blocks),
                )
            case Kernel(order=order):
                from discreet.noise.lattice.klein import lattice_gaussian

                return put_in_place(
                    structure.cells, order, lattice_gaussian(lattice_of_kernel(structure), self.sigma2, 1, bits)[0]
                )
        raise unreachable(structure)

    def can_be_drawn(self) -> bool:
        """True if the sampler takes these parameters: it refuses before it draws anything, so none is drawn to find out."""
        structure = self.structure
        try:
            match structure:
                case Kernel():
                    from discreet.noise.lattice.klein import lattice_gaussian

                    lattice_gaussian(lattice_of_kernel(structure), self.sigma2, 0, system_bits())
                case Tables(tables=tables):
                    from discreet.noise.lattice.margin_gaussian import margins_gaussian

                    for table in tables:
                        margins_gaussian(self.sigma2, table.shape, system_bits(), depth=table.depth, blocks=0)
                case Blocks():
                    pass  # blocks take every variance below the common limit
                case _:
                    raise unreachable(structure)
        except ArgumentError:
            return False
        return self.sigma2 * max(1, structure.size) <= MOST_SIGMA2

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.margin_laws import LatticeGaussianCell, margins_cell, sum_zero_cell

        structure = self.structure
        widths = np.zeros(structure.cells, dtype=np.int64)
        match structure:
            case Blocks():
                return by_block(structure, lambda size: sum_zero_cell(self.sigma2, size).half_width(level))
            case Tables(tables=tables):
                for table in tables:
                    widths[table.order.ravel()] = margins_cell(self.sigma2, table.shape, table.depth).half_width(level)
                return widths
            case Kernel(order=order):
                from discreet.noise.lattice.klein import cell_projections, distortion

                lattice = lattice_of_kernel(structure)
                spoilt = distortion(lattice, self.sigma2)
                for place, projected in zip(order, cell_projections(lattice), strict=True):
                    widths[place] = LatticeGaussianCell(self.sigma2, projected, spoilt).half_width(level)
                return widths
        raise unreachable(structure)

    def variance(self) -> float:
        """An upper bound of the mean variance of the cells: sigma2 times the rank over the number of cells."""
        return float(self.sigma2) * self.structure.rank / max(1, self.structure.size)

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        """The ratio of the squared norms ‖·‖₂², by which alone the guarantee goes."""
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        """Name, exact variance and lattice."""
        return {"noise": self.words.name, self.words.parameter: text(self.sigma2), "lattice": describe(self.structure)}

    def prepare_audit(self) -> Audited:
        """The loss is linear in the noise."""
        return audit_lattice(self.structure, squared_loss(self.variance()), self._copy, squared=True)

    def _copy(self, window: NDArray[np.int64], copies: int) -> Noise | None:
        structure = copy_structure(self.structure, window, copies)
        return None if structure is None else LatticeGaussian(structure, self.sigma2)


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    """A lattice Gaussian may have too little variance for its sampler."""
    if not isinstance(answer, Vector) or answer.lattice is None:
        return
    sigma2 = guarantee.lattice_variance(sensitivity.l2_squared)
    if sigma2 is not None and (found := LatticeGaussian(answer.lattice.structure, sigma2)).can_be_drawn():
        yield found


def lattice_of_kernel(structure: Kernel) -> Any:
    """The lattice of general equations. Raises ArgumentError for more cells than a basis is reduced for."""
    from discreet.noise.lattice.klein import lattice_of

    return lattice_of(structure.equations)


LATTICE_GAUSSIAN = Mechanism((_WORDS,), _candidates)
