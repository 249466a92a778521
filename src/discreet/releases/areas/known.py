"""Numbers of areas that have no noise, beside the exact totals in the document from which they follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from discreet.cube.cells import Integers
from discreet.domain.groups import Label
from discreet.errors import ArgumentError
from discreet.mechanisms.effects import Axes
from discreet.releases.areas.counting import effects_of_counts
from discreet.releases.areas.reading import AreasInFiles
from discreet.releases.recomputed import refuse_made_up

__all__ = ["check_known"]


def check_known(areas: AreasInFiles, level: int) -> int:
    """Compares the numbers of a level that have no noise with the published totals; how many totals there are.

    Numbers that follow from totals of other columns, such as bins, are not compared.

    Raises:
        ArgumentError: they differ.
    """
    with refuse_made_up():
        known = {
            part: _published(areas, level, part) for (at, part), one in areas.behind.items() if at == level and not one.law
        }
        found = {part: one for part, one in known.items() if one is not None}
    if not found:
        return 0
    wanted = {part: effects_of_counts(counts, [tuple(range(counts.ndim - 1))]) for part, counts in found.items()}
    for first, numbers in areas.numbers(level):
        for part, own in wanted.items():
            (effect,) = own.values()
            if (areas.columns.of(part, numbers) != effect[first : first + len(numbers)]).any():
                raise ArgumentError("release: the numbers of areas without noise are not the published totals")
    return sum(counts.size for counts in found.values())


def _published(areas: AreasInFiles, level: int, part: Axes) -> Integers | None:
    """The published counts by the areas of a level and some axes; None where no table of totals has these columns."""
    plan = areas.document["plan"]
    conditions = {one["column"]: one.get("categories") for one in plan["steps"] if one["step"] == "where"}
    axes = [areas.block["axes"][axis] for axis in part]
    own = [axis["column"] for axis in axes]
    levels = [one["column"] for one in areas.block["levels"]]
    for listed in _lists(areas.document):
        columns = listed["columns"]
        deepest = max((place for place, name in enumerate(levels, start=1) if name in columns), default=0)
        whole = all(column in columns and kept is not None for column, kept in conditions.items())
        if whole and deepest >= level and all(column in columns for column in own) and not listed.get("only"):
            return _counts(areas, listed, (level, deepest), axes, conditions)
    rows = plan["neighbours"].get("rows")
    return np.array([rows]) if not level and not part and not conditions and rows is not None else None


def _lists(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The published tables of totals."""
    told = document["invariants"]
    return [] if told is None else [one for one in told["totals"]["parts"] if one["part"] == "totals"]


def _counts(
    areas: AreasInFiles,
    listed: Mapping[str, Any],
    at: tuple[int, int],
    axes: Sequence[Mapping[str, Any]],
    conditions: Mapping[str, Sequence[Label]],
) -> Integers:
    """The counts of a table of totals by the areas of a level above the one that it has, and by some of its columns."""
    (level, deepest), columns = at, sorted(listed["columns"])
    above = np.arange(areas.tables.tree.sizes[deepest])
    for one in range(deepest, level, -1):
        above = areas.tables.tree.above[one - 1][above]
    places = {code: int(place) for code, place in zip(areas.codes[deepest - 1], above, strict=True)} if deepest else {}
    area = columns.index(areas.block["levels"][deepest - 1]["column"]) if deepest else -1
    known = [
        (columns.index(axis["column"]), {axis["labels"][0][one]: k for k, one in enumerate(axis["alive"])}) for axis in axes
    ]
    kept = [(columns.index(column), frozenset(labels)) for column, labels in conditions.items()]
    sizes = [len(labels) for _, labels in known]
    found = np.zeros(areas.tables.tree.sizes[level] * prod(sizes), dtype=np.int64)
    for *cell, count in listed["cells"]:
        if all(cell[place] in labels for place, labels in kept):
            at_area = places[cell[area]] if deepest else 0
            for place, labels in known:
                at_area = at_area * len(labels) + labels[cell[place]]
            found[at_area] += count
    return found.reshape(-1, *sizes)


def _places(axis: Mapping[str, Any]) -> dict[Label, int]:
    """The places of the labels that can have rows."""
    return {axis["labels"][0][alive]: place for place, alive in enumerate(axis["alive"])}
