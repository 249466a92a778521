"""The equations behind conditions on tables that agree, in doubles: K C Kᵀ λ = r, and what they take off each variance.

C is s_a times the projector for each effect a. Up to some thousand conditions K C Kᵀ is a matrix; beyond, conjugate
gradients find λ, and no variance is worked out: none is larger than without conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.exact.axes import in_order, margin_of
from discreet.mechanisms.effects import Axes, Effects
from discreet.statistics.effects import parts_of
from discreet.statistics.public_totals import PublicSum, factors_of

__all__ = ["Conditioned", "Reduced", "System", "system_of", "weights_in_cells"]

_MOST_ROWS = 1500
_MOST_NUMBERS = 1 << 25  # of one matrix: 256 MB
_INDEPENDENT = 1e-11  # of the variance of a condition: what is left of it beside the others
_ROUNDED = 1e-22  # of a variance: what rounding may leave of one that is 0
_SOLVED = 1e-28
"""A squared residual below this part of the first one is that of rounding errors."""
_MOST_STEPS = 3_000
_ERROR = 1e-12  # of the sizes of all terms of a sum of some thousand products

Floats = NDArray[np.float64]


class Conditioned(Protocol):
    """A table with conditions."""

    @property
    def table(self) -> Axes:
        """Its axes."""

    @property
    def sums(self) -> tuple[PublicSum, ...]:
        """Its sums."""


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """What conditions do to the estimates of the cells of one table.

    Args:
        taken: what they take off the variance of each cell, at most: what is left is an upper bound.
        weights: for each independent condition (its position among all) and cell λ: the estimate is moved by -Σ λ (K x - k).
        rows: the positions of these conditions.
        off: the deviation of what an estimate with these weights is apart from the one that meets the conditions.
    """

    taken: Floats
    weights: Floats
    rows: NDArray[np.intp]
    off: Floats


class System(Protocol):
    """The conditions of all tables, in their order."""

    def weights_of(self, table: Axes, told: Mapping[Axes, float]) -> Floats:
        """The weight that each number of a measured table has in each condition: shape (conditions, cells).

        Args:
            table: its axes.
            told: for each effect how much the table counts in it.
        """

    def solve(self, right: Floats) -> Floats:
        """About λ with K C Kᵀ λ = right, for a right side that some estimates have."""

    def reduce(self, table: Axes, readings: Sequence[Floats | None]) -> Reduced | None:
        """What they do to the cells of a table; None where that is not worked out.

        Args:
            table: its axes.
            readings: for each of its axes the matrix that makes its printed levels of its measured ones; None for the same.
        """


def system_of(effects: Effects, conditions: Sequence[Conditioned], variances: Mapping[Axes, float]) -> System:
    """The system of these conditions, for effects of these variances."""
    rows = sum(len(one.sums) for one in conditions)
    cells = max((prod(effects.sizes[axis] for axis in one.table) for one in conditions), default=1)
    if rows <= _MOST_ROWS and rows * cells <= _MOST_NUMBERS:
        return _Dense(effects, conditions, variances)
    return _Iterated(effects, conditions, variances)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The conditions of one table as a matrix, and where they stand among all."""

    table: Axes
    place: slice
    matrix: Floats


