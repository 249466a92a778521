"""The scan that makes one row of all rows of each person, and the cubes of the table of these rows.

What an engine answers with is a cube whose keys are the values of persons and whose rows are persons. No id is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, compact, sum_dtype
from discreet.cube.person_numbers import Total
from discreet.cube.persons import PersonValue
from discreet.cube.tables import Beside
from discreet.cube.value_paths import CategoryPath, KeyAxis, Moment, Path, paths_read
from discreet.domain.codes import NULL
from discreet.domain.of_persons import How

__all__ = ["PersonColumn", "PersonRows", "cube_of_persons"]


@dataclass(frozen=True, slots=True)
class PersonColumn:
    """One value of each person: a number from `low` to `high` that is made of all rows of the person, less `low`; or NULL.

    Args:
        name: of the column.
        how: how it is made.
        place: of the axis that it is made of, or of the total; 0 for rows.
        low, high: the least and the greatest number, to which others are moved.
    """

    name: str
    how: How
    place: int
    low: int
    high: int

    def code(self, number: int | None) -> int:
        """The code of a number, or of null."""
        return NULL if number is None else min(max(number, self.low), self.high) - self.low


@dataclass(frozen=True, slots=True, eq=False)
class PersonRows:
    """One reading of a table of persons that gives one row for each person with a row that fulfils the conditions.

    Args:
        person: the identifier. A row that is null in it contributes nothing.
        axes: the columns of which the labels matter; the label of null is NULL.
        tests: the conditions: a row counts where each has the label 1.
        values: the columns that are added up.
        totals: of all rows of a person, each by the name of such a column.
        made: the values of a person.
        table: the table of persons whose rows these are; empty for the table of rows.
        beside: the tables of persons that have the columns of some axes, tests and values.
    """

    person: str
    axes: tuple[KeyAxis, ...]
    tests: tuple[KeyAxis, ...]
    values: tuple[PersonValue, ...]
    totals: tuple[Total, ...]
    made: tuple[PersonColumn, ...]
    table: str = ""
    beside: tuple[Beside, ...] = ()

    @property
    def everybody(self) -> Beside | None:
        """The table of which each row counts as a person, who has a row here too without any of her own; None for none."""
        return next((one for one in self.beside if one.codes.every), None)

    @property
    def paths(self) -> tuple[Path, ...]:
        """How each column of the table is read: of the axes, of the conditions, and then of the values."""
        return (*(axis.path for axis in (*self.axes, *self.tests)), *(one.path for one in self.values))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, the identifier first."""
        return tuple(dict.fromkeys([self.person, *(path.name for path in self.read)]))

    @property
    def read(self) -> tuple[Path, ...]:
        """How each column of the source is read."""
        return tuple(one for path in self.paths for one in paths_read(path))


def cube_of_persons(persons: Cube, made: Sequence[PersonColumn], axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
    """The cube of these axes and moments over a table whose rows are persons.

    Args:
        persons: the values of persons, each combination with the number of persons that have it.
        made: the columns of its keys.
        axes: over the codes of these columns, by their names.
        moments: over the same.
    """
    codes = {one.name: persons.keys[:, place] for place, one in enumerate(made)}
    keys = np.empty((len(persons.rows), len(axes)), dtype=np.int64)
    for place, axis in enumerate(axes):
        keys[:, place] = _labels(axis, codes[axis.name])
    nonnull = np.zeros((len(persons.rows), len(moments)), dtype=np.int64)
    sums = np.zeros(nonnull.shape, dtype=sum_dtype([one.path.high - one.path.low for one in moments]))
    for place, moment in enumerate(moments):
        own, path = codes[moment.name], moment.path
        nonnull[:, place] = np.where(own == NULL, 0, persons.rows)
        above: NDArray[Any] = (np.clip(own, path.low, path.high) - path.low).astype(sums.dtype)
        sums[:, place] = above * nonnull[:, place]
    return compact(Cube(keys, persons.rows, nonnull, sums))


def _labels(axis: KeyAxis, codes: NDArray[np.int64]) -> NDArray[Any]:
    path = axis.path
    if isinstance(path, CategoryPath):
        return np.array([*path.targets, path.null_target], dtype=np.int64)[codes]  # NULL, -1, is the last one
    targets = np.clip(codes, path.low, path.high)
    labels = targets if axis.cuts is None else np.searchsorted(np.array(axis.cuts, dtype=np.int64), targets, side="right")
    return np.where(codes == NULL, path.null_target, labels)
