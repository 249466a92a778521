"""A source that is elsewhere, as for a board that approves plans and must not have the data: nothing can be read of it.

It has the header that the schema expects, so that a session over it can quote, and refuses before anything is charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.domain.reading import CsvFormat
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Engine, Header, PersonReading
from discreet.engines.joined import Joiner
from discreet.engines.texts import KeyTable
from discreet.errors import SourceError

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["AbsentSource"]

_EXPECTED = ColumnType("text", "a column that was not compared")  # text can hold every column of a schema


class AbsentSource:
    """An engine over no source: its header fits the schema, and every reading is refused.

    Args:
        schema: the declared columns.
        form: the format of the CSV files that are elsewhere; None for any other source.
    """

    def __init__(self, schema: Schema, form: CsvFormat | None = None) -> None:
        self.format = form
        self._header = dict.fromkeys([*schema.columns, *schema.identifiers, *schema.texts], _EXPECTED)

    @property
    def header(self) -> Header:
        """The columns of the schema."""
        return self._header

    def select(self, chosen: Rowwise) -> None:
        """Its header fits the schema already."""

    def snapshot(self) -> str:
        """Refused.

        Raises:
            SourceError: always.
        """
        raise SourceError("source: is not here, and nothing can be read of it")

    def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:  # noqa: ARG002
        """Refused.

        Raises:
            SourceError: always.
        """
        raise SourceError("source: is not here, and nothing can be read of it")

    def can_add_persons(self) -> bool:
        """True, as far as the plan goes: the engine elsewhere decides."""
        return True

    def add_persons(self, scan: PersonReading) -> Cube:  # noqa: ARG002
        """Refused.

        Raises:
            SourceError: always.
        """
        raise SourceError("source: is not here, and nothing can be read of it")

    def joiner(self, others: Mapping[str, Engine]) -> Joiner | None:  # noqa: ARG002
        """It refuses for all of them."""
        return self

    def can_keep_keys(self) -> bool:
        """True, as far as the plan goes: the engine elsewhere decides."""
        return True

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:  # noqa: ARG002
        """Refused.

        Raises:
            SourceError: always.
        """
        raise SourceError("source: is not here, and nothing can be read of it")

    def close(self) -> None:
        """Does nothing: nothing was opened."""
