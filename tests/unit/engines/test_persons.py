"""Every engine that adds up persons has the integers of the reference, whatever the order, threads or collations."""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from tests.survey_files import write_survey

import discreet as dp
from discreet.cube.cube import Cube
from discreet.engines import Limits, open_source, person_rows, person_scans
from discreet.engines import persons as statements
from discreet.engines.base import ColumnType, totals_of_persons
from discreet.engines.reference import ReferenceEngine
from discreet.engines.sqlite import driver
from discreet.errors import SourceError
from discreet.plan.plan import Plan

SCHEMA = dp.Schema(
    visitor=dp.Identifier(),
    shop=dp.Category(["a", "b", "c"]),
    amount=dp.Number(-4, 10, step="0.5"),
    day=dp.Date("2026-01-01", "2026-12-31"),
    member=dp.Category([True, False]),
)
TABLE = dp.Table(SCHEMA, dp.AddRemove(person="visitor"))
COLUMNS = ("visitor", "shop", "amount", "day", "member")
IDS: dict[str, tuple[ColumnType, list[Any]]] = {
    "integers": (ColumnType("integer", "BIGINT"), [None, 0, 1, -1, 2**62, *range(5, 40)]),
    "texts": (
        ColumnType("text", "VARCHAR"),
        [None, "", "a", "A", "a ", "\u00e9", "e\u0301", *"0123456789"],
    ),
    "days": (ColumnType("date", "DATE"), [None, *(dt.date(2026, 1, 1 + k) for k in range(20))]),
}
PLANS: dict[str, Plan] = {
    "persons": TABLE.agg(dp.persons()),
    "rows": TABLE.bound(rows=2).agg(dp.count(), dp.persons()),
    "one group": TABLE.bound(groups=1, rows=1).group_by("shop").agg(dp.persons(), dp.count()),
    "two groups": TABLE.bound(groups=2, rows=3).group_by("shop", "member").agg(dp.persons(), dp.count()),
    "all groups": TABLE.bound(groups=50, rows=3).group_by("shop", "member").agg(dp.persons(), dp.count()),
    "bins and conditions": TABLE.where({"amount": (1, 8), "shop": ["a", "b"]})
    .clamp({"day": ("2026-02-01", "2026-11-30")})
    .bound(groups=2, rows=2)
    .group_by("shop", dp.bins("amount", [0, 2, 5, 7]), dp.bins("day", step="quarter"))
    .agg(dp.persons(), dp.count()),
    "values": TABLE.bound(groups=2, rows=1)
    .group_by("shop", "member")
    .agg(dp.sum("amount", per_person=(-6, 12)), dp.mean("amount", per_person=(-6, 12)), dp.persons()),
    "values of all": TABLE.clamp({"amount": (-1, 9)}).agg(dp.sum("amount", per_person=(-(2**30), 2**30))),
    "two values": TABLE.where({"amount": (-3, 8)})
    .bound(groups=1)
    .group_by("shop")
    .agg(dp.sum("amount", per_person=(1, 3)), dp.mean("amount", per_person=(0, 30))),
    "nulls dropped": TABLE.clamp({"shop": ["b", "c"]})
    .bound(groups=1, rows=2)
    .group_by("shop", "member", nulls={"shop": "drop"})
    .agg(dp.persons(), dp.count()),
}
BINS = dp.histogram("amount", [-3, 0, 1, 7])
PLANS |= {
    "values of rows": TABLE.where({"amount": (-3, 9)})
    .bound(groups=2, rows=3)
    .group_by("shop", "member")
    .agg(dp.mean("amount", nulls="skip"), dp.std("amount", nulls="skip"), dp.count("amount"), dp.count()),
    "squares": TABLE.bound(groups=1).group_by("shop").agg(dp.variance("amount", per_person=(-3, 12)), dp.persons()),
    "coarse squares": TABLE.bound(groups=3).group_by("shop").agg(dp.variance("amount", per_person=(-3, 2**20))),
    "divided": TABLE.bound(groups=2, rows=3).group_by("shop", "member").agg(BINS, dp.median("amount", nulls="skip")),
    "divided and counted": TABLE.bound(groups=99, rows=2)
    .group_by("shop", nulls="drop")
    .agg(dp.persons(), dp.quantiles("amount", ["0.1"], nulls="skip"), dp.std("amount", per_person=(0, 9)), BINS),
    "in full": TABLE.bound(groups=9, rows=4)
    .group_by("shop", "member")
    .agg(dp.persons(), dp.count(), dp.sum("amount", per_person=(-6, 18)), dp.counted_in_full()),
    "in full, rows alone": TABLE.bound(rows=12).agg(dp.count(), dp.counted_in_full()),
    "in full, groups alone": TABLE.bound(groups=3).group_by("shop", "member").agg(dp.counted_in_full()),
    "divided in all": TABLE.bound(rows=1).agg(BINS, dp.histogram("day", step="quarter")),
}
OF_EACH = TABLE.where({"amount": (-3, 9)}).clamp({"shop": ["b", "c"], "day": ("2026-02-01", "2026-11-30")})
MADE: dict[str, Any] = {
    "visits": dp.rows(2, 12),
    "spent": dp.total("amount", -5, 30),
    "shops": dp.distinct("shop", most=2),
    "amounts": dp.distinct("amount", most=3),
    "last": dp.latest("day"),
    "least": dp.earliest("amount"),
    "home": dp.only("shop"),
    "member": dp.only("member"),
}
PLANS |= {
    "a row of each": OF_EACH.per_person(**MADE).agg(*(dp.count(name) for name in MADE)),
    "one value of each": TABLE.per_person(**MADE).agg(dp.mean("spent", nulls="skip")),
    "persons as rows": OF_EACH.per_person(**MADE).agg(dp.count()),
}
FIRST, DAYS = dt.date(2025, 12, 20), 400


