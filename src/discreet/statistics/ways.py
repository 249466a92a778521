"""All tables of so many of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from discreet.domain.groups import Bins
from discreet.errors import PlanError, printed
from discreet.statistics.base import Written

__all__ = ["ways", "written_groupings"]


def ways(columns: Sequence[str | Bins], *sizes: int) -> list[list[str | Bins]]:
    """All sets of so many of the columns, in order: `ways(["a", "b", "c"], 2)` is [["a", "b"], ["a", "c"], ["b", "c"]].

    With several sizes first those of the first one. `tables(*ways(columns, 2, 3))` asks for all of them.

    Raises:
        PlanError: a column is named twice, or a size is not a number from 1 to the number of columns.
    """
    if not isinstance(columns, list | tuple) or not all(isinstance(one, str | Bins) for one in columns):
        raise PlanError('ways(): must be a list of columns or bins, such as ways(["a", "b", "c"], 2)')
    if len(set(columns)) < len(columns):
        raise PlanError("ways(): names a column twice")
    if not sizes or len(set(sizes)) < len(sizes):
        raise PlanError("ways(): needs the numbers of columns of a table, each once, such as ways(columns, 2, 3)")
    for size in sizes:
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= len(columns):
            raise PlanError(f"ways(): {printed(size)}: must be a number from 1 to {len(columns)}, the number of columns")
    return [list(one) for size in sizes for one in combinations(columns, size)]


def written_groupings(value: Written) -> Sequence[Any]:
    """The groupings in a plan file: lists of columns, or `{ of = [columns], ways = [2, 3] }`."""
    parts = value.entries(("of", "ways"))
    if parts is None:
        return [[item.group() for item in grouping.items()] for grouping in value.items()]
    return ways([item.group() for item in parts["of"].items()], *parts["ways"].scalars())
