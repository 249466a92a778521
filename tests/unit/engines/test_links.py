"""A file is counted once, whatever it is called: a person whose rows were counted twice would be protected half as well."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp

SCHEMA = dp.Schema(g=dp.Category(["a", "b"]))
FRAME = pl.DataFrame({"g": ["a", "b", "b"]})


def symbolic(file: Path, folder: Path) -> None:
    (folder / f"q{file.suffix}").symlink_to(file)


def hard(file: Path, folder: Path) -> None:
    os.link(file, folder / f"q{file.suffix}")


def of_a_link(file: Path, folder: Path) -> None:
    elsewhere = folder.parent / f"elsewhere{file.suffix}"
    elsewhere.symlink_to(file)
    (folder / f"q{file.suffix}").symlink_to(elsewhere)


def linked_folder(file: Path, folder: Path) -> None:
    (folder / "again").symlink_to(file.parent)


def written(folder: Path, ending: str, name: str = "p") -> Path:
    place = folder / "in"
    place.mkdir(exist_ok=True, parents=True)
    path = place / f"{name}.{ending}"
    FRAME.write_csv(path) if ending == "csv" else FRAME.write_parquet(path)
    return path


def opened(source: str, ledger: Path | str = ":memory:") -> dp.Session:
    return session_over(source, SCHEMA, ledger=ledger, budget=dp.PureDP(10**6))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("link", [symbolic, hard, of_a_link])
def test_two_names_of_one_file_are_refused(tmp_path: Path, ending: str, link: Callable[[Path, Path], None]) -> None:
    file = written(tmp_path / "data", ending)
    link(file, file.parent)
    sources = [f"{file.parent}/*.{ending}", f"{tmp_path}/data/**/*.{ending}"]
    for source in sources + ([str(file.parent)] if ending == "parquet" else []):
        with pytest.raises(dp.SourceError, match=r"is the same file as .* would be counted twice; remove the link"):
            opened(source)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_that_a_pattern_reaches_twice_is_refused(tmp_path: Path, ending: str) -> None:
    file = written(tmp_path / "data", ending)
    linked_folder(file, tmp_path / "data")
    with pytest.raises(dp.SourceError, match="is the same file as"):
        opened(f"{tmp_path}/data/**/*.{ending}")


def test_a_file_that_is_named_once_may_have_other_names(tmp_path: Path) -> None:
    file = written(tmp_path / "data", "parquet")
    hard(file, tmp_path / "data")
    for source in (str(file), str(tmp_path / "data" / "q.parquet"), f"{file.parent}/*.parquet", str(file.parent)):
        with opened(source) as session:
            assert session.release(session.table.agg(dp.count()), name="r").table["count"].to_list() == [3]


@pytest.mark.parametrize("pattern", ["", "/*.parquet"])
@pytest.mark.parametrize("link", [symbolic, hard])
def test_a_link_that_takes_the_place_of_a_file_is_refused_before_a_charge(
    tmp_path: Path, pattern: str, link: Callable[[Path, Path], None]
) -> None:
    """The names stay, so that only what they lead to tells."""
    file = written(tmp_path / "data", "parquet")
    other = written(tmp_path / "data", "parquet", "q")
    with opened(f"{file.parent}{pattern}", tmp_path / "l.db") as session:
        other.unlink()
        link(file, file.parent)
        with pytest.raises(dp.SourceError, match="is the same file as"):
            session.release(session.table.agg(dp.count()), spend=1, name="r")
        assert session.spent == dp.PureDP(0)
    assert not (tmp_path / "l.db").exists()


def test_a_link_that_takes_the_place_of_a_file_while_it_is_read_ends_the_release(tmp_path: Path) -> None:
    file = written(tmp_path / "data", "parquet")
    other = written(tmp_path / "data", "parquet", "q")
    with opened(str(file.parent)) as session, pytest.MonkeyPatch.context() as patch:
        real = session._engine.aggregate

        def meanwhile(axes, moments):  # type: ignore[no-untyped-def]
            other.unlink()
            hard(file, file.parent)
            return real(axes, moments)

        patch.setattr(session._engine, "aggregate", meanwhile)
        with pytest.raises(dp.ReleaseFailed):
            session.release(session.table.agg(dp.count()), spend=1, name="r")


@pytest.mark.parametrize("level", ["file", "folder"])
def test_a_link_that_leads_elsewhere_for_a_moment_ends_the_release(tmp_path: Path, level: str) -> None:
    """Before and after the reading all names lead to the files that they led to when the source was opened."""
    first, second = (written(tmp_path / name, "parquet") for name in ("one", "two"))
    folder = tmp_path / "data"
    folder.mkdir()
    places = [folder / ("a.parquet" if level == "file" else "a"), folder / ("b.parquet" if level == "file" else "b")]
    targets = [path if level == "file" else path.parent for path in (first, second)]
    for place, target in zip(places, targets, strict=True):
        place.symlink_to(target)
    with opened(f"{folder}/**/*.parquet") as session, pytest.MonkeyPatch.context() as patch:
        real = session._engine.aggregate

        def meanwhile(axes, moments):  # type: ignore[no-untyped-def]
            places[1].unlink()
            places[1].symlink_to(targets[0])
            found = real(axes, moments)
            places[1].unlink()
            places[1].symlink_to(targets[1])
            return found

        patch.setattr(session._engine, "aggregate", meanwhile)
        with pytest.raises(dp.ReleaseFailed):
            session.release(session.table.agg(dp.count()), spend=1, name="r")


def test_a_database_is_read_with_the_log_of_the_file_and_not_of_its_link(tmp_path: Path) -> None:
    """Beside a link lies no log: rows that are only in the log would be missing, and changes to it unseen."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(tmp_path / "a.db")) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("CREATE TABLE persons (g TEXT)")
        writer.commit()
        (tmp_path / "links").mkdir()
        (tmp_path / "links" / "b.db").symlink_to(tmp_path / "a.db")
        writer.executemany("INSERT INTO persons VALUES (?)", [("a",)] * 3)
        writer.commit()
        with opened(f"{tmp_path}/links/b.db::persons") as session:
            before = session._engine.snapshot()
            assert session.release(session.table.agg(dp.count()), spend=10**5, name="r").table["count"].to_list() == [3]
            writer.execute("INSERT INTO persons VALUES ('b')")
            writer.commit()
            assert session._engine.snapshot() != before
