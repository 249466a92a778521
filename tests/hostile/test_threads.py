"""What threads and forked processes may share: sessions, sources and connections, under load, with wrong answers counted."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from tests.builders import PATIENCE, session_over

import discreet as dp
from discreet.engines import open_source
from discreet.engines.base import cubes_of
from discreet.engines.duckdb import database as database_module
from discreet.engines.duckdb import relations
from discreet.engines.duckdb.database import Database
from discreet.engines.resources import NO_LIMITS
from discreet.errors import SourceError

SCHEMA = dp.Schema(g=dp.Category(["a", "b"]), x=dp.Number(0, 1000), y=dp.Number(0, 1000))
ROWS = {"a": 1000, "b": 77}
THREADS, EACH = 4, 6


def frame_of(name: str) -> pl.DataFrame:
    return pl.DataFrame({"g": [name] * ROWS[name], "x": [1] * ROWS[name], "y": [1] * ROWS[name]})


def relations_of_one_connection(folder: Path) -> dict[str, Any]:
    connection = duckdb.connect()
    for name in ROWS:
        connection.register("frame", frame_of(name).to_arrow())
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
        connection.unregister("frame")
    return {name: connection.table(name) for name in ROWS}


def duckdb_files(folder: Path) -> dict[str, Any]:
    with duckdb.connect(str(folder / "x.duckdb")) as file:
        for name in ROWS:
            file.register("frame", frame_of(name).to_arrow())
            file.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
    return {name: f"{folder}/x.duckdb::{name}" for name in ROWS}


def sqlite_files(folder: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(folder / "x.sqlite")) as file:
        for name, rows in ROWS.items():
            file.execute(f"CREATE TABLE {name} (g TEXT, x INTEGER, y INTEGER)")
            file.executemany(f"INSERT INTO {name} VALUES (?, 1, 1)", [(name,)] * rows)
        file.commit()
    return {name: f"{folder}/x.sqlite::{name}" for name in ROWS}


def files(folder: Path, ending: str) -> dict[str, Any]:
    for name in ROWS:
        getattr(frame_of(name), f"write_{ending}")(folder / f"{name}.{ending}")
    return {name: folder / f"{name}.{ending}" for name in ROWS}


SOURCES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "relations of one connection": relations_of_one_connection,
    "tables of one DuckDB file": duckdb_files,
    "tables of one SQLite file": sqlite_files,
    "Parquet": lambda folder: files(folder, "parquet"),
    "CSV": lambda folder: files(folder, "csv"),
    "frames": lambda _: {name: frame_of(name) for name in ROWS},
    "streams": lambda _: {name: frame_of(name).to_arrow for name in ROWS},
}


@contextmanager
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def opened(source: Any, dataset: str = "d") -> dp.Session:
    budget = dp.PureDP(10**9)
    return session_over(source, SCHEMA, dataset=dataset, budget=budget)


@pytest.mark.slow
@pytest.mark.one_in(9)
@pytest.mark.parametrize("kind", SOURCES)
def test_threads_of_sessions_get_the_rows_of_their_own_source(tmp_path: Path, kind: str) -> None:
    """No wrong answer and no failure; at ε = 10^5 the noise is 0 but with a chance below e^-99999."""
    seen: Counter[str] = Counter()
    sessions = {name: opened(source) for name, source in SOURCES[kind](tmp_path).items()}
    start = threading.Barrier(THREADS)

    def ask(number: int) -> None:
        name = "ab"[number % 2]
        one = sessions[name]
        start.wait()
        for turn in range(EACH):
            # Every second request has two scans, which must be of the same rows.
            asked = [dp.count()] if turn % 2 else [dp.count(), dp.median("x", nulls="skip"), dp.median("y", nulls="skip")]
            request = one.table.group_by("g").agg(*asked)
            assert len(request.layout.scans) == (1 if turn % 2 else 2)
            try:
                table = one.release(request, spend=10**5, name=f"{number} {turn}").table
            except dp.DiscreetError as error:
                seen[type(error).__name__] += 1
                continue
            expected = [ROWS[name] if group == name else 0 for group in "ab"] + [0]
            seen["own rows" if table["count"].to_list() == expected else "other rows"] += 1

    with switching_often(), ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(ask, range(THREADS)))
    assert seen == {"own rows": THREADS * EACH}
    assert all(one.spent == dp.PureDP(10**5 * THREADS * EACH // 2) for one in sessions.values())


def test_readings_of_relations_never_overlap_and_never_share_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes the test above more than luck: with one name, or without the lock, this one fails each time."""
    sources = relations_of_one_connection(Path())  # no file
    engines = {name: open_source(source, SCHEMA) for name, source in sources.items()}
    plan = dp.Table(SCHEMA, dp.AddRemove()).group_by("g").agg(dp.count())
    part = plan.layout.scans[0]
    names: list[str] = []
    inside, most = [0], [0]
    real = duckdb.DuckDBPyRelation.query

    def slow(relation: Any, name: str, statement: str) -> Any:
        names.append(name)
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        try:
            return real(relation, name, statement)
        finally:
            inside[0] -= 1

    monkeypatch.setattr(duckdb.DuckDBPyRelation, "query", slow)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: engines[name].aggregate(part.axes, part.moments), "abab" * 2))
    assert len(set(names)) == len(names) == 8
    assert most == [1]


