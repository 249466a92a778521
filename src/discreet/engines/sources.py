"""A source that is named by a text: the files it means, their format, and the engine that reads them.

A name that exists is taken literally; only a name that does not exist is read as a pattern. Only the engine that is
needed is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from glob import glob
from pathlib import Path

from discreet.engines.base import Engine
from discreet.engines.duckdb.files import Listing, check_regular, file_snapshot
from discreet.engines.resources import NO_LIMITS, Limits
from discreet.errors import SourceError, did_you_mean

__all__ = ["open_path"]


def open_path(source: str, limits: Limits = NO_LIMITS) -> Engine:
    """An engine over a Parquet or CSV file, all files that a glob matches, all Parquet files of a folder, or "FILE::TABLE".

    Raises:
        SourceError: nothing there, no regular file, one under two names, several formats, unreadable, or no header.
    """
    path = Path(source)
    if "::" in source and not path.exists():
        file, _, table = source.rpartition("::")
        return _open_table(Path(file), table, limits)
    if path.is_dir():
        from discreet.engines.duckdb.folders import parquet_files, partitions_of
        from discreet.engines.duckdb.parquet import open_parquet

        paths = parquet_files(path)
        file_snapshot(paths)
        return open_parquet(paths, partial(parquet_files, path), partitions_of(path, paths), limits)
    listing: Listing = partial(_matching, source) if re.search(r"[*?\[]", source) and not path.exists() else lambda: [path]
    return _open_files(source, listing(), listing, limits)


def _matching(source: str) -> list[Path]:
    found = [Path(name) for name in sorted(glob(source, recursive=True))]  # noqa: PTH207 (absolute and ** patterns)
    return [path for path in found if not path.is_dir()]


def _open_files(source: str, paths: Sequence[Path], listing: Listing, limits: Limits) -> Engine:
    if not paths:
        raise SourceError(f"source '{source}': matches no file")
    file_snapshot(paths)
    endings = {path.suffix.lower() for path in paths}
    if endings == {".csv"}:
        from discreet.engines.duckdb.csv_files import open_csv

        return open_csv(paths, listing, limits)
    if endings == {".parquet"}:
        from discreet.engines.duckdb.folders import NO_PARTITIONS
        from discreet.engines.duckdb.parquet import open_parquet

        return open_parquet(paths, listing, NO_PARTITIONS, limits)
    if len(paths) == 1 and _database_of(paths[0]):
        raise SourceError(f"source '{source}': is a database; name one of its tables, as in '{source}::persons'")
    if len(endings) > 1:
        others = ", ".join(sorted(ending or "no ending" for ending in endings))
        raise SourceError(
            f"source '{source}': matches files with different endings ({others}), and must be .parquet or .csv files, all "
            "of one format; narrow the glob, such as to '*.parquet'"
        )
    raise SourceError(
        f"source '{source}': must be .parquet or .csv files, all of one format"
        f"{did_you_mean(min(endings), ('.parquet', '.csv'))}"
    )


def _open_table(path: Path, table: str, limits: Limits) -> Engine:
    check_regular(path)
    opener = _database_of(path)
    if opener is None:
        raise SourceError(f"source '{path}': is neither a DuckDB nor an SQLite database, and so has no table '{table}'")
    # The log of the file itself: the last writes may be in a log next to its own name, not next to the name of a link.
    return opener(path.resolve(), table, limits)


def _database_of(path: Path) -> Callable[[Path, str, Limits], Engine] | None:
    """The function that opens the tables of the file, chosen by its first bytes."""
    with path.open("rb") as file:
        start = file.read(16)
    if start == b"SQLite format 3\0":
        from discreet.engines.sqlite import open_sqlite_table

        return open_sqlite_table
    if start[8:12] == b"DUCK":
        from discreet.engines.duckdb.database_files import open_duckdb_table

        return open_duckdb_table
    return None
