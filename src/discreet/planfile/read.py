"""A plan file (TOML) and its meaning. Only this room knows the file format; docs/plan-file.md describes it.

Reading is strict: every key must be known, every value must have the expected type, and every number stays the exact decimal
that was written. Every mistake raises a PlanError that names its place, before any data are opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.approvals.demand import Demand
from discreet.domain.discovery import Discover
from discreet.domain.groups import Bins
from discreet.domain.neighbours import Neighbours, find_relation, relations
from discreet.domain.reading import CsvFormat
from discreet.domain.schema import Schema
from discreet.domain.steps import facts_of
from discreet.engines.urls import is_url
from discreet.errors import ArgumentError, did_you_mean
from discreet.exact.numbers import Amount
from discreet.invariants import Invariants
from discreet.plan.plan import INTERVALS, Plan
from discreet.plan.table import Table
from discreet.planfile.about import add_words
from discreet.planfile.approval import demand_of
from discreet.planfile.beside import BesideRows, beside_of
from discreet.planfile.budgets import Budgets, budgets_of, within_windows
from discreet.planfile.columns import schema_of
from discreet.planfile.derived import derivations_of
from discreet.planfile.groups import column_of, group_of_request, group_of_statistic, nulls_of
from discreet.planfile.invariants import invariants_of
from discreet.planfile.original import original_of
from discreet.planfile.parameters import fill_in
from discreet.planfile.samples import read_draw
from discreet.planfile.sources import csv_of, source_of
from discreet.planfile.spends import read_spend, with_spends
from discreet.planfile.statistics import statistic_of
from discreet.planfile.steps import Steps, own_steps, prepare, prepared_of, steps_of
from discreet.planfile.tested import tests_of
from discreet.planfile.tree import Keys, Node, read_toml
from discreet.privacy import Budget
from discreet.quotes.groups import Expect, check_expect
from discreet.quotes.spend_for_errors import check_errors
from discreet.session.beside import Beside
from discreet.session.orders import Order, check_name
from discreet.session.populations import Population
from discreet.session.windows import Windows

__all__ = ["PlanFile", "load_plan", "plan_of"]

_INSPECT = ("terminal", "never")
"""The words for whether `discreet inspect` may show what becomes of the rows: on a terminal, or not at all."""
_UNIT = ("rows_per_person", "person", "part")
"""The keys that say what one person has: a number of rows at most, or all rows with one value of an identifier.

Such a value may be several people.
"""
_OPTIONAL = (
    "join",
    "table",
    "group_by",
    "nulls",
    "spend",
    "share",
    "error",
    "expect",
    "intervals",
    "original",
    "prepared",
    "where",
    "window",
    "resize",
    "sample",
    "bound",
    "per_person",
    "of_persons",
    "clamp",
    "impute",
    "complete",
)


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan file, read and checked: data set, declarations, budget and the requested releases.

    `source` and `ledger` are resolved against the folder of the plan file; `source` may be a glob. `inspect` is "never"
    where `discreet inspect` may not show the rows to anybody. `parameters` has the values that were given, and `beside`
    the tables of persons.
    """

    path: Path
    dataset: str
    source: str
    csv: CsvFormat | None
    ledger: Path
    schema: Schema
    neighbours: Neighbours
    invariants: Invariants | None
    budget: Budget
    report_delta: Fraction
    orders: tuple[Order, ...]
    demand: Demand | None = None
    inspect: str = "terminal"
    parameters: Mapping[str, str] = field(default_factory=dict)
    population: Population | None = None
    windows: Windows | None = None
    beside: Beside = field(default_factory=Beside)


def load_plan(path: str | Path, parameters: Mapping[str, object] | None = None) -> PlanFile:
    """The plan in a TOML file of at most 1 MB. Reads no data and no ledger.

    Args:
        path: the file.
        parameters: the values of its `[parameters]`, by name: texts, whole numbers or days.

    Raises:
        PlanError: the file cannot be read, is not valid TOML, or requests something impossible; `place` names file, line and
            key.
    """
    return plan_of(read_toml(Path(path)), parameters)


def plan_of(root: Node, parameters: Mapping[str, object] | None = None) -> PlanFile:
    """The plan of a TOML text, with paths relative to its file, which need not exist yet. Raises as `load_plan`."""
    given = fill_in(root, parameters or {})
    root, place = given.root, given.root.file
    parts = root.table(
        ("data", "columns", "budget", "release"),
        ("beside", "approval", "invariants", "about", "quality", "derive", "test"),
    )
    known: Mapping[str, Keys] = {
        kind.word: (("dataset", "source", "ledger", *kind.needed), (*_UNIT, "sampled", "inspect", "csv", "query"))
        for kind in relations()
    }
    relation, data = parts["data"].choice("neighbours", known)
    form = csv_of(data["csv"]) if "csv" in data else None
    schema = schema_of(parts["columns"], place.parent).read_as(form)
    if "query" in data:
        with data["query"].locate_errors():
            schema = schema.select(data["query"].string())
    with parts["data"].locate_errors():
        facts: dict[str, Any] = {key: data[key].value for key in ("rows", *_UNIT) if key in data}
        facts |= {"sampled": read_draw(data["sampled"])} if "sampled" in data else {}
        neighbours = find_relation(relation)(**facts)
    whose = data.get("person", next((parts["columns"].child(name) for name in schema.identifiers), root))
    with whose.locate_errors():
        facts_of(schema, neighbours)  # whoever is named is an Identifier, and every Identifier is named
    beside = beside_of(parts["beside"], place.parent) if "beside" in parts else BesideRows()
    neighbours = beside.relation(neighbours, parts.get("beside", data.get("person")))
    invariants = invariants_of(parts["invariants"], schema, neighbours) if "invariants" in parts else None
    budgets = budgets_of(parts["budget"], schema, neighbours)
    orders = _orders(parts, beside.first(schema, neighbours), budgets, beside)
    derived, dataset = derivations_of(parts, orders, place.parent), _name(data["dataset"])
    tests = tests_of(parts, orders)
    return PlanFile(
        path=place,
        dataset=dataset,
        source=source_of(data["source"], place.parent),
        csv=form,
        ledger=_ledger(data["ledger"], place.parent),
        schema=schema,
        neighbours=neighbours,
        invariants=invariants,
        budget=budgets.budget,
        report_delta=budgets.report_delta,
        orders=tests.of(derived.of(add_words(orders, parts, schema, derived), dataset), dataset),
        demand=demand_of(parts["approval"], place.parent) if "approval" in parts else None,
        inspect=_inspect(data["inspect"]) if "inspect" in data else _INSPECT[0],
        parameters=given.values,
        population=budgets.population,
        windows=budgets.windows,
        beside=beside.declared,
    )


