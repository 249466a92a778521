"""The ledger as its callers see it: identity, exact budgets, names, states, give-back, several data sets, errors."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import ArgumentError, BudgetExceeded, LedgerError
from discreet.exact.numbers import exact
from discreet.ledger import Identity, Ledger, Publication, Reservation
from discreet.ledger import drafts as drafts_module
from discreet.ledger import reading as reading_module
from discreet.ledger.book import Book, Row

DECLARATION = '{"neighbours":{"kind":"replace-one","rows":100},"schema":{"age":[0,110]}}'


def amounts(*values: object) -> tuple[Fraction, ...]:
    return tuple(exact(value, "amount") for value in values)  # type: ignore[arg-type]


def identity(*budget: object, dataset: str = "wages", measure: str = "pure", declaration: str = DECLARATION) -> Identity:
    return Identity(dataset, declaration, measure, amounts(*(budget or (1,))))


def asks(name: str, *charge: object, plan: str = "plan", snapshot: bytes | str = b"source") -> Reservation:
    return Reservation(name, amounts(*charge), plan, snapshot, '{"law":"laplace"}')


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path):
    with Ledger.open(tmp_path / "budget.db" if request.param == "file" else ":memory:") as opened:
        yield opened


# The budget ---------------------------------------------------------------------------------------------------------


def test_ten_tenths_fit_and_the_eleventh_does_not(ledger: Ledger) -> None:
    for number in range(10):
        ledger.reserve(identity(1), [asks(f"r{number}", 0.1)])
    assert ledger.remaining("wages") == (0,)
    for more in ("0.1", "1e-18", 5e-324, "1e-1000"):
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(1), [asks("more", more)])
    assert ledger.spent("wages") == (1,)


def test_what_equals_the_rest_is_accepted_and_a_hair_more_is_refused(ledger: Ledger) -> None:
    ledger.reserve(identity(1), [asks("first", "1/3")])
    over = Fraction(2, 3) + Fraction(1, 10**18)
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve(identity(1), [asks("second", over)])
    assert caught.value.requested == (over,)
    assert caught.value.remaining == (Fraction(2, 3),)
    assert caught.value.difference == (Fraction(1, 10**18),)
    assert "largest spend that fits is 2/3" in str(caught.value)
    ledger.reserve(identity(1), [asks("second", "2/3")])
    assert ledger.remaining("wages") == (0,)


def test_every_coordinate_must_fit(ledger: Ledger) -> None:
    who = identity(1, "1e-9", measure="approx")
    ledger.reserve(who, [asks("a", "0.5", "1e-9")])
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve(who, [asks("b", "0.1", "1e-30")])
    assert caught.value.difference == (0, Fraction(1, 10**30))
    ledger.reserve(who, [asks("pure", "0.5", 0)])
    assert ledger.spent("wages") == amounts(1, "1e-9")


def test_reservations_of_one_command_are_made_together_or_not_at_all(ledger: Ledger) -> None:
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve(identity(1), [asks("a", "0.6"), asks("b", "0.6")])
    assert caught.value.requested == amounts("1.2")
    assert ledger.datasets() == ()
    assert ledger.reserve(identity(1), [asks("a", "0.6"), asks("b", "0.4")]) == (2, 3)
    assert ledger.spent("wages") == (1,)


@pytest.mark.parametrize(
    "charge",
    [
        (),
        (Fraction(0),),
        (Fraction(-1, 10),),
        (Fraction(1, 10),) * 2,
        (0.1,),
        (1,),
        [Fraction(1, 10)],
        (Fraction(1, 3**3000),),
    ],
    ids=str,
)
def test_a_charge_must_be_positive_exact_and_of_the_right_length(ledger: Ledger, charge: object) -> None:
    with pytest.raises(ArgumentError, match="charge"):
        ledger.reserve(identity(1), [Reservation("r", charge, "plan", b"", "{}")])  # type: ignore[arg-type]
    assert ledger.head_sequence() == 0


def test_denominators_that_would_make_sums_explode_are_refused(ledger: Ledger) -> None:
    ledger.reserve(identity(1), [asks("a", Fraction(1, 3**1200))])
    with pytest.raises(ArgumentError, match="round the spend up"):
        ledger.reserve(identity(1), [asks("b", Fraction(1, 5**1200))])
    ledger.reserve(identity(1), [asks("c", Fraction(7, 3**1100))])


def test_nothing_to_reserve_is_an_error(ledger: Ledger) -> None:
    with pytest.raises(ArgumentError, match="at least one"):
        ledger.reserve(identity(1), [])


# Identity -----------------------------------------------------------------------------------------------------------


def test_another_declaration_is_refused_and_the_difference_named(ledger: Ledger) -> None:
    ledger.reserve(identity(1), [asks("a", "0.1")])
    ledger.check(identity(1))
    assert ledger.identity("wages") == identity(1)
    other = Identity("wages", DECLARATION.replace("100", "101").replace("age", "wage"), "zcdp", amounts(2))
    for call in (
        lambda: ledger.check(other),
        lambda: ledger.reserve(other, [asks("b", "0.1")]),
        lambda: ledger.stored(other, "a"),
    ):
        with pytest.raises(LedgerError) as caught:
            call()
        for part in (
            "neighbours rows is 100 there and 101 here",
            "schema",
            "measure is pure there and zcdp here",
            "budget is 1 there and 2",
        ):
            assert part in str(caught.value)
    assert ledger.spent("wages") == amounts("0.1")


def test_a_key_that_is_absent_on_one_side_is_named(ledger: Ledger) -> None:
    ledger.reserve(identity(1), [asks("a", "0.1")])
    with pytest.raises(LedgerError, match='invariants is absent there and "state" here'):
        ledger.check(identity(1, declaration=DECLARATION[:-1] + ',"invariants":"state"}'))
    with pytest.raises(LedgerError, match="written differently"):
        ledger.check(identity(1, declaration=DECLARATION + " "))


@pytest.mark.parametrize("declaration", ["", "[]", "not json", '{"a":"\ud800"}', "[" * 100_000, 5])
def test_a_declaration_is_a_json_object(ledger: Ledger, declaration: object) -> None:
    with pytest.raises(ArgumentError, match="declaration"):
        ledger.check(identity(1, declaration=declaration))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", " a", "a\n", "a\x00b", "\ud800", "x" * 501, 5, None])
def test_names_are_short_printable_text(ledger: Ledger, name: object) -> None:
    with pytest.raises(ArgumentError, match="name"):
        ledger.reserve(identity(1), [Reservation(name, amounts("0.1"), "plan", b"", "{}")])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="dataset"):
        ledger.check(Identity(name, "{}", "pure", amounts(1)))  # type: ignore[arg-type]


def test_two_data_sets_of_different_measures_share_a_file(ledger: Ledger) -> None:
    first = identity(1)
    second = identity("0.5", "1e-6", dataset="löhne", measure="approx", declaration='{"n":"é"}')
    ledger.reserve(first, [asks("same name", 1)])
    ledger.reserve(second, [asks("same name", "0.25", "1e-6")])
    assert ledger.datasets() == ("wages", "löhne")
    assert ledger.remaining("wages") == (0,)
    assert ledger.remaining("löhne") == amounts("0.25", 0)
    assert [entry.sequence for entry in ledger.entries("löhne")] == [3, 4]
    assert dict(ledger.verify().spent) == {"wages": (1,), "löhne": amounts("0.25", "1e-6")}


def test_an_unknown_data_set_gets_a_hint(ledger: Ledger) -> None:
    ledger.reserve(identity(1), [asks("a", "0.1")])
    for call in (ledger.spent, ledger.remaining, ledger.entries, ledger.identity):
        with pytest.raises(LedgerError, match="did you mean 'wages'"):
            call("wage")


# States, names, give-back -------------------------------------------------------------------------------------------


def test_a_release_goes_from_reserved_to_committed_once(ledger: Ledger) -> None:
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    found = ledger.stored(identity(1), "a")
    assert found is not None
    assert (found.sequence, found.plan_digest, found.state, found.payload) == (number, "plan", "reserved", b"")
    ledger.commit(number, b"\x00bytes")
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
    with pytest.raises(LedgerError, match="reservation 2, which is failed"):
        ledger.reserve(identity(1), [asks("a", "0.1")])


@pytest.mark.parametrize("conclude", [None, "commit", "fail"])
def test_a_name_is_used_for_ever(ledger: Ledger, conclude: str | None) -> None:
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    if conclude:
        ledger.commit(number, b"") if conclude == "commit" else ledger.fail(number)
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
    ledger.commit(number, b"")
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


# Exact totals -------------------------------------------------------------------------------------------------------

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
    with pytest.raises(LedgerError, match=r"invariants is .* there and "):
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


# Entries ------------------------------------------------------------------------------------------------------------


def test_entries_say_who_when_and_what(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "erika")
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    ledger.commit(number, b"x")
    declared, reserved, committed = ledger.entries("wages")
    assert [entry.kind for entry in (declared, reserved, committed)] == ["dataset", "reserve", "commit"]
    assert json.loads(declared.details) == {"budget": ["1"], "declaration": DECLARATION, "measure": "pure"}
    assert (reserved.name, reserved.charge, reserved.plan_digest) == ("a", amounts("0.1"), "plan")
    assert reserved.details == '{"law":"laplace"}'
    assert (committed.reservation, committed.name, committed.charge) == (number, "a", ())
    assert (declared.reservation, reserved.reservation) == (0, 0)
    assert {entry.user for entry in (declared, reserved, committed)} == {"erika"}
    assert all(entry.time.endswith("+00:00") for entry in (declared, reserved, committed))
    assert (ledger.head(), ledger.head_sequence()) == (committed.digest, 3)


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
    real = drafts_module.datetime

    class Clock:
        years = iter([2030, 1969, 2031, 1, 9999])

        @classmethod
        def now(cls, zone: object) -> object:
            return real(next(cls.years), 1, 1, tzinfo=zone)  # type: ignore[arg-type]

    monkeypatch.setattr(drafts_module, "datetime", Clock)
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

    monkeypatch.setattr(drafts_module, "datetime", Clock)
    (number,) = ledger.reserve(identity(1), [asks("a", "0.1")])
    ledger.commit(number, b"x")
    assert [entry.time for entry in ledger.entries("wages")] == ["unknown"] * 3
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
    with pytest.raises(LedgerError, match="no discreet ledger"):
        Ledger.open_for(path, identity(1))


def test_the_head_stands_for_everything_before(ledger: Ledger) -> None:
    heads = [ledger.head()]
    for name in ("a", "b"):
        (number,) = ledger.reserve(identity(1), [asks(name, "0.1")])
        heads.append(ledger.head())
        ledger.commit(number, b"x")
        heads.append(ledger.head())
    assert len(set(heads)) == 5
    for entry in ledger.entries("wages"):
        assert ledger.contains(entry.sequence, entry.digest)
        assert not ledger.contains(entry.sequence + 1, entry.digest)
    assert not ledger.contains(2**70, heads[-1])
    assert not ledger.contains(0, heads[0])
    assert not ledger.contains(-1, "")


# Files --------------------------------------------------------------------------------------------------------------


def test_looking_creates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.check(identity(1))
        assert ledger.stored(identity(1), "a") is None
        assert (ledger.datasets(), ledger.head(), ledger.head_sequence()) == ((), "", 0)
        assert not ledger.contains(1, "")
        assert ledger.verify().intact
        with pytest.raises(LedgerError):
            ledger.spent("wages")
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(1), [asks("a", 2)])
        with pytest.raises(LedgerError):
            ledger.commit(1, b"")
        assert list(tmp_path.iterdir()) == []
        ledger.reserve(identity(1), [asks("a", 1)])
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_reading_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(1), [asks("a", "0.1")])
        real = reading_module.follow_all

        def interrupted(book: Book, rows: Sequence[Row]) -> None:
            real(book, rows)
            book.sequence -= 1  # as if the interrupt had come before the last statement
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(reading_module, "follow_all", interrupted)
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    ledger.spent("wages")
        assert ledger.spent("wages") == amounts("0.1")


def test_a_journal_without_its_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "budget.db-journal").write_bytes(b"x" * 1000)
    with pytest.raises(LedgerError, match="but its journal"):
        Ledger.open(tmp_path / "budget.db")


def test_a_ledger_is_the_same_after_it_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "ein budget #1%20?.db"
    with Ledger.open(str(path)) as ledger:
        (number,) = ledger.reserve(identity(1), [asks("a", "0.3")])
        head = ledger.head()
    with pytest.raises(LedgerError, match="closed"):
        ledger.spent("wages")
    ledger.close()
    with Ledger.open(path) as ledger:
        assert (ledger.head(), ledger.spent("wages")) == (head, amounts("0.3"))
        ledger.commit(number, b"x")
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(1), [asks("b", "0.8")])


def test_a_relative_path_survives_a_change_of_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger.open("budget.db") as ledger:
        monkeypatch.chdir("/")
        ledger.reserve(identity(1), [asks("a", "0.3")])
    assert (tmp_path / "budget.db").is_file()


def test_a_link_to_a_ledger_is_that_ledger(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "budget.db")
    with Ledger.open(tmp_path / "link.db") as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
    with Ledger.open(tmp_path / "real" / "budget.db") as ledger:
        assert ledger.spent("wages") == amounts("0.3")


def test_paths_that_cannot_be_ledgers(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("name,age\n" * 1000)
    (tmp_path / "loop.db").symlink_to(tmp_path / "loop.db")
    os.mkfifo(tmp_path / "pipe.db")
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE entries (sequence INTEGER PRIMARY KEY, body TEXT, digest TEXT)")
    foreign.commit()
    foreign.close()
    for path, problem in {
        tmp_path / "missing" / "budget.db": "does not exist; create it",
        tmp_path / "text.db" / "budget.db": "does not exist; create it",
        tmp_path: "not a file",
        tmp_path / "pipe.db": "not a file",
        tmp_path / "empty.db": "is empty",
        tmp_path / "text.db": "no discreet ledger",
        tmp_path / "foreign.db": "no discreet ledger",
        tmp_path / "loop.db": "^ledger",
        "a\x00b": "no usable path",
        5: "no usable path",
    }.items():
        with pytest.raises(LedgerError, match=problem) as caught:
            Ledger.open(path)  # type: ignore[arg-type]
        assert str(path).replace("\x00", "\\x00") in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("PRAGMA user_version = 2", "has format 2"),
        ("PRAGMA application_id = 5", "no discreet ledger"),
        ("PRAGMA journal_mode = WAL", "altered"),
        ("PRAGMA auto_vacuum = FULL; VACUUM", "altered"),
        ("DROP TRIGGER entries_UPDATE", "altered"),
        ("CREATE TABLE more (a)", "altered"),
        ("CREATE VIEW more AS SELECT 1", "altered"),
    ],
)
def test_another_version_or_an_altered_layout_is_refused(tmp_path: Path, statement: str, problem: str) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(statement)
    connection.close()
    with pytest.raises(LedgerError, match=problem):
        Ledger.open(path)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries",
        "UPDATE entries SET body = ''",
        "DELETE FROM payloads",
        "UPDATE payloads SET payload = x'00'",
        "UPDATE snapshots SET mac = x'00'",
        "DELETE FROM snapshots",
    ],
)
def test_entries_cannot_be_changed_with_sql(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        (number,) = ledger.reserve(identity(1), [asks("a", "0.3")])
        ledger.commit(number, b"x")
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


def test_a_lock_that_is_not_given_up_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path, patience=0.05) as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        for call in (lambda: ledger.reserve(identity(1), [asks("b", "0.3")]), lambda: ledger.spent("wages")):
            with pytest.raises(LedgerError, match="locked by another process"):
                call()
        other.execute("ROLLBACK")
        reader = other.execute("SELECT * FROM entries")  # a reader that does not finish keeps COMMIT from happening
        reader.fetchone()
        with pytest.raises(LedgerError, match="locked by another process"):
            ledger.reserve(identity(1), [asks("b", "0.3")])
        reader.close()
        other.close()
        assert ledger.spent("wages") == amounts("0.3")
        ledger.reserve(identity(1), [asks("b", "0.3")])


def test_writes_are_durable_by_setting(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
        with ledger._store._connection() as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_threads_share_one_object(ledger: Ledger) -> None:
    outcomes: list[str] = []

    def work(number: int) -> None:
        try:
            (sequence,) = ledger.reserve(identity(1), [asks(f"r{number}", "0.1")])
            ledger.commit(sequence, b"%d" % number)
            outcomes.append("won")
        except BudgetExceeded:
            outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 6 + ["won"] * 10
    found = ledger.verify()
    assert (found.intact, found.entries, dict(found.spent)) == (True, 21, {"wages": (1,)})


def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[3] / "docs" / "ledger.md"
    example = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(page), "exec"), {})  # noqa: S102 - our own page
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert ledger.remaining("wages-2025") == amounts("0.9")
