"""What is compared of files: what it costs, what it notices, and which sources have it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines import open_source
from discreet.engines.base import Engine, cubes_of
from discreet.engines.spark.driver import _READING, SparkEngine

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]
ONE = dp.Schema(a=dp.Number(0, 9))
OLD, NEW = pa.table({"a": [1, 2, 3]}), pa.table({"a": [4, 5, 6]})
MILLISECOND = 10**6


def sum_of(engine: Engine) -> int:
    with dp.Session(engine, ONE, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.AddRemove()) as one:
        wanted = one.table.agg(dp.sum("a", nulls="skip")).layout.scans[0]
    return int(engine.aggregate(wanted.axes, wanted.moments).sums.sum())


def has_files(engine: Engine) -> bool:
    """Whether files are compared, and not rows read once."""
    assert isinstance(engine, SparkEngine)
    assert (engine.snapshot() == "") == (engine._files is None)
    return engine._files is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "per sons%20"
    (found / "b=1").mkdir(parents=True)
    pq.write_table(OLD, found / "é.parquet")
    pq.write_table(OLD, found / "b=1" / "b.parquet")
    return found


# What it notices ------------------------------------------------------------------------------------------------------


def replaced(folder: Path) -> None:
    """Another file of the same size, as old to the nanosecond."""
    place, beside = folder / "é.parquet", folder / ".new"
    was = place.stat()
    pq.write_table(NEW, beside)
    os.utime(beside, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert beside.stat().st_size == was.st_size
    beside.rename(place)


def touched(folder: Path) -> None:
    was = (folder / "é.parquet").stat()
    os.utime(folder / "é.parquet", ns=(was.st_atime_ns, was.st_mtime_ns + MILLISECOND))


def overwritten(folder: Path) -> None:
    """Other bytes in the same file, with the time put back but for less than a millisecond."""
    place = folder / "b=1" / "b.parquet"
    was, beside = place.stat(), folder / ".new"
    pq.write_table(NEW, beside)
    place.write_bytes(beside.read_bytes())
    beside.unlink()
    os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns - was.st_mtime_ns % MILLISECOND + 1))


def longer(folder: Path) -> None:
    pq.write_table(pa.table({"a": [1] * 10_000, "b": range(10_000)}), folder / "é.parquet")


def added(folder: Path) -> None:
    pq.write_table(NEW, folder / "b=1" / "c.parquet")


def removed(folder: Path) -> None:
    (folder / "b=1" / "b.parquet").unlink()


def gone(folder: Path) -> None:
    removed(folder)
    (folder / "é.parquet").unlink()


CHANGES = [replaced, touched, overwritten, longer, added, removed]


@pytest.mark.parametrize("change", [*CHANGES, gone], ids=lambda change: change.__name__)
@pytest.mark.parametrize("pattern", ["", "/{b=?,*.parquet}"])
def test_whatever_changes_is_noticed(session: Any, folder: Path, change: Callable[[Path], None], pattern: str) -> None:
    engine = open_source(f"spark:{folder}{pattern}", ONE)
    first = engine.snapshot()
    assert has_files(engine)
    assert engine.snapshot() == first
    assert open_source(f"spark:{folder}{pattern}", ONE).snapshot() == first
    change(folder)
    with pytest.raises(dp.SourceError, match=r"came, went or changed|no longer be listed") as refused:
        engine.snapshot()
    assert str(folder) not in str(refused.value)
    if change is not gone:
        again = open_source(f"spark:{folder}{pattern}", ONE)
        assert has_files(again)
        assert again.snapshot() != first


def test_files_that_the_driver_does_not_read_are_not_looked_at(session: Any, folder: Path) -> None:
    engine = open_source(f"spark:{folder}", ONE)
    first = engine.snapshot()
    (folder / "_SUCCESS").touch()
    (folder / "_temporary").mkdir()
    pq.write_table(NEW, folder / "_temporary" / "c.parquet")
    (folder / ".é.parquet.crc").write_bytes(b"crc")
    (folder / "é.parquet").read_bytes()
    assert engine.snapshot() == first


def test_partitions_of_a_path_are_refused_with_what_reads_them(session: Any, folder: Path) -> None:
    with pytest.raises(dp.SourceError, match=r"column 'b': is named by the folders of source .*; hand over a DataFrame"):
        open_source(f"spark:{folder}", dp.Schema(b=dp.Number(0, 9)))
    with pytest.raises(dp.SourceError, match=r"column 'c': declared in the schema, but not in"):
        open_source(f"spark:{folder}", dp.Schema(c=dp.Number(0, 9)))


def test_a_file_by_its_name(session: Any, folder: Path) -> None:
    engine = open_source(f"spark:file://{folder}/é.parquet", ONE)
    first = engine.snapshot()
    added(folder)
    assert engine.snapshot() == first
    replaced(folder)
    with pytest.raises(dp.SourceError, match="came, went or changed"):
        engine.snapshot()
    assert sum_of(open_source(f"spark:file://{folder}/é.parquet", ONE)) == 15


# Releases -------------------------------------------------------------------------------------------------------------


def opened(source: str) -> dp.Session:
    return dp.Session(source, ONE, dataset="d", ledger=":memory:", budget=dp.ZCDP(2), neighbours=dp.AddRemove())


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_before_a_release_is_refused_and_one_within_it_discards_it(
    session: Any, folder: Path, change: Callable[[Path], None]
) -> None:
    with opened(f"spark:{folder}") as one:
        counted, asked = one._engine.aggregate, one.table.agg(dp.sum("a", nulls="skip"))

        def changing(axes: Any, moments: Any) -> Any:
            found = counted(axes, moments)
            change(folder)
            return found

        one._engine.aggregate = changing  # type: ignore[method-assign]
        with pytest.raises(dp.ReleaseFailed):
            one.release(asked, spend="0.5", name="r")
        assert one.spent == dp.ZCDP("0.5")
        with pytest.raises(dp.SourceError, match="open it again"):
            one.release(asked, spend="0.5", name="s")
        assert one.spent == dp.ZCDP("0.5")


def test_a_change_just_before_rows_are_counted_discards_the_release(session: Any, folder: Path) -> None:
    with opened(f"spark:{folder}") as one:
        counted = one._engine.aggregate

        def changing(axes: Any, moments: Any) -> Any:
            longer(folder)
            return counted(axes, moments)

        one._engine.aggregate = changing  # type: ignore[method-assign]
        with pytest.raises(dp.ReleaseFailed):
            one.release(one.table.agg(dp.sum("a", nulls="skip")), spend=1, name="r")
        assert one.spent == dp.ZCDP(1)


def test_a_known_release_is_given_back_whatever_the_files_are_now(session: Any, folder: Path, tmp_path: Path) -> None:
    def made() -> bytes:
        one = dp.Session(
            f"spark:{folder}", ONE, dataset="d", ledger=tmp_path / "l.db", budget=dp.ZCDP(1), neighbours=dp.AddRemove()
        )
        with one:
            return one.release(one.table.agg(dp.count()), spend="0.1", name="r").payload

    first = made()
    assert made() == first
    touched(folder)
    assert made() == first


def test_a_copy_in_memory_is_not_read_for_the_files(session: Any, folder: Path) -> None:
    """The session's owner reads the same files in the same way, keeps a copy, and the files change."""
    own = {name: value for name, value in _READING.items() if name != "discreet"}
    copy = session.read.options(**own).parquet(str(folder)).cache()
    try:
        assert copy.count() == 6
        replaced(folder)
        again = session.read.options(**own).parquet(str(folder))
        assert again.storageLevel.useMemory
        assert again.agg({"a": "sum"}).first()[0] == 12
        engine = open_source(f"spark:{folder}", ONE)
        assert has_files(engine)
        assert sum_of(engine) == 4 + 5 + 6 + 1 + 2 + 3
    finally:
        copy.unpersist(blocking=True)


