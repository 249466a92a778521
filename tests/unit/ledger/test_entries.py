"""The entries of a ledger: what follows what, who made them and when."""

from __future__ import annotations

import getpass
import hashlib
import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from tests.builders import drawn

from discreet.errors import ArgumentError, LedgerError
from discreet.exact import clock as clock_module
from discreet.ledger import Ledger, Publication

from .declared import DECLARATION, amounts, asks, identity


def test_a_release_goes_from_reserved_to_committed_once(ledger: Ledger) -> None:
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    found = ledger.stored(identity(1), "a")
    assert found is not None
    assert (found.sequence, found.plan_digest, found.state, found.payload) == (number, "plan", "reserved", b"")
    ledger.commit(drawn(ledger, number), b"\x00bytes")
    found = ledger.stored(identity(1), "a")
    assert found is not None
    assert (found.state, found.payload) == ("committed", b"\x00bytes")
    for again in (lambda: ledger.commit(number, b"other"), lambda: ledger.fail(number)):
        with pytest.raises(LedgerError, match="committed already"):
            again()
    assert ledger.entries("wages")[-1].payload_digest == hashlib.sha256(b"\x00bytes").hexdigest()


def test_a_failed_release_keeps_its_charge_and_its_name(ledger: Ledger) -> None:
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    ledger.fail(number)
    found = ledger.stored(identity(1), "a")
    assert found is not None
    assert found.state == "failed"
    assert ledger.spent("wages") == amounts("0.1")
    with pytest.raises(LedgerError, match="failed already"):
        ledger.commit(number, b"late")
    with pytest.raises(LedgerError, match="reservation 2 is lost, because it was given up; a new charge"):
        ledger.reserve(identity(1), [asks("a", "0.1")])


@pytest.mark.parametrize("conclude", [None, "commit", "fail"])
def test_a_name_is_used_for_ever(ledger: Ledger, conclude: str | None) -> None:
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    if conclude:
        ledger.commit(drawn(ledger, number), b"") if conclude == "commit" else ledger.fail(number)
    head = ledger.head()
    with pytest.raises(LedgerError, match="name='a'"):
        ledger.reserve(identity(1), [asks("b", "0.1"), asks("a", "0.1")])
    with pytest.raises(LedgerError, match="same name"):
        ledger.reserve(identity(1), [asks("c", "0.1"), asks("c", "0.1")])
    assert ledger.head() == head


@pytest.mark.parametrize("number", [0, 1, 3, -1, 2**70, "2", None])
def test_only_a_reservation_can_be_concluded(ledger: Ledger, number: object) -> None:
    ledger.reserve(identity(1), [asks("a", "0.1")])
    for call in (lambda: ledger.commit(number, b""), lambda: ledger.fail(number)):  # type: ignore[arg-type]
        with pytest.raises(LedgerError, match="no reservation"):
            call()


def test_a_payload_is_bytes(ledger: Ledger) -> None:
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    with pytest.raises(ArgumentError, match="payload"):
        ledger.commit(number, "text")  # type: ignore[arg-type]
    ledger.commit(drawn(ledger, number), b"")
    assert ledger.verify().intact


def test_a_retry_is_known_by_name_and_plan(ledger: Ledger) -> None:
    who = identity(1)
    assert ledger.stored(who, "a") is None
    ledger.reserve(who, [asks("a", "0.1"), asks("b", "0.1", plan="other plan", snapshot="text \udcff")])
    for name, plan in (("a", "plan"), ("b", "other plan")):
        stored = ledger.stored(who, name)
        assert stored is not None
        assert stored.plan_digest == plan
    assert ledger.stored(who, "c") is None


def test_the_fingerprint_of_the_source_is_kept_only_under_a_key(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    snapshot = b"a fingerprint that must not be seen"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(1), [asks("a", "0.1", snapshot=snapshot), asks("b", "0.1", snapshot=snapshot)])
        shown = repr(ledger.entries("wages"))
    content = path.read_bytes()
    for hidden in (snapshot, hashlib.sha256(snapshot).digest(), hashlib.sha256(snapshot).hexdigest().encode()):
        assert hidden not in content
    with Ledger.open(tmp_path / "second.db") as second:
        second.reserve(identity(1), [asks("a", "0.1", snapshot=snapshot)])
    macs: list[bytes] = []
    for file in (path, tmp_path / "second.db"):
        with closing(sqlite3.connect(file)) as connection:
            macs += [row[0] for row in connection.execute("SELECT mac FROM snapshots ORDER BY sequence")]
    assert len(set(macs)) == 5  # two keys, and three hashes that do not show that the source is the same
    assert not any(mac.hex() in shown for mac in macs)
    assert path.stat().st_mode & 0o077 == 0


WITH_TOTALS = DECLARATION[:-1] + ',"invariants":[{"kind":"totals"}]}'


