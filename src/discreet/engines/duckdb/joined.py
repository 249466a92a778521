"""A table of rows and tables of persons beside it, put together by persons in one private database.

Each source gives parts of persons: ids and integers, of which no id is in an answer. Sources may be of different kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

from discreet.cube.cube import Cube
from discreet.cube.joins import JoinedScan, beside_of, of_rows
from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.engines.base import Engine, PersonReading
from discreet.engines.duckdb.database import Database
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.keys import keys_of_statement
from discreet.engines.joined import Joiner
from discreet.engines.joined_parts import joined_parts_sql
from discreet.engines.person_scans import PartReading, answer_cube, answer_sql
from discreet.engines.resources import Limits
from discreet.engines.texts import KeyTable

__all__ = ["Collecting", "join_sources"]

_PARTS = "discreet_parts"


@runtime_checkable
class Collecting(Protocol):
    """An engine whose parts of persons can be put beside the parts of another one."""

    def can_collect(self) -> bool:
        """True if this source can be put beside others; one that cannot is refused before anything is charged."""

    def collect(self, cursor: Any, table: str, scan: PartReading) -> None:
        """What `parts_sql` gives, each part once, goes into a new temporary table of this name on the cursor."""


def join_sources(engine: Engine, others: Mapping[str, Engine], limits: Limits) -> Joiner | None:
    """What puts a table and tables of persons together; None where a source cannot be put beside another one."""
    found = {name: one for name, one in others.items() if isinstance(one, Collecting) and one.can_collect()}
    if not isinstance(engine, Collecting) or not engine.can_collect() or len(found) < len(others):
        return None
    return _ByDuckdb(engine, found, limits)


class _ByDuckdb:
    """Parts of persons of each source, in tables of a private database that are gone with each answer."""

    def __init__(self, engine: Collecting, others: Mapping[str, Collecting], limits: Limits) -> None:
        self._engine, self._others, self._database = engine, dict(others), Database(limits)

    def add_persons(self, scan: PersonReading) -> Cube:
        with self._collected(scan) as (cursor, joined):
            totals = answer_sql(DUCKDB, _PARTS, scan)
            statement = f"WITH {_PARTS} AS MATERIALIZED ({joined}) SELECT * FROM ({totals}) AS totals"
            return answer_cube(cursor.execute(statement).fetchnumpy(), scan)

    def can_keep_keys(self) -> bool:
        return True

    @contextmanager
    def open_keys(self, scan: KeyScan) -> Iterator[KeyTable]:
        with self._collected(scan) as (cursor, joined), keys_of_statement(cursor, joined, scan) as table:
            yield table

    @contextmanager
    def _collected(self, scan: JoinedScan) -> Iterator[tuple[Any, str]]:
        """A cursor, and the statement on it that gives the parts of the whole reading."""
        name = f"discreet_{uuid4().hex}"
        tables = [f"{name}_{place}" for place, _ in enumerate(beside_of(scan))]
        try:
            with self._database.cursor() as cursor:
                if not isinstance(scan, PersonRows) or not scan.table:  # else it is about persons alone
                    self._engine.collect(cursor, name, of_rows(scan))
                for table, one in zip(tables, beside_of(scan), strict=True):
                    self._others[one.table].collect(cursor, table, one.codes)
                yield cursor, joined_parts_sql(DUCKDB, name, tables, scan)
                for table in (name, *tables):
                    cursor.execute(f"DROP TABLE IF EXISTS {table}")
        except BaseException:
            self._database.retire()  # and with it whatever tables and files are left in it
            raise

    def close(self) -> None:
        self._database.close()
