"""An engine that reports which stage of its work begins, in constant words. They show nothing of the rows but their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment
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

__all__ = ["Progress", "Telling"]

Progress = Callable[[str], object]
"""Called with the name of each stage as it begins. What it raises is ignored: a closed terminal ends no release."""


class Telling:
    """An engine, and a listener that receives "snapshot", "count" or "draw" each time such a stage begins."""

    def __init__(self, engine: Engine, progress: Progress) -> None:
        self._engine, self._progress = engine, progress

    @property
    def header(self) -> Header:
        """The same as the engine's."""
        return self._engine.header

    def snapshot(self) -> str:
        """The same as the engine's."""
        self._tell("snapshot")
        return self._engine.snapshot()

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
        """The same as the engine's."""
        self._tell("count")
        cube = self._engine.aggregate(axes, moments)
        self._tell("draw")
        return cube

    def aggregate_all(self, scans: Sequence[CubeRequest]) -> Iterator[Cube]:
        """The same as the engine's."""
        cubes = cubes_of(self._engine, scans)
        for _ in scans:
            self._tell("count")
            cube = next(cubes)
            self._tell("draw")
            yield cube

    def can_add_persons(self) -> bool:
        """The same as the engine's."""
        return isinstance(self._engine, Personal) and self._engine.can_add_persons()

    def add_persons(self, scan: PersonReading) -> Cube:
        """The same as the engine's."""
        self._tell("count")
        cube = totals_of_persons(self._engine, scan)
        self._tell("draw")
        return cube

    def can_keep_keys(self) -> bool:
        """The same as the engine's."""
        return isinstance(self._engine, Keyed) and self._engine.can_keep_keys()

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """The same as the engine's; nothing is told of what comes after the reading."""
        self._tell("count")
        return keys_kept(self._engine, scan)

    def count_rows(self) -> int:
        """The same as the engine's."""
        self._tell("count")
        return rows_of(self._engine)

    def check_ready(self) -> None:
        """The same as the engine's."""
        check_ready(self._engine)

    def close(self) -> None:
        """The engine is closed."""
        self._engine.close()

    def _tell(self, stage: str) -> None:
        with suppress(Exception):
            self._progress(stage)
