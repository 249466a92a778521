"""The classes of cells whose rows follow from totals together with the counts that published ranges leave as they are.

A suppressed table says most of its counts exactly. Beside it only the suppressed ones are left to protect, and noise on the
others would be for nothing.
"""

from __future__ import annotations

import numpy as np

from discreet.domain.schema import Schema
from discreet.totals.cells import domain_size, positions, shape_of
from discreet.totals.classes import classes_of
from discreet.totals.components import Component, Split, splits_of
from discreet.totals.exact_totals import Atoms, ExactTotals
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.statements import RangesStatement, statements_by_kind

__all__ = ["atoms_of_known_counts"]


def atoms_of_known_counts(exact_totals: ExactTotals, schema: Schema, columns: tuple[str, ...]) -> Atoms | None:
    """The classes and their totals; None before the ranges are published, and where the totals do not settle every class.

    Equal published numbers give equal classes and totals: the classes are a function of t (soundness 18).
    """
    totals, parts = exact_totals.totals, statements_by_kind(exact_totals.invariants.parts)
    if totals is None or totals.rows is None or not parts.ranges or parts.linear:
        return None
    known = [split for part in parts.ranges for split in _split(part, totals, schema, columns)]
    if not known:
        return None
    cells = domain_size(columns, schema)
    component = Component(columns, parts.totals)
    splits = (*splits_of(component, np.ones(cells, dtype=bool), schema, totals, totals.rows), *known)
    classes = classes_of(splits, cells, totals.rows)
    if classes.totals is None:
        return None
    return Atoms(classes.owner.reshape(shape_of(columns, schema)), classes.totals)


def _split(part: RangesStatement, totals: PublishedTotals, schema: Schema, columns: tuple[str, ...]) -> list[Split]:
    """Each cell of the part of which one count is possible, and all others together; empty if there is no such cell."""
    least, most = totals.ranges(part)
    single = np.flatnonzero(least == most)
    if not single.size:
        return []
    label = np.full(domain_size(part.columns, schema), single.size, dtype=np.int64)
    label[cell_numbers(part, schema)[single]] = np.arange(single.size)
    counts = np.append(least[single], (totals.rows or 0) - int(least[single].sum()))
    kept, labels = np.unique(label[positions(part.columns, columns, schema)], return_inverse=True)
    return [Split(labels.reshape(-1).astype(np.int64), len(kept), counts[kept])]
