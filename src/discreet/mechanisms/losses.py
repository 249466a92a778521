"""The functions of a noise for an audit: the loss of a move, and the same noise for many copies of some cells."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import unreachable
from discreet.mechanisms.base import Audited, CellLaw, Floats, Noise
from discreet.totals.structure import Blocks, Kernel, Structure, Table, Tables

__all__ = [
    "absolute_loss",
    "audit_cells",
    "audit_lattice",
    "copy_blocks",
    "copy_positions",
    "copy_structure",
    "copy_tables",
    "squared_loss",
]

_MANY = 1 << 62
_MOST_TABLES = 20_000
"""Tables are Python objects."""

Positions = NDArray[np.int64]
Loss = Callable[[Floats, Floats], Floats]


def absolute_loss(scale: Fraction) -> Loss:
    """The loss of noise with P(v) ∝ exp(-‖v‖₁/scale): Σ (|v − move| − |v|)/scale."""
    rate = float(1 / scale)

    def loss(noise: Floats, move: Floats) -> Floats:
        return np.asarray((np.abs(noise - move) - np.abs(noise)).sum(axis=1) * rate)

    return loss


def squared_loss(variance: float) -> Loss:
    """The loss of noise with P(v) ∝ exp(-|v|²/(2 variance)) but for a constant: -⟨v, move⟩/variance."""
    rate = 1 / max(variance, 1e-300)

    def loss(noise: Floats, move: Floats) -> Floats:
        return np.asarray(-(noise @ (move * rate)))

    return loss


def audit_cells(noise: Noise, loss: Loss, *, squared: bool, is_gdp: bool) -> Audited:
    """An independent noise of all cells: whatever their number, it is the same noise."""
    return Audited(
        squared=squared,
        is_gdp=is_gdp,
        loss=loss,
        ties=None,
        noisy=0,
        cell=None,
        copied=lambda _window, _copies: noise,
        most_copies=_MANY,
        effort=1.0,
    )


def audit_lattice(
    structure: Structure,
    loss: Loss | None,
    copied: Callable[[Positions, int], Noise | None],
    *,
    squared: bool,
    cell: Callable[[], CellLaw] | None = None,
    effort: float = 1.0,
) -> Audited:
    """A noise on a lattice; what is drawn by rejection says how many numbers that takes for one."""
    most = _MOST_TABLES if isinstance(structure, Tables) else _MANY
    return Audited(
        squared=squared,
        is_gdp=False,
        loss=loss,
        ties=structure,
        noisy=_first(structure),
        cell=cell,
        copied=copied,
        most_copies=most,
        effort=effort,
    )


def copy_positions(positions: Positions, window: Positions, copies: int) -> Positions:
    """The places of the positions that are in a window, in this many copies of it, side by side."""
    places = _locate(positions, window)
    return np.asarray((np.arange(copies, dtype=np.int64)[:, None] * len(window) + places).ravel())


def _first(structure: Structure) -> int:
    match structure:
        case Blocks(order=order) | Kernel(order=order):
            return int(order[0]) if len(order) else 0
        case Tables(tables=tables):
            return int(tables[0].order.flat[0]) if tables else 0
    raise unreachable(structure)


def copy_structure(structure: Structure, window: Positions, copies: int) -> Structure | None:
    """The lattice of this many copies of the window; None for general equations."""
    match structure:
        case Blocks():
            return copy_blocks(structure, window, copies)
        case Tables():
            return copy_tables(structure, window, copies)
        case Kernel():
            return None
    raise unreachable(structure)


def copy_blocks(blocks: Blocks, window: Positions, copies: int) -> Blocks:
    """The blocks of this many copies of the window."""
    block = np.repeat(np.arange(len(blocks.sizes)), blocks.sizes)
    kept = np.unique(block[np.isin(blocks.order, window)])  # a window holds all of a block or nothing of it
    order = copy_positions(blocks.order, window, copies)
    return Blocks(copies * len(window), order, np.tile(blocks.sizes[kept], copies), None)


def copy_tables(tables: Tables, window: Positions, copies: int) -> Tables:
    """The tables of this many copies of the window."""
    kept = [table.order for table in tables.tables if np.isin(table.order, window).all()]
    width = len(window)
    places = [np.searchsorted(window, order) for order in kept]
    copied = tuple(Table(place + copy * width, None) for copy in range(copies) for place in places)
    return Tables(copies * width, copied)


def _locate(positions: Positions, window: Positions) -> Positions:
    """The places in the window of the positions that are in it."""
    return np.asarray(np.searchsorted(window, positions[np.isin(positions, window)]), dtype=np.int64)
