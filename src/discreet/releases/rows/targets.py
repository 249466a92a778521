"""What a document says of rows, put together: columns, tables, exact lists and empty cells, and another number of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from discreet.domain.neighbours import is_of_persons
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError
from discreet.releases.domains import schema_of
from discreet.releases.measured import blocks_of
from discreet.releases.recomputed import refuse_made_up
from discreet.releases.rows.axes import Axis, Family, axes_of_block, families_of
from discreet.releases.rows.chosen import choose, whole_levels
from discreet.releases.rows.facts import Facts, Wanted, read_facts
from discreet.releases.rows.model import PARTS, Listed, Root, Target, Targets
from discreet.releases.rows.published import Published, read_published, weights_of

__all__ = ["Described", "begun", "chosen", "described", "finished"]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """Rows as a document describes them.

    Args:
        targets: what they are fitted to.
        families: the columns that they have.
        schema: the columns of the document.
        apart: the pairs of columns that no table tells together, in the order of the document.
        kept: the exact facts and rules that they keep, in words.
        left: exact facts about other rows or columns than those of the tables, in words: rows do not keep them.
        stated: True if the number of rows is exact, False if it is an estimate.
        wanted: facts that are not among the lists of `targets` yet.
    """

    targets: Targets
    families: tuple[Family, ...]
    schema: Schema
    apart: tuple[tuple[str, str], ...]
    kept: tuple[str, ...]
    left: tuple[str, ...]
    stated: bool
    wanted: tuple[Wanted, ...]


def described(document: Mapping[str, Any], each: int = 1) -> Described:
    """The agreeing tables in the document of a release, and everything exact that is about their rows.

    Args:
        document: the document.
        each: how many rows one that is made may stand for.

    Raises:
        ArgumentError: as for `begun`; numbers that a fact demands were not found.
    """
    return finished(begun(document, each))


def chosen(found: Described, some: Callable[[Wanted], bool]) -> Described:
    """With the numbers of rows that some facts demand, in the order of these.

    Raises:
        ArgumentError: none were found.
    """
    targets = found.targets
    for wanted in filter(some, found.wanted):
        targets = replace(targets, lists=(*targets.lists, choose(targets, wanted)))
    return replace(found, targets=targets, wanted=tuple(one for one in found.wanted if not some(one)))


def finished(found: Described) -> Described:
    """With the numbers that all facts demand, and those of columns that are too wide to be drawn.

    Raises:
        ArgumentError: none were found.
    """
    found = chosen(found, lambda _: True)
    targets = found.targets
    for root in targets.roots:
        if targets.is_wide(root) and root.axes[0] not in targets.held:
            targets = replace(targets, lists=(*targets.lists, whole_levels(targets, root)))
    return replace(found, targets=targets)


def begun(document: Mapping[str, Any], each: int = 1) -> Described:
    """The tables and the exact numbers of a document; other facts are wanted.

    Args:
        document: the document.
        each: how many rows one that is made may stand for.

    Raises:
        ArgumentError: it has none, or several statistics of them, or publishes what rows cannot be fitted to; the message
            says what.
    """
    with refuse_made_up():
        persons = is_of_persons(document["guarantee"]["relation"]) and document["plan"]["neighbours"].get("each") != "row"
    if persons:
        raise ArgumentError("release: it counts persons as they are bounded, and rows cannot be fitted to such counts")
    if "files" in document:
        raise ArgumentError(
            "release: its tables are in files, and rows are fitted to the tables of a document; release the areas of a few "
            "levels, or of one part of the country, for rows"
        )
    blocks = blocks_of(document)
    if len(blocks) != 1:
        many = "several statistics of them" if blocks else "none"
        raise ArgumentError(f"release: rows are fitted to tables that agree, and it has {many}; ask for tables(…) once")
    published, schema = read_published(blocks[0], document["noise"]), schema_of(document)
    axes = axes_of_block(blocks[0], document, schema)
    facts = read_facts(document, schema, axes, published.rows)
    families = families_of(axes, document, schema)
    targets = _targets(published, facts, axes, [one.root for one in families], each)
    shown = {name for one in families for name in one.columns or [one.root.name]}
    kept = tuple(told for told, names in facts.kept.items() if names <= shown)
    unseen = tuple(told for told, names in facts.kept.items() if not names <= shown)  # nobody could check them
    apart, left = _apart(targets, facts.wanted, families, schema), (*facts.left, *unseen)
    return Described(targets, tuple(families), schema, apart, kept, left, published.stated, facts.wanted)


def _targets(published: Published, facts: Facts, axes: Sequence[Axis], roots: Sequence[Root], each: int) -> Targets:
    weights, unit = weights_of(published.tables)
    hidden = [place for place, axis in enumerate(axes) if not axis.column]
    classes = [Root("", (place,), np.arange(axes[place].size)[:, None], np.ones(axes[place].size, int)) for place in hidden]
    return Targets(
        roots=(*(_alone(root, published, facts.lists) for root in roots), *classes),
        sizes=tuple(axis.size for axis in axes),
        rows=facts.rows,
        tables=tuple(Target(one.axes, one.counts, own) for one, own in zip(published.tables, weights, strict=True)),
        lists=facts.lists,
        voids=facts.voids,
        unit=unit,
        each=each,
    )


def _alone(root: Root, published: Published, lists: Sequence[Listed]) -> Root:
    """The root with what the tables say of its levels, or a list does: that of its axis of most levels, in equal parts."""
    known = {axis: published.alone[axis] for axis in root.axes if axis < len(published.alone)}
    if not known:
        for one in lists:
            for place, axis in enumerate(one.axes):
                others = tuple(at for at in range(len(one.axes)) if at != place)
                known |= {axis: PARTS * one.counts.sum(axis=others)} if axis in root.axes else {}
    if not known:
        return root
    axis = max(known, key=lambda one: (len(known[one]), -one))
    codes = root.codes[:, root.axes.index(axis)]
    return replace(root, alone=known[axis][codes] // np.bincount(codes)[codes])


def _apart(
    targets: Targets, wanted: Sequence[Wanted], families: Sequence[Family], schema: Schema
) -> tuple[tuple[str, str], ...]:
    """The pairs of columns of two families that no table has, nor columns from which they follow."""
    order = {name: place for place, name in enumerate(schema.columns)}
    told = {}
    for family in families:
        for name, labels in (family.columns or {family.root.name: ()}).items():
            told[name] = {axis for axis in family.root.axes if not labels or _follows(family.root, axis, labels)}
    known: Sequence[Target | Listed | Wanted] = [*targets.tables, *targets.lists, *wanted]
    tables = [{*one.axes} for one in known]
    own = {name: place for place, family in enumerate(families) for name in family.columns or [family.root.name]}
    pairs = combinations(sorted(told, key=order.__getitem__), 2)
    return tuple(
        (one, other)
        for one, other in pairs
        if own[one] != own[other] and not any(told[one] & axes and told[other] & axes for axes in tables)
    )


def _follows(root: Root, axis: int, labels: Sequence[object]) -> bool:
    """True if each level of an axis has one label."""
    codes = root.codes[:, root.axes.index(axis)].tolist()
    return len(set(zip(codes, labels, strict=True))) == len(set(codes))
