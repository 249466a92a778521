"""Another number of rows with the same shares."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.errors import ArgumentError
from discreet.releases.rows.layout import count
from discreet.releases.rows.model import Integers, Start, Targets, nearest
from discreet.releases.rows.start import start_rows
from discreet.releases.rows.words import Words

__all__ = ["start_scaled"]


def start_scaled(targets: Targets, rows: int, words: Words) -> tuple[Targets, Start]:
    """Targets of another number of rows, and rows to start from; as they are where the number is the same.

    Numbers of rows grow by rows/N, N the published number or its estimate. Each list is divided by the largest remainders,
    those of the first cells first. Where lists or empty cells say something of one column together, rows with the published
    numbers are made first, and every so many of them in the order of their cells are taken, as often as it needs.

    Raises:
        ArgumentError: the release says of no row that there is one, or rows with the published numbers were not found.
    """
    if rows == targets.rows:
        return targets, start_rows(targets, words)
    if not targets.rows:
        raise ArgumentError("rows: the release says that there is no row, and nothing has its shares; leave it out")
    made = replace(
        targets,
        roots=tuple(replace(one, alone=nearest(one.alone, rows, targets.rows)) for one in targets.roots),
        rows=rows,
        tables=tuple(replace(one, counts=nearest(one.counts, rows, targets.rows)) for one in targets.tables),
        unit=targets.unit * Fraction(targets.rows, rows) ** 2,
    )
    if _apart(targets):
        made = replace(made, lists=tuple(replace(one, counts=_apportioned(one.counts, rows)) for one in targets.lists))
        return made, start_rows(made, words)
    whole = start_rows(replace(targets, each=1), words).rows
    taken = whole[np.lexsort(whole[:, sorted(targets.held)].T[::-1])][(2 * np.arange(rows) + 1) * len(whole) // (2 * rows)]
    start = Start(taken[words.shuffle(rows)], np.ones(rows, dtype=np.int64))
    lists = (replace(one, counts=count(start.rows, one.axes, targets.sizes, start.each)) for one in targets.lists)
    return replace(made, lists=tuple(lists), each=1), start


def _apart(targets: Targets) -> bool:
    """True if no column is in two lists, and no rule is about columns of lists."""
    axes = [*(one.axes for one in targets.lists), *(one.axes for one in targets.voids)]
    roots = [{targets.root_of(axis).axes for axis in one} for one in axes]
    return not any(roots[place] & other for place in range(len(targets.lists)) for other in roots[place + 1 :])


def _apportioned(found: Integers, rows: int) -> Integers:
    exact, of = rows * found.astype(np.object_).ravel(), int(found.sum())
    whole = exact // of
    largest = sorted(range(len(exact)), key=lambda place: (-(exact[place] % of), place))
    for place in largest[: rows - int(whole.sum())]:
        whole[place] += 1
    return np.asarray(whole.reshape(found.shape), dtype=np.int64)
