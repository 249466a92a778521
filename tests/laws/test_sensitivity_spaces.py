"""The space of differences of two tables with the same totals, against all pairs of tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import discreet as dp
import discreet.totals.enumerate as enumerate_room
from discreet.invariants import Impossible, Margins, Occupied
from discreet.quotes.space import space_of
from discreet.totals.adjacency import semi_adjacency
from discreet.totals.cells import levels
from discreet.totals.enumerate import differences, forms_of_differences, largest_norms
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

from .fibres import SCHEMA, computed, costs, fibres, largest_cost, moves, norms, x


def two_way(rows, columns, n):
    """The fibres of n records under the margins of a table, as histograms."""
    invariants = Margins(f"a{rows}", f"b{columns}")
    return fibres(invariants, n)


def check_two_way(rows, columns, n):
    """(iii): a, ℓ₁, ℓ₂², ℓ∞ and rank from the numbers of non-empty rows and columns."""
    for fibre in two_way(rows, columns, n):
        table = fibre[0].reshape(rows, columns)
        r, c = (table.sum(1) > 0).sum(), (table.sum(0) > 0).sum()
        threshold = min(k for k in table.sum(1) if k) + min(k for k in table.sum(0) if k) <= n - 1
        a = int(costs(fibre).max())
        assert a == (0 if r == c == 1 else 2 if 1 in (r, c) else 3 if threshold else 2)
        if 1 in (r, c):
            expected = (0, 0, 0, 0)
        else:
            hexagons = a == 3 and min(r, c) >= 3
            expected = (6 if hexagons else 4, 6 if hexagons else 4, 1, (r - 1) * (c - 1))
        assert norms(moves(fibre, a))[1:] == expected


def test_the_space_of_two_margins():
    for rows, columns, most in [(2, 2, 5), (2, 3, 4), (3, 3, 3)]:
        for n in range(1, most + 1):
            check_two_way(rows, columns, n)


@pytest.mark.exhaustive
def test_the_space_of_two_margins_on_larger_tables():
    for rows, columns, most in [(2, 2, 9), (2, 3, 6), (2, 4, 5), (3, 3, 5), (3, 4, 4)]:
        for n in range(1, most + 1):
            check_two_way(rows, columns, n)


def equations(shape, sets):
    """The rows of the margins of these axes on the cells of a table of that shape."""
    cells = list(product(*map(range, shape)))
    rows = [[tuple(cell[axis] for axis in axes) == key for cell in cells] for axes in sets for key in keys_of(shape, axes)]
    return np.array(rows, dtype=np.int64)


def keys_of(shape, axes):
    return product(*(range(shape[axis]) for axis in axes))


@pytest.mark.parametrize(
    ("shape", "a", "expected"),
    [
        ((2, 2), 3, (3, 4, 4, 1, 1)),
        ((2, 3), 3, (7, 4, 4, 1, 2)),
        ((3, 3), 2, (19, 4, 4, 1, 4)),
        ((3, 3), 3, (31, 6, 6, 1, 4)),
        ((3, 4), 3, (1 + 36 + 48, 6, 6, 1, 6)),
        ((4, 4), 3, (1 + 72 + 192, 6, 6, 1, 9)),
        ((2, 2, 2), 4, (169, 8, 16, 2, 4)),
        pytest.param((3, 3, 3), 3, (7795, 6, 8, 2, 20), marks=pytest.mark.exhaustive),
    ],
)
def test_the_space_of_one_way_margins(shape, a, expected):
    sums = equations(shape, [(axis,) for axis in range(len(shape))])
    found = differences(sums, a)
    assert norms(found) == expected
    assert largest_norms(sums, a) == expected[1:3]
    assert not (sums @ found.T).any()
    assert (np.abs(found).sum(axis=1) <= 2 * a).all()
    # The bound without enumeration: entries are at most u, so the norm is at most that of q entries u and one of r.
    u = a * (len(shape) - 1) // len(shape)
    q, r = divmod(a, u)
    assert expected[3] <= u
    assert expected[2] <= 2 * (q * u * u + r * r)


@pytest.mark.parametrize(
    ("shape", "sets", "a"),
    [((2, 2), [(0,), (1,)], 3), ((3, 3), [(0,), (1,)], 3), ((2, 2, 2), [(0, 1), (1, 2)], 3), ((5,), [], 2)],
)
def test_forms_of_differences_are_those_of_every_difference(shape, sets, a, monkeypatch):
    sums = equations(shape, sets) if sets else np.ones((1, np.prod(shape)), dtype=np.int64)
    draw = np.random.default_rng(1).integers
    roots = [draw(-3, 4, (2, sums.shape[1])) for _ in range(3)]
    forms, moved = [one.T @ one for one in roots], differences(sums, a)
    every = np.array([[one @ form @ one for form in forms] for one in moved if one.any()])
    expected = np.unique(every, axis=0).tolist()
    assert forms_of_differences(sums, a, forms).tolist() == expected
    monkeypatch.setattr(enumerate_room, "_MOST_AT_ONCE", 3)
    monkeypatch.setattr(enumerate_room, "_INSIDE", 1)
    assert forms_of_differences(sums, a, forms).tolist() == expected
    monkeypatch.setattr(enumerate_room, "_MOST_PAIRS", 2)
    assert forms_of_differences(sums, a, forms) is None


def test_the_space_of_overlapping_margins():
    assert largest_norms(equations((2, 2, 2), [(0, 1), (1, 2), (0, 2)]), 5) == (8, 8)
    assert largest_norms(equations((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3)]), 4) == (8, 16)
    assert largest_norms(equations((2, 2, 2), [(0, 1), (1, 2)]), 3) == (4, 4)


def test_the_space_of_a_table_is_inside_that_of_all_tables():
    everything = set(map(tuple, differences(equations((3, 3), [(0,), (1,)]), 3).tolist()))
    for fibre in two_way(3, 3, 3):
        assert moves(fibre, 3) <= everything


def test_two_cells_that_the_totals_do_not_tell_apart_make_group_privacy_tight():
    sums = np.repeat(equations((2, 2), [(0,), (1,)]), 2, axis=1)
    assert largest_norms(sums, 3) == (6, 18)
    found = differences(sums, 3)
    assert int((found**2).sum(axis=1).max()) == 18


def test_a_space_that_is_too_large_is_not_listed():
    sums = equations((4, 4, 4), [(0,), (1,), (2,)])
    assert differences(sums, 5) is None
    assert largest_norms(sums, 5) is None


@pytest.mark.parametrize("k", [3, 4, 5])
def test_a_cycle_of_possible_cells_moves_every_row(k):
    """Cells (p, p) and (p, p + 1), margins 1: two tables, a = k; with an isolated cell a = k + 1, and Lemma 2 is tight."""
    cells = [(p, p) for p in range(k)] + [(p, (p + 1) % k) for p in range(k)]
    fibre = np.array([[1] * k + [0] * k, [0] * k + [1] * k])
    assert int(costs(fibre).max()) == k
    assert norms(moves(fibre, k)) == (3, 2 * k, 2 * k, 1, 1)
    isolated = np.hstack([fibre, [[1], [1]]])
    assert int(costs(isolated).max()) == k + 1
    schema = dp.Schema(r=dp.Category([str(p) for p in range(k + 1)]), c=dp.Category([str(p) for p in range(k + 1)]))
    shown = {(str(p), str(q)) for p, q in [*cells, (k, k)]}
    zeros = [cell for cell in product(levels(schema["r"]), levels(schema["c"])) if cell not in shown]
    invariants = Margins("r", "c") + Impossible("r", "c", cells=zeros)
    ones = {str(p): 1 for p in range(k + 1)}
    assert invariants.semi_adjacency(schema, {"r": ones, "c": ones}) == k + 1


@pytest.mark.slow
def test_existence_beside_crossing_margins_costs_more_than_three():
    """3 x 3 margins and "is cell (0, 0) occupied?": a(t) = 4, ℓ₁ 8, ℓ₂² 10, where nobody is there; else at most 3 (A12)."""
    invariants = Margins("a3", "b3") + Occupied("a3", "b3", only=[x(0, 0)])
    found = [(largest_cost(fibre), fibre) for fibre in fibres(invariants, 5)]
    assert max(a for a, _ in found) == 4
    assert max(norms(moves(fibre, a))[1:3] for a, fibre in found) == (8, 10)
    assert semi_adjacency(invariants, SCHEMA) == 4
    assert max(a for a, fibre in found if fibre[0][0]) == 3
    assert all(computed(invariants, fibre).a <= 3 + (not fibre[0][0]) for _, fibre in found)


@pytest.mark.parametrize(
    ("n", "occupied", "values", "size", "l2_squared"),
    [(3, 2, {2}, 3, 2), (4, 2, {1, 2}, 5, 8), (5, 3, {1, 2}, 19, 8), (4, 3, {2}, 7, 2), (3, 3, {2}, 1, 0)],
)
def test_published_keys(n, occupied, values, size, l2_squared):
    """(v-a): a(X) varies within the fibre, a(t) = 2."""
    invariants = Occupied("a3")
    fibre = next(one for one in fibres(invariants, n) if (one[0] > 0).sum() == occupied)
    found = {int(cost.max()) for cost in costs(fibre)}
    assert max(found) == computed(invariants, fibre).a == 2
    assert found <= values
    space = norms(moves(fibre, 2))
    assert (space[0], space[2]) == (size, l2_squared)


def test_the_bound_of_margins_with_an_axis_of_one_level_holds_and_is_reached():
    """Every table of three rows in one level of c: its margins of a and b are a table of two axes, not of three."""
    margins, reached = Margins("a3", "b3", "c2"), set()
    plan = dp.Table(SCHEMA, dp.ReplaceOne(rows=3)).group_by("a3", "b3", "c2").agg(dp.count())
    for fibre in fibres(margins, 3):
        if fibre.reshape(len(fibre), 3, 3, 2)[..., 0].any() or len(fibre) == 1:
            continue
        exactly = exact_totals_of(margins, SCHEMA, totals_of_counts(margins, SCHEMA, fibre[0]), 3)
        declared = space_of(plan, exactly).of_rows()
        _, l1, l2_squared, *_ = norms(moves(fibre, exactly.adjacency.a))
        assert l1 <= declared.l1
        assert l2_squared <= declared.l2_squared
        reached.add((l1, l2_squared) if (l1, l2_squared) == (declared.l1, declared.l2_squared) else None)
    assert reached >= {(4, 4), (6, 6)}
