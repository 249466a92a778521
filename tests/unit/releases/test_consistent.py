from __future__ import annotations

import csv
import heapq
from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError, InternalError
from discreet.releases import _solvers
from discreet.releases.consistent import consistent_counts


def ints(*values):
    return np.array(values, dtype=np.int64)


def sums_of(labels, values, groups):
    return np.array([int(values[labels == group].sum()) for group in range(groups)], dtype=np.int64)


def margin(shape, axes, table):
    """The constraint that fixes the sums of a flat table of this shape over all axes but `axes`."""
    places = np.indices(shape).reshape(len(shape), -1)
    size = [shape[axis] for axis in axes]
    labels = np.ravel_multi_index([places[axis] for axis in axes], size) if axes else np.zeros(table.size, dtype=np.int64)
    totals = np.zeros(prod(size), dtype=np.int64)
    np.add.at(totals, labels, table)
    return labels.astype(np.int64), totals


def distance(values, noisy):
    return sum((int(value) - int(there)) ** 2 for value, there in zip(values, noisy, strict=True))


def check(found, noisy, constraints, zero=None):
    assert found.values.dtype == np.int64
    assert found.values.shape == noisy.shape
    assert found.values.min(initial=0) >= 0
    for labels, totals in constraints:
        assert sums_of(labels, found.values, totals.size).tolist() == totals.tolist()
    if zero is not None:
        assert not found.values[zero].any()
    assert found.moved == max((abs(int(a) - int(b)) for a, b in zip(found.values, noisy, strict=True)), default=0)


@st.composite
def problems(draw, most_constraints=3):
    """A noisy table with constraints and zeros that a hidden table of counts meets."""
    cells = draw(st.integers(0, 7))
    truth = np.array(draw(st.lists(st.integers(0, 4), min_size=cells, max_size=cells)), dtype=np.int64)
    noisy = np.array(draw(st.lists(st.integers(-9, 12), min_size=cells, max_size=cells)), dtype=np.int64)
    constraints = []
    for _ in range(draw(st.integers(0, most_constraints))):
        groups = draw(st.integers(0, 3))
        labels = np.array(draw(st.lists(st.integers(-1, groups - 1), min_size=cells, max_size=cells)), dtype=np.int64)
        constraints.append((labels, sums_of(labels, truth, groups)))
    fixed = np.array(draw(st.lists(st.booleans(), min_size=cells, max_size=cells)), dtype=np.bool_)
    return truth, noisy, constraints, fixed & (truth == 0)


@settings(max_examples=60)
@given(problems())
@example((ints(1, 0), ints(-3, -3), [(ints(0, 0), ints(1))], np.array([False, False])))
@example(
    (ints(0, 1, 0), ints(5, 5, 5), [(ints(0, 0, -1), ints(1)), (ints(-1, 0, 0), ints(1))], np.array([True, False, False]))
)
def test_whatever_a_table_can_meet_is_met(problem):
    truth, noisy, constraints, zero = problem
    check(consistent_counts(noisy, constraints, fixed_zero=zero), noisy, constraints, zero)
    same = consistent_counts(truth, constraints, fixed_zero=zero)
    assert same.values.tolist() == truth.tolist()
    assert same.moved == 0
    once = consistent_counts(noisy, constraints).values
    assert consistent_counts(once, constraints).values.tolist() == once.tolist()


def nearest(noisy, constraints, most):
    """The least squared distance of a table that meets the constraints, by trying all with cells up to `most`."""
    return min(
        distance(table, noisy)
        for table in product(range(most + 1), repeat=noisy.size)
        if all((sums_of(labels, np.array(table), totals.size) == totals).all() for labels, totals in constraints)
    )


small = st.lists(st.tuples(st.integers(-5, 7), st.integers(0, 2)), min_size=1, max_size=4)


