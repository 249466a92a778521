"""U8 of docs/proofs/persons.md: a row with a weight counts as so many rows, in every engine, and with none not at all."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from math import isnan
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.audit import audit
from discreet.engines import open_source, person_scans
from discreet.engines import persons as statements
from discreet.engines.base import ColumnType, totals_of_persons
from discreet.engines.reference import ReferenceEngine
from discreet.engines.reference_persons import Counted
from discreet.engines.texts import Places
from discreet.plan.plan import Plan, used_columns
from discreet.quotes.allocate import quote

Row = tuple[Any, ...]

SCHEMA = dp.Schema(
    visitor=dp.Identifier(), shop=dp.Category(["a", "b"]), views=dp.Number(0, 6), amount=dp.Number(-1, 3, step="0.5")
)
TABLE = dp.Table(SCHEMA, dp.AddRemove(person="visitor"))
HEADER = {
    "visitor": ColumnType("integer", "BIGINT"),
    "shop": ColumnType("text", "VARCHAR"),
    "views": ColumnType("float", "DOUBLE"),
    "amount": ColumnType("float", "DOUBLE"),
}


def plans(weight: str | None) -> Iterator[Plan]:
    """The same requests with and without weights."""
    yield TABLE.bound(groups=1, rows=4, weight=weight).group_by("shop").agg(dp.persons(), dp.count(), dp.share())
    yield TABLE.bound(groups=2, rows=9, weight=weight).group_by("shop", dp.bins("amount", [0, 2])).agg(dp.count())
    yield TABLE.where({"amount": (0, 3)}).bound(rows=3, weight=weight).agg(dp.count())
    summed = dp.sum("amount", per_person=(-3, 5)), dp.mean("amount", per_person=(0, 8)), dp.persons()
    yield TABLE.bound(groups=1, rows=1, weight=weight).group_by("shop").agg(*summed)
    squared = dp.variance("amount", per_person=(-3, 5)), dp.std("amount", nulls="skip"), dp.count("amount")
    divided = dp.histogram("amount", [0, 1, 3]), dp.median("amount", nulls="skip")
    yield TABLE.bound(groups=1, rows=3, weight=weight).group_by("shop").agg(*squared, *divided)


def weight_of(views: float | None) -> int:
    """The weight by the words of the documentation: a whole number within the bounds, and 0 where there is none."""
    if views is None or isnan(views):
        return 0
    return min(max(round(views), 0), 6)


def repeated(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows for _ in range(weight_of(row[2]))]


def totals(engine: Any, plan: Plan) -> list[tuple[tuple[int, int], int, list[int]]]:
    scan = plan.layout.persons
    assert scan is not None
    cube = totals_of_persons(engine, scan)
    return list(zip(map(tuple, cube.keys.tolist()), cube.rows.tolist(), cube.sums.tolist(), strict=True))


def drawn_rows(seed: int, count: int = 500) -> list[Row]:
    chosen = random.Random(seed)  # noqa: S311
    views = [None, 0.0, 1.0, 2.0, 5.0, 6.0, 7.0, 1e300, -3.0, float("nan"), 2.4]
    return [
        (
            chosen.choice([None, *range(40)]),
            chosen.choice(["a", "b", "zz", None]),
            chosen.choice(views),
            chosen.choice([None, -1.0, 0.0, 0.5, 2.0, 3.0]),
        )
        for _ in range(count)
    ]


def test_a_row_counts_as_often_as_its_weight_says() -> None:
    rows = drawn_rows(1)
    for weighed, plain in zip(plans("views"), plans(None), strict=True):
        assert totals(ReferenceEngine(HEADER, rows), weighed) == totals(ReferenceEngine(HEADER, repeated(rows)), plain)


def test_weights_that_count_once_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    literal = Counted.add
    monkeypatch.setattr(Counted, "add", lambda own, person, cell, found: literal(own, person, cell, replace(found, times=1)))
    with pytest.raises(AssertionError):
        test_a_row_counts_as_often_as_its_weight_says()


def test_no_person_changes_the_answers_by_more_than_without_weights() -> None:
    """All tables of up to three rows: the noise is that of the bounds, whatever the weights."""
    kinds = [(person, shop, views, 1.0) for person in (1, 2) for shop in "ab" for views in (0.0, 1.0, 6.0)]
    for weighed, plain in zip(plans("views"), plans(None), strict=True):
        declared = quote(weighed, dp.PureDP(1)).measured
        assert [one.sensitivity for one in declared] == [one.sensitivity for one in quote(plain, dp.PureDP(1)).measured]
    plan = next(plans("views"))
    largest = 0
    for rows in (one for size in range(1, 4) for one in combinations_with_replacement(kinds, size)):
        whole = _rows_counted(plan, rows)
        for person in {row[0] for row in rows}:
            rest = _rows_counted(plan, [row for row in rows if row[0] != person])
            largest = max(largest, int(np.abs(whole - rest).sum()))
    assert largest == 2**20 * 4  # the bound of four rows in one group, attained by one row of weight 6


def _rows_counted(plan: Plan, rows: Sequence[Row]) -> np.ndarray:
    dense = np.zeros(3, dtype=np.int64)
    for (cell, _), _, sums in totals(ReferenceEngine(HEADER, list(rows)), plan):
        dense[cell] = sums[3]
    return dense


def frame_of(rows: Sequence[Row]) -> pl.DataFrame:
    types = (pl.Int64, pl.String, pl.Float64, pl.Float64)
    return pl.DataFrame(rows, schema=dict(zip(HEADER, types, strict=True)), orient="row")


def as_frame(frame: pl.DataFrame, _folder: Path) -> Any:
    return frame


def as_parquet(frame: pl.DataFrame, folder: Path) -> Any:
    frame.write_parquet(folder / "visits.parquet")
    return str(folder / "visits.parquet")


def as_csv(frame: pl.DataFrame, folder: Path) -> Any:
    for place in range(2):
        frame[place::2].write_csv(folder / f"part-{place}.csv")
    return str(folder / "*.csv")


def as_relation(frame: pl.DataFrame, _folder: Path) -> Any:
    return duckdb.connect().sql("SELECT * FROM frame")


def as_sqlite(frame: pl.DataFrame, folder: Path) -> Any:
    with sqlite3.connect(folder / "visits.sqlite") as database:
        database.execute("CREATE TABLE visits (visitor INTEGER, shop TEXT, views, amount)")
        database.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", frame.rows())
    return f"{folder / 'visits.sqlite'}::visits"


SOURCES: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "frame": as_frame,
    "parquet": as_parquet,
    "csv": as_csv,
    "relation": as_relation,
    "sqlite": as_sqlite,
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_engine_weighs_as_the_reference(source: str, tmp_path: Path) -> None:
    rows = drawn_rows(2)
    frame = pl.DataFrame(
        rows, schema=dict(zip(HEADER, (pl.Int64, pl.String, pl.Float64, pl.Float64), strict=True)), orient="row"
    )
    engine, reference = open_source(SOURCES[source](frame, tmp_path), SCHEMA), ReferenceEngine(HEADER, rows)
    for plan in plans("views"):
        assert totals(engine, plan) == totals(reference, plan)


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "relation"])
def test_texts_that_nobody_listed_are_counted_with_their_weights(source: str, tmp_path: Path) -> None:
    schema = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(max_length=9), views=dp.Number(0, 6))
    table, rows = dp.Table(schema, dp.AddRemove(person="visitor")), drawn_rows(3)
    frame = pl.DataFrame(
        rows, schema=dict(zip(HEADER, (pl.Int64, pl.String, pl.Float64, pl.Float64), strict=True)), orient="row"
    )
    asked = [
        table.bound(groups=2, rows=4, weight=weight).group_by(dp.Discover("shop", other=True)).agg(dp.persons(), dp.count())
        for weight in ("views", None)
    ]
    engines = [open_source(SOURCES[source](frame, tmp_path), schema)]
    engines += [ReferenceEngine(HEADER, rows), ReferenceEngine(HEADER, repeated(rows))]
    found = [keys_of(engine, plan) for engine, plan in zip(engines, [asked[0], asked[0], asked[1]], strict=True)]
    assert found[0] == found[1] == found[2]


def keys_of(engine: Any, plan: Plan) -> tuple[list[int], list[str], list[Any]]:
    """The weights of all keys, their names, and the totals with the first of them."""
    scan, whole = plan.layout.keys, plan.layout.persons
    assert scan is not None
    assert whole is not None
    with engine.open_keys(scan) as table:
        weights = table.candidates([], 1)
        names = table.names(np.arange(len(weights)))
        cube = table.totals(Places({names[0]: 0}, other=1, null=2, count=3), replace(whole, sizes=(3,)))
    return weights.tolist(), names, list(zip(cube.keys[:, 0].tolist(), cube.rows.tolist(), cube.sums.tolist(), strict=True))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("w > 0", "true"),  # rows of weight 0 make persons
        ("CAST(sum(w) AS BIGINT) AS n", "count(*) AS n"),  # rows for their weights
        ("THEN w END", "THEN 1 END"),  # known rows for their weights
        ("CAST(w AS HUGEINT) *", "1 *"),  # values for so many of them
    ],
)
def test_statements_that_weigh_otherwise_are_noticed(
    right: str, wrong: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    literal, found = statements.person_rows_sql, list[bool]()

    def mutant(*given: Any) -> str:
        statement = literal(*given)
        found.append(right in statement)
        return statement.replace(right, wrong)

    monkeypatch.setattr(person_scans, "person_rows_sql", mutant)
    with pytest.raises(AssertionError):
        test_every_engine_weighs_as_the_reference("frame", tmp_path)
    assert any(found)


def test_the_heaviest_rows_have_exact_sums() -> None:
    schema = dp.Schema(visitor=dp.Identifier(), views=dp.Number(0, 10**6), amount=dp.Number(0, 2**50))
    table = dp.Table(schema, dp.AddRemove(person="visitor"))
    plan = table.bound(groups=1, weight="views").agg(dp.sum("amount", per_person=(0, 2**39)), dp.persons())
    rows = [(person, 10**6, 2**50 - person) for person in (1, 2) for _ in range(3)]
    header = dict.fromkeys(("visitor", "views", "amount"), ColumnType("integer", "BIGINT"))
    frame = pl.DataFrame(rows, schema=list(header), orient="row")
    assert totals(open_source(frame, schema), plan) == totals(ReferenceEngine(header, rows), plan)


@pytest.mark.slow
def test_rows_beyond_64_bits_are_counted() -> None:
    """Nine million visitors with a million views each are 2^63 units of a weight, and more."""
    schema = dp.Schema(visitor=dp.Identifier(), views=dp.Number(0, 10**6), shop=dp.Category(["a", "b"]))
    relation = duckdb.connect().sql("SELECT range AS visitor, 1000000 AS views, 'a' AS shop FROM range(9000000)")
    options = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(100), "neighbours": dp.AddRemove(person="visitor")}
    with dp.Session(relation, schema, **options) as session:
        asked = session.table.bound(groups=1, rows=10**6, weight="views").group_by("shop").agg(dp.count())
        found = session.release(asked, spend=100, name="views").table
    assert abs(found["count"][0] - 9 * 10**12) < 10**6
    assert found["count"][0] * 2**20 > 2**63


WEIGHTS = {
    "not declared": ("visit", "visit"),
    "a category": ("shop", "must be a Number from 0 by 1"),
    "half steps": ("amount", "must be a Number from 0 by 1"),
    "not a name": (3, "must be the name of a column"),
}


@pytest.mark.parametrize("what", WEIGHTS)
def test_other_columns_are_no_weights(what: str) -> None:
    weight, said = WEIGHTS[what]
    with pytest.raises(dp.PlanError, match=said):
        TABLE.bound(groups=1, rows=1, weight=weight)  # type: ignore[arg-type]


def test_a_weight_of_more_than_a_million_is_refused() -> None:
    schema = dp.Schema(visitor=dp.Identifier(), views=dp.Number(0, 10**6 + 1))
    with pytest.raises(dp.PlanError, match="at most 1,000,000"):
        dp.Table(schema, dp.AddRemove(person="visitor")).bound(rows=3, weight="views")


def test_the_column_of_weights_is_one_that_a_request_uses() -> None:
    """Otherwise a stored release would be given back for other bounds of it."""
    other = dp.Schema(
        {**{name: SCHEMA[name] for name in SCHEMA.columns}, "views": dp.Number(0, 5), "visitor": dp.Identifier()}
    )
    asked = [dp.Table(schema, TABLE.neighbours).bound(rows=4, weight="views").agg(dp.count()) for schema in (SCHEMA, other)]
    assert used_columns(asked[0]) == ["views"]
    assert asked[0].used_digest != asked[1].used_digest


def test_an_audit_tries_weights() -> None:
    plan = TABLE.bound(groups=1, rows=4, weight="views").group_by("shop").agg(dp.count())
    assert 0 < audit(plan, dp.PureDP(1), runs=4000).epsilon <= 1


def test_weights_alone_are_no_bound() -> None:
    with pytest.raises(dp.PlanError, match="takes a number of groups"):
        TABLE.bound(weight="views")