TOTALS = Publication("exact totals", "plan", b"source", '{"columns":["state"]}')


def test_exact_totals_are_published_before_the_first_release_and_cost_nothing(ledger: Ledger) -> None:
    who = identity(1, declaration=WITH_TOTALS)
    assert ledger.published(who) is None
    with pytest.raises(LedgerError, match="publish them before the first release"):
        ledger.reserve(who, [asks("a", "0.1")])
    assert ledger.datasets() == ()
    number = ledger.publish(who, TOTALS)
    assert (number, ledger.identity("wages"), ledger.spent("wages")) == (2, who, (0,))
    assert ledger.published(who) is None
    with pytest.raises(LedgerError, match="publish them before the first release"):
        ledger.reserve(who, [asks("a", "0.1")])
    ledger.commit(number, b"the totals")
    found = ledger.published(who)
    assert found is not None
    assert (found.sequence, found.plan_digest, found.state, found.payload) == (2, "plan", "committed", b"the totals")
    ledger.reserve(who, [asks(TOTALS.name, 1)])  # a name space of their own
    assert ledger.stored(who, "another") is None
    assert [(entry.kind, entry.name, entry.charge) for entry in ledger.entries("wages")] == [
        ("dataset", "", ()),
        ("publish", TOTALS.name, ()),
        ("commit", TOTALS.name, ()),
        ("reserve", TOTALS.name, (1,)),
    ]
    assert ledger.verify().intact


def test_publishing_is_tried_again_until_it_succeeds_and_then_never(ledger: Ledger) -> None:
    who = identity(1, declaration=WITH_TOTALS)
    failed, abandoned, late, winner = (ledger.publish(who, TOTALS) for _ in range(4))
    ledger.fail(failed)
    ledger.commit(winner, b"the totals")
    for again in (lambda: ledger.commit(late, b"others"), lambda: ledger.publish(who, TOTALS)):
        with pytest.raises(LedgerError, match="published already, by entry 7"):
            again()
    for state, number in (("failed", failed), ("committed", winner)):
        with pytest.raises(LedgerError, match=f"{state} already"):
            ledger.commit(number, b"others")
    ledger.reserve(who, [asks("a", 1)])
    ledger.fail(abandoned)
    with pytest.raises(LedgerError, match="published already"):
        ledger.publish(who, TOTALS)
    found = ledger.published(who)
    assert found is not None
    assert (found.sequence, found.payload) == (winner, b"the totals")
    assert ledger.verify().intact


@pytest.mark.parametrize("declaration", [DECLARATION, '{"invariants":[]}', '{"invariants":null}'])
def test_exact_totals_cannot_be_added_later(ledger: Ledger, declaration: str) -> None:
    who = identity(1, declaration=declaration)
    for _ in range(2):
        with pytest.raises(LedgerError, match="lists no invariants"):
            ledger.publish(who, TOTALS)
        if not ledger.datasets():
            ledger.reserve(who, [asks("a", "0.1")])
    with pytest.raises(LedgerError, match=r"invariants: .* in the ledger, "):
        ledger.publish(identity(1, declaration=WITH_TOTALS), TOTALS)
    assert ledger.published(who) is None
    with pytest.raises(LedgerError, match="declared otherwise"):
        ledger.published(identity(1, declaration=WITH_TOTALS))


def test_a_publication_that_cannot_be_written_is_refused_and_creates_no_file(tmp_path: Path) -> None:
    who = identity(1, declaration=WITH_TOTALS)
    with Ledger.open(tmp_path / "budget.db") as ledger:
        for wrong in (
            Publication("", "plan", b""),
            Publication("a", "", b""),
            Publication("a", "plan", 5),  # type: ignore[arg-type]
            Publication("a", "plan", b"", "[]"),
        ):
            with pytest.raises(ArgumentError):
                ledger.publish(who, wrong)
        for unusable in (identity(1, dataset="", declaration=WITH_TOTALS), identity(0, declaration=WITH_TOTALS)):
            with pytest.raises(ArgumentError):
                ledger.publish(unusable, TOTALS)
        with pytest.raises(LedgerError, match="lists no invariants"):
            ledger.publish(identity(1), TOTALS)
    assert list(tmp_path.iterdir()) == []


