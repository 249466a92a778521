"""Every engine that keeps texts has the integers and the names of the reference, and nothing of them afterwards."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.engines import open_source
from discreet.engines.base import ColumnType, Engine
from discreet.engines.reference import ReferenceEngine
from discreet.engines.texts import Keyed, KeyTable, Places, keys_kept
from discreet.errors import InternalError, SourceError
from discreet.plan.plan import Plan

SCHEMA = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(6), sex=dp.Category(["f", "m"]), age=dp.Number(0, 9))
TABLE = dp.Table(SCHEMA, dp.AddRemove(person="visitor"))
HEADER = {
    "visitor": ColumnType("text", "VARCHAR"),
    "shop": ColumnType("text", "VARCHAR"),
    "sex": ColumnType("text", "VARCHAR"),
    "age": ColumnType("integer", "BIGINT"),
}
WORDS = [
    *("a", "A", "a ", "\u00e9", "e\u0301", "ß", "日本", "'; --", "zz?", "other", "six666", "seven77", ""),
    *("tab\there", "\x00", "\x1f", "\x7f", "\x85", "\u2028", "\ufffdq", "\U0001f600", None),
]
FOUND = ("A", "\u00e9")
SHOPS = dp.Discover("shop", known=["a"], other=True)
PLANS: dict[str, Plan] = {
    "alone": TABLE.bound(groups=1, rows=1).group_by(SHOPS).agg(dp.persons(), dp.count()),
    "conditions": TABLE.where({"age": (1, 7)}).bound(groups=3, rows=2).group_by(SHOPS).agg(dp.persons(), dp.count()),
    "between": TABLE.bound(groups=2, rows=3)
    .group_by("sex", SHOPS, dp.bins("age", [0, 4, 8]), nulls={"sex": "drop"})
    .agg(dp.persons(), dp.count(), dp.sum("age", per_person=(0, 12)), dp.mean("age", per_person=(1, 7))),
}


def made(seed: int, words: Sequence[str | None]) -> list[tuple[Any, ...]]:
    chosen = random.Random(seed)  # noqa: S311
    ids = [None, "p1", "P1", "p1 ", *map(str, range(12))]
    sexes, ages = ["f", "m", "x", None], [None, 1, 5, 7]
    return [tuple(chosen.choice(one) for one in (ids, words, sexes, ages)) for _ in range(400)]


def sources(rows: Sequence[tuple[Any, ...]], folder: Path) -> dict[str, Any]:
    frame = pl.DataFrame(rows, schema=dict(zip(HEADER, [pl.String] * 3 + [pl.Int64], strict=True)), orient="row")
    frame.write_parquet(folder / "rows.parquet")
    frame.write_csv(folder / "rows.csv")
    with duckdb.connect(folder / "rows.duckdb") as database:
        database.register("frame", frame)
        database.execute("CREATE TABLE visits AS SELECT * FROM frame")
        database.execute("CREATE VIEW seen AS SELECT * FROM visits")
    with sqlite3.connect(folder / "rows.sqlite") as database:
        database.execute("CREATE TABLE visits (visitor TEXT, shop TEXT COLLATE NOCASE, sex TEXT, age INTEGER)")
        database.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", frame.rows())
    files = {name: folder / f"rows.{name}" for name in ("parquet", "csv")}
    tables = {name: f"{folder / 'rows.duckdb'}::{name}" for name in ("visits", "seen")}
    tables["sqlite"] = f"{folder / 'rows.sqlite'}::visits"
    return {"frame": frame, "shuffled": frame.sample(fraction=1, shuffle=True, seed=2), **files, **tables}


def seen(engine: Engine, plan: Plan) -> list[object]:
    """Whatever a release can ask of an engine: candidates of several rounds, their names, and totals."""
    scan, whole = plan.layout.keys, plan.with_found(FOUND).layout.persons
    assert scan is not None
    assert whole is not None
    found: list[object] = []
    with keys_kept(engine, scan) as table:
        for gone, at_least in (((), 1), (("a",), 1), (("a", *FOUND), 2), (("a", *FOUND), 10**6)):
            weights = table.candidates(gone, at_least)
            found.append(
                (weights.tolist(), table.names(np.arange(len(weights))), table.names(np.arange(1, len(weights), 3)))
            )
        named = {name: place for place, name in enumerate(("a", *FOUND))}
        found += [totals(table, Places(named, other, null, 5), whole) for other, null in ((3, 4), (None, 4), (3, None))]
        least = plan.layout.persons
        assert least is not None
        found.append(totals(table, Places({}, None, 2, 3), least))
    return found


def totals(table: KeyTable, places: Places, whole: Any) -> list[list[int]]:
    cube = table.totals(places, whole)
    return np.column_stack([cube.keys, cube.rows, cube.sums]).tolist()


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.slow) for name in [*PLANS][:-1]), [*PLANS][-1]])
def test_every_engine_has_the_integers_of_the_reference(name: str, tmp_path: Path) -> None:
    rows = made(1, WORDS)
    plain = [(p, word, s, a) for p, word, s, a in rows if word is None or word.isprintable() or word == ""]
    for those, kinds in ((rows, ("frame", "shuffled", "parquet", "visits", "seen")), (plain, ("csv", "sqlite"))):
        expected = seen(ReferenceEngine(HEADER, those), PLANS[name])
        folder = tmp_path / kinds[0]
        folder.mkdir()
        given = sources(those, folder)
        for kind in kinds:
            engine = open_source(given[kind], SCHEMA)
            assert seen(engine, PLANS[name]) == expected, kind
            engine.close()


def test_two_spellings_of_a_text_are_one_key() -> None:
    rows = [("p", "e\u0301", "f", 1), ("q", "\u00e9", "f", 1)]
    scan = PLANS["alone"].layout.keys
    assert scan is not None
    for engine in (ReferenceEngine(HEADER, rows), open_source(pl.DataFrame(rows, schema=[*HEADER], orient="row"), SCHEMA)):
        with keys_kept(engine, scan) as table:
            assert table.candidates((), 2).tolist() == [2 * 2**20]
            assert table.names(np.arange(1)) == ["\u00e9"]


def test_nothing_is_kept_afterwards(tmp_path: Path) -> None:
    """Neither a table of the private database, nor a file."""
    engine = open_source(sources(made(1, WORDS), tmp_path)["parquet"], SCHEMA)
    scan = PLANS["alone"].layout.keys
    assert scan is not None
    with keys_kept(engine, scan) as table:
        table.candidates((), 1)
        cursor = table._cursor  # type: ignore[attr-defined]
        assert len(cursor.execute("SELECT * FROM duckdb_tables()").fetchall()) == 2
        table.totals(Places({}, 0, 1, 2), PLANS["alone"].layout.persons)  # type: ignore[arg-type]
    with engine._database.cursor() as cursor:  # type: ignore[attr-defined]
        assert cursor.execute("SELECT * FROM duckdb_tables()").fetchall() == []
    engine.close()


def test_sources_that_cannot_be_kept_are_refused_by_name() -> None:
    relation = duckdb.connect().sql("SELECT 'v' AS visitor, 's' AS shop, 'f' AS sex, 1 AS age")
    with pytest.raises(SourceError, match=r"'shop': .* cannot find groups in a Text yet; write the rows to a Parquet file"):
        open_source(relation, SCHEMA)


def test_a_column_of_texts_has_texts() -> None:
    frame = pl.DataFrame({"visitor": ["v"], "shop": [1], "sex": ["f"], "age": [1]})
    with pytest.raises(SourceError, match="a Text is read from a column of texts; cast the column"):
        open_source(frame, SCHEMA)
    with pytest.raises(SourceError, match="column 'shop': declared in the schema, but not in"):
        open_source(frame.drop("shop"), SCHEMA)


class _Without:
    """An engine that keeps nothing."""


def test_an_engine_that_keeps_nothing_is_an_internal_error() -> None:
    scan = PLANS["alone"].layout.keys
    assert scan is not None
    assert not isinstance(_Without(), Keyed)
    with pytest.raises(InternalError):
        keys_kept(_Without(), scan)  # type: ignore[arg-type]
