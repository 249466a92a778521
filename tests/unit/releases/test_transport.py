"""Nearest tables with given sums, and their roundings: proved by multipliers, and by looking at all tables of small sums."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.releases import nearest as fitting
from discreet.releases import transport as flows
from discreet.releases.nearest import Sums, nearest
from discreet.releases.transport import WholeSums, round_cells


def small(seed, most=6):
    """A table of some groups of rows, noise on it, weights, its sums of rows and of columns within the groups."""
    drawn = np.random.default_rng(seed)
    sizes = drawn.integers(1, most, drawn.integers(1, 4))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    table = drawn.poisson(drawn.choice([0.3, 2, 20]), (len(groups), int(drawn.integers(1, most))))
    wanted = table + drawn.normal(0, 2, table.shape)
    columns = np.add.reduceat(table, np.searchsorted(groups, np.arange(len(sizes))), axis=0)
    return wanted, np.where(wanted > 10, 25.0, 1.0), table.sum(axis=1), groups, columns


def places(shape, groups):
    """For each cell of a table, row by row, the place of its row, and that of its column within its group of rows."""
    rows = np.repeat(np.arange(shape[0]), shape[1])
    return rows, (np.asarray(groups)[:, np.newaxis] * shape[1] + np.arange(shape[1])).ravel()


def fitted(wanted, weights, rows, groups, columns):
    row, column = places(wanted.shape, groups)
    kinds = [Sums(rows.astype(float), row), Sums(columns.ravel().astype(float), column)]
    return nearest(wanted.ravel(), weights.ravel(), kinds).reshape(wanted.shape)


def rounded(real, rows, groups, columns):
    row, column = places(real.shape, groups)
    return flows.round_table(real.ravel(), WholeSums(row, rows), WholeSums(column, columns.ravel())).reshape(real.shape)


@pytest.fixture
def exactly(monkeypatch):
    """Sums are met as far as doubles allow."""
    monkeypatch.setattr(fitting, "MISSED", 1e-8)
    monkeypatch.setattr(fitting, "_SWEEPS", 20_000)


@pytest.mark.usefixtures("exactly")
@pytest.mark.parametrize("seed", range(12))
def test_a_table_is_the_nearest_one_with_its_sums(seed):
    """No other table with the sums is nearer: neither on the way to any rounding of noise nor near it."""
    wanted, weights, rows, groups, columns = small(seed)
    real = fitted(wanted, weights, rows, groups, columns)
    assert real.min() >= 0
    assert real.sum(axis=1) == pytest.approx(rows, abs=1e-6)
    assert np.add.reduceat(real, np.searchsorted(groups, np.arange(len(columns))), axis=0) == pytest.approx(
        columns, abs=1e-6
    )
    generator, least = np.random.default_rng(seed), float((weights * (real - wanted) ** 2).sum())
    for _ in range(30):
        other = rounded(np.abs(generator.normal(0, 9, wanted.shape)), rows, groups, columns)
        between = real + generator.uniform(0, 1) * (other - real)
        assert float((weights * (between - wanted) ** 2).sum()) >= least - 1e-4


@pytest.mark.usefixtures("exactly")
def test_wished_sums_are_weighed_against_the_cells():
    """min ½(x - 1)² + ½(y - 1)² + ½p(x + y - 6)²: x = y = (1 + 6p)/(1 + 2p)."""
    one = np.zeros(2, np.int64)
    for price in (0.5, 4.0, 100.0):
        wished = Sums(np.array([6.0]), one, np.array([price]))
        found = nearest(np.ones(2), np.ones(2), [wished, Sums(np.array([0.0]), one, np.array([1e-12]))])
        assert found == pytest.approx((1 + 6 * price) / (1 + 2 * price), rel=1e-5)


def test_sums_that_contradict_wishes_are_met_and_wishes_are_not():
    row, column = places((2, 2), [0, 0])
    wishes = Sums(np.array([9.0, 1.0]), column, np.full(2, 100.0))
    found = nearest(np.ones(4), np.ones(4), [wishes, Sums(np.array([2.0, 2.0]), row)]).reshape(2, 2)
    assert found.sum(axis=1) == pytest.approx([2, 2], abs=2 * fitting.MISSED)
    assert found[:, 0].min() > 1.5


def test_a_sum_of_no_cells_is_no_obstacle():
    found = nearest(np.ones(2), np.ones(2), [Sums(np.array([0.0, 3.0]), np.ones(2, np.int64))])
    assert found == pytest.approx(1.5, abs=fitting.MISSED)


@pytest.mark.parametrize("seed", range(40))
def test_each_number_is_rounded_down_or_up_and_the_sums_hold(seed):
    wanted, weights, rows, groups, columns = small(seed)
    real = fitted(wanted, weights, rows, groups, columns)
    found = rounded(real, rows, groups, columns)
    assert (np.abs(found - real) < 1 + 10 * fitting.MISSED).all()
    for sums, place in zip((rows, columns.ravel()), places(wanted.shape, groups), strict=True):
        alone = round_cells(np.maximum(wanted, 0).ravel(), WholeSums(place, sums))
        assert (np.bincount(place, weights=alone, minlength=len(sums)) == sums).all()
        assert alone.min() >= 0
    assert found.min() >= 0


def test_cells_that_are_not_there_stay_away():
    """A table without one of its corners: its row and column are rounded through the others."""
    row, column = np.array([0, 1, 1]), np.array([1, 0, 1])
    found = flows.round_table(
        np.array([1.0, 0.5, 0.5]), WholeSums(row, np.array([1, 1])), WholeSums(column, np.array([1, 1]))
    )
    assert found.tolist() == [1, 1, 0]


def test_a_path_is_found_where_the_largest_fractions_lead_astray():
    """Cells can be taken in an order that leaves a row and a column that share no other cell."""
    real, ones = np.array([[0.6, 0.4, 0.0], [0.4, 0.0, 0.6], [0.0, 0.6, 0.4]]), np.ones(3, np.int64)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        found = rounded(real[order], ones, np.zeros(3, np.int64), np.ones((1, 3), np.int64))
        assert (found.sum(axis=0) == 1).all()
        assert (found <= np.ceil(real[order])).all()


def test_the_flow_takes_cells_back():
    """All rounding is left to the flow, which begins with a cell that no rounding has."""
    up, free = np.array([True, False, False, False]), np.array([True, True, True, False])
    short, wide = np.array([0, 1]), np.array([0, 1])
    flows._flow(up, free, places((2, 2), [0, 0]), (short, wide))
    assert up.tolist() == [False, True, True, False]
    assert not short.any()
    assert not wide.any()


def test_the_flow_looks_at_nothing_that_it_cannot_reach():
    row, column = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])
    reached = flows._within_reach(np.arange(4), (row, column), np.array([0, 1, 0]))
    assert reached.tolist() == [0, 1, 2]


@pytest.mark.parametrize("rounds", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_flows_alone_find_a_rounding_too(seed, rounds, monkeypatch):
    monkeypatch.setattr(flows, "_ROUNDS", rounds)
    wanted, weights, rows, groups, columns = small(seed)
    real = fitted(wanted, weights, rows, groups, columns)
    assert (np.abs(rounded(real, rows, groups, columns) - real) < 1 + 10 * fitting.MISSED).all()


def test_a_rounding_is_found_whenever_there_is_one():
    """All tables of 0 and 1 with three rows and columns: where one fits between the real numbers, it is found."""
    ones = np.ones(3, np.int64)
    for cells in product([0, 1], repeat=9):
        table = np.array(cells).reshape(3, 3)
        rows, columns = table.sum(axis=1), table.sum(axis=0)[np.newaxis]
        real = np.where(table, 0.7, 0.2) + 0.05 * np.arange(9).reshape(3, 3) % 0.1
        found = rounded(real, rows, 0 * ones, columns)
        assert (found <= 1).all()


def test_where_floats_missed_the_sums_whole_numbers_have_them_all_the_same():
    rows, columns = np.array([3, 0]), np.array([[1, 2]])
    found = rounded(np.array([[0.0, 0.0], [7.0, 0.2]]), rows, np.zeros(2, np.int64), columns)
    assert found.tolist() == [[1, 2], [0, 0]]
    one = np.zeros(2, np.int64)
    assert round_cells(np.array([9.0, 0.5]), WholeSums(one, np.array([4]))).tolist() == [4, 0]
    assert round_cells(np.array([0.0, 0.5]), WholeSums(one, np.array([4]))).sum() == 4


def test_sums_that_do_not_agree_are_no_problem_of_floats():
    with pytest.raises(InternalError, match="must agree"):
        rounded(np.zeros((1, 1)), np.array([1]), np.zeros(1, np.int64), np.array([[2]]))
    with pytest.raises(InternalError, match="must agree"):
        rounded(np.zeros((1, 2)), np.array([0]), np.zeros(1, np.int64), np.array([[1, -1]]))


def test_nothing_to_divide_is_nothing():
    none, zero = np.zeros(0, np.int64), np.zeros(3, np.int64)
    assert not len(flows.round_table(np.zeros(0), WholeSums(none, none), WholeSums(none, zero)))
