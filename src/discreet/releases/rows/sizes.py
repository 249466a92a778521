"""Sizes of households: the ranges that a column says, numbers of households with room for all persons, and each size.

Proof: docs/proofs/rows.md, R10.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.columns import Category, Number
from discreet.errors import ArgumentError, InternalError, printed
from discreet.mechanisms.effects import Axes
from discreet.releases.rows.axes import number_bounds
from discreet.releases.rows.chosen import empty_cells
from discreet.releases.rows.division import Classes, divide, members_of
from discreet.releases.rows.labels import Labelled, with_axes
from discreet.releases.rows.model import PARTS, Integers, Start, Void
from discreet.releases.rows.sums import Sums, choose_sums, raked
from discreet.releases.rows.targets import Described, chosen, finished
from discreet.releases.rows.words import Words

__all__ = ["MOST_CELLS", "SIZES", "Demand", "SizeColumn", "Sizes", "check_largest", "codes_of", "sizes_of", "with_sizes"]

MOST_CELLS = 1 << 18
SIZES = "sizes of households"
_LARGEST = 10**6
_OPEN = re.compile(r"([0-9]{1,7})(\+?)")


@dataclass(frozen=True, slots=True)
class SizeColumn:
    """The column of sizes, and how many persons live in the largest households, where it does not say that."""

    name: str
    largest: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """How many persons there are of which kind.

    Args:
        told: the axes of persons that say the kind.
        classes: of the cells of these axes, with the number of persons of each.
        stated: True if these numbers are exact, False for an estimate, next to which there may be as many as sizes say.
    """

    told: Sequence[Labelled]
    classes: Classes
    stated: bool


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Which sizes households can have.

    Args:
        axes: the positions of the axes that say it.
        shape: the numbers of their levels.
        ends: for each cell of these axes the least and the largest size.
        demand: the classes of the cells with the number of persons of each; -1 where there are none.
    """

    axes: Axes
    shape: tuple[int, ...]
    ends: tuple[Integers, Integers]
    demand: Classes


def check_largest(largest: object) -> int | None:
    """The largest size, if one is given.

    Raises:
        ArgumentError: anything but a whole number from 1 to 10^6.
    """
    if largest is None or (type(largest) is int and 1 <= largest <= _LARGEST):
        return largest if isinstance(largest, int) else None
    raise ArgumentError(
        f"largest={printed(largest)}: must be a whole number from 1 to {_LARGEST:,}, the persons of a household"
    )


def with_sizes(
    document: Mapping[str, Any],
    places: Described,
    demand: Demand,
    column: SizeColumn,
    start: Callable[[Described], Start],
) -> tuple[Described, Sizes]:
    """Households with a list of their sizes, in which there is room for all persons, and these sizes.

    Args:
        document: of the households.
        places: what it says.
        demand: how many persons there are of which kind.
        column: the one of sizes.
        start: makes households without this list, where exact lists of them cross each other in its axes.

    Raises:
        ArgumentError: it is not a column of sizes; too many cells; none were found.
    """
    size = column.name
    names = dict.fromkeys([*(name for one in demand.told for name in one.names), size])
    places, axes = with_axes(places, [*names])
    values = next((one for one in axes if size in one.names), None)
    if values is None:
        raise ArgumentError(f"size='{size}': its tables do not tell its values apart; count households by it")
    axes = [*(one for one in axes if one is not values), values]
    labels = [one[values.names.index(size)] for one in values.labels]
    ranges = _ranges_of(document, places, column, labels)
    shape = tuple(len(one.labels) for one in axes)
    if prod(shape) > MOST_CELLS:
        raise ArgumentError(f"size='{size}': totals of persons and sizes have more than {MOST_CELLS:,} cells together")
    _check_room(places.targets.rows, [one for one in ranges if one], demand, column.largest)
    at, ends = _cells_of(axes, demand.told, size, dict(zip(labels, ranges, strict=True)))
    classes = Classes(np.where(at < 0, -1, demand.classes.labels[at]), demand.classes.totals)
    _check_known(places, values.axis, [one is None for one in ranges], size)
    unknown = Void((values.axis,), np.array([one is None for one in ranges]), SIZES)
    targets = replace(places.targets, voids=(*places.targets.voids, unknown))
    sized = {*targets.root_of(values.axis).axes}
    places = chosen(replace(places, targets=targets), lambda one: bool(one.sums) or not sized & {*one.axes})
    targets, own = places.targets, tuple(one.axis for one in axes)
    nobody = Void(own, ((classes.labels < 0) & (ends[1] > 0)).reshape(shape), SIZES)
    near = raked(targets, own)
    sums = Sums(classes, *ends, demand.stated, _limits(places, own, nobody.empty, near), near.ravel())
    early = replace(places, targets=replace(targets, voids=(*targets.voids, nobody)))
    listed = choose_sums(targets, own, sums, SIZES, lambda: start(finished(early)))
    targets = replace(targets, lists=(*targets.lists, listed))
    found = finished(replace(places, targets=targets, kept=(*places.kept, SIZES)))
    return found, Sizes(own, shape, ends, classes)


