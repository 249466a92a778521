"""`resize`, `sample` and `bound` in a plan file: the last step, which draws rows or bounds what a person counts for."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.plan.table import Table
from discreet.planfile.tree import Node

__all__ = ["with_last_step"]


def with_last_step(table: Table, parts: Mapping[str, Node]) -> Table:
    """The table after `resize`, `sample` or `bound`, if one of them is asked for; two are refused."""
    if "resize" in parts:
        table = _resize(table, parts["resize"])
    if "sample" in parts:
        table = _sample(table, parts["sample"])
    return _bound(table, parts["bound"]) if "bound" in parts else table


def _resize(table: Table, node: Node) -> Table:
    parts = node.table(("rows",), ("proportion",))
    with node.locate_errors():
        return table.resize(parts["rows"].value, proportion=parts["proportion"].number() if "proportion" in parts else 1)


def _bound(table: Table, node: Node) -> Table:
    """`bound = { groups = 8, rows = 3 }`, or with `weight = "views"`."""
    parts = node.table((), ("groups", "rows", "weight"))
    with node.locate_errors():
        return table.bound(**{key: part.value for key, part in parts.items()})


def _sample(table: Table, node: Node) -> Table:
    """`sample = "1/10"`, or `sample = { rows = 1000 }`."""
    with node.locate_errors():
        if isinstance(node.value, dict):
            return table.sample(rows=node.table(("rows",))["rows"].value)
        return table.sample(node.number())
