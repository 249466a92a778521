"""Arrays whose axes have names: in another order, and summed over some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["in_order", "margin_of"]


def in_order(values: NDArray[Any], axes: Sequence[object], wanted: Sequence[object], *, after: int = 0) -> NDArray[Any]:
    """The array with its axes in the wanted order; a view.

    Args:
        values: its axes have these names, in their order, after so many that stay where they are.
        axes: the names, each once.
        wanted: the same names in the wanted order.
        after: how many axes stand before them.
    """
    return values.transpose([*range(after), *(after + axes.index(axis) for axis in wanted)])


def margin_of(values: NDArray[Any], axes: Sequence[object], wanted: Sequence[object], *, after: int = 0) -> NDArray[Any]:
    """The sums over all axes that are not wanted, the others in the wanted order, in the type of the array.

    Sums must fit into it. Those of Python's integers stay such: NumPy would make one that is left alone 64 bits wide.
    """
    others = tuple(after + place for place, axis in enumerate(axes) if axis not in wanted)
    summed = np.asarray(values.sum(axis=others, dtype=values.dtype), dtype=values.dtype)
    return in_order(summed, [axis for axis in axes if axis in wanted], wanted, after=after)
