"""What an approval says is compared in every field; a list of keys changes only by its own signatures."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import session_over
from tests.signers import board, public, signed

import discreet as dp
from discreet.approvals import demand as demand_module
from discreet.approvals import statements
from discreet.approvals.statements import ReleaseStatement
from discreet.ledger import Ledger
from discreet.ledger import book as book_module
from discreet.ledger import rules as rules_module
from discreet.ledger.consents import is_about
from discreet.releases.document import Release
from discreet.session.orders import Order

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 10))
ROWS = pl.DataFrame({"g": ["x"] * 60 + ["y"] * 40, "v": [3] * 100})


def session(ledger: Path | str = "budget.db", **options: Any) -> dp.Session:
    terms = {"ledger": ledger, "budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(rows=100)}
    return session_over(ROWS, SCHEMA, **{**terms, **options})


def asked(one: dp.Session) -> dp.Plan:
    return one.table.group_by("g").agg(dp.count())


def statement(ledger: Path | str = "budget.db", name: str = "r", **options: Any) -> ReleaseStatement:
    with session(ledger, **options) as one:
        return one.statement(asked(one), spend="0.1", name=name)


def released(given: object, ledger: Path | str = "budget.db", **options: Any) -> Release:
    with session(ledger, **{"demand": board(), "approvals": given, **options}) as one:
        return one.release(asked(one), spend="0.1", name="r")


def entries(ledger: Path | str = "budget.db") -> list[str]:
    with Ledger.open(ledger) as opened:
        return [entry.kind for entry in opened.entries()]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_two_signatures_release_and_stand_in_ledger_and_document() -> None:
    release = released(signed(statement(), "anna", "cleo"))
    shown = release.document["approvals"]
    assert set(shown["signatures"]) == {f"{public(name).text} {name}" for name in ("anna", "cleo")}
    assert shown["statement"] == statements.document(replace(statement(), replaces=0))
    assert entries() == ["dataset", "demand", "reserve", "reading", "drawing", "commit"]
    with Ledger.open("budget.db") as ledger:
        found = ledger.verify()
    assert (found.intact, found.approvals) == (True, 2)


def test_nothing_is_spent_frozen_or_read_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ([], signed(statement(), "anna"), signed(statement(), "anna", "dora")):
        with pytest.raises(dp.NotApproved, match="must approve; missing"):
            released(given)
        assert entries() == []


def test_a_known_release_is_given_back_without_any() -> None:
    release = released(signed(statement(), "anna", "ben"))
    assert released([], demand=None) == release


def test_deleting_the_demand_from_the_plan_changes_nothing() -> None:
    released(signed(statement(), "anna", "ben"))
    with session() as one, pytest.raises(dp.NotApproved, match="approved by 0 of 3 keys"):
        one.release(asked(one), spend="0.1", name="second")
    with session(demand=board(1)) as one, pytest.raises(dp.NotApproved, match="which are others"):
        one.release(asked(one), spend="0.1", name="second")
    assert entries() == ["dataset", "demand", "reserve", "reading", "drawing", "commit"]


def test_releases_without_a_demand_have_nothing_of_approvals() -> None:
    with session() as one:
        release = one.release(asked(one), spend="0.1", name="r")
    assert "approvals" not in release.document
    with Ledger.open("budget.db") as ledger:
        assert all(entry.approvals == "" for entry in ledger.entries())


# Every field that is signed -----------------------------------------------------------------------------------------------

FIELDS = [field.name for field in fields(ReleaseStatement)]


def changed(one: ReleaseStatement, name: str) -> ReleaseStatement:
    """The statement with another value of one field."""
    old = getattr(one, name)
    other: object = old + 1 if isinstance(old, int) else (*old, "1") if isinstance(old, tuple) else old + " "
    return replace(one, **{name: other})


def is_refused(name: str) -> bool:
    """Whether signatures of a statement that differs in one field are refused, and nothing is charged then."""
    given = signed(changed(statement(), name), "anna", "ben", "cleo")
    try:
        released(given)
    except dp.NotApproved:
        return entries() == []
    return False


@pytest.mark.parametrize("name", FIELDS)
def test_another_value_of_any_field_is_refused(name: str) -> None:
    assert is_refused(name)


@pytest.mark.parametrize("name", FIELDS)
def test_a_verifier_that_ignores_a_field_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = statements.document

    def blind(one: statements.Statement) -> str:
        return (
            whole(replace(one, **{name: 0 if name == "replaces" else ()}))
            if isinstance(one, ReleaseStatement)
            else whole(one)
        )

    for module in (statements, demand_module):
        monkeypatch.setattr(module, "document", blind)
    from discreet.approvals import written

    monkeypatch.setattr(written, "document", blind)
    monkeypatch.setattr(book_module, "require_consented", lambda *_: None)
    assert not is_refused(name)


KNOWN = ["ledger", "dataset", "release", "relation", "plan", "measure", "amounts", "replaces"]
"""The fields that the ledger knows without a session."""


def says_another(name: str) -> bool:
    """Whether a ledger refuses a statement with another value of a field that is signed and handed in as what is asked."""
    right = statement()
    other = replace(right, amounts=("0.2",)) if name == "amounts" else changed(right, name)
    with session(demand=board()) as one:
        order = Order(asked(one), "0.1", "r")
        reservation = one._charging.reservation(order, one._quote_order(order), "snapshot")
        consent = replace(reservation.consent, statement=other, approvals=tuple(signed(other, "anna", "ben")))
        try:
            one._ledger.reserve(one._identity, [replace(reservation, consent=consent)])
        except dp.NotApproved:
            return entries() == []
    return False


@pytest.mark.parametrize("name", KNOWN)
def test_a_ledger_compares_what_was_signed_with_what_it_writes(name: str) -> None:
    assert says_another(name)


@pytest.mark.parametrize("name", KNOWN)
def test_a_ledger_that_ignores_a_field_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = statement()

    def blind(one: Any, deed: Any) -> bool:
        return is_about(replace(one, **{name: getattr(right, name)}), deed)

    monkeypatch.setattr(rules_module, "is_about", blind)
    assert not says_another(name)


# Replay -------------------------------------------------------------------------------------------------------------------


def test_an_approval_is_of_one_ledger() -> None:
    given = signed(statement(), "anna", "ben")
    with pytest.raises(dp.NotApproved, match="has signed another ledger"):
        released(given, "other.db", demand=board()) if statement("other.db") else None
    assert entries("other.db") == []


def test_an_approval_is_of_one_name_spend_plan_and_data_set() -> None:
    given = signed(statement(), "anna", "ben")
    with session(demand=board(), approvals=given) as one:
        plan, other = asked(one), one.table.agg(dp.mean("v", nulls="skip"))
        for request, spend, name in (
            (plan, "0.1", "s"),
            (plan, "0.2", "r"),
            (other, "0.1", "r"),
        ):
            with pytest.raises(dp.NotApproved, match="has signed another"):
                one.release(request, spend=spend, name=name)
    for options in ({"dataset": "e"}, {"neighbours": dp.ReplaceOne(rows=100, rows_per_person=2)}):
        with pytest.raises(dp.NotApproved, match="has signed another"):
            released(given, **options)
    assert entries() == []


def test_approvals_of_a_copy_of_the_plan_in_other_columns_are_refused() -> None:
    given = signed(statement(), "anna", "ben")
    schema = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 11))
    terms = {"ledger": "budget.db", "budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(rows=100), "demand": board()}
    with session_over(ROWS, schema, **terms, approvals=given) as one, pytest.raises(dp.NotApproved, match="another plan"):
        one.release(asked(one), spend="0.1", name="r")


def test_a_second_charge_under_the_same_name_is_another_thing_to_approve() -> None:
    given = signed(statement(), "anna", "ben")
    with session(demand=board(), approvals=given) as one:
        order = Order(asked(one), "0.1", "r")
        (number,) = one._ledger.reserve(one._identity, [one._charging.reservation(order, one._quote_order(order), "")])
        with one._ledger.attempt(number) as attempt:
            one._ledger.draw(attempt)
        one._ledger.fail(number)
        with pytest.raises(dp.NotApproved, match="has signed another attempt"):
            one.release(asked(one), spend="0.1", name="r", again=True)
        again = one.statement(asked(one), spend="0.1", name="r")
    assert again == replace(statement(), replaces=number)
    with session(approvals=[*given, *signed(again, "ben", "cleo")]) as one:
        one.release(asked(one), spend="0.1", name="r", again=True)
    assert entries() == [
        "dataset",
        "demand",
        "reserve",
        "reading",
        "drawing",
        "fail",
        "reserve",
        "reading",
        "drawing",
        "commit",
    ]


def test_an_interrupted_release_is_finished_with_the_approvals_of_its_charge() -> None:
    given = signed(statement(), "anna", "ben")
    with session(demand=board(), approvals=given) as one:
        order = Order(asked(one), "0.1", "r")
        reservation = one._charging.reservation(order, one._quote_order(order), "")
        one._ledger.reserve(one._identity, [reservation])
    with Ledger.open("budget.db") as ledger:
        change(ledger, board(1, ("dora",)), "anna", "ben")
    release = released([], demand=None)
    assert {line.split()[2] for line in release.document["approvals"]["signatures"]} == {"anna", "ben"}


# The list of keys ---------------------------------------------------------------------------------------------------------


def change(ledger: Ledger, new: dp.Demand, *names: str, dataset: str = "d") -> int:
    return ledger.board.change(dataset, new, signed(ledger.board.change_of(dataset, new), *names))


def test_a_list_changes_only_with_its_own_signatures() -> None:
    with Ledger.open("budget.db") as ledger:
        assert change(ledger, board()) == 1
        new = board(1, ("dora",))
        for names in ((), ("anna",), ("dora", "anna"), ("anna", "anna")):
            with pytest.raises(dp.NotApproved, match="missing"):
                change(ledger, new, *names)
        assert change(ledger, new, "anna", "cleo") == 2
        with pytest.raises(dp.NotApproved, match="missing dora"):
            change(ledger, dp.Demand(0, ()), "anna", "cleo")
        assert change(ledger, dp.Demand(0, ()), "dora") == 3
        with pytest.raises(dp.LedgerError, match="is nobody already"):
            change(ledger, dp.Demand(0, ()))
        assert ledger.verify().intact
    assert entries() == ["demand"] * 3


def test_a_change_that_was_signed_once_is_not_signed_for_good() -> None:
    one, other = board(), board(1, ("dora",))
    with Ledger.open("budget.db") as ledger:
        change(ledger, one)
        first = signed(ledger.board.change_of("d", other), "anna", "ben")
        ledger.board.change("d", other, first)
        change(ledger, one, "dora")
        with pytest.raises(dp.NotApproved, match="signed another attempt"):
            ledger.board.change("d", other, first)
        ledger.board.change("", board(), [])
        of_the_data_set = signed(ledger.board.change_of("d", other), "anna", "ben")
        with pytest.raises(dp.NotApproved, match="signed another data set"):
            ledger.board.change("", other, of_the_data_set)


def test_the_demand_of_a_ledger_holds_for_every_data_set_beside_their_own() -> None:
    with Ledger.open("budget.db") as ledger:
        change(ledger, board(1, ("dora",)), dataset="")
    given = signed(statement(), "anna", "ben")
    with pytest.raises(dp.NotApproved, match="missing dora"):
        released(given, demand=None)
    with pytest.raises(dp.NotApproved, match="missing dora"):
        released(given)
    release = released([*given, *signed(statement(), "dora")])
    assert len(release.document["approvals"]["signatures"]) == 3


def test_a_key_that_was_removed_after_it_signed_does_not_count() -> None:
    given = signed(statement(), "anna", "ben")
    with Ledger.open("budget.db") as ledger:
        change(ledger, board())
        change(ledger, board(2, ("ben", "cleo")), "anna", "ben")
    with pytest.raises(dp.NotApproved, match="missing cleo"):
        released(given, demand=None)


def test_a_list_that_changes_while_a_release_is_prepared_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    given = signed(statement(), "anna", "ben")
    with Ledger.open("budget.db") as ledger:
        change(ledger, board())
    reserve = Ledger.reserve

    def late(self: Ledger, *arguments: Any) -> tuple[int, ...]:
        with Ledger.open("budget.db") as other:
            change(other, board(2, ("cleo", "dora")), "anna", "ben")
        return reserve(self, *arguments)

    monkeypatch.setattr(Ledger, "reserve", late)
    with pytest.raises(dp.NotApproved, match="approved by 0 of 2 keys"):
        released(given, demand=None)
    assert entries() == ["demand", "demand"]


# A ledger that was changed by hand ----------------------------------------------------------------------------------------


def rewritten(edit: Callable[[str], str]) -> None:
    """The ledger with other bodies and a chain of digests that fits them, as whoever may write the file can make it."""
    from discreet.ledger import entry_digest

    with sqlite3.connect("budget.db") as raw:
        triggers = [row[0] for row in raw.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")]
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        digest = raw.execute("SELECT genesis FROM head").fetchone()[0]
        for number, body in raw.execute("SELECT sequence, body FROM entries ORDER BY sequence").fetchall():
            digest = entry_digest(digest, edit(body))
            raw.execute("UPDATE entries SET body = ?, digest = ? WHERE sequence = ?", (edit(body), digest, number))
        raw.execute("UPDATE head SET digest = ?", (digest,))
        for trigger in triggers:
            raw.execute(trigger)
    raw.close()


def test_a_signature_that_was_exchanged_by_hand_is_found_by_verify() -> None:
    release = released(signed(statement(), "anna", "ben"))
    first = next(iter(release.document["approvals"]["signatures"].values()))
    rewritten(lambda body: body.replace(first, "A" * 86 + "=="))
    with Ledger.open("budget.db") as ledger:
        found = ledger.verify()
    assert (found.broken, found.problem) == (3, "entry 3 has a signature that is not of what it approves")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"name":"r"', '"name":"s"'),
        ('"charge":["0.1"]', '"charge":["0.01"]'),
        ('"plan_digest":"', '"plan_digest":"0'),
        ('"approvals":"{', '"approvals":"[{'),
    ],
)
def test_an_entry_that_was_changed_by_hand_is_refused_whatever_its_digest(old: str, new: str) -> None:
    released(signed(statement(), "anna", "ben"))
    rewritten(lambda body: body.replace(old, new))
    with pytest.raises(dp.LedgerError, match="entry 3 has approvals"):
        Ledger.open("budget.db").entries()


def test_a_list_that_was_exchanged_by_hand_is_refused() -> None:
    with Ledger.open("budget.db") as ledger:
        change(ledger, board())
        change(ledger, board(1, ("ben",)), "anna", "ben")
    with Ledger.open("budget.db") as ledger:
        assert ledger.verify().intact
    rewritten(lambda body: body.replace(public("ben").text, public("dora").text) if '"sequence":2' in body else body)
    with pytest.raises(dp.LedgerError, match="entry 2 changes who must sign without the signatures"):
        Ledger.open("budget.db").entries()


def test_a_copy_of_a_ledger_has_its_demands_and_its_approvals() -> None:
    released(signed(statement(), "anna", "ben"))
    shutil.copy("budget.db", "copy.db")
    assert released([], "copy.db", demand=None).name == "r"
    with session("copy.db") as one, pytest.raises(dp.NotApproved):
        one.release(asked(one), spend="0.1", name="second")


def test_a_statement_for_expected_groups_is_that_of_their_release() -> None:
    with session(budget=dp.ZCDP(1000)) as one:
        request = one.table.group_by("g").agg(dp.mean("v", nulls="skip"))
        told = one.statement(request, error={"mean_v": "1.5"}, expect=60, name="r")
        assert told != one.statement(request, error={"mean_v": "1.5"}, name="r")
    with session(budget=dp.ZCDP(1000), demand=board(), approvals=signed(told, "anna", "ben")) as one:
        release = one.release(request, error={"mean_v": "1.5"}, expect=60, name="r")
        assert release.guarantee.measure == one.quote(request, error={"mean_v": "1.5"}, expect=60).spend
        assert release.document["approvals"]["signatures"].keys()


# Exact totals -------------------------------------------------------------------------------------------------------------


def test_exact_totals_are_published_only_with_signatures_of_their_own() -> None:
    options = {"invariants": dp.Totals("g"), "demand": board()}
    schema = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 10))

    def opened(**more: Any) -> dp.Session:
        terms = {"ledger": "budget.db", "budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(rows=100)}
        return session_over(ROWS, schema, **{**terms, **options, **more})

    with opened() as one:
        request = one.table.group_by("g").agg(dp.mean("v", nulls="skip"))
        release = one.statement(request, spend="0.1", name="r")
        totals = one._charging.approving.declared.totals(release.ledger, one._public.exactly.invariants)
    with opened(approvals=signed(release, "anna", "ben")) as one:
        for publish in (one.publish_totals, lambda: one.release(request, spend="0.1", name="r")):
            with pytest.raises(dp.NotApproved, match="publishing the exact totals: approved by 0"):
                publish()
    with opened(approvals=signed(totals, "anna", "ben")) as one, pytest.raises(dp.NotApproved, match="release 'r'"):
        one.release(request, spend="0.1", name="r")
    assert entries() == []
    with opened(approvals=[*signed(totals, "anna", "ben"), *signed(release, "ben", "cleo")]) as one:
        assert one.release(request, spend="0.1", name="r").document["approvals"]["signatures"].keys()
    assert entries() == ["dataset", "demand", "publish", "commit", "reserve", "reading", "drawing", "commit"]
    with opened(demand=None) as one:
        assert one.publish_totals() == one.totals
