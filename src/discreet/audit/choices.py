"""Attacks on chosen quantiles: two tables between which the chance of the heap that wins changes the most.

Nearly all records of a cell have one code at an end of the grid, the wanted rank lies just inside of that heap, and the
other records have the code at the other end. One record more there makes the heap less likely by e^(range/2), and everything
else more likely by as much: all of the range is seen, in how many of the chosen codes are those of the heap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.attack import Aim, Found, best_found
from discreet.audit.draws import NOTHING, Kernel
from discreet.audit.tables import Row, Table, candidates, columns_of_plan, cubes_of, described, effects
from discreet.errors import InternalError
from discreet.mechanisms import ExponentialQuantiles
from discreet.neighbours import ReplaceOne
from discreet.noise.bits import Bits
from discreet.plan import resize_of
from discreet.queries import QuantileCodes
from discreet.quotes import Measured, Quote

__all__ = ["ChoicePair", "can_be_attacked", "choice_attack", "choice_pairs"]

_AT_ONCE = 1 << 17
_MOST_ROWS = 400
_OTHERS = 4
_DEPTHS = (1.0, 0.5)  # half of it shows a choice that is sharper than declared
_MOST = 1 << 30

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ChoicePair:
    """Two neighbouring tables for one choice.

    Args:
        what: how they differ, in words.
        measured: the query that is attacked.
        first: what is chosen from in the first table: cells, codes and counts.
        second: the same of the other one.
        cell: the cell that differs.
        heap: the code that most records of that cell have.
    """

    what: str
    measured: Measured
    first: Integers
    second: Integers
    cell: int
    heap: int


def can_be_attacked(quote: Quote, one: Measured) -> bool:
    """Whether the measured query is a choice on a table as it is: neither resized nor beside exact totals."""
    return isinstance(one.query, QuantileCodes) and resize_of(quote.plan) is None and quote.beside is None


def choice_pairs(kernel: Kernel, quote: Quote) -> Iterator[ChoicePair]:
    """For every choice of the quote pairs with the heap at the low end, and with the heap at the high end."""
    attacked = {place: one for place, one in enumerate(quote.measured) if can_be_attacked(quote, one)}
    columns = columns_of_plan(quote)
    rows = candidates(replace(quote, measured=tuple(attacked.values())), columns, _MOST_ROWS) if attacked else []
    for place, one in attacked.items():
        cell, known = _rows_by_code(effects(kernel, replace(quote, measured=(one,)), columns, rows), rows)
        if len(known) < 2:
            continue
        ends = (min(known), max(known)), (max(known), min(known))
        for (heap, other), depth in product(ends, _DEPTHS):
            tables = _tables(quote, one, known[heap], known[other], depth)
            both = [cubes_of(quote.plan, columns, table) for table in tables]
            first, second = (np.asarray(kernel.exact(quote, cubes, NOTHING)[place]) for cubes in both)
            shown = [described(quote.plan, columns, known[code]) for code in (other, heap)]
            yield ChoicePair(f"{shown[0]} more, beside many of {shown[1]}", one, first, second, cell, heap)


def _rows_by_code(answers: Sequence[list[NDArray[Any]] | None], rows: Sequence[Row]) -> tuple[int, dict[int, Row]]:
    """The cell of the first row that is in any, and for every code a row of that cell that has it."""
    cell, found = -1, dict[int, Row]()
    for answer, row in zip(answers, rows, strict=True):
        if answer is not None and len(answer[0]) == 1:
            own, code, _ = map(int, answer[0][0])
            cell = own if cell < 0 else cell
            if own == cell:
                found.setdefault(code, row)
    return cell, found


def _choice(one: Measured) -> tuple[QuantileCodes, ExponentialQuantiles]:
    if not isinstance(one.query, QuantileCodes) or not isinstance(one.law, ExponentialQuantiles):
        raise InternalError("only a choice can be attacked as one")
    return one.query, one.law


def _tables(quote: Quote, one: Measured, heap: Row, other: Row, depth: float) -> tuple[Table, Table]:
    """At depth 1 the rank that is chosen first lies so far inside of the heap that other codes win one time in twenty."""
    query, law = _choice(one)
    q = float(query.at[len(query.at) // 2])
    q = min(max(q, 1 - q), 0.9)
    inside = depth * (log(query.size) + 3) * max(q, 1 - q) / float(law.reach)
    moved, neighbours = quote.plan.neighbours.rows_per_person, quote.plan.neighbours
    if isinstance(neighbours, ReplaceOne):
        few = min(max(int((1 - q) * neighbours.rows - inside), 1), neighbours.rows - moved)
        many = neighbours.rows - few
        return ((heap, many), (other, few)), ((heap, max(many - moved, 0)), (other, few + min(moved, many)))
    many = min(ceil((inside + q * _OTHERS) / (1 - q)), _MOST)
    return ((heap, many), (other, _OTHERS)), ((heap, many), (other, _OTHERS + moved))


def choice_attack(kernel: Kernel, quote: Quote, pair: ChoicePair, aim: Aim, bits: Bits) -> tuple[Found, Found]:
    """Both directions of a pair: by how many of the chosen codes are those of the heap."""
    halves = []
    for part in (aim.runs // 2, aim.runs - aim.runs // 2):
        halves.append([_statistic(kernel, quote, pair, values, part, bits) for values in (pair.first, pair.second)])
    (one, other), (again, other_again) = halves
    names = ["chosen heap"]
    forwards = best_found(names, one, other, again, other_again, aim)
    return forwards, best_found(names, -other, -one, -other_again, -again, aim)


def _statistic(  # noqa: PLR0917 (one run of the kernel)
    kernel: Kernel, quote: Quote, pair: ChoicePair, values: Integers, runs: int, bits: Bits
) -> NDArray[np.float64]:
    """For every run how many of the codes that are chosen in the cell are those of the heap: shape (1, runs)."""
    _, law = _choice(pair.measured)
    own = values[values[:, 0] == pair.cell]
    found = []
    for start in range(0, runs, _AT_ONCE):
        copies = min(_AT_ONCE, runs - start)
        many = np.tile(own, (copies, 1))
        many[:, 0] = np.repeat(np.arange(copies), len(own))
        copied = replace(pair.measured, law=replace(law, cells=copies))
        (chosen,) = kernel.noisy(replace(quote, measured=(copied,)), [many], bits)
        found.append((np.asarray(chosen).reshape(copies, -1) == pair.heap).sum(axis=1))
    return np.concatenate(found).astype(np.float64)[None, :]
