"""The variance that theory gives to each cell of reconciled margins: no module of the library asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from discreet.statistics import margins as source
from discreet.statistics.margins import Margin


def reconciled_variances(margins: Sequence[Margin], *, n: int | None = None) -> list[float]:
    """The variance of each cell of the margins that `reconcile` returns: all cells of one margin have the same.

    Args and errors as for `reconcile`; the values do not matter.
    """
    sizes = source._sizes(margins)
    precisions = source._precisions(margins, sizes)
    if n is not None:
        precisions[()] = inf
    variances = []
    for margin in margins:
        total = 0.0
        for kept in source._subsets(margin.axes):
            # Subtracting the mean of m cells leaves the share 1 - 1/m of the variance.
            centred = prod(1 - 1 / sizes[axis] for axis in kept)
            total += centred / precisions[kept] / source._cells_without(margin.axes, kept, sizes) ** 2
        variances.append(total)
    return variances