class _Dense:
    """K C Kᵀ as a matrix."""

    def __init__(self, effects: Effects, conditions: Sequence[Conditioned], variances: Mapping[Axes, float]) -> None:
        self._effects, self._variances = effects, variances
        self._rows, start = list[_Rows](), 0
        for one in conditions:
            matrix = np.zeros((len(one.sums), prod(effects.sizes[axis] for axis in one.table)))
            for row, each in zip(matrix, one.sums, strict=True):
                row[each.cells] = factors_of(each)
            self._rows.append(_Rows(one.table, slice(start, start + len(matrix)), matrix))
            start += len(matrix)
        self._many = start
        self._matrix = np.zeros((start, start))
        for rows in self._rows:
            self._matrix[:, rows.place] = self._covariances(rows.table, [None] * len(rows.table)) @ rows.matrix.T
        self._matrix = (self._matrix + self._matrix.T) / 2
        largest = max(variances.values(), default=0.0)
        sizes = [largest * (rows.matrix**2).sum(axis=1) for rows in self._rows]
        self._chosen, self._scale, self._factor = _independent(self._matrix, np.concatenate([np.zeros(0), *sizes]))

    def _covariances(self, table: Axes, readings: Sequence[Floats | None]) -> Floats:
        """K C for the cells of a table: shape (conditions, cells)."""
        return self._told(table, readings, self._variances)

    def _told(self, table: Axes, readings: Sequence[Floats | None], sizes: Mapping[Axes, float]) -> Floats:
        """Σ size · the conditions in each effect, as the cells of a table have it."""
        shape = [
            effects_size if reading is None else len(reading)
            for effects_size, reading in zip((self._effects.sizes[axis] for axis in table), readings, strict=True)
        ]
        found = np.zeros((self._many, *shape))
        for part in parts_of(self._effects, table):
            if part not in sizes:
                continue
            for rows in self._rows:
                if set(part) <= set(rows.table):
                    found[rows.place] += sizes[part] * _spread(
                        self._effects, _effect_of(self._effects, rows, part), part, table, readings
                    )
        return found.reshape(self._many, -1)

    def solve(self, right: Floats) -> Floats:
        found = np.zeros(self._many)
        if len(self._chosen):
            found[self._chosen] = self._solve_chosen(right[self._chosen])
        return found

    def _solve_chosen(self, right: Floats) -> Floats:
        from scipy.linalg import cho_solve

        scale = self._scale if right.ndim == 1 else self._scale[:, None]
        return np.asarray(cho_solve((self._factor, True), right / scale) / scale)

    def weights_of(self, table: Axes, told: Mapping[Axes, float]) -> Floats:
        sizes = {
            part: one * prod(self._effects.sizes[axis] for axis in table if axis not in part) for part, one in told.items()
        }
        return self._told(table, [None] * len(table), sizes)

    def reduce(self, table: Axes, readings: Sequence[Floats | None]) -> Reduced | None:
        cells = prod(self._effects.sizes[axis] for axis in table)
        if self._many * cells > _MOST_NUMBERS:
            return None
        if not len(self._chosen):
            return Reduced(np.zeros(0), np.zeros((0, 0)), self._chosen, np.zeros(0))
        # Whatever λ is, the least variance is at most V - 2 λ'g + λ'Mλ.
        own = self._covariances(table, readings)[self._chosen]
        matrix = self._matrix[np.ix_(self._chosen, self._chosen)]
        weights = self._solve_chosen(own)
        turned = matrix @ weights
        taken = (weights * (2 * own - turned)).sum(axis=0)
        sizes = (np.abs(weights) * (2 * np.abs(own) + np.abs(matrix) @ np.abs(weights))).sum(axis=0)
        # The variance of (W - W')(K x - k), where M W' = own and M W = own - rest.
        rest = own - turned
        off = np.sqrt(np.maximum((rest * self._solve_chosen(rest)).sum(axis=0), 0.0))
        return Reduced(np.maximum(taken - _ERROR * sizes, 0.0), weights, self._chosen, 2 * off)


def _effect_of(effects: Effects, rows: _Rows, part: Axes) -> Floats:
    """The conditions in an effect: their margins, centred, over the cells that a number is spread over."""
    shape = [effects.sizes[axis] for axis in rows.table]
    margin = margin_of(rows.matrix.reshape(-1, *shape), rows.table, part, after=1)
    for place in range(1, margin.ndim):
        margin = margin - margin.mean(axis=place, keepdims=True)
    return np.asarray(margin / prod(effects.sizes[axis] for axis in rows.table if axis not in part))


def _spread(effects: Effects, values: Floats, part: Axes, table: Axes, readings: Sequence[Floats | None]) -> Floats:
    """Numbers of an effect as they are in the printed cells of a table that has it."""
    found = in_order(values, part, [axis for axis in table if axis in part], after=1)
    for place, (axis, reading) in enumerate(zip(table, readings, strict=True), start=1):
        if axis not in part:
            # Along other axes a number is the same everywhere; a reading adds its entries up.
            along = np.ones(effects.sizes[axis]) / effects.sizes[axis]
            row = along if reading is None else reading @ along
            found = np.expand_dims(found, place) * row.reshape(
                [-1 if other == place else 1 for other in range(found.ndim + 1)]
            )
        elif reading is not None:
            found = np.moveaxis(np.tensordot(found, reading, axes=(place, 1)), -1, place)
    return np.asarray(found)


