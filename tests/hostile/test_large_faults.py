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
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.releases import files as parts
from discreet.session import folders as large_files

from .large_releases import MOMENTS, hidden, killed, lower, recovered, released, settled, states

SECRET = "the value 42"  # noqa: S105 - what no error may show
TALLIED = "large releases"


@pytest.fixture(autouse=True)
def _low(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch.setattr)


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


@pytest.mark.one_in(2)
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
