"""The kernel under test, run a great many times: many runs are one call, for so many copies of the cells of a request.

Only cells in which the two data sets can differ, and some others beside them, are drawn: where noises are independent the
rest tells nothing. Laws of independent cells are used as they stand; a law on a lattice gets a structure with many copies
of the blocks or tables of those cells. Where there are no such copies (general equations, hulls) runs are made one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.mechanisms.lattice import HeldCells, LatticeGaussian, PairedLaplace, SumZeroLaplace
from discreet.noise.bits import Bits
from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.quotes.quote import Noise, Quote
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.totals.structure import Blocks, Table, Tables

__all__ = ["KERNEL", "NOTHING", "Drawer", "Kernel", "Randomness", "drawer", "window_of"]

_AT_ONCE = 1 << 20
"""Numbers drawn in one call."""
_FEW = 16
_SCALAR = (DiscreteLaplace, DiscreteGaussian, RoundedGaussian)


@dataclass(frozen=True, slots=True)
class Kernel:
    """What turns cubes into noisy integers: the functions of `releases.evaluate`, or defective ones to try an audit.

    Args:
        exact: resampling and queries.
        noisy: the noise.
    """

    exact: Callable[[Quote, Iterable[Cube], Bits], Sequence[NDArray[Any]]] = exact_answers
    noisy: Callable[[Quote, Sequence[NDArray[Any]], Bits], Sequence[NDArray[Any]]] = noisy_answers


KERNEL = Kernel()


class Randomness(Exception):
    """Random bits were asked for where there are none."""


def _none(_count: int) -> bytes:
    raise Randomness


NOTHING = Bits(_none)
"""A source without bits: exact answers that are found with it are the same in every run."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawer:
    """Runs of the kernel on the answers of one data set.

    Args:
        kernel: what is run.
        quote: the quote with laws of so many copies of the windows, or its own laws where `copies` is 0.
        windows: for each measured query the positions that are looked at.
        copies: how many runs one call makes; 0: one, and the window is cut out afterwards.
    """

    kernel: Kernel
    quote: Quote
    windows: tuple[NDArray[np.int64], ...]
    copies: int

    def runs(self, answers: Iterator[Sequence[NDArray[Any]]], runs: int, bits: Bits) -> Iterator[NDArray[np.float64]]:
        """Noisy answers of the windows, side by side: shape (some runs, cells), `runs` in total.

        Args:
            answers: the exact answers of every run, one after the other.
            runs: how many.
            bits: where the randomness comes from.
        """
        while runs > 0:
            several = [next(answers) for _ in range(min(runs, max(1, self.copies)))]
            runs -= len(several)
            yield self._noisy(several, bits)

    def repeated(self, answer: Sequence[NDArray[Any]], runs: int, bits: Bits) -> Iterator[NDArray[np.float64]]:
        """As `runs`, for exact answers that are the same in every run."""
        if not self.copies:
            yield from self.runs(iter(lambda: answer, None), runs, bits)
            return
        shown = [values[window] for values, window in zip(answer, self.windows, strict=True)]
        tiled = [np.tile(values, self.copies) for values in shown]
        while runs > 0:
            yield self._together(tiled, bits)[:runs]
            runs -= self.copies

    def _noisy(self, several: Sequence[Sequence[NDArray[Any]]], bits: Bits) -> NDArray[np.float64]:
        if not self.copies:
            noisy = self.kernel.noisy(self.quote, several[0], bits)
            shown = [values[window] for values, window in zip(noisy, self.windows, strict=True)]
            return np.concatenate(shown).astype(np.float64)[None, :]
        missing = self.copies - len(several)
        several = [*several, *([several[-1]] * missing)]  # the law has its number of copies; what is too much is cut off
        shown = [np.concatenate([one[i][window] for one in several]) for i, window in enumerate(self.windows)]
        return self._together(shown, bits)[: self.copies - missing]

    def _together(self, exact: Sequence[NDArray[Any]], bits: Bits) -> NDArray[np.float64]:
        noisy = self.kernel.noisy(self.quote, exact, bits)
        return np.concatenate([values.astype(np.float64).reshape(self.copies, -1) for values in noisy], axis=1)


