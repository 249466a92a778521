"""Lists of combinations on tables of persons: what they answer and cost, against a source that has them written in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.cube.cube import compact
from discreet.engines import combinations as joining
from discreet.engines import open_source, open_sources, reference_persons
from discreet.engines.base import ColumnType, totals_of_persons
from discreet.engines.combinations import Combining, combining
from discreet.engines.reference import ReferenceEngine
from discreet.engines.texts import keys_kept
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.releases.keys import places_of

LISTED = {"school": ["C", "A", "A", "B"], "degree": [2, 1, 2, 1]}
NAMES = ("C / 2", "A / 1", "A / 2", "B / 1")
PERSON = dp.AddRemove(person="who")
OTHERS = [None, "elsewhere"]
HEADER = {
    "who": ColumnType("integer", "BIGINT"),
    "school": ColumnType("text", "VARCHAR"),
    "degree": ColumnType("integer", "BIGINT"),
    "pay": ColumnType("integer", "BIGINT"),
    "shop": ColumnType("text", "VARCHAR"),
}


def schema_of(other: str | None) -> dp.Schema:
    listed = dp.Keys(LISTED, columns=["school", "degree"], integers=["degree"], other=other)
    return dp.Schema(who=dp.Identifier(), course=listed, pay=dp.Number(0, 3), shop=dp.Text(max_length=9))


def written_schema(other: str | None) -> dp.Schema:
    more, need = ((), False) if other is None else ((other,), True)
    return dp.Schema(
        who=dp.Identifier(),
        course=dp.Category([*NAMES, *more], required=need),
        school=dp.Category(["C", "A", "B", *more], required=need),
        degree=dp.Category([2, 1]),
        pay=dp.Number(0, 3),
        shop=dp.Text(max_length=9),
    )


def raw_rows() -> list[tuple[Any, ...]]:
    cells = list(product(["A", "B", "C", "D", None, "a"], [1, 2, 3, None], [0, 2, 3, None]))
    return [(None if k % 13 == 5 else k * k % 11, *cell, f"shop {k % 5}") for k, cell in enumerate(cells * 2)]


def written_rows(other: str | None) -> list[tuple[Any, ...]]:
    known = set(zip(LISTED["school"], LISTED["degree"], strict=True))
    found = []
    for who, school, degree, pay, shop in raw_rows():
        own = (f"{school} / {degree}", school, degree) if (school, degree) in known else (other, other, None)
        found.append((who, *own, pay, shop))
    return found


def frames(other: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    raw = pl.DataFrame(raw_rows(), schema=list(HEADER), orient="row")
    return raw, pl.DataFrame(written_rows(other), schema=["who", "course", *list(HEADER)[1:]], orient="row")


def as_csv(raw: pl.DataFrame, folder: Path) -> Any:
    raw.write_csv(folder / "rows.csv")
    return str(folder / "rows.csv")


def as_parquet(raw: pl.DataFrame, folder: Path) -> Any:
    raw.write_parquet(folder / "rows.parquet")
    return str(folder / "rows.parquet")


def as_sqlite(raw: pl.DataFrame, folder: Path) -> Any:
    with sqlite3.connect(folder / "rows.sqlite") as database:
        database.execute("CREATE TABLE t (who INTEGER, school TEXT COLLATE NOCASE, degree, pay INTEGER, shop TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", raw.rows())
    return f"{folder / 'rows.sqlite'}::t"


SOURCES: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "frame": lambda raw, _: raw,
    "csv": as_csv,
    "parquet": as_parquet,
    "sqlite": as_sqlite,
}


def requests(schema: dp.Schema, part: Callable[[str], str]) -> Iterator[Plan]:
    every = dp.Table(schema, PERSON)
    table = every.bound(groups=2, rows=2)
    asked = dp.persons(), dp.count(), dp.histogram("pay", [0, 1, 3]), dp.mean("pay", nulls="skip")
    for groups in (["course"], [part("school")], [part("degree"), dp.bins("pay", [0, 2, 3])]):
        yield table.group_by(*groups).agg(*asked)
    some = every.where({part("school"): ["A", "C"], "pay": (1, 3)})
    yield some.bound(groups=1).group_by("course").agg(dp.persons())
    yield every.clamp({"course": ["A / 1", "C / 2"]}).bound(groups=2, rows=1).group_by("course").agg(dp.count())
    yield table.agg(dp.persons(), dp.count("pay"))
    yield every.per_person(courses=dp.distinct("course", most=4)).agg(dp.count("courses"))
    yield every.per_person(school=dp.only(part("school"))).group_by("school").agg(dp.count())


def pairs(other: str | None) -> Iterator[tuple[Plan, Plan]]:
    own = requests(schema_of(other), lambda name: f"course.{name}")
    yield from zip(own, requests(written_schema(other), lambda name: name), strict=True)


def totals(engine: Any, request: Plan) -> list[Any]:
    scan = request.layout.persons or request.layout.each
    assert scan is not None
    cube = compact(totals_of_persons(engine, scan))
    return [cube.keys.tolist(), cube.rows.tolist(), cube.sums.tolist()]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("other", OTHERS)
def test_every_engine_answers_as_if_the_combination_was_written_in(source: str, other: str | None, tmp_path: Path) -> None:
    raw, written = frames(other)
    engine = open_source(SOURCES[source](raw, tmp_path), schema_of(other))
    assert isinstance(engine, Combining)
    expected = open_source(written, written_schema(other))
    for one, twin in pairs(other):
        assert totals(engine, one) == totals(expected, twin), one


@pytest.mark.parametrize("other", OTHERS)
def test_the_reference_reads_lists_as_the_other_engines_do(other: str | None) -> None:
    reference = combining(ReferenceEngine(HEADER, raw_rows()), schema_of(other))
    engine = open_source(frames(other)[0], schema_of(other))
    for one, _ in pairs(other):
        assert totals(reference, one) == totals(engine, one)


@pytest.mark.parametrize("other", OTHERS)
def test_a_request_costs_what_it_costs_on_the_column(other: str | None) -> None:
    for one, twin in pairs(other):
        for spend in (dp.ZCDP(1), dp.PureDP(1)):
            mine, its = quote(one, spend), quote(twin, spend)
            assert [found.sensitivity for found in mine.measured] == [found.sensitivity for found in its.measured]


@pytest.mark.parametrize("other", OTHERS)
def test_groups_are_found_beside_a_list_as_beside_the_column(other: str | None) -> None:
    raw, written = frames(other)
    answers = []
    for schema, frame in ((schema_of(other), raw), (written_schema(other), written)):
        found = dp.Discover("shop", other=True)
        plan = dp.Table(schema, PERSON).bound(groups=2).group_by(found, "course").agg(dp.persons()).asked()
        engine, whole = open_source(frame, schema), plan.with_found(["shop 1", "shop 3"])
        assert plan.layout.keys is not None
        assert whole.layout.persons is not None
        with keys_kept(engine, plan.layout.keys) as kept:
            cube = compact(kept.totals(places_of(whole), whole.layout.persons))
            answers.append([kept.candidates([], 1).tolist(), cube.keys.tolist(), cube.rows.tolist(), cube.sums.tolist()])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("other", OTHERS)
def test_a_list_in_a_table_of_persons_beside_is_one_too(other: str | None) -> None:
    """Rows with a list of their own, beside a table with another one; and the same with both written in."""
    raw, written = frames(other)
    lists = dp.Keys({"city": ["P", "Q"], "area": [1, 1]}, columns=["city", "area"], integers=["area"])
    cards = [(who, city, area) for who, city, area in zip(range(11), "PQRQ" * 3, [1, 1, 1, 2] * 3, strict=False)]
    cards = pl.DataFrame([*cards, (3, "P", 1), (4, "Q", 1)], schema=["card", "city", "area"], orient="row")
    place = pl.when(pl.col("area") == 1, pl.col("city") != "R").then(pl.col("city") + " / 1")
    answers = []
    for schema, rows, column in (
        (schema_of(other), raw, lists),
        (written_schema(other), written, dp.Category(["P / 1", "Q / 1"])),
    ):
        people = dp.Persons(cards.with_columns(place=place), dp.Schema(card=dp.Identifier(), place=column), person="card")
        with dp.Session(
            rows,
            schema,
            dataset="d",
            ledger=":memory:",
            neighbours=PERSON,
            budget=dp.PureDP(10**9),
            beside={"cards": people},
        ) as session:
            request = session.table.join("cards").bound(groups=2).group_by("course", "place").agg(dp.persons())
            answers.append(session.release(request, spend=10**8, name="r").table["persons"].round(2).to_list())
    assert answers[0] == answers[1]
    assert len(set(answers[0])) > 3


def test_no_person_changes_the_answers_by_more_than_declared_and_some_person_by_as_much() -> None:
    """All persons with up to three rows, in the combinations of the list and in others, which are one group together."""
    schema = dp.Schema(who=dp.Identifier(), course=dp.Keys(LISTED, columns=["school", "degree"], integers=["degree"]))
    plan = dp.Table(schema, PERSON).bound(groups=1).group_by("course").agg(dp.persons())
    kinds = [(1, school, degree) for school, degree in product(("A", "B", None), (1, 2))]
    (measured,) = quote(plan, dp.PureDP(1)).measured
    largest = 0
    for size in range(1, 4):
        for rows in combinations_with_replacement(kinds, size):
            engine = combining(ReferenceEngine({name: HEADER[name] for name in ("who", "school", "degree")}, rows), schema)
            scan = plan.layout.persons
            assert scan is not None
            largest = max(largest, int(np.abs(totals_of_persons(engine, scan).sums[:, 1]).sum()))
    assert largest == measured.sensitivity.l1


def test_persons_that_are_counted_in_parts_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault: combinations outside the list are groups of their own until the totals are added up."""
    plan = dp.Table(schema_of(None), PERSON).bound(groups=1).group_by("course").agg(dp.persons())
    engine = open_source(frames(None)[0], schema_of(None))
    right = reference_persons.Counted.add

    def wrong(counted: Any, person: Any, cell: int, found: Any) -> None:
        right(counted, person, cell, found)
        if cell == 4:  # null: two groups of one person
            counted.rows[person, -1] += 1
            counted.parts[person, -1] = {}

    monkeypatch.setattr(reference_persons.Counted, "add", wrong)
    assert totals(combining(ReferenceEngine(HEADER, raw_rows()), schema_of(None)), plan) != totals(engine, plan)


def test_an_engine_that_adds_up_no_persons_has_none_with_a_list_either() -> None:
    class Without(ReferenceEngine):
        def can_add_persons(self) -> bool:
            return False

    assert not joining.Combining(Without(HEADER, [])).can_add_persons()
    with pytest.raises(dp.SourceError, match="cannot add up persons yet"):
        open_source(Without(HEADER, []), schema_of(None))


def test_sources_beside_one_another_are_read_with_their_lists() -> None:
    raw, _ = frames(None)
    engine = open_sources(raw, schema_of(None), {"more": (raw, schema_of(None))})
    (one, *_) = requests(schema_of(None), lambda name: f"course.{name}")
    assert totals(engine, one) == totals(open_source(raw, schema_of(None)), one)