def test_scans_of_a_relation_see_the_same_rows() -> None:
    """A relation that has other rows each time it is read is read once."""
    relation = duckdb.connect().sql("SELECT 'a' AS g, CAST(floor(random() * 2) AS INTEGER) AS x, 1 AS y FROM range(10000)")
    engine = open_source(relation, SCHEMA)
    part = dp.Table(SCHEMA, dp.AddRemove()).agg(dp.sum("x", nulls="skip")).layout.scans[0]
    scan = (part.axes, part.moments)
    sums = [cube.sums.tolist() for cube in cubes_of(engine, [scan] * 4)]
    assert sums == sums[:1] * 4
    # Two readings have the same sum with probability 0.0056; nine of them with one below 1e-17.
    others = [engine.aggregate(*scan).sums.tolist() for _ in range(8)]
    assert any(other != sums[0] for other in others), "which tells nothing if it always has the same rows"


def test_an_error_of_one_thread_leaves_the_statements_of_others_alone() -> None:
    database = Database(NO_LIMITS)
    with database.cursor() as own:
        own.execute("CREATE TEMP TABLE t AS SELECT 7 AS x")
        with pytest.raises(SourceError), database.cursor() as other:
            other.execute("SELECT error('x')")
        assert own.execute("SELECT x FROM t").fetchall() == [(7,)]
        database.close()
        assert own.execute("SELECT x FROM t").fetchall() == [(7,)]
    with database.cursor() as fresh:
        assert fresh.execute("SELECT 1").fetchall() == [(1,)]


