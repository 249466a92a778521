"""Lists of combinations are columns: what they answer and cost, against a source that has the combination written in."""

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
from discreet.cube.cube import Cube, compact
from discreet.engines import combinations as joining
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.combinations import Combining, combining
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import no_bits
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers

LISTED = {"school": ["A", "A", "B", "C"], "degree": [1, 2, 1, 2]}
NAMES = ("A / 1", "A / 2", "B / 1", "C / 2")
PAY = dp.Number(0, 3)
OTHERS = [None, "elsewhere"]
RELATIONS = [dp.AddRemove(), dp.ReplaceOne(rows=80)]


def schema_of(other: str | None) -> dp.Schema:
    return dp.Schema(course=dp.Keys(LISTED, columns=["school", "degree"], integers=["degree"], other=other), pay=PAY)


def written_schema(other: str | None) -> dp.Schema:
    """The combination and its parts as columns of their own."""
    more, need = ((), False) if other is None else ((other,), True)
    return dp.Schema(
        course=dp.Category([*NAMES, *more], required=need),
        school=dp.Category(["A", "B", "C", *more], required=need),
        degree=dp.Category([1, 2]),
        pay=PAY,
    )


def raw_rows() -> list[tuple[str | None, int | None, int | None]]:
    """Every school and degree, null and what is in no list, with every pay: some combinations are not listed."""
    cells = list(product(["A", "B", "C", "D", None, "a"], [1, 2, 3, None], [0, 1, 2, 3, None]))
    return (cells * 2)[:80]


def written_rows(other: str | None) -> list[tuple[Any, ...]]:
    """The same by the words of the definition: what the list has, and one value for all else."""
    known = set(zip(LISTED["school"], LISTED["degree"], strict=True))
    found = []
    for school, degree, pay in raw_rows():
        is_listed = (school, degree) in known
        own = (f"{school} / {degree}", school, degree) if is_listed else (other, other, None)
        found.append((*own, pay))
    return found


def frames(other: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    raw = pl.DataFrame(raw_rows(), schema=["school", "degree", "pay"], orient="row")
    names = {"course": pl.String, "school": pl.String, "degree": pl.Int64, "pay": pl.Int64}
    return raw, pl.DataFrame(written_rows(other), schema=names, orient="row")


def requests(table: dp.Table, part: Callable[[str], str]) -> Iterator[Plan]:
    """The parts are called `course.school` in one schema and `school` in the other."""
    school, degree = part("school"), part("degree")
    for groups in (["course"], [school], [degree], [school, dp.bins("pay", [0, 2, 3])]):
        for one in (table, table.where({school: ["A", "C"]}), table.where({"pay": (1, 3)})):
            yield one.group_by(*groups).agg(dp.count(), dp.sum("pay", nulls="skip"))
    yield table.clamp({"course": ["A / 1", "C / 2"]}).group_by("course").agg(dp.count())
    yield table.impute({"course": dp.Weights({"B / 1": 1})}).group_by("course").agg(dp.count())
    yield table.agg(dp.tables(["course"], [school, dp.bins("pay", [0, 3])]))
    yield table.agg(dp.count(school), dp.count("course"), dp.count(degree))


def cubes(engine: Any, request: Plan) -> list[Cube]:
    return [compact(engine.aggregate(scan.axes, scan.moments)) for scan in request.layout.scans]


def same(found: list[Cube], expected: list[Cube]) -> bool:
    pairs = list(zip(found, expected, strict=True))
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for one, other in pairs
        for name in ("keys", "rows", "nonnull", "sums")
    )


def as_csv(raw: pl.DataFrame, folder: Path) -> Any:
    raw.write_csv(folder / "rows.csv")
    return str(folder / "rows.csv")


def as_sqlite(raw: pl.DataFrame, folder: Path) -> Any:
    with sqlite3.connect(folder / "rows.sqlite") as database:
        database.execute("CREATE TABLE graduates (school TEXT COLLATE NOCASE, degree INTEGER, pay INTEGER)")
        database.executemany("INSERT INTO graduates VALUES (?, ?, ?)", raw.rows())
    return f"{folder / 'rows.sqlite'}::graduates"


SOURCES: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "frame": lambda raw, _: raw,
    "csv": as_csv,
    "sqlite": as_sqlite,
}


