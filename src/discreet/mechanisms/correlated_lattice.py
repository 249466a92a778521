"""The best Gaussian where exact margins leave several cells at each place: more noise within places than between them.

All a rows that differ can move alike within one place, but margins keep them from moving alike between places. So the sums
of the places need less noise. Two variances, one within places and one between them, are enough: with two axes no Gaussian
with the same guarantee has less noise in the table, whatever its covariance, and with more axes hardly any has. The rest is
as in `rounded_lattice`: exactly μ-GDP given the totals (docs/proofs/effects.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, InternalError, unreachable
from discreet.exact.numbers import text
from discreet.mechanisms._placing import by_table, draw_tables, mean_of_tables, put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.exchanges import Moves, moves_of_margins, moves_of_sums
from discreet.mechanisms.losses import audit_lattice, copy_positions, copy_tables, squared_loss
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.mechanisms.shares import best_shares
from discreet.noise._parameters import MOST_SIGMA2
from discreet.noise.bits import Bits
from discreet.totals.structure import Blocks, Kernel, Tables, describe

__all__ = ["CORRELATED_LATTICE", "CorrelatedLattice"]

_BETWEEN = "variance_between_places"
_MOST_COPIED = 200
"""Many draws under general equations are quick together up to this rank."""

_WORDS = NoiseWords(
    name="correlated Gaussian on the lattice",
    parameter="variance",
    sentence=(
        "a normal vector that changes no exact total, rounded to integers that change none either; its variance is σ² in "
        "directions in which records move within a place of the margins, and τ² where they move between places. These have "
        "the least sum over all cells with |within|²/σ² + |between|²/τ² ≤ μ² = 2ρ for every change."
    ),
    formula="(σ², τ²)",
    further=_BETWEEN,
)


@dataclass(frozen=True, slots=True, eq=False)
class CorrelatedLattice:
    """NP(N(0, within·W + between·B)), W and B the projectors on what moves within places and between them.

    Args:
        structure: tables, or equations for a small table, with the same number of cells, at least 2, at each place.
        within: σ², an exact rational.
        between: τ², at most σ².
        listed: whether τ² follows from a list of all changes; else from a bound of them.
    """

    structure: Tables | Kernel
    within: Fraction
    between: Fraction
    listed: bool
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    @property
    def depth(self) -> int:
        """The number of cells at each place."""
        structure = self.structure
        return structure.depth if isinstance(structure, Kernel) else structure.tables[0].depth

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.nearest_plane import correlated_margins, correlated_places

        structure, two = self.structure, (self.within, self.between)
        match structure:
            case Tables():
                return draw_tables(
                    structure,
                    lambda shape, depth, blocks: correlated_margins(*two, shape, bits, depth=depth, blocks=blocks),
                )
            case Kernel(order=order):
                blocks = len(order) // structure.equations.shape[1]
                drawn = correlated_places(_sums_of(structure), *two, structure.depth, bits, blocks=blocks)
                return put_in_place(structure.cells, order, drawn.ravel())
        raise unreachable(structure)

    def can_be_drawn(self) -> bool:
        """True if the variances are below the limits of the sampler, and the basis of a general lattice can be reduced."""
        from discreet.noise.lattice.nearest_plane import is_within_limits

        structure = self.structure
        try:
            if isinstance(structure, Kernel):
                _sums_of(structure)
        except ArgumentError:
            return False
        return is_within_limits(self.within, self.between, self.depth) and self.within * structure.size <= MOST_SIGMA2

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[np.int64]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.nearest_plane_laws import margins_half_widths, places_half_widths

        structure = self.structure
        widths = np.zeros(structure.cells, dtype=np.int64)
        match structure:
            case Tables():
                return by_table(
                    structure, lambda shape, depth: margins_half_widths(self.within, shape, depth, level, self._ratio)
                )
            case Kernel(order=order):
                found = places_half_widths(_sums_of(structure), self.within, structure.depth, self._ratio, level)
                widths[order] = found.ravel()
            case _:
                raise unreachable(structure)
        return widths

    def variance(self) -> float:
        """The mean variance of the cells, rounded up."""
        from discreet.noise.lattice.nearest_plane_laws import margins_variance, places_variance

        structure = self.structure
        match structure:
            case Tables():
                return mean_of_tables(
                    structure, lambda shape, depth: margins_variance(self.within, shape, depth, self._ratio)
                )
            case Kernel():
                return places_variance(_sums_of(structure), self.within, structure.depth, self._ratio)
        raise unreachable(structure)

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        """The form of the noise: |Wu|²/σ² + |Bu|²/τ² for u = e_x - e_y, where |Bu|² is 2/F between places and 0 within one.

        Raises:
            InternalError: a guarantee that no Gaussian noise has.
        """
        unit = guarantee.gaussian_variance(1)
        if unit is None:
            raise InternalError("a Gaussian whose guarantee is not one")
        within = unit / self.within
        between = within * (1 - Fraction(1, self.depth)) + unit / (self.between * self.depth)
        return changes.moved.l2_squared * (within if changes.keeps_places else between)

    def to_json(self) -> dict[str, str]:
        """Name, both exact variances before rounding, whether they follow from a list or a bound of the changes, lattice."""
        two = {self.words.parameter: text(self.within), _BETWEEN: text(self.between)}
        changes = "listed" if self.listed else "bounded"
        return {"noise": self.words.name, **two, "changes": changes, "lattice": describe(self.structure)}

    def prepare_audit(self) -> Audited:
        """Rounding aside, the loss is linear in the noise; this is that of moves within places, the largest ones."""
        found = audit_lattice(self.structure, squared_loss(float(self.within)), self._copy, squared=True)
        return replace(found, is_gdp=True)

    @property
    def _ratio(self) -> Fraction:
        return self.between / self.within

    def _copy(self, window: NDArray[np.int64], copies: int) -> Noise | None:
        structure = self.structure
        match structure:
            case Tables():
                return replace(self, structure=copy_tables(structure, window, copies))
            case Kernel() if structure.rank <= _MOST_COPIED and np.isin(structure.order, window).all():
                order = copy_positions(structure.order, window, copies)
                return replace(self, structure=Kernel(copies * len(window), order, structure.equations))
        return None


def _candidates(answer: Answer, _sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    """Where places have several cells and rows can move between places, and a second variance serves."""
    unit = guarantee.gaussian_variance(1)
    if not isinstance(answer, Vector) or answer.lattice is None or unit is None:
        return
    structure = answer.lattice.structure
    match structure:
        case Tables():
            found = _moves_of_tables(structure, answer.lattice.a)
        case Kernel():
            found = _moves_of_equations(structure, answer.lattice.a)
        case Blocks():
            return  # one margin: rows cannot move between its places
        case _:
            raise unreachable(structure)
    if found is None:
        return
    moves, free = found
    within, between = best_shares(moves.energies, (structure.rank - free, free)).variances
    noise = CorrelatedLattice(structure, within * unit, between * unit, moves.listed)
    if between < within and noise.can_be_drawn():
        yield noise


def _moves_of_tables(structure: Tables, a: int) -> tuple[Moves, int] | None:
    """The moves, and how many sums of places are free; None where there are no two parts.

    Rows that differ in several tables move the answer no further than in one that has the most levels on each axis.
    """
    if a < 2 or len({(len(table.shape), table.depth) for table in structure.tables}) != 1:
        return None
    first = structure.tables[0]
    shape = tuple(max(table.shape[axis] for table in structure.tables) for axis in range(len(first.shape)))
    free = structure.rank - structure.size // first.depth * (first.depth - 1)
    return (moves_of_margins(shape, first.depth, a), free) if first.depth > 1 and free else None


def _moves_of_equations(structure: Kernel, a: int) -> tuple[Moves, int] | None:
    """The same; None also where there are too many moves to list, and where none of a rows goes to another place."""
    depth = structure.depth
    free = structure.rank - structure.size // depth * (depth - 1)
    moves = moves_of_sums(structure.equations[:, ::depth], depth, a) if depth > 1 and free else None
    return None if moves is None or not any(between for _, between in moves.energies) else (moves, free)


def _sums_of(structure: Kernel) -> Any:
    """The lattice of the sums of the places. Raises ArgumentError for more places than a basis is reduced for."""
    from discreet.noise.lattice.klein import lattice_of

    return lattice_of(structure.equations[:, :: structure.depth])


CORRELATED_LATTICE = Mechanism((_WORDS,), _candidates)
