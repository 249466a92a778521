"""The description of an engine: the sources that it reads, how it opens each of them, and what it demands of a schema.

`registry` lists the kinds of all engines. A kind is small and always loaded; its functions load the engine when a source
needs it. They look at types, names and the first bytes of a database, never at a row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.domain.reading import CsvFormat
from discreet.domain.schema import Schema
from discreet.engines.base import Engine
from discreet.engines.files import Listing
from discreet.engines.joined import Joiner
from discreet.engines.resources import Limits

__all__ = ["EngineKind", "Files", "Given", "Named", "OpenFolder", "Tables", "is_loaded_instance"]

OpenSource = Callable[[Any, Sequence[str], Limits], Engine]
"""Opens an engine over a source of which at least these columns will be read."""
OpenFiles = Callable[[Sequence[Path], Listing, Limits, CsvFormat], Engine]
"""Opens an engine over these files, which the listing found. The format is of text files."""

OpenFolder = Callable[[Path, Limits], Engine]
"""Opens an engine over the files in a folder and below it."""


@dataclass(frozen=True, slots=True)
class Given:
    """Values of a program that an engine reads.

    Args:
        words: what a user can pass, with its article: "a Spark DataFrame". Empty where no message offers it.
        shown: what messages call such a source: "the DataFrame".
        serves: true of these values; false of any other, whatever it is.
        open: the engine over one of them.
        settings: a clause that names the settings that they follow instead of `Limits`; empty where limits hold.
    """

    words: str
    shown: str
    serves: Callable[[object], bool]
    open: OpenSource
    settings: str = ""


def _names_none(source: str) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, slots=True)
class Named:
    """Texts that an engine reads because of how they begin; no other text is a name for it.

    Args:
        prefix: how they begin.
        open: the engine over one of them.
        settings: as in `Given`.
        words: the database that is named by such a URL; empty where the text is not a URL.
        is_view: true of what names a view, whose rows are computed.
    """

    prefix: str
    open: OpenSource
    settings: str = ""
    words: str = ""
    is_view: Callable[[str], bool] = _names_none


@dataclass(frozen=True, slots=True)
class Files:
    """Files whose names end in `ending`, in lower case with its point, and folders of them where there is a function.

    `text` files have a format that may be given with them; `packed` are further endings of files that are unpacked.
    """

    ending: str
    open: OpenFiles
    open_folder: OpenFolder | None = None
    text: bool = False
    packed: tuple[str, ...] = ()

    def serves(self, name: str) -> bool:
        """True if the name of a file, in lower case, has the ending, packed or not."""
        return name.endswith((self.ending, *(f"{self.ending}{packed}" for packed in self.packed)))


def _has_none(path: Path, table: str) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of databases and workbooks that are one file, which users write as FILE::TABLE.

    Args:
        words: what such a file is, with an article: "a DuckDB database". Empty where none is read.
        begins: true of the first 16 bytes of such a file.
        open: the engine over the table of this name.
        advice: what a user reads who names no table, with a place for the file.
        is_view: true of the name of a view, whose rows are computed.
    """

    words: str
    begins: Callable[[bytes], bool]
    open: Callable[[Path, str, Limits], Engine]
    advice: str = "is a database; name one of its tables, as in '{}::persons'"
    is_view: Callable[[Path, str], bool] = _has_none


def _join_nothing(engine: Engine, others: Mapping[str, Engine], limits: Limits) -> Joiner | None:  # noqa: ARG001
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """One engine, as the registry lists it. What it does not name it does not read.

    Args:
        name: the name of its folder.
        check_schema: raises SourceError where the engine cannot read exactly what a schema declares.
        join: what puts tables of persons beside a table that the engine reads; None where it cannot.
    """

    name: str
    check_schema: Callable[[Schema], None]
    join: Callable[[Engine, Mapping[str, Engine], Limits], Joiner | None] = _join_nothing
    given: tuple[Given, ...] = ()
    named: tuple[Named, ...] = ()
    files: tuple[Files, ...] = ()
    tables: tuple[Tables, ...] = ()


def is_loaded_instance(source: object, module: str, name: str) -> bool:
    """True if it is of this class. The module is not loaded for that: where it is not, there is no such value."""
    found = sys.modules.get(module)
    return found is not None and isinstance(source, getattr(found, name))
