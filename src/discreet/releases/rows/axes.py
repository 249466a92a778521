"""The columns of a document as axes, and what is drawn at once: all axes that are functions of one column.

Tables may know one column in several ways: by its values and by what follows from them, or in bins that are cut otherwise.
All of them are functions of the smallest pieces that anything tells apart, and so rows cannot contradict themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.domain.columns import Category, Date, Number
from discreet.domain.origins import root_of
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact
from discreet.releases.rows.model import Integers, Root

__all__ = ["Axis", "Family", "axes_of_block", "families_of", "listed_axis", "number_bounds", "partition_axis"]


@dataclass(frozen=True, slots=True)
class Axis:
    """A column as tables and totals know it: by its values, in bins, or some values apart and all others together.

    Args:
        column: the column.
        size: the number of levels.
        known: the level of each category, and of null, by its type and label.
        ranges: of a number or a date the codes of each level, as (first, one past the last, level), in ascending order.
    """

    column: str
    size: int
    known: Mapping[tuple[type, Any], int]
    ranges: tuple[tuple[int, int, int], ...] = ()

    def level(self, label: Any) -> int:
        """The level of a category or of null; -1 where it has none."""
        return self.known.get((type(label), label), -1)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """What is drawn at once.

    Args:
        root: the root, whose axes are positions among all axes; its `alone` is not known yet.
        columns: the columns of the document that follow from its level, and for each its label at each level. A number or a
            date is not among them.
        ranges: of a number or a date for each level the ranges of codes that it may have, both ends included; none for null.
    """

    root: Root
    columns: Mapping[str, tuple[Any, ...]]
    ranges: tuple[tuple[tuple[int, int], ...], ...] = ()


def axes_of_block(block: Mapping[str, Any], document: Mapping[str, Any], schema: Schema) -> list[Axis]:
    """The axes of measured tables: those of the levels of areas first.

    Raises:
        ArgumentError: a group that several columns show, or one of a column that the document does not declare.
    """
    written = [*block.get("levels", ()), *block["axes"]]
    groups = [group for line in document["statistics"] for table in line.get("tables", ()) for group in table]
    return [_axis(one, groups, schema) for one in written]


def _axis(written: Mapping[str, Any], groups: Sequence[Mapping[str, Any]], schema: Schema) -> Axis:
    name, labels = written["column"], written["labels"]
    if len(labels) > 1:
        raise ArgumentError(f"release: groups of '{name}' have several columns; rows cannot be fitted to them")
    alive = [labels[0][place] for place in written["alive"]]
    if name not in schema.columns:
        raise ArgumentError(
            f"release: its tables group by '{name}', and its document does not say what values that column has; rows "
            "cannot be fitted to it"
        )
    known = {(type(label), label): level for level, label in enumerate(alive)}
    if isinstance(schema[name], Category):
        return Axis(name, len(alive), known)
    told = [one for one in labels[0] if one is not None]
    edges = written.get("edges") or next(
        group["edges"] for group in groups if group["column"] == name and group.get("labels", [])[: len(told)] == told
    )
    bins = zip(told, pairwise(edges), strict=True)
    ranges = tuple((low, high, known[str, label]) for label, (low, high) in bins if (str, label) in known)
    return Axis(name, len(alive), {key: level for key, level in known.items() if key[1] is None}, ranges)


def listed_axis(name: str, schema: Schema) -> Axis:
    """The axis of a column by all of its values, as exact totals know it: its codes, null last."""
    column = schema[name]
    if isinstance(column, Category):
        labels = (*column.values, None)
        return Axis(name, len(labels), {(type(label), label): level for level, label in enumerate(labels)})
    size = column.size
    return Axis(name, size + 1, {(type(None), None): size}, tuple((code, code + 1, code) for code in range(size)))


def partition_axis(name: str, levels: Sequence[int], schema: Schema) -> Axis:
    """The axis that tells some values of a column apart, by their codes, null last; all others are its last level."""
    column, place = schema[name], {code: level for level, code in enumerate(levels)}
    rest, size = len(levels), column.size
    if isinstance(column, Category):
        labels = (*column.values, None)
        return Axis(name, rest + 1, {(type(label), label): place.get(code, rest) for code, label in enumerate(labels)})
    ends = sorted({0, size, *(end for code in levels if code < size for end in (code, code + 1))})
    ranges = tuple((low, high, place.get(low, rest) if high == low + 1 else rest) for low, high in pairwise(ends))
    return Axis(name, rest + 1, {(type(None), None): place.get(size, rest)}, ranges)


def number_bounds(document: Mapping[str, Any], name: str, column: Number | Date) -> tuple[int, int]:
    """The least and the greatest code of a number or a date that its steps leave."""
    low, high = 0, column.size - 1
    for step in document["plan"]["steps"]:
        if step.get("column") == name and step["step"] in {"clamp", "where"}:
            ends = [_code(column, step[end]) for end in ("lower", "upper")]
            low, high = (min(max(code, ends[0]), ends[1]) for code in (low, high))
    return low, high


def _code(column: Number | Date, written: str) -> int:
    return column.code(exact(written, "a bound") if isinstance(column, Number) else written, "a bound")  # type: ignore[arg-type]


# Families -------------------------------------------------------------------------------------------------------------


def families_of(axes: list[Axis], document: Mapping[str, Any], schema: Schema) -> list[Family]:
    """The families of the axes, in the order of the document's columns.

    `axes` gets one more for each family whose levels none of its axes tells apart.
    """
    order = {name: place for place, name in enumerate(schema.columns)}
    roots: dict[str, list[int]] = {}
    for place, axis in enumerate(axes):
        if axis.column:  # the others are of classes of cells
            roots.setdefault(root_of(axis.column, schema), []).append(place)
    return [_family(root, roots[root], axes, document, schema) for root in sorted(roots, key=order.__getitem__)]


def _family(root: str, own: list[int], axes: list[Axis], document: Mapping[str, Any], schema: Schema) -> Family:
    column = schema[root]
    pieces: list[tuple[int, int]] = []
    if isinstance(column, Category):
        known = [_of_category(axes[place], schema) for place in own]
    else:
        low, high = number_bounds(document, root, column)
        ends = {low, high + 1, *(end for place in own for one in axes[place].ranges for end in one[:2])}
        pieces = [*pairwise(sorted(end for end in ends if low <= end <= high + 1))]
        known = [_of_number(axes[place], pieces) for place in own]
    each = np.stack(known, axis=1)
    there = np.flatnonzero((each >= 0).all(axis=1))
    codes, of = np.unique(each[there], axis=0, return_inverse=True)
    if not len(codes):
        raise ArgumentError(f"release: its tables leave no value of '{root}'; discreet did not write it")
    members = [there[of.ravel() == level] for level in range(len(codes))]
    own, codes = _with_own(own, codes, axes, root)
    made = Root(root, tuple(own), codes, np.ones(len(codes), dtype=np.int64))
    if pieces:
        return Family(made, {}, tuple(_ranges(one, pieces) for one in members))
    return Family(made, _determined(root, members, schema))


def _with_own(own: list[int], codes: Integers, axes: list[Axis], root: str) -> tuple[list[int], Integers]:
    """The axes of a family, the first of them its own level: one that tells all levels apart, or a new one."""
    levels = np.arange(len(codes))
    full = [place for place, axis in enumerate(own) if axes[axis].size == len(codes)]
    whole = next((place for place in full if (codes[:, place] == levels).all()), None)
    if whole is None:
        axes.append(Axis(root, len(codes), {}))
        return [len(axes) - 1, *own], np.concatenate([levels[:, None], codes], axis=1)
    order = [whole, *(place for place in range(len(own)) if place != whole)]
    return [own[place] for place in order], codes[:, order]


def _of_category(axis: Axis, schema: Schema) -> Integers:
    """For each code of the root, null last, the level of the axis; -1 where it has none."""
    column = schema[axis.column]
    if not isinstance(column, Category):
        raise ArgumentError(f"release: '{axis.column}' is not a category; discreet did not write it")
    known = np.array([axis.level(label) for label in (*column.values, None)], dtype=np.int64)
    if column.origin is None:
        return known
    return np.asarray(known[np.array([*column.origin.codes, -1])])


def _of_number(axis: Axis, pieces: Sequence[tuple[int, int]]) -> Integers:
    """For each piece of a number or date, null last, the level of the axis; -1 where it has none."""
    starts = [low for low, _, _ in axis.ranges]
    found = [bisect_right(starts, low) - 1 for low, _ in pieces]
    inside = [at >= 0 and high <= axis.ranges[at][1] for at, (_, high) in zip(found, pieces, strict=True)]
    levels = [axis.ranges[at][2] if there else -1 for at, there in zip(found, inside, strict=True)]
    return np.array([*levels, axis.level(None)], dtype=np.int64)


def _ranges(members: Integers, pieces: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The pieces of a level, those that touch each other as one."""
    found: list[tuple[int, int]] = []
    for piece in members.tolist():
        if piece < len(pieces):
            low, end = pieces[piece]
            low = found.pop()[0] if found and found[-1][1] == low - 1 else low
            found.append((low, end - 1))
    return tuple(found)


def _determined(root: str, members: Sequence[Integers], schema: Schema) -> dict[str, tuple[Any, ...]]:
    """The columns of a family that follow from its levels, with their labels."""
    found = {}
    for name, column in schema.columns.items():
        if root_of(name, schema) == root and isinstance(column, Category):
            labels = (*column.values, None)
            codes = np.arange(len(labels)) if column.origin is None else np.array([*column.origin.codes, -1])
            each = [{labels[code] for code in codes[one].tolist()} for one in members]
            if all(len(one) == 1 for one in each):
                found[name] = tuple(next(iter(one)) for one in each)
    return found
