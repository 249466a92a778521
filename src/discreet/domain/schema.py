"""The declared columns of a table. Everything in a schema is public knowledge, written down before the data are seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from discreet.domain.categories import check_text
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.declarations import Declared, check_read_once, expand_columns
from discreet.domain.identifiers import Identifier
from discreet.domain.origins import root_of
from discreet.domain.person_relations import OfPersons
from discreet.domain.reading import CsvFormat
from discreet.domain.texts import Text
from discreet.errors import PlanError, SchemaError, did_you_mean, printed

if TYPE_CHECKING:
    from discreet.domain.rowwise.tree import Select

__all__ = ["Category", "Column", "Date", "Number", "Schema"]  # pickles of 0.1.0 find the columns here

Given = Declared | Identifier | Text
"""Whatever a schema can be told of a column."""


@dataclass(frozen=True, slots=True, init=False)
class Schema:
    """The declared columns, in order. Columns of the source that are not declared are never read.

    A `DerivedColumn` becomes a category, a `Hierarchy` one for its codes and one for each level: `area`, `area.state`, ….
    A list of combinations (`Keys`) becomes one for the combinations and one for each part.

    Raises:
        SchemaError: no columns; a name that is empty, unprintable or declared twice, whatever its case; no `Column`; a
            column that is declared, and part of a list of combinations too.
    """

    columns: Mapping[str, Column]
    reading: CsvFormat | None
    query: Select | None
    identifiers: Mapping[str, Identifier]
    """The columns that say whose row it is. They are not `columns`: nothing is asked of their values."""
    texts: Mapping[str, Text]
    """The columns of texts that nobody listed. They are not `columns`: only their frequent values are ever named."""
    joined: Mapping[str, Schema]
    """The tables of persons whose columns stand among `columns`, each with its own schema, by their names."""
    counted: frozenset[str]
    """The columns that count what each person has. They are never null (U6 of docs/proofs/persons.md)."""

    def __init__(self, columns: Mapping[str, Given] | None = None, /, **named: Given) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise SchemaError(f"schema={printed(columns)}: must map names to columns, such as {{'age': Number(0, 110)}}")
        joined = dict(columns or {})
        for name, column in named.items():
            if name in joined:
                raise SchemaError(f"column '{name}': is declared twice")
            joined[name] = column
        _check_names(joined)
        identifiers = {name: column for name, column in joined.items() if isinstance(column, Identifier)}
        texts = {name: column for name, column in joined.items() if isinstance(column, Text)}
        rest = {name: column for name, column in joined.items() if not isinstance(column, Identifier | Text)}
        made = expand_columns(rest)
        _check_columns({**made, **identifiers, **texts})
        check_read_once({**identifiers, **texts, **made})
        object.__setattr__(self, "columns", MappingProxyType(made))
        object.__setattr__(self, "identifiers", MappingProxyType(identifiers))
        object.__setattr__(self, "texts", MappingProxyType(texts))
        object.__setattr__(self, "reading", None)
        object.__setattr__(self, "query", None)
        object.__setattr__(self, "joined", MappingProxyType({}))
        object.__setattr__(self, "counted", frozenset())

    def read_as(self, reading: CsvFormat | None) -> Schema:
        """The same columns, read from CSV files of this format: it decides what their cells mean, and so is part of them."""
        said = reading if reading is not None and reading.to_json() else None
        return _read_again(self._declared(), said, self.query, self.joined)

    def select(self, query: str | Select | None) -> Schema:
        """The same columns, computed from columns of the source by a row-wise query, whose expressions are part of them.

        Raises:
            PlanError: the query is not row-wise, or has no column of a name that the schema declares.
        """
        if query is None:
            return self
        if self.identifiers:
            raise PlanError(
                f"query: cannot give an Identifier yet, such as '{next(iter(self.identifiers))}'; "
                "write the computed columns into the source, and leave the query out"
            )
        if self.texts:
            raise PlanError(
                f"query: cannot give a Text yet, such as '{next(iter(self.texts))}'; write the computed columns into the "
                "source, and leave the query out"
            )
        from discreet.domain.rowwise.parsing import parse

        found = parse(query)
        for name in self.as_read().columns:
            found.require(name)
        return _read_again(self._declared(), self.reading, found)

    def join(self, table: str, other: Schema) -> Schema:
        """The same columns and those of a table of persons, on the rows of the same person (U7 of docs/proofs/persons.md).

        Raises:
            PlanError: both tables have a column of one name.
        """
        known = {name.casefold(): name for name in self._declared()}
        for name in other.columns:
            twin = known.get(name.casefold())
            if twin is not None:
                where = f" of '{self.tables[twin]}'" if twin in self.tables else ""
                raise PlanError(
                    f"join('{table}'): column '{name}' would stand beside column '{twin}'{where}; leave one of them out of "
                    "its schema, or rename it in its source"
                )
        whole = {**self._declared(), **other.columns}
        return _read_again(whole, self.reading, self.query, {**self.joined, table: other})

    def counting(self, counted: Iterable[str]) -> Schema:
        """The same columns, of which these count what each person has."""
        return _read_again(self._declared(), self.reading, self.query, self.joined, frozenset(counted))

    def never_null(self, neighbours: object) -> frozenset[str]:
        """The columns that count, where the table is the one that was made so: a file with such columns may have nulls."""
        made = isinstance(neighbours, OfPersons) and neighbours.each == "row"
        return self.counted if made else frozenset()

    @property
    def tables(self) -> Mapping[str, str]:
        """For each column that stands here from a table of persons, the name of that table."""
        return MappingProxyType({name: table for table, own in self.joined.items() for name in own.columns})

    def alone(self) -> Schema:
        """The columns without those of tables of persons."""
        if not self.joined:
            return self
        kept = {name: one for name, one in self._declared().items() if name not in self.tables}
        return _read_again(kept, self.reading, self.query)

    def derived(self) -> Mapping[str, str]:
        """The canonical text of each column that a query computes, or takes from a column of another name."""
        texts = ((name, None if self.query is None else self.query.derived(root_of(name, self))) for name in self.columns)
        return {name: text for name, text in texts if text is not None}

    def of_source(self) -> Schema:
        """The columns that are read from the source: all but those that are derived from them."""
        kept = {name: column for name, column in self.columns.items() if root_of(name, self) == name}
        everything = {**kept, **self.identifiers, **self.texts}
        return self if len(kept) == len(self.columns) else _read_again(everything, self.reading, self.query, self.joined)

    def as_read(self) -> Schema:
        """The columns that the source has: those of `of_source`, and each column that a list of combinations names."""
        source = self.of_source()
        if all(not isinstance(column, Category) or column.parts is None for column in source.columns.values()):
            return source
        found: dict[str, Column | Identifier | Text] = {}
        for name, column in source.columns.items():
            parts = column.parts if isinstance(column, Category) else None
            found |= {name: column} if parts is None else dict(zip(parts.columns, map(Category, parts.values), strict=True))
        return _read_again({**found, **self.identifiers, **self.texts}, self.reading, self.query)

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
        mine, others = (
            (tuple(one._declared().items()), one.reading, one.derived(), dict(one.joined), one.counted)  # noqa: SLF001
            for one in (self, other)
        )
        return mine == others

    def __hash__(self) -> int:
        return hash(tuple(self.columns.items()))

    def __reduce__(self) -> tuple[object, ...]:
        said = (self.reading, self.query, dict(self.joined) or None, self.counted or None)
        last = max((place for place, one in enumerate(said, 1) if one is not None), default=0)
        return (_read_again if last else Schema, (self._declared(), *said[:last]))

    def to_json(self) -> list[dict[str, object]]:
        """The schema as canonical JSON values: a list, because the order of columns is part of it."""
        how: dict[str, object] = {} if self.reading is None else {"csv": self.reading.to_json()}
        derived = {name: {"query": text} for name, text in self.derived().items()}
        elsewhere = [
            {**column, "table": table}
            for table, own in self.joined.items()
            for column in own.to_json()
            if column["name"] in own.columns
        ]
        columns = [
            {"name": name, **column.to_json(), **how, **derived.get(name, {})}
            for name, column in self.columns.items()
            if name not in self.tables
        ]
        others: dict[str, Identifier | Text] = {**self.identifiers, **self.texts}
        return [*columns, *({"name": name, **one.to_json(), **how} for name, one in others.items()), *elsewhere]

    def _declared(self) -> dict[str, Column | Identifier | Text]:
        """All that the schema declares: its columns, then its identifiers, then its texts."""
        return {**self.columns, **self.identifiers, **self.texts}


def _read_again(
    columns: Mapping[str, Column | Identifier | Text],
    reading: CsvFormat | None,
    query: Select | None = None,
    joined: Mapping[str, Schema] | None = None,
    counted: frozenset[str] | None = None,
) -> Schema:
    """A schema with what is said of all its columns."""
    found = Schema(columns)
    object.__setattr__(found, "reading", reading)
    object.__setattr__(found, "query", query)
    object.__setattr__(found, "joined", MappingProxyType(dict(joined or {})))
    object.__setattr__(found, "counted", counted or frozenset())
    return found


def _check_names(declared: Mapping[str, Given]) -> None:
    if not declared:
        raise SchemaError("schema: declares no columns; name at least one")
    for name in declared:
        if not isinstance(name, str):
            raise SchemaError(f"column {printed(name)}: a name must be text")
        check_text(name, "column name")


def _check_columns(columns: Mapping[str, Column | Identifier | Text]) -> None:
    folded: dict[str, str] = {}
    for name, column in columns.items():
        if not isinstance(column, Category | Number | Date | Identifier | Text):
            raise SchemaError(
                f"column '{name}': must be a Category, Number, Date, Text or Identifier, not {type(column).__name__}"
            )
        twin = folded.setdefault(name.casefold(), name)
        if twin != name:
            raise SchemaError(f"column '{name}': differs from column '{twin}' only in upper and lower case")
