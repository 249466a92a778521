"""The `[columns]` section of a plan file: the schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discreet.domain.categories import Value, whole_categories
from discreet.domain.columns import Category, Column, Date, Number
from discreet.domain.schema import Schema
from discreet.exact.numbers import Amount
from discreet.planfile.tree import Decimal, Keys, Node, kind_of

__all__ = ["category_values", "schema_of"]

_COLUMNS: Mapping[str, Keys] = {
    "category": ((), ("categories", "categories_file", "categories_type", "missing", "required", "clamp", "impute")),
    "number": (("lower", "upper"), ("step", "missing", "required", "clamp", "impute")),
    "date": (("first", "last"), ("missing", "required", "clamp", "impute")),
}


def schema_of(node: Node, folder: Path) -> Schema:
    """The schema that the section declares."""
    with node.locate_errors():
        return Schema({name: _column(column, folder) for name, column in node.mapping().items()})


def _column(node: Node, folder: Path) -> Column:
    kind, parts = node.choice("type", _COLUMNS)
    required = parts["required"].value if "required" in parts else False
    with node.locate_errors():
        if kind == "category":
            return Category(_categories(node, parts, folder), missing=_read_codes(parts, category_values), required=required)
        if kind == "number":
            bounds = (parts[key].number() for key in ("lower", "upper", "step") if key in parts)
            return Number(*bounds, missing=_read_codes(parts, _numbers), required=required)
        days = (parts[key].scalars() for key in ("first", "last"))
        return Date(*days, missing=_read_codes(parts, Node.scalars), required=required)


def _numbers(node: Node) -> list[Amount]:
    return [item.number() for item in node.items()]


def _read_codes(parts: dict[str, Node], read: Callable[[Node], Any]) -> Any:
    """The missing codes of a column, if it has any."""
    if "missing" not in parts:
        return ()
    parts["missing"].items()
    return read(parts["missing"])


def _categories(node: Node, parts: dict[str, Node], folder: Path) -> list[Value] | Path:
    if ("categories" in parts) == ("categories_file" in parts):
        raise node.wrong("must have either 'categories' or 'categories_file'")
    if "categories_file" in parts:
        path = folder / parts["categories_file"].string()
        if not os.path.isfile(path):  # noqa: PTH113 (never raises)
            raise parts["categories_file"].wrong(f"there is no file '{path}'")
        return whole_categories(path) if _are_whole(parts) else path
    if "categories_type" in parts:
        raise parts["categories_type"].wrong("applies to a categories_file only; leave it out")
    listed = parts["categories"]
    listed.items()
    with listed.locate_errors():
        values: list[Value] = category_values(listed)
        Category(values)  # made here too, so that an error names the list as its place
    return values


def _are_whole(parts: dict[str, Node]) -> bool:
    kind = parts["categories_type"].string() if "categories_type" in parts else "text"
    if kind not in ("text", "integer"):
        raise parts["categories_type"].wrong("must be 'text' or 'integer'")
    return kind == "integer"


def category_values(node: Node) -> Any:
    """The values of the node, all of types that categories can have: texts, whole numbers, true and false."""
    values = node.scalars()
    for item in node.items() if isinstance(values, list) else [node]:
        if not isinstance(item.value, str | int) or isinstance(item.value, Decimal):
            raise item.wrong(f"{kind_of(item.value)} is not a category; write a text in quotes")
    return values
