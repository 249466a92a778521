"""Least squares and controlled rounding where totals overlap, so that no closed form is known.

Notation: v is the noisy table; A has one row per group, 1 at its cells and 0 elsewhere; t holds the totals. Wanted is an
integer y ≥ 0 with A y = t and ‖y - v‖ small. Two steps, as in the controlled rounding of Cox (JASA 82, 1987, 520-524):

1. The real x ≥ 0 with A x = t nearest to v. Its dual in λ has no constraint: x = max(z, 0) with z = v + Aᵀλ, where the
   gradient A max(z, 0) - t vanishes. Solved by a semismooth Newton method (Li, Sun and Toh, Math. Program. 179, 2020,
   419-446, do this for two margins).
2. The integers near x with the least ‖y - v‖, by HiGHS. For all y with A y = t, ‖y - z‖² differs from ‖y - v‖² by a
   constant, and it is convex in each cell, so that it splits into one 0/1 variable for every step of 1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, InternalError

__all__ = ["few_changes", "least_squares", "near_integers"]

_NEWTON_STEPS = 60
_SETTLED = 1e-6
"""A real number this close to an integer counts as that integer."""
_GAP = 0.05
"""HiGHS may stop when ‖y - v‖² is proved to be within 5 % of the least; where two margins meet it is the least anyway."""
_NODES = 20
"""HiGHS stops there; no limit in seconds, so that a result never depends on the machine. Two margins need one node."""
_MOST_NOISE = 2.0**16
"""Noise is scaled down to this multiple of the largest total. Above it the nearest table hardly changes any more."""


def least_squares(noisy: NDArray[np.int64], groups: Any, totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """The z = v + Aᵀλ for which max(z, 0) is the non-negative real table nearest to `noisy` that has the `totals`.

    Only approximately so when rounding errors of doubles are in the way or when no table has these totals.

    Args:
        noisy: shape (cells,).
        groups: the matrix A, a sparse array of int64, shape (groups, cells).
        totals: shape (groups,), at least 1.
    """
    largest = float(totals.max())
    shrunk = min(1.0, _MOST_NOISE * largest / max(1.0, float(np.abs(noisy).max())))
    goal: NDArray[np.float64] = noisy * np.float64(shrunk)
    # Noise far above all totals leaves few cells positive, and then Newton's method from λ = 0 gets lost. The projection of
    # a·v for small a is easy, and λ grows about as a does: so a rises to 1, four times at a time.
    rises = ceil(log(max(1.0, float(np.abs(goal).max()) / largest), 4))
    weights = _newton(goal * 0.25**rises, groups, totals, np.zeros(totals.size))
    for left in reversed(range(rises)):
        weights = _newton(goal * 0.25**left, groups, totals, 4.0 * weights)
    return np.asarray(goal + groups.T @ weights, dtype=np.float64)


def _newton(
    goal: NDArray[np.float64], groups: Any, totals: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """λ with A max(goal + Aᵀλ, 0) = totals as nearly as doubles and `_NEWTON_STEPS` allow, starting at `weights`."""
    from scipy.sparse.linalg import LinearOperator, cg

    columns = groups.T.tocsr()
    close = max(1e-8, 2.0**-48 * float(totals.max()))

    def gradient(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(groups @ np.maximum(goal + columns @ at, 0.0) - totals)

    slope = gradient(weights)
    for _ in range(_NEWTON_STEPS):
        if np.abs(slope).max() <= close:
            break
        positive = goal + columns @ weights > 0

        def curvature(d: NDArray[np.float64], on: NDArray[np.bool_] = positive) -> NDArray[np.float64]:
            # A small multiple of the identity, because the rows of A are dependent: margins share the grand total.
            return np.asarray(groups @ (on * (columns @ d)) + 1e-8 * d)

        direction, _ = cg(LinearOperator((totals.size, totals.size), curvature), -slope, rtol=1e-10, maxiter=500)
        weights, slope = _along(gradient, weights, direction, slope)
    return weights


def _along(
    gradient: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    start: NDArray[np.float64],
    direction: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The next point and the gradient there. The dual is convex: its derivative along a ray only grows.

    Steps that overshoot are halved. Derivatives decide and not values, whose differences drown in their rounding errors.
    """
    descent = float(direction @ slope)
    length = 1.0
    while True:
        point = start + length * direction
        there = gradient(point)
        if float(direction @ there) <= 0.5 * abs(descent) or length < 1e-9:
            return point, there
        length /= 2


