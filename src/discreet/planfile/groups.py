"""The groups of a request in a plan file: columns, bins of them, and columns of texts whose groups are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.domain.discovery import Discover
from discreet.domain.groups import Bins, bins
from discreet.errors import did_you_mean
from discreet.plan.shown import NULLS
from discreet.plan.table import Table
from discreet.planfile.tree import Node

__all__ = ["column_of", "group_of_request", "group_of_statistic", "nulls_of"]

_DISCOVER = ("known", "share", "at_least", "other", "most")


def nulls_of(node: Node) -> Any:
    """What becomes of null groups: one of the words of the library."""
    word = node.string()
    if word not in NULLS:
        raise node.wrong(f"'{word}' is unknown{did_you_mean(word, NULLS)}")
    return word


def column_of(by: str | Bins | Discover) -> str:
    """The column of a group."""
    return by if isinstance(by, str) else by.column


def _discover(node: Node, parts: Mapping[str, Node]) -> Discover:
    """A column of texts whose groups are found."""
    asked: dict[str, Any] = {key: parts[key].value for key in ("at_least", "other", "most") if key in parts}
    asked |= {"share": parts["share"].number()} if "share" in parts else {}
    if "known" in parts:
        asked["known"] = [item.string() for item in parts["known"].items()]
    with node.locate_errors():
        return Discover(parts["discover"].string(), **asked)


def _bins(node: Node, parts: Mapping[str, Node]) -> Bins:
    if "step" in parts and "edges" not in parts:
        return bins(parts["bins"].string(), step=parts["step"].number())
    if "step" in parts or "edges" not in parts:
        raise node.wrong("give either edges = [...] or a step")
    parts["edges"].items()
    return bins(parts["bins"].string(), parts["edges"].scalars())


def group_of_statistic(node: Node, table: Table) -> str | Bins:
    """A column, or its bins."""
    by = _bins(node, node.table(("bins",), ("edges", "step"))) if isinstance(node.value, dict) else node.string()
    with node.locate_errors():
        table.group_by(by)
    return by


def group_of_request(node: Node, table: Table) -> str | Bins | Discover:
    """A column, its bins, or one whose groups are found; each may say what becomes of its null group."""
    by: str | Bins | Discover
    further = ("nulls",)
    if isinstance(node.value, dict) and "discover" in node.value:
        by = _discover(node, node.table(("discover",), (*_DISCOVER, *further)))
    elif isinstance(node.value, dict) and "column" in node.value:
        by = node.table(("column",), further)["column"].string()
    elif isinstance(node.value, dict):
        by = _bins(node, node.table(("bins",), ("edges", "step", *further)))
    else:
        by = node.string()
    with node.locate_errors():
        table.group_by(by)
    return by
