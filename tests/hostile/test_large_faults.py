"""Large releases under fire: disks, crashes and files that are lost between the reservation, the commit and the last rename.

The law: nothing stands under its final name that was not charged and committed; what was committed is put in its place by
asking for it again, at no charge, or the error says that its numbers are gone; nobody is ever charged twice or too little.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.ledger import Ledger
from discreet.plan import sizes as limits
from discreet.plan.plan import Plan
from discreet.releases import files as parts
from discreet.session import folders as large_files
from discreet.session.orders import Order

SCHEMA = dp.Schema(g=dp.Category(range(40)), h=dp.Category(range(40)), v=dp.Number(0, 100))
FRAME = pl.DataFrame({"g": [*range(20)] * 5, "h": [*range(25)] * 4, "v": [*range(100)]})
SECRET = "the value 42"  # noqa: S105 - what no error may show
TALLIED = "large releases"


@pytest.fixture(autouse=True)
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions take releases of more than 1,000 cells for large, and write them in parts of 500 rows."""
    for module in (limits, large_files):
        monkeypatch.setattr(module, "MOST_WHOLE_CELLS", 1000)
    shorter(monkeypatch.setattr)


def shorter(set_attribute: Callable[[object, str, object], object]) -> None:
    import discreet.releases.publish

    real = discreet.releases.publish.publish
    set_attribute(discreet.releases.publish, "publish", lambda *values, **told: real(*values, **told, rows=500))


def opened(folder: Path) -> dp.Session:
    return dp.Session(
        FRAME, SCHEMA, dataset="d", ledger=folder / "budget.db", budget=dp.PureDP(100), neighbours=dp.AddRemove()
    )


def asked(session: dp.Session) -> Plan:
    return session.table.group_by("g", "h").agg(dp.count(), dp.sum("v", nulls="skip"))


def released(folder: Path, name: str = "r", to: Path | None = None) -> dp.Release:
    with opened(folder) as session:
        return session.release(asked(session), spend="0.1", name=name, to=to or folder / "out")


def states(folder: Path) -> list[str]:
    """The kinds of entries that charge and conclude, in order; what was charged is what they say."""
    if not (folder / "budget.db").exists():
        return []
    with Ledger.open(folder / "budget.db") as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        kinds = [entry.kind for entry in ledger.entries() if entry.kind in {"reserve", "commit", "fail"}]
        assert dict(found.spent).get("d", (0,)) == (Fraction(kinds.count("reserve"), 10),)
        return kinds


def settled(folder: Path, name: str = "r") -> bool:
    """Whether the release is complete under its final names; if it is not, nothing stands there as if it were."""
    place = folder / "out"
    kinds = states(folder)
    if (place / "table").exists():
        assert kinds[-1] == "commit", "numbers under their final name that were not committed"
    if (place / "release.json").exists():
        release = dp.Release.load(place)
        with Ledger.open(folder / "budget.db") as ledger:
            stored = ledger.stored(ledger.identity("d"), name)
        assert stored is not None
        assert stored.payload == release.payload
        assert release.table.height == 41 * 41
        return True
    return False


def recovered(folder: Path) -> dp.Release:
    """What was committed comes back by asking for it again, at no charge, and nothing unfinished is left."""
    before = states(folder).count("reserve")
    release = released(folder)
    assert states(folder).count("reserve") == before
    assert settled(folder)
    assert not parts.drafts_in(folder / "out")
    return release


# Faults of the file system, one after the other -------------------------------------------------------------------------


class Failing:
    """The nth call of the file system about the files of a release fails, once or from then on."""

    def __init__(self, nth: int, *, lasting: bool) -> None:
        self.nth, self.lasting, self.seen, self.struck = nth, lasting, 0, False

    def patched(self, patch: pytest.MonkeyPatch) -> None:
        for name in ("draft_folder", "write_part", "place_draft", "sync_folder", "problem_of"):
            modules = parts, large_files, sys.modules["discreet.releases.publish"]
            homes = [module for module in modules if hasattr(module, name)]
            assert homes, f"nothing is called {name} any more"
            for module in homes:
                patch.setattr(module, name, self._guarded(getattr(module, name)))
        for name in ("chmod", "rename", "replace", "write_bytes"):
            patch.setattr(Path, name, self._counted(getattr(Path, name)))
        patch.setattr(os, "fsync", self._counted(os.fsync))

    def _guarded(self, real: Callable[..., Any]) -> Callable[..., Any]:
        return self._counted(real)

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **options: Any) -> Any:
            number = self.seen
            self.seen += 1
            if number == self.nth or (self.lasting and self.struck):
                self.struck = True
                raise OSError(28, SECRET)
            return real(*values, **options)

        return call