def test_entries_say_who_when_and_what(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "erika")
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    ledger.commit(drawn(ledger, number), b"x")
    declared, reserved, reading, drawing, committed = ledger.entries("wages")
    kinds = [entry.kind for entry in (declared, reserved, reading, drawing, committed)]
    assert kinds == ["dataset", "reserve", "reading", "drawing", "commit"]
    assert json.loads(declared.details) == {"budget": ["1"], "declaration": DECLARATION, "measure": "pure"}
    assert (reserved.name, reserved.charge, reserved.plan_digest) == ("a", amounts("0.1"), "plan")
    assert reserved.details == '{"law":"laplace"}'
    assert (committed.reservation, committed.name, committed.charge) == (number, "a", ())
    assert (declared.reservation, reserved.reservation) == (0, 0)
    assert {entry.user for entry in (declared, reserved, committed)} == {"erika"}
    assert all(entry.time.endswith("+00:00") for entry in (declared, reserved, committed))
    for entry in (reading, drawing):
        assert (entry.reservation, entry.name, entry.attempt, entry.charge) == (number, "a", 1, ())
    assert reading.holder == drawing.holder != ""
    assert [entry.protocol for entry in (declared, reserved, reading, committed)] == [0, 1, 0, 0]
    assert (ledger.head(), ledger.head_sequence()) == (committed.digest, 5)


@pytest.mark.parametrize("name", [OSError(), KeyError(), ImportError(), "", "a\x00b"], ids=repr)
def test_a_user_without_a_name_is_unknown(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, name: object) -> None:
    def getuser() -> object:
        if isinstance(name, Exception):
            raise name
        return name

    monkeypatch.setattr(getpass, "getuser", getuser)
    ledger.reserve(identity(1), [asks("a", "0.1")])
    assert {entry.user for entry in ledger.entries("wages")} == {"unknown"}


def test_order_is_by_sequence_when_the_clock_jumps(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    real = clock_module.datetime

    class Clock:
        years = iter([2030, 1969, 2031, 1, 9999])

        @classmethod
        def now(cls, zone: object) -> object:
            return real(next(cls.years), 1, 1, tzinfo=zone)  # type: ignore[arg-type]

    monkeypatch.setattr(clock_module, "datetime", Clock)
    for name in ("a", "b", "c", "d"):
        ledger.reserve(identity(1), [asks(name, "0.1")])
    entries = ledger.entries("wages")
    assert [entry.name for entry in entries] == ["", "a", "b", "c", "d"]
    assert [entry.time[:4] for entry in entries] == ["2030", "1969", "2031", "0001", "9999"]
    assert ledger.verify().intact


@pytest.mark.parametrize("wrong", [ValueError, OverflowError, OSError])
def test_a_clock_that_has_no_date_is_unknown(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, wrong: type[Exception]
) -> None:
    class Clock:
        @classmethod
        def now(cls, zone: object) -> object:
            raise wrong

    monkeypatch.setattr(clock_module, "datetime", Clock)
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    ledger.commit(drawn(ledger, number), b"x")
    assert [entry.time for entry in ledger.entries("wages")] == ["unknown"] * 5
    assert ledger.verify().intact


def test_what_is_left_is_the_head_and_the_budget_minus_the_charges(ledger: Ledger) -> None:
    assert ledger.left(identity(1)) == (ledger.head(), (1,))
    ledger.reserve(identity(1), [asks("a", "1/3")])
    ledger.reserve(identity(2, dataset="others"), [asks("a", "1/2")])
    assert ledger.left(identity(1)) == (ledger.head(), ledger.remaining("wages"))
    assert ledger.left(identity(2, dataset="others")) == (ledger.head(), (Fraction(3, 2),))
    assert ledger.left(identity(3, dataset="new")) == (ledger.head(), (3,))
    with pytest.raises(LedgerError, match="declared otherwise"):
        ledger.left(identity(2))


def test_a_ledger_is_opened_for_a_data_set_that_is_new_or_declared_the_same(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open_for(path, identity(1)) as opened:
        assert not path.exists()
        opened.reserve(identity(1), [asks("a", "1/3")])
    with Ledger.open_for(path, identity(1)) as again:
        assert again.left(identity(1))[1] == (Fraction(2, 3),)
    with pytest.raises(LedgerError, match="declared otherwise"):
        Ledger.open_for(path, identity(2))
    with pytest.raises(ArgumentError):
        Ledger.open_for(path, identity(1, dataset=""))
    path.write_bytes(b"no ledger at all" * 100)
    with pytest.raises(LedgerError, match="is not a discreet ledger"):
        Ledger.open_for(path, identity(1))


def test_the_head_stands_for_everything_before(ledger: Ledger) -> None:
    heads = [ledger.head()]
    for name in ("a", "b"):
        (number,) = ledger.reserve(identity(1), [asks(name, "0.1")])
        heads.append(ledger.head())
        ledger.commit(drawn(ledger, number), b"x")
        heads.append(ledger.head())
    assert len(set(heads)) == 5
    for entry in ledger.entries("wages"):
        assert ledger.contains(entry.sequence, entry.digest)
        assert not ledger.contains(entry.sequence + 1, entry.digest)
    assert not ledger.contains(2**70, heads[-1])
    assert not ledger.contains(0, heads[0])
    assert not ledger.contains(-1, "")
