"""U3 of docs/proofs/persons.md: no person changes a total of values by more than its norms, over all small tables.

The meaning of a sum for each person is written down a second time, from the words of the proof. The reference engine must
equal it, and each mutant of either must break a bound or an equality.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import isqrt

import numpy as np
import pytest

import discreet as dp
from discreet.cube.person_numbers import Total
from discreet.cube.queries import PersonSum
from discreet.cube.weights import norms_of
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms import Sensitivity
from discreet.noise.bits import system_bits
from discreet.privacy import ZCDP, PureDP
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers, run_scans
from discreet.statistics.person_counting import Centred, Counting, Taken

from .visits import HEADER, SHOPS, TABLE

Row = tuple[object, str, object]
Bounds = tuple[int, int]

KINDS: list[Row] = [*product((None, 1, 2), SHOPS, (None, -2, 1, 2))]
TABLES = [table for size in range(3) for table in combinations_with_replacement(KINDS, size)]
THREE = [*combinations_with_replacement(KINDS, 3)]
CASES = [(1, (0, 2)), (1, (-4, 2)), (2, (-2, 1)), (3, (0, 2))]


def asked(groups: int, bounds: Bounds, spend: dp.PureDP | dp.ZCDP) -> Quote:
    table = TABLE.bound(groups=groups).group_by("shop")
    return quote(table.agg(dp.sum("amount", per_person=bounds), dp.mean("amount", per_person=bounds)), spend)


def answers(quoted: Quote, rows: Sequence[Row]) -> list[list[int]]:
    found = exact_answers(quoted, run_scans(ReferenceEngine(HEADER, rows), quoted.plan.layout), system_bits())
    return [one.tolist() for one in found]


def meant(quoted: Quote, rows: Sequence[Row], groups: int, bounds: Bounds) -> list[list[int]]:
    """The same, from the words of the proof."""
    own: dict[object, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for person, shop, amount in rows:
        if person is not None:
            own[person][shop] += [] if amount is None else [int(str(amount))]
    found = [[0] * (len(SHOPS) + 1) for _ in quoted.measured]
    for cells in own.values():
        for shop, values in cells.items():
            total = min(max(sum(values), bounds[0]), bounds[1])
            for place, one in enumerate(quoted.measured):
                if not values:
                    continue
                assert isinstance(one.query, PersonSum)
                weighed, counted = one.query.weighed, one.query.counted
                added = 1 if counted.startswith("persons") else 2 * total - sum(bounds) if "middle" in counted else total
                larger = max(len(cells), groups)
                unit = 1 if groups >= 3 else weighed.unit
                squares = weighed.weighting == "squares"
                weight = isqrt(unit**2 * groups // larger) if squares else unit * groups // larger
                found[place][SHOPS.index(shop)] += weight * added
    return found


def check(groups: int, bounds: Bounds, spend: dp.PureDP | dp.ZCDP, tables: Sequence[Sequence[Row]] = TABLES) -> None:
    quoted, largest = asked(groups, bounds, spend), defaultdict[int, list[int]](lambda: [0, 0])
    for table in tables:
        whole = answers(quoted, table)
        assert whole == meant(quoted, table, groups, bounds)
        for person in {row[0] for row in table} - {None}:
            other = answers(quoted, [row for row in table if row[0] != person])
            for place, (left, right) in enumerate(zip(whole, other, strict=True)):
                moved = [abs(a - b) for a, b in zip(left, right, strict=True)]
                largest[place] = [max(largest[place][0], sum(moved)), max(largest[place][1], sum(x * x for x in moved))]
    for place, one in enumerate(quoted.measured):
        assert largest[place][0] <= one.sensitivity.l1
        assert largest[place][1] <= one.sensitivity.l2_squared
        assert (
            groups == 3
            or largest[place][isinstance(spend, ZCDP)]
            == (
                one.sensitivity.l1,
                one.sensitivity.l2_squared,
            )[isinstance(spend, ZCDP)]
        )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("spend", [PureDP(1), ZCDP(1)])
@pytest.mark.parametrize(("groups", "bounds"), CASES)
def test_no_person_changes_a_total_by_more_than_its_norms_and_some_person_by_as_much(
    groups: int, bounds: Bounds, spend: dp.PureDP | dp.ZCDP
) -> None:
    check(groups, bounds, spend)


@pytest.mark.slow
@pytest.mark.parametrize("spend", [PureDP(1), ZCDP(1)])
@pytest.mark.parametrize(("groups", "bounds"), CASES)
def test_tables_of_three_rows(groups: int, bounds: Bounds, spend: dp.PureDP | dp.ZCDP) -> None:
    check(groups, bounds, spend, THREE)


def unclamped(value: Total, known: int, codes: int) -> int:
    return value.step * codes + value.origin * known


def clamped_row_by_row(value: Total, known: int, codes: int) -> int:
    """The origin is added once for a person, not once for a value."""
    return min(max(value.step * codes + value.origin, value.low), value.high)


@pytest.mark.parametrize("wrong", [unclamped, clamped_row_by_row])
def test_totals_that_are_bounded_otherwise_are_noticed(wrong: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Total, "clamped", wrong)
    with pytest.raises(AssertionError):
        check(1, (0, 2), PureDP(1))


def test_a_norm_of_half_of_the_range_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A centred total reaches from one end of the range to the other in steps of half."""
    centred = Counting.centred

    def less(counting: Counting, taken: Taken, one: Centred) -> PersonSum:
        query = centred(counting, taken, one)
        return replace(query, low=query.low + 1, high=query.high - 1)

    monkeypatch.setattr(Counting, "centred", less)
    with pytest.raises(AssertionError):
        check(1, (0, 2), PureDP(1))