def test_threads_of_a_new_child_open_one_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of them look at once whether their process has one: a second one would never be closed."""
    database = Database(NO_LIMITS)
    both, real = threading.Barrier(2), database_module._leave_behind

    def leave_behind(held: Any) -> None:
        both.wait(PATIENCE)
        real(held)

    with monkeypatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(database_module, "_leave_behind", leave_behind)
        patch.setattr(database_module, "this_process", lambda: (b"of a child", 1))
        one, other = pool.map(lambda _: database._of_this_process(), range(2))
    assert one is other
    database.close()


def pending(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SELECT * FROM range(10)")


def aborted(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("BEGIN")
    with pytest.raises(duckdb.Error):
        connection.execute("SELECT error('x')").fetchall()


def closed(connection: duckdb.DuckDBPyConnection) -> None:
    connection.close()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("busy", [pending, aborted, closed])
def test_a_busy_connection_is_refused_before_anything_is_charged(busy: Callable[[Any], None]) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 'a' AS g, 1 AS x, 1 AS y")
    one = opened(connection.table("t"))
    busy(connection)
    with pytest.raises(dp.SourceError, match="the connection of the relation is busy, closed or in a failed transaction"):
        one.release(one.table.agg(dp.count()), spend=1, name="r")
    assert one.spent == dp.PureDP(0)


def test_a_reading_that_does_not_end_is_refused_before_anything_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_PATIENCE", 0.01)
    one = opened(relations_of_one_connection(Path())["a"])
    with relations._TURNS.lock, pytest.raises(dp.SourceError, match="other releases are reading relations"):
        one.release(one.table.agg(dp.count()), spend=1, name="r")
    assert one.spent == dp.PureDP(0)


def test_a_session_that_is_closed_by_another_thread_finishes_its_release() -> None:
    one = opened(frame_of("a"))
    real, answers = one._engine.aggregate, []

    def closed_meanwhile(axes: Any, moments: Any) -> Any:
        closing = threading.Thread(target=one.close)
        closing.start()
        closing.join()  # which does not wait for the release
        answers.append(one.spent)
        return real(axes, moments)

    one._engine.aggregate = closed_meanwhile  # type: ignore[method-assign]
    release = one.release(one.table.agg(dp.count()), spend=10**5, name="r")
    assert release.table["count"].to_list() == [ROWS["a"]]
    assert answers == [dp.PureDP(10**5)]
    with pytest.raises(dp.LedgerError):
        _ = one.spent


def test_a_relation_that_cannot_be_asked_for_its_columns_is_no_source() -> None:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 'a' AS g, 1 AS x, 1 AS y")
    connection.close()
    with pytest.raises(dp.SourceError, match="busy, closed or in a failed transaction"):
        opened(relation)


def test_a_connection_that_is_busy_for_a_moment_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    one = opened(relations_of_one_connection(Path())["a"])
    real, calls = duckdb.DuckDBPyRelation.query, []

    def busy(relation: Any, name: str, statement: str) -> Any:
        calls.append(name)
        if len(calls) in (3, 4, 5):  # the first two ask whether the source is ready
            raise duckdb.ResourceInUseException("busy")
        return real(relation, name, statement)

    monkeypatch.setattr(duckdb.DuckDBPyRelation, "query", busy)
    assert one.release(one.table.agg(dp.count()), spend=10**5, name="r").table["count"].to_list() == [ROWS["a"]]
    assert len(calls) == 6


def test_rows_that_are_computed_anew_for_each_reading_are_read_once() -> None:
    class Lazy:
        """Other rows each time it is read, as a query that has not been carried out may have."""

        columns = ("g", "x", "y")

        def __init__(self) -> None:
            self.times = 0

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            self.times += 1
            return pl.DataFrame({"g": ["a"] * 9, "x": [self.times] * 9, "y": [self.times] * 9}).__arrow_c_stream__()

    engine = open_source(Lazy(), SCHEMA)
    part = dp.Table(SCHEMA, dp.AddRemove()).agg(dp.sum("x", nulls="skip")).layout.scans[0]
    scan = (part.axes, part.moments)
    sums = [cube.sums.tolist() for cube in cubes_of(engine, [scan] * 3)]
    assert sums == sums[:1] * 3
    # Two readings have the same sum with probability 0.0056; nine of them with one below 1e-17.
    others = [engine.aggregate(*scan).sums.tolist() for _ in range(8)]
    assert any(other != sums[0] for other in others), "which tells nothing if it always has the same rows"


# Forks ------------------------------------------------------------------------------------------------------------------

FORKED = """
import os, sys, multiprocessing, warnings
warnings.simplefilter("ignore")
import duckdb, polars as pl
import discreet as dp
from discreet.exact import processes
processes._PATIENCE = 2.0
kind, way, folder = sys.argv[1:]
frame = pl.DataFrame({"g": ["a"] * 70 + ["b"] * 7})
path = f"{folder}/d.{kind}"
source = path
if kind in ("csv", "parquet"):
    getattr(frame, f"write_{kind}")(path)  # with the threads of Polars
elif kind == "relation":
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 'a' AS g FROM range(70)")
    source = connection.table("t")
elif kind == "frame":
    source = frame.filter(pl.col("g") != "c")
def opened():
    return dp.Session(source, dp.Schema(g=dp.Category(["a", "b"])), dataset="d", ledger=f"{folder}/l.db",
                      budget=dp.PureDP(10**6), neighbours=dp.AddRemove())
