"""The distributed engine: Spark 4. The only file that imports the driver, and only when a source asks for it.

A source is a Spark DataFrame, `"spark:db.table"` or `"spark:/path/to/parquet"`. One statement answers: one scan, a shuffle
of partial counts, and another where cells are found among texts. It draws nothing and its result does not depend on the
order of rows, so that tasks which are tried again, or run twice, change nothing. Columns are taken by their place, so that
no setting decides which one is meant.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, compact, sum_dtype
from discreet.cube.tables import PersonCodes
from discreet.cube.value_paths import CategoryPath, KeyAxis, Moment
from discreet.engines.base import (
    ColumnType,
    CountedCells,
    CubeRequest,
    Engine,
    Header,
    PersonReading,
    columns_of,
    unreadable,
)
from discreet.engines.keys import unpack, words_of
from discreet.engines.person_scans import answer_cube
from discreet.engines.spark import PREFIX
from discreet.engines.spark.dialect import LIMB_BITS, SPARK, TIMESTAMP_NTZ, few_spellings, limbs
from discreet.engines.spark.files import FrameFiles, check_names, files_of_path, files_of_table
from discreet.engines.spark.persons import person_answer, person_parts, under_places
from discreet.engines.spill import new_spill_folder, remove_spill_folder
from discreet.engines.sql import aggregate_sql, answer_names
from discreet.errors import SourceError
from discreet.exact.processes import check_process, this_process

__all__ = ["SparkEngine", "constant_errors", "open_spark_frame", "open_spark_text"]

_JAVA = 17
_FETCHED = 50_000
_TABLE = "{discreet_source}"  # what the driver replaces by the frame; there is no other brace in a statement
_KINDS = {
    **dict.fromkeys(["byte", "short", "integer", "long"], "integer"),
    **dict.fromkeys(["float", "double"], "float"),
    **dict.fromkeys(["string", "char", "varchar"], "text"),
    **dict.fromkeys(["timestamp", TIMESTAMP_NTZ], "timestamp"),
    "void": "text",  # nothing but nulls
    "boolean": "boolean",
    "date": "date",
}
_READING = {
    "mergeSchema": "true",  # files whose types do not go together are refused when the source is opened
    "recursiveFileLookup": "true",  # a folder name such as age=3 must not become a column
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "datetimeRebaseMode": "CORRECTED",  # no day is another day because it is long ago, and none ends the reading
    "int96RebaseMode": "CORRECTED",
    "discreet": "uncached",  # no option of the driver: it takes nobody's copy in memory for these files
}
# Settings of a session that is opened here: its pages and its log would show exact counts.
_OWN = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_REBASE = ("spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead")


class SparkEngine:
    """An engine over one frame, whose session stays open: it belongs to the caller, or to the process."""

    def __init__(self, frame: Any, columns: Sequence[str], files: FrameFiles | None = None) -> None:
        self._frame, self._files, self._process = frame, files, this_process()
        fields = [(field.name, _column_type(field.dataType)) for field in frame.schema.fields]
        names = [name for name, _ in fields]
        twice = [name for name in columns if names.count(name) > 1]
        if twice:
            raise SourceError(f"column '{twice[0]}': the source has two columns of this name")
        self._header = dict(fields)
        self._all = [f"x{place}" for place in range(len(names))]
        self._places = dict(zip(names, self._all, strict=True))

    @property
    def header(self) -> Header:
        """Names and types of the frame's columns."""
        return self._header

    def snapshot(self) -> str:
        """The metadata of the files in the file system; empty for other frames, for which one reading answers everything."""
        return "" if self._files is None else self._files.snapshot()

    def check_ready(self) -> None:
        """This is the process that has the gateway to the driver.

        Raises:
            SourceError: it is a child of it; nothing was spent.
        """
        check_process(self._process, "a Spark session")

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        """The cube of all rows."""
        return self._count(self._place([(axes, moments)]), axes, moments)

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """Files with an identity are read for each scan; the columns of other frames are read once and kept.

        The executors keep these columns, in memory and on their disks. They are not read again if some are lost: then the
        release fails.
        """
        if self._files is not None:
            yield from (self.aggregate(axes, moments) for axes, moments in scans)
            return
        with constant_errors():
            kept = self._place(scans).localCheckpoint(eager=True)
        yield from [self._count(kept, axes, moments) for axes, moments in scans]

    def can_add_persons(self) -> bool:
        """Every frame can be asked about persons."""
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        """The totals over persons, or one row of each, from one reading of the frame."""
        parts = self.person_parts(scan)
        with constant_errors():
            return answer_cube(person_answer(self.session, parts, scan), scan)

    @property
    def session(self) -> Any:
        """The session of the frame."""
        return self._frame.sparkSession

    def person_parts(self, scan: PersonReading | PersonCodes) -> Any:
        """The parts of persons, from one reading of the frame; the executors keep them."""
        placed = self._columns(scan.columns)
        header = {self._places[name]: self._header[name] for name in scan.columns}
        with constant_errors():
            return person_parts(self.session, placed, header, under_places(scan, self._places))

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        """The cells of these columns, a part of a column at a time."""
        for name in names:
            at, kind = self._places[name], self._header[name].kind
            cell = at if kind in {"integer", "decimal", "float", "boolean"} else f"CAST({at} AS STRING)"
            cell = f"CAST(CAST({at} AS DATE) AS STRING)" if kind in {"date", "timestamp"} else cell
            with constant_errors():
                counted = self._frame.toDF(*self._all).selectExpr(f"{cell} AS cell").groupBy("cell").count()
                rows = counted.toLocalIterator()
                while some := [(row[0], row[1]) for row in islice(rows, _FETCHED)]:
                    yield name, some

    def close(self) -> None:
        """Does nothing: the engine has not opened anything."""

    def _place(self, scans: Sequence[CubeRequest]) -> Any:
        """The columns of the scans, called by their places."""
        return self._columns(columns_of(scans))

    def _columns(self, names: Sequence[str]) -> Any:
        """These columns, called by their places."""
        wanted = [(self._places[name], self._header[name]) for name in names]
        # Texts leave their collation behind, and columns of nothing but nulls become texts.
        columns = [f"CAST({at} AS STRING) AS {at}" if kind.kind == "text" else at for at, kind in wanted]
        with constant_errors():
            return self._frame.toDF(*self._all).selectExpr(*(columns or ["1"]))

    def _count(self, placed: Any, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        header = {self._places[name]: self._header[name] for name in columns_of([(axes, moments)])}
        by_place = [replace(axis, path=replace(axis.path, name=self._places[axis.name])) for axis in axes]
        summed = [replace(moment, path=replace(moment.path, name=self._places[moment.name])) for moment in moments]
        statement = _merge_groups(aggregate_sql(SPARK, _TABLE, header, by_place, summed), by_place, summed)
        with constant_errors():
            answer = self._frame.sparkSession.sql(statement, discreet_source=placed).toArrow()
        return _cube(answer, axes, moments)


@contextmanager
def constant_errors() -> Iterator[None]:
    """Every error of the driver, its gateway or its network may quote values: it becomes the constant error."""
    try:
        yield
    except Exception:  # noqa: BLE001
        raise unreadable() from None


def open_spark_frame(frame: Any, columns: Sequence[str]) -> Engine:
    """An engine over a Spark DataFrame, in its own session with the settings that it has.

    Raises:
        SourceError: a stream, a setting under which a value can end a query, or a name that is there twice.
    """
    _check_frame(frame)
    return SparkEngine(frame, columns, files_of_table(frame.sparkSession, frame))


def _check_frame(frame: Any) -> None:
    if frame.isStreaming:
        raise SourceError("source: is a streaming DataFrame; pass one that can be read twice")
    for setting in _REBASE:
        if str(frame.sparkSession.conf.get(setting)).upper() == "EXCEPTION":
            raise SourceError(f"source: under {setting}=EXCEPTION one old date ends a query; set it to CORRECTED or LEGACY")


def open_spark_text(source: str, columns: Sequence[str]) -> Engine:
    """An engine over a table, or over Parquet files where what follows the colon holds a slash.

    The session is the active one, or a new one.

    Raises:
        SourceError: no driver, no Java 17, no such table or files, or no readable Parquet.
    """
    name = source.removeprefix(PREFIX)
    if not name.strip():
        raise SourceError(f"source '{source}': name a table or a path, such as 'spark:db.table' or 'spark:/data/persons'")
    session = _session(source)
    if "/" not in name:
        frame = _find(source, lambda: session.table(name), "is not a readable table")
        _check_frame(frame)
        check_names(frame)
        return SparkEngine(frame, columns, files_of_table(session, frame))
    frame = _find(source, lambda: session.read.options(**_READING).parquet(name), "cannot be read as Parquet files")
    _check_folders(source, frame, columns)
    check_names(frame)
    engine = SparkEngine(frame, columns, files_of_path(session, frame, name))
    stamps = [name for name in columns if name in engine.header and engine.header[name].kind == "timestamp"]
    if stamps:
        _check_units(source, session, frame, stamps)
    return engine


def _check_folders(source: str, frame: Any, columns: Sequence[str]) -> None:
    """Checks that no folder names a column, which a path would not have. The error states what reads partitioned data."""
    missing = [name for name in columns if name not in frame.columns]
    files = frame.inputFiles() if missing else []
    named = next((name for name in missing if any(f"/{name}=" in file for file in files)), None)
    if named is not None:
        raise SourceError(
            f"column '{named}': is named by the folders of source '{source}', which are not columns of a path; hand over a "
            "DataFrame, such as spark.read.parquet(…), or name a table"
        )


def _find(source: str, finding: Callable[[], Any], problem: str) -> Any:
    """The frame, once its schema is known: over a network that is when a wrong name is found."""
    try:
        frame = finding()
        _ = frame.schema
    except Exception:  # noqa: BLE001 (the driver's words may quote what is in the files)
        raise SourceError(f"source '{source}': {problem} in this Spark session; check name and permissions") from None
    return frame


def _check_units(source: str, session: Any, frame: Any, names: Sequence[str]) -> None:
    """Checks that no file holds one of these columns in milliseconds: the driver multiplies, which can fail for one cell."""
    try:
        java = session.sparkContext._jvm  # noqa: SLF001 (the driver's public API does not show the units of a file)
        settings = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
        units = {unit for file in frame.inputFiles() for unit in _units(java, settings, file, names)}
    except Exception:  # noqa: BLE001
        raise SourceError(
            f"source '{source}': the units of its timestamps cannot be seen from here; write them as days, "
            "or pass a DataFrame in which they are dates"
        ) from None
    if "MILLIS" in units:
        raise SourceError(
            f"source '{source}': has timestamps in milliseconds, of which one cell can end a query; "
            "write days or microseconds"
        )


def _units(java: Any, settings: Any, file: str, names: Sequence[str]) -> list[str]:
    path = java.org.apache.hadoop.fs.Path(java.java.net.URI(file))
    opened = java.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(path, settings)
    reader = java.org.apache.parquet.hadoop.ParquetFileReader.open(opened)
    try:
        fields = reader.getFooter().getFileMetaData().getSchema().getFields()
        known = {name.casefold() for name in names}
        return re.findall(
            r"TIMESTAMP\((\w+)", " ".join(str(field) for field in fields if field.getName().casefold() in known)
        )
    finally:
        reader.close()


def _session(source: str) -> Any:
    """The active session, or a new one, which then shows its numbers to nobody."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SourceError(f"source '{source}': needs the extra: pip install 'discreet[spark]'") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if "SPARK_REMOTE" not in os.environ:
        _check_java(source)
    return _open_session(source, SparkSession.builder)


def _open_session(source: str, builder: Any) -> Any:
    folder = new_spill_folder()
    try:
        if "SPARK_REMOTE" not in os.environ:
            for name, value in {**_OWN, "spark.local.dir": folder.path}.items():
                builder = builder.config(name, value)
        session = builder.getOrCreate()
    except Exception:  # noqa: BLE001
        remove_spill_folder(folder)
        raise SourceError(f"source '{source}': no Spark session could be opened; open one before, to see why") from None
    finalize(session, remove_spill_folder, folder)
    with suppress(Exception):  # a remote session has no log here
        session.sparkContext.setLogLevel("OFF")
    return session


def _check_java(source: str) -> None:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    found = _java_version(program) if program else None
    if found is None or found < _JAVA:
        shown = "none was found" if found is None else f"version {found} was found"
        raise SourceError(f"source '{source}': Spark needs Java {_JAVA} or newer, and {shown}; set JAVA_HOME")


def _java_version(program: str) -> int | None:
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return int(version[1]) if version else None


def _column_type(type_: Any) -> ColumnType:
    name = type_.typeName()
    if name == "decimal":
        return ColumnType("decimal", type_.simpleString(), type_.precision, type_.scale)
    return ColumnType(_KINDS.get(name, "other"), name)


def _merge_groups(statement: str, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> str:
    """The statement of `aggregate_sql` with one row for each cell, where it groups by texts that may be any short text.

    The executors add the groups up, so that texts which are not categories never reach the driver, however many they are.
    The hint keeps the two groupings apart: otherwise the optimizer makes one of them, which looks for the target of each
    row and took three times as long.
    """
    if not any(isinstance(axis.path, CategoryPath) and few_spellings(axis.path) for axis in axes):
        return statement
    names = answer_names(SPARK, axes, moments)
    words = len(words_of(axes))
    summed = ", ".join([*names[:words], *(f"sum({name}) AS {name}" for name in names[words:])])
    keys = ", ".join(names[:words])
    return f"SELECT {summed} FROM (SELECT /*+ REPARTITION({keys}) */ * FROM ({statement})) GROUP BY {keys}"


def _cube(answer: Any, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
    def column(name: str) -> Any:
        return answer[name].to_numpy()

    rows = np.asarray(column("n"), dtype=np.int64)
    words = words_of(axes)
    keys = unpack(words, (column(f"k{i}") for i in range(len(words))), len(rows))
    widths = [moment.path.high - moment.path.low for moment in moments]
    nonnull = np.empty((len(rows), len(moments)), dtype=np.int64)
    sums: NDArray[Any] = np.zeros(nonnull.shape, dtype=sum_dtype(widths))
    for j, width in enumerate(widths):
        nonnull[:, j] = column(f"n{j}")
        for i in range(limbs(width)):
            sums[:, j] = sums[:, j] + column(f"s{j}_{i}").astype(sums.dtype) * 2 ** (LIMB_BITS * i)
    return compact(Cube(keys, rows, nonnull, sums))
