"""A quote carried out on a cube: exact integers, noisy integers, estimates. Randomness is handed in, nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube import Cube, row_count
from discreet.errors import InternalError
from discreet.estimates import Estimate, count_estimate, mean_estimate, sum_estimate
from discreet.mechanisms import add_noise
from discreet.noise.bits import Bits
from discreet.plan import layout, resize_of, table_facts
from discreet.queries import answer, cells_of
from discreet.quotes import Line, PublicCells, PublicCount, Quote, half_widths
from discreet.resample import resample
from discreet.schema import Number
from discreet.statistics import Count, Label, Sum
from discreet.steps import NumberFacts, facts_of

__all__ = ["estimated", "exact_answers", "group_columns", "noisy_answers"]


def exact_answers(quote: Quote, cube: Cube, bits: Bits) -> list[NDArray[Any]]:
    """The measured queries on the table that is asked: one vector over the cells of the release for each. Private.

    Raises:
        InternalError: under ReplaceOne, a source with another number of rows than declared (soundness 4).
    """
    plan = quote.plan
    known = facts_of(plan.schema, plan.neighbours).rows
    if known is not None and row_count(cube) != known:
        raise InternalError("the source has another number of rows than declared")
    brought = layout(plan)
    asked = resample(cube, brought.axes, brought.moments, resize=resize_of(plan), rows=known, bits=bits)
    cells = cells_of(plan, table_facts(plan.schema, plan.neighbours, plan.steps), asked, brought)
    return [answer(one.query, asked, brought, cells) for one in quote.measured]


def noisy_answers(quote: Quote, exact: Sequence[NDArray[Any]], bits: Bits) -> list[NDArray[Any]]:
    """The same vectors with the noise of the quote. Public from here on."""
    return [add_noise(values, one.law, bits) for values, one in zip(exact, quote.measured, strict=True)]


def estimated(quote: Quote, noisy: Sequence[NDArray[Any]]) -> list[Estimate]:
    """The statistics with their intervals, in the order of the request; a pure function of public numbers."""
    cells = layout(quote.plan).cells
    return [_estimate(quote, line, noisy, cells) for line in quote.lines]


def _estimate(quote: Quote, line: Line, noisy: Sequence[NDArray[Any]], cells: int) -> Estimate:
    count, half_count = _counts(quote, line, noisy, cells)
    if isinstance(line.statistic, Count):
        return count_estimate(count, half_count)
    if line.total is None:
        total, half_total = np.zeros(cells, dtype=np.int64), _every(0, cells)
    else:
        total, half_total = noisy[line.total], _every(half_widths(quote.measured[line.total].law, line.level), cells)
    if isinstance(line.statistic, Sum):
        return sum_estimate(total, half_total, count, half_count, unit=line.unit, origin=line.origin)
    facts = table_facts(quote.plan.schema, quote.plan.neighbours, quote.plan.steps)[line.statistic.column]
    if not isinstance(facts, NumberFacts) or not isinstance(facts.column, Number):
        raise InternalError(f"column '{line.statistic.column}' has no mean")
    bounds = facts.column.value(facts.low), facts.column.value(facts.high)
    return mean_estimate(total, half_total, count, half_count, unit=line.unit, origin=line.origin, bounds=bounds)


def _counts(quote: Quote, line: Line, noisy: Sequence[NDArray[Any]], cells: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The counts of the cells, public or noisy, with their half-widths."""
    if isinstance(line.count, PublicCells):
        return line.count.counts(), _every(0, cells)
    if isinstance(line.count, PublicCount):
        return np.full(cells, line.count.rows, dtype=np.int64), _every(0, cells)
    if line.count is None:
        return np.zeros(cells, dtype=np.int64), _every(0, cells)
    return noisy[line.count], _every(half_widths(quote.measured[line.count].law, line.level), cells)


def _every(width: int | NDArray[Any], cells: int) -> NDArray[Any]:
    """The half-width of each cell, in integers that cannot overflow."""
    widths: NDArray[Any] = np.broadcast_to(np.asarray(width), (cells,))
    return widths if widths.dtype == np.object_ or int(widths.max(initial=0)) < 2**62 else widths.astype(np.object_)


def group_columns(quote: Quote) -> list[tuple[str, list[Label]]]:
    """The group columns of the release: every cell of the public domain, in schema order, the last group fastest."""
    labels = layout(quote.plan).labels
    columns = []
    repeat, tile = layout(quote.plan).cells, 1
    for group, named in zip(quote.plan.group_by, labels, strict=True):
        repeat //= len(named)
        columns.append((group.column, [label for label in named for _ in range(repeat)] * tile))
        tile *= len(named)
    return columns
