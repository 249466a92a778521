"""Data sets to distinguish: neighbours, or semi-adjacent tables with exact totals, whose answers are far apart.

Every pair is a true pair of neighbours of the plan, whatever sensitivities the quote has: these are under test. Among
rows made of ends, middles, cuts and nulls those are taken that move one query the furthest, all of them together, null
against a value, and everything that leads out of the lattice on which a noise lies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from discreet.audit.distances import distances_of, furthest_of
from discreet.audit.draws import Kernel, drawer
from discreet.audit.fitting import fit_table
from discreet.audit.tables import (
    Row,
    Table,
    candidates,
    columns_of_plan,
    cubes_of,
    describe_row,
    effects,
    roots_of,
    rows_alike,
)
from discreet.cube.cube import Cube
from discreet.domain.origins import between, root_of
from discreet.domain.schema import Schema
from discreet.errors import InternalError
from discreet.noise.bits import Bits
from discreet.plan.plan import Plan, resize_of
from discreet.quotes.quote import Quote
from discreet.totals.cells import Cell, label_of, shape_of
from discreet.totals.exact_totals import ExactTotals, alive_cells
from discreet.totals.published import totals_of_counts
from discreet.totals.statements import LinearStatement, RangesStatement, TotalsStatement, has_ranges

__all__ = ["Pair", "fitting", "neighbouring_tables", "possible", "same_totals"]

_Choice = tuple[int, ...]
_Effect = tuple[Row, list[NDArray[Any]]]

_MOST_ROWS = 400
_MOST_BESIDE = {1: 120, 2: 40, 3: 30, 4: 16}
_MOST_GROUP = 300
_MOST_SPANNED = 300


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two tables that the guarantee compares.

    Args:
        what: how they differ, in words.
        columns: what the codes of the rows are of.
        first: a table.
        second: the other one.
        moves: for each measured query what the second answer has more than the first, before any resize; None where
            imputation makes it random.
    """

    what: str
    columns: tuple[str, ...]
    first: Table
    second: Table
    moves: tuple[NDArray[np.float64], ...] | None

    def cubes(self, plan: Plan) -> tuple[Sequence[Cube], Sequence[Cube]]:
        """The cubes that an engine brings for each table."""
        return cubes_of(plan, self.columns, self.first), cubes_of(plan, self.columns, self.second)


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """Rows that the first table has, rows that the second has instead, and the difference that they make.

    `around` is what the other rows of both tables are where a resize draws from them.
    """

    before: tuple[Row, ...]
    after: tuple[Row, ...]
    around: Row
    moves: tuple[NDArray[np.float64], ...] | None


def neighbouring_tables(kernel: Kernel, quote: Quote, bits: Bits) -> list[Pair]:
    """Pairs of tables worth attacking, the most promising ones first."""
    columns = columns_of_plan(quote)
    if quote.beside is None:
        changes = _changes(kernel, quote, columns)
    else:
        changes = _exchanges(kernel, quote, columns, quote.beside, bits)
    pairs = [pair for change in changes for pair in _pairs(quote, columns, change)]
    return list({(pair.first, pair.second): pair for pair in reversed(pairs)}.values())[::-1]


# One person's rows ----------------------------------------------------------------------------------------------------


def _changes(kernel: Kernel, quote: Quote, columns: tuple[str, ...]) -> Iterator[_Change]:
    """One row more, or one row replaced by another, for those that move the answers furthest.

    Where rows only appear, the other side is always the table without the row; it has place 0, as no row.
    """
    rows = candidates(quote, columns, _MOST_ROWS)
    known = _effects(kernel, quote, columns, rows)
    if not known:
        return
    appears = quote.plan.neighbours.appears
    nothing = [np.zeros_like(values) for values in known[0][1]]
    options: list[tuple[tuple[Row, ...], list[NDArray[Any]]]] = [((row,), effect) for row, effect in known]
    if appears:
        options = [((), nothing), *options]
    spread = distances_of(quote, [effect for _, effect in options])
    allowed = np.ones(spread.shape[1:], dtype=bool)
    allowed[1:] = quote.plan.neighbours.replacing == 1
    null = np.array([any(None in row for row in taken) for taken, _ in options])
    resized = resize_of(quote.plan) is not None
    for one, other in furthest_of(spread, allowed, null):
        # After a resize a row that appears takes the place of another one: of the one that is furthest from it.
        place = appears + int(spread.sum(axis=0)[other, appears:].argmax()) if resized and appears else one
        (before, _), (_, less), (after, more) = options[one], options[place], options[other]
        around = (options[place][0] or after)[0]
        moves = tuple(np.subtract(b, a).astype(np.float64) for a, b in zip(less, more, strict=True))
        yield _Change(before, after, around, moves)
    drawn = [row for row in rows if row not in dict(known)]
    if drawn and not resized:
        yield _Change(() if appears else known[0][0:1], tuple(drawn[:1]), known[0][0], None)


