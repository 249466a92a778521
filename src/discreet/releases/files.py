"""A table that is too large for one document: Parquet files of a limited number of rows each, and their digests.

The files of a table are in a folder of their own, numbered in the order of the rows. A `TableFile` describes one of them, so
that each can be checked by itself with any tool for SHA-256, and nothing can be changed, left out, added or exchanged
unnoticed. Files are written to a draft folder, which takes its final name in one step.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import ArgumentError
from discreet.exact.files import Draft, discard, draft_in, make_folder, sync_folder

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "DOCUMENT",
    "DRAFT",
    "PART",
    "TABLE",
    "PartWriter",
    "RowsInFiles",
    "TableFile",
    "collect_rows",
    "complete_draft",
    "copy_table",
    "draft_folder",
    "drafts_in",
    "paths_of",
    "place_draft",
    "problem_of",
    "table_json",
    "table_of",
    "write_part",
]

TABLE = "table"
"""The name of the folder with the files, within the folder of the release."""

DOCUMENT = "release.json"
"""The name of the document in the folder of a release, and in a draft folder with all its files."""

PART = "part"
"""The beginning of the names of the files of the main table."""

DRAFT = f".{TABLE}."
"""The prefix of the names of draft folders."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file of a table.

    Args:
        file: its path within the folder of the release, with "/".
        first: the number of its first row in the table, from 0.
        rows: how many rows it has.
        size: how many bytes it has.
        sha256: their SHA-256, in hexadecimal.
    """

    file: str
    first: int
    rows: int
    size: int
    sha256: str


def table_json(parts: Sequence[TableFile]) -> dict[str, Any]:
    """The parts as a release document holds them."""
    return {"format": "parquet", "rows": sum(part.rows for part in parts), "parts": [asdict(part) for part in parts]}


def table_of(stated: Mapping[str, Any], stem: str = PART) -> tuple[TableFile, ...]:
    """The parts that a document holds, under the names that they must have, one after the other.

    Args:
        stated: as `table_json` has written them.
        stem: the beginning of their names.

    Raises:
        KeyError, TypeError, ValueError: discreet has not written them.
    """
    parts = tuple(TableFile(**one) for one in stated["parts"])
    first = 0
    for number, part in enumerate(parts):
        types = [type(value) for value in (part.first, part.rows, part.size, part.sha256)]
        if types != [int, int, int, str] or (part.file, part.first) != (_file(stem, number), first) or part.rows < 1:
            raise ValueError(f"part {number}")
        first += part.rows
    if stated["format"] != "parquet" or stated["rows"] != first or not parts:
        raise ValueError("rows")
    return parts


def _file(stem: str, number: int) -> str:
    return f"{TABLE}/{stem}-{number:05d}.parquet"


def draft_folder(folder: Path) -> Draft:
    """A new folder inside `folder`, which is made where it is missing, for files that are not finished.

    Raises:
        OSError: `folder` cannot be made or written.
    """
    make_folder(folder)
    return draft_in(folder, DRAFT)


def drafts_in(folder: Path) -> list[Path]:
    """The draft folders in a folder; none if the folder does not exist."""
    return sorted(path for path in folder.glob(f"{DRAFT}*") if path.is_dir())


def write_part(draft: Path, number: int, first: int, rows: pl.DataFrame, stem: str = PART) -> TableFile:
    """A file with these rows stands in a draft folder, durably. The digest belongs to the bytes that were to be written.

    Args:
        draft: the folder.
        number: how many files of this table there are before it.
        first: the number of rows of these.
        rows: what is written.
        stem: the beginning of its name.

    Raises:
        OSError: it could not be written to its end.
    """
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    content = buffer.getbuffer()
    name = _file(stem, number)
    _put(draft / Path(name).name, content)
    return TableFile(name, first, rows.height, len(content), hashlib.sha256(content).hexdigest())


class PartWriter:
    """The files of one table, written one after the other from frames that are appended.

    Args:
        draft: their folder.
        stem: the beginning of their names.
        most: the rows of a file, unless a single frame has more.
    """

    def __init__(self, draft: Path, stem: str, most: int) -> None:
        self._draft, self._stem, self._most = draft, stem, most
        self._waiting: list[pl.DataFrame] = []
        self._parts: list[TableFile] = []

    def append(self, rows: pl.DataFrame) -> None:
        """These rows come next; those before them are written where all together are too many for one file.

        Raises:
            OSError: the disk is full.
        """
        if self._waiting and sum(one.height for one in (*self._waiting, rows)) > self._most:
            self._write()
        self._waiting.append(rows)

    def close(self) -> list[TableFile]:
        """All files, those that were waiting among them.

        Raises:
            OSError: the disk is full.
        """
        if self._waiting:
            self._write()
        return self._parts

    def _write(self) -> None:
        import polars as pl

        rows, first = pl.concat(self._waiting, rechunk=False), sum(part.rows for part in self._parts)
        self._parts.append(write_part(self._draft, len(self._parts), first, rows, self._stem))
        self._waiting = []


class RowsInFiles:
    """The rows of the files of a table one after the other, as many as are asked for.

    Args:
        parts: the files.
        folder: where they are.
    """

    def __init__(self, parts: Sequence[TableFile], folder: Path) -> None:
        self._paths = [folder / Path(part.file).name for part in parts]
        self._rest: pl.DataFrame | None = None

    def take(self, rows: int) -> pl.DataFrame:
        """The next rows.

        Raises:
            IndexError: there are fewer.
        """
        import polars as pl

        found: list[pl.DataFrame] = []
        while rows:
            if self._rest is None or not self._rest.height:
                self._rest = pl.read_parquet(self._paths.pop(0))
            found.append(self._rest.head(rows))
            self._rest = self._rest.slice(found[-1].height)
            rows -= found[-1].height
        return pl.concat(found)

    @property
    def is_over(self) -> bool:
        """True if there are no more rows."""
        return not self._paths and (self._rest is None or not self._rest.height)


def _put(path: Path, content: bytes | memoryview) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def complete_draft(draft: Path, payload: bytes) -> None:
    """A draft folder has all its files durably, with the document that describes them: from now on it may be committed.

    Raises:
        OSError: the document could not be written to its end.
    """
    _put(draft / DOCUMENT, payload)
    sync_folder(draft)


def place_draft(draft: Path, folder: Path) -> None:
    """The files of a draft folder are the table of `folder`, all of them at once and durably.

    Raises:
        OSError: there is a table already, or the folder cannot be written.
    """
    draft.chmod(_mode_of_folders(draft))  # a folder for temporary files is its owner's alone
    draft.rename(folder / TABLE)
    sync_folder(folder)


def _mode_of_folders(draft: Path) -> int:
    """The mode that the umask of this process, which cannot be read without being set, leaves to a new folder."""
    probe = draft / ".mode"
    probe.mkdir(exist_ok=True)
    mode = probe.stat().st_mode
    probe.rmdir()
    return stat.S_IMODE(mode)


def paths_of(parts: Sequence[TableFile], folder: Path) -> list[Path]:
    """The files of a table in the folder of its release, in the order of their rows."""
    return [folder / part.file for part in parts]


def collect_rows(rows: pl.LazyFrame) -> pl.DataFrame:
    """Rows of the files of a table.

    Raises:
        ArgumentError: they cannot be read.
    """
    import polars as pl

    try:
        return rows.collect()
    except (OSError, pl.exceptions.PolarsError):
        raise ArgumentError(
            "release: its files cannot be read as they were written; Release.load(folder) says which"
        ) from None


def problem_of(parts: Sequence[TableFile], table: Path) -> str:
    """The fault of the files in the folder `table`, read once and never held; empty if they are as described."""
    names = {Path(part.file).name: part for part in parts}
    try:
        others = sorted(path.name for path in table.iterdir() if path.suffix == ".parquet" and path.name not in names)
        for name, part in names.items():
            if (table / name).stat().st_size != part.size or _sha256(table / name) != part.sha256:
                return f"{name} is not as it was written"
    except FileNotFoundError as missing:
        return f"{Path(str(missing.filename)).name} is missing"
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror})"
    return f"{others[0]} does not belong to it" if others else ""


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_table(parts: Sequence[TableFile], table: Path, folder: Path) -> None:
    """`folder` has the table too, as it was written.

    Raises:
        OSError: it cannot be read or written.
        ValueError: a file was changed since it was written; `folder` then has no table.
    """
    draft = draft_folder(folder)
    try:
        for part in parts:
            target = draft.path / Path(part.file).name
            shutil.copyfile(table / target.name, target)
            _flush(target)
        _require(parts, draft.path)
        sync_folder(draft.path)
        place_draft(draft.path, folder)
    finally:
        discard(draft)


def _require(parts: Sequence[TableFile], table: Path) -> None:
    problem = problem_of(parts, table)
    if problem:
        raise ValueError(problem)


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
