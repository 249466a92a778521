"""U7 of docs/proofs/persons.md: tables of persons beside rows, over all small pairs of tables and over random requests.

The joined table is written down a second time here, row by row, and asked as a table of rows alone. The reference must give
the same, no person may change it by more than the norms, and every mutant must break a bound or an equality.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from tests.joined import HEADERS, JOINED, PARTS, PEOPLE, RELATION, VISITS, joined_engine

import discreet as dp
from discreet.cube.cube import Cube
from discreet.cube.weights import WEIGHTINGS, norms_apart, norms_of
from discreet.engines import reference_joins, reference_persons
from discreet.engines.base import Engine
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.plan import shown
from discreet.plan.plan import Plan
from discreet.plan.shown import hidden_labels
from discreet.plan.table import Table
from discreet.privacy import ZCDP, PureDP
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers, run_scans

Row = tuple[Any, ...]
Rows = tuple[Row, ...]

TOWN_HEADER = {"id": HEADERS[1]["id"], "town": HEADERS[1]["sex"]}
FLAT = dp.Schema({**VISITS.columns, **VISITS.identifiers, **PEOPLE.columns})
FLAT_HEADER = {**HEADERS[0], **{name: HEADERS[1][name] for name in PEOPLE.columns}}
KNOWN = {"sex": ("f", "m"), "age": range(10)}


def joined_rows(visits: Sequence[Row], people: Sequence[Row]) -> list[Row]:
    """The joined table, from the words of the proof: all that is read of a row, and what is agreed on of its person."""
    found = []
    for visitor, shop, amount in visits:
        agreed = []
        for place, name in enumerate(("sex", "age"), 1):
            values = {row[place] for row in people if row[0] == visitor and row[place] in KNOWN[name]}
            agreed.append(values.pop() if len(values) == 1 else None)
        if visitor is not None:
            found.append((visitor, shop, amount, *agreed))
    return found


# All small pairs of tables -------------------------------------------------------------------------------------------------

VISIT_KINDS = [(person, shop, None) for person in (None, 1, 2) for shop in ("a", "b", "z")]
PERSON_KINDS = [(person, sex, None) for person in (None, 1, 2) for sex in ("f", "m")]
SOME_VISITS = [rows for size in range(4) for rows in combinations_with_replacement(VISIT_KINDS, size)]
SOME_PEOPLE = [rows for size in range(3) for rows in combinations_with_replacement(PERSON_KINDS, size)]


def asked(groups: int, rows: int, table: Table = JOINED) -> Plan:
    return table.bound(groups=groups, rows=rows).group_by("sex", "shop").agg(dp.persons(), dp.count())


def dense(engine: Engine, plan: Plan) -> np.ndarray:
    """For each cell persons by each weighting, then rows by each."""
    (cube,) = run_scans(engine, plan.layout)
    found = np.zeros((plan.layout.cells, 4), dtype=np.int64)
    found[cube.keys[:, 0]] = cube.sums
    return found


def without(person: int, rows: Rows) -> Rows:
    return tuple(row for row in rows if row[0] != person)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("groups", "rows"), [(2, 1), (1, 1), (1, 2), (3, 1), (1, 3)])
def test_no_person_of_any_small_pair_of_tables_changes_more_than_the_norms_and_some_as_much(groups: int, rows: int) -> None:
    check_pairs(groups, rows)


def check_pairs(groups: int, rows: int) -> None:
    plan, largest = asked(groups, rows), np.zeros((4, 2), dtype=np.int64)

    @cache
    def answer(visits: Rows, people: Rows) -> np.ndarray:
        return dense(joined_engine(visits, people), plan)

    for visits, people in product(SOME_VISITS, SOME_PEOPLE):
        moved = np.abs(answer(visits, people) - answer(without(1, visits), without(1, people)))
        largest = np.maximum(largest, np.stack([moved.sum(axis=0), (moved**2).sum(axis=0)], axis=1))
    for column, (most, weighting) in enumerate(product((1, rows), WEIGHTINGS)):
        norms = norms_of(weighting, groups, plan.layout.cells, most)
        assert largest[column, 0] <= norms.l1
        assert largest[column, 1] <= norms.l2_squared
        if weighting == "squares":
            assert largest[column, 1] == norms.l2_squared
        else:
            assert largest[column, 0] == norms.l1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (2, 1), (1, 2)])
def test_no_two_states_of_a_person_in_both_tables_are_further_apart_than_the_norms(groups: int, rows: int) -> None:
    """U4: some rows of a person in either table are others, or are not there."""
    plan = asked(groups, rows, Table(VISITS, PARTS, beside=(("people", PEOPLE),)).join("people"))
    mine = [(1, shop, None) for shop in ("a", "b")], [(1, sex, None) for sex in ("f", "m")]
    states = [
        [rows for size in range(most) for rows in combinations_with_replacement(kinds, size)]
        for kinds, most in zip(mine, (3, 2), strict=True)
    ]
    others = ((2, "a", None), (None, "b", None)), ((2, "m", None), (None, "f", None))
    every = np.stack([dense(joined_engine(a + others[0], b + others[1]), plan) for a, b in product(*states)])
    apart = np.abs(every[:, None] - every[None, :])
    for column, (most, weighting) in enumerate(product((1, rows), WEIGHTINGS)):
        norms = norms_apart(weighting, groups, plan.layout.cells, 0, most)
        assert apart[..., column].sum(axis=2).max() <= norms.l1
        assert (apart[..., column] ** 2).sum(axis=2).max() <= norms.l2_squared
        if groups * rows <= 2:  # a person has two rows
            assert (apart[..., column] ** 2).sum(axis=2).max() == norms.l2_squared or weighting == "sums"
            assert apart[..., column].sum(axis=2).max() == norms.l1 or weighting == "squares"


class _BoundedFirst(reference_joins.ReferenceJoiner):
    """A join after the bound: what a person counts for is there once for each row that she has in the other table."""

    def add_persons(self, scan: Any) -> Cube:
        (beside,) = scan.beside
        people = [*self._others["people"].named_rows()]
        parts = []
        for place in range(max([1, *(sum(row["id"] == one["id"] for row in people) for one in people)])):
            kept = [row for n, row in enumerate(people) if sum(one["id"] == row["id"] for one in people[:n]) == place]
            only = ReferenceEngine(HEADERS[1], [tuple(row.values()) for row in kept])
            parts.append(reference_joins.ReferenceJoiner(self._engine, {beside.table: only}).add_persons(scan))
        sums = [np.zeros((scan.cells, cube.sums.shape[1]), dtype=np.int64) for cube in parts]
        for found, cube in zip(sums, parts, strict=True):
            found[cube.keys[:, 0]] = cube.sums
        whole = sum(sums)
        cells = np.flatnonzero(whole.any(axis=1))
        return Cube(cells.reshape(-1, 1), whole[cells, 0], np.zeros((len(cells), 0), dtype=np.int64), whole[cells])


def test_a_bound_before_the_join_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.joined.ReferenceJoiner", _BoundedFirst)
    with pytest.raises(AssertionError):
        check_pairs(1, 1)


# Random requests -----------------------------------------------------------------------------------------------------------

CHOICES: dict[str, list[Any]] = {
    "shop": ["a", "b", "z", None],
    "amount": [None, -9, -2, -1, 0, 1, 2, 9],
    "sex": ["f", "m", "?", None],
    "age": [None, *range(10)],
}
PERSONS = [None, 1, 2, 3]
SPENDS = (PureDP(1), ZCDP(1))


def random_tables(rng: random.Random) -> tuple[list[Row], list[Row]]:
    visits = [
        (rng.choice(PERSONS), *(rng.choice(CHOICES[name]) for name in VISITS.columns)) for _ in range(rng.randint(0, 12))
    ]
    people = [
        (rng.choice(PERSONS), *(rng.choice(CHOICES[name]) for name in PEOPLE.columns)) for _ in range(rng.randint(0, 6))
    ]
    return visits, people


def prepared(table: Table, seed: int) -> Table:
    """Some clamps and conditions."""
    rng = random.Random(seed)  # noqa: S311
    for name in rng.sample([*CHOICES], rng.choice([0, 1, 2])):
        if name in ("shop", "sex"):
            kept: Any = rng.sample([*table.schema[name].values], rng.randint(1, 2))  # type: ignore[union-attr]
        else:
            kept = tuple(sorted(rng.sample(range(-2, 3) if name == "amount" else range(10), 2)))
        table = table.clamp({name: kept}) if rng.random() < 0.5 else table.where({name: kept})
    return table


def request_of(table: Table, seed: int) -> Plan:
    """The same request of the joined table and of the flat one.

    Raises:
        PlanError: the steps and groups do not fit together.
    """
    rng, found = random.Random(seed), prepared(table, seed)  # noqa: S311
    if rng.random() < 0.3:
        made = found.per_person(
            n=dp.rows(0, 3),
            sex=dp.only("sex"),
            ages=dp.total("age", -3, 30),
            first=dp.earliest("age"),
            kinds=dp.distinct("sex", most=2),
            spent=dp.total("amount", -4, 4),
        )
        return made.group_by("sex").agg(dp.count(), dp.mean("ages", nulls="skip"), dp.count("first"), dp.sum("kinds"))
    by = [
        dp.bins("age", [0, 3, 9]) if name == "age" else name
        for name in rng.sample(["shop", "sex", "age"], rng.choice([1, 2]))
    ]
    values = (
        dp.sum("amount", per_person=(-3, 5)),
        dp.sum("age", per_person=(-1, 12)),
        dp.mean("age", per_person=(0, 20)),
        dp.std("age", nulls="skip"),
        dp.histogram("age", [0, 4, 9]),
        dp.median("amount", nulls="skip"),
        dp.median("age", nulls="skip"),
    )
    bounded = found.bound(groups=rng.choice([1, 2, 99]), rows=rng.choice([1, 2]))
    dropped = "drop" if rng.random() < 0.5 else "show"
    return bounded.group_by(*by, nulls=dropped).agg(dp.persons(), dp.count(), *rng.sample(values, rng.choice([0, 1, 3])))


def answers(engine: Engine, plan: Plan, spend: Any) -> list[list[int]]:
    return [found.tolist() for found in exact_answers(quote(plan, spend), run_scans(engine, plan.layout), system_bits())]


def check_requests(number: int) -> int:
    """The number of requests whose answers are those of the joined table, and change by no more than is stated."""
    flat, done = Table(FLAT, dp.AddRemove(person="visitor")), 0
    for seed in range(number):
        rng = random.Random(seed)  # noqa: S311
        with suppress(dp.PlanError):
            plan, same, spend = request_of(JOINED, seed), request_of(flat, seed), rng.choice(SPENDS)
            visits, people = random_tables(rng)
            found = answers(joined_engine(visits, people), plan, spend)
            assert found == answers(ReferenceEngine(FLAT_HEADER, joined_rows(visits, people)), same, spend)
            for person in (1, 2):
                left = joined_rows(*([row for row in rows if row[0] != person] for rows in (visits, people)))
                other = answers(ReferenceEngine(FLAT_HEADER, left), same, spend)
                for one, before, after in zip(quote(plan, spend).measured, found, other, strict=True):
                    moved = [abs(a - b) for a, b in zip(before, after, strict=True)]
                    assert sum(moved) <= one.sensitivity.l1
                    assert sum(value**2 for value in moved) <= one.sensitivity.l2_squared
            done += 1
    return done


def test_answers_are_those_of_the_joined_table() -> None:
    assert check_requests(250) > 150


def _first_of(engine: Any, scan: Any) -> dict[object, list[int | None]]:
    """The first row of each person, in the order in which they come."""
    found: dict[object, list[int | None]] = {}
    for row in engine.named_rows():
        codes = [engine.label(reference_joins.KeyAxis(path), row) for path in scan.paths]
        if row[scan.person] is not None:
            found.setdefault(row[scan.person], [None if code < 0 else code for code in codes])
    return found


def _every_row(self: Any, scan: Any) -> Iterator[dict[str, object]]:
    """A row for each row of the person in the other table: duplicates multiply visits."""
    (one,) = scan.beside
    names = [path.called or path.name for path in one.codes.paths]
    for row in self._engine.named_rows():
        own = [other for other in self._others[one.table].named_rows() if other[one.codes.person] == row[scan.person]]
        for other in own or [None]:
            codes = [
                None if other is None else max(self._others[one.table].label(reference_joins.KeyAxis(path), other), -1)
                for path in one.codes.paths
            ]
            yield {**row, **dict(zip(names, (None if code == -1 else code for code in codes), strict=True))}


def _known_only(literal: Callable[..., Any]) -> Callable[..., Any]:
    """An inner join: visits of persons that the other table does not have are lost."""

    def rows(self: Any, scan: Any) -> Iterator[Any]:
        (one,) = scan.beside
        known = {row[one.codes.person] for row in self._others[one.table].named_rows()}
        return (row for row in literal(self, scan) if row[scan.person] in known)

    return rows


def _unchanged(axis: Any, code: int | None) -> int:
    """Steps on columns of persons are forgotten."""
    return -1 if code is None else code if axis.cuts is None else sum(cut <= code for cut in axis.cuts)


@pytest.mark.parametrize("mutant", ["first row", "every row", "known only", "null ids", "no steps"])
def test_a_join_that_is_not_one_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    joiner = reference_joins.ReferenceJoiner
    match mutant:
        case "first row":
            monkeypatch.setattr(reference_joins, "agreed_codes", _first_of)
        case "every row":
            monkeypatch.setattr(joiner, "_rows", _every_row)
        case "known only":
            monkeypatch.setattr(joiner, "_rows", _known_only(joiner._rows))
        case "no steps":
            monkeypatch.setattr(reference_joins, "label_of_code", _unchanged)
        case "null ids":
            for module in (reference_joins, reference_persons):
                monkeypatch.setattr(module, "identity", lambda value: "nobody" if value is None else value)
    with pytest.raises(AssertionError):
        check_requests(120)


TOWNS = dp.Schema(
    id=dp.Identifier(),
    town=dp.Category(["n", "e", "s"]),
    part=dp.DerivedColumn("part", of="town", by={"n": "north", "e": "north", "s": "south"}),
)


def test_a_person_whose_rows_agree_in_a_derived_column_alone_is_in_the_null_group_of_the_other() -> None:
    """Two towns of one part: the part is known, the town is not. One town says its part, so that there is no null then."""
    table = Table(VISITS, RELATION, beside=(("people", TOWNS),)).join("people")
    engine = joined_engine([(1, "a", 0), (2, "a", 0)], [(1, "n"), (1, "e"), (2, "n"), (2, "s")], (HEADERS[0], TOWN_HEADER))
    for condition, by, labels, found in (
        ({"part": ["north"]}, "town", {0, 1, 3}, [0, 0, 0, 1]),
        ({"part": ["south"]}, "town", {2}, [0, 0, 0, 0]),
        ({"town": ["n", "e"]}, "part", {0}, [0, 0, 0]),
    ):
        plan = table.where(condition).bound(groups=9).group_by(by).agg(dp.persons())
        assert {*range(len(found))} - hidden_labels(plan, plan.group_by[0]) == labels
        assert answers(engine, plan, ZCDP(1)) == [found]


def test_a_null_group_of_persons_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "Counter", lambda _: {})
    with pytest.raises(AssertionError):
        test_a_person_whose_rows_agree_in_a_derived_column_alone_is_in_the_null_group_of_the_other()
