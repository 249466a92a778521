"""U6 of docs/proofs/persons.md: the tables of persons of neighbours differ in one row, over all small tables.

What is made of the rows of a person is written down a second time, from the words of the proof. The reference engine must
equal it, and whatever is asked of the table of persons is answered as of a table with these rows.
"""

from __future__ import annotations

import pickle
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.cube import person_rows as rows_of_persons
from discreet.domain.codes import NULL
from discreet.engines import reference, reference_persons
from discreet.engines.base import ColumnType, totals_of_persons
from discreet.engines.reference import ReferenceEngine
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import run_scans

from .visits import HEADER, TABLE

Row = tuple[object, str | None, object]

MADE: dict[str, Any] = {
    "visits": dp.rows(0, 2),
    "spent": dp.total("amount", -1, 3),
    "shops": dp.distinct("shop", most=1),
    "amounts": dp.distinct("amount", most=5),
    "last": dp.latest("amount"),
    "first": dp.earliest("amount"),
    "home": dp.only("shop"),
    "same": dp.only("amount"),
}
KINDS: list[Row] = [*product((None, 1, 2), ("a", "b", None), (None, -2, 1))]
FEW, THREE = ([[*combinations_with_replacement(KINDS, size)] for size in sizes] for sizes in (range(3), [3]))
TABLES = [table for tables in FEW for table in tables] + THREE[0][::12]
PERSONS = TABLE.per_person(**MADE)
FILTERED = TABLE.where({"amount": (-2, 1)}).clamp({"shop": ["b"]}).per_person(**MADE)
OF_KIND = {
    "visits": "integer",
    "spent": "integer",
    "shops": "integer",
    "amounts": "integer",
    "last": "integer",
    "first": "integer",
    "home": "text",
    "same": "integer",
}


def asked(table: dp.Table) -> Plan:
    """A request that uses every column."""
    return table.agg(*(dp.count(name) for name in MADE))


def persons(plan: Plan, rows: Sequence[Row]) -> Counter[tuple[int, ...]]:
    """The rows of the table of persons, as codes."""
    assert plan.layout.each is not None
    cube = totals_of_persons(ReferenceEngine(HEADER, rows), plan.layout.each)
    return Counter({tuple(key): int(n) for key, n in zip(cube.keys.tolist(), cube.rows.tolist(), strict=True)})


def made_of(rows: Sequence[tuple[str | None, int | None]]) -> list[Any]:
    """What becomes of the rows of one person, from the words of the proof: values, None for null."""
    shops, amounts = {shop for shop, _ in rows} - {None}, [amount for _, amount in rows if amount is not None]
    total = min(max(sum(amounts), -1), 3) if amounts else None
    return [
        min(len(rows), 2),
        total,
        min(len(shops), 1),
        len(set(amounts)),
        max(amounts, default=None),
        min(amounts, default=None),
        *(shops if len(shops) == 1 else [None]),
        amounts[0] if len(set(amounts)) == 1 else None,
    ]


def written_again(rows: Sequence[Row], *, filtered: bool) -> list[list[Any]]:
    """The rows of the table of persons."""
    own = defaultdict[object, list[tuple[str | None, int | None]]](list)
    for person, shop, amount in rows:
        number = None if amount is None else int(str(amount))
        if person is not None and not (filtered and (number is None or number > 1)):
            own[person].append((None if filtered and shop == "a" else shop, number))
    return [made_of(one) for one in own.values()]


def coded(rows: Sequence[Sequence[Any]], table: dp.Table) -> Counter[tuple[int, ...]]:
    """The same in codes of the schema."""
    columns = [table.schema[name] for name in MADE]
    found: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        found[tuple(NULL if v is None else one.code(v, "") for v, one in zip(row, columns, strict=True))] += 1
    return found


def check(tables: Sequence[Sequence[Row]] = TABLES) -> None:
    for table, filtered in ((PERSONS, False), (FILTERED, True)):
        plan = asked(table)
        for rows in tables:
            whole = persons(plan, rows)
            assert whole == coded(written_again(rows, filtered=filtered), table)
            for person in {row[0] for row in rows} - {None}:
                other = persons(plan, [row for row in rows if row[0] != person])
                assert not other - whole
                assert (whole - other).total() <= 1


def test_the_tables_of_persons_of_neighbours_differ_in_at_most_one_row_and_are_as_the_proof_says() -> None:
    check()


@pytest.mark.slow
def test_all_tables_of_three_rows() -> None:
    check(THREE[0])


def test_columns_are_known_never_to_be_null_where_no_rows_of_a_person_make_them_so() -> None:
    """A table of rows with the same columns may be a file with nulls: of it nothing is known."""
    for table, filtered in ((PERSONS, False), (FILTERED, True)):
        made = [row for rows in TABLES for row in written_again(rows, filtered=filtered)]
        never = {name for place, name in enumerate(MADE) if all(row[place] is not None for row in made)}
        known = {name for name in MADE if not asked(table).facts[name].nullable}
        assert known == {"visits", "shops", "amounts"} <= never
        assert filtered or known == never  # a condition on a column leaves no nulls in it either
        assert all(plain().agg(dp.count(name)).facts[name].nullable for name in MADE)
        assert pickle.loads(pickle.dumps(asked(table))).facts == asked(table).facts


