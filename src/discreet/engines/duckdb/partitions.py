"""The values that folders give to rows, added to a cube that was counted file by file.

All rows of a file have the same value in a partition column, so its code is looked up once for each file, by the
reference itself, and no row is joined with anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, compact, sum_dtype
from discreet.cube.value_paths import KeyAxis, Moment, NumberPath
from discreet.domain.codes import NULL
from discreet.domain.columns import Number
from discreet.engines.duckdb.driver import TEXT
from discreet.engines.duckdb.folders import Partitions

__all__ = ["file_axis", "with_partitions"]


def file_axis(name: str, files: int) -> KeyAxis:
    """The axis of the file of a row, as the first key of a cube: the integer column `name` from 0 to `files` - 1."""
    return KeyAxis(NumberPath(name, Number(0, files - 1), 0, files - 1, NULL, ()))


def with_partitions(cube: Cube, partitions: Partitions, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
    """The cube of these axes and moments.

    Args:
        cube: counted by file, as its first key, and by the axes and moments that are columns of the files.
        partitions: the values of the others, for each file.
        axes: all axes, in order.
        moments: all moments, in order.
    """
    from discreet.engines.reference import label, number_target  # only folders that name columns need it

    place = {name: position for position, name in enumerate(partitions.names)}
    files, shape = cube.keys[:, 0], (len(cube.rows), len(moments))
    keys = np.empty((len(cube.rows), len(axes)), dtype=np.int64)
    own_axes = iter(cube.keys.T[1:])
    for i, axis in enumerate(axes):
        if axis.name in place:
            labels = [label(axis, values[place[axis.name]], TEXT) for values in partitions.values]
            keys[:, i] = np.array(labels, dtype=np.int64)[files]
        else:
            keys[:, i] = next(own_axes)
    kind = sum_dtype([moment.path.high - moment.path.low for moment in moments])
    nonnull, sums = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=kind)
    own_moments = iter(zip(cube.nonnull.T, cube.sums.T, strict=True))
    for j, moment in enumerate(moments):
        if moment.name in place:
            codes = [number_target(moment.path, values[place[moment.name]], TEXT) for values in partitions.values]
            nonnull[:, j] = cube.rows * np.array([code is not None for code in codes], dtype=np.int64)[files]
            steps: NDArray[Any] = np.array([0 if code is None else code - moment.path.low for code in codes], dtype=kind)
            rows: NDArray[Any] = cube.rows.astype(kind)
            sums[:, j] = rows * steps[files]
        else:
            nonnull[:, j], sums[:, j] = next(own_moments)
    return compact(Cube(keys, cube.rows, nonnull, sums))
