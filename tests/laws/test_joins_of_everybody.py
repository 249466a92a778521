"""U10 of docs/proofs/persons.md: a table of persons with a public number of rows, over all small pairs of tables.

Neighbours are written down from the words of the proof: the rows of one person in both tables are replaced by rows of
another one, of which as many are in the table of persons. What is asked is written down a second time, row by row.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from tests.joined import HEADERS, PEOPLE, everybody, joined_engine
from tests.laws.test_joins import FLAT, FLAT_HEADER, KNOWN, SPENDS, answers, joined_rows, random_tables, request_of

import discreet as dp
from discreet.cube.cube import Cube
from discreet.cube.weights import WEIGHTINGS, norms_apart
from discreet.engines import reference_joins
from discreet.engines.base import Engine
from discreet.engines.reference import ReferenceEngine
from discreet.plan.person_table import table_of_persons
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import run_scans

Row = tuple[Any, ...]
Rows = tuple[Row, ...]
Data = tuple[Rows, Rows]
"""Visits, and the table of persons."""

# The states of one person, among others who have rows in one table alone, and among rows without an id.

_OTHERS: list[Data] = [
    (((2, "a", None), (None, "b", None)), ((2, "m", None), (None, "f", None))),
    (((2, "a", None), (3, "b", None)), ((2, "m", None), (2, "f", None), (4, None, None))),
]


def _states(persons: Sequence[int | None], visits: int) -> list[Data]:
    """Any visits, and one row in the table of persons, which may be without an id."""
    some: list[Rows] = [
        rows for size in range(visits + 1) for rows in combinations_with_replacement([("a", None), ("b", None)], size)
    ]
    return [
        (tuple((person, *row) for row in rows) if person is not None else (), ((person, sex, None),))
        for person, rows, sex in product(persons, some, ("f", "m", None))
    ]


def _data(state: Data, others: Data) -> Data:
    return state[0] + others[0], state[1] + others[1]


def _dense(engine: Engine, plan: Plan) -> np.ndarray:
    (cube,) = run_scans(engine, plan.layout)
    found = np.zeros((plan.layout.cells, 4), dtype=np.int64)
    found[cube.keys[:, 0]] = cube.sums
    return found


def check_states(groups: int, rows: int) -> None:
    """No two states are further apart than the norms, and some are as far."""
    for others in _OTHERS:
        size = 1 + len(others[1])
        plan = everybody(size).join("people").bound(groups=groups, rows=rows).group_by("sex", "shop")
        asked = plan.agg(dp.persons(), dp.count())
        # 1 and 5 have no other rows, and 3 has visits without a row in the table of persons.
        every = np.stack([_dense(joined_engine(*_data(state, others)), asked) for state in _states([1, 5, 3, None], 3)])
        apart = np.abs(every[:, None] - every[None, :])
        for column, (most, weighting) in enumerate(product((1, rows), WEIGHTINGS)):
            norms = norms_apart(weighting, groups, asked.layout.cells, 0, most)
            assert apart[..., column].sum(axis=2).max() <= norms.l1
            assert (apart[..., column] ** 2).sum(axis=2).max() <= norms.l2_squared
            if weighting == "squares":
                assert (apart[..., column] ** 2).sum(axis=2).max() == norms.l2_squared
            else:
                assert apart[..., column].sum(axis=2).max() == norms.l1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (1, 2)])
def test_no_two_states_of_a_person_are_further_apart_than_the_norms_and_some_are_as_far(groups: int, rows: int) -> None:
    check_states(groups, rows)


# One row of each person ---------------------------------------------------------------------------------------------------

_MADE = {"n": dp.rows(0, 2), "shop": dp.only("shop"), "sex": dp.only("sex"), "age": dp.latest("age")}


def _codes(engine: Engine, plan: Plan) -> Counter[Row]:
    """The rows of the table of persons."""
    assert plan.layout.each is not None
    cube = engine.add_persons(plan.layout.each)  # type: ignore[attr-defined]
    return Counter(dict(zip(map(tuple, cube.keys.tolist()), cube.rows.tolist(), strict=True)))


def _requests(size: int) -> dict[str, Plan]:
    table = everybody(size)
    made = table.join("people").per_person(**_MADE)
    few = table.where({"shop": ["a"]}).per_person(n=dp.rows(0, 2))
    people = _people(table)
    return {
        "made": made.agg(*(dp.count(name) for name in _MADE)),
        "few": few.agg(dp.sum("n", nulls="skip")),
        "people": people.agg(dp.count("sex"), dp.count("age")),
    }


def _people(table: Table) -> Table:
    found = table_of_persons("people", PEOPLE, table.neighbours)  # type: ignore[arg-type]
    return Table(found.columns, found.relation, (), found)


def check_rows_of_everybody() -> None:
    """Each table has as many rows as the table of persons, and that of another state of one person has another row."""
    for others in _OTHERS:
        size = 1 + len(others[1])
        for plan in _requests(size).values():
            found = [_codes(joined_engine(*_data(state, others)), plan) for state in _states([1, 3, None], 2)]
            assert all(one.total() == size for one in found)
            moved = [(one - other).total() for one in found for other in found]
            assert max(moved) == 1


def test_each_row_of_the_table_of_persons_is_one_row_and_the_rows_of_a_person_decide_one() -> None:
    check_rows_of_everybody()


# Random requests ----------------------------------------------------------------------------------------------------------


def _rows_of_everybody(visits: Sequence[Row], people: Sequence[Row]) -> list[Row]:
    """One row for each row of the table of persons, from the words of the proof: visits, spent, sex and age."""
    found = []
    joined, met = joined_rows([(row[0], "a", None) for row in people], people), set()
    agreed = {row[0]: row[3:] for row in joined}
    for person, sex, age in people:
        own = [row for row in visits if row[0] == person]
        if person is None:
            found.append((0, None, sex if sex in KNOWN["sex"] else None, age if age in KNOWN["age"] else None))
        elif person in met:
            found.append((0, None, None, None))
        else:
            amounts = [min(max(row[2], -2), 2) for row in own if row[2] is not None]
            spent = min(max(sum(amounts), -4), 4) if amounts else None
            found.append((min(len(own), 3), spent, *agreed[person]))
        met.add(person)
    return found


def check_requests(number: int) -> int:
    """The number of requests whose answers are those of tables that are written down a second time."""
    flat, done = Table(FLAT, dp.AddRemove(person="visitor", part=True)), 0
    columns = dp.Schema(
        n=dp.Number(0, 3, required=True), spent=dp.Number(-4, 4), sex=dp.Category(["f", "m"]), age=dp.Number(0, 9)
    )
    header = {name: HEADERS[1]["sex" if name == "sex" else "age"] for name in columns.columns}
    for seed in range(number):
        rng = random.Random(seed)  # noqa: S311
        visits, people = random_tables(rng)
        if not people:
            continue
        table, spend = everybody(len(people)), rng.choice(SPENDS)
        made = table.join("people").per_person(
            n=dp.rows(0, 3), spent=dp.total("amount", -4, 4), sex=dp.only("sex"), age=dp.earliest("age")
        )
        # No row has a null to impute; of the table that is made from visits it is known that none can have one.
        never_null = Table(columns, dp.ReplaceOne(rows=len(people))).impute({"n": dp.Uniform()})
        for one, same in _pairs_of_tables(made, never_null):
            rows = _rows_of_everybody(visits, people)
            assert answers(joined_engine(visits, people), one, spend) == answers(ReferenceEngine(header, rows), same, spend)
        with suppress(dp.PlanError):
            plan, same = request_of(table.join("people"), seed), request_of(flat, seed)
            if plan.persons is not None:
                continue
            known = {row[0] for row in people} - {None}
            of_known = [row for row in joined_rows(visits, people) if row[0] in known]
            assert answers(joined_engine(visits, people), plan, spend) == answers(
                ReferenceEngine(FLAT_HEADER, of_known), same, spend
            )
            for found, other in zip(quote(plan, spend).measured, quote(same, spend).measured, strict=True):
                assert found.sensitivity == other.sensitivity
            done += 1
    return done


def _pairs_of_tables(made: Table, same: Table) -> Iterator[tuple[Plan, Plan]]:
    """The same requests of both tables."""
    for ask in (
        lambda table: table.group_by("sex").agg(dp.count(), dp.sum("n", nulls="skip"), dp.mean("spent", nulls="skip")),
        lambda table: table.where({"age": (0, 5)}).agg(dp.count(), dp.count("spent")),
        lambda table: table.clamp({"n": (0, 2)}).agg(dp.mean("n", nulls="skip"), dp.histogram("n", step=1)),
    ):
        yield ask(made), ask(same)


def test_answers_are_those_of_the_tables_that_the_proof_describes() -> None:
    assert check_requests(250) > 100


# Mutants ------------------------------------------------------------------------------------------------------------------


def _with_rows_only(literal: Callable[..., Any]) -> Callable[..., Any]:
    """Persons without a row are lost: how many rows the table has is private then."""

    def made(self: Any, scan: Any, everybody: Any) -> Cube:
        (one,) = scan.beside
        visitors = {row[scan.person] for row in self._engine.named_rows()}
        others = self._others[one.table]
        kept = [tuple(row.values()) for row in others.named_rows() if row[one.codes.person] in visitors]
        mine = {one.table: ReferenceEngine(HEADERS[1], kept)}
        found: Cube = literal(reference_joins.ReferenceJoiner(self._engine, mine), scan, everybody)
        return found

    return made


def _once(literal: Callable[..., Any]) -> Callable[..., Any]:
    """Persons who are there twice count once."""

    def persons(engine: Any, scan: Any) -> Iterator[Any]:
        left = {row[scan.person] for row in engine.named_rows()} - {None}
        for person, codes in literal(engine, scan):
            if person in left or (person is None and any(code is not None for code in codes.values())):
                yield person, codes

    return persons


def _any_visitor(self: Any, scan: Any) -> Iterator[dict[str, object]]:
    """Rows of persons who are not in the table of persons count too."""
    codes = {one.table: reference_joins.agreed_codes(self._others[one.table], one.codes) for one in scan.beside}
    for row in self._engine.named_rows():
        own: dict[str, object] = {}
        for one in scan.beside:
            names = [path.called or path.name for path in one.codes.paths]
            own |= zip(names, codes[one.table].get(row[scan.person], [None] * len(names)), strict=True)
        yield {**row, **own}


def test_persons_without_rows_that_are_lost_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    joiner = reference_joins.ReferenceJoiner
    monkeypatch.setattr(joiner, "_rows_of_everybody", _with_rows_only(joiner._rows_of_everybody))
    with pytest.raises(AssertionError):
        check_rows_of_everybody()


def test_persons_who_count_once_for_all_their_rows_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_joins, "persons_of", _once(reference_joins.persons_of))
    with pytest.raises(AssertionError):
        check_rows_of_everybody()


def test_rows_of_nobody_that_count_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_joins.ReferenceJoiner, "_rows", _any_visitor)
    with pytest.raises(AssertionError):
        check_requests(60)


@cache
def _relation_words() -> str:
    return everybody(7).neighbours.text()


def test_the_number_of_persons_is_public_and_no_other() -> None:
    """n stands in place of a count of the table of persons alone: not as the rows of visits."""
    plan = everybody(7).join("people").bound(groups=1, rows=1).agg(dp.persons(), dp.count())
    assert plan.neighbours.rows is None
    assert plan.facts.rows is None
    assert everybody(7).per_person(n=dp.rows(0, 3)).agg(dp.sum("n", nulls="skip")).facts.rows == 7
    assert "'people' has exactly 7 rows, which is public" in _relation_words()
