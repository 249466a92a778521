"""Effects of every shape: of tables, and in the areas of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.cube.queries import AreaEffects, AreaLevels, EffectCounts, WholeTable
from discreet.domain.groups import group_labels, group_of
from discreet.plan.plan import Plan

Table = tuple[tuple[object, ...], tuple[int, ...]]


def effects(plan: Plan, tables: Sequence[Table]) -> Iterator[EffectCounts | AreaEffects | WholeTable]:
    """Of all these tables with more than one group of each column; those of bins also by area and of all areas together.

    And the tables themselves.
    """
    size = len(group_labels(group_of("g", plan.facts), plan.facts))
    areas = AreaLevels(("g",), (size,), (tuple(range(size)),), ())
    in_areas = 0
    for by, sizes in tables:
        if min(sizes, default=2) > 1:
            effect = EffectCounts(by, sizes, tuple(tuple(range(one)) for one in sizes), 2)
            yield effect
            if sizes:
                yield WholeTable(by, sizes, effect.alive, 0, 2)
            if in_areas < 3 and all(group.column == "v" for group in by):
                in_areas += 1
                yield from (AreaEffects(areas, level, effect) for level in (0, 1))
