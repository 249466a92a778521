"""The noise of effects that is best for some tables: the least sum of variances, or the least spend for given errors.

The variance of a cell of table b is V_b = Σ_a C_ba/t_a, t_a the precision of effect a. A *demand* is some tables with the
largest V_b that each may have: best are precisions of a given cost with the least max_b V_b/limit_b. One table of all cells
is the sum of variances. With multipliers λ of the tables and π of the changes a dual bound certifies how near it is
(docs/proofs/effects.md, "Division").
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.effect_costs import (
    Changes,
    bounded_energies,
    has_exact_cost,
    listed_changes,
    place_of,
    set_at,
    sums_of_sets,
    used_axes,
)
from discreet.mechanisms.effect_search import Costs, Demand, Division, ListedCosts, solve_demand
from discreet.mechanisms.effects import Axes, Effects, leaving

__all__ = ["best_precisions", "best_within"]

_BOUNDS = 25
_WITHIN = 1e-4  # between the sum of precisions that meet a demand and its dual bound
_MOST_ROWS = 3000  # changes that are listed

Floats = NDArray[np.float64]


@lru_cache(maxsize=16)
def best_precisions(effects: Effects, demand: Demand, changes: Changes) -> Division:
    """Precisions with about the least max_b V_b/limit_b among those of cost 1. Floats choose; `cost_of` says what they cost.

    A row that appears has one energy, and several lists of totals may have few changes. Else there is one for each set of
    columns in which a replaced row may differ.
    """
    if changes.appears:
        return solve_demand(ListedCosts(_doubles(leaving(effects))), demand)
    listed = listed_changes(effects, changes)
    if listed is not None and len(listed) <= _MOST_ROWS:
        return solve_demand(ListedCosts(_doubles(listed)), demand)
    found = (solve_demand(_costs_of(effects, changes, kept), demand) for kept in changes.kept)
    return min(found, key=lambda one: one.largest)


@lru_cache(maxsize=16)
def best_within(effects: Effects, demand: Demand, weights: tuple[float, ...], room: float, changes: Changes) -> Division:
    """Precisions of cost 1 with about the least Σ w_a/t_a among those that meet a demand nearly as well as any.

    Their max_b V_b/limit_b is at most `room` times the least possible one. `largest` is Σ w_a/t_a, and `least` is below it:
    with the multipliers λ of tables and ν of the sum, no precisions that meet the demand have a sum below
    (bound - Σ λ_b limit_b)/ν (docs/proofs/effects.md, "Division").
    """
    first = best_precisions(effects, demand, changes)
    if room <= 1:
        return Division(first.precisions, _sum_of(weights, first.precisions), 0.0, ())
    free = best_precisions(effects, Demand.of_sum(weights), changes)
    asked = [one * first.largest * room for one in demand.limits]
    limits = tuple(one * (1 - _WITHIN) for one in asked)
    if _largest(demand.tables, limits, free.precisions) <= 1:
        return free
    row, least = tuple(enumerate(weights)), free.least
    best, over = Division(first.precisions, _sum_of(weights, first.precisions), least, ()), _WITHIN
    for _ in range(_BOUNDS):
        limit = min(least * (1 + over), best.largest)
        both = best_precisions(effects, Demand((*demand.tables, row), (*limits, limit)), changes)
        spent = sum(price * most for price, most in zip(both.prices[:-1], asked, strict=True))
        bound = (both.least - spent) / both.prices[-1] if both.prices[-1] > 0 else 0.0
        over = _WITHIN if bound > least * (1 + _WITHIN) else 2 * over  # a gap of the division itself leaves more open
        least = max(least, bound)
        if both.largest <= 1 + _WITHIN and (total := _sum_of(weights, both.precisions)) < best.largest:
            best = Division(both.precisions, total, least, both.prices)
        if best.largest <= least * (1 + 2 * over):
            break
    return Division(best.precisions, best.largest, least, best.prices)


def _largest(tables: Sequence[tuple[tuple[int, float], ...]], limits: Sequence[float], precisions: Sequence[float]) -> float:
    each = zip(tables, limits, strict=True)
    return max(sum(value / precisions[place] for place, value in table) / limit for table, limit in each)


def _sum_of(weights: Sequence[float], precisions: Sequence[float]) -> float:
    return sum(one / precision for one, precision in zip(weights, precisions, strict=True))


def _costs_of(effects: Effects, changes: Changes, kept: Axes) -> Costs:
    """Of rows that agree in the axes `kept`."""
    leave = leaving(effects) if changes.leaves else ()
    if has_exact_cost(effects, kept):
        return _Replaced(effects, kept, leave)
    return ListedCosts(_doubles([*leave, bounded_energies(effects, kept)]))


def _doubles(energies: Sequence[Sequence[Fraction]]) -> Floats:
    return np.array([[float(k) for k in one] for one in energies])


class _Replaced:
    """Rows that agree in some axes, in doubles: one change for each set of the others in which they differ.

    A change has the number of its set (`place_of`). The energies in `also` are known from the beginning.
    """

    def __init__(self, effects: Effects, kept: Axes, also: Sequence[Sequence[Fraction]]) -> None:
        self._free = tuple(axis for axis in used_axes(effects) if axis not in kept)
        self._effects, self._alone = effects, _doubles(leaving(effects))[0]
        self._also = _doubles(also).reshape(len(also), len(effects.parts))
        self._places = np.array([place_of(part, self._free) for part in effects.parts])
        self._factors = np.ones((len(effects.sizes), len(effects.parts)))
        for place, part in enumerate(effects.parts):
            for axis in part:
                self._factors[axis, place] = -1 / (effects.sizes[axis] - 1)

    def first(self) -> tuple[list[int], Floats]:
        """Rows that differ in every axis, and in one."""
        sets = dict.fromkeys([self._free, *((axis,) for axis in self._free)])
        known = [place_of(one, self._free) for one in sets if one]
        return known, np.vstack([self._also, self.energies(known)])

    def energies(self, changes: Sequence[int]) -> Floats:
        """`replaced_in` of all effects, one row for each of these."""
        sets = [list(set_at(one, self._free)) for one in changes]
        return np.array([2 * self._alone * (1 - self._factors[one].prod(axis=0)) for one in sets]).reshape(
            len(sets), len(self._alone)
        )

    def costliest(self, precisions: Floats, many: int) -> tuple[float, list[int]]:
        """The largest cost, and so many that cost most among those above 1."""
        shares: Floats = np.bincount(self._places, precisions * self._alone, 1 << len(self._free)).astype(np.float64)
        every = float(shares.sum())
        costs = 2 * (every - sums_of_sets(self._effects, self._free, shares))
        some = np.argpartition(-costs, min(many, len(costs)) - 1)[:many]
        return float(costs.max()), [int(one) for one in some if costs[one] > 1]
