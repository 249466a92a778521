"""Rows by sweeps of draws and exchanges with integer weights, the same on every machine.

Every draw gives the rows of a chunk new values of one column, with weights that fall exponentially with the weighted
distance of all tables to their targets. Only integers are used: no machine, no version of NumPy and no number of threads
gives other rows. Exact lists hold after every step. The scheme and its constants are in docs/proofs/rows.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from discreet.releases.rows.exchanges import exchange, exchanged, paired, partners
from discreet.releases.rows.law import IMPOSSIBLE, Law
from discreet.releases.rows.layout import Column, State, state_of
from discreet.releases.rows.model import Integers, Start, Targets
from discreet.releases.rows.words import Words

__all__ = ["Sweeps", "sweep_rows"]

_STAGES = (
    (Fraction(1, 10), 50, 2),
    (Fraction(1, 2), 100, 2),
    (Fraction(3), 250, 2),
    (Fraction(10), 1000, 2),
    (Fraction(40), 4000, 2),
    (Fraction(40), 20000, 1),
)
"""Inverse temperatures, in how many chunks the rows are drawn, and how often."""

_EXCHANGES = 2
"""How many partners a row has in a sweep for each column that is not drawn."""

_CELLS = 1 << 22  # gathered at once


def sweep_rows(targets: Targets, start: Start, words: Words, tell: Callable[[int, int], None]) -> Integers:
    """The levels of the rows on all axes after all sweeps.

    Args:
        targets: the tables.
        start: rows that have the exact totals.
        words: the generator.
        tell: is told how many sweeps are done, and of how many.
    """
    sweeps = Sweeps.of(targets, start)
    every, done = sum(many for _, _, many in _STAGES), 0
    for beta, chunks, many in _STAGES:
        for _ in range(many):
            sweeps.sweep(beta, chunks, words)
            done += 1
            tell(done, every)
    return sweeps.state.rows


@dataclass(frozen=True, slots=True, eq=False)
class Sweeps:
    """Rows among their tables, and which of their columns move how.

    Args:
        targets: the tables.
        state: the rows.
        drawn: the columns that are drawn anew.
        exchanged: those whose levels rows exchange, with the axes in which two rows have to agree for that.
    """

    targets: Targets
    state: State
    drawn: tuple[Column, ...]
    exchanged: tuple[tuple[Column, tuple[int, ...]], ...]

    @classmethod
    def of(cls, targets: Targets, start: Start) -> Sweeps:
        """The sweeps of rows, whose levels change with them."""
        state, columns = state_of(targets, start.rows, start.each)
        drawn = tuple(one for one in columns if one.drawn)
        pairs = tuple((one, partners(targets, one.root)) for one in exchanged(targets, columns))
        return cls(targets, state, drawn, pairs)

    def sweep(self, beta: Fraction, chunks: int, words: Words) -> None:
        """Every column that is drawn is drawn once for every row, then levels are exchanged once between pairs of rows."""
        law = Law.of(beta, self.targets.unit, self.state.each)
        if self.drawn:
            for chunk in _chunks(words.shuffle(len(self.state.rows)), chunks):
                for column in self.drawn:
                    _draw(self.state, column, chunk, law, words)
        for _ in range(_EXCHANGES):
            for column, axes in self.exchanged:
                for pairs in _chunks(paired(self.state, axes, words), chunks):
                    exchange(self.state, column, pairs, law, words)


def _chunks(order: Integers, many: int) -> Iterator[Integers]:
    ends = [len(order) * place // many for place in range(many + 1)]
    return (order[low:high] for low, high in pairwise(ends) if high > low)


def _draw(state: State, column: Column, chunk: Integers, law: Law, words: Words) -> None:
    """New levels of one column for the rows of a chunk, drawn side by side; the costs follow."""
    old = state.rows[chunk, column.root.axes[0]]
    new = words.choose(law.cumulated(_costs(state, column, chunk, old), state.each[chunk]))
    moved = np.flatnonzero(new != old)
    if moved.size:
        state.move(column, chunk[moved], new[moved])


def _costs(state: State, column: Column, chunk: Integers, old: Integers) -> Integers:
    """For each row of a chunk what each level of the column would cost."""
    many = max(1, _CELLS // (max(1, column.strides.shape[1]) * column.root.levels))
    if len(chunk) <= many:
        return _some_costs(state, column, chunk, old)
    starts = range(0, len(chunk), many)
    return np.concatenate([_some_costs(state, column, chunk[low : low + many], old[low : low + many]) for low in starts])


def _some_costs(state: State, column: Column, chunk: Integers, old: Integers) -> Integers:
    rows, costs = state.rows[chunk], np.zeros((len(chunk), column.root.levels), dtype=np.int64)
    for part in column.parts:
        at = part.at(rows)
        own = state.weights[part.places(at, old)].sum(axis=1) * state.each[chunk]
        costs += part.seen(state.costs, at)
        if state.bundled:  # of w rows the middle one is w/2 further than that of one
            costs += part.seen(state.weights, at) * (state.each[chunk] - 1)[:, None] // 2
        if part.plain:
            costs[np.arange(len(chunk)), old] -= own  # the row itself is not there while it chooses
        else:
            costs -= own[:, None] * (part.own[old][:, None] == part.own)
    if column.voids or column.bound:
        costs += IMPOSSIBLE * _wrong(state, column, rows, old)
    return costs


def _wrong(state: State, column: Column, rows: Integers, old: Integers) -> Integers:
    """For each row and level in how many empty cells the row would be, up to 7; 8 more where a list forbids the level."""
    found = np.zeros((len(rows), column.root.levels), dtype=np.int64)
    for part in column.voids:
        found += part.seen(state.empty, part.at(rows))
    return np.asarray(np.minimum(found, 7) + 8 * (column.classes[old][:, None] != column.classes))