# Which sources have one -----------------------------------------------------------------------------------------------


@pytest.fixture
def table(session: Any, folder: Path) -> Iterator[str]:
    name = f"t{time.monotonic_ns()}"
    session.createDataFrame(OLD).coalesce(1).write.saveAsTable(name)
    yield name
    session.sql(f"DROP TABLE {name}")


def test_frames_that_are_nothing_but_files(session: Any, folder: Path, table: str) -> None:
    files = session.read.option("recursiveFileLookup", "true").parquet(str(folder))
    for frame in (files, session.table(table)):
        engine = open_source(frame, ONE)
        assert has_files(engine)
    for frame in (files.where("a > 1"), files.join(session.table(table), "a"), session.createDataFrame(OLD), files.limit(2)):
        assert not has_files(open_source(frame, ONE))


@pytest.mark.parametrize("kind", ["random", "files"])
def test_scans_of_one_release_see_the_same_rows(session: Any, folder: Path, kind: str) -> None:
    drawn = "CAST(java_method('java.lang.Math', 'random') AS DOUBLE)"  # unlike rand(), anew for each reading
    frame = session.range(10_000).selectExpr(f"CAST(floor({drawn} * 10) AS BIGINT) AS a", "id")
    if kind == "files":
        frame = session.read.option("recursiveFileLookup", "true").parquet(str(folder))
    engine = open_source(frame, ONE)
    part = dp.Table(ONE, dp.AddRemove()).agg(dp.sum("a", nulls="skip")).layout.scans[0]
    scan = (part.axes, part.moments)
    sums = [cube.sums.tolist() for cube in cubes_of(engine, [scan, scan, ((), ()), scan]) if cube.sums.size]
    assert len(sums) == 3
    assert sums == sums[:1] * 3
    if kind == "random":
        assert len({int(engine.aggregate(*scan).sums.sum()) for _ in range(5)}) > 1, "which tells nothing otherwise"


