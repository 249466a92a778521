"""The facts that published totals reveal about single rows, and the check that they leave something to protect."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.domain.origins import covers
from discreet.domain.schema import Schema
from discreet.totals.cells import positions
from discreet.totals.classes import classes_of
from discreet.totals.components import Component, components_of, possible_cells, splits_of
from discreet.totals.description import Description
from discreet.totals.general import rank
from discreet.totals.published import PublishedTotals
from discreet.totals.statements import OccupiedStatement, TotalsStatement

__all__ = ["disclosures", "is_vacuous"]


def disclosures(invariants: Description, schema: Schema, totals: PublishedTotals | None) -> tuple[str, ...]:
    """The facts that the totals, which no noise covers, reveal about single rows, in words; empty before they are published.

    A row is *determined* where every table with these totals gives it the same value: no guarantee protects that value.
    The words name columns and how many cells, never which.
    """
    if totals is None:
        return ()
    return (
        *_find_determined(invariants, schema, totals),
        *_single_rows(totals),
        *_single_by_subtraction(invariants, schema, totals),
    )


def is_vacuous(invariants: Description, schema: Schema, totals: PublishedTotals | None = None) -> bool:
    """True if the totals settle the number of rows of every cell of the whole schema: no noise could protect anything.

    True is proved; False may leave out sums of many cells with several coefficients.
    """
    if not covers(invariants.columns, schema.of_source().columns, schema):
        return False
    open_components = 0
    for component in components_of(invariants, schema):
        cells = _possible_rows(component, invariants, schema, totals)
        if int(cells.sum()) == 1:
            continue
        open_components += 1
        splits = splits_of(component, cells, schema, totals, None if totals is None else totals.rows)
        classes = classes_of(splits, int(cells.sum()), None if totals is None else totals.rows)
        if classes.size < int(cells.sum()) or not (classes.settled or rank(splits, classes) == classes.size):
            return False
    return open_components <= 1


def _possible_rows(
    component: Component, invariants: Description, schema: Schema, totals: PublishedTotals | None
) -> NDArray[np.bool_]:
    """The cells of the component that can hold a row, with what the totals say together where they settle every class."""
    cells = possible_cells(component, invariants, schema, totals)
    rows = None if totals is None else totals.rows
    classes = classes_of(splits_of(component, cells, schema, totals, rows), int(cells.sum()), rows)
    if classes.totals is not None and classes.totals.any():
        cells[np.flatnonzero(cells)[classes.totals[classes.owner] == 0]] = False
    return cells


def _find_determined(invariants: Description, schema: Schema, totals: PublishedTotals) -> Iterator[str]:
    """The columns of which the totals say the value of every row."""
    known: list[str] = []
    for component in components_of(invariants, schema):
        cells = _possible_rows(component, invariants, schema, totals)
        for name in component.columns:
            if len(np.unique(positions((name,), component.columns, schema)[cells])) == 1:
                known.append(name)
    if covers(known, schema.of_source().columns, schema):
        yield "the totals determine every row completely: nothing in this table is protected"
    elif known:
        yield f"the totals determine the value of {', '.join(known)} in every row: it is not protected"


def _single_rows(totals: PublishedTotals) -> Iterator[str]:
    """Published cells of one row: whoever knows who is meant finds that row's values in the totals."""
    for part in totals.invariants.parts:
        if isinstance(part, TotalsStatement):
            single = totals.value(part).count(1)
            if single:
                cells = "1 cell holds" if single == 1 else f"{single} cells hold"
                yield f"totals of {', '.join(part.columns)}: {cells} exactly one row"
        if isinstance(part, OccupiedStatement) and sum(totals.value(part)) == totals.rows:
            yield f"occupied cells of {', '.join(part.columns)}: every one holds exactly one row"


def _single_by_subtraction(invariants: Description, schema: Schema, totals: PublishedTotals) -> Iterator[str]:
    """Groups of cells of which no number is published, but in which the others leave one row: 6 rows, 5 of them x."""
    for component in components_of(invariants, schema):
        cells = possible_cells(component, invariants, schema, totals)
        splits = splits_of(component, cells, schema, totals, totals.rows)
        classes = classes_of(splits, int(cells.sum()), totals.rows)
        if classes.totals is None:
            continue
        alone = classes.totals == 1
        for part in invariants.parts:
            if isinstance(part, TotalsStatement) and covers(component.columns, part.columns, schema):
                rows = totals.counts(part, schema)[positions(part.columns, component.columns, schema)[cells]]
                alone[classes.owner[rows == 1]] = False  # `_single_rows` names this row
        if alone.any():
            groups = "1 further group of cells holds" if alone.sum() == 1 else f"{alone.sum()} further groups of cells hold"
            yield f"totals of {', '.join(component.columns)}, by subtraction: {groups} exactly one row"
