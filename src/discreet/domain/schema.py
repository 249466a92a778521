"""The declared columns of a table. Everything in a schema is public knowledge, written down before the data are seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from discreet.domain.categories import check_text
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.reading import CsvFormat
from discreet.errors import SchemaError, did_you_mean, printed

if TYPE_CHECKING:
    from discreet.domain.rowwise.tree import Select

__all__ = ["Category", "Column", "Date", "Number", "Schema"]  # pickles of 0.1.0 find the columns here


@dataclass(frozen=True, slots=True, init=False)
class Schema:
    """The declared columns, in order. Columns of the source that are not declared are never read.

    Raises:
        SchemaError: no columns; a name that is empty, unprintable or declared twice, whatever its case; no `Column`.
    """

    columns: Mapping[str, Column]
    reading: CsvFormat | None
    query: Select | None

    def __init__(self, columns: Mapping[str, Column] | None = None, /, **named: Column) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise SchemaError(f"schema={printed(columns)}: must map names to columns, such as {{'age': Number(0, 110)}}")
        joined = dict(columns or {})
        for name, column in named.items():
            if name in joined:
                raise SchemaError(f"column '{name}': is declared twice")
            joined[name] = column
        _check_columns(joined)
        object.__setattr__(self, "columns", MappingProxyType(joined))
        object.__setattr__(self, "reading", None)
        object.__setattr__(self, "query", None)

    def read_as(self, reading: CsvFormat | None) -> Schema:
        """The same columns, read from CSV files of this format: it decides what their cells mean, and so is part of them."""
        return _read_again(dict(self.columns), reading if reading is not None and reading.to_json() else None, self.query)

    def select(self, query: str | Select | None) -> Schema:
        """The same columns, computed from columns of the source by a row-wise query, whose expressions are part of them.

        Raises:
            PlanError: the query is not row-wise, or has no column of a name that the schema declares.
        """
        if query is None:
            return self
        from discreet.domain.rowwise.parsing import parse

        found = parse(query)
        for name in self.columns:
            found.require(name)
        return _read_again(dict(self.columns), self.reading, found)

    def derived(self) -> Mapping[str, str]:
        """The canonical text of each column that a query computes, or takes from a column of another name."""
        texts = ((name, None if self.query is None else self.query.derived(name)) for name in self.columns)
        return {name: text for name, text in texts if text is not None}

    def __getitem__(self, name: str) -> Column:
        """The column with this name.

        Raises:
            SchemaError: the column is not declared; the message names the nearest declared column.
        """
        if not isinstance(name, str) or name not in self.columns:
            raise SchemaError(f"column {printed(name)}: is not declared in the schema{did_you_mean(name, self.columns)}")
        return self.columns[name]

    def __eq__(self, other: object) -> bool:
        """True if the columns are the same and in the same order: the order is part of a schema."""
        if not isinstance(other, Schema):
            return NotImplemented
        mine, others = ((tuple(one.columns.items()), one.reading, one.derived()) for one in (self, other))
        return mine == others

    def __hash__(self) -> int:
        return hash(tuple(self.columns.items()))

    def __reduce__(self) -> tuple[object, ...]:
        said = [self.reading, self.query][: 2 if self.query is not None else 1 if self.reading is not None else 0]
        return (_read_again if said else Schema, (dict(self.columns), *said))

    def to_json(self) -> list[dict[str, object]]:
        """The schema as canonical JSON values: a list, because the order of columns is part of it."""
        how: dict[str, object] = {} if self.reading is None else {"csv": self.reading.to_json()}
        derived = {name: {"query": text} for name, text in self.derived().items()}
        return [{"name": name, **column.to_json(), **how, **derived.get(name, {})} for name, column in self.columns.items()]


def _read_again(columns: Mapping[str, Column], reading: CsvFormat | None, query: Select | None = None) -> Schema:
    """A schema with what is said of all its columns."""
    found = Schema(columns)
    object.__setattr__(found, "reading", reading)
    object.__setattr__(found, "query", query)
    return found


def _check_columns(columns: Mapping[str, Column]) -> None:
    if not columns:
        raise SchemaError("schema: declares no columns; name at least one")
    folded: dict[str, str] = {}
    for name, column in columns.items():
        if not isinstance(name, str):
            raise SchemaError(f"column {printed(name)}: a name must be text")
        check_text(name, "column name")
        if not isinstance(column, Category | Number | Date):
            raise SchemaError(f"column '{name}': must be a Category, Number or Date, not {type(column).__name__}")
        twin = folded.setdefault(name.casefold(), name)
        if twin != name:
            raise SchemaError(f"column '{name}': differs from column '{twin}' only in upper and lower case")
