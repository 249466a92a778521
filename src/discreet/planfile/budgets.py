"""`[budget]` in a plan: of the data set, of its population, and of each of its windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.plan.table import Table
from discreet.planfile.samples import budget_of_file
from discreet.planfile.tree import Keys, Node
from discreet.privacy import Budget
from discreet.privacy.amounts import check_budget, report_delta_of
from discreet.privacy.measures import budgets, find_budget
from discreet.session.populations import Population
from discreet.session.windows import Windows

__all__ = ["Budgets", "budgets_of", "within_windows"]


@dataclass(frozen=True, slots=True)
class Budgets:
    """The budgets of a plan file: of the data set, and where they are declared of its population and of each window."""

    budget: Budget
    report_delta: Fraction
    population: Population | None = None
    windows: Windows | None = None


def budgets_of(node: Node, schema: Schema, neighbours: Neighbours) -> Budgets:
    """The section [budget]."""
    known: Mapping[str, Keys] = {
        kind.word: (kind.fields, ("report_delta", "of", "spends", "population", "windows")) for kind in budgets()
    }
    measure, parts = node.choice("measure", known)
    with node.locate_errors():
        budget = _amount(parts, measure)
        report_delta = report_delta_of(parts["report_delta"].number() if "report_delta" in parts else "1e-9")
    for word in ("population", "windows"):
        if word in parts and neighbours.sampled is not None:
            raise parts[word].wrong(
                "is not possible with sampled in [data]: what a budget promises to those from whom a secret sample was "
                "drawn is proved for one draw alone"
            )
    return Budgets(
        budget_of_file(parts["of"], budget, neighbours) if "of" in parts else budget,
        report_delta,
        _population(parts["population"], measure) if "population" in parts else None,
        _windows(parts["windows"], measure, schema) if "windows" in parts else None,
    )


def _amount(parts: Mapping[str, Node], measure: str) -> Budget:
    make: Any = find_budget(measure)
    return check_budget(make(*(parts[field].number() for field in make.fields)))


def _population(node: Node, measure: str) -> Population:
    parts = node.table(("name", *find_budget(measure).fields))
    with node.locate_errors():
        return Population(parts["name"].string(), _amount(parts, measure))


def _windows(node: Node, measure: str, schema: Schema) -> Windows:
    parts = node.table(("column", "each", *find_budget(measure).fields))
    with node.locate_errors():
        windows = Windows(parts["column"].string(), parts["each"].string(), _amount(parts, measure))
        windows.calendar(schema)
    return windows


def within_windows(node: Node, table: Table, windows: Windows | None) -> Table:
    """The table of which only rows of the windows of a release count: one name, or a list of names."""
    if windows is None:
        raise node.wrong("needs windows in [budget], which say of which column and how long they are")
    names = [item.string() for item in node.items()] if isinstance(node.value, list) else [node.string()]
    with node.locate_errors():
        return windows.within(table, names)