@pytest.mark.parametrize(
    ("stride", "lasting"),
    [(3, False), pytest.param(1, False, marks=pytest.mark.slow), pytest.param(1, True, marks=pytest.mark.exhaustive)],
)
def test_every_step_that_touches_files_fails_in_turn(
    folder: Path, tally: Counter[str], stride: int, *, lasting: bool
) -> None:
    import discreet.releases.publish  # noqa: F401 - patched below

    outcomes: Counter[str] = Counter()
    for nth in itertools.count(0, stride):
        place = folder / str(nth)
        place.mkdir()
        fault = Failing(nth, lasting=lasting)
        failure: BaseException | None = None
        with pytest.MonkeyPatch.context() as patch:
            fault.patched(patch)
            try:
                released(place)
            except dp.DiscreetError as error:
                failure = error
        if not fault.struck:
            assert failure is None
            assert settled(place)
            break
        outcomes[judged(place, failure)] += 1
        shutil.rmtree(place)
    tally["faults"] += sum(outcomes.values())
    assert set(outcomes) >= {"before", "failed", "unplaced"}, outcomes


def judged(place: Path, failure: BaseException | None) -> str:
    """How a release ended that was hit, after all that must be true was looked at."""
    kinds, done = states(place), settled(place)
    if failure is None:
        assert done
        return "went on"
    # All may be there when the disk fails to confirm the last name; that is told, and asking again is free.
    assert not done or str(failure) == dp.ReleaseFailed.UNPLACED
    if not kinds:
        assert isinstance(failure, dp.ArgumentError | dp.LedgerError), "a failure before the reservation is precise"
        assert released(place).parts
        return "before"
    assert isinstance(failure, dp.ReleaseFailed)
    assert failure.__context__ is failure.__cause__ is None
    if kinds[-1] == "commit":
        assert str(failure) == dp.ReleaseFailed.UNPLACED
        assert recovered(place).table.height == 41 * 41
        return "unplaced"
    assert not (place / "out" / "table").exists()
    if str(failure) == dp.ReleaseFailed.UNFINISHED:
        assert kinds == ["reserve"]
        assert released(place).parts
        assert states(place) == ["reserve", "commit"], "finished at no further charge"
        return "unfinished"
    assert str(failure) == dp.ReleaseFailed.TEXT
    with pytest.raises(dp.LedgerError, match="'r'"):
        released(place)
    assert released(place, "another name").parts, "the folder takes the next release"
    return "failed"


# Death at every moment --------------------------------------------------------------------------------------------------

MOMENTS = ("before writing", "between parts", "before the commit", "after the commit", "before release.json")


def dies(folder: Path, moment: str) -> None:
    """A process that is killed at a moment of a release."""
    import discreet.releases.publish

    for module in (limits, large_files):
        setattr(module, "MOST_WHOLE_CELLS", 1000)  # noqa: B010 - in a process of its own
    shorter(setattr)
    written = itertools.count()

    def kill(*_: Any, **__: Any) -> Any:
        os._exit(9)

    def write(*values: Any, **options: Any) -> Any:
        return kill() if next(written) == 2 else write_part(*values, **options)

    write_part = discreet.releases.publish.write_part
    match moment:
        case "before writing":
            discreet.releases.publish.write_part = kill
        case "between parts":
            discreet.releases.publish.write_part = write
        case "before the commit":
            Ledger.commit = kill  # type: ignore[method-assign]
        case "after the commit":
            large_files.place_draft = kill
        case _:
            large_files.replace_file = kill
    released(folder)


