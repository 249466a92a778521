"""Texts of a column that an engine keeps, so that groups can be looked for in them: what such an engine has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.persons import PersonScan
from discreet.engines.base import Engine, require_column
from discreet.errors import InternalError, SourceError

__all__ = ["KeyTable", "Keyed", "Places", "check_text_column", "keys_kept"]


@dataclass(frozen=True, slots=True)
class Places:
    """Which place among the groups of a column of texts the rows of each text have.

    Args:
        named: the place of each text that is a group, in NFC.
        other: the place of all other keys; None where their rows are in no group.
        null: the place of rows without a key; None where they are in no group.
        count: the number of places.
    """

    named: Mapping[str, int]
    other: int | None
    null: int | None
    count: int


class KeyTable(Protocol):
    """The rows of a source, read once, with the texts of one column. Private, and gone when it is closed."""

    def candidates(self, gone: Sequence[str], at_least: int) -> NDArray[np.int64]:
        """The weights of the candidates, in the order of the bytes of their names (D1 of docs/proofs/discovery.md).

        Keys in `gone` take no part. A candidate has `at_least` persons with a weight above 0.
        """

    def names(self, places: NDArray[np.intp]) -> list[str]:
        """The names of those of the last candidates that are at these places, which are in ascending order."""

    def totals(self, places: Places, whole: PersonScan) -> Cube:
        """What `Personal.add_persons` answers with, for the cells of the request `whole` with these groups."""


@runtime_checkable
class Keyed(Protocol):
    """An engine that can keep the texts of a column, so that groups can be looked for in them."""

    def can_keep_keys(self) -> bool:
        """True if this source can be kept so; a source that cannot is refused before anything is charged."""

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """The rows that count, read once, before the table is given."""


def keys_kept(engine: Engine, scan: KeyScan) -> AbstractContextManager[KeyTable]:
    """The rows of a source with the texts of a column.

    Raises:
        InternalError: the engine cannot keep texts; `check_text_column` has refused it before anything was charged.
    """
    if not isinstance(engine, Keyed):
        raise InternalError("the engine cannot keep texts")
    return engine.open_keys(scan)


def check_text_column(engine: Engine, name: str, shown: str) -> None:
    """Checks that a source has texts in a column, and that they can be kept.

    Raises:
        SourceError: it has no such column, or one of another type, or its engine cannot keep texts.
    """
    if not isinstance(engine, Keyed) or not engine.can_keep_keys():
        raise SourceError(
            f"column '{name}': {shown} is read by an engine that cannot find groups in a Text yet; write the rows to a "
            "Parquet file, or pass them as an Arrow table or a frame"
        )
    header = engine.header
    require_column(header, name, shown)
    if header[name].kind not in {"text", "any"}:  # of any cells those that are no texts are no groups
        raise SourceError(
            f"column '{name}': {shown} holds {header[name].shown}, and a Text is read from a column of texts; cast the "
            "column, or declare its values"
        )
