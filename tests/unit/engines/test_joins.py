"""Tables of persons beside rows: every pair of sources has the integers of the reference, and mutants have others."""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
from collections.abc import Callable
from itertools import count as numbers
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.audit.engines.conformance import ConformanceError
from discreet.audit.engines.joins import JOINED_SCHEMAS, Source, check_joins, joined_header, joined_requests
from discreet.domain.person_relations import AddRemovePersons, with_beside
from discreet.engines import Limits, joined_parts, open_sources, person_codes, person_rows, person_scans
from discreet.engines import persons as statements
from discreet.engines.base import ColumnType, Engine, totals_of_persons
from discreet.engines.duckdb import joined as by_duckdb
from discreet.engines.joined import JoinedEngine
from discreet.engines.reference import ReferenceEngine
from discreet.engines.reference_joins import ReferenceJoiner
from discreet.engines.texts import Places, keys_kept
from discreet.errors import SourceError
from discreet.plan.plan import Plan
from discreet.plan.table import Table

TYPES = {"integer": pl.Int64, "text": pl.String, "date": pl.Date, "float": pl.Float64}
NAMES = numbers()


def frame_of(source: Source) -> pl.DataFrame:
    header, rows = source
    schema = {name: TYPES[kind.kind] for name, kind in header.items()}
    return pl.DataFrame([*map(tuple, rows)], schema=schema, orient="row")


def as_frame(source: Source, _folder: Path) -> Any:
    return frame_of(source)


def as_parquet(source: Source, folder: Path) -> Any:
    """Two files, so that the rows of a person are in more than one."""
    for place in range(2):
        frame_of(source)[place::2].write_parquet(folder / f"part-{place}.parquet", row_group_size=20)
    return str(folder / "*.parquet")


def as_relation(source: Source, _folder: Path) -> Any:
    frame = frame_of(source)
    assert frame.width
    return duckdb.connect().sql("SELECT * FROM frame")


def as_database(source: Source, folder: Path) -> Any:
    """Texts with a collation under which "a" and "A" are equal."""
    frame = frame_of(source)
    assert frame.width
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE rows AS SELECT * FROM frame")
        for name, kind in source[0].items():
            if kind.kind == "text":
                connection.execute(f"ALTER TABLE rows ALTER {name} TYPE VARCHAR COLLATE NOCASE")
    return f"{folder / 'rows.duckdb'}::rows"


def as_csv(source: Source, folder: Path) -> Any:
    for place in range(2):
        frame_of(source)[place::2].write_csv(folder / f"part-{place}.csv")
    return str(folder / "*.csv")


def as_sqlite(source: Source, folder: Path) -> Any:
    """Columns without a type, and a collation under which "a" and "A" are equal."""
    path, header = folder / "rows.sqlite", source[0]
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE rows ({', '.join(f'{name} COLLATE NOCASE' for name in header)})")
        written = [[str(cell) if isinstance(cell, dt.date) else cell for cell in row] for row in source[1]]
        database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' for _ in header)})", written)
    return f"{path}::rows"


TYPED: dict[str, Callable[[Source, Path], Any]] = {
    "frame": as_frame,
    "parquet": as_parquet,
    "relation": as_relation,
    "database": as_database,
}
PAIRS = [(as_csv, as_csv), *((a, b) for a in TYPED.values() for b in TYPED.values()), (as_sqlite, as_sqlite)]


def opener(
    folder: Path, here: Callable[..., Any], there: Callable[..., Any], limits: Limits | None = None
) -> Callable[[Source, Source], Engine]:
    """Sources of these kinds, each time in folders of their own."""

    def open_both(visits: Source, people: Source) -> Engine:
        folders = [folder / str(next(NAMES)) for _ in "ab"]
        for one in folders:
            one.mkdir()
        beside = {"people": (there(people, folders[1]), JOINED_SCHEMAS[1])}
        given = () if limits is None else (limits,)
        return open_sources(here(visits, folders[0]), JOINED_SCHEMAS[0], beside, *given)

    return open_both


