"""The label columns of a table over all combinations of groups, the last group fastest: any rows of them, and never all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.groups import Label

__all__ = ["LabelColumn", "all_rows", "find_printed", "label_columns"]


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """The labels of one group, in order: each fills `repeat` rows, and after the last one the first one comes again.

    Rows with a label at one of the places `hidden` are not printed.
    """

    name: str
    labels: tuple[Label, ...]
    repeat: int
    hidden: frozenset[int] = frozenset()

    def places(self, rows: slice) -> NDArray[np.int64]:
        """The place of the label that each of some rows has."""
        return np.arange(rows.start, rows.stop, dtype=np.int64) // self.repeat % len(self.labels)

    def values(self, rows: slice, shown: NDArray[np.bool_] | slice) -> list[Label]:
        """The labels of some rows, of those that are printed."""
        labels: NDArray[Any] = np.fromiter(self.labels, dtype=np.object_, count=len(self.labels))
        found: list[Label] = labels[self.places(rows)[shown]].tolist()
        return found


def label_columns(groups: Iterable[tuple[Mapping[str, tuple[Label, ...]], frozenset[int]]]) -> list[LabelColumn]:
    """The columns of each group: its labels in every column that shows it, and the places of those that are not printed."""
    columns: list[LabelColumn] = []
    repeat = 1
    for shown, hidden in reversed(list(groups)):
        columns += [LabelColumn(name, shown[name], repeat, hidden) for name in reversed([*shown])]
        repeat *= max(map(len, shown.values()))
    return columns[::-1]


def all_rows(columns: Sequence[LabelColumn]) -> slice:
    """Every row of the table that has these label columns: one where there are none."""
    return slice(0, columns[0].repeat * len(columns[0].labels) if columns else 1)


def find_printed(columns: Sequence[LabelColumn], rows: slice) -> NDArray[np.bool_] | slice:
    """The index of the rows among some that are printed (proof N1); all of them where no label is hidden."""
    hiding = [column for column in columns if column.hidden]
    if not hiding:
        return slice(None)
    found = np.ones(rows.stop - rows.start, dtype=bool)
    for column in hiding:
        found &= ~np.isin(column.places(rows), list(column.hidden))
    return found
