"""The folders of large releases: what may be in the way of a release, and what of it can be given back."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.ledger import Ledger
from discreet.session.orders import Order

from .large_releases import asked, lower, opened, recovered, released, states

SECRET = "the value 42"  # noqa: S105 - what no error may show


@pytest.fixture(autouse=True)
def _low(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch.setattr)


def cut(place: Path) -> None:
    place.write_bytes(place.read_bytes()[:100])


def emptied(place: Path) -> None:
    place.write_bytes(b"")


def other_text(place: Path) -> None:
    place.write_text("notes", encoding="utf-8")


def other_json(place: Path) -> None:
    place.write_text('{"name": "app"}', encoding="utf-8")


def altered(place: Path) -> None:
    place.write_bytes(place.read_bytes().replace(b'"d"', b'"e"'))


def piped(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def linked(place: Path) -> None:
    place.rename(place.with_name("elsewhere"))
    place.symlink_to("elsewhere")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("damage", [cut, emptied, other_text, other_json, altered, piped, linked])
def test_a_document_that_is_none_is_written_again(folder: Path, damage: Callable[[Path], None]) -> None:
    release, place = released(folder), folder / "out" / "release.json"
    damage(place)
    assert released(folder) == release
    assert place.read_bytes() == release.payload
    assert not place.is_symlink()
    assert states(folder) == ["reserve", "commit"]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("damage", [cut, emptied, other_text, other_json, altered, piped, linked])
def test_a_document_that_is_none_is_in_nobodys_way(folder: Path, damage: Callable[[Path], None]) -> None:
    released(folder)
    shutil.rmtree(folder / "out" / "table")
    damage(folder / "out" / "release.json")
    assert released(folder, "another name") == dp.Release.load(folder / "out")


def test_a_folder_or_a_newer_document_in_the_way_is_refused_before_the_charge(folder: Path) -> None:
    (folder / "out" / "release.json").mkdir(parents=True)
    with pytest.raises(dp.ArgumentError, match=r"has a folder 'release\.json', which is not replaced"):
        released(folder)
    (folder / "out" / "release.json").rmdir()
    (folder / "out" / "release.json").write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(dp.ArgumentError, match="a release of a newer version of discreet"):
        released(folder)
    (folder / "out" / "release.json").unlink()
    (folder / "out" / "table").symlink_to("nowhere")
    with pytest.raises(dp.ArgumentError, match="holds another release"):
        released(folder)
    assert states(folder) == []


def test_two_names_of_one_folder_are_one_folder(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "b").symlink_to("a")
    with opened(folder) as session, pytest.raises(dp.ArgumentError, match="have the same folder"):
        session.release_all([Order(asked(session), "0.1", name, to=folder / name) for name in "ab"])
    assert states(folder) == []


# What the ledger cannot give back ---------------------------------------------------------------------------------------


def lost(place: Path) -> None:
    shutil.rmtree(place / "table")


def changed(place: Path) -> None:
    path = place / "table" / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")


@pytest.mark.parametrize("damage", [lost, changed])
def test_numbers_that_are_gone_are_not_given_back_and_not_charged_again(
    folder: Path, damage: Callable[[Path], None]
) -> None:
    release = released(folder)
    shutil.copytree(folder / "out", folder / "copy")
    damage(folder / "out")
    with pytest.raises(dp.LedgerError, match=r"is committed and its charge stands, but its table is not in .* as it was"):
        released(folder)
    assert states(folder) == ["reserve", "commit"]
    with pytest.raises(dp.LedgerError, match="is not in"):
        released(folder, to=folder / "elsewhere")
    assert released(folder, to=folder / "copy") == release, "a copy does as well"


def test_a_release_is_given_back_where_nothing_can_be_written_too(folder: Path) -> None:
    release = released(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("write_bytes", "rename", "replace", "mkdir"):
            patch.setattr(Path, name, lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "no")))
        assert released(folder) == release


def test_the_folder_of_another_release_is_not_taken_for_this_one(folder: Path) -> None:
    released(folder)
    other = released(folder, "s", folder / "other")
    with pytest.raises(dp.ArgumentError, match="holds another release than 'r'"):
        released(folder, to=folder / "other")
    assert dp.Release.load(folder / "other") == other


def test_a_release_whose_commit_is_done_and_fails_is_given(folder: Path) -> None:
    """A commit that is done and still raises: the ledger is asked, and the release is given."""
    real = Ledger.commit

    def commits_and_fails(self: Ledger, sequence: int, payload: bytes) -> int:
        real(self, sequence, payload)
        raise OSError(5, SECRET)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "commit", commits_and_fails)
        assert released(folder).parts
    assert states(folder) == ["reserve", "commit"]
    assert recovered(folder).parts


def test_a_source_that_changes_while_it_is_read_leaves_no_numbers(folder: Path) -> None:
    with opened(folder) as session:
        real = session._engine
        looks = itertools.count()

        class Changing:
            header = real.header

            def snapshot(self) -> str:
                return str(next(looks))

            def aggregate(self, axes: Any, moments: Any) -> Any:
                return real.aggregate(axes, moments)

            def close(self) -> None:
                real.close()

        session._engine = Changing()  # type: ignore[assignment]
        with pytest.raises(dp.ReleaseFailed):
            session.release(asked(session), spend="0.1", name="r", to=folder / "out")
    assert states(folder) == ["reserve"]
    assert not list((folder / "out").iterdir())


def test_orders_are_reserved_together_and_each_has_its_folder(folder: Path) -> None:
    with opened(folder) as session:
        orders = [Order(asked(session), "0.1", name, to=folder / name) for name in "ab"]
        small = Order(session.table.agg(dp.count()), "0.1", "c")
        found = session.release_all([*orders, small])
    assert [isinstance(one, dp.Release) and len(one.parts) for one in found] == [4, 4, 0]
    assert dp.Release.load(folder / "a").table["count"].to_list() != dp.Release.load(folder / "b").table["count"].to_list()
