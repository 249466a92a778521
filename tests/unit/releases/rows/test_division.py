"""Whole numbers near wanted ones, against every possible choice of small cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.mutants import Mutant

from discreet.releases.rows import division
from discreet.releases.rows.division import Classes, divide, divide_in, is_finer, shift

numbers = st.integers(0, 4)


@given(st.lists(st.tuples(st.integers(-200, 400), numbers, numbers), min_size=1, max_size=4), st.integers(0, 9))
def test_numbers_within_ranges_have_the_sum_and_are_the_nearest(cells, total):
    wanted, low = (np.array(one) for one in (*zip(*cells, strict=True),)[:2])
    high = low + np.array([more for _, _, more in cells])
    found = divide(wanted, total, low, high)
    choices = [one for one in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))) if sum(one) == total]
    assert (found is None) == (not choices)
    if found is not None:
        assert found.sum() == total
        assert ((low <= found) & (found <= high)).all()
        assert distance(found, wanted) <= min(distance(np.array(one), wanted) for one in choices) + 2 * 64 * 64


def distance(found, wanted):
    return int(((64 * found - wanted) ** 2).sum())


def test_large_numbers_are_divided_too():
    wanted = np.array([64 * 10**9, -64 * 10**8, 5])
    found = divide(wanted, 10**9, np.zeros(3, int), np.full(3, 10**10))
    assert found.tolist() == [10**9, 0, 0]


def chain(*labels, totals=None):
    found = [Classes(np.array(one), None) for one in labels]
    return [Classes(found[0].labels, np.array(totals)), *found[1:]]


def test_classes_inside_classes_have_their_totals():
    areas = chain([0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3], totals=[10])
    wanted = 64 * np.array([1, 2, 3, 2])
    zero, ten = np.zeros(4, int), np.full(4, 10)
    found = divide_in(areas, wanted, zero, ten)
    assert (found[:2].sum(), found[2:].sum()) == (4, 6)
    assert np.abs(64 * found - wanted).max() <= 64
    areas[1] = Classes(areas[1].labels, np.array([7, 3]))
    found = divide_in(areas, wanted, zero, ten)
    assert (found[:2].sum(), found[2:].sum()) == (7, 3)
    areas[1] = Classes(areas[1].labels, np.array([7, 4]))
    assert divide_in(areas, wanted, zero, ten) is None
    assert is_finer(areas[2], areas[1])
    assert not is_finer(areas[1], areas[2])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-4, 9)), min_size=2, max_size=5, unique_by=lambda one: one[1]),
    st.integers(-12, 12),
)
def test_rows_move_between_cells_until_the_sum_is_right(cells, missing):
    """Where one or two moves of rows would do, and many more cases, the sum is reached; rows never are lost."""
    cells = sorted(cells, key=lambda one: one[1])
    counts, values = np.array([one for one, _ in cells]), np.array([one for _, one in cells], dtype=object)
    before, low, high = counts.copy(), np.zeros(len(cells), int), np.full(len(cells), 40)
    left = shift(counts, low, high, values, missing)
    assert counts.sum() == before.sum()
    assert (counts >= 0).all()
    assert ((counts - before) * values).sum() == missing - left
    gains = {values[j] - values[i] for i, j in product(range(len(cells)), repeat=2) if i != j and before[i]}
    assert left == 0 or missing not in gains


def test_a_wrong_division_is_noticed(monkeypatch):
    Mutant(division, "divide", "moved(middle).sum() <= total", "moved(middle).sum() < total - 3").plant(monkeypatch)
    found = division.divide(64 * np.array([5, 5, 5]), 15, np.zeros(3, int), np.full(3, 20))
    assert found.sum() != 15


@pytest.mark.parametrize("values", [[0, 1, 2, 3], [0, 3, 5, 11], [-2, 7, 8, 100]])
def test_the_shape_of_a_table_stays_about_as_it_was(values):
    counts = np.array([100, 200, 300, 400])
    shifted = counts.copy()
    left = shift(shifted, np.zeros(4, int), np.full(4, 1000), np.array(values, dtype=object), 150)
    assert left == 0
    assert np.abs(shifted - counts).max() <= 160
