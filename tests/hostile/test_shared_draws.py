"""Data sets of one secret draw under fire: one total for all processes, an older ledger, damaged rows, a resize beside."""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.builders import drawn

import discreet as dp
from discreet.errors import BudgetExceeded, LedgerError
from discreet.exact.canonical import canonical
from discreet.ledger import Identity, Ledger
from discreet.privacy.population import PopulationGuarantee

from .ledgers import UNIT, asks, forked, identity, outcome

OLD = Path(__file__).parent.parent / "golden" / "frozen" / "v0_1_0" / "ledger.sqlite"
POISSON = dp.AddRemove(sampled=dp.Poisson("1/100", draw="panel"))
ROWS = pl.DataFrame({"g": ["x", "y"] * 50})
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]))


def wave(number: int, units: int) -> Identity:
    """A data set of the draw "panel"."""
    said = {"neighbours": POISSON.to_json()}
    return replace(identity(units, f"wave {number}"), declaration=canonical(said))


def spend_all(path: Path, number: int, units: int) -> int:
    """How many units a data set of the draw gets, asking one after the other until it is refused."""
    found = 0
    with Ledger.open(path) as ledger:
        while True:
            try:
                (sequence,) = ledger.reserve(wave(number, units), [asks(f"r{found}")])
            except BudgetExceeded:
                return found
            ledger.commit(drawn(ledger, sequence), b"given away")
            found += 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_on_data_sets_of_one_draw_spend_one_total(tmp_path: Path) -> None:
    """Four processes, each with a data set of its own: together they get what one alone would get, to the unit."""
    path, units = tmp_path / "budget.db", 13
    with Ledger.open(path) as ledger:
        for number in range(4):
            ledger.reserve(wave(number, units), [asks("first", 1)])
    children = [forked(lambda number=number: spend_all(path, number, units)) for number in range(4)]  # type: ignore[misc]
    won = [outcome(child) for child in children]
    assert sum(won) == units - 4
    with Ledger.open(path) as ledger:
        assert sum(ledger.spent(f"wave {number}")[0] for number in range(4)) == units * UNIT
        assert ledger.verify().intact
        with pytest.raises(BudgetExceeded):
            ledger.reserve(wave(9, units), [asks("late")])


def test_a_ledger_of_an_earlier_version_takes_a_draw(tmp_path: Path) -> None:
    """Its data sets have no draw and keep their own budgets; a draw that is new in it has one of its own."""
    path = tmp_path / "ledger.db"
    shutil.copyfile(OLD, path)
    path.chmod(0o600)
    with Ledger.open(path) as ledger:
        before = {name: ledger.spent(name) for name in ledger.datasets()}
    for name in ("wave 1", "wave 2"):
        with dp.Session(ROWS, SCHEMA, dataset=name, ledger=path, budget=dp.PureDP(1), neighbours=POISSON) as session:
            session.release(session.table.agg(dp.count()), spend="0.4", name="r")
            assert session.population_guarantee == PopulationGuarantee(dp.PureDP(1), POISSON.sampled.rate)
    with dp.Session(ROWS, SCHEMA, dataset="wave 3", ledger=path, budget=dp.PureDP(1), neighbours=POISSON) as session:
        assert session.remaining == dp.PureDP("0.2")
    with Ledger.open(path) as ledger:
        assert {name: ledger.spent(name) for name in before} == before
        assert ledger.verify().intact


def test_a_resize_and_a_sample_beside_a_draw_change_nothing_of_what_the_population_is_promised() -> None:
    """The draw is converted once, from the whole budget; what a resize amplifies is in what the file is charged."""
    with dp.Session(ROWS, SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(2), neighbours=POISSON) as session:
        resized = session.table.impute({"g": dp.Weights({"x": 1, "y": 1})}).resize(40, proportion="1/2")
        first = session.release(resized.group_by("g").agg(dp.count()), spend="0.5", name="resized")
        second = session.release(session.table.sample("1/2").group_by("g").agg(dp.count()), spend="0.5", name="sampled")
        assert session.spent == dp.PureDP(1)
        stated = PopulationGuarantee(dp.PureDP(2), POISSON.sampled.rate).pair(0)[0]
        assert {one.document["population"]["epsilon"] for one in (first, second)} == {float(stated)}


def test_damaged_rows_of_a_draw_are_refused_or_change_nothing(tmp_path: Path) -> None:
    """A flipped bit never gives a data set of the draw more than what is left of the total."""
    written, path, units = tmp_path / "written.db", tmp_path / "budget.db", 10
    with Ledger.open(written) as ledger:
        for number, cost in ((1, 4), (2, 5)):
            (sequence,) = ledger.reserve(wave(number, units), [asks("r", cost)])
            ledger.commit(drawn(ledger, sequence), b"payload " * 50)
    content, refused = written.read_bytes(), 0
    name = content.index(b"panel") * 8
    bits = [*range(name, name + 40), *random.Random(7).sample(range(len(content) * 8), 80)]  # noqa: S311 - reproducible
    path.touch(0o600)
    for bit in bits:
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(damaged))
        try:
            with Ledger.open(path) as ledger:
                with pytest.raises(BudgetExceeded):
                    ledger.reserve(wave(3, units), [asks("too much", 2)])
                ledger.reserve(wave(3, units), [asks("the rest", 1)])
        except LedgerError:
            refused += 1
        path.with_name(path.name + "-journal").unlink(missing_ok=True)
    assert refused >= 40, "a changed name of a draw is always found"
