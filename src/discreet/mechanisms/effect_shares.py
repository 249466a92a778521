"""The noise of effects that is best for some tables: the least sum of variances, or the least spend for given errors.

The variance of a cell of table b is V_b = Σ_a C_ba/t_a, t_a the precision of effect a. A *demand* is some tables with the
largest V_b that each may have: best are precisions of a given cost with the least max_b V_b/limit_b. One table of all cells
is the sum of variances. With multipliers λ of the tables and π of the changes a dual bound certifies how near it is
(docs/proofs/effects.md, "Division").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
from discreet.mechanisms.effects import Axes, Effects, leaving

__all__ = ["Demand", "Division", "best_precisions", "best_within", "solve_demand"]

_ROUNDS = 80
_STEPS = 20_000
_CUT_STEPS = 200
_SETS_AT_ONCE = 8
_CUT_GAP = 5e-5  # between precisions and the dual bound of all changes
_POWER = 2.0  # of a step: one is enough where each effect is in one table
_BOUNDS = 25
_WITHIN = 1e-4  # between the sum of precisions that meet a demand and its dual bound
_GAP = 2e-7  # between precisions and the dual bound of the changes that are weighed
_MOST_ROWS = 3000  # changes that are weighed at once

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Demand:
    """Tables, and the largest variance of a cell that each may have, in any unit.

    Args:
        tables: for each the positions of its effects, and C: what a unit of their variance adds to its own.
        limits: positive.
    """

    tables: tuple[tuple[tuple[int, float], ...], ...]
    limits: tuple[float, ...]

    @staticmethod
    def of_sum(weights: Sequence[float]) -> Demand:
        """The least Σ w_a/t_a."""
        return Demand((tuple(enumerate(weights)),), (1.0,))


@dataclass(frozen=True, slots=True)
class Division:
    """Precisions of cost 1.

    Args:
        precisions: of each effect.
        largest: max_b V_b/limit_b.
        least: no precisions of cost 1 have less, but for the rounding of doubles.
        prices: the multipliers of the tables with which that is so; Σ price · limit is 1.
    """

    precisions: tuple[float, ...]
    largest: float
    least: float
    prices: tuple[float, ...]


@lru_cache(maxsize=16)
def best_precisions(effects: Effects, demand: Demand, changes: Changes) -> Division:
    """Precisions with about the least max_b V_b/limit_b among those of cost 1. Floats choose; `cost_of` says what they cost.

    A row that appears has one energy, and several lists of totals may have few changes. Else sets of columns are added, the
    costliest for the best precisions so far, until these are within 5·10^-5 of the dual bound.
    """
    if changes.appears:
        return solve_demand(np.array([[float(effects.energy(part)) for part in effects.parts]]), demand)
    listed = listed_changes(effects, changes)
    if listed is not None and len(listed) <= _MOST_ROWS:
        return solve_demand(np.array([[float(k) for k in one] for one in listed]), demand)
    return min((_cut(effects, demand, changes, kept) for kept in changes.kept), key=lambda one: one.largest)


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


def _cut(effects: Effects, demand: Demand, changes: Changes, kept: Axes) -> Division:
    """The best for rows that agree in the axes `kept`: cutting planes over the sets of columns in which they differ."""
    leave = [np.array([float(k) for k in one]) for one in leaving(effects)] if changes.leaves else []
    if not has_exact_cost(effects, kept):
        return solve_demand(np.array([*leave, [float(k) for k in bounded_energies(effects, kept)]]), demand)
    search, best, bound = _Search(demand, len(effects.parts)), Division((), np.inf, 0.0, ()), Division((), 0.0, 0.0, ())
    costs = _Replaced(effects, kept)
    sets = dict.fromkeys([*([costs.free] if costs.free else []), *((axis,) for axis in costs.free)])
    rows = [*leave, *costs.energies(sets)]
    for _ in range(_ROUNDS):
        solved = search.run(np.array(rows), _CUT_STEPS)
        bound = max(bound, solved, key=lambda one: one.least)
        most, worst = costs.costliest(np.array(solved.precisions), _SETS_AT_ONCE)
        most = max(1.0, most)
        if solved.largest * most < best.largest:
            best = replace(solved, precisions=tuple(one / most for one in solved.precisions), largest=solved.largest * most)
        if best.largest <= bound.least * (1 + _CUT_GAP):
            break
        further = [one for one in worst if one and one not in sets]
        rows, sets = rows + costs.energies(further), sets | dict.fromkeys(further)
    return replace(best, least=bound.least, prices=bound.prices)


class _Replaced:
    """The energies of rows that agree in some axes, in doubles, for every set of the others in which they differ."""

    def __init__(self, effects: Effects, kept: Axes) -> None:
        self.free = tuple(axis for axis in used_axes(effects) if axis not in kept)
        self._effects, self._alone = effects, np.array([float(effects.energy(part)) for part in effects.parts])
        self._places = np.array([place_of(part, self.free) for part in effects.parts])
        self._factors = np.ones((len(effects.sizes), len(effects.parts)))
        for place, part in enumerate(effects.parts):
            for axis in part:
                self._factors[axis, place] = -1 / (effects.sizes[axis] - 1)

    def energies(self, sets: Iterable[Axes]) -> list[Floats]:
        """`replaced_in` of all effects, for rows that differ in each of some sets."""
        return [2 * self._alone * (1 - self._factors[list(one)].prod(axis=0)) for one in sets]

    def costliest(self, precisions: Floats, many: int) -> tuple[float, list[Axes]]:
        """About the largest cost of a row, and some of the sets that cost most."""
        shares: Floats = np.bincount(self._places, precisions * self._alone, 1 << len(self.free)).astype(np.float64)
        found = sums_of_sets(self._effects, self.free, shares)
        some = np.argpartition(found, min(many, len(found)) - 1)[:many]
        every = float((precisions * self._alone).sum())
        return 2 * (every - float(found.min())), [set_at(int(one), self.free) for one in some]


def solve_demand(rows: Floats, demand: Demand) -> Division:
    """The same for the changes with these energies, one row for each."""
    return _Search(demand, rows.shape[1]).run(rows, _STEPS)


class _Search:
    """Multipliers λ of tables and π of changes, which are kept when further changes are weighed.

    With λ ≥ 0, Σ λ_b limit_b = 1, and π ≥ 0, Σ π_d = 1, let c = Σ λ_b C_b and k = Σ π_d k_d: max_b V_b/limit_b is at least
    Σ c_a/t_a ≥ (Σ √(c_a k_a))² for all t of cost 1, with equality for the best λ and π at t ∝ √(c/k). This bound is concave
    in (λ, π). A step multiplies λ_b by a power of V_b/limit_b, or π_d by one of Σ k_da t_a: both are 1 where they count.
    """

    def __init__(self, demand: Demand, effects: int) -> None:
        self._table, self._effect, self._value = _entries(demand)
        self._limits, self._effects = np.array(demand.limits), effects
        self._price = 1 / self._limits / len(self._limits)
        self._share = np.zeros(0)

    def run(self, rows: Floats, steps: int) -> Division:
        """So many steps, or as many as it takes until precisions and bound are near."""
        fresh = len(rows) - len(self._share)
        self._share = np.append(self._share, np.full(fresh, max(0.1 * self._share.sum(), 1e-300) / max(1, fresh)))
        self._share /= self._share.sum()
        best, least, chosen, prices = np.inf, 0.0, np.ones(self._effects), self._price
        bounds, powers = [0.0, 0.0], [_POWER, _POWER]
        for step in range(steps):
            wanted = self._per_effect(self._price[self._table])
            moved = np.maximum(self._share @ rows, 1e-300)
            bound = float(np.sqrt(wanted * moved).sum()) ** 2
            precisions = np.sqrt(wanted / moved)
            costs = rows @ precisions
            precisions /= costs.max()
            over = np.bincount(self._table, self._value / precisions[self._effect], len(self._limits)) / self._limits
            largest = float(over.max())
            if bound > least:
                least, prices = bound, self._price
            if largest < best:
                best, chosen = largest, precisions
            if best <= least * (1 + _GAP):
                break
            which = step % 2 if min(len(rows), len(over)) > 1 else int(len(over) > 1)
            if bound < bounds[which] * (1 - 1e-13):
                powers[which] = max(1.0, 0.8 * powers[which])
            bounds[1 - which] = bound  # what the step before has come to
            if which:
                self._price = self._price * (over / largest) ** powers[1]
                self._price /= self._price @ self._limits
            else:
                self._share = self._share * (costs / costs.max()) ** powers[0]
                self._share /= self._share.sum()
        return Division(tuple(chosen.tolist()), best, least, tuple(prices.tolist()))

    def _per_effect(self, prices: Floats) -> Floats:
        return np.maximum(np.bincount(self._effect, prices * self._value, self._effects), 1e-300)


def _entries(demand: Demand) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """C by its entries: the table, the effect and the value of each."""
    many = [len(one) for one in demand.tables]
    pairs = [pair for one in demand.tables for pair in one]
    effects = np.fromiter((place for place, _ in pairs), np.intp, len(pairs))
    return np.repeat(np.arange(len(many)), many), effects, np.fromiter((value for _, value in pairs), np.float64, len(pairs))
