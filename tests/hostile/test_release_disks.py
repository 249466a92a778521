"""Full disks, failing file calls and jumping clocks: a release is charged once, stored whole, and can be saved later."""

from __future__ import annotations

import errno
import itertools
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
import discreet.quotes.allocate  # with the next, loaded before children are forked
import discreet.releases.publish
from discreet.exact import clock as clock_module

from .callers import SECRET, Caller, alone

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


TALLIED = "releases"


@pytest.mark.exhaustive
def test_a_release_on_a_disk_that_is_full_at_any_size(folder: Path, tally: Counter[str]) -> None:
    tally["faults"] += alone(folder, "small_disks", 400)


SAVE_CALLS = ("open", "close", "mkdir", "rename", "replace", "unlink", "chmod", "write", "fsync", "stat")


def saves_failing(release: dp.Release, folder: Path) -> int:
    """Every file call of `save` fails in turn, over an older release that was saved in the same folder; how many did."""
    for nth in itertools.count():
        place = folder / str(nth)
        release.save(place)
        older = {path.name: path.read_bytes() for path in place.iterdir()}
        seen = itertools.count()

        def failing(real: Callable[..., Any], nth: int = nth, seen: Iterator[int] = seen) -> Callable[..., Any]:
            def call(*values: Any, **options: Any) -> Any:
                if next(seen) == nth:
                    raise OSError((errno.ENOSPC, errno.EIO, errno.EACCES)[nth % 3], "injected")
                return real(*values, **options)

            return call

        failure: BaseException | None = None
        with pytest.MonkeyPatch.context() as patch:
            for name in SAVE_CALLS:
                patch.setattr(os, name, failing(getattr(os, name)))
            try:
                release.save(place)
            except dp.ArgumentError as error:
                failure = error
        struck = next(seen) > nth
        assert struck or failure is None
        assert dp.Release.load(place) == release
        found = {path.name: path.read_bytes() for path in place.iterdir() if not path.name.startswith(".")}
        assert found == older, "a file is neither the old nor the new one"
        shutil.rmtree(place)
        if not struck:
            return nth
    raise AssertionError


def test_every_file_call_of_save_fails_in_turn(folder: Path, tally: Counter[str]) -> None:
    caller = Caller(folder / "budget.db")
    assert caller.release(caller.request(), "r") is None
    faults = saves_failing(caller.given["r"], folder)
    assert faults > 10
    assert caller.settle() == 1
    tally["faults"] += faults


def test_a_release_that_could_not_be_saved_is_given_back_and_saved_later(folder: Path, tally: Counter[str]) -> None:
    caller = Caller(folder / "budget.db")
    assert caller.release(caller.request(), "r") is None
    (folder / "file").write_text("no folder")
    with pytest.raises(dp.ArgumentError, match="cannot be written"):
        caller.given["r"].save(folder / "file")
    caller.session.close()
    caller.session = caller.open()
    assert caller.release(caller.request(), "r") is None
    caller.given["r"].save(folder / "out")
    assert dp.Release.load(folder / "out") == caller.given["r"]
    assert caller.settle() == 1
    tally["faults"] += 1


def test_a_retry_gives_the_stored_release_back_only_if_its_bytes_verify(folder: Path, tally: Counter[str]) -> None:
    caller = Caller(folder / "budget.db")
    request = caller.request()
    assert caller.release(request, "r") is None
    payload, content = caller.given["r"].payload, caller.path.read_bytes()
    start = content.index(payload[:200])
    dice = random.Random(1)  # noqa: S311 - reproducible
    for _ in range(20):
        place = start + dice.randrange(min(len(payload), 200))
        damaged = bytearray(content)
        damaged[place] ^= 1 << dice.randrange(8)
        caller.path.write_bytes(damaged)
        failure = caller.release(request, "r")
        assert isinstance(failure, dp.LedgerError)
        assert "damaged copy of the release 'r'" in str(failure)
        assert caller.engine.looks == [1]
        tally["faults"] += 1
    caller.path.write_bytes(content)
    assert caller.release(request, "r") is None
    assert caller.given["r"].payload == payload
    assert caller.settle() == 1


def test_no_release_depends_on_a_clock_that_jumps(
    folder: Path, tally: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(2)  # noqa: S311 - reproducible
    real = clock_module.datetime

    class Clock:
        @classmethod
        def now(cls, zone: object) -> object:
            tally["faults"] += 1
            if dice.random() < 0.2:
                raise OverflowError(SECRET)
            return real(dice.randint(1, 9999), 1, 1, tzinfo=zone)  # type: ignore[arg-type]

    caller = Caller(folder / "budget.db", tenths=5)
    monkeypatch.setattr(clock_module, "datetime", Clock)
    for name in ("time", "time_ns", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: dice.randint(-(10**12), 10**12))
    for _ in range(5):
        assert caller.release(caller.request()) is None
    assert isinstance(caller.release(caller.request()), dp.BudgetExceeded)
    assert caller.settle() == 5
