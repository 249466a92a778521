"""A source, whatever it is: what a text in a plan file or a program means, and the engine that the registry has for it.

A name that exists is taken literally; only a name that does not exist is read as a pattern. Only the engine that is
needed is loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from glob import escape, glob
from pathlib import Path
from typing import Any

from discreet.domain.reading import CsvFiles, CsvFormat
from discreet.engines.base import Engine
from discreet.engines.files import Listing, check_regular, file_snapshot
from discreet.engines.kind import EngineKind
from discreet.engines.registry import (
    databases,
    endings,
    file_kind,
    folder_kind,
    given_kind,
    named_kind,
    offers,
    table_kind,
    url_words,
)
from discreet.engines.resources import NO_LIMITS, Limits
from discreet.engines.urls import check_url, is_url, refused_url
from discreet.errors import ArgumentError, SourceError, did_you_mean, printed, without_secrets
from discreet.exact.given_paths import quote_path, reason

__all__ = ["Opened", "is_absent", "is_view", "open_known", "source_in", "source_text"]

_USUAL = CsvFormat()
_PATTERN = r"[*?\[]"
_TABLE = "::"


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine over a source, which kind it is, and what messages call the source."""

    engine: Engine
    kind: EngineKind
    shown: str


def source_in(folder: Path, written: str) -> str:
    """The source that a text means in a file of this folder, where paths and globs begin. Other names stay as they are."""
    _check_secrets(written)
    if named_kind(written) or is_url(written):
        return written
    plain = folder / written
    is_glob = re.search(_PATTERN, written) and _TABLE not in written and not os.path.exists(plain)  # noqa: PTH110
    return str(Path(escape(str(folder))) / written) if is_glob else str(plain)


def is_absent(source: str) -> bool:
    """True if the files that a text of a plan means are not there at all. Other names are asked where they are opened."""
    if named_kind(source) or "\0" in source:
        return False
    try:
        if os.path.lexists(source):
            return False
        file, table, _ = source.rpartition(_TABLE)
        if table:
            return not os.path.lexists(file)
        return not (re.search(_PATTERN, source) and glob(source, recursive=True))  # noqa: PTH207
    except (OSError, ValueError):
        return False


def is_view(source: str) -> bool:
    """True if a text names a view of a database."""
    named = named_kind(source)
    if named is not None:
        return named[1].is_view(source)
    file, table, name = source.rpartition(_TABLE)
    if not table or Path(source).exists() or not Path(file).is_file():
        return False
    found = table_kind(_start(Path(file)))
    return found is not None and found[1].is_view(Path(file).resolve(), name)


def source_text(folder: Path, source: str) -> str:
    """The text that means a source, seen from here, in a file of this folder."""
    if is_url(source) or named_kind(source) or Path(source).is_absolute():
        return source
    return Path(os.path.relpath(source, folder)).as_posix()


def open_known(source: Any, columns: Sequence[str], limits: Limits) -> Opened:
    """The engine of a source of which at least these columns will be read.

    Raises:
        SourceError: no engine reads such a source, or it cannot be opened.
        ArgumentError: limits for a source that follows its own.
    """
    if isinstance(source, str | Path):
        return _of_text(str(source), columns, limits, _USUAL)
    if isinstance(source, CsvFiles):
        return _of_text(source.path, columns, limits, source.format)
    found = given_kind(source)
    if found is None:
        raise SourceError(f"source: {type(source).__name__} is not a table that can be read twice; pass {offers()}")
    kind, given = found
    _check_settings(limits, given.settings)
    return Opened(given.open(source, columns, limits), kind, given.shown)