@settings(max_examples=25)
@given(small)
@example([(-5, 2), (7, 0), (7, 0), (7, 0)])
@example([(2, 1), (2, 1), (1, 0), (0, 2)])
def test_the_table_of_a_partition_is_the_nearest(cells):
    noisy, truth = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
    whole = (np.zeros(noisy.size, dtype=np.int64), ints(truth.sum()))
    found = consistent_counts(noisy, [whole])
    check(found, noisy, [whole])
    assert distance(found.values, noisy) == nearest(noisy, [whole], int(truth.sum()))


@settings(max_examples=25)
@given(small, st.lists(st.integers(-1, 1), min_size=4, max_size=4), st.booleans())
def test_the_table_of_a_partition_and_of_groups_within_it_is_the_nearest(cells, places, finer_first):
    noisy, truth = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
    within = np.array(places[: noisy.size], dtype=np.int64)
    constraints = [(within, sums_of(within, truth, 2)), (np.zeros(noisy.size, dtype=np.int64), ints(truth.sum()))]
    found = consistent_counts(noisy, constraints[:: 1 if finer_first else -1])
    check(found, noisy, constraints)
    assert distance(found.values, noisy) == nearest(noisy, constraints, int(truth.sum()))


def greedy(noisy, total):
    """The nearest non-negative integers by the definition: 1 after 1 where it costs least (the cost of a cell is convex)."""
    values = [0] * len(noisy)
    steps = [(1 - 2 * there, place) for place, there in enumerate(noisy)]
    heapq.heapify(steps)
    for _ in range(total):
        cost, place = steps[0]
        values[place] += 1
        heapq.heapreplace(steps, (cost + 2, place))
    return values


def test_51_blocks_of_60_cells_are_each_the_nearest_table():
    rng = np.random.default_rng(1)
    truth = rng.poisson(rng.gamma(0.3, 30.0, 51 * 60))
    noisy = truth + np.rint(rng.normal(0, 20, truth.size)).astype(np.int64)
    block = rng.permutation(np.repeat(np.arange(51), 60))
    noisy[block == 7] = -5 - rng.integers(0, 50, 60)  # nothing but negative counts
    truth[block == 8] = 0
    constraints = [(block, sums_of(block, truth, 51))]
    found = consistent_counts(noisy, constraints)
    check(found, noisy, constraints)
    for group in range(51):
        cells = noisy[block == group].tolist()
        assert distance(found.values[block == group], cells) == distance(
            greedy(cells, int(truth[block == group].sum())), cells
        )


def test_equal_cells_differ_by_at_most_1_and_larger_ones_stay_larger():
    found = consistent_counts(ints(4, 4, -1, 4, 9), [(ints(0, 0, 0, 0, 0), ints(12))])
    assert found.values.tolist() == [2, 2, 0, 1, 7]


@pytest.mark.parametrize("total", [0, 1, 5, 2**40 - 1])
def test_numbers_as_large_as_may_be(total):
    noisy = ints(2**62, -(2**62), 2**62 - 3, 0)
    constraints = [(ints(0, 0, 0, 0), ints(total))]
    found = consistent_counts(noisy, constraints)
    check(found, noisy, constraints)
    assert found.values.tolist() == {0: [0, 0, 0, 0], 1: [1, 0, 0, 0], 5: [4, 0, 1, 0]}.get(
        total, [2**39 + 1, 0, 2**39 - 2, 0]
    )


def test_cells_without_a_constraint_lose_their_negative_counts():
    assert consistent_counts(ints(-3, 0, 2**62)).values.tolist() == [0, 0, 2**62]
    assert consistent_counts(ints(-3, 5), fixed_zero=np.array([False, True])).values.tolist() == [0, 0]
    assert consistent_counts(ints()).values.tolist() == []


def with_noise(truth, sigma, seed=0):
    return truth + np.rint(np.random.default_rng(seed).normal(0, sigma, truth.size)).astype(np.int64)


ONE_WAY_6 = [(axis,) for axis in range(6)]
ONE_WAY_8 = [(axis,) for axis in range(8)]