session = opened()
def release(name, of=session):
    try:
        of.release(of.table.group_by("g").agg(dp.count()), spend=10, name=name)
    except dp.SourceError:
        return 2
    return 0
assert release("parent") == 0
if way == "fork":
    child = os.fork()
    if not child:
        code = release("child")
        # The interpreter ends as usual, but for a connection of the caller, which this process cannot close.
        os._exit(code) if kind == "relation" else sys.exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
elif way == "pool":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        code = pool.apply(release, ("child",))
elif way == "new":
    def work():
        try:
            return release("child", opened())
        except dp.SourceError:
            return 2
    with multiprocessing.get_context("fork").Pool(1) as pool:
        code = pool.apply(work)
assert release("parent again") == 0
print(code, session.spent.epsilon)
"""


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("kind", "way"),
    [
        *(("parquet", "fork"), ("relation", "fork"), ("frame", "pool")),
        *(pytest.param(kind, "fork", marks=pytest.mark.slow) for kind in ("csv", "frame")),
        *(pytest.param(kind, "pool", marks=pytest.mark.slow) for kind in ("parquet", "csv")),
        *(pytest.param(kind, "new", marks=pytest.mark.slow) for kind in ("parquet", "csv", "frame")),
    ],
)
def test_a_forked_session_answers_or_is_refused_before_anything_is_charged(tmp_path: Path, kind: str, way: str) -> None:
    command = [sys.executable, "-c", FORKED, kind, way, str(tmp_path)]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == (["0", "30"] if kind == "parquet" else ["2", "20"])


IMPORTING = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore")
import discreet as dp
from discreet import datasets
def opened():
    return dp.Session(datasets.path("acs12"), dp.Schema(gender=dp.Category(["female", "male"]), age=dp.Number(0, 110)),
                      dataset="d", ledger=sys.argv[1], budget=dp.PureDP(10**6), neighbours=dp.AddRemove())
one = opened()
def release(name):
    one.release(one.table.group_by("gender").agg(dp.count(), dp.mean("age", nulls="skip")), spend=1, name=name)
threads = [threading.Thread(target=release, args=(f"thread {number}",)) for number in range(3)]
[thread.start() for thread in threads]
time.sleep(float(sys.argv[2]))
child = os.fork()
if not child:
    try:
        release("child")
    except dp.SourceError:
        os._exit(2)
    os._exit(0)
until = time.monotonic() + float(sys.argv[3])
while time.monotonic() < until:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.05)
else:
    os.kill(child, 9)
    os.waitpid(child, 0)
    status = 9
[thread.join() for thread in threads]
print(status and os.waitstatus_to_exitcode(status), one.spent.epsilon)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.one_in(4)
@pytest.mark.parametrize("delay", ["0", "0.1", "0.25"])
def test_a_fork_while_other_threads_make_the_first_release_hangs_nobody(tmp_path: Path, delay: str) -> None:
    """A module that a thread imports at the moment of the fork stays locked in the child."""
    command = [sys.executable, "-c", IMPORTING, str(tmp_path / "l.db"), delay, str(PATIENCE / 2)]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout.split() in (["0", "4"], ["2", "3"]), run.stderr


SAVED = """
import os, sys, warnings
warnings.simplefilter("ignore")
import polars as pl
import discreet as dp
from discreet.exact import processes
processes._PATIENCE = 2.0
folder = sys.argv[1]
pl.DataFrame({"g": ["a"] * 70}).write_parquet(f"{folder}/d.parquet")  # with the threads of Polars
session = dp.Session(f"{folder}/d.parquet", dp.Schema(g=dp.Category(["a", "b"])), dataset="d", ledger=f"{folder}/l.db",
                     budget=dp.PureDP(1), neighbours=dp.AddRemove())
if not os.fork():
    try:
        session.release(session.table.agg(dp.count()), spend="0.1", name="r").save(f"{folder}/out")
    except dp.SourceError:
        os._exit(2)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]), os.path.exists(f"{folder}/out"))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_saving_in_a_child_without_the_threads_of_polars_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SAVED, str(tmp_path)]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout.split() == ["2", "False"], run.stderr
