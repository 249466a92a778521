"""What does not fit into memory goes to a folder that nobody else can enter, and is gone afterwards."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import discreet.engines.duckdb.database as module
from discreet.domain.columns import Category, Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import Engine
from discreet.engines.resources import Limits
from discreet.engines.spill import SpillFolder, new_spill_folder, remove_spill_folder
from discreet.errors import SourceError
from discreet.exact.processes import this_process
from discreet.plan.table import Table
from discreet.statistics import count, sum_of

WORDS = [f"c{i}" for i in range(1000)]
SCHEMA = Schema(a=Category(WORDS), b=Category(WORDS), v=Number(0, 9))
SHORT = Limits(memory="60MB", threads=1)
REQUEST = Table(SCHEMA, AddRemove()).group_by("a", "b").agg(count(), sum_of("v", nulls="skip"))


def many_groups() -> pl.DataFrame:
    """A million groups of one row: what counts them needs about 100 MB."""
    first, second = np.divmod(np.arange(10**6), 1000)
    words = pl.Series(WORDS)
    return pl.DataFrame({"a": words[first], "b": words[second], "v": first % 10})


@contextmanager
def watched(folder: Path) -> Iterator[set[tuple[str, int]]]:
    """Files that were seen below the folder meanwhile, with the mode of the folder that they were in."""
    seen: set[tuple[str, int]] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.001):
            for path in list(folder.rglob("*")):
                if "_storage_" in path.name:
                    with suppress(FileNotFoundError):  # gone while it was looked at
                        seen.add((path.parent.name, path.parent.stat().st_mode & 0o777))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


@pytest.fixture
def short_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds a working folder and a folder for temporary files, for a driver short of memory."""
    for name in ("work", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def counted(engine: Engine) -> int:
    (asked,) = REQUEST.layout.scans
    return int(engine.aggregate(asked.axes, asked.moments).rows.sum())


def test_what_is_spilled_is_private_and_gone_afterwards(short_of_memory: Path) -> None:
    engine = open_source(many_groups(), SCHEMA, SHORT)
    (folder,) = (short_of_memory / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    with watched(short_of_memory) as seen:
        assert counted(engine) == 10**6
    # Something was spilled, else the test shows nothing; and it was nowhere but in that folder.
    assert seen == {(folder.name, 0o700)}
    engine.close()
    assert not list(short_of_memory.glob("*/*"))


class Interrupted:
    """A frame whose streams end in an error while it is broken, after rows enough to be spilled."""

    column_names = ("a", "b", "v")

    def __init__(self, table: pa.Table) -> None:
        self.table, self.broken = table, False

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self.table.schema, self.batches()).__arrow_c_stream__()

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self.table.to_batches(max_chunksize=10_000)
        if self.broken:
            raise OSError("secret")


def test_a_failure_leaves_no_spilled_file(short_of_memory: Path) -> None:
    """The query fails after spilling; what it spilled is gone at once, and the engine can be asked again."""
    frame = Interrupted(many_groups().to_arrow())
    engine = open_source(frame, SCHEMA, SHORT)
    frame.broken = True
    with watched(short_of_memory) as seen, pytest.raises(SourceError, match="could not be read to its end") as failed:
        counted(engine)
    assert seen
    assert "secret" not in str(failed.value)
    assert not list(short_of_memory.glob("*/*"))
    frame.broken = False
    (asked,) = Table(SCHEMA, AddRemove()).agg(count()).layout.scans
    assert engine.aggregate(asked.axes, asked.moments).rows.tolist() == [10**6]
    assert len(list(short_of_memory.glob("temporary/*"))) == 1
    engine.close()
    assert not list(short_of_memory.glob("*/*"))


def test_without_a_folder_nothing_is_spilled(short_of_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(short_of_memory / "missing"))
    engine = open_source(many_groups(), SCHEMA, SHORT)
    with watched(short_of_memory) as seen, pytest.raises(SourceError):
        counted(engine)
    engine.close()
    assert not seen
    assert not list(short_of_memory.glob("*/*"))


def test_the_default_of_the_driver_would_be_noticed(short_of_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database without a folder of its own spills into the working folder, for everybody to read."""
    monkeypatch.setattr(module, "new_spill_folder", lambda _: SpillFolder(".tmp", this_process()))
    engine = open_source(many_groups(), SCHEMA, SHORT)
    with watched(short_of_memory) as seen:
        counted(engine)
    engine.close()
    assert {name for name, _ in seen} == {".tmp"}
    assert {mode for _, mode in seen} != {0o700}


def test_a_forgotten_engine_takes_its_folder_with_it(short_of_memory: Path) -> None:
    engine = open_source(pl.DataFrame({"v": [1]}), Schema(v=Number(0, 9)))
    assert len(list(short_of_memory.glob("temporary/*"))) == 1
    del engine
    assert not list(short_of_memory.glob("*/*"))


def test_tmpdir_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # what the process remembers
    folder = new_spill_folder()
    assert Path(folder.path).parent == tmp_path
    remove_spill_folder(folder)
    assert not list(tmp_path.iterdir())


def test_a_forked_child_leaves_the_folder_alone() -> None:
    folder = new_spill_folder()
    mark, number = folder.process
    remove_spill_folder(SpillFolder(folder.path, (mark, number + 1)))
    remove_spill_folder(SpillFolder(folder.path, (bytes(len(mark)), number)))  # the system has used the number again
    assert Path(folder.path).is_dir()
    remove_spill_folder(folder)
    assert not Path(folder.path).exists()
