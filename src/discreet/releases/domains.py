"""What can be in a row, as a document of measured tables says it: public maps of derived columns, and rules of cells.

A plan names such maps by their digests. Whoever wants to make rows needs the maps themselves, and the cells that no row can
be in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.domain.columns import Category, Column, Date, Number, derived_category
from discreet.domain.origins import Origin, root_of
from discreet.domain.schema import Schema
from discreet.exact.canonical import canonical, digest
from discreet.exact.numbers import exact
from discreet.plan.layout import used_columns
from discreet.quotes.quote import Quote
from discreet.releases.recomputed import refuse_made_up
from discreet.totals.statements import FloorStatement, ImpossibleStatement, statement_json

__all__ = ["domain_json", "schema_of"]

_RULES = (ImpossibleStatement, FloorStatement)


def domain_json(quote: Quote) -> dict[str, Any]:
    """The maps of all columns that follow from one that the release reads, and the rules; nothing where there are none."""
    schema, beside = quote.plan.schema, quote.beside
    rules = [] if beside is None else [one for one in beside.invariants.parts if isinstance(one, _RULES)]
    read = {*used_columns(quote.plan), *(() if beside is None else beside.invariants.columns)}
    roots = {root_of(name, schema) for name in read}
    maps = {name: _codes(column) for name, column in schema.columns.items() if root_of(name, schema) in roots - {name}}
    found = {"rules": sorted(map(statement_json, rules), key=canonical), "maps": maps}
    told = {key: value for key, value in found.items() if value}
    return {"domain": told} if told else {}


def _codes(column: Column) -> list[int]:
    origin = column.origin if isinstance(column, Category) else None
    return [] if origin is None else list(origin.codes)


def schema_of(document: Mapping[str, Any]) -> Schema:
    """The columns that a document declares, with the maps of derived ones that it holds.

    Columns whose maps it does not hold are left out, and so are identifiers and texts. Lists of combinations are categories.

    Raises:
        ArgumentError: a map is not the one that the plan names: discreet did not write the document.
    """
    with refuse_made_up():
        return _schema(document)


def _schema(document: Mapping[str, Any]) -> Schema:
    written = {one["name"]: one for one in document["plan"]["schema"]}
    columns = {name: _column(one) for name, one in written.items() if one["type"] in _KINDS and "of" not in one}
    for name, codes in document.get("domain", {}).get("maps", {}).items():
        columns[name] = _derived(written[name], columns[written[name]["of"]], codes)
    return Schema({name: columns[name] for name in written if name in columns})


def _column(written: Mapping[str, Any]) -> Column:
    return _KINDS[written["type"]](written)


_KINDS: Mapping[str, Callable[[Mapping[str, Any]], Column]] = {
    "category": lambda written: Category(written["categories"]),
    "number": lambda written: Number(*(exact(written[name], name) for name in ("lower", "upper", "step"))),
    "date": lambda written: Date(written["first"], written["last"]),
}


def _derived(written: Mapping[str, Any], root: Column, codes: list[int]) -> Column:
    if not isinstance(root, Category):
        raise TypeError(written["of"])
    labels = written["categories"]
    if (
        digest([[value, None if code < 0 else labels[code]] for value, code in zip(root.values, codes, strict=True)])
        != written["map"]
    ):
        raise ValueError(written["map"])
    return derived_category(labels, Origin(written["of"], root.values, tuple(codes), written["map"]))