def _check_room(homes: int, ranges: Sequence[tuple[int, int]], demand: Demand, largest: int | None) -> None:
    """Raises ArgumentError if so many households cannot have all persons, whatever their sizes."""
    low, high = min((one[0] for one in ranges), default=0), max((one[1] for one in ranges), default=0)
    persons = 0 if demand.classes.totals is None else int(demand.classes.totals.sum())
    if demand.stated and not homes * low <= persons <= homes * high:
        raise ArgumentError(
            f"release: {homes:,} households of {low:,} to {high:,} persons are not those of {persons:,} persons; take two "
            f"releases of one population{_more_room(homes, persons, largest) if persons > homes * high else ''}"
        )


def _more_room(homes: int, persons: int, largest: int | None) -> str:
    """What gives households room for more persons, in words."""
    if largest is None:
        return ", and give largest= (--largest) where the greatest size has no end"
    return f", or a largest= (--largest) of at least {-(-persons // homes):,}, if that is public knowledge"


def _check_known(places: Described, axis: int, unknown: Sequence[bool], size: str) -> None:
    """Raises ArgumentError if a list has households whose size is null."""
    for one in places.targets.lists:
        if axis in one.axes and np.compress(unknown, one.counts, axis=one.axes.index(axis)).any():
            raise ArgumentError(
                f"size='{size}': {one.named} have households of which no size is known, and each needs one; ask for tables "
                f"after complete({{'{size}': …}}), or publish these totals less"
            )


def _limits(places: Described, axes: Axes, nobody: NDArray[np.bool_], near: Integers) -> tuple[Integers, Integers]:
    """The least and the largest number of households in each cell, by facts about these cells, or about all of some of them.

    Where a fact says that there are some in all of several cells, there is one in that of these which tables say most of.
    """
    shape = places.targets.shape(axes)
    low = np.zeros(shape, dtype=np.int64)
    high = np.where(empty_cells(places.targets, axes) | nobody, 0, places.targets.rows)
    for one in places.wanted:
        if not {*one.axes} <= {*axes}:
            continue
        own = [axes.index(axis) for axis in one.axes]
        along = [size if place in own else 1 for place, size in enumerate(shape)]
        least, most = (each.transpose(np.argsort(own)).reshape(along) for each in (one.low, one.high))
        high = np.minimum(high, most)
        if len(own) == len(axes):
            low = np.maximum(low, least)
            continue
        others = tuple(place for place in range(len(axes)) if place not in own)
        told = np.where(high > 0, np.maximum(near, 0) + 1, 0)
        first = told == told.max(axis=others, keepdims=True)
        low = np.maximum(low, first & (first.cumsum(axis=others[-1]) == 1) & (least > 0) & (told > 0))
    return low.ravel(), high.ravel()


def _cells_of(
    axes: Sequence[Labelled], told: Sequence[Labelled], size: str, ranges: dict[Any, tuple[int, int] | None]
) -> tuple[Integers, tuple[Integers, Integers]]:
    """For each cell of the axes of households the cell of those of persons, -1 where these have none, and its sizes."""
    names = [name for one in axes for name in one.names]
    known = {
        tuple(label for labels in cell for label in labels): place
        for place, cell in enumerate(product(*(one.labels for one in told)))
    }
    others = [names.index(name) for one in told for name in one.names]
    at, ends = [], []
    for cell in product(*(one.labels for one in axes)):
        flat = [label for labels in cell for label in labels]
        at.append(known.get(tuple(flat[place] for place in others), -1))
        ends.append(ranges[flat[names.index(size)]] or (0, 0))
    low, high = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return np.array(at, dtype=np.int64), (low, high)