def test_the_queries_of_a_request_and_their_norms() -> None:
    total, known, centred = asked(2, (-2, 1), ZCDP(1)).measured
    assert [one.query.unit for one in (total, known, centred) if isinstance(one.query, PersonSum)] == [2**10] * 3
    for one, most in ((total, 2), (known, 1), (centred, 3)):
        norms = norms_of("squares", 2, 3, most)
        assert one.sensitivity == Sensitivity(norms.l1, norms.l2_squared)


def test_sums_of_all_persons_need_no_bound_of_groups() -> None:
    (one,) = quote(TABLE.agg(dp.sum("amount", per_person=(0, 3))), PureDP(1)).measured
    assert one.sensitivity == Sensitivity(3, 9)
    (two,) = quote(TABLE.agg(dp.persons()), PureDP(1)).measured
    assert two.sensitivity == Sensitivity(1, 1)


def test_totals_far_beyond_64_bits_are_exact() -> None:
    """Bounds of nearly 2**40 steps, and weights of 2**20."""
    schema = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(SHOPS), amount=dp.Number(-(2**39), 2**39))
    table = dp.Table(schema, dp.AddRemove(person="visitor")).bound(groups=1).group_by("shop")
    bounds = (-(2**40) + 1, 2**40 - 1)
    quoted = quote(table.agg(dp.sum("amount", per_person=bounds)), PureDP(10**6))
    rows = [(person, "a", -(2**39)) for person in range(50) for _ in range(3)]
    (found,) = exact_answers(quoted, run_scans(ReferenceEngine(HEADER, rows), quoted.plan.layout), system_bits())
    assert found.tolist() == [-50 * 2**20 * (2**40 - 1), 0, 0]
    assert found.dtype == np.object_


def test_values_between_steps_are_added_exactly() -> None:
    """A column from 1/2 in steps of 3/4 has totals on the grid of 1/4."""
    schema = dp.Schema(visitor=dp.Identifier(), amount=dp.Number("0.5", "3.5", step="0.75"))
    table = dp.Table(schema, dp.AddRemove(person="visitor"))
    quoted = quote(table.agg(dp.sum("amount", per_person=("0.25", "4.25"))), PureDP(1))
    header = {"visitor": HEADER["visitor"], "amount": ColumnType("float", "DOUBLE")}
    rows = [(1, 0.5), (1, 1.25), (2, 3.5), (2, 3.5), (3, None), (None, 2.0)]
    (found,) = exact_answers(quoted, run_scans(ReferenceEngine(header, rows), quoted.plan.layout), system_bits())
    assert Fraction(int(found[0]), 4) == Fraction("1.75") + Fraction("4.25")
