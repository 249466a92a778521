"""Tables in which one record changes the choice of quantiles the most: the heaps of `heaps`, made of rows of the plan.

They are true neighbours of the plan. After a resize a source is made whose sample has about the wanted heaps; beside exact
totals as many rows change their value as semi-adjacent tables may differ by, and nothing that is published changes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.draws import Kernel
from discreet.audit.heaps import Heaps, shapes
from discreet.audit.pairs import fitting, possible, same_totals
from discreet.audit.tables import Row, Table, candidates, columns_of_plan, describe_row, effects, rows_alike
from discreet.cube.queries import QuantileCodes, QuantileIntervals
from discreet.errors import InternalError
from discreet.mechanisms import ExponentialIntervals, ExponentialQuantiles
from discreet.plan.plan import resize_of
from discreet.quotes.quote import Measured, Quote

__all__ = ["ChoicePair", "choice_pairs", "intervals_around", "is_choice", "law_of_choice", "law_of_intervals"]

_MOST_ROWS = 400

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ChoicePair:
    """Two tables that the guarantee compares, for one query of quantiles.

    Args:
        what: how they differ, in words.
        measured: the query that is attacked.
        columns: what the codes of the rows are of.
        first: a table.
        second: the other one.
        cell: the cell that differs.
        codes: the codes of the heaps, ascending, from the lowest code of the query.
        heap: the code that most records have.
        path: the quantiles that can see the difference, as places among those that are asked.
        around: the choice of intervals around these quantiles, if there is one: values and intervals are attacked together.
    """

    what: str
    measured: Measured
    columns: tuple[str, ...]
    first: Table
    second: Table
    cell: int
    codes: Integers
    heap: int
    path: tuple[int, ...]
    around: tuple[Measured, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """The places where heaps can be made.

    Args:
        cell: the cell.
        rows: rows of that cell by their codes, otherwise alike.
        free: other rows of the cell that a table has, whose code may be any: rows alike for each of them; None where a
            table may have as many rows as it takes.
        fixed: the rows outside of the cell.
    """

    cell: int
    rows: dict[int, Row]
    free: Counter[Row] | None
    fixed: Counter[Row]


def is_choice(one: Measured) -> bool:
    """True if quantiles are chosen."""
    return isinstance(one.query, QuantileCodes)


def law_of_choice(one: Measured) -> ExponentialQuantiles:
    """The choices of the quantiles of a query.

    Raises:
        InternalError: they are not.
    """
    if not isinstance(one.law, ExponentialQuantiles):
        raise InternalError("only a choice can be attacked as one")
    return one.law


def intervals_around(quote: Quote, one: Measured) -> tuple[Measured, ...]:
    """The choice of intervals around the quantiles that a query chooses; none where they are read from a tree."""
    return tuple(
        other for other in quote.measured if isinstance(other.query, QuantileIntervals) and other.query.centres == one.asked
    )


def law_of_intervals(one: Measured) -> ExponentialIntervals:
    """The choices of the intervals of a query.

    Raises:
        InternalError: it chooses none.
    """
    if not isinstance(one.law, ExponentialIntervals):
        raise InternalError("only a choice of intervals can be attacked as one")
    return one.law


def choice_pairs(kernel: Kernel, quote: Quote, one: Measured) -> list[ChoicePair]:
    """Tables worth trying for a choice; none where the public totals leave no code of any row to change."""
    law, columns = law_of_choice(one), columns_of_plan(quote)
    room = _room(kernel, quote, one, columns)
    if room is None:
        return []
    size = _count_records(quote, room)
    found = [
        pair
        for heaps in shapes(law, len(room.rows), size)
        for pair in [_pair(quote, one, columns, room, heaps)]
        if pair is not None and _is_allowed(quote, pair)
    ]
    return list({(pair.first, pair.second, pair.path): pair for pair in found}.values())


def _room(kernel: Kernel, quote: Quote, one: Measured, columns: tuple[str, ...]) -> _Room | None:
    rows = candidates(quote, columns, _MOST_ROWS)
    if quote.beside is not None:
        rows = possible(quote.beside, quote.plan.schema, columns, rows)
    answers = effects(kernel, replace(quote, measured=(one,)), columns, rows)
    column = columns.index(one.query.column) if isinstance(one.query, QuantileCodes) else 0
    cell, known = _rows_by_code(answers, rows, column)
    if len(known) < 2:
        return None
    if quote.beside is None or quote.beside.totals is None:
        return _Room(cell, known, None, Counter())
    first = known[min(known)]
    moved = _count_moved(quote)
    others = next(fitting(quote, columns, ((first,) * moved,) * 2, first, quote.beside), None)
    if others is None:
        return None
    inside = effects(kernel, replace(quote, measured=(one,)), columns, list(others))
    own = {row for row, found in zip(others, inside, strict=True) if found is not None and _cell_of(found) == cell}
    free = Counter({row: times for row, times in others.items() if row in own})
    free[first] += moved
    return _Room(cell, known, free, Counter({row: times for row, times in others.items() if row not in own}))


def _rows_by_code(
    answers: Sequence[list[NDArray[Any]] | None], rows: Sequence[Row], column: int
) -> tuple[int, dict[int, Row]]:
    """The cell of the first row that is in any, and for every code a row that has it and is otherwise like the first."""
    cell, found = -1, dict[int, Row]()
    alike: Row = ()
    for answer, row in zip(answers, rows, strict=True):
        if answer is None or _cell_of(answer) < 0:
            continue
        rest: Row = (*row[:column], *row[column + 1 :])
        if not found:
            cell, alike = _cell_of(answer), rest
        if rest == alike:
            found.setdefault(int(answer[0][0][1]), row)
    return cell, found


def _cell_of(answer: list[NDArray[Any]]) -> int:
    return int(answer[0][0][0]) if len(answer[0]) == 1 else -1


def _count_moved(quote: Quote) -> int:
    """The number of rows that may differ."""
    return rows_alike(quote.plan.neighbours) if quote.beside is None else quote.beside.adjacency.a


def _count_records(quote: Quote, room: _Room) -> int | None:
    """The number of records of the cell in the prepared table; None where they may be as many as it takes."""
    if quote.plan.facts.drawn is not None:
        return quote.plan.facts.rows
    if room.free is not None:
        return room.free.total()
    return quote.plan.neighbours.rows


def _source_rows(quote: Quote, room: _Room, heaps: Heaps) -> int:
    """The number of records of the cell in the source."""
    if room.free is not None:
        return room.free.total()
    if quote.plan.neighbours.rows is not None:
        return quote.plan.neighbours.rows
    resize = resize_of(quote.plan)
    return sum(heaps.counts) if resize is None else ceil(resize.rows / resize.proportion)


def _pair(quote: Quote, one: Measured, columns: tuple[str, ...], room: _Room, heaps: Heaps) -> ChoicePair | None:
    known = sorted(room.rows)
    codes = [known[round(place * (len(known) - 1) / (len(heaps.counts) - 1))] for place in range(len(heaps.counts))]
    counts = _scale(heaps.counts, _source_rows(quote, room, heaps))
    after, moved = list(counts), _count_moved(quote)
    if not quote.plan.neighbours.appears:
        moved = min(moved, counts[heaps.of])
        after[heaps.of] -= moved
    after[heaps.to] += moved
    if moved < 1 or len(set(codes)) < len(codes):
        return None
    first, second = (_table(one, columns, room, codes, numbers) for numbers in (counts, after))
    to, of = (describe_row(quote.plan, columns, room.rows[codes[place]]) for place in (heaps.to, heaps.of))
    many = f"{moved} x " if moved > 1 else ""
    change = f"{many}{to} more" if quote.plan.neighbours.appears else f"{many}{of} replaced by {to}"
    words = f"{change}, beside {' and '.join(map(str, counts))} records at {len(codes)} codes"
    heap = codes[counts.index(max(counts))]
    places = np.array(codes, dtype=np.int64)
    around = intervals_around(quote, one)
    return ChoicePair(words, one, columns, first, second, room.cell, places, heap, heaps.path, around)


def _scale(counts: tuple[int, ...], total: int) -> list[int]:
    """As many records in about the same proportions, none of them without any."""
    if sum(counts) == total:
        return list(counts)
    found = [max(1, round(count * total / sum(counts))) for count in counts]
    largest = found.index(max(found))
    found[largest] += total - sum(found)
    return found if found[largest] > 0 else [0] * len(counts)


def _table(one: Measured, columns: tuple[str, ...], room: _Room, codes: list[int], counts: list[int]) -> Table:
    """The rows of the cell with these codes, and those outside of it."""
    found: Counter[Row] = Counter(room.fixed)
    if room.free is None:
        found.update({room.rows[code]: count for code, count in zip(codes, counts, strict=True) if count})
        return tuple(sorted(found.items(), key=repr))
    place = columns.index(one.query.column) if isinstance(one.query, QuantileCodes) else 0
    left = list(counts)
    for row, times in room.free.items():
        free = times
        for number, code in enumerate(codes):
            taken = min(free, left[number])
            if taken:
                found[*row[:place], room.rows[code][place], *row[place + 1 :]] += taken
            free -= taken
            left[number] -= taken
    return tuple(sorted(found.items(), key=repr))


def _is_allowed(quote: Quote, pair: ChoicePair) -> bool:
    """True if the guarantee compares the two tables."""
    if quote.beside is None:
        return True
    apart = (Counter(dict(pair.first)) - Counter(dict(pair.second))).total()
    return apart <= quote.beside.adjacency.a and same_totals(
        quote.beside, quote.plan.schema, pair.columns, pair.first, pair.second
    )
