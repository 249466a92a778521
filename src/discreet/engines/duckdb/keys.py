"""Texts of a column that DuckDB keeps in a table of its own database, and the weights and totals that it counts of them.

The table is made in one reading, has no name that anybody else could know, and is gone with its cursor. Every number is
whole, and no statement depends on an order but that of the bytes of the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.cube.keys import MOST_KEYS, KeyScan, key_weight
from discreet.cube.persons import PersonScan
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.frames import ArrowOnly
from discreet.engines.persons import added_names, part_names, person_cube, person_totals_sql, summed_sql
from discreet.engines.texts import KeyTable, Places

__all__ = ["keys_of_frames", "keys_of_statement"]

_PARTS = "discreet_parts"
_GONE, _WEIGHTS, _PLACED = "discreet_gone", "discreet_weights", "discreet_placed"


@contextmanager
def keys_of_statement(cursor: Any, statement: str, scan: KeyScan) -> Iterator[KeyTable]:
    """The table of the rows that a statement of `key_rows_sql` gives."""
    with _table(cursor, scan) as (kept, table):
        cursor.execute(f"CREATE TEMP TABLE {table} AS {statement}")
        yield kept


@contextmanager
def keys_of_frames(cursor: Any, statement: str, staged: str, frames: Iterable[Any], scan: KeyScan) -> Iterator[KeyTable]:
    """The table of the rows of several frames, each of which the statement finds under the name `staged`."""
    with _table(cursor, scan) as (kept, table):
        cells, (rows, sums) = part_names(scan.rest), added_names(scan.rest.values)
        kinds = {"BLOB": ["p", "word"], "INTEGER": cells, "BIGINT": rows, "HUGEINT": sums}
        columns = ", ".join(f"{name} {kind}" for kind, names in kinds.items() for name in names)
        cursor.execute(f"CREATE TEMP TABLE {table} ({columns})")
        for frame in frames:
            cursor.register(staged, ArrowOnly(frame))
            cursor.execute(f"INSERT INTO {table} {statement}")
            cursor.unregister(staged)
        yield kept


@contextmanager
def _table(cursor: Any, scan: KeyScan) -> Iterator[tuple[_Kept, str]]:
    name = f"discreet_{uuid4().hex}"
    try:
        yield _Kept(cursor, name, scan), name
    finally:
        for table in (name, f"{name}_found"):
            cursor.execute(f"DROP TABLE IF EXISTS {table}")


class _Kept:
    """A table of what `key_rows_sql` gives; rows of one person, word and cell may stand in several of its rows."""

    def __init__(self, cursor: Any, table: str, scan: KeyScan) -> None:
        self._cursor, self._table, self._scan = cursor, table, scan

    def candidates(self, gone: Sequence[str], at_least: int) -> NDArray[np.int64]:
        found = f"{self._table}_found"
        weights: Mapping[str, Sequence[int]] = {
            "c": range(1, MOST_KEYS + 1),
            "w": [key_weight(keys) for keys in range(1, MOST_KEYS + 1)],
        }
        with self._given(_GONE, _named(gone, range(len(gone)))), self._given(_WEIGHTS, _numbers(weights)):
            self._cursor.execute(f"CREATE OR REPLACE TEMP TABLE {found} AS {self._weighed(at_least)}")
        answer = self._cursor.execute(f"SELECT v FROM {found} ORDER BY i").fetchnumpy()
        return np.asarray(answer["v"], dtype=np.int64)

    def _weighed(self, at_least: int) -> str:
        """Persons of one key who have as many keys have one weight: weights are looked up for few groups of persons."""
        pairs = f"SELECT DISTINCT p, word FROM {self._table} ANTI JOIN {_GONE} USING (word) WHERE word IS NOT NULL"
        counts = "SELECT p, count(*) AS c FROM pairs GROUP BY p"
        each = "SELECT word, c, count(*) AS a FROM pairs JOIN counts USING (p) GROUP BY word, c"
        keys = (
            f"SELECT word, CAST(sum(a * w) AS BIGINT) AS v FROM each JOIN {_WEIGHTS} USING (c) "
            f"GROUP BY word HAVING sum(a) >= {at_least}"
        )
        return (
            f"WITH pairs AS MATERIALIZED ({pairs}), counts AS ({counts}), each AS ({each}), weighed AS ({keys}) "
            "SELECT CAST(row_number() OVER (ORDER BY word) - 1 AS BIGINT) AS i, word, v FROM weighed"
        )

    def names(self, places: NDArray[np.intp]) -> list[str]:
        with self._given(_PLACED, _numbers({"i": [int(place) for place in places]})):
            ordered = f"SELECT word FROM {self._table}_found JOIN {_PLACED} USING (i) ORDER BY i"
            return [bytes(word).decode() for (word,) in self._cursor.execute(ordered).fetchall()]

    def totals(self, places: Places, whole: PersonScan) -> Cube:
        null, other = ("NULL" if place is None else str(place) for place in (places.null, places.other))
        inner = self._scan.inner
        cell = f"((cell // {inner}) * {places.count} + place) * {inner} + cell % {inner}"
        bins = "".join(f", {name}" for name in part_names(whole)[1:])
        placed = (
            f"SELECT {self._table}.*, CASE WHEN {self._table}.word IS NULL THEN {null} ELSE coalesce(place, {other}) END "
            f"AS place FROM {self._table} LEFT JOIN {_PLACED} USING (word)"
        )
        parts = (
            f"SELECT p, CAST({cell} AS INTEGER) AS cell{bins}, {summed_sql(DUCKDB, whole.values)} FROM ({placed}) AS placed "
            f"WHERE place IS NOT NULL GROUP BY p, {cell}{bins}"
        )
        totals = person_totals_sql(DUCKDB, _PARTS, whole)
        statement = f"WITH {_PARTS} AS MATERIALIZED ({parts}) SELECT * FROM ({totals}) AS totals"
        with self._given(_PLACED, _named(list(places.named), places.named.values())):
            return person_cube(self._cursor.execute(statement).fetchnumpy(), whole)

    @contextmanager
    def _given(self, name: str, frame: Callable[[], Any]) -> Iterator[None]:
        """A public table that statements find under this name."""
        self._cursor.register(name, ArrowOnly(frame()))
        try:
            yield
        finally:
            self._cursor.unregister(name)


def _named(words: Sequence[str], places: Iterable[int]) -> Callable[[], Any]:
    """A frame of texts as bytes, with their places; it may be empty."""

    def made() -> Any:
        import polars as pl

        named = pl.Series("word", [word.encode() for word in words], dtype=pl.Binary)
        return pl.DataFrame([named, pl.Series("place", [*places], dtype=pl.Int64)])

    return made


def _numbers(columns: Mapping[str, Sequence[int]]) -> Callable[[], Any]:
    def made() -> Any:
        import polars as pl

        return pl.DataFrame([pl.Series(name, list(values), dtype=pl.Int64) for name, values in columns.items()])

    return made
