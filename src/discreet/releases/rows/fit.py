"""Rows by sweeps of draws with integer weights, the same on every machine.

Every draw gives the rows of a chunk new values of one column, with weights that fall exponentially with the weighted
distance of all tables to their targets. Only integers are used: no machine, no version of NumPy and no number of threads
gives other rows. Columns of exact totals are never drawn. The scheme and its constants are in docs/proofs/rows.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.releases.rows.targets import PARTS, Target, Targets
from discreet.releases.rows.words import Words

__all__ = ["sweep_rows"]

Integers = NDArray[np.int64]

_STAGES = (
    (Fraction(1, 10), 50, 2),
    (Fraction(1, 2), 100, 2),
    (Fraction(3), 250, 2),
    (Fraction(10), 1000, 2),
    (Fraction(40), 4000, 3),
)
"""Inverse temperatures, in how many chunks the rows are drawn, and how often."""
_STEPS = 512  # of the exponent to a factor of e
_LAST = 8704  # e^-17: rarer values are as rare as this
_SHIFT = 20
_WEIGHT = 24  # bits of a weight
_CELLS = 1 << 22  # gathered at once


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One column among its tables.

    Args:
        axis: its position.
        levels: how many it has.
        errors: a view of the errors of its tables: a row for each combination of the other columns of each, its own levels
            side by side.
        others: of shape (axes, tables), with `first`: the row of each table where the other columns have some levels.
        first: the first of these rows of each table.
        weight: the sum of the weights of its tables.
        moves: of shape (axes, places), with `places` and `weights`: every error that a row counts in.
        places: the first of these places.
        weights: what a row adds there.
    """

    axis: int
    levels: int
    errors: Integers
    others: Integers
    first: Integers
    weight: int
    moves: Integers
    places: Integers
    weights: Integers


def sweep_rows(targets: Targets, start: Integers, words: Words, tell: Callable[[int, int], None]) -> Integers:
    """The rows after all sweeps, of the shape of `start`.

    Args:
        targets: the tables.
        start: rows that have the exact totals.
        words: the generator.
        tell: is told how many sweeps are done, and of how many.
    """
    fit, columns = _fit_of(targets, start.copy())
    held = {axis for own in targets.totals for axis in own}
    free = [axis for axis in columns if axis not in held]
    every, done = sum(many for _, _, many in _STAGES), 0
    law = _exponentials()
    for beta, chunks, many in _STAGES:
        factor = max(1, round((1 << _SHIFT) * _STEPS * beta * targets.unit / PARTS))
        for _ in range(many):
            for chunk in _chunks(words.shuffle(len(start)), chunks):
                for axis in free:
                    fit.draw(columns[axis], chunk, _Law(factor, law), words)
            done += 1
            tell(done, every)
    return fit.levels


def _exponentials() -> Integers:
    """floor(2^24 e^(-k/512)), k = 0 … 8704."""
    context = Context(prec=50)
    powers = (context.exp(context.divide(Decimal(-k), _STEPS)) for k in range(_LAST + 1))
    return np.array([int(context.multiply(one, 1 << _WEIGHT)) for one in powers], dtype=np.int64)


