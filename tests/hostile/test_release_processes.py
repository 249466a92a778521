"""Sessions that race, are killed or forked: no charge is lost or made twice, and no noise is used again."""

from __future__ import annotations

import os
import threading
from collections import Counter
from pathlib import Path

import pytest

from .callers import Caller, alone, check_race, work_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


TALLIED = "releases"


def race_of_threads(path: Path, racers: int, tenths: int) -> None:
    callers = [Caller(path, tenths) for _ in range(racers)]
    won: list[int] = []
    running = [
        threading.Thread(target=lambda c=caller, n=f"racer {number}": won.append(work_of(c, n)))  # type: ignore[misc]
        for number, caller in enumerate(callers)
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    check_race(path, won, tenths)
    for caller in callers:
        caller.session.close()


def test_sessions_that_race_in_threads_for_the_last_of_a_budget(folder: Path, tally: Counter[str]) -> None:
    race_of_threads(folder / "budget.db", 6, 2)
    tally["races"] += 1


@pytest.mark.exhaustive
def test_many_races_of_sessions(folder: Path, tally: Counter[str]) -> None:
    for number in range(50):
        race_of_threads(folder / f"{number}.db", 8, 1 + number % 7)
    tally["races"] += 50 + alone(folder, "races_of_processes", 50, 8)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_sessions_that_are_killed_lose_no_charge(folder: Path, tally: Counter[str], seed: int) -> None:
    tally["kills"] += alone(folder, "killed_while_releasing", 60, seed)


@pytest.mark.exhaustive
def test_children_of_a_fork_and_spawned_processes_draw_noise_of_their_own(folder: Path) -> None:
    assert alone(folder, "noise_after_a_draw", 8, 4) == 13


@pytest.mark.slow
def test_sessions_are_killed_race_have_no_room_and_draw_after_a_fork(folder: Path, tally: Counter[str]) -> None:
    assert alone(folder, "few_of_each") == 5 + 1 + 3
    tally.update({"faults": 2, "kills": 5, "races": 1})
