"""Noise on the lattice that exact totals leave free: the answers keep the totals exactly, and are integers.

Where θ(X) - θ(X') ∈ L for equal totals, noise V on L has the guarantee of its law (Theorem L1, docs/proofs/semi-dp.md):

* P(v) ∝ exp(-ε‖v‖/Δ) for a norm with ‖u‖ ≤ Δ on the sensitivity space: ε-semi-DP, by the triangle inequality;
* P(v) ∝ exp(-|v|²/(2σ²)): ρ-semi-zCDP with ρ = Δ₂²/(2σ²), because a shifted lattice has no more mass than L itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, InternalError, unreachable
from discreet.exact.lattices import rank
from discreet.mechanisms.selection import ExponentialQuantiles
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise.bits import Bits, system_bits
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.privacy import ZCDP, PureDP
from discreet.totals.enumerate import differences
from discreet.totals.structure import Blocks, Kernel, Structure, Tables, margin_equations

__all__ = [
    "LATTICE_LAWS",
    "HeldCells",
    "KNormLaplace",
    "LatticeGaussian",
    "LatticeLaw",
    "PairedLaplace",
    "PlainLaw",
    "SumZeroLaplace",
    "keeps_totals",
    "lattice_laws",
    "plain_law",
]


_MOST_HULL_RANK = 6
MOST_SIGMA2 = Fraction(10**34)
"""What the samplers take; see `discreet.noise`."""


PlainLaw = DiscreteLaplace | RoundedGaussian
"""The laws of noise that is independent from cell to cell; a closed union, so that no function meets a law unprepared."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldCells:
    """Independent noise of one law for the cells that can hold a record; the others are 0 in every table, and stay 0."""

    cells: int
    held: NDArray[np.int64]
    law: PlainLaw

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request."""
        return _placed(self.cells, self.held, self.law.sample(len(self.held), bits))

    def half_widths(self, coverage: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ coverage."""
        return _placed(self.cells, self.held, np.array([self.law.half_width(coverage)]))

    def variance(self) -> float:
        """The variance in a cell that can hold a record, rounded up."""
        return self.law.variance()


