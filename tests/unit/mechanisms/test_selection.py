"""The tree of choices: where every quantile stands, and how far the extremes keep away from the ends of the data."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log

import numpy as np
import pytest

import discreet as dp
from discreet.mechanisms import quantile_choice as selection
from discreet.mechanisms._runs import Node, _wide
from discreet.mechanisms.quantile_choice import ExponentialQuantiles, _nodes, quantiles_change
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote

ENDS = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1))


def test_the_extremes_keep_away_from_the_ends_and_others_do_not() -> None:
    nodes = {node.place: node for node in _nodes(ExponentialQuantiles(1000, 1, ENDS, Fraction(1, 2)))}
    away = ceil(4 * log(1000) / 0.5)
    assert [nodes[place].end for place in range(4)] == [away, 0, 0, away]
    assert [(nodes[place].over, nodes[place].unit) for place in range(4)] == [(0, 2), (1, 2), (1, 2), (2, 2)]


def test_every_quantile_is_relative_to_its_part_and_chosen_once() -> None:
    at = tuple(Fraction(k, 10) for k in (1, 2, 5, 6, 9))
    whole = {(0, 5): (Fraction(0), Fraction(1))}
    seen = []
    for node in _nodes(ExponentialQuantiles(50, 1, at, Fraction(1))):
        low, high = whole.pop((node.first, node.last))
        assert low + Fraction(node.over, node.unit) * (high - low) == at[node.place]
        assert node.end == 0
        whole[node.first, node.place] = (low, at[node.place])
        whole[node.place + 1, node.last] = (at[node.place], high)
        seen.append(node.place)
    assert sorted(seen) == [0, 1, 2, 3, 4]
    assert all(first == last for first, last in whole)


def test_a_tiny_range_keeps_a_bounded_distance() -> None:
    (node,) = _nodes(ExponentialQuantiles(1000, 1, (Fraction(0),), Fraction(1, 10**30)))
    assert node.end == 2**40


def test_the_deviation_of_a_rank_is_inverse_to_the_range() -> None:
    assert ExponentialQuantiles(10, 1, ENDS, Fraction(1, 4)).variance() == 32
    assert ExponentialQuantiles(10, 1, ENDS, Fraction(2)).variance() == 0.5


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_cells_that_are_looked_at_in_parts_get_their_own_records(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_CHUNK", chunk)
    # Nine records at one code of each cell, and one far away: at such a range the median is certain.
    cells = {0: 17, 1: 3, 2: 90, 4: 41, 5: 5, 6: 66}
    values = np.array([row for cell, code in cells.items() for row in sorted([(cell, code, 9), (cell, 99, 1)])])
    law = ExponentialQuantiles(100, 7, (Fraction(1, 2),), Fraction(1000))
    found = law.apply(values, system_bits()).tolist()
    assert {cell: found[cell] for cell in cells} == cells
    assert 0 <= found[3] < 100


def test_four_million_codes_are_chosen_from_and_of_more_a_tree_is_asked() -> None:
    def law(codes: int) -> object:
        table = dp.Table(dp.Schema(x=dp.Number(0, codes, step=1)), dp.ReplaceOne(rows=100))
        return quote(table.agg(dp.median("x", nulls="skip")), dp.PureDP(1)).measured[0].law

    assert isinstance(law(2**22 - 1), ExponentialQuantiles)
    assert not isinstance(law(2**22), ExponentialQuantiles)


def test_a_replaced_record_changes_one_choice_twice_or_two_choices_once() -> None:
    # Three quantiles are chosen in two levels.
    for skipped in (False, True):
        change = quantiles_change(3, cells=5, skipped=skipped, neighbours=dp.ReplaceOne(rows=10))
        assert change.within == Sensitivity(4, 8)
        assert change.across == Sensitivity(4, 4)
        assert change.leaves == (Sensitivity(2, 2) if skipped else Sensitivity(0, 0))
    assert quantiles_change(3, cells=1, skipped=False, neighbours=dp.ReplaceOne(rows=10)).across == Sensitivity(0, 0)
    added = quantiles_change(3, cells=5, skipped=False, neighbours=dp.AddRemove())
    assert added.within == added.across == added.leaves == Sensitivity(2, 2)


def test_counts_leave_64_bits_only_where_the_unit_is_large() -> None:
    counts = np.array([1, 2])
    for unit, kind in ((2, np.int64), (2**20 - 1, np.int64), (2**20, np.object_)):
        assert _wide(counts, Node(0, 1, 0, 1, unit, 0, 0)).dtype == kind
