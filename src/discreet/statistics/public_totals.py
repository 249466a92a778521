"""What is public about the cells of a table beside its effects: sums of cells, and lists of totals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ListedTotals", "PublicSum", "factors_of"]


@dataclass(frozen=True, slots=True, eq=False)
class PublicSum:
    """A sum of cells of a table that is public.

    Args:
        cells: int64, the positions of the cells.
        factors: int64, of each of them; None where all are 1.
        total: the sum.
        listed: the columns of the list of totals that it is from; None of anything else.
    """

    cells: NDArray[np.int64]
    factors: NDArray[np.int64] | None
    total: int
    listed: frozenset[str] | None = None


def factors_of(one: PublicSum) -> NDArray[np.int64]:
    """The factor of each cell of a sum."""
    return np.ones(len(one.cells), dtype=np.int64) if one.factors is None else one.factors


@dataclass(frozen=True, slots=True)
class ListedTotals:
    """A list of exact totals that is published alongside.

    Args:
        columns: its columns.
        some: of how many groups it is; None for all of them.
    """

    columns: frozenset[str]
    some: int | None
