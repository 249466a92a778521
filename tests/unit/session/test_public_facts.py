"""Rows and totals are compared before anything is charged: a wrong number costs nothing and fixes nothing."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.engines.base import ColumnType, Counting, rows_of
from discreet.engines.reference import ReferenceEngine
from discreet.ledger import Ledger
from discreet.session import public_facts
from discreet.session.public_facts import PublicFacts

from . import with_totals
from .sessions import SCHEMA, session

ROWS = pl.DataFrame({"g": ["x", "y", None, "z"] * 6, "v": [*range(23), None]})


def by_g(one: dp.Session) -> dp.Plan:
    return one.table.where({"v": (0, 10)}).group_by("g").agg(dp.count())


# Sources of 24 rows -----------------------------------------------------------------------------------------------------


def quoted_csv(folder: Path, frame: pl.DataFrame) -> Path:
    """Each row has a cell with a line break, so that there are twice as many lines."""
    text = "g,v,note\n" + "".join(f'{g or ""},{v},"two\nlines"\n' for g, v in frame.rows())
    (folder / "quoted.csv").write_text(text, encoding="utf-8")
    return folder / "quoted.csv"


def in_sqlite(folder: Path, frame: pl.DataFrame) -> str:
    with closing(sqlite3.connect(folder / "d.sqlite")) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS t (g, v)")
        connection.execute("DELETE FROM t")
        connection.executemany("INSERT INTO t VALUES (?, ?)", frame.rows())
        connection.commit()
    return f"{folder / 'd.sqlite'}::t"


def in_duckdb(folder: Path, frame: pl.DataFrame) -> str:
    with closing(duckdb.connect(folder / "d.duckdb")) as connection:
        connection.register("frame", frame.to_arrow())
        connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM frame")
    return f"{folder / 'd.duckdb'}::t"


def csv_file(folder: Path, frame: pl.DataFrame) -> Path:
    frame.write_csv(folder / "d.csv")
    return folder / "d.csv"


def parquet_file(folder: Path, frame: pl.DataFrame) -> Path:
    frame.write_parquet(folder / "d.parquet")
    return folder / "d.parquet"


def partitions(folder: Path, frame: pl.DataFrame) -> Path:
    for part, rows in (("a", frame.head(5)), ("b", frame.tail(-5))):
        (folder / "parts" / f"p={part}").mkdir(parents=True, exist_ok=True)
        rows.write_parquet(folder / "parts" / f"p={part}" / "d.parquet")
    return folder / "parts"


SOURCES: dict[str, Callable[[Path, pl.DataFrame], Any]] = {
    "csv": csv_file,
    "parquet": parquet_file,
    "glob": lambda folder, frame: (parquet_file(folder, frame), str(folder / "*.parquet"))[1],
    "folder": partitions,
    "sqlite": in_sqlite,
    "duckdb": in_duckdb,
    "polars": lambda _, frame: frame,
    "pandas": lambda _, frame: frame.to_pandas(),
    "arrow": lambda _, frame: frame.to_arrow(),
    "stream": lambda _, frame: frame.to_arrow,
    "relation": lambda _, frame: duckdb.connect().from_arrow(frame.to_arrow()),
    "engine": lambda _, frame: ReferenceEngine(
        {"g": ColumnType("text", "VARCHAR"), "v": ColumnType("integer", "BIGINT")}, frame.rows()
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", SOURCES)
def test_a_wrong_number_of_rows_costs_nothing_and_fixes_nothing(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    source = SOURCES[kind](tmp_path, ROWS)
    messages = set()
    for rows in (23, 25, 1, 48):
        with session(source, neighbours=dp.ReplaceOne(rows=rows), ledger=path) as one:
            for call in (
                one.check_source,
                lambda one=one: one.release(by_g(one), spend="0.1", name="r"),
            ):
                with pytest.raises(dp.RowsDiffer) as refused:
                    call()
                assert (refused.value.declared, refused.value.found) == (rows, 24)
                assert "24" not in str(refused.value)
                assert refused.value.__context__ is None
                messages.add(str(refused.value).replace(str(rows), "N", 1))
        assert not path.exists()
    assert len(messages) == 1
    with session(source, neighbours=dp.ReplaceOne(rows=24), ledger=path) as one:
        one.check_source()
        assert not path.exists()
        one.release(by_g(one), spend="0.1", name="r")  # `where` drops rows, and n stays that of the source
        assert one.spent == dp.ZCDP("0.1")


def test_line_breaks_in_quotes_are_rows_of_a_csv_file(tmp_path: Path) -> None:
    source = quoted_csv(tmp_path, ROWS)
    with session(source, neighbours=dp.ReplaceOne(rows=24), schema=dp.Schema(g=SCHEMA["g"])) as one:
        with pytest.raises(dp.RowsDiffer, match="line breaks in quotes") as refused:
            one.release(one.table.group_by("g").agg(dp.count()), spend="0.1", name="r")
        assert refused.value.found == 48
        assert one.spent == dp.ZCDP(0)


@pytest.mark.parametrize("kind", SOURCES)
def test_an_engine_counts_the_rows_that_it_would_aggregate(kind: str, tmp_path: Path) -> None:
    for frame in (ROWS, ROWS.head(1), ROWS.clear()):
        if kind == "folder" and frame.height < 5:
            continue
        with session(SOURCES[kind](tmp_path, frame)) as one:
            engine = one._engine
            assert rows_of(engine) == int(engine.aggregate((), ()).rows.sum()) == frame.height
    assert isinstance(engine, Counting) == (kind in {"csv", "sqlite", "polars", "pandas", "arrow", "stream"})


def test_both_numbers_survive_a_pickle_and_the_message_has_one() -> None:
    error = dp.RowsDiffer("the message", 5, 24)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.declared, again.found) == ("the message", 5, 24)
    assert "24" not in repr(again)


# What is not looked at --------------------------------------------------------------------------------------------------


class Looking:
    """An engine that remembers what it was asked for."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.asked = engine, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def aggregate(self, axes: Any, moments: Any) -> Any:
        self.asked.append(" ".join(axis.name for axis in axes) or "nothing")
        return self._engine.aggregate(axes, moments)

    def count_rows(self) -> int:
        self.asked.append("rows")
        return rows_of(self._engine)