def null_is_somebody(_literal: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value: value or "nobody"


def only_of_the_first(literal: Callable[..., Any]) -> Callable[..., Any]:
    """A tie that is broken by position."""

    def number(scan: Any, one: Any, rows: Any, *reads: Any) -> Any:
        return literal(scan, one, rows[:1] if one.how == "only" else rows, *reads)

    return number


def null_is_a_value(literal: Callable[..., Any]) -> Callable[..., Any]:
    def number(scan: Any, one: Any, rows: Any, *reads: Any) -> Any:
        found = literal(scan, one, rows, *reads)
        return found + 1 if one.how == "distinct" and any(row["shop"] is None for row in rows) else found

    return number


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("identity", null_is_somebody), ("_number_of", only_of_the_first), ("_number_of", null_is_a_value)],
)
def test_rows_that_are_made_otherwise_are_noticed(
    name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_persons, name, wrong(getattr(reference_persons, name)))
    with pytest.raises(AssertionError):
        check()


def test_codes_that_are_not_moved_to_their_bounds_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        rows_of_persons.PersonColumn, "code", lambda one, number: NULL if number is None else number - one.low
    )
    with pytest.raises((AssertionError, dp.DiscreetError)):
        check()


def requests(table: dp.Table) -> list[Plan]:
    """Steps and statistics of each kind on a table with these columns."""
    changed = table.clamp({"spent": (0, 2), "home": ["b"]}).where({"visits": (1, 2), "last": (-1, 2)})
    drawn = table.impute({"spent": dp.Uniform(), "home": dp.Weights({"a": 1, "b": 2}), "visits": dp.Uniform()})
    return [
        table.agg(dp.count()),
        table.group_by("home", dp.bins("amounts", [0, 2, 5])).agg(dp.count(), dp.mean("spent", nulls="skip")),
        changed.group_by("home", nulls="drop").agg(dp.sum("spent", nulls="skip"), dp.median("visits", nulls="skip")),
        table.agg(dp.tables(["home", "visits"][:1]), dp.histogram("first", [-2, 0, 2]), dp.variance("same", nulls="skip")),
        table.agg(dp.correlation("spent", "visits", nulls="skip"), dp.count("home")),
        drawn.group_by("home").agg(dp.mean("spent"), dp.mean("visits")),
        drawn.resize(5).agg(dp.mean("spent")),
        table.sample("1/2").agg(dp.count(), dp.sum("last", nulls="skip")),
    ]


def plain() -> dp.Table:
    """A table of rows with the same columns, of which one row is a person's."""
    return dp.Table(PERSONS.schema, dp.AddRemove())


def cubes(engine: Any, plan: Plan) -> list[Any]:
    found = run_scans(engine, plan.layout)
    return [[part.tolist() for part in (one.keys, one.rows, one.nonnull, one.sums)] for one in found]


def test_whatever_is_asked_of_persons_is_answered_as_of_a_table_with_their_rows() -> None:
    chosen = random.Random(5)  # noqa: S311
    for number, (plan, same) in enumerate(zip(requests(PERSONS), requests(plain()), strict=True)):
        rows = [(chosen.choice([None, *range(9)]), *chosen.choice(KINDS)[1:]) for _ in range(5 * number + 20)]
        header = {name: ColumnType(kind, "") for name, kind in OF_KIND.items()}
        literal = ReferenceEngine(header, written_again(rows, filtered=False))
        assert cubes(ReferenceEngine(HEADER, rows), plan) == cubes(literal, same)


@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP(1), dp.GDP(1)])
def test_a_quote_is_that_of_a_table_with_one_row_for_each_person(spend: dp.PureDP) -> None:
    for plan, same in zip(requests(PERSONS), requests(plain()), strict=True):
        one, other = quote(plan, spend), quote(same, spend)
        assert [(each.law, each.sensitivity) for each in one.measured] == [
            (each.law, each.sensitivity) for each in other.measured
        ]
        assert plan.digest != same.digest


def test_cubes_that_count_null_as_the_least_value_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_null(axis: Any, codes: Any) -> Any:
        return literal(axis, codes.clip(0))

    literal = rows_of_persons._labels
    monkeypatch.setattr(rows_of_persons, "_labels", without_null)
    with pytest.raises(AssertionError):
        test_whatever_is_asked_of_persons_is_answered_as_of_a_table_with_their_rows()


def test_rows_of_persons_are_read_as_rows_of_any_source_are() -> None:
    """The codes of persons have the labels that the reference gives the values that they stand for."""
    plan = asked(PERSONS.clamp({"spent": (0, 2)}))
    assert plan.layout.each is not None
    for part in plan.layout.scans:
        for axis in part.axes:
            column = PERSONS.schema[axis.name]
            for code in range(column.size):
                value = column.values[code] if isinstance(column, dp.Category) else column.value(code)
                shown = value if isinstance(value, str) else int(value)  # type: ignore[arg-type]
                expected = reference.label(axis, shown, ColumnType(OF_KIND[axis.name], ""))
                assert rows_of_persons._labels(axis, np.array([code])).tolist() == [expected]
