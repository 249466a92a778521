"""`resize` and `sample` in a plan file: the step that draws rows."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.plan.table import Table
from discreet.planfile.tree import Node

__all__ = ["with_drawn_rows"]


def with_drawn_rows(table: Table, parts: Mapping[str, Node]) -> Table:
    """The table after `resize` or `sample`, if one of them is asked for; both are refused."""
    if "resize" in parts:
        table = _resize(table, parts["resize"])
    return _sample(table, parts["sample"]) if "sample" in parts else table


def _resize(table: Table, node: Node) -> Table:
    parts = node.table(("rows",), ("proportion",))
    with node.locate_errors():
        return table.resize(parts["rows"].value, proportion=parts["proportion"].number() if "proportion" in parts else 1)


def _sample(table: Table, node: Node) -> Table:
    """`sample = "1/10"`, or `sample = { rows = 1000 }`."""
    with node.locate_errors():
        if isinstance(node.value, dict):
            return table.sample(rows=node.table(("rows",))["rows"].value)
        return table.sample(node.number())