def watched(one: dp.Session) -> Looking:
    one._engine = Looking(one._engine)
    return one._engine


def test_under_add_remove_nothing_is_looked_at_before_the_charge(tmp_path: Path) -> None:
    with session(csv_file(tmp_path, ROWS)) as one:
        engine = watched(one)
        one.check_source()
        assert engine.asked == []
        one.release(by_g(one), spend="0.1", name="r")
        assert engine.asked == ["g v"]


def test_a_stored_release_is_returned_before_anything_is_compared(tmp_path: Path) -> None:
    path, source = tmp_path / "l.db", csv_file(tmp_path, ROWS)
    options = {"neighbours": dp.ReplaceOne(rows=24), "ledger": path}
    with session(source, **options) as one:
        first = one.release(by_g(one), spend="0.1", name="r")
    ROWS.head(7).write_csv(source)
    with session(source, **options) as one:
        engine = watched(one)
        assert one.release(by_g(one), spend="0.1", name="r") == first
        assert engine.asked == []
        with pytest.raises(dp.RowsDiffer):
            one.release(by_g(one), spend="0.1", name="s")
        assert one.spent == dp.ZCDP("0.1")


def test_a_source_that_is_unchanged_is_counted_once(tmp_path: Path) -> None:
    source = csv_file(tmp_path, ROWS)
    with session(source, neighbours=dp.ReplaceOne(rows=24)) as one:
        engine = watched(one)
        one.check_source()
        for name in "abc":
            one.release(by_g(one), spend="0.1", name=name)
        assert engine.asked == ["rows", "g v", "g v", "g v"]
        source.write_bytes(source.read_bytes())  # the same rows, and another time
        one.release(by_g(one), spend="0.1", name="d")
        assert engine.asked[4:] == ["rows", "g v"]