def pairs_of_requests(other: str | None, relation: Any) -> Iterator[tuple[Plan, Plan]]:
    own = requests(dp.Table(schema_of(other), relation), lambda name: f"course.{name}")
    written = requests(dp.Table(written_schema(other), relation), lambda name: name)
    yield from zip(own, written, strict=True)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("other", OTHERS)
def test_every_engine_answers_as_if_the_combination_was_written_in(source: str, other: str | None, tmp_path: Path) -> None:
    raw, written = frames(other)
    engine = open_source(SOURCES[source](raw, tmp_path), schema_of(other))
    assert isinstance(engine, Combining)
    expected = open_source(written, written_schema(other))
    for one, twin in pairs_of_requests(other, dp.AddRemove()):
        assert same(cubes(engine, one), cubes(expected, twin)), one


@pytest.mark.parametrize("other", OTHERS)
def test_the_reference_reads_lists_as_the_other_engines_do(other: str | None) -> None:
    raw, _ = frames(other)
    header = {"school": ColumnType("text", "VARCHAR"), "degree": ColumnType("integer", "BIGINT")}
    header["pay"] = ColumnType("integer", "BIGINT")
    reference = combining(ReferenceEngine(header, raw_rows()), schema_of(other))
    engine = open_source(raw, schema_of(other))
    for one, _ in pairs_of_requests(other, dp.AddRemove()):
        assert same(cubes(reference, one), cubes(engine, one))


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
@pytest.mark.parametrize("other", OTHERS)
def test_a_request_costs_what_it_costs_on_the_column(other: str | None, relation: Any) -> None:
    for one, twin in pairs_of_requests(other, relation):
        mine, its = quote(one, dp.ZCDP(1)), quote(twin, dp.ZCDP(1))
        assert [found.sensitivity for found in mine.measured] == [found.sensitivity for found in its.measured]


def test_all_parts_together_have_the_cells_of_the_list() -> None:
    raw, _ = frames(None)
    table = dp.Table(schema_of(None), dp.AddRemove())
    whole, parts = (table.group_by(*names).agg(dp.count()) for names in (["course"], ["course.school", "course.degree"]))
    assert whole.layout.cells == parts.layout.cells == 5
    engine = open_source(raw, schema_of(None))
    assert np.array_equal(*(_answers(engine, one) for one in (whole, parts)))


def _answers(engine: Any, request: Plan) -> np.ndarray:
    return exact_answers(quote(request, dp.PureDP(1)), iter(cubes(engine, request)), no_bits())[0]


def test_no_row_changes_the_answers_by_more_than_declared_and_some_row_by_as_much() -> None:
    """All tables of up to three rows: another row, whatever it has, is in one cell of every group."""
    kinds = [(school, degree) for school in ("A", "B", None) for degree in (1, 2)]
    schema = dp.Schema(course=dp.Keys(LISTED, columns=["school", "degree"], integers=["degree"]))
    plan = dp.Table(schema, dp.AddRemove()).group_by("course").agg(dp.count())
    declared, largest = quote(plan, dp.PureDP(1)).measured[0].sensitivity.l1, 0
    header = {"school": ColumnType("text", "VARCHAR"), "degree": ColumnType("integer", "BIGINT")}
    for table in (one for size in range(3) for one in combinations_with_replacement(kinds, size)):
        known = _answers(combining(ReferenceEngine(header, list(table)), schema), plan)
        for row in kinds:
            more = _answers(combining(ReferenceEngine(header, [*table, row]), schema), plan)
            largest = max(largest, int(np.abs(more - known).sum()))
    assert largest == declared == 1


def test_rows_that_are_put_into_the_nearest_combination_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Wrong:
        """NumPy, but everything is found."""

        where = staticmethod(lambda found, targets, others: targets)

        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

    monkeypatch.setattr(joining, "np", Wrong())
    with pytest.raises(AssertionError):
        test_every_engine_answers_as_if_the_combination_was_written_in("frame", None, tmp_path)


def test_cells_of_one_combination_that_are_not_added_up_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    raw, _ = frames(None)
    plan = dp.Table(schema_of(None), dp.AddRemove()).group_by("course").agg(dp.count())
    engine = open_source(raw, schema_of(None))
    (scan,) = plan.layout.scans
    assert len(engine.aggregate(scan.axes, scan.moments).keys) == 5
    monkeypatch.setattr(joining, "compact", lambda cube: cube)
    assert len(engine.aggregate(scan.axes, scan.moments).keys) > 5