def _effects(kernel: Kernel, quote: Quote, columns: tuple[str, ...], rows: list[Row]) -> list[_Effect]:
    """The rows with what they add to the answers, without those that are imputed."""
    found = effects(kernel, quote, columns, rows)
    return [(row, effect) for row, effect in zip(rows, found, strict=True) if effect is not None]


# With exact totals -----------------------------------------------------------------------------------------------------


def _exchanges(
    kernel: Kernel, quote: Quote, columns: tuple[str, ...], exact_totals: ExactTotals, bits: Bits
) -> Iterator[_Change]:
    """A few rows replaced by as many others, so that all totals stay what they are; or all a rows alike by rows alike."""
    size = min(exact_totals.adjacency.a, max(_MOST_BESIDE), quote.plan.neighbours.rows or 1)
    schema = quote.plan.schema
    rows = possible(exact_totals, schema, columns, candidates(quote, columns, _MOST_BESIDE[size]))
    few = len(known := _effects(kernel, quote, columns, rows))
    if not known:
        return
    every = possible(exact_totals, schema, columns, candidates(quote, columns, _MOST_BESIDE[1]))
    known += _effects(kernel, quote, columns, [row for row in every if row not in rows])
    groups = _all_groups(quote, columns, exact_totals, ([row for row, _ in known], few, size))
    spans = [_span(kernel, quote, place, len(values), bits) for place, values in enumerate(known[0][1])]
    best: dict[str, tuple[float, _Choice, _Choice]] = {}
    for members in groups:
        for aim, values in _aims(quote, known, members, spans):
            one, other = np.unravel_index(int(values.argmax()), values.shape)
            so_far = best[aim][0] * (1 + 1e-9) if aim in best else 1e-6
            if values[one, other] > so_far:
                best[aim] = (float(values[one, other]), members[one], members[other])
    for _, before, after in best.values():
        less, more = (_sums(known, chosen) for chosen in (before, after))
        moves = tuple(np.subtract(b, a).astype(np.float64) for a, b in zip(less, more, strict=True))
        first, second = (tuple(known[place][0] for place in chosen) for chosen in (before, after))
        yield _Change(first, second, first[0], moves)


def _all_groups(
    quote: Quote, columns: tuple[str, ...], exact_totals: ExactTotals, rows: tuple[list[Row], int, int]
) -> list[list[_Choice]]:
    """Choices with equal totals: of `size` among the first `few` rows, and of all a rows alike among all."""
    known, few, size = rows
    found = _groups(exact_totals, quote.plan.schema, columns, known[:few], size)
    times = min(exact_totals.adjacency.a, quote.plan.neighbours.rows or 1)
    alike = _groups(exact_totals, quote.plan.schema, columns, known, 1)
    return [*found, *([one * times for one in members] for members in alike)]


