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
from discreet.totals.ranges import Ranged
from discreet.totals.recovered import narrowed_cells, tree_of, unsearched_columns
from discreet.totals.statements import OccupiedStatement, RangesStatement, TotalsStatement, has_ranges

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
        *_narrowed_ranges(invariants, schema, totals),
    )


def is_vacuous(
    invariants: Description, schema: Schema, totals: PublishedTotals | None = None, rows: int | None = None
) -> bool:
    """True if the totals settle the number of rows of every cell of the whole schema: no noise could protect anything.

    `rows` is n where it is known before the totals are. True is proved; False may leave out sums of many cells with several
    coefficients, and ranges of groups that cross.
    """
    known = rows if totals is None else totals.rows
    if not covers(invariants.columns, schema.of_source().columns, schema):
        return False
    open_components = 0
    for component in components_of(invariants, schema):
        cells = _possible_rows(component, invariants, schema, totals)
        if int(cells.sum()) == 1:
            continue
        open_components += 1
        if _ranges_settle(component, invariants, schema, totals, known):
            continue
        splits = splits_of(component, cells, schema, totals, None if totals is None else totals.rows)
        classes = classes_of(splits, int(cells.sum()), None if totals is None else totals.rows)
        if classes.size < int(cells.sum()) or not (classes.settled or rank(splits, classes) == classes.size):
            return False
    return open_components <= 1


def _ranges_settle(
    component: Component, invariants: Description, schema: Schema, totals: PublishedTotals | None, rows: int | None
) -> bool:
    """True if ranges and totals leave every cell one number of rows: three groups of at least 10 rows in a table of 30."""
    found = tree_of(component, invariants, schema, totals, rows)
    if found is None or found[0].bounds is None:
        return False
    tree, bounds = found[0], found[0].bounds
    low, high = bounds.low[: tree.family.atoms], bounds.high[: tree.family.atoms]
    cells = np.bincount(tree.owner)[high > 0]
    return bool((low == high).all() and (cells == 1).all())


def _possible_rows(
    component: Component, invariants: Description, schema: Schema, totals: PublishedTotals | None
) -> NDArray[np.bool_]:
    """The cells of the component that can hold a row, with what the totals say together where they settle every class."""
    cells = possible_cells(component, invariants, schema, totals)
    rows = None if totals is None else totals.rows
    classes = classes_of(splits_of(component, cells, schema, totals, rows), int(cells.sum()), rows)
    if classes.totals is not None and classes.totals.any():
        cells[np.flatnonzero(cells)[classes.totals[classes.owner] == 0]] = False
    found = tree_of(component, invariants, schema, totals, rows)
    if found is not None and found[0].bounds is not None:
        tree, there = found
        cells[there[found[0].bounds.high[tree.owner] == 0]] = False
    return cells


def _find_determined(invariants: Description, schema: Schema, totals: PublishedTotals) -> Iterator[str]:
    """The columns of which the totals say the value of every row."""
    known: list[str] = []
    for component in components_of(invariants, schema):
        cells = _possible_rows(component, invariants, schema, totals)
        for name in component.columns:
            if len(np.unique(positions((name,), component.columns, schema)[cells])) == 1:
                known.append(name)
    # Totals of everything are refused at once; ranges may turn out to say every count.
    every = has_ranges(invariants.parts) and is_vacuous(invariants, schema, totals)
    if every or covers(known, schema.of_source().columns, schema):
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
        if isinstance(part, RangesStatement):
            single = int(np.logical_and(*(end == 1 for end in totals.ranges(part))).sum())
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
        found = tree_of(component, invariants, schema, totals, totals.rows)
        if found is not None:
            yield from _alone_by_ranges(component, found[0])
        if classes.totals is None or found is not None:
            continue
        alone = classes.totals == 1
        for part in invariants.parts:
            if isinstance(part, TotalsStatement) and covers(component.columns, part.columns, schema):
                rows = totals.counts(part, schema)[positions(part.columns, component.columns, schema)[cells]]
                alone[classes.owner[rows == 1]] = False  # `_single_rows` names this row
        yield from _alone_words(component, int(alone.sum()))


def _alone_words(component: Component, alone: int) -> Iterator[str]:
    if alone:
        groups = "1 further group of cells holds" if alone == 1 else f"{alone} further groups of cells hold"
        yield f"totals of {', '.join(component.columns)}, by subtraction: {groups} exactly one row"


def _alone_by_ranges(component: Component, tree: Ranged) -> Iterator[str]:
    """Groups that hold one row by ranges and totals together, within no group that is published with one row."""
    if tree.bounds is None:
        return
    single = (tree.bounds.low == 1) & (tree.bounds.high == 1)
    said = np.zeros_like(single)
    for start, fact in zip(tree.family.starts, tree.facts, strict=True):
        if fact.low is not None and fact.high is not None:
            said[start : start + len(fact.low)] = (fact.low == 1) & (fact.high == 1)
    finer = np.zeros_like(single)  # groups within which a group of one row is: that one counts
    finer[tree.family.parent[:-1][single[:-1]]] = True
    for depth in range(1, int(tree.family.depth.max()) + 1):
        here = np.flatnonzero(tree.family.depth == depth)
        said[here] |= said[tree.family.parent[here]]
    yield from _alone_words(component, int((single & ~said & ~finer)[:-1].sum()))


def _narrowed_ranges(invariants: Description, schema: Schema, totals: PublishedTotals) -> Iterator[str]:
    """Counts that were published as ranges, and follow more closely from all published numbers together."""
    found = list(narrowed_cells(invariants, schema, totals))
    for columns in dict.fromkeys(one.columns for one in found):
        own = [one for one in found if one.columns == columns]
        exact = sum(one.least == one.most for one in own)
        if exact:
            counts = "1 count follows" if exact == 1 else f"{exact} counts follow"
            yield f"ranges of {', '.join(columns)}: {counts} exactly from the other published numbers, by subtraction"
        if len(own) > exact:
            rest = len(own) - exact
            counts = "1 count follows" if rest == 1 else f"{rest} counts follow"
            yield f"ranges of {', '.join(columns)}: {counts} from all published numbers more closely than published"
    for named in unsearched_columns(invariants, schema, totals):
        yield f"ranges of {named}: too many to search for counts that follow by subtraction"
