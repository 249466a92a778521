"""Tables of a PostgreSQL server: where few different rows are declared, the server counts equal ones, else rows stream.

The server answers every row that differs from the others with its number, and the statement of the default engine gives it
its code. So a cell means what it means in a stream, and only different rows come over the network. The request, the schema
and the types of the columns decide which of the two is done. All that one release reads is read in one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import prod
from typing import Any

from discreet.engines.base import ColumnType, CubeRequest, Engine, columns_of, unreadable
from discreet.engines.duckdb.dialect import COPIES, quote_name
from discreet.engines.duckdb.streams import DatabaseTable, open_streamed, place_of
from discreet.engines.resources import Limits
from discreet.engines.urls import fill_in
from discreet.errors import SourceError, without_secrets

__all__ = ["Server", "grouped_statement", "is_server_view", "open_url"]

_FEW = 2**20
"""The most different rows that may be declared where the server counts them."""

_TEXTS = ("text", "character varying")
_COUNTED = re.compile(r"(smallint|integer|bigint|boolean|date|numeric|text|character varying)(\([-0-9,]+\))?")
"""The types whose equal values mean the same. Texts that differ can be equal as character(n); floats and instants differ."""

_DECIMAL = re.compile(r"numeric\(([0-9]+),([0-9]+)\)")
_DIGITS = 38
_FIRST_OF_USERS = 16384  # the smallest number of a type that PostgreSQL itself does not have, whose name may be any
_BY_BYTES = ' COLLATE "C"'
_VIEWS = frozenset({"v", "m"})  # the letters of views and of materialised ones


@dataclass(frozen=True, slots=True)
class Server:
    """A table whose equal rows the server can count; `types` are its own words for the types of its columns."""

    table: DatabaseTable
    types: Mapping[str, str]

    @property
    def decimals(self) -> Mapping[str, ColumnType]:
        """The columns of as many digits as a decimal of the default engine can have; the driver gives them as texts."""
        found = {name: _DECIMAL.fullmatch(shown) for name, shown in self.types.items()}
        sizes = {name: (int(one[1]), int(one[2])) for name, one in found.items() if one is not None}
        return {
            name: ColumnType("decimal", f"DECIMAL({width},{scale})", width, scale)
            for name, (width, scale) in sizes.items()
            if scale <= width <= _DIGITS
        }

    def serves(self, scans: Sequence[CubeRequest]) -> bool:
        """True where every column can be compared, and few different rows are declared."""
        return all(self._serves(scan) for scan in scans)

    def _serves(self, scan: CubeRequest) -> bool:
        axes, moments = scan
        sizes = {axis.name: axis.path.column.size + 1 for axis in axes}
        sizes |= {moment.name: moment.path.column.size + 1 for moment in moments}
        known = all(_COUNTED.fullmatch(self.types.get(name, "")) for name in sizes)
        return known and COPIES not in self.types and prod(sizes.values()) <= _FEW

    def groups(self, scans: Sequence[CubeRequest]) -> Iterator[Any]:
        """For each scan its different rows as an Arrow table, with their numbers; all in one transaction."""
        with _reading(self.table) as cursor:
            if _types(cursor, self.table) != self.types:  # other types may have another equality
                raise unreadable()
            for scan in scans:
                cursor.execute(grouped_statement(place_of(self.table), columns_of([scan]), self.types))
                yield cursor.fetch_arrow_table()


def grouped_statement(place: str, names: Sequence[str], types: Mapping[str, str]) -> str:
    """The statement that gives the different values of these columns, and how many rows have them.

    Texts are compared by their bytes: under the collation of a column, texts that differ may be equal. Decimals are compared
    as they are written too: 1.0 and 1.00 are equal, and the server would answer one of them for the rows of both.
    """
    columns = [
        f"{quote_name(name)}{_BY_BYTES if types[name].startswith(_TEXTS) else ''} AS {quote_name(name)}" for name in names
    ]
    keys = [str(number) for number, _ in enumerate(names, 1)]
    keys += [f"{quote_name(name)}::text" for name in names if types[name].startswith("numeric")]
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*columns, f'count(*) AS {quote_name(COPIES)}'])} FROM {place}{grouped}"


def open_url(url: str, columns: Sequence[str], limits: Limits) -> Engine:
    """An engine over the table URL::TABLE of a PostgreSQL server. Its password, if any, comes from the environment.

    Raises:
        SourceError: no table, a variable of the environment or the driver is missing, or it cannot be opened.
    """
    table = _table_of(url)
    return open_streamed(table, columns, limits, partial(_server, table))


def is_server_view(url: str) -> bool:
    """True if the URL names a view. A server that does not answer has none."""
    try:
        table = _table_of(url)
        with _reading(table) as cursor:
            cursor.execute(f"SELECT relkind::text FROM pg_catalog.pg_class WHERE oid = {_regclass(table)}")
            found = cursor.fetchone()
    except (Exception, SystemExit):  # noqa: BLE001 (whatever a driver raises; opening the source says it)
        return False
    return found is not None and found[0] in _VIEWS


def _table_of(url: str) -> DatabaseTable:
    address, _, table = url.rpartition("::")
    if not address or not all(table.split(".")):
        raise SourceError(f"source '{without_secrets(url)}': names no table; add one, as in '::public.persons'")
    fill_in(address)  # a variable that is missing is found here, before anything is spent

    def connect() -> Any:
        return import_module("adbc_driver_postgresql.dbapi").connect(fill_in(address))

    return DatabaseTable(connect, table)


def _server(table: DatabaseTable) -> Server:
    with _reading(table) as cursor:
        _require_utf8(cursor)
        return Server(table, _types(cursor, table))


def _require_utf8(cursor: Any) -> None:
    """Checks that texts arrive as UTF-8, or as the bytes that they are in a database that knows no encoding.

    Raises:
        SourceError: they arrive in another encoding, and would be read as other texts; or the server would check them, so
            that one cell could end a reading.
    """
    cursor.execute("SELECT current_setting('server_encoding'), current_setting('client_encoding')")
    stored, sent = cursor.fetchone()
    if sent != ("SQL_ASCII" if stored == "SQL_ASCII" else "UTF8"):
        advice = "leave out client_encoding" if stored == "SQL_ASCII" else "add '?client_encoding=UTF8' before '::'"
        raise SourceError(f"source: the database stores texts as {stored} and sends them as {sent}; {advice} in the URL")


def _types(cursor: Any, table: DatabaseTable) -> dict[str, str]:
    """The words of PostgreSQL for the types of the columns; "" for types that it does not have itself."""
    cursor.execute(
        f"SELECT attname::text, CASE WHEN atttypid < {_FIRST_OF_USERS} THEN pg_catalog.format_type(atttypid, atttypmod) "
        f"ELSE '' END FROM pg_catalog.pg_attribute WHERE attrelid = {_regclass(table)} AND attnum > 0 AND NOT attisdropped"
    )
    return dict(cursor.fetchall())


def _regclass(table: DatabaseTable) -> str:
    """The table as PostgreSQL numbers it. The name is a text here, and its quotes are doubled once more."""
    return f"'{place_of(table).replace(chr(39), chr(39) * 2)}'::pg_catalog.regclass"


@contextmanager
def _reading(table: DatabaseTable) -> Iterator[Any]:
    """A cursor in a transaction that sees the rows of one moment, and writes nothing."""
    with closing(table.connect()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield cursor
