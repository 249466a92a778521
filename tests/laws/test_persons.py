"""U1 and U2 of docs/proofs/persons.md: no person changes an answer by more than its norms, over all small tables.

The meaning of a request is written down a second time here, in a few lines of Python over rows. The reference engine must
equal it, and every mutant of it must break a bound or an equality.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from math import isqrt

import numpy as np
import pytest

import discreet as dp
from discreet.cube import weights
from discreet.cube.queries import PersonSum
from discreet.cube.weights import WEIGHTINGS, norms_of, unit_of, weight
from discreet.domain.bounds import MOST_GROUPS
from discreet.engines import reference_persons
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.errors import InternalError
from discreet.mechanisms import Sensitivity
from discreet.plan.plan import Plan
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.quotes.allocate import changes_of, quote
from discreet.quotes.persons import counting_of, one_person

Row = tuple[object, str]

SHOPS = ("a", "b", "c")
SCHEMA = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(SHOPS))
TABLE = dp.Table(SCHEMA, dp.AddRemove(person="visitor"))
HEADER = {"visitor": ColumnType("integer", "BIGINT"), "shop": ColumnType("text", "VARCHAR")}
KINDS: list[Row] = [(person, shop) for person in (None, 1, 2) for shop in SHOPS]
TABLES = [table for size in range(5) for table in combinations_with_replacement(KINDS, size)]
BOUNDS = [*product((1, 2, 3), (1, 2))]


def asked(groups: int, rows: int) -> Plan:
    return TABLE.bound(groups=groups, rows=rows).group_by("shop").agg(dp.persons(), dp.count())


def totals(plan: Plan, rows: Sequence[Row]) -> np.ndarray:
    """The answers of the reference, dense: for each cell persons by each weighting, then rows by each."""
    scan = plan.layout.persons
    assert scan is not None
    cube = ReferenceEngine(HEADER, rows).add_persons(scan)
    dense = np.zeros((scan.cells, 2 * len(scan.numbers)), dtype=np.int64)
    dense[cube.keys[:, 0]] = cube.sums
    return dense


def written_again(rows: Sequence[Row], groups: int, most: int) -> np.ndarray:
    """The same, from the words of the proof."""
    found = np.zeros((len(SHOPS) + 1, 4), dtype=np.int64)
    counts = Counter((person, SHOPS.index(shop)) for person, shop in rows if person is not None)
    for person in {person for person, _ in counts}:
        cells = {cell: n for (own, cell), n in counts.items() if own == person}
        larger, full = max(len(cells), groups), groups >= len(found)
        units = (1, 1) if full else (2**10, 2**20)
        by = (isqrt(units[0] ** 2 * groups // larger), units[1] * groups // larger)
        for cell, n in cells.items():
            found[cell] += [*by, *(w * min(n, most) for w in by)]
    return found


def queries(plan: Plan) -> list[PersonSum]:
    """One for each column of the answers."""
    counting = [counting_of(plan, one) for one in WEIGHTINGS]
    return [*(one.persons() for one in counting), *(one.counted_rows() for one in counting)]


def removals(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The table without each of its persons."""
    for person in {person for person, _ in rows if person is not None}:
        yield [row for row in rows if row[0] != person]


@pytest.mark.parametrize(("groups", "rows"), BOUNDS)
def test_no_person_of_any_small_table_changes_more_than_the_norms_and_some_person_as_much(groups: int, rows: int) -> None:
    plan, largest = asked(groups, rows), np.zeros((4, 2), dtype=np.int64)
    for table in TABLES:
        whole = totals(plan, table)
        assert (whole == written_again(table, groups, rows)).all()
        for other in removals(table):
            moved = np.abs(whole - totals(plan, other))
            largest = np.maximum(largest, np.stack([moved.sum(axis=0), (moved**2).sum(axis=0)], axis=1))
    for column, query in enumerate(queries(plan)):
        weighting = query.weighed.weighting
        norms = norms_of(weighting, groups, len(SHOPS) + 1, query.most)
        assert (query.low, query.high) == (1, 1 if column < 2 else rows)
        assert largest[column, 0] <= norms.l1
        assert largest[column, 1] <= norms.l2_squared
        if groups * rows <= 4:  # the tables have four rows
            attained = 1 if weighting == "squares" else 0
            assert largest[column, attained] == (norms.l1, norms.l2_squared)[attained]


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("groups", [1, 2, 3, 8, 100, 4096])
@pytest.mark.parametrize("cells", [1, 2, 9, 101, 5000])
def test_the_norms_are_within_those_of_the_theorem(weighting: weights.Weighting, groups: int, cells: int) -> None:
    unit, most = unit_of(weighting, groups, cells), 7
    found = norms_of(weighting, groups, cells, most)
    fully = min(groups, cells, MOST_GROUPS)
    assert found.l2_squared <= unit**2 * fully * most**2
    if weighting == "sums":
        assert found.l1 == unit * fully * most
    else:
        assert found.l2_squared == unit**2 * fully * most**2
    assert all(weight(weighting, g, groups, cells) >= weight(weighting, g + 1, groups, cells) for g in range(1, cells))
    assert weight(weighting, MOST_GROUPS + 1, groups, 10**4) == 0


