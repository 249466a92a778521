"""The published ranges of the counts of a request: of which of its cells they are, and how many rows these have.

Beside rounded or suppressed totals a reader knows the range in which a count lies, and not the count. A view of noisy counts
respects these ranges; the noise does not (docs/semi-dp.md). Nothing here depends on a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import CountedRows
from discreet.plan.plan import Plan
from discreet.quotes.lattice import components_of_places, joint_places
from discreet.quotes.view import View, positions, view_of
from discreet.totals.cells import domain_size
from discreet.totals.cells import positions as cell_positions
from discreet.totals.exact_totals import ExactTotals, alive_cells
from discreet.totals.published import cell_numbers
from discreet.totals.rules import NO_LIMIT
from discreet.totals.statements import FloorStatement, RangesStatement, has_ranges

__all__ = ["Ranges", "ranges_of_counts"]


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Disjoint sets of cells, and the range in which the number of rows of each lies.

    Args:
        labels: int64, the set of each cell, 0, …, sets - 1, or -1 for none.
        least: int64, shape (sets,): the least number of rows.
        most: int64, shape (sets,): the largest number, `NO_LIMIT` for none.
    """

    labels: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]

    def to_json(self) -> dict[str, Any]:
        """As a release document holds them."""
        most = [None if one == NO_LIMIT else one for one in self.most.tolist()]
        return {"labels": self.labels.tolist(), "least": self.least.tolist(), "most": most}

    def told(self) -> Ranges | None:
        """Only the sets of which something is said; None where there are none."""
        kept = (self.least > 0) | (self.most < NO_LIMIT)
        number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), [-1])  # the label -1 reads the last one
        return Ranges(number[self.labels], self.least[kept], self.most[kept]) if kept.any() else None

    def repeated(self, width: int, *, complete: bool) -> Ranges | None:
        """The same where each cell is `width` cells, which have all of its rows if they are `complete`."""
        least = self.least if complete else np.zeros_like(self.least)
        return Ranges(np.repeat(self.labels, width), least, self.most).told()

    def among(self, shown: NDArray[np.bool_], hidden: NDArray[np.bool_]) -> Ranges | None:
        """The same for the cells that are printed: those of a set of which some are `hidden` may have fewer rows (N1)."""
        touched = np.isin(np.arange(self.least.size), self.labels[hidden])
        return Ranges(self.labels[shown], np.where(touched, 0, self.least), self.most).told()


def ranges_of_counts(plan: Plan, exact_totals: ExactTotals | None) -> tuple[Ranges, ...]:
    """What is published of the numbers of rows in the cells of a request, besides sums (A17 of semi-adjacency.md).

    Empty before the ranges are published, and where rows are drawn.
    """
    if exact_totals is None or exact_totals.totals is None or not has_ranges(exact_totals.invariants.parts):
        return ()
    view = view_of(plan, exact_totals.invariants.columns, CountedRows((), ()))
    if view is None:
        return ()
    parts = [part for part in exact_totals.invariants.parts if isinstance(part, RangesStatement | FloorStatement)]
    found = (_ranges_of(part, view, plan, exact_totals) for part in parts)
    return tuple(one for one in found if one is not None)


def _ranges_of(part: RangesStatement | FloorStatement, view: View, plan: Plan, exact_totals: ExactTotals) -> Ranges | None:
    """The ranges of one statement, of the smallest sets of cells of the request to which they can be carried over."""
    schema, columns = plan.schema, view.columns
    published = cell_numbers(part, schema)
    least, most = _ends(part, published.size, exact_totals)
    number = np.full(domain_size(part.columns, schema), -1, dtype=np.int64)
    number[published] = np.arange(published.size)
    alive = alive_cells(exact_totals, schema, columns).ravel()
    owner, place = number[cell_positions(part.columns, columns, schema)][alive], joint_places(view, columns).ravel()[alive]
    there = positions(view, columns)
    seen = (owner >= 0) & (place >= 0)
    if not seen.any():
        return None
    component = components_of_places(np.unique(np.stack([owner[seen], place[seen]]), axis=1), published.size, len(there))
    sets = int(component.max()) + 1
    # A range counts rows that are in no cell of the request: fewer may be there, and as many at most.
    whole = np.full(published.size, view.kept)
    whole[owner[(owner >= 0) & (place < 0)]] = False
    set_of = np.full(published.size, -1, dtype=np.int64)
    set_of[owner[seen]] = component[place[seen]]
    low, high = np.zeros(sets, dtype=np.int64), np.zeros(sets, dtype=np.int64)
    used = set_of >= 0
    np.add.at(low, set_of[used], np.where(whole, least, 0)[used])
    np.add.at(high, set_of[used], np.minimum(most, _MOST_ROWS)[used])
    # Cells of the request that also hold rows of no range of the statement may have any number of these.
    others = component[place[(owner < 0) & (place >= 0)]]
    unlimited = np.zeros(sets, dtype=bool)
    unlimited[others[others >= 0]] = True
    unlimited[set_of[used & (most == NO_LIMIT)]] = True
    labels = np.full(view.cells, -1, dtype=np.int64)
    labels[there.ravel()] = np.repeat(component, there.shape[1])
    return Ranges(labels, low, np.where(unlimited, NO_LIMIT, high)).told()


_MOST_ROWS = 2**41
"""More rows than any table has: in place of no limit where ranges are added up."""


def _ends(
    part: RangesStatement | FloorStatement, cells: int, exact_totals: ExactTotals
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the largest number of rows of each cell of the statement."""
    if isinstance(part, FloorStatement) or exact_totals.totals is None:
        rows = part.rows if isinstance(part, FloorStatement) else 0
        return np.full(cells, rows, dtype=np.int64), np.full(cells, NO_LIMIT, dtype=np.int64)
    return exact_totals.totals.ranges(part)
