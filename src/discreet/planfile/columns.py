"""The `[columns]` section of a plan file: the schema."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discreet.domain.about import Labels
from discreet.domain.areas import DerivedColumn, Hierarchy, level_name
from discreet.domain.categories import Value, whole_categories
from discreet.domain.columns import Category, Date, Number
from discreet.domain.combinations import Keys as Combinations
from discreet.domain.declarations import Declared
from discreet.domain.identifiers import Identifier
from discreet.domain.schema import Schema
from discreet.domain.texts import Text
from discreet.exact.given_paths import content_of
from discreet.exact.numbers import Amount
from discreet.planfile.tree import Decimal, Keys, Node, kind_of

__all__ = ["category_values", "labels_of", "schema_of"]

_STEPS = ("clamp", "impute", "complete")
_COLUMNS: Mapping[str, Keys] = {
    "category": ((), ("categories", "categories_file", "categories_type", "missing", "required", *_STEPS)),
    "number": (("lower", "upper"), ("step", "missing", "required", *_STEPS)),
    "date": (("first", "last"), ("missing", "required", "clamp", "impute")),
    "derived": (("of",), ("file", "sha256", "map", "column", "key", "required", *_STEPS)),
    "hierarchy": (("file", "levels"), ("sha256", "labels", "categories_type", "missing", "required")),
    "keys": (("file", "columns"), ("sha256", "labels", "integers", "other", "required", *_STEPS)),
    "identifier": ((), ()),
    "text": (("max_length",), ()),
}


def schema_of(node: Node, folder: Path) -> Schema:
    """The schema that the section declares."""
    with node.locate_errors():
        return Schema({name: _column(name, column, folder) for name, column in node.mapping().items()})


def labels_of(node: Node, folder: Path) -> dict[str, Labels]:
    """The labels that the look-up files of the section have for the categories of their levels, by column."""
    found: dict[str, Labels] = {}
    for name, column in node.mapping().items():
        kind, parts = column.choice("type", _COLUMNS)
        if kind == "hierarchy":
            made = _hierarchy(parts, folder)
            found |= {level_name(name, level): Labels(categories=told) for level, told in made.labels.items()}
            found |= {name: Labels(categories=made.labels[made.levels[-1]])} if made.levels[-1] in made.labels else {}
        if kind == "keys":
            told_of = _combinations(parts, folder).labels
            found |= {level_name(name, part): Labels(categories=told) for part, told in told_of.items()}
    return found


def _column(name: str, node: Node, folder: Path) -> Declared | Identifier | Text:
    kind, parts = node.choice("type", _COLUMNS)
    required = parts["required"].value if "required" in parts else False
    with node.locate_errors():
        if kind == "category":
            return Category(_categories(node, parts, folder), missing=_read_codes(parts, category_values), required=required)
        if kind == "identifier":
            return Identifier()
        if kind == "text":
            length: Any = parts["max_length"].value
            return Text(length)
        if kind == "number":
            bounds = (parts[key].number() for key in ("lower", "upper", "step") if key in parts)
            return Number(*bounds, missing=_read_codes(parts, _numbers), required=required)
        if kind == "derived":
            return _derived_column(name, node, parts, folder)
        if kind == "hierarchy":
            return _hierarchy(parts, folder)
        if kind == "keys":
            return _combinations(parts, folder)
        days = (parts[key].scalars() for key in ("first", "last"))
        return Date(*days, missing=_read_codes(parts, Node.scalars), required=required)


def _derived_column(name: str, node: Node, parts: dict[str, Node], folder: Path) -> DerivedColumn:
    """A column of a look-up file, or of a map that the plan holds itself."""
    if ("map" in parts) == ("file" in parts):
        raise node.wrong("must have either 'map' or 'file'")
    required = parts["required"].value if "required" in parts else False
    of, own = parts["of"].string(), parts["column"].string() if "column" in parts else name
    if "file" in parts:
        key = parts["key"].string() if "key" in parts else None
        return DerivedColumn(own, of=of, by=_lookup_file(parts, folder), key=key, required=required)
    for other in ("column", "key", "sha256"):
        if other in parts:
            raise parts[other].wrong("applies to a file only; leave it out")
    pairs: dict[Value, Value | None] = {key: category_values(item) for key, item in parts["map"].mapping().items()}
    return DerivedColumn(own, of=of, by=pairs, required=required)


def _hierarchy(parts: dict[str, Node], folder: Path) -> Hierarchy:
    labels = {level: item.string() for level, item in parts["labels"].mapping().items()} if "labels" in parts else {}
    kind: Any = "integer" if _are_whole(parts) else "text"
    required = parts["required"].value if "required" in parts else False
    levels, missing = [item.string() for item in parts["levels"].items()], _read_codes(parts, category_values)
    file = _lookup_file(parts, folder)
    return Hierarchy(file, levels=levels, labels=labels, codes=kind, missing=missing, required=required)


def _combinations(parts: dict[str, Node], folder: Path) -> Combinations:
    return Combinations(
        _lookup_file(parts, folder),
        columns=[item.string() for item in parts["columns"].items()],
        labels={part: item.string() for part, item in parts["labels"].mapping().items()} if "labels" in parts else {},
        integers=[item.string() for item in parts["integers"].items()] if "integers" in parts else (),
        other=parts["other"].string() if "other" in parts else None,
        required=parts["required"].value if "required" in parts else False,
    )


def _lookup_file(parts: dict[str, Node], folder: Path) -> Path:
    """The path of a look-up file, which has the digest that the plan states."""
    path = folder / parts["file"].string()
    if not os.path.isfile(path):  # noqa: PTH113 (never raises)
        raise parts["file"].wrong(f"there is no file '{path}'")
    if "sha256" in parts and hashlib.sha256(content_of(path)).hexdigest() != parts["sha256"].string().lower():
        raise parts["sha256"].wrong(f"is not the digest of '{path}'; the file has changed since the plan was written")
    return path


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
