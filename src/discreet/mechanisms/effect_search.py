"""The largest dual bound of a division: multipliers of tables and of changes, and the precisions that come with them.

With multipliers λ of tables, Σ λ_b limit_b = 1, and π of changes, Σ π_d = 1, let c = Σ λ_b C_b and k = Σ π_d k_d. All
precisions t of cost 1 have max_b V_b/limit_b of at least Σ c_a/t_a ≥ (Σ √(c_a k_a))², with equality for the best λ and π at
t ∝ √(c/k). This bound is concave in (λ, π) (docs/proofs/effects.md, "Division").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Costs", "Demand", "Division", "ListedCosts", "solve_demand"]

_GAP = 2e-7  # between precisions and the dual bound of the changes that are known
_ENOUGH = 1e-6  # the same of all changes
_FIRST_GAP = 1e-4
_SHARE = 0.03  # of what the costliest change is above 1: how near to its bound a round is
_ROUNDS = 80
_AT_ONCE = 30  # changes that become known together
_TURNS = 2_000
_TABLE_STEPS = 10
_NEWTON_STEPS = 40
_POWER = 2.0  # of a step: one is enough where each effect is in one table
_INSIDE = 0.95  # of the way to the nearest multiplier that would be 0
_TINY = 1e-300
_STILL = 1e-13  # what rounding alone may change in a bound

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


class Costs(Protocol):
    """The changes that precisions must hold against. Each has a number, and an energy k_da in every effect a."""

    def first(self) -> tuple[list[int], Floats]:
        """Some changes to begin with, and the energies of all that are known then, one row each."""
        ...

    def energies(self, changes: Sequence[int]) -> Floats:
        """One row for each of these."""
        ...

    def costliest(self, precisions: Floats, many: int) -> tuple[float, list[int]]:
        """About the largest cost Σ t_a k_da of any change, and so many that cost most among those above 1."""
        ...


class ListedCosts:
    """Changes that are listed, with their energies, one row each."""

    def __init__(self, rows: Floats) -> None:
        self._rows = rows

    def first(self) -> tuple[list[int], Floats]:
        """All, where they are few."""
        known = list(range(len(self._rows))) if len(self._rows) <= _AT_ONCE else [int(self._rows.sum(axis=1).argmax())]
        return known, self.energies(known)

    def energies(self, changes: Sequence[int]) -> Floats:
        """One row for each of these."""
        return self._rows[list(changes)]

    def costliest(self, precisions: Floats, many: int) -> tuple[float, list[int]]:
        """The largest cost, and so many that cost most among those above 1."""
        costs = self._rows @ precisions
        return float(costs.max()), [int(one) for one in np.argsort(-costs)[:many] if costs[one] > 1]


def solve_demand(costs: Costs, demand: Demand) -> Division:
    """Precisions within 10^-6 of the dual bound, where the rounds reach that; `largest` and `least` say how near they are.

    Any change may be left out of π, so the bound of known changes holds for all. Those that cost most at the best precisions
    so far become known, until precisions scaled to the costliest change of all are near the bound. What is found for the
    changes that are known needs to be much nearer to its bound than the costliest change is to 1, and no more.
    """
    known, rows = costs.first()
    search, seen = _Search(demand, rows), set(known)
    best, bound, gap = Division((), np.inf, 0.0, ()), Division((), 0.0, 0.0, ()), _FIRST_GAP
    for _ in range(_ROUNDS):
        solved = search.run(gap)
        bound = max(bound, solved, key=lambda one: one.least)
        most, worst = costs.costliest(np.array(solved.precisions), _AT_ONCE)
        most = max(1.0, most)
        if solved.largest * most < best.largest:
            best = replace(solved, precisions=tuple(one / most for one in solved.precisions), largest=solved.largest * most)
        further = [one for one in worst if one not in seen]
        if best.largest <= bound.least * (1 + _ENOUGH) or (gap == _GAP and not further):
            break
        gap = max(_GAP, _SHARE * (most - 1))
        if further:
            search.learn(costs.energies(further))
            seen.update(further)
    return replace(best, least=bound.least, prices=bound.prices)


class _Search:
    """The multipliers, which are kept when further changes become known."""

    def __init__(self, demand: Demand, rows: Floats) -> None:
        self._table, self._effect, self._value = _entries(demand)
        self._limits = np.array(demand.limits)
        self._price = 1 / self._limits / len(self._limits)
        self._rows, self._share = rows, np.full(len(rows), 1 / len(rows))

    def learn(self, rows: Floats) -> None:
        """Further changes, each with a hundredth of the mean multiplier."""
        self._rows = np.vstack([self._rows, rows])
        self._share = np.append(self._share, np.full(len(rows), 0.01 * self._share.mean()))
        self._share /= self._share.sum()

    def run(self, gap: float) -> Division:
        """Multipliers of tables and of changes in turn, until precisions and bound are so near."""
        best, least, chosen, prices = np.inf, 0.0, np.ones(self._rows.shape[1]), self._price
        for _ in range(_TURNS):
            self._weigh_tables()
            wanted = self._wanted()
            self._share = weigh_changes(self._rows, np.sqrt(wanted), self._share, gap / 10)
            moved = np.maximum(self._share @ self._rows, _TINY)
            bound = float(np.sqrt(wanted * moved).sum()) ** 2
            precisions = np.sqrt(wanted / moved)
            precisions /= (self._rows @ precisions).max()
            largest = float(self._over(precisions).max())
            further = bound > least * (1 + _STILL) or largest < best * (1 - _STILL)
            if bound > least:
                least, prices = bound, self._price
            if largest < best:
                best, chosen = largest, precisions
            if best <= least * (1 + gap) or not further:
                break
        return Division(tuple(chosen.tolist()), best, least, tuple(prices.tolist()))

    def _weigh_tables(self) -> None:
        """Some steps that multiply λ_b by a power of V_b/limit_b, which is the same wherever λ_b counts at the best λ."""
        moved = np.maximum(self._share @ self._rows, _TINY)
        before, power = 0.0, _POWER
        for _ in range(_TABLE_STEPS if len(self._limits) > 1 else 0):
            wanted = self._wanted()
            bound = float(np.sqrt(wanted * moved).sum())
            over = self._over(np.sqrt(wanted / moved))
            if bound < before * (1 - _STILL):
                power = max(1.0, 0.8 * power)
            before = bound
            self._price = self._price * (over / over.max()) ** power
            self._price /= self._price @ self._limits

    def _wanted(self) -> Floats:
        """The c of each effect."""
        prices = self._price[self._table] * self._value
        return np.maximum(np.bincount(self._effect, prices, self._rows.shape[1]), _TINY)

    def _over(self, precisions: Floats) -> Floats:
        """V_b/limit_b."""
        found: Floats = np.bincount(self._table, self._value / precisions[self._effect], len(self._limits)) / self._limits
        return found


def weigh_changes(rows: Floats, roots: Floats, share: Floats, gap: float) -> Floats:
    """Multipliers π ≥ 0 of changes, Σ π = 1, with about the largest Σ_a w_a √k_a(π).

    Scaled so that the best π has Σ π = Σ_a w_a √k_a, they are best when the cost K t of t = w/√k is 1 where π is positive,
    and nowhere above: with z = 1 - K t this is π ≥ 0, z ≥ 0, π z = 0. Each step is one of Newton's method towards π z equal
    to a tenth of its mean, and stays inside (a primal-dual interior-point method). The derivative of K t is
    -½ K diag(t/k) K'.

    Args:
        rows: K.
        roots: w, positive.
        share: where to begin, positive.
        gap: how far Σ_a w_a √k_a may be below its largest value.
    """
    if len(rows) == 1:
        return share
    felt = rows.any(axis=0)  # an effect that no change moves has no part in this
    rows, roots = rows[:, felt], roots[felt]
    share = np.maximum(share, 1e-6 / len(share))
    share = share * (float((roots * np.sqrt(share @ rows)).sum()) / share.sum()) ** 2
    slack = np.maximum(1 - rows @ (roots / np.sqrt(share @ rows)), 1e-3)
    for _ in range(_NEWTON_STEPS):
        moved = share @ rows
        precisions = roots / np.sqrt(moved)
        costs = rows @ precisions
        if float(costs.max()) * share.sum() <= float((roots * np.sqrt(moved)).sum()) * (1 + gap):
            break
        away = 1 - costs - slack
        bend = 0.5 * (rows * (precisions / moved)) @ rows.T
        aim = 0.1 * float(share @ slack) / len(share)
        further: Floats = np.asarray(np.linalg.solve(bend + np.diag(slack / share), aim / share - slack - away), np.float64)
        closer: Floats = bend @ further + away
        if not np.isfinite(further).all():
            break  # what was found before stands: any π ≥ 0 gives a bound
        stride = min(1.0, _INSIDE * _reach(share, further), _INSIDE * _reach(slack, closer))
        share, slack = share + stride * further, slack + stride * closer
    found: Floats = share / share.sum()
    return found


def _reach(values: Floats, step: Floats) -> float:
    """The largest number of steps that leaves no value negative."""
    falling = step < 0
    return float((-values[falling] / step[falling]).min(initial=np.inf))


def _entries(demand: Demand) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """C by its entries: the table, the effect and the value of each."""
    many = [len(one) for one in demand.tables]
    pairs = [pair for one in demand.tables for pair in one]
    effects = np.fromiter((place for place, _ in pairs), np.intp, len(pairs))
    return np.repeat(np.arange(len(many)), many), effects, np.fromiter((value for _, value in pairs), np.float64, len(pairs))