def near_integers(
    noisy: NDArray[np.int64], target: NDArray[np.float64], groups: Any, totals: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Non-negative integers with exactly the `totals`, near `noisy`.

    Each cell is the floor or the ceiling of max(target, 0) where such a table is found; else within 1 more; else any
    table is taken, with the least sum of absolute differences that was found.

    Args:
        noisy: shape (cells,).
        target: what `least_squares` returned.
        groups: the matrix A, a sparse array of int64, shape (groups, cells); every cell is in a group.
        totals: shape (groups,), at least 1.

    Raises:
        ArgumentError: no table of non-negative integers has these totals, or none was found.
        InternalError: the solver's table has other totals.
    """
    real = np.maximum(target, 0.0)
    least = float(np.sum((real - noisy) ** 2) - np.sum((real - target) ** 2))
    for width in (0, 1):
        table = _round(target, least, groups, totals, width)
        if table is not None and _fits(table, groups, totals):
            return table
    table = _any_integers(real, groups, totals)
    if not _fits(table, groups, totals):
        raise InternalError("the solver returned a table with other totals than those published")
    return table


def _fits(table: NDArray[np.int64], groups: Any, totals: NDArray[np.int64]) -> bool:
    return bool(np.all(table >= 0)) and np.array_equal(groups @ table, totals)


def _round(
    target: NDArray[np.float64], offset: float, groups: Any, totals: NDArray[np.int64], width: int
) -> NDArray[np.int64] | None:
    """The integers with the least ‖y - target‖² + offset whose cells lie within `width` of the floor or ceiling.

    None where there are none, or none were found.
    """
    real = np.maximum(target, 0.0)
    nearest = np.rint(real)
    settled = np.abs(real - nearest) < _SETTLED
    low = np.maximum(np.where(settled, nearest, np.floor(real)) - width, 0.0)
    high = np.where(settled, nearest, np.ceil(real)) + width
    steps = (high - low).astype(np.int64)
    if not steps.any():
        return np.asarray(low, dtype=np.int64)
    cell = np.repeat(np.arange(steps.size), steps)
    below = np.arange(cell.size) - np.repeat(np.cumsum(steps) - steps, steps)
    # From l + k to l + k + 1 the square (y - z)² grows by 2(l + k - z) + 1, more with each k: the steps are taken in order.
    cost = 2.0 * (low[cell] + below - target[cell]) + 1.0
    constant = offset + float(np.sum((low - target) ** 2))
    taken = _solve(cost, groups.tocsc()[:, cell], totals - groups @ low, upper=np.ones(cell.size), constant=constant).x
    if taken is None:
        return None
    table: NDArray[np.int64] = low.astype(np.int64)
    np.add.at(table, cell, np.rint(taken[:-1]).astype(np.int64))
    return table


def _any_integers(real: NDArray[np.float64], groups: Any, totals: NDArray[np.int64]) -> NDArray[np.int64]:
    """The integers with the totals and the least sum of absolute differences from `real`, rounded.

    Raises:
        ArgumentError: there are none, or none were found.
    """
    from scipy.sparse import hstack

    columns = groups.tocsc()
    most = np.minimum.reduceat(totals[columns.indices], columns.indptr[:-1])  # no cell is above any of its totals
    start = np.rint(np.minimum(real, most)).astype(np.int64)
    both = hstack([columns, -columns], format="csc")
    solution = _solve(np.ones(2 * start.size), both, totals - groups @ start, upper=np.append(most - start, start))
    if solution.x is None:
        why = "has these totals" if solution.status == 2 else "with these totals was found"
        raise ArgumentError(
            f"constraints: no table of non-negative integers {why}; give totals of one table, or fewer overlapping totals"
        )
    up, down = np.split(np.rint(solution.x[:-1]).astype(np.int64), 2)
    return np.asarray(start + up - down, dtype=np.int64)


def _solve(
    cost: NDArray[np.float64], matrix: Any, right: NDArray[Any], *, upper: NDArray[Any], constant: float = 0.0
) -> Any:
    """HiGHS' answer for: integers 0 ≤ u ≤ upper with matrix·u = right and the least cost·u + constant; last comes a 1.

    The constant is the cost of that last variable, because the gap at which HiGHS may stop is relative to the whole.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array, hstack

    return milp(
        np.append(cost, constant),
        integrality=np.ones(cost.size + 1),
        bounds=Bounds(np.append(np.zeros(cost.size), 1.0), np.append(upper, 1.0)),
        constraints=LinearConstraint(hstack([matrix, csc_array((right.size, 1))], format="csc"), right, right),
        options={"mip_rel_gap": _GAP, "node_limit": _NODES},
    )


def few_changes(
    matrix: Any, ends: tuple[NDArray[np.int64], NDArray[np.int64]], most_down: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Integers up ≥ 0 and 0 ≤ down ≤ `most_down` with matrix·(up, down) between the ends and a small sum.

    Raises:
        ArgumentError: there are none, or none were found.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    low, high = ends[0].astype(np.float64), np.where(ends[1] >= 2**60, np.inf, ends[1].astype(np.float64))
    size = 2 * most_down.size
    solution = milp(
        np.ones(size),
        integrality=np.ones(size),
        bounds=Bounds(np.zeros(size), np.append(np.full(most_down.size, np.inf), most_down)),
        constraints=LinearConstraint(matrix, low, high),
        options={"mip_rel_gap": _GAP, "node_limit": _NODES},
    )
    if solution.x is None:
        why = "lies in these ranges" if solution.status == 2 else "in these ranges was found"
        raise ArgumentError(f"ranges: no table of non-negative integers {why}; publish fewer ranges that cross")
    up, down = np.split(np.rint(solution.x).astype(np.int64), 2)
    return up, down
