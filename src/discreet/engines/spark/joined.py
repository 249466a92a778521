"""A table of rows and tables of persons beside it, put together by the executors of one Spark session."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from discreet.cube.cube import Cube
from discreet.cube.joins import beside_of, of_rows
from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.engines.base import Engine, PersonReading
from discreet.engines.joined import Joiner
from discreet.engines.person_scans import answer_cube
from discreet.engines.spark.driver import SparkEngine, constant_errors
from discreet.engines.spark.persons import joined_parts, person_answer
from discreet.engines.texts import KeyTable
from discreet.errors import InternalError

__all__ = ["join_frames"]


def join_frames(engine: Engine, others: Mapping[str, Engine]) -> Joiner | None:
    """What puts frames of one session together; None where one is read by another engine, or in another session."""
    frames = {name: one for name, one in others.items() if isinstance(one, SparkEngine)}
    if not isinstance(engine, SparkEngine) or len(frames) < len(others):
        return None
    if any(one.session is not engine.session for one in frames.values()):
        return None
    return _BySpark(engine, frames)


class _BySpark:
    """Parts of persons of each frame; no id reaches the driver."""

    def __init__(self, engine: SparkEngine, others: Mapping[str, SparkEngine]) -> None:
        self._engine, self._others = engine, dict(others)

    def add_persons(self, scan: PersonReading) -> Cube:
        rows = of_rows(scan)
        if isinstance(rows, KeyScan):
            raise InternalError("Spark keeps no texts")
        alone = isinstance(scan, PersonRows) and scan.table  # it is about persons alone
        own = None if alone else self._engine.person_parts(rows)
        codes = [self._others[one.table].person_parts(one.codes) for one in beside_of(scan)]
        session = self._engine.session
        with constant_errors():
            return answer_cube(person_answer(session, joined_parts(session, own, codes, scan), scan), scan)

    def can_keep_keys(self) -> bool:
        return False

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        raise InternalError(f"Spark keeps no texts of '{scan.column}'")

    def close(self) -> None:
        """Does nothing: nothing was opened."""
