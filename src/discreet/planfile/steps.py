"""The steps of a release in a plan file: clamps and imputations, conditions, one row of each person, and the last step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.domain.categories import Value
from discreet.domain.columns import Category, Column, Number
from discreet.domain.conditions import nearest_condition
from discreet.domain.imputation import ImputationLaw, Normal, Uniform, Weights
from discreet.domain.of_persons import HOW, OfRows, distinct, earliest, latest, only, rows, total
from discreet.errors import PlanError
from discreet.plan.table import Table
from discreet.planfile.columns import category_values
from discreet.planfile.row_draws import with_last_step
from discreet.planfile.tree import Keys, Node
from discreet.planfile.write import toml_key

__all__ = ["Steps", "own_steps", "prepare", "prepared_of", "steps_of"]

_LAWS: Mapping[str, Keys] = {
    "uniform": ((), ("lower", "upper")),
    "normal": (("mean", "sd"), ("lower", "upper")),
    "weights": (("weights",), ()),
}


Steps = Mapping[str, Mapping[str, Node]]
"""For each kind of step the columns that have it, with what is said of it."""


def steps_of(columns: Node) -> Steps:
    """The clamps, imputations and completions that the columns of a section say."""
    every = columns.mapping()
    return {step: {name: node.child(step) for name, node in every.items() if step in node.value} for step in STEPS}


def own_steps(steps: Steps, parts: Mapping[str, Node]) -> Steps:
    """The steps of a release: what it says of a column stands in place of what the column says."""
    said = {step: parts[step].mapping() if step in parts else {} for step in STEPS}
    filled = {*said["impute"], *said["complete"]}
    kept = {
        step: {name: one for name, one in steps[step].items() if step == "clamp" or name not in filled} for step in STEPS
    }
    return {step: {**kept[step], **said[step]} for step in STEPS}


def prepared_of(table: Table, steps: Steps, parts: dict[str, Node]) -> Table:
    """The table after the clamps and imputations `steps` and what else a release says of its table."""
    found = _where(prepare(table, steps), parts)
    if "per_person" in parts:
        found = _per_person(found, parts["per_person"])
    if "of_persons" in parts:
        if "per_person" not in parts:
            raise parts["of_persons"].wrong("is about the table that per_person = { … } makes; write that too")
        own = parts["of_persons"].table((), (*STEPS, "where"))
        found = _where(prepare(found, own_steps({step: {} for step in STEPS}, own)), own)
    return with_last_step(found, parts)


def _where(table: Table, parts: Mapping[str, Node]) -> Table:
    """The table with its conditions."""
    if "where" not in parts:
        return table
    _check_condition(parts["where"], table)
    prepared = table
    for column, condition in parts["where"].mapping().items():
        _check_condition(condition, table, column)
        with condition.locate_errors():
            prepared = prepared.where({column: _values(condition, table.schema.columns.get(column))})
    return prepared


def _per_person(table: Table, node: Node) -> Table:
    """`per_person = { visits = { rows = [0, 50] }, spent = { total = "amount", bounds = [0, 500] } }`."""
    made = {name: _of_rows(part) for name, part in node.mapping().items()}
    for name, one in made.items():
        with node.child(name).locate_errors():
            table.per_person(**{name: one})  # alone too, so that an error names the column as its place
    with node.locate_errors():
        return table.per_person(**made)


def _of_rows(node: Node) -> OfRows:
    """What is made of all rows of a person."""
    said = [word for word in HOW if isinstance(node.value, dict) and word in node.value]
    if len(said) != 1:
        raise node.wrong(f'must say one of {", ".join(HOW)}, such as {{ only = "state" }}')
    (how,) = said
    needed: dict[str, tuple[str, ...]] = {"total": ("total", "bounds"), "distinct": ("distinct", "most")}
    parts = node.table(needed.get(how, (how,)))
    with node.locate_errors():
        match how:
            case "rows":
                return rows(*_pair(parts["rows"]))
            case "total":
                return total(parts["total"].string(), *_pair(parts["bounds"]))
            case "distinct":
                return distinct(parts["distinct"].string(), most=parts["most"].value)
            case "latest":
                return latest(parts["latest"].string())
            case "earliest":
                return earliest(parts["earliest"].string())
            case "only":
                return only(parts["only"].string())
    raise PlanError(f"per_person: '{how}' is unknown")


def _pair(node: Node) -> tuple[Any, Any]:
    ends = [*node.scalars()] if isinstance(node.value, list) else []
    if len(ends) != 2:
        raise node.wrong("must be a list of two numbers, [low, high]")
    return ends[0], ends[1]


def _values(node: Node, column: Column | None) -> Any:
    """Bounds or categories, depending on the type of the column."""
    return category_values(node) if isinstance(column, Category) else node.scalars()


def _check_condition(node: Node, table: Table, column: str = "") -> None:
    """Checks that a condition, or one of a column, is not a text such as "age >= 15"; the error says what it means."""
    is_text = type(node.value) is str and not isinstance(table.schema.columns.get(column), Category)
    near = nearest_condition(f"{column} {node.value}".strip(), table.schema) if is_text else None
    if near is not None:
        said = f"{toml_key(near.column)} = {near.toml}"
        raise node.wrong(f"must be a list, not a text; write {said}" if column else
                         f"must be a table, not a text; write where = {{ {said} }}")  # fmt: skip


def prepare(table: Table, steps: Steps) -> Table:
    """The table after every clamp and then every imputation, in the order of the schema's columns."""
    order = {name: position for position, name in enumerate(table.schema.columns)}
    for step in STEPS:
        for name in sorted(steps[step], key=lambda name: order.get(name, len(order))):
            node = steps[step][name]
            with node.locate_errors():
                table = STEPS[step](table, name, node)
    return table


def _clamp(table: Table, name: str, node: Node) -> Table:
    return table.clamp({name: _values(node, table.schema.columns.get(name))})


def _impute(table: Table, name: str, node: Node) -> Table:
    return table.impute({name: _law(node, table.schema.columns.get(name))})


def _complete(table: Table, name: str, node: Node) -> Table:
    return table.complete({name: node.number() if isinstance(table.schema.columns.get(name), Number) else node.scalars()})


STEPS: Mapping[str, Callable[[Table, str, Node], Table]] = {"clamp": _clamp, "impute": _impute, "complete": _complete}


def _law(node: Node, column: Column | None) -> ImputationLaw:
    kind, parts = node.choice("distribution", _LAWS)
    if kind == "weights":
        known = {_key(value): value for value in column.values} if isinstance(column, Category) else {}
        return Weights({known.get(key, key): weight.number() for key, weight in parts["weights"].mapping().items()})
    numbers = {key: part.number() for key, part in parts.items() if key != "distribution"}
    return Normal(**numbers) if kind == "normal" else Uniform(**numbers)


def _key(value: Value) -> str:
    """A category as a key of the file: true, false, 17, or the text itself."""
    return str(value).lower() if isinstance(value, bool) else str(value)
