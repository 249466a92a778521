"""The levels of a tree of areas, from the columns of a schema: which areas there are, and which lie in which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from discreet.cube.cells import Codes
from discreet.cube.queries import AreaLevels, TableCounts
from discreet.domain.columns import Column
from discreet.domain.groups import CategoryGroup, Group, group_labels
from discreet.domain.origins import between, root_of
from discreet.domain.steps import CategoryFacts, TableFacts
from discreet.errors import InternalError, PlanError, printed
from discreet.statistics.base import Asked
from discreet.statistics.counted import PublicCells
from discreet.statistics.trees import Tree

__all__ = [
    "Declared",
    "area_levels",
    "check_chain",
    "declared_levels",
    "depth_first",
    "groups_there",
    "levels_of",
    "tree_of",
]

_SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class Declared:
    """The declared columns of a table."""

    facts: TableFacts

    def __getitem__(self, name: str, /) -> Column:
        return self.facts[name].column


def levels_of(named: Sequence[str], facts: TableFacts) -> tuple[str, ...]:
    """The columns of the levels: those that are named, or all levels of the one hierarchy that is."""
    if len(named) > 1:
        return tuple(named)
    (name,) = named
    declared = Declared(facts)
    own = tuple(
        one
        for one in facts.columns
        if one.startswith(f"{name}{_SEPARATOR}") and isinstance(facts[one], CategoryFacts) and root_of(one, declared) == name
    )
    return own or (name,)


def check_chain(levels: Sequence[str], facts: TableFacts) -> None:
    """Checks that each area lies in one area of the level before.

    Raises:
        PlanError: a level is named twice, does not determine the one before, or a condition leaves out some of its areas.
    """
    if len(set(levels)) < len(levels):
        raise PlanError("agreeing_areas(): a level is named twice")
    declared = Declared(facts)
    for coarse, fine in pairwise(levels):
        if between(fine, coarse, declared) is None:
            raise PlanError(
                f"agreeing_areas({printed(coarse)}, {printed(fine)}): '{fine}' does not tell in which '{coarse}' it is; "
                "name levels of one hierarchy, the widest areas first"
            )
    root = root_of(levels[0], declared)
    for column in sorted(facts.filtered):
        if root_of(column, declared) == root:
            raise PlanError(
                f"agreeing_areas(): where on '{column}' leaves areas in which no row can be; ask for all areas, or for "
                "tables(…) of one level"
            )


def groups_there(group: Group, size: int, asked: Asked) -> tuple[int, ...]:
    """The groups that can have rows, as far as published totals of this one column say; all of them where none do."""
    found = asked.known(TableCounts((group,), (size,)))
    counts = found.structure.counts() if isinstance(found, PublicCells) else None
    there = tuple(np.flatnonzero(counts).tolist()) if counts is not None else ()
    return there or tuple(range(size))


def declared_levels(levels: Sequence[str], facts: TableFacts) -> AreaLevels:
    """The levels with all of their areas."""
    sizes = tuple(len(group_labels(CategoryGroup(level), facts)) for level in levels)
    every = tuple(tuple(range(size)) for size in sizes)
    return AreaLevels(tuple(levels), sizes, every, tuple(map(tuple, _parents(levels, facts))))


def area_levels(levels: Sequence[str], asked: Asked) -> AreaLevels:
    """The levels with the areas that can have rows: none inside an area whose published total is 0, none without areas."""
    found = declared_levels(levels, asked.facts)
    groups = zip(map(CategoryGroup, levels), found.sizes, strict=True)
    alive = [set(groups_there(group, size, asked)) for group, size in groups]
    for place, parents in enumerate(found.parents, start=1):
        alive[place] = {one for one in alive[place] if parents[one] in alive[place - 1]}
    for place in range(len(found.parents) - 1, -1, -1):
        alive[place] &= {found.parents[place][one] for one in alive[place + 1]}
    # Nobody is anywhere: everything is public.
    return replace(found, there=tuple(tuple(sorted(one)) for one in alive)) if all(alive) else found


def depth_first(levels: AreaLevels) -> tuple[Codes, ...]:
    """For each level all of its areas in an order in which those in one area follow each other, as these areas do."""
    found = [np.arange(levels.sizes[0])]
    for parents, size in zip(levels.parents, levels.sizes, strict=False):
        place = np.empty(size, dtype=np.int64)
        place[found[-1]] = np.arange(size)
        found.append(np.argsort(place[list(parents)], kind="stable"))
    return tuple(found)


@lru_cache(maxsize=8)
def tree_of(levels: AreaLevels) -> Tree:
    """The tree of the areas that can have rows, below all areas together."""
    found = [(0,) * len(levels.there[0])]
    for place, parents in enumerate(levels.parents, start=1):
        position = {area: at for at, area in enumerate(levels.there[place - 1])}
        found.append(tuple(position[parents[area]] for area in levels.there[place]))
    return Tree(tuple(found))


def _parents(levels: Sequence[str], facts: TableFacts) -> list[list[int]]:
    """For each level but the first, for each of its areas the place of the area of the level before in which it lies."""
    found = []
    for coarse, fine in pairwise(levels):
        above = between(fine, coarse, Declared(facts))
        if above is None:
            raise InternalError(f"'{fine}' does not determine '{coarse}'")
        places = {code: place for place, code in enumerate(_codes(coarse, facts))}
        found.append([places[int(above[code])] for code in _codes(fine, facts)])
    return found


def _codes(level: str, facts: TableFacts) -> tuple[int, ...]:
    """The codes of the areas of a level in the order of its labels; null is the number of all codes, and last."""
    own = facts[level]
    if not isinstance(own, CategoryFacts):
        raise InternalError(f"'{level}' has no categories")
    return (*own.kept, own.column.size) if own.nullable else own.kept
