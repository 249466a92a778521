"""A DuckDB relation as a source, on the connection that it belongs to, which stays open and keeps its settings.

A connection carries out one statement at a time, and the name of the relation in a statement belongs to the connection. So
each reading has a different name, and the readings take place one after the other.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import duckdb
import numpy as np

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.tables import PersonCodes
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import CubeRequest, Engine, Header, PersonReading, columns_of, unreadable
from discreet.engines.duckdb.chosen import table_of
from discreet.engines.duckdb.dialect import DUCKDB, quote_name
from discreet.engines.duckdb.driver import STAGED, Answer, cube_of, read_header
from discreet.engines.duckdb.frames import ArrowOnly
from discreet.engines.duckdb.persons import add_persons_sql
from discreet.engines.person_scans import PartReading, answer_cube, parts_sql
from discreet.engines.sql import aggregate_sql, answer_names
from discreet.errors import InternalError, SourceError
from discreet.exact.processes import check_process, this_process

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["open_relation"]


_Taken = TypeVar("_Taken")


class _Turns:
    """One lock for all relations of a process: the driver does not tell which connection a relation belongs to."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Nobody has a turn: in a child the threads of the parent, which may have had it, are not there."""
        self.lock = threading.Lock()


_TURNS = _Turns()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_TURNS.begin_anew)

_SCAN = "discreet_scan"
_PATIENCES = [0.001 * 2**turn for turn in range(10)]  # a second in all
_PATIENCE = 60.0  # seconds to wait for another reading, before anything is charged


_COLLATION = """
SELECT value FROM system.main.duckdb_settings()
WHERE name = 'default_collation' AND value NOT IN ('', 'binary', 'c', 'posix')
"""
_FUNCTIONS = "SELECT DISTINCT function_name AS name, internal FROM system.main.duckdb_functions()"
"""All functions of a connection, by a name that no macro can hide."""


def open_relation(relation: duckdb.DuckDBPyRelation) -> Engine:
    """An engine over a DuckDB relation."""
    return _RelationEngine(relation)


