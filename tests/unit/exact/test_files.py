"""Files that stand whole or not at all, durably; drafts of the living and of the dead."""

from __future__ import annotations

import errno
import gc
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.builders import PATIENCE, session_over

from discreet.exact import files as durable
from discreet.exact.files import (
    PREFIX,
    create_file,
    discard,
    draft_in,
    find_abandoned,
    in_draft,
    make_folder,
    replace_file,
    swept,
    try_writing,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="folders are locked as POSIX systems do")


def put(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


class Journal:
    """What a disk would know: which files and folders were synced after they were last touched, seen at each rename."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.synced: dict[int, int] = {}  # inode -> size when it was synced
        self.done: list[str] = []
        real = {name: getattr(os, name) for name in ("fsync", "rename", "replace", "link")}

        def fsync(descriptor: int) -> None:
            real["fsync"](descriptor)
            seen = os.fstat(descriptor)
            self.synced[seen.st_ino] = seen.st_size
            self.done.append(f"sync {seen.st_ino}")

        def named(kind: str) -> Callable[..., None]:
            def call(source: Path, target: Path) -> None:
                seen = os.lstat(source)
                if seen.st_ino in self.synced and self.synced[seen.st_ino] == seen.st_size:
                    self.done.append(f"name {Path(target).name}")
                else:
                    self.done.append(f"name {Path(target).name} before its content is on disk")
                real[kind](source, target)

            return call

        patch.setattr(os, "fsync", fsync)
        for kind in ("rename", "replace", "link"):
            patch.setattr(os, kind, named(kind))


@pytest.mark.parametrize("write", [replace_file, create_file])
def test_content_is_on_disk_before_the_name_and_the_name_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]
) -> None:
    journal = Journal(monkeypatch)
    write(tmp_path / "a", put(b"content"))
    content, folder = (tmp_path / "a").stat().st_ino, tmp_path.stat().st_ino
    assert journal.done == [f"sync {content}", "name a", f"sync {folder}"]
    assert (tmp_path / "a").read_bytes() == b"content"
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_every_file_of_a_saved_release_is_on_disk_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    import discreet as dp

    schema = dp.Schema(g=dp.Category(["x", "y"]))
    with session_over(pl.DataFrame({"g": ["x"]}), schema) as session:
        release = session.release(session.table.group_by("g").agg(dp.count()), spend="0.1", name="r")
    journal = Journal(monkeypatch)
    release.save(tmp_path / "out")
    names = [line for line in journal.done if line.startswith("name")]
    assert sorted(names) == ["name release.json", "name table.csv", "name table.parquet"]
    assert journal.done[-1] == f"sync {(tmp_path / 'out').stat().st_ino}"


def test_every_file_of_a_large_table_is_on_disk_before_the_table_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars as pl

    from discreet.releases.files import DOCUMENT, complete_draft, draft_folder, place_draft, write_part

    journal = Journal(monkeypatch)
    draft = draft_folder(tmp_path)
    for number in range(3):
        write_part(draft.path, number, number, pl.DataFrame({"a": [number]}))
    complete_draft(draft.path, b"document")
    for path in draft.path.iterdir():
        assert journal.synced[path.stat().st_ino] == path.stat().st_size, f"{path.name} is not on disk"
    assert journal.done[-1] == f"sync {draft.path.stat().st_ino}", "nor its name"
    place_draft(draft.path, tmp_path)
    assert journal.done[-1] == f"sync {tmp_path.stat().st_ino}"
    assert (tmp_path / "table" / DOCUMENT).read_bytes() == b"document"


def test_a_planted_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    for place, target in (("a", "victim"), ("b", "nowhere"), ("c", "c")):
        (tmp_path / place).symlink_to(target)
        replace_file(tmp_path / place, put(b"new"))
        assert not (tmp_path / place).is_symlink()
        assert (tmp_path / place).read_bytes() == b"new"
    os.link(tmp_path / "victim", tmp_path / "d")
    replace_file(tmp_path / "d", put(b"new"))
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert not (tmp_path / "nowhere").exists()


def test_a_device_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device of the machine is never risked: one of the test's own, and a folder that stands for that of the system."""
    (tmp_path / "out").symlink_to("elsewhere")
    monkeypatch.setattr(durable, "_DEVICES", tmp_path.resolve())
    for write in (replace_file, create_file):
        for name in ("out", "new"):
            with pytest.raises(OSError, match="where the system has its devices"):
                write(tmp_path / name, put(b"page"))
    monkeypatch.undo()
    try:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("may not make devices")
    with pytest.raises(OSError, match="is a device"):
        replace_file(tmp_path / "null", put(b"page"))
    assert stat.S_ISCHR((tmp_path / "null").lstat().st_mode)


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def fails(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "full")

    for write in (replace_file, create_file):
        with pytest.raises(OSError, match="full"):
            write(tmp_path / "a", fails)
    assert (tmp_path / "a").read_bytes() == b"old"
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "folder", put(b"new"))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "folder"]