def rows_of(ids: Sequence[Any], seed: int, count: int = 600) -> list[tuple[Any, ...]]:
    chosen = random.Random(seed)  # noqa: S311
    return [
        (
            chosen.choice(ids),
            chosen.choice(["a", "b", "c", "zz", None]),
            chosen.choice([None, -3.0, 0.0, 0.74, 1.0, 4.5, 6.25, 7.0, 99.0]),
            chosen.choice([None, FIRST + dt.timedelta(days=chosen.randrange(DAYS))]),
            chosen.choice([None, True, False]),
        )
        for _ in range(count)
    ]


def frame_of(rows: Sequence[tuple[Any, ...]], kind: ColumnType) -> pl.DataFrame:
    types = {"integer": pl.Int64, "text": pl.String, "date": pl.Date}
    schema = dict(zip(COLUMNS, (types[kind.kind], pl.String, pl.Float64, pl.Date, pl.Boolean), strict=True))
    return pl.DataFrame(rows, schema=schema, orient="row")


def as_frame(frame: pl.DataFrame, _folder: Path) -> Any:
    return frame


def as_arrow(frame: pl.DataFrame, _folder: Path) -> Any:
    return frame.to_arrow()


def as_parquet(frame: pl.DataFrame, folder: Path) -> Any:
    """Several files, so that the rows of a person are in more than one."""
    for place in range(3):
        frame[place::3].write_parquet(folder / f"part-{place}.parquet", row_group_size=50)
    return str(folder / "*.parquet")


def as_relation(frame: pl.DataFrame, _folder: Path) -> Any:
    return duckdb.connect().sql("SELECT * FROM frame")


def as_database(frame: pl.DataFrame, folder: Path) -> Any:
    """A column of texts with a collation under which "a" and "A" are equal."""
    with duckdb.connect(str(folder / "visits.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT * FROM frame")
        if frame["visitor"].dtype == pl.String:
            connection.execute("ALTER TABLE visits ALTER visitor TYPE VARCHAR COLLATE NOCASE")
    return f"{folder / 'visits.duckdb'}::visits"


def as_csv(frame: pl.DataFrame, folder: Path) -> Any:
    """Texts in several files, which are read one after the other: a person has rows in more than one."""
    for place in range(3):
        frame[place::3].write_csv(folder / f"part-{place}.csv")
    return str(folder / "*.csv")


SOURCES: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "frame": as_frame,
    "arrow": as_arrow,
    "parquet": as_parquet,
    "relation": as_relation,
    "database": as_database,
    "csv": as_csv,
}


def totals(engine: Any, plan: Plan) -> list[tuple[Any, ...]]:
    scan = plan.layout.persons or plan.layout.each
    assert scan is not None
    cube: Cube = totals_of_persons(engine, scan)
    return list(zip(cube.keys.tolist(), cube.rows.tolist(), cube.sums.tolist(), strict=True))


