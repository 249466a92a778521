"""The two passes of least squares over areas that are never in memory together.

Upwards the levels come one after the other, the last one first, and the areas of a level in depth-first order, so that the
sums below an area are complete as soon as the next area begins. What the areas above the last level have from there is kept
on the disk. Downwards it is read again, level by level, and the measured numbers of the last level once more. The numbers
are those of `statistics.trees`, whichever areas come together (docs/proofs/areas.md, K4).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from discreet.cube.cells import Integers
from discreet.exact.integers import narrow, times
from discreet.mechanisms.effects import Axes
from discreet.releases.areas.ordered import Columns
from discreet.releases.areas.scratch import Scratch
from discreet.statistics.tree_cells import Solving
from discreet.statistics.trees import fall, rise, split_of, sums_of

__all__ = ["Passes"]


class Passes:
    """Least squares over the areas of a tree in depth-first order; numbers of an area are as `Columns` has them.

    Args:
        solving: the tree, the weights and the units.
        folder: for files that only this object uses.
    """

    def __init__(self, solving: Solving, folder: Path) -> None:
        self._solving = solving
        self._tree = solving.tables.tree
        self.columns = Columns(solving.tables.effects)
        inner, width = range(len(self._tree.parents)), self.columns.width
        self._sums = [Scratch(folder / f"sums-{level}", width) for level in inner]
        self._ups = [Scratch(folder / f"ups-{level}", width) for level in inner]
        self._found = [Scratch(folder / f"found-{level}", width) for level in inner]
        self._begun: Integers | None = None  # the sum of the areas so far in an area that may have more of them

    def climb(self, level: int, first: int, measured: Integers) -> None:
        """Takes the measured numbers of the next areas of a level, of which the first one is given."""
        last, own = first + len(measured), self._in_units(level, measured)
        if level == len(self._tree.parents):
            up = own
        else:
            below, shapes = self._sums[level].read(first, last), self._tree.shapes.of[level][first:last]

            def risen(part: Axes) -> Integers:
                weights = self._solving.gains[part].own[level][shapes]
                return rise(self.columns.of(part, own), self.columns.of(part, below), weights)

            up = self._joined(len(own), risen)
            self._ups[level].append(up)
        if level:
            self._add_up(level, first, up)

    def descend(self, level: int, first: int, last: int, measured: Integers | None = None) -> Integers:
        """The numbers of some areas that add up, in the units of the effects; the areas of a level come in their order.

        Args:
            level: their level; the levels come from all areas together on.
            first: which areas, as of a range: the first of them.
            last: the first that is not among them.
            measured: their measured numbers, at the last level only.
        """
        up = self._ups[level].read(first, last) if measured is None else self._in_units(level, measured)
        if level:
            up = self._fallen(level, first, last, up)
        if level < len(self._tree.parents):
            self._found[level].append(up)
        return up

    def close(self) -> None:
        """All files are closed."""
        for one in (*self._sums, *self._ups, *self._found):
            one.close()

    def _in_units(self, level: int, measured: Integers) -> Integers:
        factors = self._solving.factors  # none of an effect that is not measured here, whose numbers are 0
        return self._joined(
            len(measured), lambda part: times(self.columns.of(part, measured), factors.get((level, part), 1))
        )

    def _joined(self, areas: int, of: Callable[[Axes], Integers]) -> Integers:
        """The numbers of all effects side by side."""
        found = np.empty((areas, self.columns.width), dtype=np.int64)
        for part, place in self.columns.slices.items():
            one = of(part)
            if one.dtype == np.object_ and found.dtype != np.object_:
                found = found.astype(np.object_)
            found[:, place] = one
        return found

    def _add_up(self, level: int, first: int, up: Integers) -> None:
        """The areas above have the sums of these; that of the last one may not be complete."""
        above = self._tree.above[level - 1][first : first + len(up)]
        totals = sums_of(up, above - above[0], int(above[-1] - above[0]) + 1)
        if self._begun is not None:
            totals = narrow(np.concatenate([totals[:1].astype(np.object_) + self._begun, totals[1:]]))
        complete = first + len(up) == self._tree.sizes[level] or self._tree.above[level - 1][first + len(up)] > above[-1]
        whole = len(totals) if complete else len(totals) - 1
        self._sums[level - 1].append(totals[:whole])
        self._begun = None if complete else totals[whole]

    def _fallen(self, level: int, first: int, last: int, up: Integers) -> Integers:
        above, shapes = self._tree.above[level - 1], self._tree.shapes.of
        start, stop = int(above[first]), int(above[last - 1]) + 1
        more = self._found[level - 1].read(start, stop) - self._sums[level - 1].read(start, stop)
        begun = int(np.searchsorted(above, start))  # areas before these in the same area have their parts first
        parents, own, wide = above[begun:last] - start, shapes[level][begun:last], shapes[level - 1][start:stop]

        def divided(part: Axes) -> Integers:
            gains = self._solving.gains[part]
            split = split_of(gains.parts[level - 1][own], parents, gains.wholes[level - 1][wide])
            before, after, whole = (one[first - begun :] for one in split)
            mine = self.columns.of(part, more)[parents[first - begun :]]
            return fall(self.columns.of(part, up), mine, (before, after, whole))

        return self._joined(len(up), divided)
