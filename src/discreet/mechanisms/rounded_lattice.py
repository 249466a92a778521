"""A Gaussian on the span that exact totals leave free, rounded to the lattice: μ-GDP given the totals, with σ = Δ₂/μ.

Which coset of the lattice the counts lie in follows from the totals, and moving a point to the nearest plane commutes with
adding a vector of the lattice. So θ + NP(G) is post-processing of the Gaussian mechanism (docs/proofs/lattice-rounded.md).
Noise of a lattice Gaussian has less variance by the error of rounding, but no μ: it is preferred wherever it will do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, unreachable
from discreet.exact.numbers import text
from discreet.mechanisms._placing import by_table, draw_tables, mean_of_blocks, mean_of_tables, put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.lattice_gaussian import LatticeGaussian, lattice_of_kernel
from discreet.mechanisms.losses import audit_lattice, copy_structure, squared_loss
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise._parameters import MOST_SIGMA2
from discreet.noise.bits import Bits
from discreet.totals.structure import Blocks, Kernel, Structure, Tables, describe

__all__ = ["ROUNDED_LATTICE", "RoundedLattice"]

_WORDS = NoiseWords(
    name="rounded Gaussian on the lattice",
    parameter="variance",
    sentence=(
        "a normal vector of variance σ² in every direction that changes no exact total, rounded to integers that change "
        "none either."
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class RoundedLattice:
    """NP(N(0, sigma2·P)), P the projector onto the span of the lattice of the structure, NP its nearest-plane map."""

    structure: Structure
    sigma2: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.nearest_plane import rounded_lattice, rounded_margins, rounded_sum_zero

        structure = self.structure
        match structure:
            case Blocks(sizes=sizes, order=order):
                return put_in_place(structure.cells, order, rounded_sum_zero(self.sigma2, sizes, bits))
            case Tables():
                return draw_tables(
                    structure,
                    lambda shape, depth, blocks: rounded_margins(self.sigma2, shape, bits, depth=depth, blocks=blocks),
                )
            case Kernel(order=order):
                drawn = rounded_lattice(lattice_of_kernel(structure), self.sigma2, bits)
                return put_in_place(structure.cells, order, drawn)
        raise unreachable(structure)

    def can_be_drawn(self) -> bool:
        """True if the variance is below the limit, and the basis of a general lattice can be reduced."""
        try:
            if isinstance(self.structure, Kernel):
                lattice_of_kernel(self.structure)
        except ArgumentError:
            return False
        return self.sigma2 * max(1, self.structure.size) <= MOST_SIGMA2

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[np.int64]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.nearest_plane_laws import lattice_half_widths, margins_half_widths

        structure = self.structure
        widths = np.zeros(structure.cells, dtype=np.int64)
        match structure:
            case Blocks(sizes=sizes, order=order):
                ends = np.cumsum(sizes)
                for size in np.unique(sizes).tolist():
                    places = order[(ends - sizes)[sizes == size][:, None] + np.arange(size)]
                    widths[places] = margins_half_widths(self.sigma2, (1,), size, level).ravel()
            case Tables():
                return by_table(structure, lambda shape, depth: margins_half_widths(self.sigma2, shape, depth, level))
            case Kernel(order=order):
                widths[order] = lattice_half_widths(lattice_of_kernel(structure), self.sigma2, level)
            case _:
                raise unreachable(structure)
        return widths

    def variance(self) -> float:
        """The mean variance of the cells, rounded up."""
        from discreet.noise.lattice.nearest_plane_laws import lattice_variance, margins_variance

        structure = self.structure
        match structure:
            case Blocks():
                return mean_of_blocks(structure, lambda size: margins_variance(self.sigma2, (1,), size))
            case Tables():
                return mean_of_tables(structure, lambda shape, depth: margins_variance(self.sigma2, shape, depth))
            case Kernel():
                return lattice_variance(lattice_of_kernel(structure), self.sigma2)
        raise unreachable(structure)

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        """The ratio of the squared norms ‖·‖₂², by which alone the guarantee goes."""
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        """Name, exact variance before rounding, and lattice."""
        return {"noise": self.words.name, self.words.parameter: text(self.sigma2), "lattice": describe(self.structure)}

    def prepare_audit(self) -> Audited:
        """The loss is linear in the noise, but for rounding."""
        found = audit_lattice(self.structure, squared_loss(float(self.sigma2)), self._copy, squared=True)
        return replace(found, is_gdp=True)

    def _copy(self, window: NDArray[np.int64], copies: int) -> Noise | None:
        structure = copy_structure(self.structure, window, copies)
        return None if structure is None else RoundedLattice(structure, self.sigma2)


def _candidates(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    """Where the guarantee holds for a lattice Gaussian too, only for a variance that is too small to draw one."""
    if not isinstance(answer, Vector) or answer.lattice is None:
        return
    sigma2 = guarantee.gaussian_variance(sensitivity.l2_squared)
    if sigma2 is None:
        return
    structure, narrower = answer.lattice.structure, guarantee.lattice_variance(sensitivity.l2_squared)
    if narrower is not None and LatticeGaussian(structure, narrower).can_be_drawn():
        return
    found = RoundedLattice(structure, sigma2)
    if found.can_be_drawn():
        yield found


ROUNDED_LATTICE = Mechanism((_WORDS,), _candidates)
