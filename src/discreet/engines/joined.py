"""A table of rows and tables of persons beside it: which source a reading needs, and one snapshot of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol, runtime_checkable

from discreet.cube.cube import Cube
from discreet.cube.joins import beside_of
from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines.base import (
    CubeRequest,
    Engine,
    Header,
    PersonReading,
    check_ready,
    cubes_of,
    rows_of,
    totals_of_persons,
)
from discreet.engines.texts import Keyed, KeyTable, keys_kept
from discreet.exact.canonical import canonical

__all__ = ["Joinable", "JoinedEngine", "Joiner"]


class Joiner(Protocol):
    """What puts the rows of a table and the codes of tables of persons together, person by person."""

    def add_persons(self, scan: PersonReading) -> Cube:
        """What `Personal.add_persons` gives for a reading with tables of persons beside it."""

    def can_keep_keys(self) -> bool:
        """True if the texts of a column can be kept beside them."""

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """What `Keyed.open_keys` gives for a reading with tables of persons beside it."""

    def close(self) -> None:
        """Whatever was opened for it is closed."""


@runtime_checkable
class Joinable(Protocol):
    """An engine of one's own that tables of persons can stand beside."""

    def joiner(self, others: Mapping[str, Engine]) -> Joiner | None:
        """What puts these engines, by the names of their tables, beside this one; None where it cannot."""


class JoinedEngine:
    """An engine over a table of rows, and over tables of persons of the same data set.

    Args:
        engine: of the table of rows.
        others: of the tables of persons, by their names.
        joiner: puts them together.
        counted: the table whose number of rows is public, where one is; empty for the table of rows.
    """

    def __init__(self, engine: Engine, others: Mapping[str, Engine], joiner: Joiner, counted: str = "") -> None:
        self._engine, self._others, self._joiner = engine, dict(others), joiner
        self._counted = self._others[counted] if counted else engine

    @property
    def header(self) -> Header:
        """The columns of the table of rows."""
        return self._engine.header

    def snapshot(self) -> str:
        """A text that differs after any of the sources has changed; empty where none can tell."""
        every = [self._engine.snapshot(), *(one.snapshot() for one in self._others.values())]
        return canonical(every) if any(every) else ""

    def check_ready(self) -> None:
        """Every source can be read now, as far as that can be known."""
        for one in (self._engine, *self._others.values()):
            check_ready(one)

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        """The cube of the table of rows."""
        return self._engine.aggregate(axes, moments)

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """The cubes of the table of rows."""
        return cubes_of(self._engine, scans)

    def count_rows(self) -> int:
        """The number of rows of the table of which it is public."""
        return rows_of(self._counted)

    def can_add_persons(self) -> bool:
        """True: a source that cannot be put beside others was refused."""
        return True

    def add_persons(self, scan: PersonReading) -> Cube:
        """The totals over persons, or one row of each, from the tables that the reading needs."""
        if isinstance(scan, PersonRows) and scan.table and not scan.everybody:
            return totals_of_persons(self._others[scan.table], replace(scan, table=""))
        return self._joiner.add_persons(scan) if beside_of(scan) else totals_of_persons(self._engine, scan)

    def can_keep_keys(self) -> bool:
        """True where the table of rows can, and the others beside it."""
        return isinstance(self._engine, Keyed) and self._engine.can_keep_keys() and self._joiner.can_keep_keys()

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """The rows that count, with the texts of one column, from the tables that the reading needs."""
        return self._joiner.open_keys(scan) if beside_of(scan) else keys_kept(self._engine, scan)

    def close(self) -> None:
        """All sources are closed."""
        self._joiner.close()
        for one in (self._engine, *self._others.values()):
            one.close()