def _of_text(source: str, columns: Sequence[str], limits: Limits, form: CsvFormat) -> Opened:
    if "\0" in source:
        raise SourceError(f"source {printed(source)}: is not a usable path; check its spelling")
    _check_secrets(source)
    found = named_kind(source)
    if found is not None:
        kind, named = found
        _require_usual(source, form)
        _check_settings(limits, named.settings)
        return Opened(named.open(source, columns, limits), kind, f"source '{without_secrets(source)}'")
    if is_url(source):
        raise refused_url(source, url_words())
    try:
        kind, engine = _of_path(source, limits, form)
    except (OSError, UnicodeError) as wrong:  # a name that is too long, a folder that cannot be entered
        raise SourceError(f"source {quote_path(source)}: cannot be opened ({reason(wrong)}); check the path") from None
    return Opened(engine, kind, f"source '{source}'")


def _check_secrets(source: str) -> None:
    """Checks that no password stands in a URL, also where a prefix that is none of a URL comes before it."""
    found = named_kind(source)
    rest = source if found is None or found[1].words else source.removeprefix(found[1].prefix)
    if is_url(rest):
        check_url(rest)


def _require_usual(source: str, form: CsvFormat) -> None:
    if form != _USUAL:
        raise SourceError(
            f"source '{source}': is not a CSV file; its separator, decimal mark, encoding and quote mean nothing"
        )


def _check_settings(limits: Limits, settings: str) -> None:
    if settings and limits != NO_LIMITS:
        raise ArgumentError(f"limits: {settings}; set them there")


def _of_path(source: str, limits: Limits, form: CsvFormat) -> tuple[EngineKind, Engine]:
    """An engine over a file, all files that a glob matches, all files of a folder, or "FILE::TABLE"."""
    path = Path(source)
    if _TABLE in source and not path.exists():
        _require_usual(source, form)
        file, _, table = source.rpartition(_TABLE)
        return _of_table(Path(file), table, limits)
    if path.is_dir():
        _require_usual(source, form)
        kind, open_folder = folder_kind()
        return kind, open_folder(path, limits)
    listing: Listing = partial(_match, source) if re.search(_PATTERN, source) and not path.exists() else lambda: [path]
    return _of_files(source, listing(), listing, limits, form)


def _match(source: str) -> list[Path]:
    found = [Path(name) for name in sorted(glob(source, recursive=True))]  # noqa: PTH207 (absolute and ** patterns)
    return [path for path in found if not path.is_dir()]


def _of_files(
    source: str, paths: Sequence[Path], listing: Listing, limits: Limits, form: CsvFormat
) -> tuple[EngineKind, Engine]:
    if not paths:
        raise SourceError(f"source '{source}': matches no file")
    file_snapshot(paths)
    own = sorted({_ending_of(path) for path in paths})
    found = file_kind(own[0]) if len(own) == 1 else None
    if found is not None:
        kind, files = found
        if not files.text:
            _require_usual(source, form)
        return kind, files.open(paths, listing, limits, form)
    holder = table_kind(_start(paths[0])) if len(paths) == 1 else None
    if holder is not None:
        raise SourceError(f"source '{source}': {holder[1].advice.format(source)}")
    known = f"must be {' or '.join(endings())} files, all of one format"
    if len(own) > 1:
        others = ", ".join(sorted(ending or "no ending" for ending in own))
        raise SourceError(
            f"source '{source}': matches files with different endings ({others}), and {known}; narrow the glob, such as to "
            "'*.parquet'"
        )
    raise SourceError(f"source '{source}': {known}{did_you_mean(own[0], endings())}")


def _ending_of(path: Path) -> str:
    """The ending of a name, with the one before it where the file may be packed."""
    ending = path.suffix.lower()
    return "".join(path.suffixes[-2:]).lower() if ending in (".gz", ".zst") else ending


def _of_table(path: Path, table: str, limits: Limits) -> tuple[EngineKind, Engine]:
    check_regular(path)
    found = table_kind(_start(path))
    if found is None:
        raise SourceError(f"source '{path}': is neither {databases()}, and so has no table '{table}'")
    kind, tables = found
    # The log of the file itself: the last writes may be in a log next to its own name, not next to the name of a link.
    return kind, tables.open(path.resolve(), table, limits)


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)
