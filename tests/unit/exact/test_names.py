"""Names of data sets and releases: a letter written in two ways is one letter, also in ledgers that know both."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import drawn, plan_text
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.exact.names import one_form, spellings
from discreet.ledger import Identity, Ledger, Reservation
from discreet.session.orders import Order

pytestmark = pytest.mark.usefixtures("one_artist")

ONE = "l\u00f6hne"  # ö as one character
TWO = "lo\u0308hne"  # o and the dots above it
FRAME = pl.DataFrame({"g": ["a", "b", "a"]})
SCHEMA = dp.Schema(g=dp.Category(["a", "b"]))
TENTH = (Fraction(1, 10),)


@contextmanager
def as_before() -> Iterator[None]:
    """Names are compared as they are written, as in 0.1.0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unicodedata, "normalize", lambda _form, text: text)
        yield


def session(ledger: Path, dataset: str) -> dp.Session:
    return dp.Session(FRAME, SCHEMA, dataset=dataset, ledger=ledger, budget=dp.ZCDP(1), neighbours=dp.AddRemove())


def counts(one: dp.Session, name: str, spend: str = "0.1") -> dp.Release:
    return one.release(one.table.group_by("g").agg(dp.count()), spend=spend, name=name)


def who(dataset: str) -> Identity:
    return Identity(dataset, "{}", "zcdp", (Fraction(1),))


def asks(name: str) -> Reservation:
    return Reservation(name, TENTH, "plan", b"source")


def test_the_two_ways_differ() -> None:
    assert ONE != TWO
    assert one_form(ONE) == one_form(TWO) == ONE
    assert spellings(TWO, ["x", TWO, ONE, ONE.upper()]) == (TWO, ONE)
    assert spellings("K", ["k", "K", "\u212a"]) == ("K", "\u212a")  # the sign of Kelvin is the letter, and not ASCII


@pytest.mark.parametrize(("first", "second"), [(ONE, TWO), (TWO, ONE)])
def test_two_spellings_of_a_data_set_have_one_budget(tmp_path: Path, first: str, second: str) -> None:
    ledger = tmp_path / "budget.db"
    with session(ledger, first) as one:
        counts(one, "a", "0.7")
    with session(ledger, second) as one:
        assert one.remaining == dp.ZCDP("0.3")
        with pytest.raises(dp.BudgetExceeded):
            counts(one, "b", "0.4")
    with Ledger.open(ledger) as opened:
        assert opened.datasets() == (ONE,)


@pytest.mark.parametrize(("first", "second"), [(ONE, TWO), (TWO, ONE)])
def test_two_spellings_of_a_release_are_one_name(tmp_path: Path, first: str, second: str) -> None:
    with session(tmp_path / "budget.db", "d") as one:
        release = counts(one, first)
        assert release.name == ONE
        assert counts(one, second).digest == release.digest
        assert one.spent == dp.ZCDP("0.1")
        with pytest.raises(dp.LedgerError, match="same name"):
            one.release_all([Order(one.table.agg(dp.count()), "0.1", name) for name in ("x" + first, "x" + second)])


def test_an_older_ledger_is_found_under_both_spellings_and_shown_as_it_was_written(tmp_path: Path) -> None:
    ledger = tmp_path / "budget.db"
    with as_before(), session(ledger, TWO) as one:
        stored = counts(one, TWO)
    assert (stored.dataset, stored.name) == (TWO, TWO)
    for spelling in (ONE, TWO):
        with session(ledger, spelling) as one:
            assert one.spent == dp.ZCDP("0.1")
            assert counts(one, spelling).payload == stored.payload
    with session(ledger, ONE) as one:
        counts(one, "more")
    with Ledger.open(ledger) as opened:
        assert opened.verify().intact
        assert opened.datasets() == (TWO,)
        assert {entry.dataset for entry in opened.entries(ONE)} == {TWO}  # so that 0.1.0 can go on with it too
        assert opened.spent(ONE) == opened.spent(TWO) == (Fraction(2, 10),)
        assert opened.identity(ONE).dataset == TWO
    with as_before(), session(ledger, TWO) as one:
        assert one.spent == dp.ZCDP("0.2")


