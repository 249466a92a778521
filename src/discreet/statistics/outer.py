"""The groups of a request where some rows have no label: the cells that such a row may belong to once it has one (O10)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.cube.cells import Integers

__all__ = ["Outer"]


@dataclass(frozen=True, slots=True)
class Outer:
    """The groups of a request.

    Args:
        sizes: the number of labels of each group.
        nullable: for each group whether its last label is that of the rows without one.
        complete: whether every row is in a cell.
    """

    sizes: tuple[int, ...]
    nullable: tuple[bool, ...]
    complete: bool

    @property
    def others(self) -> int:
        """The largest number of cells of rows without a label that may belong to one cell."""
        return int(2 ** sum(self.nullable)) - 1

    def sum_of_others(self, values: Integers) -> Integers:
        """For every cell the sum of these integers over the cells of the rows that lack a label and may belong to it.

        A row in which a group is null may have any label of it; the labels that it has stay as they are. The integers are
        such that sums of a few of them cannot overflow.
        """
        if not any(self.nullable):
            return np.zeros_like(values)
        found = values.reshape(self.sizes or (1,))
        for axis, nullable in enumerate(self.nullable):
            if nullable:
                last = np.take(found, [-1], axis=axis)
                labelled = np.delete(found, -1, axis=axis)
                found = np.concatenate([labelled + last, last], axis=axis)
        return np.asarray(found.reshape(prod(self.sizes)) - values)