@pytest.mark.one_in(11)
@pytest.mark.parametrize(("here", "there"), PAIRS, ids=lambda one: one.__name__)
def test_every_pair_of_engines_has_the_integers_of_the_reference(
    here: Callable[..., Any], there: Callable[..., Any], tmp_path: Path
) -> None:
    assert check_joins(opener(tmp_path, here, there)) == (2 + 5 + 2) * 15


def tables(seed: int, rows: int = 300) -> tuple[Source, Source]:
    """Visits and persons with texts as ids."""
    chosen = random.Random(seed)  # noqa: S311
    ids = [None, *map(str, range(40))]
    visits = [(chosen.choice(ids), chosen.choice(["a", "b", None]), chosen.choice([None, 1.5, 9.0])) for _ in range(rows)]
    days = [None, dt.date(2026, 2, 1), dt.date(2026, 8, 1)]
    people = [
        (chosen.choice(ids), chosen.choice(["n", "e", "s"]), float(chosen.randrange(90)), chosen.choice(days))
        for _ in range(60)
    ]
    headers = joined_header(ColumnType("text", "VARCHAR"))
    return (headers[0], visits), (headers[1], people)


def found_in(engine: Engine, plan: Plan) -> list[Any]:
    scan = plan.layout.persons or plan.layout.each
    assert scan is not None
    cube = totals_of_persons(engine, scan)
    return [cube.keys.tolist(), cube.rows.tolist(), cube.sums.tolist()]


def reference_of(visits: Source, people: Source) -> JoinedEngine:
    engine, others = ReferenceEngine(*visits), {"people": ReferenceEngine(*people)}
    return JoinedEngine(engine, others, ReferenceJoiner(engine, others))


def test_neither_order_nor_threads_change_an_integer(tmp_path: Path) -> None:
    visits, people = tables(1, 5_000)
    shuffled = [(header, [*rows][::-1]) for header, rows in (visits, people)]
    one = opener(tmp_path, as_frame, as_frame, Limits(threads=1))(visits, people)
    other = opener(tmp_path, as_frame, as_parquet, Limits(threads=4))(*shuffled)
    for name, plan in joined_requests():
        assert found_in(one, plan) == found_in(other, plan), name


# Mutants of the statements ------------------------------------------------------------------------------------------------


