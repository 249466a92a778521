"""A plan in plain words: what was understood, so that a wrong bound or a wrong number of rows can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.allocate import Quote
from discreet.cli.output import aligned, amount, number
from discreet.exact import text
from discreet.neighbours import Neighbours, ReplaceOne
from discreet.plan import layout
from discreet.planfile import PlanFile
from discreet.privacy import ApproxDP, kind_name, to_json
from discreet.schema import Category, Column, Number

__all__ = ["declaration_lines", "note_lines", "release_facts", "release_line"]


def declaration_lines(plan: PlanFile, remaining: str) -> list[str]:
    """Data set, source, neighbours, budget, ledger and columns, as they were understood."""
    state = "" if plan.ledger.exists() else " (not there yet; the first release creates it)"
    delta = "" if plan.report_delta == 0 else f"; ε is reported at δ = {number(plan.report_delta)}"
    facts = [
        ("data set", plan.dataset),
        ("source", f"{plan.source} (its header fits the columns)"),
        ("neighbours", _neighbours(plan.neighbours)),
        ("budget", f"{kind_name(plan.budget)}, {amount(plan.budget)}, of which {remaining} remains{delta}"),
        ("ledger", f"{plan.ledger}{state}"),
    ]
    columns = [(name, _column(column)) for name, column in plan.schema.columns.items()]
    return [*aligned(facts), "columns", *aligned(columns)]


def release_line(name: str, quote: Quote) -> tuple[str, str, str]:
    """Name, size and charge of a release."""
    cells = layout(quote.plan).cells
    statistics = ", ".join(statistic.name for statistic in quote.plan.statistics)
    return name, f"{cells} {'row' if cells == 1 else 'rows'} of {statistics}", amount(quote.spend)


def release_facts(name: str, quote: Quote) -> dict[str, Any]:
    """What `release_line` says, for programs; `plan_digest` is what the ledger will hold."""
    return {
        "name": name,
        "plan_digest": quote.plan.digest,
        "cells": layout(quote.plan).cells,
        "statistics": [statistic.name for statistic in quote.plan.statistics],
        "spend": to_json(quote.spend),
    }


def note_lines(plan: PlanFile, quotes: Mapping[str, Quote]) -> list[str]:
    """What is allowed and yet seldom meant."""
    notes = []
    for name, column in plan.schema.columns.items():
        if not isinstance(column, Category) and column.size == 1:
            notes.append(f"note: column '{name}' can have one value only, because its bounds are equal")
    if not isinstance(plan.neighbours, ReplaceOne):
        return notes
    rows = plan.neighbours.rows
    if isinstance(plan.budget, ApproxDP) and plan.budget.delta * rows > 1:
        delta, share = number(plan.budget.delta), number(Fraction(1, rows))
        notes.append(f"note: δ = {delta} is more than 1/rows = {share}, which is too weak for most uses")
    for name, quote in quotes.items():
        cells = layout(quote.plan).cells
        if cells > rows:
            notes.append(f"note: '{name}' has {cells} groups for {rows} rows; most of its numbers will be noise")
    return notes


def _neighbours(neighbours: Neighbours) -> str:
    person = f"{neighbours.rows_per_person} row{'s' if neighbours.rows_per_person > 1 else ''} a person"
    if isinstance(neighbours, ReplaceOne):
        return f"replace-one: exactly {neighbours.rows} rows, which is public; {person}"
    return f"add-remove: the number of rows is private; {person}"


def _column(column: Column) -> str:
    if isinstance(column, Number):
        return f"number from {text(column.lower)} to {text(column.upper)} in steps of {text(column.step)}"
    if isinstance(column, Category):
        shown = ", ".join(str(value) for value in column.values[:6])
        return f"{column.size} categories: {shown}{', …' if column.size > 6 else ''}"
    return f"date from {column.first} to {column.last}"
