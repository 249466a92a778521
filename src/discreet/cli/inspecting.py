"""`discreet inspect`: how the rows are read, in exact numbers, for the eyes of their curator alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from heapq import nsmallest
from pathlib import Path

import typer

from discreet.cli.output import Answer, Grid, Spinner
from discreet.cli.planning import source_of
from discreet.domain.neighbours import counted_rows
from discreet.domain.person_relations import base_of
from discreet.engines.inspection import Tally
from discreet.errors import ArgumentError, without_secrets
from discreet.exact.figures import name, plural
from discreet.ledger import Ledger
from discreet.planfile.read import PlanFile, load_plan
from discreet.session.inspecting import inspect_tables

__all__ = ["inspect_plan"]

Tallies = Mapping[str, Mapping[str, Tally]]
"""For each column the tallies of its cells, by what the declaration does to them."""

_MOST = 5
_WIDEST = 24
_MARK = "CONFIDENTIAL: exact numbers about the rows, which no guarantee covers. Do not publish, send or keep them."


def inspect_plan(path: Path, given: Mapping[str, str] | None = None, *, yes: bool, as_json: bool) -> Answer:
    """Shows on a terminal what becomes of the cells of each column of a plan; the ledger notes that it was shown.

    Raises:
        ArgumentError: the plan says "never", stdout is not a terminal, JSON is asked for, or nobody agrees.
        DiscreetError: the plan, the source or the ledger cannot be used.
    """
    if as_json:
        raise ArgumentError(
            "--json: what inspect shows is confidential, and is written for a terminal only; leave --json out"
        )
    if not _is_terminal():
        raise ArgumentError(
            "inspect: its output is confidential, and goes to a terminal only, not to a file or a pipe; run it in a terminal"
        )
    plan = load_plan(path, given)
    if plan.inspect == "never":
        raise ArgumentError(f'inspect: {path.name} says inspect = "never" in [data], so nobody is shown its rows')
    _ask(plan, yes=yes)
    with Spinner("reading the rows"):
        tables = {"": (source_of(plan), plan.schema), **plan.beside.sources}
        found = inspect_tables(tables, dataset=plan.dataset, ledger=plan.ledger)
    return Answer(list(_lines(plan, found)), {})


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _ask(plan: PlanFile, *, yes: bool) -> None:
    """The first look needs a yes: releases will tell it for ever."""
    with Ledger.open(plan.ledger) as ledger:
        if yes or ledger.inspected(plan.dataset):
            return
    typer.echo(
        f"inspect shows exact numbers about the rows of '{name(plan.dataset)}'. The ledger will record that it was done, "
        "and every later release of this data set will say that it may have been planned with knowledge of the rows."
    )
    try:
        agreed = typer.confirm("Show them?")
    except typer.Abort:
        raise KeyboardInterrupt from None
    if not agreed:
        raise ArgumentError("inspect: was not confirmed; nothing was read, and nothing was recorded")


def _lines(plan: PlanFile, tables: Mapping[str, Tallies]) -> Iterator[str | Grid]:
    yield _MARK
    for table, found in tables.items():
        if found:  # a table of persons may have an identifier alone
            yield _rows_words(plan, table, found)
        rows = [row for column, tallies in found.items() for row in _table_rows(column, tallies)]
        yield Grid(("column", "read as", "rows", "most frequent"), rows, frozenset({"rows"}))
    yield _MARK
    yield "Nothing was spent. The ledger records that the rows were inspected, and later releases say so."


def _rows_words(plan: PlanFile, table: str, found: Tallies) -> str:
    """The number of rows of a source, and the declared one where it differs."""
    rows = max(sum(tally.rows for tally in tallies.values()) for tallies in found.values())
    declared = counted_rows(plan.neighbours) if table == base_of(plan.neighbours) else None
    source = plan.beside.tables[table].shown if table else plan.source
    told = f"{rows:,} {plural('row', rows)} in {name(without_secrets(source))}"
    return told if declared in {None, rows} else f"{told}; THE PLAN SAYS rows = {declared:,}"


def _table_rows(column: str, tallies: Mapping[str, Tally]) -> Iterator[tuple[str, ...]]:
    words = sorted(tallies, key=lambda word: (-tallies[word].rows, word))
    for place, word in enumerate(words):
        shown = _most(word, tallies[word])
        yield ("" if place else name(column), word, f"{tallies[word].rows:,}", shown)


def _most(word: str, tally: Tally) -> str:
    """The values that occur most, each with its number of rows."""
    if word == "null":
        return ""
    common = nsmallest(_MOST, tally.values.items(), key=lambda one: (-one[1], one[0]))
    more = len(tally.values) - len(common)
    least = "" if tally.exact else "at least "
    listed = [f"{_shorten(value)} ({least}{rows:,})" for value, rows in common]
    return ", ".join(listed) + (f" and {more:,} {'others' if tally.exact else 'or more others'}" if more else "")


def _shorten(value: str) -> str:
    """A value as text for a terminal, without characters that it would obey."""
    shown = name(value)
    return f"“{shown[:_WIDEST]}…”" if len(shown) > _WIDEST else f"“{shown}”"
