"""The real numbers of a finest table and its sums: the least cost by trying all sets of empty cells; contradictions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.releases import fitting
from discreet.releases import nearest as least_squares
from discreet.releases.fitting import Given, Pass
from discreet.releases.live_cells import LiveCells

SIZES = (2, 2)
TABLES = [(), (0,), (0, 1)]
PASSES = (Pass((), None, ()), Pass((0,), (), ()), Pass((0, 1), (0,), ()))
SUMS = {(): (1, 2), (0,): (2,), (0, 1): ()}


def tiny(seed):
    """Two areas in a wider one, a table of two by two and its sums; counts of different noise, some of them large."""
    drawn = np.random.default_rng(seed)
    truth = drawn.poisson(drawn.choice([0.2, 3, 60], (2, *SIZES)))
    noisy = truth + drawn.normal(0, 3, truth.shape)
    deviations = {one: np.repeat(drawn.uniform(1, 5, 2), noisy.sum(axis=SUMS[one])[0].size) for one in TABLES}
    above = truth.sum(axis=0, keepdims=True)
    there = np.broadcast_to(above > 0, truth.shape)
    cells = LiveCells.within(SIZES, TABLES, (0, 1), there, np.zeros(2, dtype=np.int64))
    return Given(
        cells,
        PASSES,
        {one: cells.of(one, noisy.sum(axis=SUMS[one])) for one in TABLES},
        {one: cells.of(one, deviations[one]) for one in TABLES},
        {},
        {one: above.sum(axis=SUMS[one]) for one in TABLES},
    )


def least_cost(given):
    """The real numbers of least cost: by multipliers for each set of cells that may be more than 0, the best of all."""
    cells, many = given.cells, len(given.wanted[0, 1])
    costs, slope = np.zeros((many, many)), np.zeros(many)
    for table in TABLES:
        of = np.eye(len(given.wanted[table]))[cells.places((0, 1), table)]
        large = 25 if table == (0, 1) else 10
        clear = given.wanted[table] > 5 * given.deviations[table]
        small = np.ones(len(clear))
        if not table:  # all persons of an area weigh more, as far as they are more certain than the sum of their cells
            area = given.cells.places((0, 1), ())
            summed = np.bincount(area, weights=given.deviations[0, 1] ** 2, minlength=2)
            small = np.clip(summed / given.deviations[()] ** 2, 1, 10)
        weights = np.where(clear, large, small) / given.deviations[table] ** 2
        costs += of @ np.diag(weights) @ of.T
        slope += of @ (weights * given.wanted[table])
    wide, place = np.unique(cells.wide((0, 1)), return_inverse=True)
    met = np.eye(len(wide))[place].T
    values, best = given.above[0, 1].ravel()[wide], (np.inf, np.zeros(many))
    for some in product([False, True], repeat=many):
        own = np.flatnonzero(some)
        system = np.block([[costs[np.ix_(own, own)], met[:, own].T], [met[:, own], np.zeros((len(wide), len(wide)))]])
        found = np.zeros(many)
        found[own] = np.linalg.lstsq(system, np.concatenate([slope[own], values]), rcond=None)[0][: len(own)]
        if found.min() > -1e-9 and np.abs(met @ found - values).max() < 1e-7:
            best = min(best, (float(found @ costs @ found / 2 - slope @ found), found), key=lambda one: one[0])
    return best[1]


def distance(given):
    return float(np.abs(fitting._together(given, fitting._weights(given))[0, 1] - least_cost(given)).max(initial=0))


@pytest.fixture
def exactly(monkeypatch):
    monkeypatch.setattr(least_squares, "MISSED", 0.0)
    monkeypatch.setattr(least_squares, "_SWEEPS", 2000)


@pytest.mark.usefixtures("exactly")
@pytest.mark.parametrize("seed", range(8))
def test_real_numbers_have_the_least_cost_of_all_that_are_not_negative_and_add_up(seed):
    assert distance(tiny(seed)) < 1e-3


FAULTS = {
    "_FINEST": 24.0,
    "_COARSE": 9.0,
    "_CLEAR": 2,
    "_precisions": lambda deviations: 1 / deviations,
    "_certainty": lambda _given, precisions: np.ones_like(precisions),
}


@pytest.mark.usefixtures("exactly")
@pytest.mark.parametrize("name", FAULTS)
def test_another_cost_has_other_numbers(name, monkeypatch):
    monkeypatch.setattr(fitting, name, FAULTS[name])
    assert any(distance(tiny(seed)) > 1e-2 for seed in range(12))


@pytest.mark.parametrize("seed", range(12))
def test_whole_numbers_have_the_sums_of_the_wider_area_and_are_near_the_real_ones(seed):
    given = tiny(seed)
    real, found = fitting._together(given, fitting._weights(given)), fitting.fit(given)
    for table in TABLES:
        sums = np.bincount(given.cells.wide(table), weights=found[table], minlength=given.above[table].size)
        assert (sums == given.above[table].ravel()).all()
        assert found[table].min(initial=0) >= 0
    assert np.abs(found[()] - real[()]).max() < 1.1  # the first table is rounded with nothing before it
    whole = given.cells.spread((0, 1), found[0, 1])
    for table in TABLES:
        assert (given.cells.of(table, whole.sum(axis=SUMS[table])) == found[table]).all()


def alone(counts, deviations):
    """All areas together with one kind of persons, and these in three places."""
    tables, there = [(), (0,), (0, 1)], np.ones((1, 1, 3), dtype=bool)
    cells = LiveCells.within((1, 3), tables, (0, 1), there, np.zeros(1, dtype=np.int64))
    wanted = {one: np.array(counts[:1] if one != (0, 1) else counts[1:], dtype=float) for one in tables}
    noise = {one: np.full(len(wanted[one]), deviations[one == (0, 1)]) for one in tables}
    return Given(cells, PASSES, wanted, noise, {}, None)


@pytest.mark.parametrize(
    ("counts", "deviations", "expected"),
    [
        ((90, 100, -4, -6), (2, 1), 98),  # (90/4 + 100/1)/(1/4 + 1/1)
        ((90, 100, -4, -6), (1, 2), 92),
        ((250, 100, 156, -6), (4, 2), 250 + 6 * 16 / (16 + 2 * 4)),  # two large numbers, of four times the variance in all
        ((110, 100, 4, 6), (2, 1), 110),  # no contradiction
        ((90, 100, -4, -6), (0, 1), 90),  # public
        ((-3, 2, 1, -6), (2, 1), -3),  # no large number
    ],
)
def test_a_count_that_is_less_than_the_large_numbers_in_it_is_raised_towards_their_sum(counts, deviations, expected):
    found = fitting._reconciled(alone(counts, deviations))
    assert found[0,] == pytest.approx(expected)
    assert found[()] == counts[0]  # of all persons: they would be too many in every sum


def test_cells_are_those_where_the_wider_area_has_somebody():
    there = np.array([[[True, False], [False, False]], [[True, False], [False, True]]])
    cells = LiveCells.within(SIZES, TABLES, (0, 1), there, np.array([0, 1]))
    values = np.arange(8).reshape(2, 2, 2)
    assert cells.of((0, 1), values).tolist() == [0, 4, 7]
    assert cells.of((0,), values.sum(axis=2)).tolist() == [1, 9, 13]
    assert cells.of_areas((0,), np.array([5.0, 6.0])).tolist() == [5, 6, 6]
    assert cells.places((0, 1), (0,)).tolist() == [0, 1, 2]
    assert cells.places((0, 1), ()).tolist() == [0, 1, 1]
    assert cells.wide((0,)).tolist() == [0, 2, 3]
    assert cells.spread((0, 1), np.array([1, 2, 3])).tolist() == [[[1, 0], [0, 0]], [[2, 0], [0, 3]]]
