"""A folder of Parquet files as a source: the files in it, and the values of rows that the names of its sub-folders give.

Below the folder every sub-folder named `column=value` is a partition: all rows of its files have that value, a text like
any other. Folders above it name no column. As for Hive and Spark, names that begin with a dot or an
underscore (`_SUCCESS`, `_temporary`, `.part.crc`) are not looked at; a folder such as `_year=2025` is a partition all
the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from discreet.errors import SourceError

__all__ = ["NO_PARTITIONS", "Partitions", "parquet_files", "partitions_of"]

_NULL = "__HIVE_DEFAULT_PARTITION__"
# Tables that keep a log of which files count: their folders also hold rows that were deleted or replaced.
_LOGS = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table", "_spark_metadata": "the output of a Spark stream"}


@dataclass(frozen=True, slots=True)
class Partitions:
    """The columns that folders name, and for each file, in order, the values of its rows; None is null."""

    names: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]

    def cells(self, name: str, files: Sequence[tuple[object, int]]) -> list[tuple[object, int]]:
        """The cells of a column that folders name, from the number of rows of each file, given by its place."""
        place = self.names.index(name)
        return [(self.values[file][place], rows) for file, rows in files if isinstance(file, int)]


NO_PARTITIONS = Partitions((), ())


def parquet_files(folder: Path) -> list[Path]:
    """All Parquet files below the folder, in the order of their names.

    Raises:
        SourceError: the folder cannot be read, has no such file, has one of another kind or a link to a folder, or is of a
            table that keeps a log of its files.
    """
    found = []
    for place, folders, files in os.walk(folder, onerror=_unreadable):
        for log in _LOGS.keys() & {*folders}:
            raise SourceError(
                f"source '{place}': is {_LOGS[log]}, and its folder contains files that are no longer part of it;  "
                "write its present rows to separate Parquet files first"
            )
        folders[:] = [name for name in folders if _visible(name) or (name.startswith("_") and "=" in name)]
        for name in folders:
            if (Path(place) / name).is_symlink():
                raise SourceError(f"source '{Path(place) / name}': is a link, which is not followed; name what it points to")
        found += [Path(place) / name for name in files if _visible(name)]
    for path in found:
        if path.suffix.lower() != ".parquet":
            glob = f"'{folder}/**/*.parquet'"
            if path.suffix.lower() == ".csv":
                glob += f", CSV files by '{folder}/*.csv'"
            raise SourceError(
                f"source '{path}': a folder may hold Parquet files only; move this file, or name the others by a glob such "
                f"as {glob}"
            )
    if not found:
        raise SourceError(f"source '{folder}': holds no Parquet file")
    return sorted(found)


def partitions_of(folder: Path, paths: Sequence[Path]) -> Partitions:
    """The values that the names of the folders between `folder` and each file give to its rows.

    Raises:
        SourceError: a column is named twice, or not by the folders of every file.
    """
    pairs = [
        [_pair(part) for part in path.relative_to(folder).parts[:-1] if part.partition("=")[0] != part] for path in paths
    ]
    names = [tuple(name for name, _ in found if name) for found in pairs]
    for path, own in zip(paths, names, strict=True):
        if len({name.casefold() for name in own}) < len(own):
            raise SourceError(f"source '{path}': two of its folders name the same column; rename one of the two")
        if own != names[0]:
            shown = [", ".join(f"'{name}'" for name in some) or "no column" for some in (own, names[0])]
            raise SourceError(f"source '{path}': its folders name {shown[0]}, the folders of '{paths[0]}' name {shown[1]}")
    return Partitions(names[0], tuple(tuple(value for _, value in found) for found in pairs))


def _visible(name: str) -> bool:
    return not name.startswith((".", "_"))


def _pair(part: str) -> tuple[str, str | None]:
    name, _, value = part.partition("=")
    return unquote(name), None if value == _NULL else unquote(value)


def _unreadable(error: OSError) -> None:
    raise SourceError(f"source '{error.filename}': cannot be read; check the path and the permissions") from None