def test_a_source_without_a_snapshot_is_counted_before_each_command() -> None:
    with session(duckdb.connect().from_arrow(ROWS.to_arrow()), neighbours=dp.ReplaceOne(rows=24)) as one:
        engine = watched(one)
        one.release(by_g(one), spend="0.1", name="a")
        one.release(by_g(one), spend="0.1", name="b")
        assert engine.asked == ["rows", "g v"] * 2


# Totals -----------------------------------------------------------------------------------------------------------------


def kinds(path: Path) -> list[str]:
    with Ledger.open(path) as ledger:
        return [entry.kind for entry in ledger.entries("d")]


def test_totals_are_looked_at_once_and_counted_in_every_reading(tmp_path: Path) -> None:
    source, path = tmp_path / "d.parquet", tmp_path / "l.db"
    with_totals.FRAME.write_parquet(source)
    with with_totals.session(dp.Totals("state"), source=source, ledger=path) as one:
        engine = watched(one)
        one.release(with_totals.counted(one, "sex"), spend="0.1", name="a")
        one.release(with_totals.counted(one, "sex"), spend="0.1", name="b")
        assert engine.asked == ["rows", "state", *["state", "sex"] * 2]
    with with_totals.session(dp.Totals("state"), source=source, ledger=path) as one:
        engine = watched(one)
        one.check_source()
        one.release(with_totals.counted(one, "sex"), spend="0.1", name="c")
        assert engine.asked == ["state", "state", "sex"]


def test_rows_that_change_without_a_sign_are_noticed_in_the_reading() -> None:
    """A frame shares the memory of an array: no snapshot shows the change, and noise that keeps totals would show it."""
    values = np.array([0, 1] * 50)
    frame = pl.DataFrame({"g": values, "x": np.array([1, 2] * 50)})
    schema = dp.Schema(g=dp.Category([0, 1]), x=dp.Category([1, 2]))
    with dp.Session(
        frame, schema, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=100),
        invariants=dp.Totals("g"),
    ) as one:  # fmt: skip
        one.publish_totals()
        one.release(one.table.group_by("x").agg(dp.count()), spend="0.001", name="a")
        values[0] = 1
        with pytest.raises((dp.SourceError, dp.ReleaseFailed)):
            one.release(one.table.group_by("g", "x").agg(dp.count()), spend="0.001", name="b")


def test_totals_are_read_with_the_release_where_a_change_would_not_show() -> None:
    source = duckdb.connect().from_arrow(with_totals.FRAME.to_arrow())
    with with_totals.session(dp.Totals("state"), source=source) as one:
        one.publish_totals()
        scans: list[int] = []
        real = one._engine.aggregate_all
        one._engine.aggregate_all = lambda asked: (scans.append(len(asked)), real(asked))[1]  # type: ignore[method-assign]
        one.release(with_totals.counted(one, "sex"), spend="0.1", name="a")
        assert scans == [2]


OTHERS = {
    "other totals": with_totals.FRAME.with_columns(state=pl.col("state").replace("C", "B")),
    "another null": with_totals.FRAME.with_columns(state=pl.col("state").replace("C", None)),
}


