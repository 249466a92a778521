"""Cells that follow from public sums and margins, against all tables of small numbers that have these."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.statistics.implied_cells import implied_cells
from discreet.statistics.public_totals import PublicSum

SHAPE = (2, 3)
MOST = 3


def total(cells, value, factors=None):
    return PublicSum(np.array(cells), None if factors is None else np.array(factors), value)


CASES = {
    "the last of a sum": ([total([0], 1), total([0, 4], 3)], {}),
    "a factor": ([total([1], 2), total([1, 5], 8, [1, 3])], {}),
    "a margin": ([total([2], 0)], {(1,): np.array([2, 3, 3])}),
    "one cell after another": (
        [total([0], 1), total([1], 1), total([3], 2)],
        {(0,): np.array([3, 4]), (1,): np.array([3, 3, 1])},
    ),
    "two unknown ones": ([total([0], 1), total([0, 1, 2], 4)], {(0,): np.array([4, 3])}),
    "nothing": ([total([0, 1], 2)], {}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_told_is_so_in_every_table_that_has_the_sums(case):
    sums, margins = CASES[case]
    told = {int(one.cells[0]): one.total for one in implied_cells(SHAPE, {(0, 1): sums}, margins)[0, 1]}
    given = {int(one.cells[0]) for one in sums if len(one.cells) == 1}
    possible = []
    for cells in product(range(MOST + 1), repeat=6):
        flat = np.array(cells)
        table = flat.reshape(SHAPE)
        fits = all((flat[one.cells] * (1 if one.factors is None else one.factors)).sum() == one.total for one in sums)
        fits = fits and all((table.sum(axis=1 - axes[0]) == counts).all() for axes, counts in margins.items())
        if fits:
            possible.append(cells)
    assert possible
    determined = {place: own[0] for place, own in enumerate(zip(*possible, strict=True)) if len(set(own)) == 1}
    assert told == {place: value for place, value in determined.items() if place not in given}
    assert (case in {"nothing", "two unknown ones"}) == (not told)


def test_a_table_of_other_order_and_a_margin_that_is_asked_for_are_seen():
    """Table (1, 0): its margin over 1 follows where all cells of it are public."""
    sums = {(1, 0): [total([0], 1), total([1], 2)], (1,): []}
    found = implied_cells((2, 3), sums, {})
    assert [(int(one.cells[0]), one.total) for one in found[1,]] == [(0, 3)]
    sums = {(1, 0): [total([0], 1)], (1,): [total([0], 3)]}
    assert [(int(one.cells[0]), one.total) for one in implied_cells((2, 3), sums, {})[1, 0]] == [(1, 2)]