def uses() -> list[Callable[[Ledger, Identity], Any]]:
    return [
        lambda ledger, identity: ledger.check(identity),
        lambda ledger, identity: ledger.left(identity),
        lambda ledger, identity: ledger.stored(identity, "a"),
        lambda ledger, identity: ledger.reserve(identity, [asks("b")]),
    ]


@pytest.mark.parametrize("use", uses())
@pytest.mark.parametrize("spelling", [ONE, TWO])
def test_nothing_is_spent_from_two_older_data_sets_that_have_one_name(
    tmp_path: Path, use: Callable[[Ledger, Identity], Any], spelling: str
) -> None:
    path = tmp_path / "budget.db"
    with as_before(), Ledger.open(path) as ledger:
        for dataset in (ONE, TWO):
            ledger.commit(drawn(ledger, ledger.reserve(who(dataset), [asks("a")])[0]), dataset.encode())
    with Ledger.open(path) as ledger:
        with pytest.raises(dp.LedgerError, match=r"holds 2 data sets of that name, written 'l\\xf6hne' and 'lo\\u0308hne'"):
            use(ledger, who(spelling))
        assert ledger.verify().intact
        assert ledger.datasets() == (ONE, TWO)
        assert ledger.spent(ONE) == ledger.spent(TWO) == TENTH
        assert {entry.dataset for entry in ledger.entries(TWO)} == {TWO}
        ledger.reserve(who("another"), [asks("a")])


def test_two_older_releases_of_one_name_stay_and_the_one_in_the_form_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with as_before(), Ledger.open(path) as ledger:
        for name in (TWO, ONE):
            ledger.commit(drawn(ledger, ledger.reserve(who("d"), [asks(name)])[0]), name.encode())
    with Ledger.open(path) as ledger:
        found = ledger.stored(who("d"), ONE)
        assert found is not None
        assert found.payload == ONE.encode()
        with pytest.raises(dp.LedgerError, match="names are unique"):
            ledger.reserve(who("d"), [asks("l\u00f6hne")])
        assert ledger.spent("d") == (Fraction(2, 10),)
        assert ledger.verify().intact


@pytest.mark.parametrize("other", [ONE.upper(), "lohne", "l\u03bfhne", "\ufb01" + ONE[1:], ONE + "\u0308"])
def test_names_that_only_look_alike_are_others(tmp_path: Path, other: str) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.reserve(who(ONE), [asks(ONE)])
        ledger.reserve(who(ONE), [asks(other)])
        ledger.reserve(who(other), [asks("a")])
        assert len(ledger.datasets()) == 2


@pytest.mark.parametrize("name", ["a\u200bb", "a\u00adb", "a\u202eb", "\ufeffa", "a\n"])
def test_invisible_characters_are_in_no_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(dp.ArgumentError, match="printable"), session(tmp_path / "budget.db", name):
        pass


PLAN = plan_text("names")


@pytest.mark.slow
def test_commands_find_an_older_data_set_and_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("g\na\nb\n", encoding="utf-8")

    def run(spelling: str, *command: str) -> str:
        Path("plan.toml").write_text(PLAN.format(dataset=spelling, name=spelling), encoding="utf-8")
        result = CliRunner().invoke(app, [command[0], "plan.toml", *command[1:]])
        assert result.exit_code == 0, result.output
        return result.stdout

    with as_before():
        run(TWO, "release", "--out", "out")
    for spelling in (ONE, TWO):
        facts = json.loads(run(spelling, "quote", "--json"))
        assert (facts["charge"], facts["remaining"]) == (["0"], ["0.9"])
        assert "is in the ledger" in run(spelling, "check")
        assert "no new charge" in run(spelling, "release", "--out", "out")
    shown = CliRunner().invoke(app, ["ledger", "show", "budget.db", "--dataset", ONE])
    assert f"data set '{TWO}'" in shown.stdout