@pytest.mark.parametrize("how", OTHERS)
@pytest.mark.parametrize("kind", ["frame", "file", "relation"])
def test_other_totals_are_refused_in_constant_words(how: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with with_totals.session(dp.Totals("state"), ledger=path) as one:
        one.publish_totals()
    source: Any = OTHERS[how]
    if kind == "file":
        source.write_parquet(tmp_path / "d.parquet")
        source = tmp_path / "d.parquet"
    elif kind == "relation":
        source = duckdb.connect().from_arrow(source.to_arrow())
    with with_totals.session(dp.Totals("state"), ledger=path, source=source) as one:
        for call in (one.check_source, lambda: one.release(with_totals.counted(one), spend="0.1", name="r")):
            with pytest.raises(dp.SourceError) as refused:
                call()
            assert str(refused.value) == (
                "source: its totals are not the exact totals that were published for this data set; this command spent "
                "nothing. Which of them differ is not shown. Give the source that they were published from; other data "
                "need another data set name"
            )
            assert refused.value.__context__ is None
        assert one.spent == dp.ZCDP(0)
    assert kinds(path) == ["dataset", "publish", "commit"]


def test_what_an_earlier_command_has_spent_and_fixed_is_not_denied(tmp_path: Path) -> None:
    source, path = parquet_file(tmp_path, ROWS), tmp_path / "l.db"
    with session(source, neighbours=dp.ReplaceOne(rows=25), ledger=path) as one, pytest.raises(dp.RowsDiffer) as refused:
        one.check_source()
    assert "this command spent and fixed nothing. Correct `rows`, or give the declared source" in str(refused.value)
    with session(source, neighbours=dp.ReplaceOne(rows=24), ledger=path) as one:
        one.release(by_g(one), spend="0.1", name="r")
    parquet_file(tmp_path, ROWS.head(20))
    with session(source, neighbours=dp.ReplaceOne(rows=24), ledger=path) as one:
        with pytest.raises(dp.RowsDiffer) as refused:
            one.release(by_g(one), spend="0.1", name="s")
        assert one.spent == dp.ZCDP("0.1")
    said = str(refused.value)
    assert "this command spent nothing. An earlier command has fixed `rows` for this data set: give the declared" in said
    assert "fixed nothing" not in said
    assert "orrect `rows`" not in said


def test_a_row_in_an_impossible_cell_is_a_difference_like_any_other(tmp_path: Path) -> None:
    path, invariants = tmp_path / "l.db", dp.Impossible("state", cells=["C"])
    with with_totals.session(invariants, ledger=path, source=OTHERS["other totals"]) as one:
        one.publish_totals()
    with with_totals.session(invariants, ledger=path) as one, pytest.raises(dp.SourceError, match="its totals are not"):
        one.release(with_totals.counted(one), spend="0.1", name="r")
    assert kinds(path) == ["dataset", "publish", "commit"]


def test_wrong_rows_are_found_before_totals_are_published(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with with_totals.session(dp.Totals("state"), rows=23, ledger=path) as one:
        for call in (one.publish_totals, lambda: one.release(with_totals.counted(one), spend="0.1", name="r")):
            with pytest.raises(dp.RowsDiffer) as refused:
                call()
            assert refused.value.found == 24
    assert not path.exists()


# Changes and failures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("invariants", [None, dp.Totals("state")])
def test_a_source_that_changes_after_the_look_is_the_constant_failure(
    invariants: dp.Invariants | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "d.parquet"
    with_totals.FRAME.write_parquet(source)
    with with_totals.session(invariants, source=source) as one:
        if invariants is not None:
            one.publish_totals()
        real = PublicFacts.compare

        def compare(*given: Any) -> None:
            real(*given)
            with_totals.FRAME.head(20).write_parquet(source)

        monkeypatch.setattr(PublicFacts, "compare", compare)
        with pytest.raises(dp.ReleaseFailed) as failed:
            one.release(with_totals.counted(one, "sex"), spend="0.1", name="r")
        assert (str(failed.value), failed.value.__context__) == (dp.ReleaseFailed.UNFINISHED, None)


def test_a_look_that_breaks_tells_nothing_and_spends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        """Of a driver."""

    for raised in (ValueError, dp.InternalError, Panic):
        with (
            session(ROWS, neighbours=dp.ReplaceOne(rows=24), ledger=tmp_path / "l.db") as one,
            monkeypatch.context() as patch,
        ):

            def broken(_: object, raised: type[BaseException] = raised) -> int:
                raise raised("secret 42")

            patch.setattr(public_facts, "rows_of", broken)
            with pytest.raises(dp.SourceError, match="could not be read to its end") as refused:
                one.release(by_g(one), spend="0.1", name="r")
            assert "secret" not in repr(refused.value)
            assert refused.value.__context__ is None
    assert not (tmp_path / "l.db").exists()


def test_a_session_that_does_not_look_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was before: the charge is spent, and the declaration is fixed."""
    monkeypatch.setattr(PublicFacts, "compare", lambda *_: False)
    with session(ROWS, neighbours=dp.ReplaceOne(rows=23), ledger=tmp_path / "l.db") as one:
        with pytest.raises(dp.ReleaseFailed):
            one.release(by_g(one), spend="0.1", name="r")
        assert one.spent == dp.ZCDP("0.1")
