"""Where the sweeps start: columns of exact totals as they are, the others one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.releases.rows.targets import Targets
from discreet.releases.rows.words import Words

__all__ = ["start_rows"]

Integers = NDArray[np.int64]

_WIDE = 1 << 24


def start_rows(targets: Targets, words: Words) -> Integers:
    """Rows that have the exact totals, in an order of their own for each list; all other columns are independent.

    Returns:
        int64 of shape (rows, axes): the level of each row on each axis.

    Raises:
        ArgumentError: the totals of a list are not as many as the rows.
    """
    found = np.zeros((targets.rows, len(targets.axes)), dtype=np.int64)
    held = {axis for own in targets.totals for axis in own}
    for own, counts in targets.totals.items():
        if counts.sum() != targets.rows:
            raise ArgumentError("release: its exact totals have other rows than its tables; discreet did not write it")
        levels = np.repeat(np.arange(counts.size), counts.ravel())[words.shuffle(targets.rows)]
        found[:, list(own)] = np.stack(np.unravel_index(levels, counts.shape), axis=1)
    for axis, counts in enumerate(targets.singles):
        if axis not in held:
            cumulated = np.cumsum(_shares(counts))
            found[:, axis] = words.choose(np.broadcast_to(cumulated, (targets.rows, len(cumulated))))
    return found


def _shares(counts: Integers) -> Integers:
    """Whole weights in proportion to counts above 0, whose sum is below 2^31; equal ones where there is none."""
    above = np.maximum(counts, 0)
    most = int(above.max(initial=0))
    if not most:
        return np.ones_like(counts)
    scale = max(1, -(-most * len(counts) // _WIDE))
    return above // scale if (above // scale).any() else (above > 0).astype(np.int64)
