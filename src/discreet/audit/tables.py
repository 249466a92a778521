"""Tiny tables: rows of codes with multiplicities, their cubes, and rows worth trying.

A row has one code for each column in use, None for null. Codes are what every domain has; nothing here is data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.draws import NOTHING, Kernel, Randomness
from discreet.cube.cube import Cube, empty_cube, join
from discreet.cube.scans import Scan
from discreet.cube.value_paths import KeyAxis
from discreet.domain.columns import Category, Column, Number
from discreet.domain.neighbours import AddRemove, Neighbours
from discreet.domain.origins import families, root_of
from discreet.domain.schema import Schema
from discreet.domain.steps import ROW_DRAWS, CategoryFacts, Where
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.plan.plan import Plan, used_columns
from discreet.quotes.quote import Quote
from discreet.totals.exact_totals import alive_cells

__all__ = [
    "Row",
    "Table",
    "candidates",
    "codes_to_try",
    "columns_of_plan",
    "cubes_of",
    "describe_row",
    "effects",
    "engine_of",
    "roots_of",
    "rows_alike",
]

Row = tuple[int | None, ...]
Table = tuple[tuple[Row, int], ...]
"""Rows, each with how often it is there."""

_ANY = ColumnType("text", "VARCHAR")
_MOST_NUMBERS = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A column in use, and the codes worth trying, the most telling ones first."""

    name: str
    codes: tuple[int | None, ...]


def columns_of_plan(quote: Quote) -> tuple[str, ...]:
    """The columns of the source that the request reads, and those of its exact totals."""
    return roots_of([*used_columns(quote.plan), *totals_columns(quote)], quote.plan.schema)


def totals_columns(quote: Quote) -> tuple[str, ...]:
    """The columns of the source from which the exact totals follow; none without totals."""
    return () if quote.beside is None else roots_of(quote.beside.invariants.columns, quote.plan.schema)


def roots_of(names: Iterable[str], schema: Schema) -> tuple[str, ...]:
    """The columns of the source from which these columns follow."""
    return tuple(families(names, schema))


def rows_alike(neighbours: Neighbours) -> int:
    """How many rows of one person change together, all alike.

    One where rows appear and may be exchanged too: there each person has one row, and the two rows of an exchange, for which
    such a relation is charged, are never in one table.
    """
    return 1 if neighbours.appears and neighbours.replacing == 1 else neighbours.rows_per_person


def cubes_of(plan: Plan, columns: tuple[str, ...], table: Table) -> list[Cube]:
    """The cubes that an engine would bring for the table."""
    return [_cube_of(part, plan, columns, table) for part in plan.layout.scans]


def _cube_of(part: Scan, plan: Plan, columns: tuple[str, ...], table: Table) -> Cube:
    cubes = [empty_cube(len(part.axes), [moment.path.high - moment.path.low for moment in part.moments])]
    for row, times in table:
        one = engine_of(plan, columns, [row], {}).aggregate(part.axes, part.moments)
        cubes.append(Cube(one.keys, one.rows * times, one.nonnull * times, one.sums * times))
    return join(cubes)


def engine_of(plan: Plan, columns: tuple[str, ...], rows: Sequence[Row], fixed: Mapping[str, object]) -> ReferenceEngine:
    """The reference engine on rows of codes, with more columns that have one value in all rows."""
    header = dict.fromkeys([*columns, *fixed], _ANY)
    schema = plan.schema
    values = [[_value(schema[name], code) for name, code in zip(columns, row, strict=True)] for row in rows]
    return ReferenceEngine(header, [[*row, *fixed.values()] for row in values])


def _value(column: Column, code: int | None) -> Any:
    if code is None:
        return None
    if isinstance(column, Category):
        return column.values[code]
    if isinstance(column, Number):
        value = column.value(code)
        return int(value) if value.denominator == 1 else float(value)
    return column.value(code)


def describe_row(plan: Plan, columns: tuple[str, ...], row: Row) -> str:
    """The row in values, for people."""
    shown = [f"{name}={_write_value(plan.schema[name], code)}" for name, code in zip(columns, row, strict=True)]
    return f"({', '.join(shown)})" if shown else "a row"


def _write_value(column: Column, code: int | None) -> str:
    value = _value(column, code)
    return "null" if value is None else str(value)


