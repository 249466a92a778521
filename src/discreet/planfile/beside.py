"""The `[beside.NAME]` sections of a plan file: tables of persons, and the table that a release begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.errors import did_you_mean
from discreet.plan.table import Table
from discreet.planfile.columns import schema_of
from discreet.planfile.sources import csv_of, csv_source, source_of
from discreet.planfile.steps import Steps, prepare, steps_of
from discreet.planfile.tree import Node
from discreet.session.beside import Beside, Persons, check_beside

__all__ = ["BesideRows", "beside_of"]

_ONLY_ROWS = ("join", "window", "bound", "per_person", "of_persons")
"""What a release says of rows only, and not of a table with one row of each person."""


@dataclass(frozen=True, slots=True)
class BesideRows:
    """The tables of persons of a plan, and the steps that their columns say.

    Args:
        declared: the tables, by their names.
        steps: of each table.
    """

    declared: Beside = field(default_factory=Beside)
    steps: Mapping[str, Steps] = field(default_factory=lambda: MappingProxyType({}))

    def relation(self, neighbours: Neighbours, node: Node | None) -> Neighbours:
        """The relation, which compares the rows of one person in all tables; `node` is what says so, for errors."""
        if node is None:
            return neighbours
        with node.locate_errors():
            return self.declared.relation(neighbours)

    def first(self, schema: Schema, neighbours: Neighbours) -> Table:
        """The table of rows, which these can be joined to."""
        return Table(schema, neighbours, beside=tuple(self.declared.schemas.items()))

    def check(self, neighbours: Neighbours) -> None:
        """Checks the clamps and imputations that the columns say, each at its place."""
        for name, table in self.declared.as_tables(neighbours).items():
            prepare(table, self.steps[name])

    def start(self, parts: Mapping[str, Node], table: Table, own: Steps) -> tuple[Table, Steps]:
        """The table that a release begins with, and what its columns say of clamps and imputations.

        Args:
            parts: of the release.
            table: the table of rows, perhaps within windows.
            own: the steps of its columns.
        """
        if "table" in parts:
            return self._persons(parts, table)
        steps = {step: dict(columns) for step, columns in own.items()}
        for node in parts["join"].items() if "join" in parts else []:
            with node.locate_errors():
                table = table.join(node.string())
            for step, columns in self.steps[node.string()].items():
                steps[step] |= columns
        return table, steps

    def _persons(self, parts: Mapping[str, Node], table: Table) -> tuple[Table, Steps]:
        name = parts["table"].string()
        found = self.declared.as_tables(table.neighbours)
        if name not in found:
            none = "; there is no [beside.NAME] section" if not found else did_you_mean(name, found)
            raise parts["table"].wrong(f"'{name}' is not a table of persons of this plan{none}")
        for key in _ONLY_ROWS:
            if key in parts:
                raise parts[key].wrong(f"is about rows, and the table '{name}' has one row of each person; leave it out")
        return found[name], self.steps[name]


def beside_of(node: Node, folder: Path) -> BesideRows:
    """The tables of persons that the sections declare."""
    tables = {name: _persons(part, folder) for name, part in node.mapping().items()}
    steps = {name: steps_of(part.child("columns")) for name, part in node.mapping().items()}
    with node.locate_errors():
        return BesideRows(check_beside(tables), steps)


def _persons(node: Node, folder: Path) -> Persons:
    parts = node.table(("source", "person", "columns"), ("csv",))
    schema = schema_of(parts["columns"], folder)
    named = source_of(parts["source"], folder)
    source = csv_source(named, csv_of(parts["csv"])) if "csv" in parts else named
    with node.locate_errors():
        return Persons(source, schema, person=parts["person"].string())