@pytest.mark.one_in(12)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("ids", IDS)
def test_every_source_answers_as_the_reference(source: str, ids: str, tmp_path: Path) -> None:
    kind, values = IDS[ids]
    rows = rows_of([None if source == "csv" and value == "" else value for value in values], 1)
    header = dict(
        zip(
            COLUMNS,
            (kind, *(ColumnType(*one) for one in (("text", ""), ("float", ""), ("date", ""), ("boolean", "")))),
            strict=True,
        )
    )
    reference = ReferenceEngine(header, rows)
    engine = open_source(SOURCES[source](frame_of(rows, kind), tmp_path), SCHEMA)
    try:
        for name, plan in PLANS.items():
            assert totals(engine, plan) == totals(reference, plan), name
    finally:
        engine.close()


def test_neither_order_nor_threads_change_an_integer() -> None:
    kind, values = IDS["texts"]
    rows = rows_of(values, 2)
    shuffled = [*rows]
    random.Random(3).shuffle(shuffled)  # noqa: S311
    one, other = (
        open_source(frame_of(some, kind), SCHEMA, Limits(threads=threads)) for some, threads in ((rows, 1), (shuffled, 4))
    )
    for plan in PLANS.values():
        assert totals(one, plan) == totals(other, plan)


def test_a_text_that_parquet_cannot_tell_apart_is_no_person(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are read as question marks, and two persons must never become one."""
    frame = frame_of([("x?", "a", 1.0, None, True), ("x", "a", 1.0, None, True)], IDS["texts"][0])
    frame.write_parquet(tmp_path / "visits.parquet")
    plan = PLANS["persons"]
    assert totals(open_source(str(tmp_path / "visits.parquet"), SCHEMA), plan)[0][1] == 1
    assert totals(open_source(frame, SCHEMA), plan)[0][1] == 2


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("p IS NOT NULL", "true"),  # null ids kept
        ("GROUP BY p, ", "GROUP BY "),  # persons merged
        ("k0 BETWEEN", "NOT k0 BETWEEN"),  # rows outside of every group
    ],
)
def test_a_statement_that_counts_otherwise_is_noticed(right: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    literal, found = statements.person_rows_sql, list[bool]()

    def mutant(*given: Any) -> str:
        statement = literal(*given)
        found.append(right in statement)
        if wrong == "GROUP BY ":
            return statement.replace(right, wrong).replace("SELECT p AS p, ", "SELECT 0 AS p, ", 1)
        return statement.replace(right, wrong)

    _assert_noticed(mutant, literal, monkeypatch, "person_rows_sql")
    assert any(found)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("AS c FROM discreet_parts GROUP BY p", "AS c FROM discreet_parts GROUP BY p, cell"),  # not the groups of a person
        ("coalesce(w0, 0)", "1024"),  # nobody is shrunk
        ("(9, 482, ", "(9, 483, "),  # a weight that is rounded up
        ("WHEN n > 3 THEN 3", "WHEN n > 3 THEN n"),  # all rows count
        ("WHEN n0 = 0 THEN 0", "WHEN n0 = 0 THEN 3"),  # persons without a value have one
        ("> 24 THEN 24", "> 24 THEN 25"),  # a bound that is not kept
        ("CAST(n0 AS HUGEINT) * -8", "-8"),  # the least value once for a person, not for each value
        ("n0 > 3 THEN 3", "n0 > 3 THEN n0"),  # all values count
        ("n0 <= 3", "n0 <= 4"),  # of too many rows all values
        ("% CAST(n0 AS HUGEINT))", "% CAST(n0 AS HUGEINT) * 0)"),  # values of rows rounded to whole ones
        ("WHERE m0 > 3", "WHERE m0 > 4"),  # one row too many
        ("m IS NULL", "n <= 3"),  # all rows of a bin, if they are few
        ("CASE WHEN b1 = -1 THEN 0", "CASE WHEN b1 = -1 THEN n"),  # rows that are nowhere are divided too
        ("AND b0 <> 4", "AND b0 < 3"),  # rows without a value are in no bin
        ("AND own0.cell = many0.cell", "AND own0.cell >= many0.cell"),  # too many rows in another group
        ("AND b0 <> 4 GROUP BY p, cell, b0", "AND b0 <> 4 GROUP BY p, cell, b0, b1"),  # the rows of a bin in two parts
        ("WHEN n > 4 OR", "WHEN"),  # too many rows are all
        ("n0 > 0 AND", "n0 > 9 AND"),  # a total beyond its bounds is all
        ("c <= 9 AND", ""),  # too many groups are all
        ("AS c FROM whole GROUP BY p", "AS c FROM discreet_parts GROUP BY p"),  # bins counted as groups
    ],
)
def test_totals_that_weigh_otherwise_are_noticed(right: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    literal, found = statements.person_totals_sql, list[bool]()

    def mutant(*given: Any) -> str:
        statement = literal(*given)
        found.append(right in statement)
        return statement.replace(right, wrong)

    _assert_noticed(mutant, literal, monkeypatch, "person_totals_sql")
    assert any(found)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("GROUP BY p)", "GROUP BY p, k0)"),  # a row for each value of a person
        ("count(DISTINCT", "count("),  # all rows for their different values
        ("CASE WHEN min(", "CASE WHEN true OR min("),  # the least value for the only one
        ("x0 > 12 THEN 12", "x0 > 12 THEN 13"),  # a bound that is not kept
        ("coalesce(", "greatest(0, "),  # a person without a value has the least one
    ],
)
def test_rows_that_are_made_otherwise_are_noticed(right: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    literal, found = person_rows.made_rows_sql, list[bool]()

    def mutant(*given: Any) -> str:
        statement = literal(*given)
        found.append(right in statement)
        return statement.replace(right, wrong)

    _assert_noticed(mutant, literal, monkeypatch, "made_rows_sql", ["a row of each"])
    assert any(found)


def _assert_noticed(
    mutant: Any,
    literal: Any,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    asked: Sequence[str] = ("two groups", "all groups", "values", "values of rows", "divided", "in full"),
) -> None:
    """The integers of plans in which everything matters are others."""
    kind, values = IDS["integers"]
    engine = open_source(frame_of(rows_of(values, 4), kind), SCHEMA)
    plans = [PLANS[one] for one in asked]
    right = [totals(engine, plan) for plan in plans]
    assert getattr(person_scans, name) is literal
    monkeypatch.setattr(person_scans, name, mutant)
    assert [totals(engine, plan) for plan in plans] != right


@pytest.mark.parametrize(
    ("values", "rule"),
    [([1.0, 2.5], "Identifier"), ([True, False], "Identifier"), ([dt.datetime(2026, 1, 1, tzinfo=dt.UTC)], "Identifier")],
)
def test_ids_whose_equality_is_not_exact_are_refused(values: list[Any], rule: str) -> None:
    frame = pl.DataFrame({"visitor": values, "shop": ["a"] * len(values)})
    with pytest.raises(SourceError, match=rule):
        open_source(frame, dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a"])))


def test_moments_that_are_read_as_days_are_no_ids(tmp_path: Path) -> None:
    """A driver gives timestamps in milliseconds as days: all persons of one day would be one."""
    moments = [dt.datetime(2026, 1, 1, 9, tzinfo=dt.UTC), dt.datetime(2026, 1, 1, 10, tzinfo=dt.UTC)]
    frame = pl.DataFrame({"visitor": moments, "shop": ["a", "a"]})
    frame.with_columns(pl.col("visitor").dt.replace_time_zone(None).cast(pl.Datetime("ms"))).write_parquet(
        tmp_path / "v.parquet"
    )
    with pytest.raises(SourceError, match="Identifier"):
        open_source(str(tmp_path / "v.parquet"), dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a"])))


def test_a_source_without_the_identifier_is_refused() -> None:
    with pytest.raises(SourceError, match="visitor"):
        open_source(pl.DataFrame({"shop": ["a"]}), dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a"])))


def test_an_engine_that_cannot_add_up_persons_is_refused_by_name(tmp_path: Path) -> None:
    source = write_survey(tmp_path / "visits.sav", {"visitor": ColumnType("text", ""), "shop": ColumnType("text", "")}, [])
    with pytest.raises(SourceError, match="Parquet"):
        open_source(source, dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a"])))


ANY = ColumnType("any", "untyped cells of SQLite")
CELLS: list[Any] = [None, 1, "1", 1.0, 2.5, b"1", "", "a", "A", "a ", "\u00e9", "e\u0301", "x\ufffd", -(2**63), 2**63 - 1]
"""What cells without a type may hold: two integers that are equal are one person, and no other two of them are."""


def sqlite_of(rows: Sequence[tuple[Any, ...]], folder: Path) -> str:
    """Columns without a type, and a collation under which "a" and "A" are equal."""
    path = folder / "visits.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE visits (visitor COLLATE NOCASE, shop COLLATE NOCASE, amount, day)")
        written = [(*row[:3], None if row[3] is None else str(row[3])) for row in rows]
        database.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", written)
    return f"{path}::visits"


def sqlite_plans(table: dp.Table) -> list[Plan]:
    values = dp.sum("amount", per_person=(-6, 12)), dp.mean("amount", per_person=(-6, 12)), dp.persons()
    made = {name: how for name, how in MADE.items() if name != "member"}
    return [
        table.bound(rows=2).agg(dp.count(), dp.persons()),
        table.bound(groups=1, rows=2).group_by("shop", dp.bins("day", step="quarter")).agg(dp.persons(), dp.count()),
        table.where({"amount": (-3, 8)}).bound(groups=2).group_by("shop").agg(*values),
        table.clamp({"shop": ["b", "c"]}).per_person(**made).agg(*(dp.count(name) for name in made)),
    ]


def sqlite_rows() -> list[tuple[Any, ...]]:
    """Ids of every kind, also as values of a column: those that are no ids are no persons."""
    return [row[:4] for row in rows_of(CELLS, 6, 900)]


def test_sqlite_answers_as_the_reference_whatever_kind_of_cell_an_id_is(tmp_path: Path) -> None:
    rows = sqlite_rows()
    kept = [(row[0] if isinstance(row[0], int | str) and row[0] != "x\ufffd" else None, *row[1:]) for row in rows]
    schema = dp.Schema(visitor=dp.Identifier(), shop=SCHEMA["shop"], amount=SCHEMA["amount"], day=SCHEMA["day"])
    kinds = (ANY, *(ColumnType(*one) for one in (("text", ""), ("float", ""), ("date", ""))))
    header = dict(zip(COLUMNS[:4], kinds, strict=True))
    engine, reference = open_source(sqlite_of(rows, tmp_path), schema), ReferenceEngine(header, kept)
    for plan in sqlite_plans(dp.Table(schema, dp.AddRemove(person="visitor"))):
        assert totals(engine, plan) == totals(reference, plan)


ID_OF = driver._id_of
WRONG_IDS: dict[str, Callable[[Any], str | None]] = {
    "an integer and its text are one": lambda cell: None if ID_OF(cell) is None else str(cell),
    "texts of a collation are one": lambda cell: None if ID_OF(cell) is None else str(ID_OF(cell)).lower(),
    "bytes are a person": lambda cell: ID_OF(cell) or ("b" if isinstance(cell, bytes) else None),
    "doubles are persons": lambda cell: ID_OF(cell) or (f"d{cell}" if isinstance(cell, float) else None),
    "texts that were not UTF-8 are one": lambda cell: ID_OF(cell) or ("x" if isinstance(cell, str) else None),
}


@pytest.mark.parametrize("wrong", WRONG_IDS)
def test_ids_of_sqlite_that_are_told_apart_otherwise_are_noticed(
    wrong: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(driver, "_id_of", WRONG_IDS[wrong])
    with pytest.raises(AssertionError):
        test_sqlite_answers_as_the_reference_whatever_kind_of_cell_an_id_is(tmp_path)


def test_cells_of_a_csv_file_are_ids_unless_they_are_empty_or_cannot_be_told_apart(tmp_path: Path) -> None:
    """Two bytes that are not UTF-8 are read as the same character: two persons must never become one."""
    rows = b'visitor;amount\n1;1,5\n01;1,5\n"1";0,5\n;1,5\n a;2\na;2\n\xff;3\n\xfe;3\n"x;y";3\n'
    path = tmp_path / "visits.csv"
    path.write_bytes(rows)
    source = dp.CsvFiles(str(path), separator=";", decimal=",")
    schema = dp.Schema(visitor=dp.Identifier(), amount=dp.Number(0, 10, step="0.5"))
    table = dp.Table(schema.read_as(source.format), dp.AddRemove(person="visitor"))
    engine = open_source(source, schema.read_as(source.format))
    plan = table.where({"amount": ("0.5", 3)}).bound(rows=1).agg(dp.persons(), dp.count())
    assert totals(engine, plan) == [([0, 0], 5, [5, 5, 5, 5])]  # "1" twice, "01", " a", "a" and "x;y"


def test_a_source_without_rows_has_no_persons(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("visitor,shop\n")
    engine = open_source(str(tmp_path / "visits.csv"), dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b", "c"])))
    plan = dp.Table(dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b", "c"])), dp.AddRemove(person="visitor"))
    assert totals(engine, plan.bound(groups=1).group_by("shop").agg(dp.persons())) == []


def test_a_folder_whose_names_give_values_is_refused(tmp_path: Path) -> None:
    part = tmp_path / "visits" / "shop=a"
    part.mkdir(parents=True)
    pl.DataFrame({"visitor": [1]}).write_parquet(part / "rows.parquet")
    with pytest.raises(SourceError, match="add up persons"):
        open_source(str(tmp_path / "visits"), dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a"])))
