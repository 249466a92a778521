"""The label columns of a table over all combinations of groups, the last group fastest: any rows of them, and never all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.groups import Label

__all__ = ["LabelColumn", "all_rows", "label_columns"]


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """The labels of one group, in order: each fills `repeat` rows, and after the last one the first one comes again."""

    name: str
    labels: tuple[Label, ...]
    repeat: int

    def places(self, rows: slice) -> NDArray[np.int64]:
        """Which of the labels each of some rows has."""
        return np.arange(rows.start, rows.stop, dtype=np.int64) // self.repeat % len(self.labels)

    def values(self, rows: slice) -> list[Label]:
        """The labels of some rows."""
        labels: NDArray[Any] = np.fromiter(self.labels, dtype=np.object_, count=len(self.labels))
        found: list[Label] = labels[self.places(rows)].tolist()
        return found


def label_columns(groups: Iterable[tuple[str, tuple[Label, ...]]]) -> list[LabelColumn]:
    """One column for each group, given with its name and its labels."""
    columns: list[LabelColumn] = []
    repeat = 1
    for name, labels in reversed(list(groups)):
        columns.append(LabelColumn(name, labels, repeat))
        repeat *= len(labels)
    return columns[::-1]


def all_rows(columns: Sequence[LabelColumn]) -> slice:
    """Every row of the table that has these label columns: one where there are none."""
    return slice(0, columns[0].repeat * len(columns[0].labels) if columns else 1)
