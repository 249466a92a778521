"""One attack: two data sets, a great many runs of the kernel, an event chosen on one half and counted on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import Event, above, below, best_events, count_reached, thresholds
from discreet.audit.draws import NOTHING, Drawer, Kernel, Randomness, drawer, prepare_audit, window_of
from discreet.audit.statistics import Statistic, constant_statistics, drawn_statistics
from discreet.cube.cube import Cube
from discreet.noise.bits import Bits
from discreet.plan.plan import Plan
from discreet.quotes.quote import Quote

__all__ = ["SLOWER", "Aim", "Compared", "Found", "find_best", "run_attack"]

SLOWER = 100
"""By how much fewer runs there are where each one draws a table anew, or a noise that cannot be drawn many at a time."""

_TYPICAL = 25
_MOST_NUMBERS = 300_000_000
"""The draws for one data set; there are fewer runs where totals tie very many cells together."""
_TIED = 10
"""The factor by which a number that is drawn on a lattice takes longer."""

_Floats = NDArray[np.float64]


class Compared(Protocol):
    """Two tables that the guarantee compares: `audit.pairs.Pair` of rows, or `audit.persons.PersonPair`."""

    @property
    def what(self) -> str:
        """How they differ, in words."""

    @property
    def moves(self) -> tuple[NDArray[np.float64], ...] | None:
        """For each measured query what the second answer has more than the first; None where it is random."""

    def cubes(self, plan: Plan) -> tuple[Sequence[Cube], Sequence[Cube]]:
        """The cubes that an engine brings for each of them."""


@dataclass(frozen=True, slots=True)
class Aim:
    """The aim of an attack.

    Args:
        epsilons: where δ(ε) is to be shown large.
        delta: where ε is to be shown large.
        runs: how many runs of the kernel for each data set, both halves together.
        error: the chance of a false statement, for one direction of one pair.
    """

    epsilons: tuple[Fraction, ...]
    delta: Fraction
    runs: int
    error: float


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one direction of a pair.

    Args:
        events: bounds of the probabilities of every event that was counted.
        names: the statistic of each of them.
        runs: how many runs of each data set were made.
    """

    events: tuple[Event, ...]
    names: tuple[str, ...]
    runs: int


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One data set: its exact answers where every run has the same, and how to draw them anew where not."""

    answers: Sequence[NDArray[Any]] | None
    draw: Callable[[], Sequence[NDArray[Any]]]


def run_attack(kernel: Kernel, quote: Quote, pair: Compared, aim: Aim, bits: Bits) -> tuple[Found, Found]:
    """Both directions of a pair: first against second, and second against first."""
    both = pair.cubes(quote.plan)
    sides = [_side(kernel, quote, cubes, bits) for cubes in both]
    constant = all(side.answers is not None for side in sides)
    windows = _windows(quote, pair, sides)
    together = drawer(kernel, quote, windows, 1).copies > 0
    runs = aim.runs if constant and together else aim.runs // SLOWER
    runs = max(2, min(runs, _most_runs(quote, windows)))
    draw = drawer(kernel, quote, windows, runs // 2)
    halves = [[_draw(draw, side, part, bits) for side in sides] for part in (runs // 2, runs - runs // 2)]
    choosing = [_until(half, 4000) for half in halves[0]]
    statistics = _statistics(quote, pair, windows, sides, (choosing[0][0], choosing[1][0]))
    chosen = [_values(statistics, pilot, half) for pilot, half in choosing]
    counted = [_values(statistics, None, half) for half in halves[1]]
    names = [name for name, _ in statistics]
    forwards = find_best(names, chosen[0], chosen[1], counted[0], counted[1], aim)
    backwards = find_best(names, -chosen[1], -chosen[0], -counted[1], -counted[0], aim)
    return forwards, backwards


def _side(kernel: Kernel, quote: Quote, cubes: Sequence[Cube], bits: Bits) -> _Side:
    def draw() -> Sequence[NDArray[Any]]:
        return kernel.exact(quote, cubes, bits)

    try:
        return _Side(list(kernel.exact(quote, cubes, NOTHING)), draw)
    except Randomness:
        return _Side(None, draw)


def _windows(quote: Quote, pair: Compared, sides: Sequence[_Side]) -> list[NDArray[np.int64]]:
    """The cells of each query to look at: those in which the data sets differ, in every run or in some."""
    windows = []
    several = [side.draw() if side.answers is None else side.answers for side in sides]
    for place, one in enumerate(quote.measured):
        first, second = several[0][place], several[1][place]
        moved = np.flatnonzero(first != second)
        if pair.moves is not None:
            moved = np.union1d(moved, np.flatnonzero(pair.moves[place]))
        windows.append(window_of(one, moved, len(first)))
    return windows


def _most_runs(quote: Quote, windows: Sequence[NDArray[np.int64]]) -> int:
    pairs = zip(quote.measured, windows, strict=True)
    numbers = sum(len(window) * (1 if one.law.everywhere else _TIED * prepare_audit(one).effort) for one, window in pairs)
    return int(_MOST_NUMBERS / numbers)


def _draw(draw: Drawer, side: _Side, runs: int, bits: Bits) -> Iterator[_Floats]:
    if side.answers is not None:
        return draw.run_repeatedly(side.answers, runs, bits)
    return draw.runs(iter(side.draw, None), runs, bits)


def _until(batches: Iterator[_Floats], wanted: int) -> tuple[_Floats, Iterator[_Floats]]:
    """Some runs at once, and the rest."""
    taken: list[_Floats] = []
    while sum(map(len, taken)) < wanted:
        batch = next(batches, None)
        if batch is None:
            break
        taken.append(batch)
    return np.concatenate(taken), batches


def _statistics(
    quote: Quote,
    pair: Compared,
    windows: Sequence[NDArray[np.int64]],
    sides: Sequence[_Side],
    pilots: tuple[_Floats, _Floats],
) -> list[Statistic]:
    widths = [len(window) for window in windows]
    if sides[0].answers is not None and sides[1].answers is not None:
        exact = [_side_by_side(side.answers or (), windows) for side in sides]
        return constant_statistics(quote.measured, widths, (exact[0], exact[1]), pilots[0])
    hint = None if pair.moves is None else _side_by_side(pair.moves, windows)
    several = [_side_by_side(sides[0].draw(), windows) for _ in range(_TYPICAL)]
    return drawn_statistics(quote.measured, widths, np.median(np.stack(several), axis=0), hint, pilots)


def _side_by_side(answers: Sequence[NDArray[Any]], windows: Sequence[NDArray[np.int64]]) -> _Floats:
    shown = [values[window].astype(np.float64) for values, window in zip(answers, windows, strict=True)]
    return np.concatenate(shown)


def _values(statistics: Sequence[Statistic], pilot: _Floats | None, batches: Iterator[_Floats]) -> _Floats:
    """Every statistic of every run, shape (statistics, runs)."""
    parts = [] if pilot is None else [pilot]
    found = [np.stack([value(batch) for _, value in statistics]) for batch in (*parts, *batches)]
    return np.concatenate(found, axis=1)


def find_best(  # noqa: PLR0917 (two halves of two data sets)
    names: Sequence[str], first: _Floats, second: _Floats, first_again: _Floats, second_again: _Floats, aim: Aim
) -> Found:
    """The best event for every aim by the half that chooses, bounded by the other half."""
    aims = len(aim.epsilons) + 1
    error = aim.error / (2 * aims)
    best: list[tuple[float, float, int]] = [(-np.inf, 0.0, 0)] * aims
    for number in range(len(names)):
        one, other = np.sort(first[number]), np.sort(second[number])
        found = best_events(one, other, thresholds(one, other), error=error, epsilons=aim.epsilons, delta=aim.delta)
        best = [max(old, (gain, cut, number)) for old, (gain, cut) in zip(best, found, strict=True)]
    events = []
    for _, cut, number in best:
        hits = [np.array([count_reached(values[number], cut)]) for values in (first_again, second_again)]
        low = below(hits[0], first_again.shape[1], error)[0]
        events.append(Event(float(low), float(above(hits[1], second_again.shape[1], error)[0])))
    return Found(tuple(events), tuple(names[number] for _, _, number in best), first_again.shape[1] * 2)
