"""Cells in which nobody can be are made 0: exactly, by as little as possible, and all tables still agree."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.statistics import emptied as module
from discreet.statistics.emptied import can_move, cells_without_rows, emptied, linear_map, moves_of, scale_of

SIZES = (2, 3, 4)
WHOLE = (0, 1, 2)
TABLES = [one for many in range(4) for one in combinations(WHOLE, many)]


def cell(axes, *places):
    return int(np.ravel_multi_index(places, [SIZES[axis] for axis in axes]))


def complete(pairs):
    """These cells, and those of the whole table that are in them or follow from them."""
    empty = np.zeros(SIZES, dtype=bool)
    for axes, cells in pairs.items():
        own = np.zeros([SIZES[axis] for axis in axes], dtype=bool)
        own.ravel()[cells] = True
        empty |= own.reshape([SIZES[axis] if axis in axes else 1 for axis in WHOLE])
    sets = [(axes, empty.all(axis=tuple(one for one in WHOLE if one not in axes))) for axes in TABLES if len(axes) > 1]
    return tuple((axes, tuple(np.flatnonzero(one).tolist())) for axes, one in sets if one.any())


CASES = {
    "a pair": complete({(0, 1): [cell((0, 1), 1, 2)]}),
    "several of a pair": complete({(1, 2): [cell((1, 2), 0, 0), cell((1, 2), 0, 1), cell((1, 2), 2, 3)]}),
    "two pairs": complete({(0, 1): [cell((0, 1), 0, 0)], (1, 2): [cell((1, 2), 2, 3)]}),
    "single cells": complete({WHOLE: [cell(WHOLE, 0, 0, 0), cell(WHOLE, 1, 2, 3), cell(WHOLE, 0, 1, 2)]}),
    "a pair and single cells": complete({(0, 2): [cell((0, 2), 1, 1)], WHOLE: [cell(WHOLE, 0, 0, 0)]}),
    "pairs that decide others": complete({(0, 1): [cell((0, 1), 0, 0), cell((0, 1), 0, 1)]}),
}


def numbers(seed, areas=3):
    return np.random.default_rng(seed).integers(-(10**6), 10**6, (areas, *SIZES))


def margin(values, table):
    return values.sum(axis=tuple(1 + axis for axis in WHOLE if axis not in table))


def check(empty, values):
    whole, scale = emptied(SIZES, empty, WHOLE, values), scale_of(SIZES, empty, WHOLE)
    for table in TABLES:
        own, mine = emptied(SIZES, empty, table, margin(values, table)), scale_of(SIZES, empty, table)
        assert (margin(whole.astype(object), table) * mine == own.astype(object) * scale).all(), "tables agree"
        nobody = cells_without_rows(SIZES, empty, table)
        assert not own[:, nobody].any(), "nobody can be there"
        assert nobody.sum() == len(dict(empty).get(table, ())), "all of these are 0"
        parts = emptied(SIZES, empty, table, margin(values[:1], table)) + emptied(
            SIZES, empty, table, margin(values[1:2], table)
        )
        both = emptied(SIZES, empty, table, margin(values[:1] + values[1:2], table))
        assert (parts.astype(object) == both.astype(object)).all(), "areas add up"
        if not any({*axes} <= {*table} for axes, _ in empty):
            assert (own == margin(values, table)).all(), "a table of fewer columns does not move"


@pytest.mark.parametrize("case", CASES)
def test_cells_are_0_and_tables_agree(case):
    assert [one.axes for one in moves_of(SIZES, CASES[case])] == [axes for axes, _ in CASES[case]]
    for seed in range(5):
        check(CASES[case], numbers(seed))


@pytest.mark.parametrize("case", CASES)
def test_what_is_0_there_already_does_not_move(case):
    """So true counts stay what they are, and moved estimates are unbiased."""
    empty, values = CASES[case], np.abs(numbers(7))
    values[:, cells_without_rows(SIZES, empty, WHOLE)] = 0
    for table in TABLES:
        own = margin(values, table)
        assert (emptied(SIZES, empty, table, own) == own.astype(object) * scale_of(SIZES, empty, table)).all()


def test_the_move_is_the_least_one_within_the_effect():
    """Among all tables with the same margins and zeros it is the nearest one: least squares by a dense solver."""
    empty = CASES["single cells"]
    ((axes, cells),) = empty
    values = numbers(3, areas=1)[0].astype(float)
    found = emptied(SIZES, empty, axes, values[np.newaxis].astype(np.int64))[0] / scale_of(SIZES, empty, axes)
    rows = [np.eye(24)[one] for one in cells]
    sums = [margin(np.eye(24).reshape(24, *SIZES), table).reshape(24, -1).T for table in TABLES if len(table) == 2]
    matrix = np.concatenate([rows, *sums])
    wanted = np.concatenate([np.zeros(len(cells)), *(one @ values.ravel() for one in sums)])
    nearest = values.ravel() + np.linalg.pinv(matrix) @ (wanted - matrix @ values.ravel())
    assert found.astype(float).ravel() == pytest.approx(nearest, abs=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_the_matrix_is_the_linear_map(case):
    for table in TABLES:
        values = margin(numbers(4), table)
        own = emptied(SIZES, CASES[case], table, values).reshape(3, -1) / scale_of(SIZES, CASES[case], table)
        assert values.reshape(3, -1) @ linear_map(SIZES, CASES[case], table).T == pytest.approx(own.astype(float), rel=1e-9)


def test_axes_of_a_table_come_in_any_order():
    empty, values = CASES["a pair and single cells"], numbers(5)
    turned = emptied(SIZES, empty, (2, 0, 1), values.transpose(0, 3, 1, 2))
    assert (turned == emptied(SIZES, empty, WHOLE, values).transpose(0, 3, 1, 2)).all()
    nobody = cells_without_rows(SIZES, empty, (2, 0, 1))
    assert (nobody == cells_without_rows(SIZES, empty, WHOLE).transpose(2, 0, 1)).all()


def test_cells_for_which_smaller_tables_would_have_to_move_are_left_as_they_are():
    """Who has the first level of one has the first of the other, and none else: two margins would be equal."""
    empty = (((0, 1), (cell((0, 1), 0, 1), cell((0, 1), 0, 2), cell((0, 1), 1, 0))),)
    assert moves_of(SIZES, empty) == ()
    assert not cells_without_rows(SIZES, empty, (0, 1)).any()
    values = margin(numbers(1), (0, 1))
    assert (emptied(SIZES, empty, (0, 1), values) == values).all()


def test_tables_of_too_many_cells_do_not_move():
    empty = CASES["a pair"]
    assert can_move(SIZES, [WHOLE], empty) == empty
    assert can_move((2, 3, 1000), [WHOLE], empty[:1]) == ()
    assert can_move((2, 3, 1000), [(0, 1)], empty[:1]) == empty[:1]


def test_numbers_beyond_64_bits_are_exact():
    empty, values = CASES["single cells"], numbers(6)
    large = emptied(SIZES, empty, WHOLE, values.astype(object) * 2**60)
    assert (large == emptied(SIZES, empty, WHOLE, values).astype(object) * 2**60).all()


def caught():
    test_cells_are_0_and_tables_agree("a pair")
    test_cells_for_which_smaller_tables_would_have_to_move_are_left_as_they_are()


def test_numbers_that_fill_64_bits_are_multiplied_in_parts(monkeypatch):
    """The same as with integers of Python, whatever number of bits fits at once."""
    empty = CASES["a pair and single cells"]
    values = np.random.default_rng(8).integers(-(2**58), 2**58, (40, *SIZES))
    exact = emptied(SIZES, empty, WHOLE, values.astype(object))
    for room in (60, 45, 30):
        monkeypatch.setattr(module, "_ROOM", room)
        assert (emptied(SIZES, empty, WHOLE, values) == exact).all()


MUTANTS = {
    "what is beside a table is forgotten": ("_outside", lambda *_: 1),
    "whether cells become 0 is not looked at": ("_empties", lambda *_: True),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants(mutant, monkeypatch):
    name, wrong = MUTANTS[mutant]
    monkeypatch.setattr(module, name, wrong)
    moves_of.cache_clear()
    try:
        with pytest.raises(AssertionError):
            caught()
    finally:
        moves_of.cache_clear()
