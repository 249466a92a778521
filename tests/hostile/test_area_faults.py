"""Releases of areas in files under fire: the law of large releases holds for them too, whatever is on the disk meanwhile."""

from __future__ import annotations

import itertools
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.releases.areas.scratch import Scratch

from .large_releases import MOMENTS, hidden, killed, lower, recovered, released, settled, states, whole
from .test_large_faults import SECRET, Failing

TALLIED = "releases of areas"


@pytest.fixture(autouse=True)
def _low(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch.setattr)


def judged(place: Path, failure: BaseException | None) -> str:
    """How a release ended that was hit: published, given back at no charge, or charged and nowhere to be seen."""
    kinds, done = states(place), settled(place)
    if failure is None:
        assert done
        return "went on"
    assert not done or str(failure) == dp.ReleaseFailed.UNPLACED
    if not kinds:
        assert isinstance(failure, dp.ArgumentError | dp.LedgerError)
        whole(released(place, kind="areas"))
        return "before"
    assert isinstance(failure, dp.ReleaseFailed)
    assert failure.__context__ is failure.__cause__ is None
    assert SECRET not in str(failure)
    if kinds[-1] == "commit":
        whole(recovered(place, "areas"))
        return "unplaced"
    assert not (place / "out" / "table").exists()
    if str(failure) == dp.ReleaseFailed.UNFINISHED:
        whole(released(place, kind="areas"))
        assert states(place) == ["reserve", "commit"]
        return "unfinished"
    assert str(failure) == dp.ReleaseFailed.TEXT
    with pytest.raises(dp.LedgerError, match="'r'"):
        released(place, kind="areas")
    whole(released(place, "another name", kind="areas"))
    assert not hidden(place / "out")
    return "failed"


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_every_step_that_touches_files_fails_in_turn(folder: Path, tally: Counter[str], stride: int) -> None:
    outcomes: Counter[str] = Counter()
    for nth in itertools.count(0, stride):
        place = folder / str(nth)
        place.mkdir()
        fault, failure = Failing(nth, lasting=False), None
        with pytest.MonkeyPatch.context() as patch:
            fault.patched(patch)
            try:
                released(place, kind="areas")
            except dp.DiscreetError as error:
                failure = error
        if not fault.struck:
            assert failure is None
            assert settled(place)
            break
        outcomes[judged(place, failure)] += 1
        shutil.rmtree(place)
    tally["faults"] += sum(outcomes.values())
    assert set(outcomes) >= {"failed", "unplaced"}, outcomes


@pytest.mark.parametrize("method", ["append", "read"])
@pytest.mark.parametrize("nth", [0, pytest.param(5, marks=pytest.mark.slow)])
def test_a_disk_that_fails_between_the_passes_loses_the_charge_and_shows_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, method: str, nth: int
) -> None:
    seen, real = itertools.count(), getattr(Scratch, method)

    def failing(self: Scratch, *values: Any) -> Any:
        if next(seen) == nth:
            raise OSError(28, SECRET)
        return real(self, *values)

    monkeypatch.setattr(Scratch, method, failing)
    with pytest.raises(dp.ReleaseFailed) as failure:
        released(folder, kind="areas")
    assert judged(folder, failure.value) == "failed"


def changed_source(real: Callable[..., Any], nth: int) -> Callable[..., Any]:
    """An engine whose source changes while its slices are read."""
    seen = itertools.count()
    return lambda self: f"{real(self)} {next(seen) >= nth}"


def test_a_source_that_changes_between_its_slices_has_no_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.engines.duckdb import driver

    monkeypatch.setattr(driver._FrameEngine, "snapshot", changed_source(driver._FrameEngine.snapshot, 2))
    with pytest.raises(dp.ReleaseFailed):
        released(folder, kind="areas")
    assert not (folder / "out" / "table").exists()


@pytest.mark.one_in(6)
@pytest.mark.parametrize("moment", ["between the passes", *MOMENTS])
def test_a_killed_release_is_charged_and_never_half_published(folder: Path, tally: Counter[str], moment: str) -> None:
    killed(folder, moment, "areas")
    assert not (folder / "out" / "release.json").exists()
    if moment in {"between the passes", *MOMENTS[:3]}:
        assert states(folder) == ["reserve"]
        assert not (folder / "out" / "table").exists()
        with pytest.raises(dp.LedgerError, match="'r'"):
            released(folder, kind="areas")
        whole(released(folder, "another name", kind="areas"))
    else:
        assert states(folder) == ["reserve", "commit"]
        assert recovered(folder, "areas") == dp.Release.load(folder / "out")
    assert not hidden(folder / "out"), "numbers between the passes are gone too"
    tally["kills"] += 1
