"""How tables that are measured whole divide what is spent on them. Floats choose; any division is charged as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.effects import Axes, Effects
from discreet.statistics.effects import parts_of

__all__ = ["divide_for_errors", "divide_whole", "divide_within"]

_STEPS = 100
_NEAR = 1e-6  # a step that gains less is the last one
_LEAST = 1e-9  # of a share, relative to the largest gain: a table that is of no use now may be later

Floats = NDArray[np.float64]


def divide_whole(
    effects: Effects, tables: Sequence[Axes], wanted: Mapping[Axes, float], start: Sequence[float], power: int
) -> list[float]:
    """Shares of the tables with about the least Σ wanted_a·s_a, s_a the variance of the least-squares estimate of an effect.

    They are better than those at the start, or these. A share gives the noise of a table a precision in proportion to its
    power: 2 for Laplace noise, 1 for Gaussian noise.

    Args:
        effects: of all tables.
        tables: those that are measured.
        wanted: for each effect that gets noise what its variance adds to the sum of those of all cells.
        start: shares that were best without least squares.
        power: of a share in the precision.
    """
    told = _Told(effects, tables, tuple(wanted))
    worth = np.array(list(wanted.values()))
    return [float(one) for one in _descend(told, worth, np.array(start) / sum(start), power)]


def divide_for_errors(
    effects: Effects, tables: Sequence[Axes], cells: Sequence[Mapping[Axes, float]], start: Sequence[float], power: int
) -> list[float]:
    """Shares of the tables with about the least largest variance of a cell of any of some tables.

    Args:
        effects: of all tables.
        tables: those that are measured.
        cells: for each of the tables with errors, in units of its squared error, what a unit of the variance of each effect
            that gets noise adds to that of a cell.
        start: shares that were best without least squares.
        power: of a share in the precision.
    """
    parts = tuple(dict.fromkeys(part for one in cells for part in one))
    told = _Told(effects, tables, parts)
    adds = np.array([[one.get(part, 0.0) for part in parts] for one in cells])
    shares, prices = np.array(start) / sum(start), np.ones(len(cells))
    best, least = shares, np.inf
    for _ in range(_STEPS):
        variances = told.variances(adds, shares**power)
        if variances.max() < least * (1 - _NEAR):
            best, least = shares, float(variances.max())
        prices *= (variances / variances.max()) ** (1 / 2)
        shares = _descend(told, prices @ adds, shares, power)
    return [float(one) for one in best]


def divide_within(
    effects: Effects,
    tables: Sequence[Axes],
    asked: tuple[Sequence[Mapping[Axes, float]], Mapping[Axes, float]],
    start: Sequence[float],
    how: tuple[int, float],
) -> list[float]:
    """Shares with about the least sum among those whose largest variance is near the least possible one.

    Args:
        effects: of all tables.
        tables: those that are measured.
        asked: as for errors the cells of tables, and for the sum what the variance of each effect adds to it.
        start: shares that were best for errors without least squares.
        how: the power of a share in the precision, and by which factor the largest variance may be above the least one.
    """
    (cells, wanted), (power, room) = asked, how
    parts = tuple(dict.fromkeys([*wanted, *(part for one in cells for part in one)]))
    told = _Told(effects, tables, parts)
    adds = np.array([[one.get(part, 0.0) for part in parts] for one in cells])
    worth = np.array([wanted.get(part, 0.0) for part in parts])
    first = np.array(divide_for_errors(effects, tables, cells, start, power))
    first /= first.sum()
    if room <= 1:
        return [float(one) for one in first]
    most = float(told.variances(adds, first**power).max()) * room
    shares = _descend(told, worth, (first + 1 / len(first)) / 2, power)
    prices = np.full(len(cells), told.sum_of(worth, shares**power) / most / len(cells))
    best, least = first, told.sum_of(worth, first**power)
    for _ in range(_STEPS):
        over, total = told.variances(adds, shares**power) / most, told.sum_of(worth, shares**power)
        if over.max() <= 1 + _NEAR and total < least * (1 - _NEAR):
            best, least = shares, total
        prices = prices * over ** (1 / 2)
        shares = _descend(told, worth + prices @ adds, shares, power)
    return [float(one) for one in best]


def _descend(told: _Told, worth: Floats, shares: Floats, power: int) -> Floats:
    """Shares with a smaller sum, while it falls: at the best ones all of them gain alike, d Σ/d s_b is the same."""
    least = told.sum_of(worth, shares**power)
    for _ in range(_STEPS):
        gains = told.gains(worth, shares**power) * shares ** (power - 1)
        further = shares * (gains / gains.max()) ** (1 / 4)
        further = np.maximum(further, _LEAST)
        further /= further.sum()
        found = told.sum_of(worth, further**power)
        if not found < least * (1 - _NEAR):
            break
        shares, least = further, found
    return shares


class _Told:
    """What each table says of each effect: 1/Π n_i over its axes outside the effect, by its entries."""

    def __init__(self, effects: Effects, tables: Sequence[Axes], parts: tuple[Axes, ...]) -> None:
        places = {part: place for place, part in enumerate(parts)}
        entries = [
            (places[part], table, 1 / prod(effects.sizes[axis] for axis in axes if axis not in part))
            for table, axes in enumerate(tables)
            for part in parts_of(effects, axes)
            if part in places
        ]
        self._parts, self._tables = len(parts), len(tables)
        self._part = np.array([part for part, _, _ in entries], dtype=np.intp)
        self._table = np.array([table for _, table, _ in entries], dtype=np.intp)
        self._value = np.array([value for _, _, value in entries])

    def _precisions(self, precisions: Floats) -> Floats:
        return np.asarray(np.bincount(self._part, self._value * precisions[self._table], self._parts), dtype=np.float64)

    def sum_of(self, worth: Floats, precisions: Floats) -> float:
        """Σ worth_a·s_a."""
        return float((worth / self._precisions(precisions)).sum())

    def variances(self, adds: Floats, precisions: Floats) -> Floats:
        """Σ adds_ba·s_a for each row b."""
        return np.asarray(adds @ (1 / self._precisions(precisions)))

    def gains(self, worth: Floats, precisions: Floats) -> Floats:
        """By how much the sum falls with the precision of each table."""
        slope = worth / self._precisions(precisions) ** 2
        return np.asarray(np.bincount(self._table, self._value * slope[self._part], self._tables), dtype=np.float64)