# The column -----------------------------------------------------------------------------------------------------------


def _ranges_of(
    document: Mapping[str, Any], places: Described, asked: SizeColumn, labels: Sequence[Any]
) -> list[tuple[int, int] | None]:
    """For each level the least and the largest size, None for null; the greatest value ends at the largest size.

    Raises:
        ArgumentError: a column of other things than sizes; an open end without a largest size, or one above it.
    """
    size, largest, column = asked.name, asked.largest, places.schema[asked.name]
    if isinstance(column, Number):
        found = [_range_of_number(size, column, one) for one in labels]
        end = int(column.value(number_bounds(document, size, column)[1]))
        top = next((one for one in found if one and one[1] == end), (end, end))
    elif isinstance(column, Category):
        read = {one: _range_of_label(size, one) for one in column.values}
        found = [None if one is None else read[one][:2] for one in labels]
        *others, (*ends, opened) = sorted(read.values())
        top = ends[0], ends[1]
        if any(one[2] for one in others):
            raise ArgumentError(f"size='{size}': only its greatest value may be open, such as '6+'")
        if opened and largest is None:
            raise ArgumentError(
                f"size='{size}': '{top[0]}+' has no end; give largest= (--largest), which no household exceeds, by public "
                "knowledge"
            )
    else:
        raise _no_size(size)
    if largest is not None and largest < top[0]:
        raise ArgumentError(
            f"largest={largest}: must be at least {top[0]}, the least size of the greatest value of '{size}'"
        )
    return [(one[0], largest) if one == top and largest is not None else one for one in found]


def _range_of_label(size: str, label: Any) -> tuple[int, int, bool]:
    """The least and the largest size of a category, and whether it has no end."""
    told = _OPEN.fullmatch(label) if isinstance(label, str) else None
    if type(label) is int and label >= 0:
        return label, label, False
    if told is None:
        raise _no_size(size)
    return int(told[1]), int(told[1]), told[2] == "+"


def _range_of_number(size: str, column: Number, ranges: tuple[tuple[int, int], ...]) -> tuple[int, int] | None:
    """The least and the largest size of a level of a number; None for null."""
    if column.step != 1 or column.lower.denominator != 1:
        raise _no_size(size)
    if not ranges:
        return None
    if len(ranges) > 1:
        raise ArgumentError(
            f"size='{size}': exact facts tell single sizes apart inside a bin; count by it in bins that begin and end there"
        )
    low, high = (int(column.value(code)) for code in ranges[0])
    if low < 0:
        raise _no_size(size)
    return low, high


def _no_size(size: str) -> ArgumentError:
    return ArgumentError(
        f"size='{size}': must be a category of whole numbers from 0 on, the greatest of which may be open as '6+' is, or a "
        "number of whole numbers from 0 on"
    )


# Each household -------------------------------------------------------------------------------------------------------


def sizes_of(sizes: Sizes, start: Start, words: Words) -> Integers:
    """The size of each household: in the range of its cell, and as many persons as there are in each class together.

    Sizes are drawn evenly from their ranges, and then all of a class are moved alike (`division.divide`).
    """
    cells = np.ravel_multi_index(tuple(start.rows[:, axis] for axis in sizes.axes), sizes.shape)
    low, high = (one[cells] for one in sizes.ends)
    if (low == high).all():
        return np.asarray(low)
    drawn, found = low + words.below(high - low + 1), np.zeros(len(cells), dtype=np.int64)
    of, totals = sizes.demand.labels[cells], sizes.demand.totals
    if totals is None:
        raise InternalError("nobody says how many persons there are")
    for label, mine in members_of(of):
        within = min(max(int(totals[label]), int(low[mine].sum())), int(high[mine].sum()))
        some = divide(PARTS * drawn[mine], within, low[mine], high[mine])
        if some is None:
            raise InternalError("sizes that have room for all persons are none")
        found[mine] = some
    return found


def codes_of(document: Mapping[str, Any], places: Described, size: str, sizes: Integers) -> dict[str, Integers]:
    """The codes of the column of sizes, where it is a number; a size beyond its bound is at the bound."""
    column = places.schema[size]
    if not isinstance(column, Number):
        return {}
    return {size: np.minimum(sizes - int(column.lower), number_bounds(document, size, column)[1])}
