"""The definition of an engine: it scans a header, notices changes of its source, and answers one GROUP BY over public codes.

Engines are the only code that sees rows. They know paths, axes and moments; they never know noise, budgets or plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from discreet.cube.cube import Cube, row_count
from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonScan
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.domain.columns import Category, Column, Date
from discreet.domain.schema import Schema
from discreet.errors import InternalError, SourceError, did_you_mean, printed
from discreet.exact.figures import enumerate_texts

__all__ = [
    "CodeList",
    "ColumnType",
    "Counting",
    "CubeRequest",
    "Engine",
    "Header",
    "Inspectable",
    "Labelled",
    "PersonReading",
    "Personal",
    "Prepared",
    "Together",
    "check_header",
    "check_person",
    "check_ready",
    "check_same",
    "columns_of",
    "cubes_of",
    "kinds_accepted",
    "require_column",
    "rows_of",
    "snapshot_before",
    "totals_of_persons",
    "unreadable",
]


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a source column: kind and, for decimals, width and scale; `shown` is the source's own word for it.

    Where each cell has a kind of its own, `usual` is the kind that its declaration leads one to expect, or empty.
    """

    kind: str  # "text", "integer", "decimal", "float", "boolean", "date", "timestamp", "any" (each cell its own) or "other"
    shown: str
    width: int = 0
    scale: int = 0
    usual: str = ""


Header = Mapping[str, ColumnType]
"""Names and types of the columns of a source. Public by rule; read before anything is spent."""


@runtime_checkable
class Engine(Protocol):
    """The contract of an engine. All may be called again and again, by several threads; `close` ends it."""

    @property
    def header(self) -> Header:
        """Names and types of the source's columns; no row is read for them."""

    def snapshot(self) -> str:
        """A text that differs after the source has changed; it costs no look at a row.

        A release whose source had another text before it was read than afterwards is discarded. The text never decides
        anything else, so it may be empty where a reading cannot see a change: rows in memory that nobody alters, and
        engines that answer all scans from one reading (`Together`). Private: only the ledger sees it, and keeps an HMAC.
        """

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        """The cube of all rows, each in the cell of its keys; with no axes, one cell."""

    def close(self) -> None:
        """Connections and files are closed."""


CubeRequest = tuple[Sequence[KeyAxis], Sequence[Moment]]
"""The request for one cube: its keys and its value columns."""


@runtime_checkable
class Together(Protocol):
    """An engine that answers several scans from one reading, because its source has no identity that could be compared."""

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """A cube for each scan, in order, all of the same rows."""


@runtime_checkable
class Inspectable(Protocol):
    """An engine that can show the cells of its columns to their curator, for `inspection` alone."""

    @property
    def header(self) -> Header:
        """As of every engine."""

    def cells(self, names: Sequence[str]) -> Iterator[CountedCells]:
        """The cells of these columns as the reference reads them, a day as text; parts may name a value more than once."""


@dataclass(frozen=True, slots=True)
class CodeList:
    """The codes of a column as the header of a source describes them; for `discreet init` alone, and not part of a reading.

    Args:
        labels: what codes mean, by the codes as they are stored.
        missing: codes that stand for "not known".
        ranges: the first and the last of further such codes.
    """

    labels: Mapping[int | float | str, str]
    missing: tuple[int | float | str, ...] = ()
    ranges: tuple[tuple[int | float | str, int | float | str], ...] = ()


@runtime_checkable
class Labelled(Protocol):
    """An engine whose source says in its header what codes mean."""

    @property
    def code_lists(self) -> Mapping[str, CodeList]:
        """By the names of columns; others have none."""


CountedCells = tuple[str, Sequence[tuple[object, int]]]
"""Some values of the column of this name, each with a number of rows that have it."""


@runtime_checkable
class Prepared(Protocol):
    """An engine that can find out, before anything is charged, that its source cannot be read from where it is called."""

    def check_ready(self) -> None:
        """The source can be read now, from this process.

        Raises:
            SourceError: it cannot; nothing was spent.
        """


@runtime_checkable
class Counting(Protocol):
    """An engine that can count its rows for less than a cube of all of them costs."""

    def count_rows(self) -> int:
        """The number of rows, as `aggregate` would count them now."""


PersonReading = PersonScan | PersonRows
"""The two readings of a table of persons: totals over persons, and one row of each."""


@runtime_checkable
class Personal(Protocol):
    """An engine that can add up persons, each with a bounded weight, in one reading."""

    def can_add_persons(self) -> bool:
        """True if this source can be added up so; a source that cannot is refused before anything is charged."""

    def add_persons(self, scan: PersonReading) -> Cube:
        """For a `PersonRows` the values of persons, each combination once, with the number of persons that have it.

        For a `PersonScan` a cube with two keys, a cell and a part of the answer, each pair once, and the totals over persons
        as its sums. Part 0 has the cells of the request and the totals of all numbers, if there are any, in the order of
        `column_of`. Then comes a part for each spread, with a cell for each bin of each cell of the request and one total.

        Only rows whose identifier is not null contribute. The number of
        rows is the number of persons that are in the cell, which is as private as the totals.
        """


def totals_of_persons(engine: Engine, scan: PersonReading) -> Cube:
    """The totals over persons of a source, or one row of each.

    Raises:
        InternalError: the engine cannot add up persons; `check_person` has refused it before anything was charged.
    """
    if not isinstance(engine, Personal):
        raise InternalError("the engine cannot add up persons")
    return engine.add_persons(scan)


