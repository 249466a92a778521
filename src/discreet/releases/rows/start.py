"""Where the sweeps start: rows that have all exact lists and are in no empty cell, otherwise one column after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from discreet.errors import ArgumentError
from discreet.releases.rows.ahead import Condition, levels_allowed, look_ahead
from discreet.releases.rows.fit import Sweeps
from discreet.releases.rows.joined import Joined, join_lists
from discreet.releases.rows.layout import count
from discreet.releases.rows.model import PARTS, Integers, Listed, Root, Start, Target, Targets
from discreet.releases.rows.words import Words

__all__ = ["broken_facts", "start_rows"]

_WIDE = 1 << 24
_CELLS = 1 << 22  # levels of rows that are looked at together
_CHUNKS = 500
_MENDING = ((Fraction(2), 40), (Fraction(20), 60))
"""Inverse temperatures at which rows look for lists that are not met yet, and how often; a deviation of one row costs 1."""


def start_rows(targets: Targets, words: Words) -> Start:
    """Rows with the exact lists and without any in an empty cell; what nothing exact says is drawn column by column.

    Args:
        targets: everything that rows are fitted to.
        words: the generator.

    Raises:
        ArgumentError: none were found; the message says what they would have to meet.
    """
    joined, apart = join_lists(targets, words)
    many = np.ones(targets.rows, dtype=np.int64)
    if targets.each > 1:
        joined, many = _bundled(targets, joined, words)
    return _mended(targets, Start(_completed(targets, joined, len(many), words), many), apart, words)


def broken_facts(targets: Targets, start: Start) -> list[str]:
    """The lists that rows do not have, and the rules that one of them breaks; none for rows that may be given away.

    A row with levels of one column that do not go together has no such level in the file, and is in another cell there.
    """
    sizes, rows = targets.sizes, start.rows
    lists = [one.named for one in targets.lists if (count(rows, one.axes, sizes, start.each) != one.counts).any()]
    voids = [one.named for one in targets.voids if one.empty[tuple(rows[:, axis] for axis in one.axes)].any()]
    apart = [
        f"levels of {one.name} that go together"
        for one in targets.roots
        if (rows[:, list(one.axes)] != one.codes[rows[:, one.axes[0]]]).any()
    ]
    return list(dict.fromkeys([*lists, *voids, *apart]))


def _bundled(targets: Targets, joined: Joined, words: Words) -> tuple[Joined, Integers]:
    """Rows that stand for several ones that are alike in everything known, in a random order, and for how many.

    For each of them there is one that stands for itself, so that small numbers can be met too.
    """
    keys = np.zeros(targets.rows, dtype=np.int64)
    for axis, levels in joined.items():
        keys = np.unique(keys * targets.sizes[axis] + levels, return_inverse=True)[1].ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    pairs = -(-counts // (1 + targets.each))
    rest = counts - pairs
    cell = np.repeat(np.arange(len(counts)), 2 * pairs)
    place = np.arange(len(cell)) - np.repeat(2 * (np.cumsum(pairs) - pairs), 2 * pairs)
    many = np.where(place < pairs[cell], rest[cell] // pairs[cell] + (place < rest[cell] % pairs[cell]), 1)
    cell, many = cell[many > 0], many[many > 0]
    order = words.shuffle(len(cell))
    return {axis: levels[first[cell[order]]] for axis, levels in joined.items()}, many[order]


# Columns one by one ---------------------------------------------------------------------------------------------------


def _completed(targets: Targets, joined: Joined, many: int, words: Words) -> Integers:
    """So many rows with a level on every axis: of roots that lists do not say, with look-ahead on the empty cells."""
    rows = np.zeros((many, len(targets.sizes)), dtype=np.int64)
    for axis, levels in joined.items():
        rows[:, axis] = levels
    free = [root for root in targets.roots if root.axes[0] not in joined]
    order = [*sorted(joined), *(root.axes[0] for root in free)]
    sizes = [targets.sizes[axis] for axis in order]
    links = [_link(targets, root, axis, order) for root in free for axis in root.axes if axis in joined]
    ahead, inside = look_ahead(sizes, [*links, *_conditions(targets, order)]), look_ahead(sizes, links)
    for root in free:
        place, alone = order.index(root.axes[0]), _shares(root.alone)
        if not ahead[place]:
            levels = words.choose(np.broadcast_to(np.cumsum(alone), (many, root.levels)))
            rows[:, list(root.axes)] = root.codes[levels]
            continue
        for some in _blocks(many, root.levels):
            before = rows[some][:, order]
            allowed = levels_allowed(ahead[place], place, root.levels, before)
            lost = ~allowed.any(axis=1)  # the other columns leave nothing: it is mended later
            allowed[lost] = levels_allowed(inside[place], place, root.levels, before[lost])
            weights = np.where(allowed, alone, 0)
            weights = np.where(weights.any(axis=1, keepdims=True), weights, allowed)
            rows[some, list(root.axes)] = root.codes[words.choose(np.cumsum(weights, axis=1))]
    return rows


def _blocks(rows: int, levels: int) -> Iterator[slice]:
    size = max(1, _CELLS // levels)
    return (slice(low, min(low + size, rows)) for low in range(0, rows, size))


def _link(targets: Targets, root: Root, axis: int, order: Sequence[int]) -> Condition:
    """A level of the root goes with the level of its axis that the row has already; some may go with none."""
    codes = root.codes[:, root.axes.index(axis)]
    scope = (order.index(axis), order.index(root.axes[0]))
    return Condition(scope, np.arange(targets.sizes[axis])[:, None] == codes)


def _conditions(targets: Targets, order: Sequence[int]) -> Iterator[Condition]:
    """The empty cells, by the own levels of their roots."""
    for one in targets.voids:
        roots = sorted({targets.root_of(axis).axes[0] for axis in one.axes}, key=order.index)
        shape = [targets.sizes[axis] for axis in roots]
        if prod(shape) > _CELLS:
            continue
        codes = []
        for axis in one.axes:
            root = targets.root_of(axis)
            along = [-1 if other == root.axes[0] else 1 for other in roots]
            codes.append(root.codes[:, root.axes.index(axis)].reshape(along))
        empty = np.broadcast_to(one.empty[tuple(codes)], shape)
        yield Condition(tuple(map(order.index, roots)), ~empty)


def _shares(counts: Integers) -> Integers:
    """Whole weights in proportion to counts above 0, whose sum is below 2^31; equal ones where there is none."""
    above = np.maximum(counts, 0)
    most = int(above.max(initial=0))
    if not most:
        return np.ones_like(counts)
    scale = max(1, -(-most * len(counts) // _WIDE))
    return above // scale if (above // scale).any() else (above > 0).astype(np.int64)


# Mended ---------------------------------------------------------------------------------------------------------------


def _mended(targets: Targets, start: Start, apart: Sequence[Listed], words: Words) -> Start:
    """The same rows after some of them were moved, so that they have all lists and none is in an empty cell.

    Raises:
        ArgumentError: such rows were not found.
    """
    broken = broken_facts(targets, start)
    if not broken:
        return start
    met = tuple(one for one in targets.lists if one not in apart)
    tables = tuple(Target(one.axes, PARTS * one.counts, np.ones_like(one.counts)) for one in apart)
    sweeps = Sweeps.of(replace(targets, tables=tables, lists=met, unit=Fraction(1)), start)
    for beta, times in _MENDING:
        for _ in range(times):
            sweeps.sweep(beta, _CHUNKS, words)
            broken = broken_facts(targets, start)
            if not broken:
                return start
    raise ArgumentError(
        f"release: no rows were found that have {' and '.join(broken)} beside everything else that is exact; to find such "
        "rows is NP-hard in general. Publish one of these less, or ask for the tables alone"
    )