@pytest.mark.parametrize(
    ("shape", "axes", "mean", "sigma"),
    [
        pytest.param((1000, 100), [(0,)], 20, 5, id="1e5 cells, one partition"),
        pytest.param((10, 100, 20), [(0,), (0, 1), ()], 20, 5, id="nested partitions and the total"),
        pytest.param((50, 50), [(0,), (1,)], 20, 5, id="rows and columns"),
        pytest.param((50, 50), [(0,), (1,)], 0.05, 20, id="rows and columns of a nearly empty table"),
        pytest.param((50, 50), [(0,), (1,)], 2e7, 5, id="rows and columns of large counts"),
        pytest.param((15, 15), [(0,), (1,)], 5, 1e6, id="nothing but noise"),
        pytest.param((15, 15), [(0,), (1,)], 5, 1e15, id="noise beyond all measure"),
        pytest.param((15, 9, 24), [(0, 1), (0, 2)], 6, 3, id="two two-way margins"),
        pytest.param((2,) * 6, ONE_WAY_6, 30, 10, id="2^6"),
        pytest.param((2,) * 8, ONE_WAY_8, 2.6, 3, id="2^8"),
        pytest.param((8, 8, 8), list(combinations(range(3), 2)), 3, 3, id="all two-way margins"),
    ],
)
def test_made_tables(shape, axes, mean, sigma):
    rng = np.random.default_rng(2)
    truth = rng.poisson(rng.gamma(0.3, mean / 0.3, prod(shape)))
    noisy = with_noise(truth, sigma)
    constraints = [margin(shape, kept, truth) for kept in axes]
    found = consistent_counts(noisy, constraints)
    check(found, noisy, constraints)
    # The nearest point of a convex set is no further from its points than the point was, and rounding moves less than 1.
    reach = float(np.linalg.norm((noisy - truth).astype(float))) + truth.size**0.5
    assert np.linalg.norm((found.values - truth).astype(float)) <= reach


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "columns", "margins"),
    [
        ("czech_autoworkers", 6, ONE_WAY_6),
        ("rochdale", 8, ONE_WAY_8),
        ("pums_race_hispanic_by_puma", 4, [(1, 2), (1, 3)]),
    ],
)
def test_published_tables(shared, name, columns, margins):
    with (shared / "data" / "tables" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    codes = [np.unique([row[axis] for row in rows], return_inverse=True) for axis in range(columns)]
    codes[1] = np.unique(["".join(row[:2]) for row in rows], return_inverse=True) if columns == 4 else codes[1]
    truth = np.array([int(row[-1]) for row in rows], dtype=np.int64)
    constraints = []
    for axes in margins:
        labels = np.ravel_multi_index([codes[axis][1] for axis in axes], [len(codes[axis][0]) for axis in axes])
        constraints.append((labels.astype(np.int64), sums_of(labels, truth, prod(len(codes[axis][0]) for axis in axes))))
    noisy = with_noise(truth, 4.0)
    found = consistent_counts(noisy, constraints)
    check(found, noisy, constraints)
    assert distance(found.values, truth) < distance(noisy, truth)


tables = st.tuples(st.integers(2, 3), st.integers(2, 3)).flatmap(
    lambda shape: st.tuples(
        st.just(shape),
        st.lists(st.integers(0, 2), min_size=prod(shape), max_size=prod(shape)),
        st.lists(st.integers(-4, 6), min_size=prod(shape), max_size=prod(shape)),
    )
)


def system(shape, truth):
    """The matrix and right-hand side of rows and columns, without those of total 0 and their cells, as the solvers want."""
    from scipy.sparse import csr_array

    constraints = [margin(shape, axes, truth) for axes in [(0,), (1,)]]
    dense = np.concatenate([labels == np.arange(totals.size)[:, None] for labels, totals in constraints]).astype(np.int64)
    totals = np.concatenate([totals for _, totals in constraints])
    cells = ~(dense[totals == 0]).any(axis=0)
    return cells, csr_array(dense[totals > 0][:, cells]), totals[totals > 0]


@settings(max_examples=25)
@given(tables)
@example(((2, 2), [1, 0, 0, 1], [-4, 6, 6, -4]))
def test_the_real_table_meets_the_conditions_of_kuhn_and_tucker(table):
    """x = max(z, 0) has the totals and z - v is a combination of rows: then, and only then, x is the nearest."""
    shape, counts, there = table
    cells, groups, totals = system(shape, np.array(counts, dtype=np.int64))
    noisy = np.array(there, dtype=np.int64)[cells]
    if not cells.any():
        return
    target = _solvers.least_squares(noisy, groups, totals)
    dense = groups.toarray().astype(float)
    assert np.allclose(dense @ np.maximum(target, 0), totals, atol=1e-6)
    weights = np.linalg.lstsq(dense.T, target - noisy, rcond=None)[0]
    assert np.allclose(dense.T @ weights, target - noisy, atol=1e-6)


@pytest.mark.parametrize("sigma", [10, 1e4, 1e6])
def test_the_real_table_is_found_however_large_the_noise(sigma):
    truth = np.random.default_rng(5).poisson(5, 30 * 30)
    _, groups, totals = system((30, 30), truth)
    noisy = with_noise(truth, sigma)
    target = _solvers.least_squares(noisy, groups, totals)
    assert np.abs(groups @ np.maximum(target, 0) - totals).max() < 1e-6


def test_the_rounding_of_a_larger_table_costs_what_a_linear_program_says():
    """For rows and columns the program with real choices between floor and ceiling has an integer solution."""
    from scipy.optimize import linprog

    truth = np.random.default_rng(6).poisson(4, 30 * 30)
    _, groups, totals = system((30, 30), truth)
    noisy = with_noise(truth, 5)
    target = _solvers.least_squares(noisy, groups, totals)
    values = _solvers.near_integers(noisy, target, groups, totals)
    real = np.maximum(target, 0)
    assert np.abs(values - real).max() < 1
    low = np.floor(real)
    least = linprog(2 * (low - noisy) + 1, A_eq=groups, b_eq=totals - groups @ low, bounds=[(0, x > 0) for x in real])
    assert distance(values, noisy) == pytest.approx(least.fun + distance(low, noisy), abs=1e-3)


@settings(max_examples=25)
@given(tables)
@example(((3, 3), [1, 1, 0, 0, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0]))
def test_rows_and_columns_are_rounded_to_floors_and_ceilings_at_the_least_cost(table):
    shape, counts, there = table
    cells, groups, totals = system(shape, np.array(counts, dtype=np.int64))
    noisy = np.array(there, dtype=np.int64)[cells]
    if not cells.any():
        return
    real = np.maximum(_solvers.least_squares(noisy, groups, totals), 0)
    found = consistent_counts(
        np.array(there, dtype=np.int64), [margin(shape, axes, np.array(counts)) for axes in [(0,), (1,)]]
    )
    values = found.values[cells]
    assert not found.values[~cells].any()
    assert np.abs(values - real).max() < 1
    low = np.floor(np.where(np.abs(real - np.rint(real)) < 1e-6, np.rint(real), real))
    choices = [
        range(int(least), int(least) + 2 - (abs(exact - least) < 1e-6)) for least, exact in zip(low, real, strict=True)
    ]
    best = min(distance(y, noisy) for y in product(*choices) if (groups @ np.array(y) == totals).all())
    assert distance(values, noisy) == best


@pytest.mark.parametrize("off", [0.0, 1.2, 40.0, -40.0, 1e9])
def test_a_table_is_found_where_the_floors_and_ceilings_of_a_poor_start_have_none(off):
    shape, truth = (3, 3), ints(4, 0, 1, 0, 5, 2, 3, 1, 0)
    _, groups, totals = system(shape, truth)
    target = truth + off * np.array([1, 1, 1, 1, 1, 1, 1, 1, -1])
    found = _solvers.near_integers(truth, target, groups, totals)
    assert found.min() >= 0
    assert (groups @ found).tolist() == totals.tolist()
    if off == 0:
        assert found.tolist() == truth.tolist()


def test_a_wrong_table_of_the_solver_never_gets_out(monkeypatch):
    rows, columns = ints(0, 0, 1, 1), ints(0, 1, 0, 1)
    constraints = [(rows, ints(3, 7)), (columns, ints(4, 6))]
    for wrong in (ints(1, 2, 3, 5), ints(-1, 4, 5, 2)):
        monkeypatch.setattr(_solvers, "near_integers", lambda *_, wrong=wrong: wrong)
        with pytest.raises(InternalError, match=r"sums differ|negative"):
            consistent_counts(ints(1, 2, 3, 4), constraints)
    monkeypatch.undo()
    monkeypatch.setattr(_solvers, "_round", lambda *_: ints(1, 2, 3, 5))
    assert consistent_counts(ints(1, 2, 3, 4), constraints).values.tolist() == [1, 2, 3, 4]
    monkeypatch.setattr(_solvers, "_any_integers", lambda *_: ints(1, 2, 3, 5))
    with pytest.raises(InternalError, match="other totals"):
        consistent_counts(ints(1, 2, 3, 4), constraints)


ROWS, COLUMNS, WHOLE = ints(0, 0, 1, 1), ints(0, 1, 0, 1), ints(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("constraints", "zero", "words"),
    [
        ([(ROWS, ints(3, 7)), (COLUMNS, ints(4, 7))], [], "no table of non-negative integers has these totals"),
        (
            [(ROWS, ints(3, 7)), (WHOLE, ints(9))],
            [],
            r"constraints\[1\]: a total is less than the totals of the groups within",
        ),
        ([(WHOLE, ints(11)), (ROWS, ints(3, 7))], [], r"constraints\[0\]: group 0 has a positive total, or rest"),
        ([(ROWS, ints(3, 7)), (ROWS, ints(3, 8))], [], r"constraints\[0\]"),
        ([(ints(0, 0, 0, 0), ints(3, 1))], [], r"constraints\[0\]: group 1 has a positive total"),
        ([(ROWS, ints(3, 7))], [0, 1], r"constraints\[0\]: group 0 has a positive total"),
        ([(ROWS, ints(3, 7)), (COLUMNS, ints(4, 6))], [0, 3], "no table of non-negative integers has these totals"),
        ([(ROWS, ints(0, 7)), (ints(0, 0, -1, -1), ints(1))], [], r"constraints\[0\]: a total is less"),
        (
            [(ints(0, 0, -1, -1), ints(1)), (ints(0, -1, 0, -1), ints(1)), (ints(-1, 0, 0, -1), ints(1))],
            [],
            "no table of non-negative integers has these totals",
        ),
        ([(ints(0, 0, 0), ints(3))], [], "3 labels for 4 cells"),
        ([(ROWS, ints(3))], [], "labels: must be from -1 to 0"),
        ([(ints(0, 0, 0, -2), ints(3))], [], "labels: must be from -1 to 0"),
        ([(ROWS, ints(-1, 3))], [], "totals: must be from 0"),
        ([(ROWS, ints(2**40, 3))], [], "totals: must be from 0"),
        ([(ROWS.astype(float), ints(3, 7))], [], "labels: must be an int64 array"),
        ([(ROWS, [3, 7])], [], "totals: must be an int64 array"),
    ],
)
def test_totals_that_no_table_has_and_arguments_of_the_wrong_kind_are_refused(constraints, zero, words):
    fixed = np.isin(np.arange(4), zero)
    with pytest.raises(ArgumentError, match=words):
        consistent_counts(ints(1, 2, 3, 4), constraints, fixed_zero=fixed)


@pytest.mark.parametrize("noisy", [np.array([1.5]), np.array([[1]]), [1], ints(2**62 + 1), ints(-(2**63))])
def test_a_noisy_table_of_the_wrong_kind_is_refused(noisy):
    with pytest.raises(ArgumentError, match="noisy: must be"):
        consistent_counts(noisy)


@pytest.mark.parametrize("zero", [[True], np.array([1]), np.array([True, False])])
def test_zeros_of_the_wrong_kind_are_refused(zero):
    with pytest.raises(ArgumentError, match="fixed_zero: must be"):
        consistent_counts(ints(1), fixed_zero=zero)
