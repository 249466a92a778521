"""Rows as a frame: the columns of the document in their order and with their types, derived ones too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.domain.columns import Category, Date, Number
from discreet.errors import InternalError
from discreet.releases.rows.model import Integers, Start
from discreet.releases.rows.targets import Described
from discreet.releases.rows.values import codes_within, own_numbers, said_of
from discreet.releases.rows.words import Words

if TYPE_CHECKING:
    import polars as pl

__all__ = ["frame_of_rows", "free_name"]


def frame_of_rows(
    found: Described,
    start: Start,
    document: Mapping[str, Any],
    words: Words,
    known: Mapping[str, Integers] = MappingProxyType({}),
) -> tuple[pl.DataFrame, dict[str, float]]:
    """The rows with a value in every column, and where they stand for several rows, in a last one for how many.

    Beside them are their own numbers of the main table of the document, by their names. Columns of numbers whose codes are
    known have these.
    """
    import polars as pl

    columns: dict[str, pl.Series] = {}
    own: dict[str, float] = {}
    for family in found.families:
        levels = start.rows[:, family.root.axes[0]]
        for name, labels in family.columns.items():
            column = found.schema[name]
            values = column.values if isinstance(column, Category) else ()  # they say the type where all labels are null
            columns[name] = pl.Series(name, labels, dtype=_type([*labels, *values]), strict=True).gather(levels)
        if family.ranges:
            name, column = family.root.name, found.schema[family.root.name]
            if isinstance(column, Category):
                raise InternalError(f"'{name}' is a category")
            codes = known.get(name)
            if codes is None:
                codes = codes_within(family.ranges, levels, start.each, said_of(document, name, column), words)
            columns[name] = _numbers(name, column, codes)
            own |= own_numbers(document, name, column, codes, start.each)
    made = [columns[name] for name in found.schema.columns if name in columns]
    weights = [pl.Series(free_name("weight", columns), start.each)] if found.targets.each > 1 else []
    return pl.DataFrame([*made, *weights]), own


def free_name(name: str, columns: Iterable[str]) -> str:
    """The name of one more column: this one, or one like it that no column has."""
    taken = {one.casefold() for one in columns}
    while name in taken:
        name += "_"
    return name


def _type(labels: Sequence[Any]) -> Any:
    import polars as pl

    kinds = {bool: pl.Boolean, int: pl.Int64, str: pl.String}
    return next((kinds[type(label)] for label in labels if label is not None), pl.Null)


def _numbers(name: str, column: Number | Date, codes: Integers) -> pl.Series:
    """The values of codes: days, whole numbers, or the doubles next to other numbers; null for -1."""
    import polars as pl

    if isinstance(column, Date):
        found = pl.Series(name, (column.first_day + codes).astype(np.int32)).cast(pl.Date)
    else:
        below = lcm(column.lower.denominator, column.step.denominator)
        first, each = int(column.lower * below), int(column.step * below)
        if below == 1 and max(abs(first), abs(first + each * column.size)) < 1 << 62:
            found = pl.Series(name, first + each * codes, dtype=pl.Int64)
        else:
            found = pl.Series(name, _doubles(first, each, below, codes), dtype=pl.Float64)
    return pl.select(pl.when(pl.Series(codes >= 0)).then(found).otherwise(None).alias(name)).to_series()


def _doubles(first: int, each: int, below: int, codes: Integers) -> Any:
    if max(abs(first), abs(first + each * (int(codes.max(initial=0)) + 1)), below) < 1 << 53:
        return (first + each * codes) / below  # one division of whole numbers that doubles hold: the nearest double
    return np.array([float(Fraction(first + each * code, below)) for code in codes.tolist()])
