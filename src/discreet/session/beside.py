"""Tables of persons beside the table of rows of a data set: one budget, and one person in all of them (U7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.domain.neighbours import Neighbours, OfPersons, person_of
from discreet.domain.person_relations import ReplacePersons, with_beside
from discreet.domain.reading import CsvFiles
from discreet.domain.schema import Schema
from discreet.engines.absent import AbsentSource
from discreet.errors import ArgumentError, PlanError, did_you_mean, printed
from discreet.exact.names import one_form
from discreet.plan.person_table import table_of_persons
from discreet.plan.table import Table

__all__ = ["Beside", "Persons", "check_beside"]

_MOST = 16


@dataclass(frozen=True, slots=True)
class Persons:
    """A table of persons of a data set: of all its rows with one id one row is made, of each column what they agree on.

    Args:
        source: anything that can be the source of a session.
        schema: its declared columns, one of which is an `Identifier`.
        person: that identifier. Its values are those of the identifier that the neighbours name.

    Raises:
        ArgumentError: not a schema, or one without that identifier or without another column.
    """

    source: Any
    schema: Schema
    person: str = field(kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.schema, Schema):
            raise ArgumentError(f"schema={type(self.schema).__name__}: must be a Schema")
        known = self.schema.identifiers
        if not isinstance(self.person, str) or self.person not in known:
            hint = did_you_mean(str(self.person), known)
            raise ArgumentError(
                f"person={printed(self.person)}: is not an Identifier of the schema of the persons{hint}; declare the "
                "column as Identifier()"
            )
        other = next((name for name in (*known, *self.schema.texts) if name != self.person), None)
        if other is not None:
            raise ArgumentError(
                f"column '{other}': a table of persons has one Identifier, and no Text yet; leave the column out"
            )
        if not self.schema.columns:
            raise ArgumentError("schema: has no column but its Identifier; declare what is known of the persons")

    @property
    def shown(self) -> str:
        """What messages call the source."""
        named = self.source.path if isinstance(self.source, CsvFiles) else self.source
        return str(named) if isinstance(named, str | Path) else type(named).__name__

    @property
    def read(self) -> Schema:
        """The schema as its source is read."""
        form = self.source.format if isinstance(self.source, CsvFiles | AbsentSource) else None
        return self.schema.read_as(form)

    def elsewhere(self) -> Persons:
        """The same table where its source is elsewhere, as for a board that must not have it: nothing can be read."""
        return replace(
            self, source=AbsentSource(self.schema, self.source.format if isinstance(self.source, CsvFiles) else None)
        )


@dataclass(frozen=True, slots=True)
class Beside:
    """The tables of persons of a data set, by their names."""

    tables: Mapping[str, Persons] = field(default_factory=lambda: MappingProxyType({}))

    def relation(self, neighbours: Neighbours) -> Neighbours:
        """The declared relation, which compares the rows of one person in all tables.

        Raises:
            PlanError: it does not say whose row is whose, or is about the rows of one table of persons, which is not there.
        """
        stated = neighbours.beside if isinstance(neighbours, OfPersons) else ()
        if not self.tables and not stated and not isinstance(neighbours, ReplacePersons):
            return neighbours
        if stated and dict(stated) != {name: one.person for name, one in self.tables.items()}:
            raise PlanError("neighbours: names other tables of persons than beside={…}; leave them out of the neighbours")
        if not isinstance(neighbours, OfPersons) or person_of(neighbours) is None:
            raise PlanError(
                "beside: stands on a data set that says whose row is whose; declare neighbours=AddRemove(person=…), or "
                "ReplaceOne(rows=…, person=…), with an Identifier in the schema"
            )
        return with_beside(neighbours, {name: one.person for name, one in self.tables.items()})

    @property
    def schemas(self) -> dict[str, Schema]:
        """The schemas of the tables."""
        return {name: one.read for name, one in self.tables.items()}

    @property
    def sources(self) -> dict[str, tuple[Any, Schema]]:
        """The source and the schema of each table, for `open_sources`."""
        return {name: (one.source, one.read) for name, one in self.tables.items()}

    @property
    def names(self) -> list[str]:
        """The sources that have a name."""
        return [one.shown for one in self.tables.values() if isinstance(one.source, str | Path | CsvFiles)]

    def to_json(self) -> dict[str, object]:
        """The tables as canonical JSON values, without their sources."""
        return {name: {"person": one.person, "schema": one.read.to_json()} for name, one in self.tables.items()}

    def as_tables(self, neighbours: Neighbours) -> Mapping[str, Table]:
        """Each table of persons, with one row of each, as requests begin with it; `neighbours` is their relation."""
        found = {}
        for name, schema in self.schemas.items():
            if isinstance(neighbours, OfPersons):
                made = table_of_persons(name, schema, neighbours)
                found[name] = Table(made.columns, made.relation, (), made)
        return MappingProxyType(found)


def check_beside(given: object) -> Beside:
    """The tables of persons that a session was given.

    Raises:
        ArgumentError: not a mapping of names to `Persons`; names that are not printable text, or too many.
    """
    if given is None:
        return Beside()
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError(f"beside={printed(given)}: must map names to Persons(…), such as {{'visitors': Persons(…)}}")
    if len(given) > _MOST:
        raise ArgumentError(f"beside: has {len(given)} tables, more than {_MOST}; leave out what no request joins")
    for name, one in given.items():
        if not isinstance(name, str) or not name or not name.isprintable() or name != name.strip() or name != one_form(name):
            raise ArgumentError(
                f"beside: the name {printed(name)} must be printable text without blanks at its ends, in Unicode's NFC"
            )
        if not isinstance(one, Persons):
            raise ArgumentError(f"beside['{name}']={printed(one)}: must be Persons(source, schema, person=…)")
    return Beside(MappingProxyType(dict(given)))