@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_two_names_of_one_file_are_refused(session: Any, folder: Path, link: str) -> None:
    file = folder / "é.parquet"
    other = folder / "b=1" / "q.parquet"
    other.symlink_to(file) if link == "symbolic" else os.link(file, other)
    for source in (f"spark:{folder}", f"spark:{folder}/*"):
        with pytest.raises(dp.SourceError, match="is the same file as"):
            open_source(source, ONE)
    assert sum_of(open_source(f"spark:{other}", ONE)) == 6


@pytest.mark.parametrize("format_", ["parquet", "orc", "json"])
def test_tables_that_are_nothing_but_files(session: Any, table: str, format_: str) -> None:
    session.sql(f"CREATE TABLE {table}_f USING {format_} AS SELECT * FROM {table}")
    try:
        engine = open_source(f"spark:{table}_f", ONE)
        assert has_files(engine)
        assert sum_of(engine) == 6
        first = engine.snapshot()
        session.sql(f"INSERT INTO {table}_f VALUES (9)")
        with pytest.raises(dp.SourceError, match="came, went or changed"):
            engine.snapshot()
        again = open_source(f"spark:{table}_f", ONE)
        assert sum_of(again) == 15
        assert again.snapshot() != first
    finally:
        session.sql(f"DROP TABLE {table}_f")


def test_tables_that_are_more_than_files_are_read_once(session: Any, table: str, set_to: Any) -> None:
    made = {
        "view": f"CREATE VIEW {table}_o AS SELECT * FROM {table}",
        "temporary": f"CREATE TEMPORARY VIEW {table}_o AS SELECT * FROM {table}",
        "filtered": f"CREATE VIEW {table}_o AS SELECT * FROM {table} WHERE a > 0",
        "partitioned": f"CREATE TABLE {table}_o USING parquet PARTITIONED BY (b) AS SELECT a, a % 2 AS b FROM {table}",
        "padded": f"CREATE TABLE {table}_o (a BIGINT, c CHAR(3)) USING parquet; INSERT INTO {table}_o VALUES (6, 'x')",
        "skipping": f"CREATE TABLE {table}_o USING parquet OPTIONS (IGNORECORRUPTFILES 'true') AS SELECT * FROM {table}",
    }
    for what, statements in made.items():
        for statement in statements.split("; "):
            session.sql(statement)
        engine = open_source(f"spark:{table}_o", ONE)
        assert not has_files(engine), what
        assert sum_of(engine) == 6
        session.sql(f"DROP {'VIEW' if 'VIEW' in statements else 'TABLE'} {table}_o")
    session.table(table).createOrReplaceTempView(f"{table}_v")
    assert not has_files(open_source(f"spark:{table}_v", ONE))
    session.catalog.dropTempView(f"{table}_v")
    for setting in ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles"):
        with set_to({setting: "true"}):
            assert not has_files(open_source(f"spark:{table}", ONE))
    session.catalog.cacheTable(table)
    assert not has_files(open_source(f"spark:{table}", ONE))
    session.catalog.uncacheTable(table)
    assert has_files(open_source(f"spark:{table}", ONE))


def test_a_listing_that_the_session_keeps_hides_no_change(session: Any, table: str) -> None:
    """A table that was looked at before: its files are listed as they were then, and read so, as its content says."""
    assert session.table(table).count() == 3
    place = Path(session.table(table).inputFiles()[0].removeprefix("file://"))
    pq.write_table(NEW, place.with_name("part-2.parquet"))
    stale = open_source(f"spark:{table}", ONE)
    assert not has_files(stale)
    assert sum_of(stale) == 6
    session.catalog.refreshTable(table)
    fresh = open_source(f"spark:{table}", ONE)
    assert has_files(fresh)
    assert sum_of(fresh) == 21


def test_files_that_spark_reads_by_other_plans_are_read_once(session: Any, folder: Path, set_to: Any) -> None:
    with set_to({"spark.sql.sources.useV1SourceList": ""}):
        engine = open_source(f"spark:{folder}", ONE)
        assert not has_files(engine)


def test_folders_with_a_log_are_read_once(session: Any, folder: Path, tmp_path: Path) -> None:
    stream = session.readStream.schema("a BIGINT").parquet(str(folder)).writeStream.format("parquet")
    stream = stream.option("checkpointLocation", str(tmp_path / "checks")).trigger(availableNow=True)
    stream.start(str(tmp_path / "out")).awaitTermination(60)
    engine = open_source(f"spark:{tmp_path}/out", ONE)
    assert sum_of(engine) == 6
    assert not has_files(engine)