def _chunks(order: Integers, many: int) -> Iterator[Integers]:
    ends = [len(order) * place // many for place in range(many + 1)]
    return (order[low:high] for low, high in pairwise(ends) if high > low)


# The errors of all tables ---------------------------------------------------------------------------------------------


def _fit_of(targets: Targets, levels: Integers) -> tuple[_Fit, dict[int, _Column]]:
    """The rows with the errors of all tables, and the columns that can be drawn.

    Columns of one level, and those that no table with a weight has, are not drawn.
    """
    sizes = targets.sizes
    own: dict[int, list[_Place]] = {}
    end = 0
    for axis, size in enumerate(sizes):
        for table in targets.tables:
            if table.weight and axis in table.axes and size > 1:
                own.setdefault(axis, []).append(_Place(table, axis, end))
                end += table.counts.size
    errors = np.zeros(end, dtype=np.int64)
    for place in (one for places in own.values() for one in places):
        found = PARTS * _count(levels, place.table.axes, sizes) - place.table.counts
        errors[place.start : place.start + found.size] = place.table.weight * place.seen(found).ravel()
    return _Fit(levels, errors), {axis: _column(axis, sizes, own, errors) for axis in own}


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where the errors of a table lie for one of its columns: that column last."""

    table: Target
    axis: int
    start: int

    def seen(self, counts: Integers) -> Integers:
        """The cells of the table in this order."""
        return np.moveaxis(counts, self.table.axes.index(self.axis), -1)

    def strides(self, sizes: Sequence[int]) -> Integers:
        """By how many places a cell moves where a row has the next level on each axis."""
        found, step = np.zeros(len(sizes), dtype=np.int64), 1
        for axis in reversed([*(one for one in self.table.axes if one != self.axis), self.axis]):
            found[axis], step = step, step * sizes[axis]
        return found


def _count(levels: Integers, axes: Sequence[int], sizes: Sequence[int]) -> Integers:
    shape = [sizes[axis] for axis in axes]
    flat = np.ravel_multi_index(tuple(levels[:, axis] for axis in axes), shape) if axes else np.zeros(len(levels), np.int64)
    return np.bincount(flat, minlength=prod(shape)).reshape(shape)


def _column(axis: int, sizes: Sequence[int], own: dict[int, list[_Place]], errors: Integers) -> _Column:
    mine, size = own[axis], sizes[axis]
    start, end = mine[0].start, mine[-1].start + mine[-1].table.counts.size
    others = np.stack([place.strides(sizes) for place in mine], axis=1) // size
    others[axis] = 0
    counted = [place for places in own.values() for place in places if axis in place.table.axes]
    return _Column(
        axis=axis,
        levels=size,
        errors=errors[start:end].reshape(-1, size),
        others=others,
        first=np.array([(place.start - start) // size for place in mine]),
        weight=sum(place.table.weight for place in mine),
        moves=np.stack([place.strides(sizes) for place in counted], axis=1),
        places=np.array([place.start for place in counted]),
        weights=PARTS * np.array([place.table.weight for place in counted]),
    )


# Draws ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """Weights that fall exponentially with the score: `factor` · score >> 20 steps of 1/512 in the exponent."""

    factor: int
    exponentials: Integers

    def cumulated(self, scores: Integers) -> Integers:
        """For each row of scores the cumulated weights of its values, the last of them in [1, 2^31)."""
        above = np.minimum(scores - scores.min(axis=1, keepdims=True), (_LAST << _SHIFT) // self.factor + 1)
        steps = np.minimum(above * self.factor >> _SHIFT, _LAST)
        narrow = max(0, scores.shape[1].bit_length() - 7)
        return np.cumsum(self.exponentials[steps] >> narrow, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The rows and how far they are from the tables; both change with every draw.

    Args:
        levels: of each row on each axis.
        errors: weight · (PARTS · rows - target) in every cell of every table, once for each of its columns.
    """

    levels: Integers
    errors: Integers

    def draw(self, column: _Column, chunk: Integers, law: _Law, words: Words) -> None:
        """New values of one column for the rows of a chunk, drawn side by side; the errors follow."""
        rows = self.levels[chunk]
        old = rows[:, column.axis]
        scores = _scores(column, rows)
        scores[np.arange(len(chunk)), old] -= PARTS * column.weight  # the row itself is not there while it chooses
        new = words.choose(law.cumulated(scores))
        moved = np.flatnonzero(new != old)
        if moved.size:
            before = column.places + rows[moved] @ column.moves
            after = before + (new - old)[moved, None] * column.moves[column.axis]
            added = np.tile(column.weights, len(moved))
            np.subtract.at(self.errors, before.ravel(), added)
            np.add.at(self.errors, after.ravel(), added)
            self.levels[chunk[moved], column.axis] = new[moved]


def _scores(column: _Column, rows: Integers) -> Integers:
    """For each row and each value of the column the weighted errors where the row would count."""
    at = column.first + rows @ column.others
    many = max(1, _CELLS // (at.shape[1] * column.levels))
    parts = [column.errors[at[low : low + many]].sum(axis=1) for low in range(0, len(at), many)]
    return np.concatenate(parts)
