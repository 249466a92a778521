"""Processes that are killed while they spend: no charge that was acknowledged is lost."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from tests.builders import drawn

from discreet.ledger import Ledger

from .ledgers import TOTALS, UNIT, asks, forked, outcome, with_totals

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


TALLIED = "ledger"


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    """Every file of these tests lies in memory, if it can."""
    return folder


def spend_until_killed(path: Path, life: str, acknowledge: int) -> int:
    """Publishes totals, reserves pairs and commits every first, acknowledging each step after the call has returned."""
    ledger = Ledger.open(path)
    number, who = 0, with_totals(10**6)
    if ledger.published(who) is None:
        ledger.commit(ledger.publish(who, TOTALS), b"totals" * 3000)
        os.write(acknowledge, b"published totals\n")
    while True:
        number += 1
        first, _ = ledger.reserve(who, [asks(f"{life}.{number}.a"), asks(f"{life}.{number}.b")])
        os.write(acknowledge, f"reserved {life}.{number}\n".encode())
        ledger.commit(drawn(ledger, first), f"{life}.{number}".encode() * 3000)
        os.write(acknowledge, f"committed {life}.{number}\n".encode())


def kill_at_random(path: Path, life: str, seconds: float) -> list[str]:
    """What a child acknowledged before it was killed."""
    reading, writing = os.pipe()
    child = forked(lambda: spend_until_killed(path, life, writing))
    os.close(writing)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert outcome(child) == -signal.SIGKILL
    with os.fdopen(reading) as pipe:
        return pipe.read().splitlines()


def check_after_kill(path: Path, acknowledged: list[str], before: Fraction, life: str) -> Fraction:
    with Ledger.open(path) as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        published = ledger.published(with_totals(10**6))
        if published is None:
            assert not acknowledged
            return Fraction(0)
        assert published.payload == b"totals" * 3000
        acknowledged = [line for line in acknowledged if line != "published totals"]
        names = {entry.name for entry in ledger.entries("totals") if entry.kind == "reserve"}
        ours = {name for name in names if name.startswith(f"{life}.")}
        assert all(name[:-1] + other in ours for name in ours for other in "ab"), "one of a pair was reserved alone"
        for line in acknowledged:
            what, number = line.split(" ")
            assert {f"{number}.a", f"{number}.b"} <= ours, "an acknowledged charge was lost"
            stored = ledger.stored(with_totals(10**6), f"{number}.a")
            assert stored is not None
            if what == "committed":
                assert stored.payload == number.encode() * 3000
        reserved = sum(line.startswith("reserved") for line in acknowledged)
        assert len(ours) in (2 * reserved, 2 * reserved + 2)
        spent = ledger.spent("totals")[0] / UNIT
        assert spent == before + len(ours) == len(names)
        return spent


def killed_again_and_again(folder: Path, rounds: int, seed: int) -> tuple[int, int]:
    """How many kills there were, and how many fell between a call and its acknowledgement."""
    dice = random.Random(seed)  # noqa: S311 - reproducible
    path, spent, between = folder / "0.db", Fraction(0), 0
    for life in range(rounds):
        if life % 4 == 0:  # a new file, so that kills also hit its creation
            path, spent = folder / f"{life}.db", Fraction(0)
        acknowledged = kill_at_random(path, str(life), dice.uniform(0, 0.03))
        after = check_after_kill(path, acknowledged, spent, str(life))
        between += after - spent != 2 * sum(line.startswith("reserved") for line in acknowledged)
        spent = after
    return rounds, between


def test_killed_processes_lose_no_charge(tmp_path: Path, tally: Counter[str]) -> None:
    tally["kills"] += killed_again_and_again(tmp_path, 20, seed=1)[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_killed_processes_lose_no_charge(tmp_path: Path, tally: Counter[str], seed: int) -> None:
    kills, between = killed_again_and_again(tmp_path, 120, seed)
    tally["kills"] += kills
    tally["kills between a charge and its acknowledgement"] += between