class _RelationEngine:
    """Every answer comes from one statement over the relation, so that no change between two statements is ever seen."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation, self._process = relation, this_process()
        try:
            columns = list(zip(relation.columns, map(str, relation.types), strict=True))
        except duckdb.Error:
            raise _busy() from None
        _check_names(relation.columns)
        self._header = read_header(columns)
        self._chosen: Rowwise | None = None

    @property
    def header(self) -> Header:
        return self._header if self._chosen is None else self._chosen.header

    def select(self, chosen: Rowwise) -> None:
        self._chosen = chosen
        self.check_ready()

    def snapshot(self) -> str:
        return ""

    def check_ready(self) -> None:
        """The connection is open, in no failed transaction, and has no result that is still being fetched.

        Raises:
            SourceError: it is not, another reading does not end, or a statement would mean something else on it; nothing was
                spent.
        """
        check_process(self._process, "a relation")
        if not _TURNS.lock.acquire(timeout=_PATIENCE):
            raise SourceError("source: other releases are reading relations in this process; wait until they are done")
        try:
            _answer(self._relation, "SELECT 1 AS one FROM {} LIMIT 0".format)
            own = [*self._collations(), *_find_hidden(self._relation)]
        except duckdb.Error:
            raise _busy() from None
        finally:
            _TURNS.lock.release()
        if own:
            raise SourceError(
                f"source: the connection of the relation has {' and '.join(own[:3])}, with which expressions mean something "
                "else; make the relation on a connection without that"
            )

    def _collations(self) -> list[str]:
        """The default collation of the connection, which the expressions of a query would compare texts by."""
        values = [] if self._chosen is None else _answer(self._relation, lambda _: _COLLATION)["value"].tolist()
        return [f"the setting default_collation = {value}" for value in values]

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        with _reading():
            answer = _answer(self._relation, lambda name: self._scan(name, axes, moments))
        return cube_of(answer, axes, moments)

    def can_add_persons(self) -> bool:
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        with _reading():
            answer = _answer(self._relation, lambda name: add_persons_sql(DUCKDB, name, self.header, scan))
        return answer_cube({name: np.ma.getdata(values) for name, values in answer.items()}, scan)

    def can_collect(self) -> bool:
        return True

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        """The parts leave the connection of the relation as a frame in memory, which has no 128-bit integers."""
        with _reading():
            frame = _taken(self._relation, lambda name: self._parts(name, scan), _frame)
        wide = self._wide(scan)
        read = ", ".join(f"CAST({name} AS HUGEINT) AS {name}" for name in wide)
        cursor.register(STAGED, ArrowOnly(frame))
        cursor.execute(f"CREATE TEMP TABLE {table} AS SELECT *{f' REPLACE ({read})' if wide else ''} FROM {STAGED}")
        cursor.unregister(STAGED)

    def _parts(self, name: str, scan: PartReading) -> str:
        parts, wide = parts_sql(DUCKDB, name, self.header, scan), self._wide(scan)
        return f"SELECT * REPLACE ({', '.join(wide.values())}) FROM ({parts})" if wide else parts

    def _wide(self, scan: PartReading) -> dict[str, str]:
        """The columns of the parts that may need more than 64 bits, as texts: an id of this type, and sums."""
        rest = scan.rest if isinstance(scan, KeyScan) else scan
        sums = [] if isinstance(rest, PersonCodes) else [f"s{j}" for j in range(len(rest.values))]
        names = [*(["p"] if self.header[rest.person].shown == "HUGEINT" else []), *sums]
        return {name: f"CAST({name} AS VARCHAR) AS {name}" for name in names}

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """One statement reads the columns once and answers all scans; the connection spills what is too large for memory."""
        with _reading():
            answer = _answer(self._relation, lambda name: self._statement(name, scans))
        place = np.ma.getdata(answer[_SCAN])
        for number, (axes, moments) in enumerate(scans):
            own = np.flatnonzero(place == number)
            columns = {name: np.ma.getdata(answer[name])[own] for name in answer_names(DUCKDB, axes, moments)}
            yield cube_of(columns, axes, moments)

    def close(self) -> None:
        """Does nothing: the engine has not opened anything."""

    def _scan(self, name: str, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> str:
        table = table_of(self._chosen, columns_of([(axes, moments)]), name)
        return aggregate_sql(DUCKDB, table, self.header, axes, moments)

    def _statement(self, name: str, scans: Sequence[CubeRequest]) -> str:
        """The answers of the scans, one below the other."""
        rows, names = f"{name}_rows", columns_of(scans)
        columns, table = ", ".join(map(quote_name, names)) or "1", table_of(self._chosen, names, name)
        parts = [
            f"SELECT {number} AS {_SCAN}, * FROM ({aggregate_sql(DUCKDB, rows, self.header, *scan)})"
            for number, scan in enumerate(scans)
        ]
        return f"WITH {rows} AS MATERIALIZED (SELECT {columns} FROM {table}) {' UNION ALL BY NAME '.join(parts)}"


def _check_names(names: Sequence[str]) -> None:
    """Checks that each name belongs to one column: the driver ignores case, and would read the first."""
    if len({name.casefold() for name in names}) < len(names):
        raise SourceError("source: the relation has two columns whose names differ only in case; rename one of them")


def _find_hidden(relation: duckdb.DuckDBPyRelation) -> list[str]:
    """The functions of the driver that the connection hides by functions of its own; the driver ignores case in names."""
    found = _answer(relation, lambda _: _FUNCTIONS)
    known: dict[bool, set[str]] = {False: set(), True: set()}
    for name, internal in zip(found["name"].tolist(), found["internal"].tolist(), strict=True):
        known[bool(internal)].add(name.casefold())
    return [f"a function of its own named {name}" for name in sorted(known[False] & known[True])]


def _busy() -> SourceError:
    return SourceError(
        "source: the connection of the relation is busy, closed or in a failed transaction; fetch its result, end its "
        "transaction, or make the relation on a separate connection, which connection.cursor() gives"
    )


@contextmanager
def _reading() -> Iterator[None]:
    """Nobody else reads a relation meanwhile; what the driver raises is the constant `unreadable`."""
    try:
        with _TURNS.lock:
            yield
    except duckdb.Error:
        raise unreadable() from None


def _numbers(answer: duckdb.DuckDBPyRelation) -> Answer:
    found: Answer = answer.fetchnumpy()
    return found


def _frame(answer: duckdb.DuckDBPyRelation) -> Any:
    import polars as pl

    try:
        return pl.DataFrame(ArrowOnly(answer))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):  # of an error of the driver
        raise unreadable() from None


def _answer(relation: duckdb.DuckDBPyRelation, statement: Callable[[str], str]) -> Answer:
    """The answer to the statement about a relation of this name, which nothing else on the connection has."""
    return _taken(relation, statement, _numbers)


def _taken(
    relation: duckdb.DuckDBPyRelation, statement: Callable[[str], str], take: Callable[[duckdb.DuckDBPyRelation], _Taken]
) -> _Taken:
    name = f"discreet_{uuid4().hex}"
    for patience in _PATIENCES:
        with suppress(duckdb.ResourceInUseException):  # its owner's own thread has it, for a moment
            return take(_ask(relation, name, statement(name)))
        time.sleep(patience)
    return take(_ask(relation, name, statement(name)))


def _ask(relation: duckdb.DuckDBPyRelation, name: str, statement: str) -> duckdb.DuckDBPyRelation:
    answer = relation.query(name, statement)
    if answer is None:
        raise InternalError("a query gave no result")
    return answer
