"""A source whose columns are read together: combinations that a public list names, on top of any engine.

The engine groups by the columns of the source, one by one. Which combination of the list a cell is in is looked up here, on
the counts, so that every engine reads every list (K6 of docs/proofs/areas.md). No row is seen here. Readings of persons are
passed on as they are: a person is in a combination and not in its parts, so that the engine looks it up for each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from discreet.cube.combinations import Codes, Combinations, numbers_of, parts_of_list
from discreet.cube.cube import Cube, compact
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment, paths_read
from discreet.domain.columns import Category
from discreet.domain.schema import Schema
from discreet.engines.base import (
    CubeRequest,
    Engine,
    Header,
    Personal,
    PersonReading,
    check_ready,
    cubes_of,
    rows_of,
    totals_of_persons,
)
from discreet.engines.texts import Keyed, KeyTable, keys_kept

__all__ = ["Combining", "combining"]


def combining(engine: Engine, schema: Schema) -> Engine:
    """The engine, which can be asked for the combinations of a schema that has some."""
    lists = [column for column in schema.columns.values() if isinstance(column, Category) and column.parts is not None]
    return Combining(engine) if lists else engine


class Combining:
    """An engine that is asked for combinations as for any column, and asks another one for their parts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def header(self) -> Header:
        """The columns of the source."""
        return self._engine.header

    def snapshot(self) -> str:
        """The same as the engine's."""
        return self._engine.snapshot()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        """The cube of all rows, each in the cell of its keys."""
        split = _split(axes)
        return split.join(self._engine.aggregate(split.asked, moments))

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """A cube for each scan, in order, as the engine reads them."""
        splits = [_split(axes) for axes, _ in scans]
        asked = [(split.asked, moments) for split, (_, moments) in zip(splits, scans, strict=True)]
        for split, cube in zip(splits, cubes_of(self._engine, asked), strict=True):
            yield split.join(cube)

    def count_rows(self) -> int:
        """The same as the engine's."""
        return rows_of(self._engine)

    def check_ready(self) -> None:
        """The same as the engine's."""
        check_ready(self._engine)

    def can_add_persons(self) -> bool:
        """The same as the engine's."""
        return isinstance(self._engine, Personal) and self._engine.can_add_persons()

    def add_persons(self, scan: PersonReading) -> Cube:
        """The same as the engine's."""
        return totals_of_persons(self._engine, scan)

    def can_keep_keys(self) -> bool:
        """The same as the engine's."""
        return isinstance(self._engine, Keyed) and self._engine.can_keep_keys()

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """The same as the engine's."""
        return keys_kept(self._engine, scan)

    def close(self) -> None:
        """The engine is closed."""
        self._engine.close()


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """The axes of a scan, and those that the source is asked for instead.

    Args:
        axes: of the scan.
        asked: of the source: every part of every list once, and each other axis once for each time it is an axis.
        places: for each axis where it is among `asked`, or where the parts of its list are.
    """

    axes: tuple[KeyAxis, ...]
    asked: tuple[KeyAxis, ...]
    places: tuple[tuple[int, ...], ...]

    def join(self, cube: Cube) -> Cube:
        """The cube of the scan from the cube of what was asked: cells that are in one combination are added up."""
        if len(self.asked) == len(self.axes) and all(len(own) == 1 for own in self.places):
            return cube
        keys = np.empty((len(cube.keys), len(self.axes)), dtype=np.int64, order="F")
        for place, (axis, own) in enumerate(zip(self.axes, self.places, strict=True)):
            found = [cube.keys[:, one] for one in own]
            keys[:, place] = found[0] if len(own) == 1 else _targets(axis, found)
        return compact(replace(cube, keys=keys))


def _split(axes: Sequence[KeyAxis]) -> _Split:
    asked: list[KeyAxis] = []
    places: list[tuple[int, ...]] = []
    known: dict[str, tuple[int, ...]] = {}
    for axis in axes:
        parts = parts_of_list(axis)
        if parts is None or axis.name not in known:
            more = [axis] if parts is None else [KeyAxis(path) for path in paths_read(axis.path)]
            own = tuple(range(len(asked), len(asked) + len(more)))
            asked += more
            known |= {} if parts is None else {axis.name: own}
        else:
            own = known[axis.name]
        places.append(own)
    return _Split(tuple(axes), tuple(asked), tuple(places))


def _targets(axis: KeyAxis, found: Sequence[Codes]) -> Codes:
    """The label of each cell on the axis of a list, from the codes of the parts; NULL is the code of no category."""
    known = Combinations.of(axis)
    listed = np.array(known.numbers, dtype=np.int64)
    order = np.argsort(listed)
    numbers = numbers_of(found, known.sizes)
    near = order[np.minimum(np.searchsorted(listed, numbers, sorter=order), len(order) - 1)]
    return np.where(listed[near] == numbers, np.array(known.targets, dtype=np.int64)[near], known.others)