def killed(folder: Path, moment: str) -> None:
    code = "import runpy, sys; from pathlib import Path; runpy.run_path(sys.argv[1])['dies'](Path(sys.argv[2]), sys.argv[3])"
    run = subprocess.run(
        [sys.executable, "-c", code, __file__, str(folder), moment], check=False, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 9, run.stderr


@pytest.mark.parametrize(
    "moment", [pytest.param(one, marks=[pytest.mark.exhaustive] * (place % 2 == 0)) for place, one in enumerate(MOMENTS)]
)
def test_a_killed_release_is_charged_and_never_half_published(folder: Path, tally: Counter[str], moment: str) -> None:
    killed(folder, moment)
    assert not (folder / "out" / "release.json").exists()
    if moment in MOMENTS[:3]:
        assert states(folder) == ["reserve"]
        assert not (folder / "out" / "table").exists()
        with pytest.raises(dp.LedgerError, match="'r'"):
            released(folder)
        assert released(folder, "another name").parts
        assert not hidden(folder / "out"), "what will never be committed is gone"
    else:
        assert states(folder) == ["reserve", "commit"]
        assert (folder / "out" / "table").exists() == (moment == MOMENTS[4])
        if moment == MOMENTS[3]:
            with pytest.raises(dp.ArgumentError, match=r"has the files of 'r'\. A process committed it and died"):
                released(folder, "another name")
            assert states(folder) == ["reserve", "commit"]
        assert recovered(folder) == dp.Release.load(folder / "out")
        assert not hidden(folder / "out")
        assert sorted(one.name for one in (folder / "out" / "table").iterdir()) == [
            f"part-0000{n}.parquet" for n in range(4)
        ]
    tally["kills"] += 1


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_the_files_of_a_release_of_another_ledger_are_left_alone(folder: Path) -> None:
    """Only the ledger that a release was reserved in can know that it was never committed."""
    killed(folder, "before the commit")
    (left,) = hidden(folder / "out")
    (folder / "budget.db").rename(folder / "other.db")
    assert released(folder).parts
    assert hidden(folder / "out") == [left]
    (folder / "budget.db").rename(folder / "third.db")
    (folder / "other.db").rename(folder / "budget.db")
    shutil.rmtree(folder / "out" / "table")
    (folder / "out" / "release.json").unlink()
    assert released(folder, "another name").parts
    assert hidden(folder / "out") == []


def test_the_draft_of_a_living_process_is_left_alone(folder: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from discreet.releases.files import draft_folder\n"
        "draft = draft_folder(Path(sys.argv[1])); (draft.path / 'half').write_bytes(b'x')\n"
        "print(draft.path.name, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, folder / "out"], stdout=subprocess.PIPE, text=True) as alive:
        try:
            assert alive.stdout is not None
            name = alive.stdout.readline().strip()
            released(folder)
            assert hidden(folder / "out") == [name]
        finally:
            alive.kill()
    released(folder)
    assert hidden(folder / "out") == [], "it has died"


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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("damage", [cut, emptied, other_text, other_json, altered, piped, linked])
def test_a_document_that_is_none_is_written_again(folder: Path, damage: Callable[[Path], None]) -> None:
    release, place = released(folder), folder / "out" / "release.json"
    damage(place)
    assert released(folder) == release
    assert place.read_bytes() == release.payload
    assert not place.is_symlink()
    assert states(folder) == ["reserve", "commit"]


@pytest.mark.one_in(3)
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


def interrupted() -> Iterator[int]:
    yield from range(3, 60, 7)


def test_an_interruption_leaves_nothing_under_a_final_name_that_is_not_committed(folder: Path, tally: Counter[str]) -> None:
    for nth in interrupted():
        place = folder / str(nth)
        place.mkdir()
        seen = itertools.count()
        real = os.fsync

        def fsync(number: int, real: Callable[[int], None] = real, seen: Iterator[int] = seen, nth: int = nth) -> None:
            if next(seen) == nth // 7:
                raise KeyboardInterrupt
            real(number)

        with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(os, "fsync", fsync)
            released(place)
        if states(place)[-1:] == ["commit"]:
            recovered(place)
        else:
            assert not settled(place)
        tally["faults"] += 1