def candidates(quote: Quote, columns: tuple[str, ...], most: int) -> list[Row]:
    """Rows worth trying, at most about `most`: ends and middle of every range, both sides of every cut, null."""
    size = quote.plan.layout.cells * sum(sum(one.query.widths()) for one in quote.measured)
    most = min(most, max(4, _MOST_NUMBERS // size))  # every row is tried, with all that it adds to
    first = totals_columns(quote)
    asked = {name: _Asked(name, codes) for name, codes in codes_to_try(quote, columns).items()} | _find_occurring(quote)
    while prod(len(one.codes) for one in asked.values()) > most:
        # Columns of the totals are thinned last: exchanges need several of their levels.
        widest = max(asked.values(), key=lambda one: (len(one.codes) > 2, one.name not in first, len(one.codes)))
        if len(widest.codes) == 1:
            break
        asked[widest.name] = _Asked(widest.name, widest.codes[:-1])
    return list(product(*(asked[name].codes for name in columns)))[:most]


def codes_to_try(quote: Quote, columns: tuple[str, ...]) -> dict[str, tuple[int | None, ...]]:
    """For each column the codes that tell apart what the request asks, the most telling ones first; None for null."""
    return {name: _codes_of_family(quote.plan, name) for name in columns}


def _find_occurring(quote: Quote) -> dict[str, _Asked]:
    """Levels of the columns of published totals that some row may have, the first, the last and some between."""
    found: dict[str, _Asked] = {}
    if quote.beside is None or quote.beside.totals is None:
        return found
    alive = alive_cells(quote.beside, quote.plan.schema, totals_columns(quote))
    for axis, name in enumerate(totals_columns(quote)):
        others = tuple(other for other in range(alive.ndim) if other != axis)
        levels = np.flatnonzero(alive.any(axis=others)).tolist()
        size = quote.plan.schema[name].size
        codes = [None if level == size else level for level in (*levels[:1], *levels[-1:], *levels[1:5])]
        found[name] = _Asked(name, tuple(dict.fromkeys(codes)))
    return found


def _codes_of_family(plan: Plan, name: str) -> tuple[int | None, ...]:
    """The codes of a column of the source that tell apart what the request asks of it and of its family."""
    found = dict.fromkeys(_codes(plan, name))
    for derived in used_columns(plan):
        origin = getattr(plan.schema[derived], "origin", None)
        if origin is not None and root_of(derived, plan.schema) == name:
            wanted = _codes(plan, derived)
            found |= dict.fromkeys(origin.codes.index(code) for code in wanted if code is not None)
    return tuple(found)


def _codes(plan: Plan, name: str) -> tuple[int | None, ...]:
    facts = plan.facts[name]
    size = facts.column.size
    if isinstance(facts, CategoryFacts):
        others = [code for code in range(size) if code not in facts.kept]
        codes: list[int | None] = [*facts.kept[:1], None, *facts.kept[1:4], *facts.kept[-1:], *others[:1]]
        return tuple(dict.fromkeys(codes))
    cuts = [cut for axis in _axes(plan) if axis.name == name for cut in axis.cuts or ()]
    ranges = [
        code for step in plan.steps if isinstance(step, Where) and step.column == name for code in (step.low, step.high)
    ]
    middle = (facts.low + facts.high) // 2
    codes = [facts.high, facts.low, None, *ranges, *(code for cut in cuts[:4] for code in (cut, cut - 1))]
    codes += [middle, middle + 1, 0, size - 1, facts.low + 1]
    return tuple(dict.fromkeys(code for code in codes if code is None or 0 <= code < size))


def _axes(plan: Plan) -> Iterator[KeyAxis]:
    for part in plan.layout.scans:
        yield from part.axes
    if plan.layout.persons is not None:
        yield from plan.layout.persons.axes


def effects(kernel: Kernel, quote: Quote, columns: tuple[str, ...], rows: list[Row]) -> list[list[NDArray[Any]] | None]:
    """The amount that each row alone adds to the answers, before rows are drawn; None where an imputation draws it."""
    steps = tuple(step for step in quote.plan.steps if not isinstance(step, ROW_DRAWS))
    own = quote.plan.neighbours
    # One row alone has another number of rows, whether it is of the source or was made of a person.
    apart = replace(quote.plan, neighbours=AddRemove(), persons=None, steps=steps)
    alone = replace(quote, plan=apart if own.rows is not None else replace(quote.plan, steps=steps))
    found: list[list[NDArray[Any]] | None] = []
    for row in rows:
        try:
            found.append(list(kernel.exact(alone, cubes_of(alone.plan, columns, ((row, 1),)), NOTHING)))
        except Randomness:
            found.append(None)
    return found