_IDENTIFIERS = ("integer", "text", "date")
_SAID_BY_CELLS = "any"  # each cell is an integer, a text, or no id


def check_person(engine: Engine, person: str | None, shown: str) -> None:
    """Checks that a source can say whose row is whose, if this is declared.

    Raises:
        SourceError: it has no such column, one whose values are not compared exactly, or its engine cannot add up
            persons.
    """
    if person is None:
        return
    if not isinstance(engine, Personal) or not engine.can_add_persons():
        raise SourceError(
            f"AddRemove(person='{person}'): {shown} is read by an engine that cannot add up persons yet; write the rows to "
            "a Parquet file, or pass them as an Arrow table or a frame"
        )
    header = engine.header
    require_column(header, person, shown)
    # Moments that a driver gives as days would make one person of all that share a day.
    if header[person].kind not in (*_IDENTIFIERS, _SAID_BY_CELLS) or "TIMESTAMP" in header[person].shown.upper():
        raise SourceError(
            f"column '{person}': {shown} holds {header[person].shown}, and an Identifier is read from "
            f"{enumerate_texts(_IDENTIFIERS, 'or')} columns, whose values are equal or not; cast the column"
        )


def rows_of(engine: Engine) -> int:
    """The number of rows of the source, now. To be asked only where this number is public: under `ReplaceOne`."""
    return engine.count_rows() if isinstance(engine, Counting) else row_count(engine.aggregate((), ()))


def check_ready(engine: Engine) -> None:
    """Checks that the source can be read now, as far as the engine can know without looking at a row.

    Raises:
        SourceError: it cannot; nothing was spent.
    """
    if isinstance(engine, Prepared):
        engine.check_ready()


def snapshot_before(engine: Engine) -> str:
    """The snapshot of a source that is about to be read, and can be.

    Raises:
        SourceError: it cannot; nothing was spent.
    """
    check_ready(engine)
    return engine.snapshot()


def cubes_of(engine: Engine, scans: Iterable[CubeRequest]) -> Iterator[Cube]:
    """A cube for each scan, in order, all of the same rows unless the engine's snapshot differs afterwards.

    Each scan is asked for, and its cube is read, when the caller takes it, where the engine does not have to read them
    together.
    """
    if isinstance(engine, Together):
        scans = list(scans)
        if len(scans) > 1:
            return engine.aggregate_all(scans)
    return (engine.aggregate(axes, moments) for axes, moments in scans)


def columns_of(scans: Sequence[CubeRequest]) -> list[str]:
    """The names of the columns that the scans look at, each once."""
    axes = [axis.name for keys, _ in scans for axis in keys]
    return list(dict.fromkeys([*axes, *(moment.name for _, values in scans for moment in values)]))


def kinds_accepted(column: Column) -> tuple[str, ...]:
    """The kinds of source column that can hold a column of the schema."""
    if isinstance(column, Date):
        return ("date", "timestamp", "text", "any")
    if isinstance(column, Category):
        if isinstance(column.values[0], bool):
            return ("boolean", "text")
        return ("integer", "float", "decimal", "text", "any") if isinstance(column.values[0], int) else ("text", "any")
    return ("integer", "decimal", "float", "text", "any")


def require_column(header: Header, name: str, source: str) -> None:
    """Raises SourceError for a declared column that the source does not have."""
    if name not in header:
        raise SourceError(
            f"column '{name}': declared in the schema, but not in {source}, where names are compared exactly"
            f"{did_you_mean(name, header)}"
        )


def check_header(header: Header, schema: Schema, source: str) -> None:
    """Checks that every declared column exists, with a type that can hold it.

    Raises:
        SourceError: a declared column is missing, or its type cannot hold what the schema declares.
    """
    for name, column in schema.columns.items():
        require_column(header, name, source)
        accepted = kinds_accepted(column)
        if header[name].kind not in accepted:
            declared = type(column).__name__
            if isinstance(column, Category):
                declared += f" of {type(column.values[0]).__name__} values"
            raise SourceError(
                f"column '{name}': {source} holds {header[name].shown}, the schema declares a {declared}, "
                f"which is read from {', '.join(accepted).removesuffix(', any')} columns; correct the schema or cast "
                "the column"
            )


def check_same(path: object, header: Header, first: object, known: Header) -> None:
    """Checks that the file at `path` has the same columns as the `first` file, with the same types.

    Raises:
        SourceError: they differ; the message names the first column that does.
    """
    if header == known:
        return
    missing, new = [name for name in known if name not in header], [name for name in header if name not in known]
    changed = [name for name in known if name in header and header[name] != known[name]]
    if missing:
        what = f"it has no column {printed(missing[0])}"
    elif new:
        what = f"column {printed(new[0])} is in it only"
    else:
        what = f"column {printed(changed[0])} is {header[changed[0]].shown}, and {known[changed[0]].shown} there"
    raise SourceError(
        f"source '{path}': its columns and types differ from the columns and types of '{first}': {what}; "
        "write all files with the same ones"
    )


def unreadable() -> SourceError:
    """The error that replaces an error of a driver, which quotes values. After a reservation nobody sees it."""
    return SourceError(
        "the source could not be read to its end, and this command spent nothing; check that it is complete and unchanged, "
        "and that memory and disk suffice"
    )
