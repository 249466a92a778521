"""All engines, in one tuple, and which of them reads a source."""

from __future__ import annotations

from discreet.engines import duckdb, own, spark, sqlite, surveys, workbooks
from discreet.engines.kind import EngineKind, Files, Given, Named, OpenFolder, Tables

__all__ = [
    "ENGINES",
    "databases",
    "endings",
    "file_kind",
    "folder_kind",
    "given_kind",
    "named_kind",
    "offers",
    "table_kind",
    "url_words",
]

ENGINES: tuple[EngineKind, ...] = (own.ENGINE, spark.ENGINE, duckdb.ENGINE, sqlite.ENGINE, surveys.ENGINE, workbooks.ENGINE)
"""They are asked in this order, and the first that serves a source reads it."""


def given_kind(source: object) -> tuple[EngineKind, Given] | None:
    """The engine that reads a value of a program, and as what; None where no engine does."""
    return next(((kind, one) for kind in ENGINES for one in kind.given if one.serves(source)), None)


def named_kind(source: str) -> tuple[EngineKind, Named] | None:
    """The engine that reads what a text names by its prefix; None where the text is a path."""
    return next(((kind, one) for kind in ENGINES for one in kind.named if source.startswith(one.prefix)), None)


def table_kind(start: bytes) -> tuple[EngineKind, Tables] | None:
    """The engine that reads the tables of a file with these first bytes; None where it is not a database."""
    return next(((kind, one) for kind in ENGINES for one in kind.tables if one.begins(start)), None)


def file_kind(name: str) -> tuple[EngineKind, Files] | None:
    """The engine that reads files of such a name; None where no engine does."""
    return next(((kind, one) for kind in ENGINES for one in kind.files if one.serves(name.lower())), None)


def folder_kind() -> tuple[EngineKind, OpenFolder]:
    """The engine that reads folders of files."""
    return next((kind, one.open_folder) for kind in ENGINES for one in kind.files if one.open_folder)


def endings() -> list[str]:
    """The endings of the files that some engine reads."""
    return list(dict.fromkeys(one.ending for kind in ENGINES for one in kind.files))


def databases() -> str:
    """The files of which some engine reads tables, in words that follow "neither"."""
    return " nor ".join(one.words for kind in ENGINES for one in kind.tables if one.words)


def offers() -> str:
    """The values that a program can pass as a source, in words."""
    *words, last = [one.words for kind in ENGINES for one in kind.given if one.words]
    return f"{', '.join(['a path', *words])}, or {last}"


def url_words() -> str:
    """The databases that are named by a URL, in words."""
    named = {one.words: one.prefix for kind in reversed(ENGINES) for one in reversed(kind.named) if one.words}
    return ", ".join(f"{words} by {prefix}…" for words, prefix in named.items())
