"""Combinations of several columns of the source that a public list names: their numbers, and the label of each.

Which combination a row or a cell is in is looked up by one number for the codes of all parts (K6 of docs/proofs/areas.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.cube.value_paths import CategoryPath, KeyAxis
from discreet.domain.codes import NULL
from discreet.domain.origins import Parts
from discreet.errors import InternalError

__all__ = ["Codes", "Combinations", "numbers_of", "parts_of_list"]

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Combinations:
    """The labels of an axis of a list, by one number for each combination of the codes of its parts.

    Args:
        sizes: how many codes each part has, of which the last one is null.
        numbers: of the combinations of the list.
        targets: their labels.
        others: the label of all others.
    """

    sizes: tuple[int, ...]
    numbers: tuple[int, ...]
    targets: tuple[int, ...]
    others: int

    @classmethod
    def of(cls, axis: KeyAxis) -> Combinations:
        """Those of an axis of a list."""
        path, parts = axis.path, parts_of_list(axis)
        if not isinstance(path, CategoryPath) or parts is None:
            raise InternalError("a list of combinations was expected here")
        sizes = tuple(len(values) + 1 for values in parts.values)
        numbers = numbers_of([np.array(codes, dtype=np.int64) for codes in parts.codes], sizes).tolist()
        others = path.targets[-1] if parts.other else path.null_target
        return cls(sizes, tuple(numbers), path.targets[: len(numbers)], others)

    def label(self, codes: Sequence[int]) -> int:
        """The label of one combination of codes."""
        number = int(numbers_of([np.array([code], dtype=np.int64) for code in codes], self.sizes)[0])
        return self.targets[self.numbers.index(number)] if number in self.numbers else self.others


def parts_of_list(axis: KeyAxis) -> Parts | None:
    """The columns that are read together for an axis, if there are several."""
    return axis.path.column.parts if isinstance(axis.path, CategoryPath) else None


def numbers_of(codes: Sequence[Codes], sizes: Sequence[int]) -> Codes:
    """One number for each combination of codes, NULL as the last code of its column; below 2**62, as `Keys` has checked."""
    total = np.zeros(len(codes[0]), dtype=np.int64)
    for own, size in zip(codes, sizes, strict=True):
        total *= size
        total += np.where(own == NULL, size - 1, own)
    return total
