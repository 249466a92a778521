"""Columns of one file as axes: what rows of two releases have in common is told by labels, not by positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.releases.rows.axes import Family
from discreet.releases.rows.model import Integers, Root
from discreet.releases.rows.targets import Described

__all__ = ["Labelled", "with_axes"]


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """An axis whose levels are the labels of some columns of one family together.

    Args:
        axis: its position.
        names: the columns.
        labels: for each level the label of each column; of a number the ranges of codes of its level.
    """

    axis: int
    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]


def with_axes(found: Described, names: Sequence[str]) -> tuple[Described, list[Labelled]]:
    """An axis for each family that has some of these columns: one of its own with these levels, or one more."""
    axes = []
    for place, family in enumerate(found.families):
        known = {family.root.name: family.ranges} if family.ranges else family.columns
        own = tuple(name for name in names if name in known)
        if not own:
            continue
        each = [*zip(*(known[name] for name in own), strict=True)]
        axis = _same_axis(found, family, each)
        if axis is None:
            axis, level = len(found.targets.sizes), {one: at for at, one in enumerate(dict.fromkeys(each))}
            found = _with_axis(found, place, np.array([level[one] for one in each], dtype=np.int64), len(level))
        root = found.families[place].root
        labels = dict(zip(root.codes[:, root.axes.index(axis)].tolist(), each, strict=True))
        axes.append(Labelled(axis, own, tuple(labels[level] for level in sorted(labels))))
    return found, axes


def _same_axis(found: Described, family: Family, each: Sequence[tuple[Any, ...]]) -> int | None:
    """The first axis of a family, such as one of tables, whose levels are these labels; None where there is none."""
    for axis in sorted(family.root.axes):
        codes = family.root.codes[:, family.root.axes.index(axis)].tolist()
        if len({*zip(codes, each, strict=True)}) == len({*codes}) == len({*each}) == found.targets.sizes[axis]:
            return axis
    return None


def _with_axis(found: Described, place: int, codes: Integers, size: int) -> Described:
    family, targets = found.families[place], found.targets
    more = len(targets.sizes)

    def wider(root: Root) -> Root:
        return replace(root, axes=(*root.axes, more), codes=np.concatenate([root.codes, codes[:, None]], axis=1))

    families = [replace(one, root=wider(one.root)) if one is family else one for one in found.families]
    roots = tuple(wider(one) if one.axes == family.root.axes else one for one in targets.roots)
    targets = replace(targets, roots=roots, sizes=(*targets.sizes, size))
    return replace(found, targets=targets, families=tuple(families))