def drawer(kernel: Kernel, quote: Quote, windows: Sequence[NDArray[np.int64]], runs: int) -> Drawer:
    """The kernel for windows of the answers; where it can make many runs in one call it does."""
    size = sum(map(len, windows))
    copies = max(1, min(runs, _AT_ONCE // max(1, size)))
    if any(isinstance(one.law, LatticeGaussian | PairedLaplace) for one in quote.measured):
        copies = min(copies, 20_000)  # tables are Python objects
    laws = [_copied(one.law, window, copies) for one, window in zip(quote.measured, windows, strict=True)]
    if any(law is None for law in laws):
        return Drawer(kernel, quote, tuple(windows), 0)
    pairs = zip(quote.measured, laws, strict=True)
    measured = tuple(one if law is None else replace(one, law=law) for one, law in pairs)
    return Drawer(kernel, replace(quote, measured=measured), tuple(windows), copies)


def window_of(law: Noise, moved: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The positions to look at: those that move, whatever noise is tied to them, and a few others."""
    wanted = np.zeros(size, dtype=bool)
    wanted[moved] = True
    wanted[np.flatnonzero(~wanted)[: max(0, _FEW - int(wanted.sum()))]] = True
    structure = getattr(law, "structure", None)
    if isinstance(structure, Blocks):
        block = np.repeat(np.arange(len(structure.sizes)), structure.sizes)
        wanted[structure.order] = np.isin(block, block[wanted[structure.order]])
    elif isinstance(structure, Tables):
        for table in structure.tables:
            wanted[table.order] |= bool(wanted[table.order].any())
    elif structure is not None:
        wanted[:] = True
    return np.flatnonzero(wanted)


def _copied(law: Noise, window: NDArray[np.int64], copies: int) -> Noise | None:
    """The same law for many copies of the cells of the window; None where it cannot be said so."""
    if isinstance(law, _SCALAR):
        return law
    width = len(window)
    if isinstance(law, HeldCells):
        held = _found(law.held, window)
        return HeldCells(copies * width, _shifted(held, width, copies), law.law)
    if isinstance(law, SumZeroLaplace):
        return SumZeroLaplace(_copied_blocks(law.structure, window, copies), law.scale)
    if isinstance(law, PairedLaplace):
        return PairedLaplace(_copied_tables(law.structure, window, copies), law.scale)
    if isinstance(law, LatticeGaussian) and isinstance(law.structure, Blocks):
        return LatticeGaussian(_copied_blocks(law.structure, window, copies), law.sigma2)
    if isinstance(law, LatticeGaussian) and isinstance(law.structure, Tables):
        return LatticeGaussian(_copied_tables(law.structure, window, copies), law.sigma2)
    return None


def _copied_blocks(blocks: Blocks, window: NDArray[np.int64], copies: int) -> Blocks:
    block = np.repeat(np.arange(len(blocks.sizes)), blocks.sizes)
    kept = np.unique(block[np.isin(blocks.order, window)])  # a window holds all of a block or nothing of it
    order = _found(blocks.order, window)
    width = len(window)
    return Blocks(copies * width, _shifted(order, width, copies), np.tile(blocks.sizes[kept], copies), None)


def _copied_tables(tables: Tables, window: NDArray[np.int64], copies: int) -> Tables:
    kept = [table.order for table in tables.tables if np.isin(table.order, window).all()]
    width = len(window)
    places = [np.searchsorted(window, order) for order in kept]
    copied = tuple(Table(place + copy * width, None) for copy in range(copies) for place in places)
    return Tables(copies * width, copied)


def _found(positions: NDArray[np.int64], window: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where in the window those of the positions are that are in it."""
    return np.asarray(np.searchsorted(window, positions[np.isin(positions, window)]), dtype=np.int64)


def _shifted(positions: NDArray[np.int64], width: int, copies: int) -> NDArray[np.int64]:
    return np.asarray((np.arange(copies, dtype=np.int64)[:, None] * width + positions).ravel())