@pytest.mark.parametrize("links", [True, False])
def test_what_is_there_is_not_created_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").symlink_to("nowhere")

    def link(source: object, target: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links")

    if not links:
        monkeypatch.setattr(os, "link", link)
    for place in ("a", "b"):
        with pytest.raises(FileExistsError):
            create_file(tmp_path / place, put(b"new"))
    create_file(tmp_path / "c", put(b"new"))
    assert [(tmp_path / name).read_bytes() for name in "ac"] == [b"old", b"new"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "b", "c"]


def test_a_folder_is_made_with_all_above_it_or_none(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b") == [tmp_path / "a" / "b", tmp_path / "a"]
    assert make_folder(tmp_path / "a") == []
    with pytest.raises(OSError, match="long"):
        make_folder(tmp_path / "c" / ("x" * 300) / "d")
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_trying_leaves_nothing_and_makes_nothing(tmp_path: Path) -> None:
    try_writing(tmp_path / "a" / "b")
    try_writing(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match=r"proc|directory"):
        try_writing(Path("/proc/out"))


def test_a_disk_that_is_full_is_found_by_trying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        try_writing(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


# The living and the dead ------------------------------------------------------------------------------------------------

HOLDS = (
    "import os, sys, time; from pathlib import Path; from discreet.exact.files import draft_in\n"
    "draft = draft_in(Path(sys.argv[1])); (draft.path / 'half').write_bytes(b'x'); print(draft.path.name, flush=True)\n"
)


def test_the_draft_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS + "time.sleep(600)\n", tmp_path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        replace_file(tmp_path / "a", put(b"content"))
        assert sorted(one.name for one in tmp_path.iterdir()) == [name, "a"]
        process.send_signal(signal.SIGKILL)
        process.wait()
        replace_file(tmp_path / "a", put(b"content"))
        assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_the_number_of_a_dead_process_says_nothing(tmp_path: Path) -> None:
    """A process that is given the number of the dead one has not its lock: a file with a number would be taken for alive."""
    run = subprocess.run(
        [sys.executable, "-c", HOLDS + "os._exit(0)\n", tmp_path], check=True, capture_output=True, text=True
    )
    (found,) = find_abandoned(tmp_path)
    assert found.path.name == run.stdout.strip()


def test_a_draft_is_locked_while_a_child_of_its_process_lives(tmp_path: Path) -> None:
    code = HOLDS + "print(os.fork() or time.sleep(600), flush=True); os._exit(0)\n"
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        child = int(process.stdout.readline())
        process.wait()
        assert list(find_abandoned(tmp_path)) == []
        os.kill(child, signal.SIGKILL)
        process.stdout.read()  # which the child that ends closes before its lock
        until = time.monotonic() + PATIENCE
        while not (found := list(find_abandoned(tmp_path))) and time.monotonic() < until:
            time.sleep(0.01)
        assert len(found) == 1


def test_a_draft_that_nobody_has_any_more_is_unlocked(tmp_path: Path) -> None:
    draft = draft_in(tmp_path)
    assert list(find_abandoned(tmp_path)) == []
    path = draft.path
    del draft
    gc.collect()
    (found,) = find_abandoned(tmp_path)
    assert found.path == path
    found.let_go()
    found.let_go()  # closes one descriptor, not whatever has its number by now
    swept(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_drafts_are_removed(tmp_path: Path) -> None:
    name = "0123abc_"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    (tmp_path / f"{PREFIX}{name}.draft").symlink_to("elsewhere")
    (tmp_path / f"{PREFIX}{name[::-1]}.draft").write_bytes(b"a file")
    (tmp_path / f"{PREFIX}mine").mkdir()
    (tmp_path / f"{PREFIX}{name}").mkdir()
    (tmp_path / f"{PREFIX}{name}.draft.bak").mkdir()
    os.mkfifo(tmp_path / f"{PREFIX}{'f' * 8}.draft")
    before = sorted(tmp_path.rglob("*"))
    swept(tmp_path)
    swept(tmp_path / "missing")
    assert sorted(tmp_path.rglob("*")) == before


def test_where_folders_cannot_be_locked_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.EBADF, "this file system has no locks on folders")

    monkeypatch.setattr(durable.fcntl, "flock", flock)
    with in_draft(tmp_path) as draft:
        swept(tmp_path)
        assert draft.is_dir()
    left = draft_in(tmp_path)
    left.let_go()
    replace_file(tmp_path / "a", put(b"content"))
    assert sorted(one.name for one in tmp_path.iterdir()) == [left.path.name, "a"]
    monkeypatch.undo()
    swept(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_draft_that_is_swept_before_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, times = durable._lock, iter(range(9))

    def locked(path: Path) -> int | None:
        if next(times) == 0:
            monkeypatch.setattr(durable, "_lock", real)
            swept(tmp_path)
            monkeypatch.setattr(durable, "_lock", locked)
        return real(path)

    monkeypatch.setattr(durable, "_lock", locked)
    draft = draft_in(tmp_path)
    assert draft.path.is_dir()
    assert list(find_abandoned(tmp_path)) == []
    discard(draft)
    assert list(tmp_path.iterdir()) == []


def test_descriptors_are_not_lost(tmp_path: Path) -> None:
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("the system does not list descriptors")
    before = len(list(folder.iterdir()))
    for _ in range(50):
        replace_file(tmp_path / "a", put(b"content"))
        draft = draft_in(tmp_path)
        swept(tmp_path)
        discard(draft)
        with suppress(OSError):
            replace_file(tmp_path / "missing" / "a", put(b"content"))
    assert len(list(folder.iterdir())) == before


@pytest.mark.parametrize("unsupported", [True, False])
def test_a_file_system_that_cannot_sync_folders_is_told_from_a_disk_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, unsupported: bool
) -> None:
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):  # noqa: PTH112
            raise OSError(errno.EINVAL if unsupported else errno.EIO, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    if unsupported:
        replace_file(tmp_path / "a", put(b"content"))
    else:
        with pytest.raises(OSError, match="Input/output error"):
            replace_file(tmp_path / "a", put(b"content"))
