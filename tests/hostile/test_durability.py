"""What a power cut can take away: every file that a release rests on is on disk before anything says that it is there.

`os.fsync` is watched. Of each call it is known which file or folder it was for (its inode), how many bytes the file had then
and which names the folder held then: what was written afterwards could still be lost.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.exact import files as durable
from discreet.ledger import Ledger, store
from discreet.plan import sizes as limits
from discreet.releases.files import TABLE, copy_table, draft_folder, place_draft, write_part
from discreet.session import folders as large_files

ROWS = pl.DataFrame({"g": [*range(50)], "count": [*range(50)]})


def names(folder: Path) -> frozenset[str]:
    return frozenset(path.name for path in folder.iterdir())


@dataclass
class Watched:
    """The calls of fsync in order, and the moments that a test marks between them."""

    seen: list[tuple[str, int, object]] = field(default_factory=list)

    def mark(self, moment: str) -> None:
        self.seen.append((moment, 0, None))

    def synced(self, number: int) -> None:
        found = os.fstat(number)
        is_folder = stat.S_ISDIR(found.st_mode)
        held = names(Path(f"/proc/self/fd/{number}")) if is_folder else found.st_size
        self.seen.append(("synced", found.st_ino, held))

    def before(self, moment: str) -> Watched:
        return Watched(self.seen[: [name for name, _, _ in self.seen].index(moment)])

    def after(self, moment: str) -> Watched:
        return Watched(self.seen[[name for name, _, _ in self.seen].index(moment) :])

    def holds(self, path: Path) -> bool:
        """Whether the file was synced as long as it is, or the folder with at least the names that it has."""
        last = [held for _, inode, held in self.seen if inode == path.stat().st_ino]
        if not last:
            return False
        return names(path) <= last[-1] if path.is_dir() else last[-1] == path.stat().st_size


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    watching, real = Watched(), os.fsync

    def fsync(number: int) -> None:
        real(number)
        watching.synced(number)

    monkeypatch.setattr(os, "fsync", fsync)
    return watching


def test_a_part_is_on_disk_to_its_last_byte_before_anybody_hears_of_it(tmp_path: Path, watched: Watched) -> None:
    draft = draft_folder(tmp_path)
    part = write_part(draft.path, 0, 0, ROWS)
    file = draft.path / Path(part.file).name
    assert file.stat().st_size == part.size > 0
    assert watched.holds(file)


def test_a_table_has_its_name_on_disk_once_it_is_placed(tmp_path: Path, watched: Watched) -> None:
    draft = draft_folder(tmp_path)
    write_part(draft.path, 0, 0, ROWS)
    place_draft(draft.path, tmp_path)
    assert {entry.name for entry in tmp_path.iterdir()} == {TABLE}
    assert watched.holds(tmp_path)


def test_a_copied_table_is_on_disk_with_every_file_before_it_gets_its_name(tmp_path: Path, watched: Watched) -> None:
    draft, other = draft_folder(tmp_path), tmp_path / "other"
    parts = [write_part(draft.path, 0, 0, ROWS), write_part(draft.path, 1, 50, ROWS.head(7))]
    watched.seen.clear()
    copy_table(parts, draft.path, other)
    for name in (Path(part.file).name for part in parts):
        assert watched.holds(other / TABLE / name)
    assert watched.holds(other / TABLE)  # the draft folder, synced before it got this name
    assert watched.holds(other)


def test_the_names_in_a_folder_are_synced(tmp_path: Path, watched: Watched) -> None:
    (tmp_path / "one").write_bytes(b"1")
    durable.sync_folder(tmp_path)
    assert watched.holds(tmp_path)


def test_a_new_ledger_has_its_name_on_disk(tmp_path: Path, watched: Watched) -> None:
    store.Store(tmp_path / "budget.db", 1.0).create()
    assert watched.holds(tmp_path)


def test_the_files_of_a_large_release_are_on_disk_before_the_commit_and_their_name_after_it(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (limits, large_files):
        monkeypatch.setattr(module, "MOST_WHOLE_CELLS", 10)
    commit = Ledger.commit

    def committing(*given: object, **named: object) -> object:
        watched.mark("commit")
        return commit(*given, **named)

    monkeypatch.setattr(Ledger, "commit", committing)
    schema = dp.Schema(g=dp.Category(range(40)))
    with session_over(ROWS.select("g"), schema, ledger=tmp_path / "b.db") as session:
        session.release(session.table.group_by("g").agg(dp.count()), spend="0.1", name="r", to=tmp_path / "out")
    files = sorted((tmp_path / "out" / TABLE).iterdir())
    assert files
    for path in (*files, tmp_path / "out" / TABLE):
        assert watched.before("commit").holds(path)
    after = watched.after("commit")
    assert any(isinstance(held, frozenset) and TABLE in held for _, _, held in after.seen)


@pytest.mark.parametrize(
    ("pragma", "value"), [("synchronous", 3), ("fullfsync", 1), ("trusted_schema", 0), ("cell_size_check", 1)]
)
def test_every_connection_to_a_ledger_is_as_careful_as_sqlite_can_be(tmp_path: Path, pragma: str, value: int) -> None:
    """EXTRA syncs the folder after the journal is gone as well; without it a commit can come undone after a power cut."""
    store.Store(tmp_path / "budget.db", 1.0).create()
    connection = store._connect(tmp_path / "budget.db", 1.0)
    try:
        assert connection.execute(f"PRAGMA {pragma}").fetchone() == (value,)
    finally:
        connection.close()
