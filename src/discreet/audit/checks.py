"""Checks that the draws have the declared law: probabilities of events, compared with the declared ones.

The proofs speak of declared laws. A draw of another law can keep the guarantee by chance, or break it only on data that no
attack thinks of, and is refuted here all the same. Every event is fixed by the quote, before anything is drawn; the bounds
of its probability are the bounds of Clopper and Pearson, as in an attack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import above, below
from discreet.audit.draws import Kernel, drawer, prepare_audit, window_of
from discreet.noise.bits import Bits
from discreet.noise.single.laws import Law
from discreet.quotes.quote import Measured, Quote
from discreet.totals.structure import Blocks, Tables

__all__ = ["Check", "Counted", "bound_events", "noise_counts"]

_LEVELS = tuple(map(Fraction, ("0.02", "0.2", "0.5", "0.8", "0.98")))
_ROUNDING = 1e-9
"""More than the rounding errors of a probability that was worked out in double precision."""
_MOST_RUNS = 200_000
_SLOWER = 100

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of times an event was seen, and its probability by the declared law: between two doubles."""

    what: str
    hits: int
    runs: int
    declared: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Check:
    """The declared probability of an event, and bounds of the true one.

    Args:
        what: the event, in words.
        declared: its probability by the declared law.
        low: a lower bound of its probability where it was drawn.
        high: an upper bound.
        runs: how often it was drawn.
    """

    what: str
    declared: float
    low: float
    high: float
    runs: int

    @property
    def refuted(self) -> bool:
        """True if the draws were shown to have another law."""
        return not self.low - _ROUNDING <= self.declared <= self.high + _ROUNDING


def bound_events(counted: Sequence[Counted], error: float) -> tuple[Check, ...]:
    """Bounds that all hold together, but for a chance of `error`."""
    each = error / max(1, 2 * len(counted))
    found = []
    for one in counted:
        low = float(below(np.array([one.hits]), one.runs, each)[0])
        high = float(above(np.array([one.hits]), one.runs, each)[0])
        # Of the two ends of the declared probability the one that is nearer to the observed share: towards no refutation.
        nearest = min(max((low + high) / 2, one.declared[0]), one.declared[1])
        found.append(Check(one.what, nearest, low, high, one.runs))
    return tuple(found)


def noise_counts(kernel: Kernel, quote: Quote, runs: int, bits: Bits) -> Iterator[Counted]:
    """Events of the noise of each query: quantiles and signs of one cell, and two cells at once.

    Args:
        kernel: what draws.
        quote: queries with noise, none with choices.
        runs: how often the kernel runs for an attack.
        bits: where the randomness comes from.
    """
    if not quote.measured:
        return
    sizes = [_size(quote, one) for one in quote.measured]
    windows = [
        window_of(one, np.array([prepare_audit(one).noisy]), size) for one, size in zip(quote.measured, sizes, strict=True)
    ]
    effort = max(prepare_audit(one).effort for one in quote.measured)
    many = max(2, int(min(runs, _MOST_RUNS) / effort))
    draw = drawer(kernel, quote, windows, many)
    times = many if draw.copies else max(2, runs // _SLOWER)
    nothing = [np.zeros(size, dtype=np.int64) for size in sizes]
    drawn = np.concatenate(list(draw.run_repeatedly(nothing, times, bits)))
    ends = np.cumsum([len(window) for window in windows])
    columns = []
    for one, window, end in zip(quote.measured, windows, ends.tolist(), strict=True):
        place = int(np.flatnonzero(window == prepare_audit(one).noisy)[0]) + end - len(window)
        columns.append((one, drawn[:, place]))
        yield from _one_cell(one, drawn[:, place])
        yield from _two_cells(one, drawn[:, end - len(window) : end])
        yield from _alike(one, window, drawn[:, end - len(window) : end])
    yield from _two_queries(columns)


def _size(quote: Quote, one: Measured) -> int:
    return quote.plan.layout.cells * sum(one.query.widths())


def _name(one: Measured) -> str:
    return one.query.words()


def _one_cell(one: Measured, noise: _Floats) -> Iterator[Counted]:
    moved = noise[noise != 0]
    if len(moved):
        yield Counted(f"noise of {_name(one)} above 0 where it is not 0", int((moved > 0).sum()), len(moved), (0.5, 0.5))
    law, cell = one.law.independent, prepare_audit(one).cell
    if law is not None:
        for cut in sorted({law.quantile(level) for level in _LEVELS}):
            hits = int((noise <= cut).sum())
            yield Counted(f"noise of {_name(one)} at most {cut}", hits, len(noise), law.cdf(cut))
    if cell is not None:
        own = cell()
        for width in sorted({own.half_width(level) for level in _LEVELS}):
            hits = int((np.abs(noise) > width).sum())
            yield Counted(f"noise of {_name(one)} beyond {width}", hits, len(noise), own.tail(width))


def _everywhere(one: Measured) -> Law | None:
    """The law of every cell, where all cells have independent noise."""
    return one.law.independent if one.law.everywhere else None


def _two_cells(one: Measured, noise: _Floats) -> Iterator[Counted]:
    """With independent noise, two cells are below 1 at once with the product of both chances."""
    law = _everywhere(one)
    if law is not None and noise.shape[1] > 1:
        chance = law.cdf(0)
        hits = int(((noise[:, 0] <= 0) & (noise[:, 1] <= 0)).sum())
        yield Counted(f"noise of {_name(one)} at most 0 in two cells", hits, len(noise), (chance[0] ** 2, chance[1] ** 2))


def _alike(one: Measured, window: NDArray[np.int64], noise: _Floats) -> Iterator[Counted]:
    """On a lattice of blocks or of tables all cells of one are alike, so neither of two is the larger one more often."""
    structure = prepare_audit(one).ties
    if isinstance(structure, Blocks) and len(structure.sizes):
        cells = structure.order[: structure.sizes[0]]
    elif isinstance(structure, Tables) and structure.tables:
        cells = structure.tables[0].order.ravel()
    else:
        return
    places = np.searchsorted(window, cells[[0, -1]])
    if len(cells) < 2 or not np.array_equal(window[np.minimum(places, len(window) - 1)], cells[[0, -1]]):
        return
    first, last = np.abs(noise[:, places]).T
    apart = first != last
    if apart.any():
        what = f"noise of {_name(one)} further from 0 in the first cell than in the last"
        yield Counted(what, int((first > last).sum()), int(apart.sum()), (0.5, 0.5))


def _two_queries(columns: Sequence[tuple[Measured, _Floats]]) -> Iterator[Counted]:
    """The same for the noise of each query and the next."""
    for (one, noise), (other, beside) in pairwise(columns):
        law, next_law = _everywhere(one), _everywhere(other)
        if law is not None and next_law is not None:
            (low, high), (least, most) = law.cdf(0), next_law.cdf(0)
            hits = int(((noise <= 0) & (beside <= 0)).sum())
            what = f"noise of {_name(one)} and of {_name(other)} at most 0"
            yield Counted(what, hits, len(noise), (low * least, high * most))
