"""Numbers of rows with which rows can have given sums of values, such as sizes of households, inside exact lists.

They are chosen near what the tables say, moved inside the lists, and at last exchanged between classes (docs/proofs/rows.md,
R10).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from discreet.errors import InternalError
from discreet.mechanisms.effects import Axes
from discreet.releases.rows.chosen import (
    Shifted,
    chain_of,
    classes_in,
    estimate_of,
    lists_in,
    move_rows,
    refused,
)
from discreet.releases.rows.division import Classes, divide_in, is_finer, members_of, sums_of
from discreet.releases.rows.layout import count
from discreet.releases.rows.model import Integers, Listed, Start, Targets

__all__ = ["Sums", "choose_sums", "exchange_rows", "raked"]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over rows that classes of cells have, of values that lie in a range in each cell.

    Args:
        classes: of the cells, with the sum of each; in cells of the label -1 rows add nothing.
        low: the least value of a row in each cell.
        high: the largest one.
        stated: True if rows must have the sums, False if they are to come near.
        limits: the least and the largest number of rows of each cell; 0 and 0 where none can be.
        near: about how many rows tables say each cell has, times `PARTS`.
    """

    classes: Classes
    low: Integers
    high: Integers
    stated: bool
    limits: tuple[Integers, Integers]
    near: Integers

    @property
    def totals(self) -> Integers:
        """The sum of each class."""
        if self.classes.totals is None:
            raise InternalError("nobody says what the sums are")
        return self.classes.totals


def choose_sums(targets: Targets, axes: Axes, sums: Sums, named: str, start: Callable[[], Start]) -> Listed:
    """Numbers of rows for cells near what the tables say, with which rows can have a given sum in each class of cells.

    Args:
        targets: everything that rows are fitted to.
        axes: the positions of the axes; the last one says the values.
        sums: the classes, and what a row adds to their sums.
        named: what they are, for messages.
        start: rows with all lists: the numbers begin with theirs where lists cross each other in these axes.

    Raises:
        ArgumentError: none were found that agree with the lists; the message names them.
    """
    high, lists = sums.limits[1], lists_in(targets, axes)
    if classes_in(targets, axes, named) is None:
        made, chain = start(), lists
        begun = count(made.rows, axes, targets.sizes, made.each).ravel()
        found = begun if ((sums.limits[0] <= begun) & (begun <= high)).all() else None
    else:
        chain = chain_of(targets, axes, [], named)
        found = _near(sums, chain, high)
    if found is None:
        raise refused(named, chain)
    shape = targets.shape(axes)
    if not _met(found, sums) and not exchange_rows(found, high, sums, lists, shape[-1]) and sums.stated:
        raise refused(named, chain)
    return Listed(axes, found.reshape(shape), named)


def _near(sums: Sums, chain: Sequence[Classes], high: Integers) -> Integers | None:
    """Numbers inside a chain of lists, moved between cells that are alike in these towards the sums; None where none are."""
    low, wanted = sums.limits[0], sums.near
    inner = _that_can_have(sums, chain, (wanted, high)) if sums.stated else []
    found = None if inner is None else divide_in([*chain[:-1], *inner, chain[-1]], wanted, low, high)
    if found is None:
        return None
    for label, mine in members_of(sums.classes.labels):
        if label >= 0:
            some, ends = Shifted(found[mine], low[mine], high[mine]), (sums.low[mine], sums.high[mine])
            alike = np.unique(chain[-2].labels[mine], return_inverse=True)[1].ravel()
            _between(some, ends, alike, int(sums.totals[label]))
            found[mine] = some.counts
    return found


def _met(found: Integers, sums: Sums) -> bool:
    """True if rows with these numbers in the cells can have the sums, and none are in cells without a class."""
    least, most = (_summed(sums, found * one) for one in (sums.low, sums.high))
    return bool(((least <= sums.totals) & (sums.totals <= most)).all())


def _summed(sums: Sums, values: Integers) -> Integers:
    there = sums.classes.labels >= 0
    found = np.zeros(len(sums.totals), dtype=np.int64)
    np.add.at(found, sums.classes.labels[there], values[there])
    return found


_MOST_BEYOND = 64


def _between(cells: Shifted, ends: tuple[Integers, Integers], alike: Integers, total: int) -> bool:
    """Moves rows between cells that are alike until a total lies between the sums of the least and of the largest values.

    Where a sum cannot be met exactly it is passed, by as little as does it.
    """
    values = [one.astype(np.object_) for one in ends]
    for beyond in range(1 + min(_MOST_BEYOND, int((ends[1] - ends[0]).max(initial=0)))):
        for sign, own in zip((-1, 1), values, strict=True):
            missing = total - int((own * cells.counts).sum())
            if sign * missing > 0:
                move_rows(cells, own, alike, missing + sign * beyond)
        least, most = (int((own * cells.counts).sum()) for own in values)
        if least <= total <= most:
            return True
    return False


