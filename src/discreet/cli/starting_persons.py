"""`discreet init` where a person may have many rows: whose row is whose, tables of persons, and what a person counts for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from discreet.cli.answers import ask_choice, ask_number, check_count, check_number, write_number
from discreet.cli.asking import Asker, nobody
from discreet.cli.code_lists import split_values
from discreet.cli.drafting import Entry, Section, render_list
from discreet.cli.starting_columns import ask_column, can_be_declared
from discreet.cli.starting_sources import USUAL_FORM, outline, written_source
from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.domain.reading import CsvFormat
from discreet.engines.base import CodeList, Header
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.figures import name as shown_name
from discreet.planfile.write import toml_key, toml_visible

__all__ = ["ALONE", "Opened", "Unit", "open_beside", "unit_of"]

_NO_CODES = CodeList({})
_IDENTIFIERS = ("integer", "text", "date", "any")
"""The kinds of columns whose equal values can mark one person."""


@dataclass(frozen=True, slots=True)
class _File:
    """A table of persons: its name, its source, and the column that says whose row is whose."""

    name: str
    source: str
    person: str


@dataclass(frozen=True, slots=True)
class Unit:
    """Who is one person: the column that says whose row is whose, and tables of persons; without it each row is one."""

    person: str | None = None
    beside: tuple[_File, ...] = ()

    def check(self, header: Header) -> None:
        """Checks that the source has the column, and that it can say whose row is whose.

        Raises:
            ArgumentError: it has not, or it cannot.
        """
        if self.person is not None:
            _check_identifier(self.person, header, "--person", "the source")

    def without(self, header: Header) -> Header:
        """The columns that are declared with what they hold."""
        return {name: kind for name, kind in header.items() if name != self.person}

    def relation(self, ask: Asker) -> list[Entry]:
        """The neighbours of a data set where a person may have many rows, and the column that says whose row is whose."""
        removed, replaced = AddRemove.word, ReplaceOne.word
        told = f"{removed} (the number of persons is private)"
        entries = [Entry("neighbours", toml_visible(removed), "the numbers of rows and of persons are private")]
        if len(self.beside) == 1:
            what = f"the neighbouring relation: {told} or {replaced} (that of '{self.beside[0].name}' is public)"
            entries = [ask_choice("neighbours", what, (removed, replaced), None, ask)]
        if entries[0].value != toml_visible(removed):
            what = f"the number of rows of '{self.beside[0].name}', known to everybody"
            what += "" if entries[0].value else f"; with {replaced} only"
            entries.append(ask_number("rows", what, None, ask, lambda answer: check_count(answer, "rows")))
        shared = "where several people share one value, such as a household, add part = true"
        return [*entries, Entry("person", toml_visible(str(self.person)), shared)]

    def identifier(self) -> Iterator[Section]:
        """The section of the column in the source."""
        if self.person is not None:
            yield Section(f"[columns.{toml_key(self.person)}]", (Entry("type", toml_visible("identifier")),))

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics that stand on persons alone, the first of which is the default of a release."""
        return () if self.person is None else ("persons",)

    def joined(self, ask: Asker) -> list[Entry]:
        """The tables of persons that a release joins."""
        if not self.beside:
            return []
        every = ", ".join(one.name for one in self.beside)
        joined = ask("tables of persons to join, separated by commas (none: -)", self._are_tables, every)
        names = [] if joined in {None, "-"} else split_values(str(joined))
        return [Entry("join", render_list(names))] if names else []

    def bound(self, groups: Sequence[str], statistics: Sequence[str], ask: Asker) -> list[Entry]:
        """What one person counts for in a release."""
        if self.person is None:
            return []
        bounds = {}
        if groups:
            what = "in how many groups one person counts fully"
            bounds["groups"] = ask(what, lambda answer: check_count(answer, "groups"), "1")
        if any(one not in self.statistics and not self._adds(one) for one in statistics):
            bounds["rows"] = ask(
                "how many rows of one person count in a group", lambda answer: check_count(answer, "rows"), "1"
            )
        told = ", ".join(f"{key} = {value}" for key, value in bounds.items())
        return [Entry("bound", f"{{ {told} }}")] if bounds else []

    def totals(self, statistic: str, ask: Asker) -> str:
        """The bounds of what one person has, of a statistic such as "sum amount" that adds it up."""
        if not self._adds(statistic):
            return ""
        column = shown_name(statistic.partition(" ")[2].strip())
        low = write_number(ask(f"the least that one person's total of {column} counts for", check_number, "0"))
        return f", per_person = [{low}, {write_number(ask('the most that it counts for', check_number, None))}]"

    def _adds(self, statistic: str) -> bool:
        return self.person is not None and statistic.partition(" ")[0] == "sum"

    def _are_tables(self, answer: str) -> None:
        known = [one.name for one in self.beside]
        for name in split_values(answer) if answer != "-" else ():
            if name not in known:
                raise ArgumentError(f"'{name}': is not a table of persons{did_you_mean(name, known)}")