def _independent(matrix: Floats, largest: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Conditions of which the others follow, the roots of their variances, and a Cholesky factor of what is left, lower.

    Args:
        matrix: the covariances of the conditions.
        largest: of each what its variance would be if nothing were public.
    """
    from scipy.linalg.lapack import dpstrf

    there = np.flatnonzero(matrix.diagonal() > _ROUNDED * largest)
    if not len(there):
        return there, np.zeros(0), np.zeros((0, 0))
    sizes = np.sqrt(matrix.diagonal()[there])
    factor, pivots, rank, _ = dpstrf(matrix[np.ix_(there, there)] / np.outer(sizes, sizes), tol=_INDEPENDENT, lower=1)
    order = pivots[:rank] - 1
    return there[order], sizes[order], np.tril(factor[:rank, :rank])


def weights_in_cells(
    effects: Effects, told: Mapping[Axes, float], axes: Axes, table: Axes, readings: Sequence[Floats | None]
) -> Floats:
    """The weight of each number of a measured table in each printed cell of a table: shape (numbers, cells).

    Args:
        effects: of all tables.
        told: for each effect how much the measured table counts in it.
        axes: of the measured table.
        table: the axes of the other one.
        readings: of each of its axes.
    """
    numbers = prod(effects.sizes[axis] for axis in axes)
    rows = _Rows(axes, slice(0, numbers), np.eye(numbers))
    shape = [effects.sizes[axis] if reading is None else len(reading) for axis, reading in zip(table, readings, strict=True)]
    found = np.zeros((numbers, *shape))
    for part, one in told.items():
        if set(part) <= set(axes) & set(table):
            outside = prod(effects.sizes[axis] for axis in axes if axis not in part)
            found += one * outside * _spread(effects, _effect_of(effects, rows, part), part, table, readings)
    return found.reshape(numbers, -1)


class _Iterated:
    """K C Kᵀ as a function."""

    def __init__(self, effects: Effects, conditions: Sequence[Conditioned], variances: Mapping[Axes, float]) -> None:
        self._effects, self._variances = effects, variances
        self._conditions = list(conditions)

    def solve(self, right: Floats) -> Floats:
        found, rest = np.zeros_like(right), right.copy()
        way, size = rest.copy(), float(rest @ rest)
        least = _SOLVED * size
        for _ in range(_MOST_STEPS):
            if size <= least:
                break
            turned = self._apply(way)
            bent = float(way @ turned)
            if bent <= 0 or not isfinite(size / bent):
                break  # what is left is of numbers without noise, and so a rounding error of doubles
            length = size / bent
            found, rest = found + length * way, rest - length * turned
            way, size = rest + (float(rest @ rest) / size) * way, float(rest @ rest)
        return found

    def _apply(self, weights: Floats) -> Floats:
        moved: dict[Axes, Floats] = {}
        start = 0
        for one in self._conditions:
            table = np.zeros(prod(self._effects.sizes[axis] for axis in one.table))
            for each in one.sums:
                np.add.at(table, each.cells, weights[start] * factors_of(each))
                start += 1
            rows = _Rows(one.table, slice(0, 1), table[None])
            for part in parts_of(self._effects, one.table):
                if part in self._variances:
                    own = _effect_of(self._effects, rows, part) * self._variances[part]
                    moved[part] = moved[part] + own if part in moved else own
        found = []
        for one in self._conditions:
            same: list[Floats | None] = [None] * len(one.table)
            parts = (part for part in parts_of(self._effects, one.table) if part in moved)
            cells = sum(_spread(self._effects, moved[part], part, one.table, same) for part in parts)
            flat = np.asarray(cells, dtype=np.float64).ravel()
            for each in one.sums:
                own = flat[each.cells]
                found.append(float(own.sum() if each.factors is None else own @ each.factors))
        return np.array(found)

    def weights_of(self, table: Axes, told: Mapping[Axes, float]) -> Floats:
        raise InternalError("conditions that are not a matrix have no weights")

    def reduce(self, table: Axes, readings: Sequence[Floats | None]) -> Reduced | None:
        return None