def _that_can_have(sums: Sums, chain: Sequence[Classes], cells: tuple[Integers, Integers]) -> list[Classes] | None:
    """The classes with numbers of rows that can have their sums; None where there are none, [] where lists are finer.

    Args:
        sums: of each class.
        chain: the classes of the lists.
        cells: for each cell the wanted number, times `PARTS`, and the largest one.
    """
    classes = sums.classes
    apart = np.where(classes.labels < 0, chain[-2].labels, 0)  # no rows there: a class of its own in each class of lists
    both, of = np.unique(np.stack([classes.labels, apart], axis=1), axis=0, return_inverse=True)
    labels, inner = both[:, 0], Classes(of.ravel(), None)
    if not is_finer(inner, chain[-2]):
        return []
    members = [mine for _, mine in members_of(inner.labels)]
    wanted, (low, high) = sums_of(inner, cells[0]), np.zeros((2, len(labels)), dtype=np.int64)
    for place, label in enumerate(labels.tolist()):
        there = members[place][cells[1][members[place]] > 0]
        if len(there) and label >= 0:
            total, least, most = int(sums.totals[label]), int(sums.low[there].min()), int(sums.high[there].max())
            known, more = (int((sums.limits[0] * one)[there].sum()) for one in (sums.high, sums.low))
            low[place] = -(-max(0, total - known) // most) if most else 0
            high[place] = max(0, total - more) // least if least else cells[1].max()
            low[place] += sums.limits[0][there].sum()
            high[place] += sums.limits[0][there].sum()
        elif label < 0:
            high[place] = cells[1][there].sum()
    first = np.unique(inner.labels, return_index=True)[1]
    wider = [Classes(one.labels[first], one.totals, one.named) for one in chain[:-1]]
    found = divide_in([*wider, Classes(np.arange(len(labels)), None)], wanted, low, high)
    return None if found is None else [Classes(inner.labels, found)]


_RAKED = 6
_FINE = 20  # bits


def raked(targets: Targets, axes: Axes) -> Integers:
    """What tables say of some axes together, times `PARTS`: all of what they say of some of these, else independent.

    Where no table has all of the axes, those that have most of them are met one after the other, a few times over.
    """
    found = estimate_of(targets, axes)
    every = [[place for place, axis in enumerate(axes) if axis in table.axes] for table in targets.tables]
    own = [one for one in every if len(one) > 1 and not any(set(one) < set(other) for other in every)]
    if any(len(one) == len(axes) for one in own) or not own:
        return found
    cells = np.maximum(found, 0).astype(np.object_) << _FINE
    for _ in range(_RAKED):
        for some in map(list, dict.fromkeys(map(tuple, own))):
            wanted = np.maximum(estimate_of(targets, tuple(axes[place] for place in some)), 0).astype(np.object_) << _FINE
            others = tuple(place for place in range(len(axes)) if place not in some)
            now = cells.sum(axis=others, keepdims=True)
            cells = cells * wanted.reshape(now.shape) // np.maximum(now, 1)
    return np.asarray(cells >> _FINE, dtype=np.int64)


# Exchanges between classes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """Cells as kinds times values: each kind is in one class. A last value is that of no row, and is always there.

    Args:
        counts: int64, shape (kinds, values + 1): the numbers of rows, which change.
        low: the least ones.
        high: the largest ones.
        lists: for each list the class of each cell.
        of: for each kind its class.
        ends: for each value, in each cell, the least and the largest that a row adds.
    """

    counts: Integers
    low: Integers
    high: Integers
    lists: tuple[Integers, ...]
    of: Integers
    ends: tuple[Integers, Integers]


def exchange_rows(found: Integers, high: Integers, sums: Sums, lists: Sequence[Classes], values: int) -> bool:
    """Rows of two kinds exchange their values, or one goes to another kind, until all sums can be had; in place.

    Every step keeps all lists and brings the sums nearer, by as much as any exchange with the class that is furthest off. If
    none does, one hands what is missing to a class that has not handed it on since the last one that did.

    Args:
        found: the numbers of rows in the cells, which change.
        high: the largest ones.
        sums: of each class.
        lists: the classes of exact lists, with which every step agrees.
        values: how many levels the last axis has.

    Returns:
        True if rows can have all sums.
    """
    labels = sums.classes.labels.reshape(-1, values)
    of = labels.max(axis=1, initial=-1)
    if ((labels != of[:, None]) & (labels >= 0)).any():
        return False  # the class depends on the value
    kinds, passed = _kinds_of(found, high, sums, lists, values), set[int]()
    while True:
        ends = tuple(_summed(sums, kinds.counts[:, :-1].ravel() * one) for one in (sums.low, sums.high))
        off = _off(sums.totals, *ends)
        if not off.any():
            found[:] = kinds.counts[:, :-1].ravel()
            return True
        order = np.argsort(-off, kind="stable")[: int((off > 0).sum())].tolist()
        if any(_exchanged(kinds, label, sums.totals, ends, set()) for label in order):
            passed.clear()
            continue
        handed = next((label for label in order if _exchanged(kinds, label, sums.totals, ends, {*passed, label})), None)
        if handed is None:
            return False
        passed.add(handed)


def _kinds_of(found: Integers, high: Integers, sums: Sums, lists: Sequence[Classes], values: int) -> _Kinds:
    def with_none(cells: Integers, other: int) -> Integers:
        return np.pad(cells.reshape(-1, values), ((0, 0), (0, 1)), constant_values=other)

    return _Kinds(
        counts=with_none(found, 1 << 40),
        low=with_none(sums.limits[0], 0),
        high=with_none(high, 1 << 41),
        lists=tuple(with_none(one.labels, -1) for one in lists),
        of=sums.classes.labels.reshape(-1, values).max(axis=1),
        ends=(with_none(sums.low, 0), with_none(sums.high, 0)),
    )


def _off(totals: Any, least: Any, most: Any) -> Integers:
    """By how much a total is outside what rows can have."""
    return np.asarray(np.maximum(np.maximum(totals - most, least - totals), 0))


def _exchanged(kinds: _Kinds, label: int, totals: Integers, ends: tuple[Integers, ...], passed: set[int]) -> bool:
    """The exchange between a class and another one that brings both nearest to their sums, as often as it does so.

    With classes in `passed` it may bring them as near as they are, but then with none of these.
    """
    best: tuple[int, tuple[int, int, int, int]] | None = None
    now = _off(totals, *ends)
    others = np.flatnonzero((kinds.of >= 0) & (kinds.of != label) & ~np.isin(kinds.of, [*passed]))
    for mine in np.flatnonzero(kinds.of == label).tolist():
        for gives, takes in product(range(kinds.counts.shape[1]), repeat=2):
            if (
                gives == takes
                or kinds.counts[mine, gives] <= kinds.low[mine, gives]
                or kinds.counts[mine, takes] >= kinds.high[mine, takes]
            ):
                continue
            by = [int(one[mine, takes] - one[mine, gives]) for one in kinds.ends]
            own = int(_off(totals[label], ends[0][label] + by[0], ends[1][label] + by[1])) - int(now[label])
            if own >= 0:
                continue
            there = others[_can_exchange(kinds, mine, others, gives, takes)]
            if not len(there):
                continue
            at = kinds.of[there]
            change = own + _off(totals[at], ends[0][at] - by[0], ends[1][at] - by[1]) - now[at]
            place = int(np.argmin(change))
            if change[place] < bool(passed) and (best is None or change[place] < best[0]):
                best = int(change[place]), (mine, int(there[place]), gives, takes)
    if best is None:
        return False
    _exchange(kinds, best[1], _times(kinds, best[1], now))
    return True


def _can_exchange(kinds: _Kinds, mine: int, others: Integers, gives: int, takes: int) -> Any:
    """Which kinds can take a row of the one value and give one of the other, with all lists as they are."""
    fits = (kinds.counts[others, takes] > kinds.low[others, takes]) & (
        kinds.counts[others, gives] < kinds.high[others, gives]
    )
    for one in kinds.lists:
        straight = (one[others, gives] == one[mine, gives]) & (one[others, takes] == one[mine, takes])
        turned = (one[mine, gives] == one[mine, takes]) & (one[others, takes] == one[others, gives])
        fits &= straight | turned
    return fits


def _times(kinds: _Kinds, step: tuple[int, int, int, int], now: Integers) -> int:
    """How often an exchange can be done before the sum of either class is passed, at least once."""
    mine, other, gives, takes = step
    by = max(abs(int(one[mine, takes] - one[mine, gives])) for one in kinds.ends)
    rows = min(
        kinds.counts[mine, gives] - kinds.low[mine, gives],
        kinds.counts[other, takes] - kinds.low[other, takes],
        kinds.high[mine, takes] - kinds.counts[mine, takes],
        kinds.high[other, gives] - kinds.counts[other, gives],
    )
    either = min(int(now[kinds.of[one]]) for one in (mine, other))
    return max(1, min(int(rows), either // max(1, by)))


def _exchange(kinds: _Kinds, step: tuple[int, int, int, int], times: int) -> None:
    mine, other, gives, takes = step
    for kind, sign in ((mine, 1), (other, -1)):
        kinds.counts[kind, gives] -= sign * times
        kinds.counts[kind, takes] += sign * times