ALONE = Unit()
"""Each row is of a person of its own, or so many rows are."""


def unit_of(person: str | None, beside: Sequence[str]) -> Unit:
    """Who is one person, as it was typed: `--person visitor --beside visitors=visitors.csv:id`.

    Raises:
        ArgumentError: a table without a name, a file or a column, a name that is given twice, or tables without a person.
    """
    files: dict[str, _File] = {}
    for one in beside:
        name, equals, rest = one.partition("=")
        source, colon, column = rest.rpartition(":")
        if not (name and equals and source and colon and column):
            raise ArgumentError(f"--beside={printed(one)}: must be NAME=FILE:COLUMN, as in visitors=visitors.parquet:id")
        if name in files:
            raise ArgumentError(f"--beside={printed(one)}: '{name}' is given twice; give each table a name of its own")
        files[name] = _File(name, source, column)
    if files and person is None:
        raise ArgumentError(
            "--beside: tables of persons go with --person, the column of SOURCE that says whose row is whose"
        )
    return Unit(person, tuple(files.values()))


def open_beside(unit: Unit, form: CsvFormat, out: Path) -> list[Opened]:
    """The tables of persons, with what their headers say.

    Raises:
        SourceError: a header cannot be read.
        ArgumentError: a table has not the column that says whose row is whose.
    """
    opened = []
    for one in unit.beside:
        own = form if one.source.lower().endswith((".csv", ".tsv", ".txt")) else USUAL_FORM
        header, codes = outline(one.source, own)
        _check_identifier(one.person, header, "--beside", printed(one.source))
        opened.append(Opened(one, written_source(one.source, own, out), header, codes))
    return opened


def _check_identifier(column: str, header: Header, option: str, place: str) -> None:
    if column not in header:
        raise ArgumentError(f"{option}: {printed(column)} is not in {place}{did_you_mean(column, header)}")
    kind = header[column]
    if kind.kind not in _IDENTIFIERS or not can_be_declared(column, kind):
        raise ArgumentError(
            f"{option}: {printed(column)} ({shown_name(kind.shown)[:40]}) cannot say whose row is whose; "
            "identifiers are whole numbers, texts or days"
        )


@dataclass(frozen=True, slots=True)
class Opened:
    """A table of persons with its header."""

    file: _File
    source: Sequence[Entry]
    header: Header
    codes: Mapping[str, CodeList]

    def sections(self, out: Path, ask: Asker) -> Iterator[Section]:
        """The sections of the table and of its columns."""
        place = f"beside.{toml_key(self.file.name)}"
        yield Section(f"[{place}]", (*self.source, Entry("person", toml_visible(self.file.person))))
        yield Section(f"[{place}.columns.{toml_key(self.file.person)}]", (Entry("type", toml_visible("identifier")),))
        if ask is not nobody:
            typer.echo(f"columns of {shown_name(self.file.name)}")
        for name, kind in self.header.items():
            if name != self.file.person:
                found = ask_column(name, kind, self.codes.get(name, _NO_CODES), out.parent, ask)
                if found is not None:
                    yield replace(found, heading=f"[{place}.{found.heading.removeprefix('[')}")
