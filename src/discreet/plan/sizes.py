"""The limits on the size of a release and of its cubes.

A larger request is refused before anything is spent, and the message names sizes that fit. The limits count cells of public
domains, so that no row decides whether a request is accepted (soundness 5 and 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd, prod
from typing import Protocol

import numpy as np

from discreet.cube.scans import Scan
from discreet.cube.value_paths import KeyAxis, NumberPath
from discreet.domain.codes import NULL
from discreet.domain.columns import Number
from discreet.domain.groups import BinGroup, group_labels
from discreet.domain.imputation import Normal, Uniform
from discreet.domain.neighbours import person_of
from discreet.domain.steps import Clamp, Impute, NumberFacts, TableFacts, Where, facts_of
from discreet.errors import PlanError
from discreet.exact.figures import enumerate_texts
from discreet.exact.numbers import text
from discreet.plan.in_files import MOST_WHOLE_CELLS, areas_in_files
from discreet.plan.layout import Layout, Request, resize_of
from discreet.statistics.base import Room, Statistic, groupings_of
from discreet.statistics.count_tables import cells_of_tables
from discreet.statistics.registry import STATISTICS

__all__ = [
    "MAX_CUBE_CELLS",
    "MAX_DRAWN",
    "MAX_IN_FILES",
    "MAX_RELEASE_CELLS",
    "MOST_WHOLE_CELLS",
    "bytes_in_files",
    "check_cubes",
    "check_release",
    "is_large",
    "rows_in_files",
]

MAX_RELEASE_CELLS = 20_000_000
"""The largest number of cells of a release."""

MAX_IN_FILES = 10**10
"""The largest number of noisy counts of areas in files: some hours, and some hundred GB."""

MAX_DRAWN = 10_000_000
"""The largest number of noisy integers of one statistic that has several in a cell."""

MAX_CUBE_CELLS = 25_000_000
"""The largest number of occupied cells of one cube. A cube has at most one for each cell of its domain, and at most one for
each row. It has the cells of the release, and cells for rows outside its bins."""


class Sized(Request, Protocol):
    """A request with its layout. A plan is one."""

    @property
    def layout(self) -> Layout:
        """The scans of the request."""


_MAX_DOMAIN = 2**62 - 1
_BLOCK = 2**20


def check_release(request: Request) -> None:
    """Checks that the release and each of its statistics are small enough.

    Raises:
        PlanError: too many cells; the message says how many, and names a number that fits.
    """
    facts = request.facts
    sizes = {group.column: len(group_labels(group, facts)) for group in request.group_by}
    cells = prod(sizes.values())
    if cells > MAX_RELEASE_CELLS:
        widest = max(sizes, key=lambda name: sizes[name])
        fit = MAX_RELEASE_CELLS // (cells // sizes[widest])
        advice = f", or coarsen '{widest}', which alone has {sizes[widest]} groups, to at most {fit}" if fit else ""
        raise PlanError(f"group_by: {cells} cells are more than {MAX_RELEASE_CELLS}; group by fewer columns{advice}")
    if not cells:
        raise PlanError("group_by: no group is left, because clamping removed every category")
    filed = areas_in_files(request.answered, facts)
    for statistic in request.answered:
        if statistic is filed:
            _check_filed(request, statistic)
            continue
        _check_fineness(request, statistic, cells, facts)
        _check_large(statistic, cells)


def is_large(request: Sized) -> bool:
    """True if a table of the release has too many rows for its document and is written to files."""
    return request.layout.cells > MOST_WHOLE_CELLS or request.layout.areas is not None


def rows_in_files(request: Sized) -> int:
    """The rows of the tables of a large release, those that its document holds among them."""
    filed = areas_in_files(request.answered, request.facts)
    return request.layout.cells if filed is None else cells_of_tables(groupings_of(filed), request.facts)


def bytes_in_files(request: Sized) -> int:
    """What the files of a large release may need on the disk, with what is there only while it is made.

    A number is 8 bytes and a label 4, before they are packed.
    """
    reading = request.layout.areas
    if reading is None:
        return request.layout.cells * (24 * len(request.answered) + 4 * len(request.group_by))
    (one,) = request.answered
    tables = groupings_of(one)
    printed = sum(cells_of_tables([own], request.facts) * (24 + 4 * len(own)) for own in tables)
    # The measured numbers of a table have one level more along each further group; of all but the last level there are
    # three more numbers for each.
    parts = {frozenset(own[1:]) for own in tables if own and own[0].column == reading.columns[-1]}
    finest = [own for own in parts if not any(own < other for other in parts)]
    width = sum(prod(1 + len(group_labels(group, request.facts)) for group in own) for own in finest)
    *inner, last = map(len, reading.order)
    return printed + 8 * width * (last + 4 * (1 + sum(inner)))


def _check_filed(request: Request, statistic: Statistic) -> None:
    """Checks that a statistic whose tables are written to files is alone, of rows, and has numbers for some files only."""
    many = cells_of_tables(groupings_of(statistic), request.facts)
    begun = f"statistic '{statistic.name}': has {many} numbers"
    if many > MAX_IN_FILES:
        raise PlanError(f"{begun}, more than {MAX_IN_FILES}; take fewer levels or groups")
    if len(request.answered) > 1:
        raise PlanError(
            f"{begun}, more than {MOST_WHOLE_CELLS}, which are written to files: ask for it in a request of its own"
        )
    if person_of(request.neighbours) is not None or request.facts.drawn is not None:
        raise PlanError(
            f"{begun}, more than {MOST_WHOLE_CELLS}, and is read area by area, which tables of persons, samples and "
            "resizes are not; take fewer levels or groups"
        )


def _check_large(statistic: Statistic, cells: int) -> None:
    """Checks that in a large release every statistic has one number, with its interval, for each group."""
    if cells > MOST_WHOLE_CELLS and not statistic.kind.shape.one_number:
        words = [kind.word for kind in STATISTICS if kind.shape.one_number]
        raise PlanError(
            f"statistic '{statistic.name}': has {cells} groups; a release of more than {MOST_WHOLE_CELLS} has "
            f"{', '.join(words[:-1])} and {words[-1]} only: ask for it in a separate request with fewer groups"
        )


def _check_fineness(request: Request, statistic: Statistic, cells: int, facts: TableFacts) -> None:
    """Checks that noise for every value of a statistic, such as the bins of a histogram, in every group can be drawn."""
    places = statistic.kind.shape.places(statistic, facts)
    if cells * places <= MAX_DRAWN:
        return

    def coarser(column: str, most: int) -> str:
        known = facts[column]
        bounds = (known.low, known.high) if isinstance(known, NumberFacts) else (0, 0)
        return _describe(request, _coarsen(request, column, bounds, most), "or ")

    fit = MAX_DRAWN // cells
    few = fit > 1 and cells <= MOST_WHOLE_CELLS
    room = Room(places, fit, min(MAX_DRAWN // places, MOST_WHOLE_CELLS), MAX_DRAWN, few, coarser)
    raise PlanError(
        f"statistic '{statistic.name}': {cells} groups with {places} values each are {cells * places}, more than "
        f"{MAX_DRAWN}; {statistic.kind.shape.advice(statistic, room)}"
    )


def check_cubes(request: Request, layout: Layout) -> None:
    """Checks that each cube is small enough.

    Raises:
        PlanError: a cube can have too many cells; the message says how many, and names coarser steps that fit.
    """
    large = [(part, limit) for part in layout.scans if (limit := _find_limit(request, part))]
    if not large:
        return
    part, limit = large[0]
    because = f", and is one table because {layout.because}" if len(layout.scans) == 1 and layout.because else ""
    steps: dict[str, int] = {}
    for one, most in large:
        for name, times in _find_factors(request, one, most).items():
            steps[name] = max(times, steps.get(name, 1))
    enough = all(_domain(one, steps) <= most for one, most in large)
    advice = "ask for fewer columns in one release, for fewer groups, for fewer bins, or within tighter clamps"
    raise PlanError(
        f"the joint table of {', '.join(part.columns)} has {part.domain} cells, more than {limit}"
        f"{because}; "
        f"{advice}{_describe(request, steps if enough else {}, 'or ')}"
    )


def _find_limit(request: Request, part: Scan) -> int:
    """The largest number of cells that the domain of the scan may have if it has more; 0 if it is small enough."""
    resize, rows = resize_of(request), facts_of(request.schema, request.neighbours).rows
    if rows is not None:
        rows = rows if resize is None else max(rows, resize.rows)
    occupied = part.domain if rows is None else min(part.domain, rows)
    if occupied > MAX_CUBE_CELLS:
        return MAX_CUBE_CELLS
    return _MAX_DOMAIN if part.domain > _MAX_DOMAIN else 0


def _find_factors(request: Request, part: Scan, limit: int) -> dict[str, int]:
    """The columns whose steps must grow, with the factor of each; empty if no factors are enough."""
    fine = [axis for axis in part.axes if isinstance(axis.path.column, Number) and axis.cuts is None]
    others = part.domain // prod(_size(axis, 1) for axis in fine)
    least, most = 2, max((_size(axis, 1) for axis in fine), default=2)
    while least < most:  # the largest number of values to which all of them can be cut down
        middle = (least + most + 1) // 2
        small = others * prod(min(_size(axis, 1), middle + 1) for axis in fine) <= limit
        least, most = (middle, most) if small else (least, middle - 1)
    found: dict[str, int] = {}
    for axis in fine:
        found |= _coarsen(request, axis.name, _bounds(axis), least)
    return found


def _bounds(axis: KeyAxis) -> tuple[int, int]:
    return (axis.path.low, axis.path.high) if isinstance(axis.path, NumberPath) else (0, 0)


def _size(axis: KeyAxis, times: int) -> int:
    """The number of labels of a fine numeric axis once its step is `times` times as large."""
    low, high = _bounds(axis)
    return (high - low) // times + 1 + (axis.path.null_target == NULL)


def _domain(part: Scan, steps: Mapping[str, int]) -> int:
    grown = [axis for axis in part.axes if axis.name in steps and axis.cuts is None]
    return part.domain // prod(_size(axis, 1) for axis in grown) * prod(_size(axis, steps[axis.name]) for axis in grown)


def _coarsen(request: Request, name: str, bounds: tuple[int, int], most: int) -> dict[str, int]:
    """The smallest factor of the column's step that leaves at most `most` values between the bounds; empty if none does.

    All bounds and edges that the request names must be on the grid of the larger step too.
    """
    column, (low, high) = request.schema[name], bounds
    if high - low + 1 <= most or most < 2 or not isinstance(column, Number):
        return {}
    grid = gcd(column.size - 1, *_list_codes(request, name, column))
    whole = (high - low) // grid
    # A factor of the grid leaves whole·(grid/factor) + 1 values.
    first = min((most - 1) // whole, grid)
    for start in range(first, 0, -_BLOCK):
        divisors = np.arange(start, max(start - _BLOCK, 0), -1, dtype=np.int64)
        divides = np.flatnonzero(grid % divisors == 0)
        if len(divides):
            return {name: grid // int(divisors[divides[0]])}
    return {}


def _list_codes(request: Request, name: str, column: Number) -> list[int]:
    """The codes of all bounds and edges of a column that the request names."""
    codes: list[int] = []
    for step in request.steps:
        if isinstance(step, Clamp | Where) and step.column == name:
            codes += [step.low, step.high]
        if isinstance(step, Impute) and step.column == name and isinstance(step.law, Uniform | Normal):
            ends = (step.law.lower, step.law.upper)
            codes += [column.code(end, "bound") for end in ends if end is not None]
    tables = (grouping for one in request.answered for grouping in groupings_of(one))
    for group in [*request.group_by, *(group for grouping in tables for group in grouping)]:
        if isinstance(group, BinGroup) and group.column == name:
            codes += group.edges
    return codes


def _describe(request: Request, steps: Mapping[str, int], start: str) -> str:
    """The coarser steps, after a comma; empty if there are none."""
    shown = []
    for name, times in steps.items():
        column = request.schema[name]
        if isinstance(column, Number):
            shown.append(f"step={text(column.step * times)} for '{name}'")
    if not shown:
        return ""
    return f", {start}declare a coarser step: {enumerate_texts(shown)}"
