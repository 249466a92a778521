"""The public sums of the counts of a request: which sums of cells are known exactly, which have a known maximum or range.

From these a reader can make a table of counts that has the sums; see `views`. Nothing here depends on a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.groups import Group, group_labels, is_complete
from discreet.domain.steps import conditions_of
from discreet.errors import PlanError
from discreet.plan.plan import Plan
from discreet.quotes.public_ranges import Ranges, ranges_of_counts
from discreet.quotes.space import space_of
from discreet.quotes.view import counts_every_row
from discreet.statistics.base import Statistic
from discreet.statistics.counts import Count
from discreet.totals.exact_totals import ExactTotals
from discreet.totals.structure import exact_sums

__all__ = ["PublicSums", "show_sums", "sums_of_counts", "sums_of_frame"]

Sums = tuple[NDArray[np.int64] | None, NDArray[np.int64]]
"""For every cell the number of its sum, -1 for none, and the sums; without labels it is the sum of all cells."""


@dataclass(frozen=True, slots=True, eq=False)
class PublicSums:
    """Sums of the counts of cells: the `exact` ones, and in `most` the sums that can be at most this large.

    `ranges` are sums of which a range is published.
    """

    exact: tuple[Sums, ...]
    most: tuple[Sums, ...]
    ranges: tuple[Ranges, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As a release document holds them."""
        known = {"known_sums": _json(self.exact), "known_most": _json(self.most)}
        return {**known, "known_ranges": [one.to_json() for one in self.ranges]} if self.ranges else known


def _json(sums: Sequence[Sums]) -> list[dict[str, Any]]:
    return [{"labels": None if labels is None else labels.tolist(), "totals": totals.tolist()} for labels, totals in sums]


def sums_of_counts(plan: Plan, exact_totals: ExactTotals | None) -> PublicSums:
    """The public sums of the numbers of rows in the cells of a request.

    Rows that a condition drops are in no cell: without the conditions the sums are at least as large.
    """
    exact, ranges = _exact(plan, exact_totals), ranges_of_counts(plan, exact_totals)
    if counts_every_row(plan):
        return PublicSums(exact, (), ranges)
    most: tuple[Sums, ...] = ()
    with suppress(PlanError):  # what cannot be asked has no sums that are worked out
        conditions = conditions_of(plan.steps)
        steps = tuple(step for step in plan.steps if step not in conditions)
        most = _exact(replace(plan, steps=steps), exact_totals)
    rows = _rows(plan)
    return PublicSums(exact, most if rows is None else _merge(most, (rows,)), ranges)


def sums_of_frame(plan: Plan, exact_totals: ExactTotals | None, groups: tuple[Group, ...]) -> PublicSums:
    """The public sums of the numbers of rows in a frame, which divides every cell of the request into further groups."""
    facts = plan.facts
    outer = sums_of_counts(plan, exact_totals)
    width = prod(len(group_labels(group, facts)) for group in groups)
    exact, most = _repeat(outer.exact, width), _repeat(outer.most, width)
    # A cell of the request is the sum of its cells in the frame if every row is in one of the groups of the frame.
    complete = all(is_complete(group, facts) for group in groups)
    if not complete:
        exact, most = (), _merge(exact, most)
    ranges = tuple(filter(None, (one.repeated(width, complete=complete) for one in outer.ranges)))
    inner = PublicSums((), ())
    with suppress(PlanError):  # there may be no request with these cells: a column may be grouped and cut into bins at once
        longest = max((len(group.column) for group in (*plan.group_by, *groups)), default=0)
        counted = Statistic(Count(), None, "n" * (longest + 1))  # no column is called like that
        whole = replace(plan, group_by=(*plan.group_by, *groups), statistics=(counted,))
        inner = sums_of_counts(whole, exact_totals)
    return PublicSums(_merge(inner.exact, exact), _merge(inner.most, most), inner.ranges or ranges)


def show_sums(sums: PublicSums, shown: NDArray[np.bool_], hidden: NDArray[np.bool_]) -> PublicSums:
    """The public sums of some of the cells (proof N1).

    A sum in which a hidden cell takes part is the most that its other cells can add up to; a cell in which no row can be
    takes no part in any. The number of rows thus never passes for the number of those that count.

    Args:
        sums: of all cells.
        shown: which cells are printed.
        hidden: which of the others can have rows.
    """
    exact: list[Sums] = []
    most = [(None if labels is None else labels[shown], totals) for labels, totals in sums.most]
    for labels, totals in sums.exact:
        of = np.zeros(len(shown), dtype=np.int64) if labels is None else labels
        touched = np.isin(np.arange(len(totals)), of[hidden])
        if not touched.any():
            exact.append((None if labels is None else labels[shown], totals))
            continue
        if not touched.all():
            exact.append((_only(of, ~touched)[shown], totals[~touched]))
        most.append((None if labels is None else _only(of, touched)[shown], totals[touched]))
    return PublicSums(tuple(exact), tuple(most), tuple(filter(None, (one.among(shown, hidden) for one in sums.ranges))))


def _only(labels: NDArray[np.int64], groups: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The labels of some of the groups, numbered anew; -1 for all other cells."""
    number = np.append(np.where(groups, np.cumsum(groups) - 1, -1), [-1])  # the label -1 reads the last one
    renumbered: NDArray[np.int64] = number[labels]
    return renumbered


def _repeat(sums: Sequence[Sums], width: int) -> tuple[Sums, ...]:
    return tuple((None if labels is None else np.repeat(labels, width), totals) for labels, totals in sums)


def _merge(first: tuple[Sums, ...], second: tuple[Sums, ...]) -> tuple[Sums, ...]:
    """Both, with the sum of all cells once."""
    whole = any(labels is None for labels, _ in first)
    return (*first, *(one for one in second if one[0] is not None or not whole))


def _exact(plan: Plan, exact_totals: ExactTotals | None) -> tuple[Sums, ...]:
    """The exact totals, the cells in which there can be no row, and the public number of rows."""
    space = None if exact_totals is None else space_of(plan, exact_totals)
    found: list[Sums] = []
    if space is not None:
        found += [] if space.structure is None else exact_sums(space.structure)
        if len(space.held) < space.cells:
            labels = np.zeros(space.cells, dtype=np.int64)
            labels[space.held] = -1
            found.append((labels, np.zeros(1, dtype=np.int64)))
    rows = _rows(plan)
    if rows is not None and counts_every_row(plan) and plan.layout.cells:
        found.append(rows)
    return tuple(found)


def _rows(plan: Plan) -> Sums | None:
    """The number of all rows, where it is public."""
    rows = plan.facts.rows
    return None if rows is None else (None, np.array([rows], dtype=np.int64))