def replacing(module: Any, name: str, right: str, wrong: str) -> Callable[[pytest.MonkeyPatch], list[bool]]:
    """A statement in which one thing is another, and whether it was there."""

    def apply(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        literal, found = getattr(module, name), list[bool]()

        def mutant(*given: Any) -> str:
            statement = literal(*given)
            found.append(right in statement)
            return str(statement.replace(right, wrong))

        for one in (joined_parts, person_codes, person_rows, person_scans, by_duckdb):
            if getattr(one, name, None) is literal:
                monkeypatch.setattr(one, name, mutant)
        return found

    return apply


MUTANTS = {
    "duplicates that agree and do not are one": replacing(
        person_codes, "agreed_codes_sql", "CASE WHEN least0 = most0 THEN least0 END", "least0"
    ),
    "one row for each row of a person": replacing(person_codes, "code_parts_sql", "GROUP BY p", "GROUP BY p, k0"),
    "persons without a row are lost": replacing(
        joined_parts, "joined_parts_sql", "LEFT JOIN (SELECT p, agreed0", "JOIN (SELECT p, agreed0"
    ),
    "rows meet all persons": replacing(joined_parts, "joined_parts_sql", "ON own.p = beside0.p", "ON true"),
    "conditions are lost": replacing(joined_parts, "joined_parts_sql", "k0 = 1", "true"),
    "null labels are groups": replacing(joined_parts, "joined_parts_sql", " BETWEEN 0 AND 2", " BETWEEN -1 AND 2"),
    "rows of others are kept": replacing(
        joined_parts, "joined_parts_sql", " JOIN (SELECT p, agreed0", " LEFT JOIN (SELECT p, agreed0"
    ),
    "persons without rows are lost": replacing(
        joined_parts, "everybody_sql", "AS labelled UNION", "AS labelled WHERE 1 < 0 UNION"
    ),
    "more rows of a person are none": replacing(joined_parts, "everybody_sql", "m > 1", "m > 9"),
    "all without an id are one": replacing(joined_parts, "everybody_sql", " m AS times", " 1 AS times"),
    "each row of a person counts": replacing(person_rows, "made_rows_sql", "1 AS times", "max(times) AS times"),
    "nobody counts without an id": replacing(person_rows, "made_rows_sql", "WHERE p IS NULL", "WHERE p IS NULL AND 1 < 0"),
    "of those without an id nothing is known": replacing(
        person_codes, "code_parts_sql", "CASE WHEN p IS NULL THEN CASE", "CASE WHEN p IS NOT NULL THEN CASE"
    ),
    "each row has the whole value": replacing(joined_parts, "joined_parts_sql", "CAST(rows_n AS HUGEINT) *", "1 *"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_statement_that_joins_otherwise_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = MUTANTS[mutant](monkeypatch)
    with pytest.raises(ConformanceError):
        check_joins(opener(tmp_path, as_frame, as_frame))
    assert any(found)


def test_null_ids_that_are_joined_with_null_ids_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    every = [
        replacing(person_codes, "code_parts_sql", "p IS NOT NULL", "true"),
        replacing(statements, "person_rows_sql", "p IS NOT NULL", "true"),
        replacing(joined_parts, "joined_parts_sql", "own.p = beside0.p", "own.p IS NOT DISTINCT FROM beside0.p"),
    ]
    found = [one(monkeypatch) for one in every]
    with pytest.raises(ConformanceError):
        check_joins(opener(tmp_path, as_frame, as_frame))
    assert all(map(any, found))


def test_a_bound_before_the_join_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a person weighs is found in the rows alone, and counts for each row that she has in the other table."""
    every = [
        replacing(person_codes, "code_parts_sql", "GROUP BY p", "GROUP BY p, k0"),
        replacing(statements, "person_totals_sql", "count(*) AS INTEGER) AS c", "count(DISTINCT cell) AS INTEGER) AS c"),
    ]
    found = [one(monkeypatch) for one in every]
    with pytest.raises(ConformanceError):
        check_joins(opener(tmp_path, as_frame, as_frame))
    assert all(map(any, found))


# Texts, wide numbers and what is refused ----------------------------------------------------------------------------------


WORDS = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(max_length=5), amount=JOINED_SCHEMAS[0]["amount"])


def words_plan() -> Plan:
    relation = with_beside(AddRemovePersons("visitor"), {"people": "id"})
    table = Table(WORDS, relation, beside=(("people", JOINED_SCHEMAS[1]),)).join("people").where({"age": (10, 80)})
    grouped = table.bound(groups=2, rows=2).group_by("part", dp.Discover("shop"), "town")
    return grouped.agg(dp.persons(), dp.count(), dp.sum("amount", per_person=(0, 20)), dp.sum("age", per_person=(0, 300)))


@pytest.mark.parametrize(
    ("here", "there"), [(as_frame, as_parquet), (as_csv, as_csv), (as_sqlite, as_sqlite), (as_database, as_relation)]
)
def test_texts_are_kept_beside_persons(here: Callable[..., Any], there: Callable[..., Any], tmp_path: Path) -> None:
    visits, people = tables(2)
    scan = words_plan().layout.keys
    assert scan is not None
    (tmp_path / "visits").mkdir()
    (tmp_path / "people").mkdir()
    beside = {"people": (there(people, tmp_path / "people"), JOINED_SCHEMAS[1])}
    engine = open_sources(here(visits, tmp_path / "visits"), WORDS, beside)
    whole = words_plan().with_found(["a", "b"])
    assert whole.layout.persons is not None
    found = []
    for one in (engine, reference_of(visits, people)):
        with keys_kept(one, scan) as kept:
            weights = kept.candidates([], 1).tolist()
            names = kept.names(np.arange(len(weights)))
            cube = kept.totals(Places({"a": 0, "b": 1}, None, 2, 3), whole.layout.persons)
            found.append((weights, names, cube.keys.tolist(), cube.sums.tolist()))
    assert found[0] == found[1]
    assert found[0][1] == ["a", "b"]
    engine.close()


def test_wide_ids_and_sums_of_a_relation_are_exact() -> None:
    """The ids need 128 bits and differ by one, and the sums of their values need more than 64."""
    connection, most = duckdb.connect(), 2**51
    big = 2**100
    visits = connection.sql(
        f"SELECT CAST({big} + range % 2 AS HUGEINT) AS visitor, CAST({most} - range % 2 AS BIGINT) AS amount "
        "FROM range(18000)"
    )
    people = connection.sql(
        f"SELECT CAST({big} + range AS HUGEINT) AS id, CAST(range * {most} AS BIGINT) AS age FROM range(2)"
    )
    schemas = (
        dp.Schema(visitor=dp.Identifier(), amount=dp.Number(0, most)),
        dp.Schema(id=dp.Identifier(), age=dp.Number(0, most)),
    )
    table = Table(schemas[0], with_beside(AddRemovePersons("visitor"), {"people": "id"}), beside=(("people", schemas[1]),))
    made = table.join("people").per_person(
        spent=dp.total("amount", 0, 2**39), ages=dp.total("age", 0, 2**39), n=dp.rows(0, 9_500)
    )
    plan = made.agg(*(dp.count(name) for name in made.schema.columns))
    engine = open_sources(visits, schemas[0], {"people": (people, schemas[1])})
    assert plan.layout.each is not None
    cube = totals_of_persons(engine, plan.layout.each)
    assert cube.keys.tolist() == [[2**39, 0, 9_000], [2**39, 2**39, 9_000]]
    assert cube.rows.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("visitor", "person", "said"),
    [
        (pl.Int64, pl.String, "VARCHAR.*BIGINT.*cast one"),
        (pl.String, pl.Int64, "BIGINT.*VARCHAR.*cast one"),
        (pl.Date, pl.Int64, "BIGINT.*DATE.*cast one"),
    ],
)
def test_ids_of_different_types_are_refused_before_anything_is_read(visitor: Any, person: Any, said: str) -> None:
    visits = pl.DataFrame(
        {"visitor": [], "shop": [], "amount": []}, schema={"visitor": visitor, "shop": pl.String, "amount": pl.Int64}
    )
    people = frame_of((joined_header(ColumnType("integer", ""))[1], ())).with_columns(pl.lit(None, person).alias("id"))
    with pytest.raises(SourceError, match=said):
        open_sources(visits, JOINED_SCHEMAS[0], {"people": (people, JOINED_SCHEMAS[1])})


def test_integers_of_different_widths_are_one_type(tmp_path: Path) -> None:
    visits, people = tables(3)
    narrow = frame_of(visits).with_columns(pl.col("visitor").cast(pl.Int16))
    wide = frame_of(people).with_columns(pl.col("id").cast(pl.UInt64))
    engine = open_sources(narrow, JOINED_SCHEMAS[0], {"people": (wide, JOINED_SCHEMAS[1])})
    for name, plan in joined_requests():
        assert found_in(engine, plan) == found_in(reference_of(visits, people), plan), name


def test_sources_that_cannot_be_put_together_are_refused_by_name(tmp_path: Path) -> None:
    visits, people = tables(4)
    frame, cells = frame_of(visits), as_sqlite(people, tmp_path)
    with pytest.raises(SourceError, match="untyped cells of SQLite"):
        open_sources(frame, JOINED_SCHEMAS[0], {"people": (cells, JOINED_SCHEMAS[1])})
    with pytest.raises(SourceError, match=r"beside\['people'\]: the engine and the frame cannot be put together"):
        open_sources(frame, JOINED_SCHEMAS[0], {"people": (ReferenceEngine(*people), JOINED_SCHEMAS[1])})


def test_the_snapshot_shows_a_change_of_either_source(tmp_path: Path) -> None:
    visits, people = tables(5)
    engine = opener(tmp_path, as_relation, as_csv)(visits, people)
    before = engine.snapshot()
    assert before
    (path, *_) = tmp_path.rglob("*.csv")
    path.write_text(path.read_text() + "99,n,30,\n")
    assert engine.snapshot() != before
    assert opener(tmp_path, as_relation, as_relation)(visits, people).snapshot() == ""
