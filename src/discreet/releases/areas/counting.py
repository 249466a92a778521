"""Exact counts of some areas of a level, from the cubes of the slices in which they are read. Private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.cube.cells import Codes, Integers, cells_of, codes_of
from discreet.cube.cube import Cube, compact
from discreet.cube.membership import group_places
from discreet.cube.scans import Prepared, Scan
from discreet.domain.groups import Group
from discreet.mechanisms.effects import Axes

__all__ = ["AreaCells", "AreaCounts", "effects_of_counts"]


@dataclass(frozen=True, slots=True)
class AreaCells:
    """The cells of one area.

    Args:
        groups: the further groups.
        sizes: how many labels each has.
        alive: for each the positions of those that can have rows.
    """

    groups: tuple[Group, ...]
    sizes: tuple[int, ...]
    alive: tuple[tuple[int, ...], ...]


class AreaCounts:
    """The rows of the cells of some areas of one level.

    Args:
        plan: conditions and facts.
        cube: of a slice.
        scan: that brought it; its first axis is the area, but for all areas together.
        within: the cells of an area.
        by_area: False for all areas together.
    """

    def __init__(self, plan: Prepared, cube: Cube, scan: Scan, within: AreaCells, *, by_area: bool) -> None:
        self._within, cube = within, compact(cube)
        cells = np.zeros(len(cube.rows), dtype=np.int64)
        inside = cells_of(plan, cube, scan) >= 0
        for group, size in zip(within.groups, within.sizes, strict=True):
            place = group_places(group, plan.facts, codes_of(scan, cube, group.column), size)
            inside &= place >= 0
            cells = cells * size + np.maximum(place, 0)
        areas = cube.keys[:, 0] if by_area else np.zeros_like(cells)
        self._areas: Codes = areas[inside]  # ascending, for the cube is in the order of its keys
        self._cells: Codes = cells[inside]
        self._rows = cube.rows[inside]

    def of(self, areas: Codes) -> Integers:
        """The counts of these areas, ascending places of the slice; shape (areas, levels that can have rows)."""
        low, high = np.searchsorted(self._areas, areas[0]), np.searchsorted(self._areas, areas[-1], side="right")
        place = np.searchsorted(areas, self._areas[low:high])
        mine = areas[np.minimum(place, len(areas) - 1)] == self._areas[low:high]
        width = prod(self._within.sizes)
        found = np.zeros(len(areas) * width, dtype=np.int64)
        np.add.at(found, place[mine] * width + self._cells[low:high][mine], self._rows[low:high][mine])
        counts = found.reshape(len(areas), *self._within.sizes)
        for axis, own in enumerate(self._within.alive, start=1):
            if len(own) < counts.shape[axis]:
                counts = np.take(counts, own, axis=axis)
        return counts


def effects_of_counts(counts: Integers, parts: Sequence[Axes]) -> dict[Axes, Integers]:
    """The integer queries of these effects, shape (areas, numbers): margins with n_i I - J along each of their axes.

    Args:
        counts: shape (areas, levels of each axis).
        parts: the axes of each effect.
    """
    found = {}
    for part in parts:
        others = tuple(1 + axis for axis in range(counts.ndim - 1) if axis not in part)
        margin = counts.sum(axis=others)
        for axis, size in enumerate(margin.shape[1:], start=1):
            margin = size * margin - margin.sum(axis=axis, keepdims=True)
        found[part] = margin.reshape(len(counts), -1)
    return found