# The sections of the file ---------------------------------------------------------------------------------------------


def _name(node: Node) -> str:
    with node.locate_errors():
        return check_name(node.string(), str(node.keys[-1]))


def _ledger(node: Node, folder: Path) -> Path:
    written = node.string()
    if not written or "\0" in written or written == ":memory:":
        raise node.wrong("must be the path of a file: a ledger in memory would forget what was spent")
    if is_url(written):
        raise node.wrong("must be the path of a file, not a URL")
    return folder / written


def _inspect(node: Node) -> str:
    word = node.string()
    if word not in _INSPECT:
        raise node.wrong(f"'{word}' is unknown{did_you_mean(word, _INSPECT)}; write \"never\", or leave it out")
    return word


def _orders(parts: dict[str, Node], table: Table, budgets: Budgets, beside: BesideRows) -> tuple[Order, ...]:
    if isinstance(parts["release"].value, dict):
        raise parts["release"].wrong("write [[release]] with two pairs of brackets: there can be several")
    releases = list(parts["release"].items())
    steps = steps_of(parts["columns"])
    prepare(table, steps)
    beside.check(table.neighbours)
    orders: list[Order] = []
    for node in releases:
        order = _order(node, (table, steps), budgets, beside)
        if order.name in {other.name for other in orders}:
            raise node.child("name").wrong(f"'{order.name}' is the name of another release; names are unique")
        orders.append(order)
    if not orders:
        raise parts["release"].wrong("is empty; write at least one [[release]]")
    return tuple(with_spends(parts["budget"], releases, orders, budgets.budget))


def _order(node: Node, rows: tuple[Table, Steps], budgets: Budgets, beside: BesideRows) -> Order:
    parts = node.table(("name", "statistics"), _OPTIONAL)
    table, steps = rows
    table = within_windows(parts["window"], table, budgets.windows) if "window" in parts else table
    table, steps = beside.start(parts, table, steps)
    name = _name(parts["name"])
    prepared = prepared_of(table, own_steps(steps, parts), parts)
    request = _request(parts, prepared)
    if "intervals" in parts and _intervals(parts["intervals"]) == "simultaneous":
        request = request.simultaneous()
    if "original" in parts or "prepared" in parts:
        request = original_of(parts, request)
    if "spend" in parts and "error" in parts:
        raise parts["error"].wrong("give either a spend or the errors to meet")
    spend = read_spend(parts["spend"], budgets.budget) if "spend" in parts else None
    error = _errors(parts["error"], request) if "error" in parts else None
    return Order(request, spend, name, error, expect=_expect(parts["expect"]) if "expect" in parts else None)


def _errors(node: Node, request: Plan) -> Mapping[str, Amount]:
    """The largest errors by the names of the statistics. A wrong one is reported at its place."""
    found: dict[str, Amount] = {}
    for name, part in node.mapping().items():
        with part.locate_errors():
            found |= check_errors(request, {name: part.number()})
    return found


def _expect(node: Node) -> Expect:
    """The expected sizes of groups: a number, or a list of numbers."""
    with node.locate_errors():
        return check_expect(node.value)


def _intervals(node: Node) -> str:
    word = node.string()
    if word not in INTERVALS:
        raise node.wrong(f"'{word}' is unknown{did_you_mean(word, INTERVALS)}")
    return word


def _request(parts: dict[str, Node], table: Table) -> Plan:
    by: list[str | Bins | Discover] = []
    nulls: dict[str, Any] = {}
    for item in parts["group_by"].items() if "group_by" in parts else []:
        if isinstance(item.value, list):
            raise item.wrong('must be a column, not a list of columns; write them one by one, group_by = ["region", "sex"]')
        by.append(group_of_request(item, table))
        if isinstance(item.value, dict) and "nulls" in item.value:
            nulls[column_of(by[-1])] = nulls_of(item.child("nulls"))
    asked = parts["statistics"].items()
    statistics = [statistic_of(item, lambda group: group_of_statistic(group, table)) for item in asked]
    if "nulls" in parts and nulls:
        raise parts["nulls"].wrong("is said for the whole request and for one of its groups; say it once")
    said = nulls_of(parts["nulls"]) if "nulls" in parts else nulls
    with parts["statistics"].locate_errors():
        try:
            return table.group_by(*by, nulls=said).agg(*statistics)
        except ArgumentError:
            for item, statistic in zip(asked, statistics, strict=True):
                with item.locate_errors():
                    table.agg(statistic)  # alone, so that an error names the statistic as its place
            raise