def _aims(
    quote: Quote, known: list[_Effect], members: list[_Choice], spans: list[NDArray[np.float64] | None]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """The possible gain of an exchange, and the gain of each pair of choices."""
    sums = [_sums(known, chosen) for chosen in members]
    spread = distances_of(quote, sums)
    together = spread.sum(axis=0)
    yield "all", together
    for place, each in enumerate(spread):
        yield f"query {place}", each
    null = np.array([any(None in known[place][0] for place in chosen) for chosen in members])
    yield "null", np.where(null[:, None] ^ null[None, :], together, 0.0)
    for place, span in enumerate(spans):
        if span is not None:
            yield f"lattice {place}", _outside(span, [one[place] for one in sums])


def _sums(known: list[_Effect], chosen: _Choice) -> list[NDArray[Any]]:
    """The sum that the chosen rows add to each answer."""
    return [np.sum([known[place][1][query] for place in chosen], axis=0) for query in range(len(known[0][1]))]


def _groups(
    exact_totals: ExactTotals, schema: Schema, columns: tuple[str, ...], rows: list[Row], size: int
) -> list[list[_Choice]]:
    """Choices of `size` rows, in groups of equal totals."""
    marks = [_marks(exact_totals, schema, columns, row) for row in rows]
    groups: dict[object, list[_Choice]] = defaultdict(list)
    for chosen in combinations_with_replacement(range(len(rows)), size):
        total: Counter[object] = Counter()
        for place in chosen:
            total.update(marks[place])
        groups[frozenset((key, count) for key, count in total.items() if count)].append(chosen)
    return [members[:_MOST_GROUP] for members in groups.values() if len(members) > 1]


def _marks(exact_totals: ExactTotals, schema: Schema, columns: tuple[str, ...], row: Row) -> dict[object, int]:
    """The amount that a row adds to each published number."""
    found: dict[object, int] = {}
    for number, part in enumerate(exact_totals.invariants.parts):
        cell = _cell(schema, columns, row, part.columns)
        if isinstance(part, TotalsStatement) and (part.only is None or cell in part.only):
            found[number, cell] = 1
        if isinstance(part, RangesStatement) and (totals := exact_totals.totals) and totals.is_exact(part, cell, schema):
            found[number, cell] = 1  # a published range of one count is a total
        if isinstance(part, LinearStatement):
            for name, weights in zip(part.names, part.rows, strict=True):
                found[number, name] = dict(weights).get(cell, 0)
    return found


def _cell(schema: Schema, columns: tuple[str, ...], row: Row, of: tuple[str, ...]) -> Cell:
    codes = dict(zip(columns, row, strict=True))
    levels = ((name, root_of(name, schema)) for name in of)
    found = ((name, _below(schema, root, name)[_level(schema, root, codes[root])]) for name, root in levels)
    return tuple(label_of(schema[name], int(level)) for name, level in found)


def _below(schema: Schema, root: str, name: str) -> NDArray[np.int64]:
    """For each level of a column of the source the level of the column, which is that one or follows from it."""
    levels = between(root, name, schema)
    return np.arange(schema[name].size + 1) if levels is None else levels


def _level(schema: Schema, name: str, code: int | None) -> int:
    return schema[name].size if code is None else code


def possible(exact_totals: ExactTotals, schema: Schema, columns: tuple[str, ...], rows: list[Row]) -> list[Row]:
    """The rows that a table with these totals can have, according to the public numbers."""
    names = roots_of(exact_totals.invariants.columns, schema)
    alive = alive_cells(exact_totals, schema, names)
    places = [(name, columns.index(name)) for name in names]
    return [row for row in rows if alive[tuple(_level(schema, name, row[place]) for name, place in places)]]


def _span(kernel: Kernel, quote: Quote, place: int, size: int, bits: Bits) -> NDArray[np.float64] | None:
    """An orthonormal basis of all that the noise of a query was seen to move; None where it is not tied to a lattice."""
    one = quote.measured[place]
    if one.law.everywhere or size > _MOST_SPANNED:
        return None
    runs = 2 * size + 50
    draw = drawer(kernel, replace(quote, measured=(one,)), [np.arange(size)], runs)
    drawn = np.concatenate(list(draw.run_repeatedly([np.zeros(size, dtype=np.int64)], runs, bits)))
    _, values, basis = np.linalg.svd(drawn, full_matrices=False)
    return np.asarray(basis[values > 1e-9 * max(values.max(initial=0.0), 1.0)])


def _outside(span: NDArray[np.float64], vectors: list[NDArray[Any]]) -> NDArray[np.float64]:
    """The distance of each pair of vectors, apart from the span."""
    matrix = np.stack([vector.astype(np.float64) for vector in vectors])
    rest = matrix - matrix @ span.T @ span
    return np.asarray(cdist(rest, rest))


# From a change to two tables -------------------------------------------------------------------------------------------


def _pairs(quote: Quote, columns: tuple[str, ...], change: _Change) -> Iterator[Pair]:
    """The change of all rows of a person, in the tables around it that are allowed and worth trying."""
    plan = quote.plan
    times = rows_alike(plan.neighbours)
    moves = None if change.moves is None else tuple(times * move for move in change.moves)
    before, after = (Counter({row: times * n for row, n in Counter(rows).items()}) for rows in (change.before, change.after))
    words = _words(quote, columns, change, times)
    for others in _surroundings(quote, columns, change, times):
        first, second = (tuple(sorted((others + part).items(), key=repr)) for part in (before, after))
        pair = Pair(words, columns, first, second, moves)
        if quote.beside is None or same_totals(quote.beside, plan.schema, columns, first, second):
            yield pair


def _surroundings(quote: Quote, columns: tuple[str, ...], change: _Change, times: int) -> Iterator[Counter[Row]]:
    """The rows that both tables have."""
    plan = quote.plan
    row = change.around
    if plan.neighbours.rows is not None:
        rest = plan.neighbours.rows - times * len(change.before)
        if quote.beside is None:
            if rest >= 0:
                yield Counter({row: rest})
            return
        if quote.beside.totals is not None or has_ranges(quote.beside.invariants.parts):
            yield from fitting(quote, columns, (change.before, change.after), change.around, quote.beside)
            return
        shown = list(dict.fromkeys([*change.before, *change.after]))
        every = Counter(shown if rest >= len(shown) else ())
        yield every + Counter({row: rest - every.total()})
        return
    resize = resize_of(plan)
    # Enough rows that hardly any place is left to be filled, because a fill would hide the change.
    yield Counter() if resize is None else Counter({row: ceil(resize.rows / resize.proportion)})


def fitting(
    quote: Quote, columns: tuple[str, ...], change: tuple[tuple[Row, ...], ...], around: Row, exact_totals: ExactTotals
) -> Iterator[Counter[Row]]:
    """The other rows of a table that has the published totals with the rows before a change and with those after it.

    In the columns without totals they are like `around`. No table may be found.
    """
    schema = quote.plan.schema
    names = roots_of(exact_totals.invariants.columns, schema)
    shape = shape_of(names, schema)
    places = [columns.index(name) for name in names]
    least, after = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for counts, rows in zip((least, after), change, strict=True):
        for row in rows:
            counts[tuple(_level(schema, name, row[place]) for name, place in zip(names, places, strict=True))] += 1
    found = fit_table(exact_totals, schema, least.ravel(), (after - least).ravel(), quote.plan.neighbours.rows)
    if found is None:
        return
    others: Counter[Row] = Counter()
    for levels in np.argwhere(found.reshape(shape) > least).tolist():
        codes = list(around)
        for name, place, level in zip(names, places, levels, strict=True):
            codes[place] = None if level == schema[name].size else level
        others[tuple(codes)] += int(found.reshape(shape)[tuple(levels)] - least[tuple(levels)])
    yield others


def same_totals(exact_totals: ExactTotals, schema: Schema, columns: tuple[str, ...], first: Table, second: Table) -> bool:
    """True if both tables have the same published numbers, computed as in a release."""
    names = roots_of(exact_totals.invariants.columns, schema)
    shape = shape_of(names, schema)
    published = []
    for table in (first, second):
        keys = [[_level(schema, name, row[columns.index(name)]) for name in names] for row, _ in table]
        counts = np.array([times for _, times in table], dtype=np.int64)
        cells = np.array(keys).reshape(-1, len(shape)), counts
        try:
            published.append(totals_of_counts(exact_totals.invariants, schema, cells, names))
        except InternalError:  # it breaks a rule of the world: it is not a table at all
            return False
    return published[0] == published[1] and exact_totals.totals in (None, published[0])


def _words(quote: Quote, columns: tuple[str, ...], change: _Change, times: int) -> str:
    """The change for people."""
    before, after = (Counter(rows) for rows in (change.before, change.after))
    lost, won = before - after, after - before
    shown = [_list_rows(quote, columns, part, times) for part in (lost, won)]
    if not lost:
        return f"{shown[1]} added"
    return f"{shown[0]} replaced by {shown[1]}" if won else f"{shown[0]} removed"


def _list_rows(quote: Quote, columns: tuple[str, ...], rows: Counter[Row], times: int) -> str:
    shown = ((count * times, describe_row(quote.plan, columns, row)) for row, count in rows.items())
    return " and ".join(f"{number} x {words}" if number > 1 else words for number, words in shown)
