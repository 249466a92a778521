"""A lattice that some of the totals leave, where all of them together leave none that has a sampler.

Tables with equal totals have equal numbers of rows in every list that is among them. So their differences lie in the lattice
of such a list, or of several, whatever else is published; a(t) stays that of all (docs/proofs/semi-dp.md, "Requests").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import CountedRows
from discreet.errors import unreachable
from discreet.plan.plan import Plan
from discreet.quotes.lattice import structure_of
from discreet.quotes.view import view_of
from discreet.totals.description import Description
from discreet.totals.exact_totals import ExactTotals
from discreet.totals.statements import TotalsStatement
from discreet.totals.structure import Blocks, Structure, Tables

__all__ = ["wider_structure"]


def wider_structure(plan: Plan, rows: CountedRows, totals: ExactTotals, held: NDArray[np.int64]) -> Structure | None:
    """The lattice of lists of totals among the exact facts with the fewest free counts; None where no list has one.

    Args:
        plan: the request.
        rows: which rows are counted where.
        totals: all that is exact.
        held: the cells that can hold a record; no other cell may get noise.
    """
    found = [one for one in _structures(plan, rows, totals) if isinstance(one, Blocks | Tables)]
    kept = [one for one in found if np.isin(_cells(one), held).all()]
    return min(kept, key=lambda one: one.rank, default=None)


def _structures(plan: Plan, rows: CountedRows, totals: ExactTotals) -> Iterator[Structure]:
    lists = tuple(part for part in totals.invariants.parts if isinstance(part, TotalsStatement) and part.only is None)
    several = [lists] if 1 < len(lists) < len(totals.invariants.parts) else []
    for parts in [*several, *((one,) for one in lists if len(totals.invariants.parts) > 1)]:
        some = replace(totals, invariants=Description(parts))
        view = view_of(plan, some.invariants.columns, rows)
        structure = None if view is None else structure_of(plan, view, some)
        if structure is not None:
            yield structure


def _cells(structure: Blocks | Tables) -> NDArray[np.int64]:
    match structure:
        case Blocks(order=order):
            return order
        case Tables(tables=tables):
            return np.concatenate([one.order.ravel() for one in tables])
    raise unreachable(structure)