@dataclass(frozen=True, slots=True, eq=False)
class SumZeroLaplace:
    """P(v) ∝ exp(-‖v‖₁/scale) on vectors that sum to 0 in each block (Theorem L2)."""

    structure: Blocks
    scale: Fraction

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.sum_zero import sum_zero_laplace

        return _placed(self.structure.cells, self.structure.order, sum_zero_laplace(self.scale, self.structure.sizes, bits))

    def half_widths(self, coverage: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ coverage."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        return _by_block(self.structure, lambda size: SumZeroLaplaceCell(self.scale, size).half_width(coverage))

    def variance(self) -> float:
        """The mean variance of the cells, rounded up."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        return _mean(self.structure, lambda size: SumZeroLaplaceCell(self.scale, size).variance())


@dataclass(frozen=True, slots=True, eq=False)
class PairedLaplace:
    """P(v) ∝ exp(-‖v‖₁/(2 scale)) on tables of 2 x J with both margins 0: a row w that sums to 0, and -w beneath."""

    structure: Tables
    scale: Fraction

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.sum_zero import sum_zero_laplace

        rows = [_two_rows(table.order) for table in self.structure.tables]
        sizes = np.array([row.shape[1] for row in rows], dtype=np.int64)
        drawn = sum_zero_laplace(self.scale, sizes, bits)
        both = np.concatenate([np.concatenate(list(row)) for row in rows])
        pairs = np.split(drawn, np.cumsum(sizes)[:-1])
        return _placed(self.structure.cells, both, np.concatenate([part for row in pairs for part in (row, -row)]))

    def half_widths(self, coverage: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ coverage."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        widths = np.zeros(self.structure.cells, dtype=np.int64)
        for table in self.structure.tables:
            size = _two_rows(table.order).shape[1]
            widths[table.order.ravel()] = SumZeroLaplaceCell(self.scale, size).half_width(coverage)
        return widths

    def variance(self) -> float:
        """The mean variance of the cells, rounded up."""
        from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell

        sizes = [(table.order.size, _two_rows(table.order).shape[1]) for table in self.structure.tables]
        total = sum(cells * SumZeroLaplaceCell(self.scale, size).variance() for cells, size in sizes)
        return total / max(1, sum(cells for cells, _ in sizes))


@dataclass(frozen=True, slots=True, eq=False)
class LatticeGaussian:
    """P(v) ∝ exp(-|v|²/(2 sigma2)) on the lattice of the structure (Theorem L3)."""

    structure: Structure
    sigma2: Fraction

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        structure = self.structure
        match structure:
            case Blocks(sizes=sizes, order=order):
                from discreet.noise.lattice.margin_gaussian import sum_zero_gaussian

                return _placed(structure.cells, order, sum_zero_gaussian(self.sigma2, sizes, bits))
            case Tables():
                return _sampled_tables(structure, self.sigma2, bits)
            case Kernel(order=order):
                from discreet.noise.lattice.klein import lattice_gaussian

                return _placed(structure.cells, order, lattice_gaussian(_lattice(structure), self.sigma2, 1, bits)[0])
        raise unreachable(structure)

    def can_be_drawn(self) -> bool:
        """Whether the sampler takes these parameters: it refuses before it draws anything, so none is drawn to find out."""
        structure = self.structure
        try:
            match structure:
                case Kernel():
                    from discreet.noise.lattice.klein import lattice_gaussian

                    lattice_gaussian(_lattice(structure), self.sigma2, 0, system_bits())
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

    def half_widths(self, coverage: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ coverage."""
        from discreet.noise.lattice.margin_laws import LatticeGaussianCell, margins_cell, sum_zero_cell

        structure = self.structure
        widths = np.zeros(structure.cells, dtype=np.int64)
        match structure:
            case Blocks():
                return _by_block(structure, lambda size: sum_zero_cell(self.sigma2, size).half_width(coverage))
            case Tables(tables=tables):
                for table in tables:
                    widths[table.order.ravel()] = margins_cell(self.sigma2, table.shape, table.depth).half_width(coverage)
                return widths
            case Kernel(order=order):
                from discreet.noise.lattice.klein import cell_projections, distortion

                lattice = _lattice(structure)
                spoilt = distortion(lattice, self.sigma2)
                for place, projected in zip(order, cell_projections(lattice), strict=True):
                    widths[place] = LatticeGaussianCell(self.sigma2, projected, spoilt).half_width(coverage)
                return widths
        raise unreachable(structure)

    def variance(self) -> float:
        """An upper bound of the mean variance of the cells: sigma2 times the rank over the number of cells."""
        return float(self.sigma2) * self.structure.rank / max(1, self.structure.size)


@dataclass(frozen=True, slots=True, eq=False)
class KNormLaplace:
    """P(v) ∝ exp(-epsilon ‖v‖_K), K the hull of the sensitivity space: the least noise for ε-semi-DP, in small dimension."""

    structure: Structure
    points: NDArray[np.int64]
    epsilon: Fraction

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.k_norm import k_norm_noise

        return _placed(self.structure.cells, _order(self.structure), k_norm_noise(self.points, self.epsilon, 1, bits)[0])

    def half_widths(self, coverage: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ coverage."""
        from discreet.noise.lattice.k_norm import half_widths

        return _placed(self.structure.cells, _order(self.structure), half_widths(self.points, self.epsilon, coverage))

    def variance(self) -> float:
        """An upper bound of the mean variance of the cells."""
        from discreet.noise.lattice.k_norm import mean_variance

        return float(mean_variance(self.points, self.epsilon))


LatticeLaw = HeldCells | SumZeroLaplace | PairedLaplace | LatticeGaussian | KNormLaplace
LATTICE_LAWS = (HeldCells, SumZeroLaplace, PairedLaplace, LatticeGaussian, KNormLaplace)


def keeps_totals(law: PlainLaw | LatticeLaw | ExponentialQuantiles) -> bool:
    """Whether noise of this law leaves everything that the totals say of the counts as it is."""
    match law:
        case SumZeroLaplace() | PairedLaplace() | LatticeGaussian() | KNormLaplace():
            return True
        case HeldCells() | DiscreteLaplace() | RoundedGaussian() | ExponentialQuantiles():
            return False
    raise unreachable(law)


def plain_law(law: PlainLaw | LatticeLaw | ExponentialQuantiles) -> PlainLaw:
    """The law of independent noise.

    Raises:
        InternalError: noise on a lattice is not independent, and a choice adds none.
    """
    match law:
        case DiscreteLaplace() | RoundedGaussian():
            return law
        case HeldCells(law=inner):
            return inner
        case SumZeroLaplace() | PairedLaplace() | LatticeGaussian() | KNormLaplace() | ExponentialQuantiles():
            raise InternalError("this noise is not independent from cell to cell")
    raise unreachable(law)


def lattice_laws(structure: Structure, sensitivity: Sensitivity, guarantee: PureDP | ZCDP, a: int) -> Iterator[LatticeLaw]:
    """The noises on the lattice that give `guarantee` for tables that differ within the sensitivity space.

    Only those that can be drawn: a lattice Gaussian may have too little variance for its sampler, a hull too many facets.

    Args:
        structure: the lattice L of the answers.
        sensitivity: bounds of Δ₁ and Δ₂² over the sensitivity space, which lies in L.
        guarantee: pure or zero-concentrated; the lattice Gaussian has no GDP guarantee.
        a: the semi-adjacency.
    """
    match guarantee:
        case ZCDP(rho=rho):
            gaussian = LatticeGaussian(structure, Fraction(sensitivity.l2_squared) / (2 * rho))
            if gaussian.can_be_drawn():
                yield gaussian
        case PureDP(epsilon=epsilon):
            yield from _laplace_laws(structure, sensitivity, epsilon, a)
        case _:
            raise unreachable(guarantee)


def _laplace_laws(structure: Structure, sensitivity: Sensitivity, epsilon: Fraction, a: int) -> Iterator[LatticeLaw]:
    match structure:
        case Blocks():
            yield SumZeroLaplace(structure, Fraction(sensitivity.l1) / epsilon)
        case Tables(tables=tables) if all(_is_paired(table.order) for table in tables):
            yield PairedLaplace(structure, Fraction(sensitivity.l1) / (2 * epsilon))
        case Tables() | Kernel():
            if structure.rank <= _MOST_HULL_RANK:
                yield from _hull_law(structure, epsilon, a)
        case _:
            raise unreachable(structure)


def _hull_law(structure: Tables | Kernel, epsilon: Fraction, a: int) -> Iterator[KNormLaplace]:
    """The K-norm of the hull of S itself, where S can be listed and its hull has few facets."""
    if isinstance(structure, Tables) and len(structure.tables) != 1:
        return
    equations = structure.equations if isinstance(structure, Kernel) else margin_equations(structure.tables[0])
    points = differences(equations, a)
    # Tables of equal totals that lie farther apart must differ within the span of S too, or noise on it would leave some
    # sum exact that the totals do not say (soundness 18).
    if points is None or rank(points.tolist()) < structure.rank:
        return
    found = KNormLaplace(structure, points, epsilon)
    with suppress(ArgumentError):
        found.variance()
        yield found


def _is_paired(order: NDArray[np.int64]) -> bool:
    return order.ndim == 3 and order.shape[2] == 1 and 2 in order.shape[:2]


def _two_rows(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of a 2 x J table, shape (2, J)."""
    table = order[..., 0]
    return table if table.shape[0] == 2 else table.T


def _order(structure: Structure) -> NDArray[np.int64]:
    if isinstance(structure, Tables):
        if len(structure.tables) != 1:
            raise InternalError("the hull is that of one table")
        return structure.tables[0].order.ravel()
    return structure.order


def _sampled_tables(structure: Tables, sigma2: Fraction, bits: Bits) -> NDArray[Any]:
    """Tables of equal shape are drawn together."""
    from discreet.noise.lattice.margin_gaussian import margins_gaussian

    shapes: dict[tuple[int, ...], list[NDArray[np.int64]]] = {}
    for table in structure.tables:
        shapes.setdefault(table.order.shape, []).append(table.order)
    noise = np.zeros(structure.cells, dtype=np.int64)
    for (*shape, depth), orders in shapes.items():
        drawn = margins_gaussian(sigma2, tuple(shape), bits, depth=depth, blocks=len(orders))
        noise = _into(noise, np.stack(orders).ravel(), drawn.ravel())
    return noise


def _lattice(structure: Kernel) -> Any:
    from discreet.noise.lattice.klein import lattice_of

    return lattice_of(structure.equations)


def _placed(cells: int, order: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    return _into(np.zeros(cells, dtype=np.int64), order, values)


def _into(noise: NDArray[Any], order: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype == object:
        noise = noise.astype(np.object_)
    noise[order] = values
    return noise


def _by_block(structure: Blocks, of_size: Callable[[int], int]) -> NDArray[Any]:
    widths = {int(size): of_size(int(size)) for size in np.unique(structure.sizes)}
    each = np.array([widths[int(size)] for size in structure.sizes], dtype=np.int64)
    return _placed(structure.cells, structure.order, np.repeat(each, structure.sizes))


def _mean(structure: Blocks, of_size: Callable[[int], float]) -> float:
    sizes, times = np.unique(structure.sizes, return_counts=True)
    total = sum(int(times[i]) * int(size) * of_size(int(size)) for i, size in enumerate(sizes))
    return float(total / max(1, structure.size))
