"""The kernel under test, run a great many times: many runs are one call, for as many copies of the cells of a request.

Only cells in which the two data sets can differ, and some others next to them, are drawn: where noises are independent the
rest has no information. Laws of independent cells are used unchanged; a law on a lattice gets a structure with many copies
of the blocks or tables of those cells. Where there are no such copies (general equations, hulls) runs are made one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.errors import InternalError, unreachable
from discreet.mechanisms.base import Audited
from discreet.noise.bits import Bits
from discreet.quotes.quote import Measured, Quote
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.totals.structure import Blocks, Structure, Tables
from discreet.totals.structure import Kernel as Equations

__all__ = ["KERNEL", "NOTHING", "Drawer", "Kernel", "Randomness", "drawer", "prepare_audit", "window_of"]

_AT_ONCE = 1 << 20
"""Numbers drawn in one call."""
_FEW = 16


@dataclass(frozen=True, slots=True)
class Kernel:
    """The functions that turn cubes into noisy integers: those in `releases.evaluate`, or defective ones to try an audit.

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
        kernel: the functions to run.
        quote: the quote with laws of `copies` copies of the windows, or its own laws where `copies` is 0.
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

    def run_repeatedly(self, answer: Sequence[NDArray[Any]], runs: int, bits: Bits) -> Iterator[NDArray[np.float64]]:
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
        several = [*several, *([several[-1]] * missing)]  # the law has its number of copies; the surplus is cut off
        shown = [np.concatenate([one[i][window] for one in several]) for i, window in enumerate(self.windows)]
        return self._together(shown, bits)[: self.copies - missing]

    def _together(self, exact: Sequence[NDArray[Any]], bits: Bits) -> NDArray[np.float64]:
        noisy = self.kernel.noisy(self.quote, exact, bits)
        return np.concatenate([values.astype(np.float64).reshape(self.copies, -1) for values in noisy], axis=1)


def drawer(kernel: Kernel, quote: Quote, windows: Sequence[NDArray[np.int64]], runs: int) -> Drawer:
    """The kernel for windows of the answers; where it can make many runs in one call it does."""
    size = sum(map(len, windows))
    copies = max(1, min(runs, _AT_ONCE // max(1, size)))
    known = [prepare_audit(one) for one in quote.measured]
    copies = min(copies, *(one.most_copies for one in known))
    laws = [one.copied(window, copies) for one, window in zip(known, windows, strict=True)]
    if any(law is None for law in laws):
        return Drawer(kernel, quote, tuple(windows), 0)
    pairs = zip(quote.measured, laws, strict=True)
    measured = tuple(one if law is None else replace(one, law=law) for one, law in pairs)
    return Drawer(kernel, replace(quote, measured=measured), tuple(windows), copies)


def prepare_audit(one: Measured) -> Audited:
    """The functions by which an audit draws the noise of a query.

    Raises:
        InternalError: no noise is added to it.
    """
    known = one.law.prepare_audit()
    if known is None:
        raise InternalError("only noise that is added can be audited as noise")
    return known


def window_of(one: Measured, moved: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The positions to look at: those that move, whatever noise is tied to them, and a few others."""
    wanted = np.zeros(size, dtype=bool)
    wanted[moved] = True
    wanted[np.flatnonzero(~wanted)[: max(0, _FEW - int(wanted.sum()))]] = True
    ties = prepare_audit(one).ties
    return np.flatnonzero(wanted if ties is None else _with_ties(ties, wanted))


def _with_ties(structure: Structure, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The wanted cells, and all those whose noise is tied to one of them."""
    match structure:
        case Blocks(sizes=sizes, order=order):
            block = np.repeat(np.arange(len(sizes)), sizes)
            wanted[order] = np.isin(block, block[wanted[order]])
        case Tables(tables=tables):
            for table in tables:
                wanted[table.order] |= bool(wanted[table.order].any())
        case Equations():
            wanted[:] = True
        case _:
            raise unreachable(structure)
    return wanted