def test_a_weight_that_is_rounded_up_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "isqrt", lambda number: isqrt(number) + 1)
    with pytest.raises(AssertionError):
        test_the_norms_are_within_those_of_the_theorem("squares", 8, 101)


def test_null_ids_that_are_kept_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_persons, "identity", lambda value: value or "nobody")
    with pytest.raises(AssertionError):
        test_no_person_of_any_small_table_changes_more_than_the_norms_and_some_person_as_much(1, 1)


def test_groups_that_are_counted_for_all_persons_together_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank that ignores the person: everybody counts as somebody in all cells that anybody is in."""
    literal = reference_persons.Counter

    class Together(literal):  # type: ignore[misc, valid-type]
        def __getitem__(self, key: object) -> int:
            return sum(self.values()) if self and not isinstance(key, tuple) else super().__getitem__(key)

    monkeypatch.setattr(reference_persons, "Counter", Together)
    with pytest.raises(AssertionError):
        test_no_person_of_any_small_table_changes_more_than_the_norms_and_some_person_as_much(1, 1)


def test_rows_of_a_person_in_one_label_of_the_request_are_in_one_group() -> None:
    """A bound on values that bins merge afterwards would count ten groups here, and give each a tenth of the weight."""
    schema = dp.Schema(visitor=dp.Identifier(), age=dp.Number(0, 99), shop=dp.Category(SHOPS))
    table = dp.Table(schema, dp.AddRemove(person="visitor"))
    header = {**HEADER, "age": ColumnType("integer", "BIGINT")}
    rows = [(1, shop, age) for age in range(10, 20) for shop in SHOPS]
    engine = ReferenceEngine({name: header[name] for name in ("visitor", "shop", "age")}, rows)
    merged = table.bound(groups=1, rows=50).group_by(dp.bins("age", [0, 50, 99])).agg(dp.persons(), dp.count())
    left_out = table.where({"shop": ["a"]}).bound(groups=1, rows=50).group_by("shop").agg(dp.persons(), dp.count())
    for plan, cell, n in ((merged, 0, 30), (left_out, 0, 10)):
        scan = plan.layout.persons
        assert scan is not None
        cube = engine.add_persons(scan)
        assert cube.keys.tolist() == [[cell, 0]]
        assert cube.sums.tolist() == [[2**10, 2**20, n * 2**10, n * 2**20]]


def test_a_null_group_that_is_not_printed_takes_no_weight() -> None:
    rows: list[Row] = [(1, "a"), (1, "elsewhere")]
    shown = TABLE.bound(groups=1).group_by("shop").agg(dp.persons())
    dropped = TABLE.bound(groups=1).group_by("shop", nulls="drop").agg(dp.persons())
    assert totals(shown, rows)[:, 1].tolist() == [2**19, 0, 0, 2**19]
    assert totals(dropped, rows)[:, 1].tolist() == [2**20, 0, 0, 0]


@pytest.mark.parametrize(("spend", "weighting"), [(PureDP(1), "sums"), (ZCDP(1), "squares"), (GDP(1), "squares")])
def test_a_quote_is_calibrated_to_the_norms_of_its_weights(spend: dp.PureDP, weighting: weights.Weighting) -> None:
    quoted = quote(asked(2, 3), spend)
    counting = counting_of(quoted.plan, weighting)
    assert quoted.joint == 1
    for one, change, most in zip(quoted.measured, changes_of(quoted), (1, 3), strict=True):
        norms = norms_of(weighting, 2, 4, most)
        assert one.query == (counting.persons() if most == 1 else counting.counted_rows())
        assert one.sensitivity == change.leaves == Sensitivity(norms.l1, norms.l2_squared)


def test_noise_of_either_weights_is_compared_in_persons() -> None:
    """One group: Laplace noise has the least error, though its weights are in finer units than those of Gaussian noise."""
    one, _ = quote(asked(1, 1), dp.ApproxDP(1, "1e-6")).measured
    assert isinstance(one.query, PersonSum)
    assert one.query.weighed.weighting == "sums"


def test_persons_without_groups_are_counted_as_rows_are() -> None:
    quoted = quote(TABLE.agg(dp.persons()), PureDP(1))
    assert quoted.measured[0].sensitivity == Sensitivity(1, 1)
    rows = quote(dp.Table(dp.Schema(shop=dp.Category(SHOPS)), dp.AddRemove()).agg(dp.count()), PureDP(1))
    assert quoted.measured[0].law == rows.measured[0].law


def test_a_query_of_rows_has_no_change_for_a_person() -> None:
    person = one_person(dp.AddRemove(person="visitor"))
    with pytest.raises(InternalError):
        person.adds(0, 1, at_once=1, parts=1, nullable=False)
    with pytest.raises(InternalError):
        person.spreads((1, 1), lambda _: (2, 2), parts=2, nullable=False)
    with pytest.raises(InternalError):
        person.replaces(1)
    with pytest.raises(InternalError):
        person.chooses(1, (), nullable=False)
    with pytest.raises(InternalError):
        person.surrounds(1, (), nullable=False)
