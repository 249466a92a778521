"""What a declaration fixes, and amendments of the rest: made, followed, put into words."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.builders import drawn

from discreet.errors import LedgerError
from discreet.exact.canonical import canonical
from discreet.ledger import Identity, Ledger, Reservation, declarations
from discreet.ledger.book import Book, follow
from discreet.ledger.declarations import amend, amendment, changes, fixed_part
from discreet.ledger.records import entry_digest

AGE = {"name": "age", "type": "number", "lower": "0", "upper": "100", "step": "1"}
SEX = {"name": "sex", "type": "category", "categories": ["f", "m"]}
STATE = {"name": "state", "type": "category", "categories": ["a", "b"]}
YES = {"name": "yes", "type": "category", "categories": [False, True]}
BY_STATE = {"part": "totals", "columns": ["state"], "only": None}


def declared(*columns: object, **others: object) -> str:
    return canonical({"schema": [*columns], "neighbours": {"rows": 9}, "budget": {}, "invariants": [BY_STATE], **others})


def who(*columns: object, **others: object) -> Identity:
    return Identity("d", declared(*columns, **others), "pure", (Fraction(1),))


def asked(name: str) -> Reservation:
    return Reservation(name, (Fraction(1, 10),), "plan", b"", used_digest="used")


# What is fixed ----------------------------------------------------------------------------------------------------------


def test_columns_of_exact_totals_are_fixed_and_others_are_not() -> None:
    first = declared(STATE, AGE)
    for other in ([AGE, STATE], [STATE], [STATE, SEX], [STATE, {**AGE, "upper": "110"}]):
        assert fixed_part(declared(*other)) == fixed_part(first)
    for other in ([{**STATE, "categories": ["b", "a"]}], [{**STATE, "categories": ["a"]}], [AGE]):
        assert fixed_part(declared(*other)) != fixed_part(first)


def test_false_and_zero_are_two_values() -> None:
    by_yes = [{**BY_STATE, "columns": ["yes"]}]
    zeros = {**YES, "categories": [0, 1]}
    assert fixed_part(declared(YES, invariants=by_yes)) != fixed_part(declared(zeros, invariants=by_yes))
    assert json.loads(amendment(declared(STATE, YES), declared(STATE, zeros))) == {"changed": [zeros]}


@pytest.mark.parametrize(
    "others",
    [
        {"person": "id"},  # a key that this version does not know may use any column
        {"invariants": [{"part": "totals"}]},
        {"invariants": ["state"]},
        {"invariants": [{"columns": "state"}]},
        {"invariants": {"columns": ["state"]}},
    ],
)
def test_what_is_not_understood_is_fixed(others: dict[str, Any]) -> None:
    before, now = declared(STATE, AGE, **others), declared(STATE, **others)
    assert fixed_part(before) != fixed_part(now)
    assert amendment(before, now) == ""


@pytest.mark.parametrize("columns", [[AGE, AGE], [AGE, 5], [AGE, {"upper": 1}], [AGE, {"name": 5}]])
def test_columns_without_names_of_their_own_are_fixed(columns: list[object]) -> None:
    assert fixed_part(declared(*columns)) != fixed_part(declared(AGE))


# Amendments -------------------------------------------------------------------------------------------------------------


def test_an_amendment_leads_from_any_declaration_to_any_other() -> None:
    some = [STATE, AGE, {**AGE, "upper": "110"}, SEX, {**SEX, "categories": ["m"]}, YES]
    lists = [
        one
        for size in range(1, 5)
        for one in itertools.permutations(some, size)
        if STATE in one and len({column["name"] for column in one}) == size
    ]
    assert len(lists) > 100
    for before, now in itertools.product(lists[::3], lists[::5]):
        old, new = declared(*before), declared(*now)
        details = amendment(old, new)
        assert (details == "") == (old == new)
        if details:
            assert amend(old, json.loads(details)) == new
            assert list(changes(old, json.loads(details)))


def test_an_amendment_in_words() -> None:
    before = declared(STATE, AGE, SEX)
    now = declared(STATE, {**AGE, "upper": "110", "step": "0.5"}, {**SEX, "categories": ["f", "x"]}, YES)
    assert list(changes(before, json.loads(amendment(before, now)))) == [
        "column 'yes' added",
        "column 'age': step 1 is now 0.5",
        "column 'age': upper 100 is now 110",
        'column \'sex\': categories with ["x"] and without ["m"]',
    ]
    less = declared(AGE, STATE)
    assert list(changes(before, json.loads(amendment(before, less)))) == [
        "column 'sex' left out",
        "columns in another order",
    ]
    turned = declared(STATE, AGE, {**SEX, "categories": ["m", "f"]})
    coded = declared(STATE, {**AGE, "missing": ["999"]}, SEX)
    assert list(changes(before, json.loads(amendment(before, coded)))) == ["column 'age': missing [\"999\"] added"]
    assert list(changes(coded, json.loads(amendment(coded, before)))) == ["column 'age': missing [\"999\"] left out"]
    said = 'column \'sex\': categories ["f","m"] is now ["m","f"]'
    assert list(changes(before, json.loads(amendment(before, turned)))) == [said]


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"changed": [AGE]},  # as it is already
        {"changed": [{**STATE, "categories": ["a"]}]},
        {"left_out": ["state"]},
        {"order": ["age"]},
        {"order": ["age", "state", "sex"]},
        {"added": [{"upper": "1"}]},
        {"added": 5},
        {"neighbours": {"rows": 8}},
        {"added": [SEX], "rows": 8},
    ],
)
def test_an_entry_that_amends_what_is_fixed_or_nothing_is_damage(details: dict[str, Any]) -> None:
    before = who(STATE, AGE)
    book = Book("")
    body = {"kind": "dataset", "dataset": "d", "sequence": 1}
    body["details"] = canonical({"declaration": before.declaration, "measure": "pure", "budget": ["1"]})
    follow(book, (1, canonical(body), entry_digest("", canonical(body))))
    body = {"kind": "amend", "dataset": "d", "sequence": 2, "details": canonical(details)}
    with pytest.raises(ValueError, match=r"amends|lacks a field"):
        follow(book, (2, canonical(body), entry_digest(book.digest, canonical(body))))
    with pytest.raises(ValueError, match="undeclared"):
        follow(Book(""), (1, canonical({**body, "sequence": 1}), entry_digest("", canonical({**body, "sequence": 1}))))


# In a ledger ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["file", "memory"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with Ledger.open(tmp_path / "budget.db" if request.param == "file" else ":memory:") as opened:
        yield opened


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries("d")]


def test_an_amendment_is_an_entry_before_the_reservations_of_its_command(ledger: Ledger) -> None:
    first, grown = who(AGE, invariants=[]), who(AGE, SEX, invariants=[])
    ledger.reserve(first, [asked("a")])
    ledger.check(grown)
    assert ledger.stored(grown, "a") is not None
    assert kinds(ledger) == ["dataset", "reserve"]  # looking amends nothing
    assert ledger.reserve(grown, [asked("b"), asked("c")]) == (4, 5)
    assert kinds(ledger) == ["dataset", "reserve", "amend", "reserve", "reserve"]
    entry = ledger.entries("d")[2]
    assert (entry.name, entry.charge, entry.plan_digest) == ("", (), "")
    assert json.loads(entry.details) == {"added": [SEX]}
    ledger.reserve(grown, [asked("d")])
    assert len(kinds(ledger)) == 6  # once
    ledger.reserve(first, [asked("e")])
    assert json.loads(ledger.entries("d")[6].details) == {"left_out": ["sex"]}
    assert (ledger.identity("d"), ledger.spent("d")) == (first, (Fraction(1, 2),))
    assert ledger.verify().intact


def test_an_amendment_survives_and_is_followed_by_another_process(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as one, Ledger.open(tmp_path / "budget.db") as other:
        one.reserve(who(AGE, invariants=[]), [asked("a")])
        other.reserve(who(AGE, SEX, invariants=[]), [asked("b")])
        one.reserve(who(AGE, SEX, invariants=[]), [asked("c")])
        assert kinds(one) == ["dataset", "reserve", "amend", "reserve", "reserve"]
    with Ledger.open(tmp_path / "budget.db") as again:
        assert again.verify().intact
        again.reserve(who(AGE, SEX, invariants=[]), [asked("d")])
        assert kinds(again).count("amend") == 1


def test_a_refused_reservation_amends_nothing(ledger: Ledger) -> None:
    ledger.reserve(who(AGE, invariants=[]), [asked("a")])
    with pytest.raises(LedgerError, match="reservation 2 has this name"):
        ledger.reserve(who(AGE, SEX, invariants=[]), [asked("a")])
    with pytest.raises(LedgerError, match="invariants: "):
        ledger.reserve(who(STATE, AGE), [asked("b")])
    assert kinds(ledger) == ["dataset", "reserve"]


def test_a_rule_that_fixes_nothing_would_be_noticed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    before, now = declared(STATE, AGE), declared({**STATE, "categories": ["a"]}, AGE)
    assert fixed_part(before) != fixed_part(now)
    fixed_part.cache_clear()
    monkeypatch.setattr(declarations, "_find_used", lambda _: set())
    assert fixed_part(before) == fixed_part(now)
    fixed_part.cache_clear()


def test_the_digest_of_the_used_part_is_kept_with_a_reservation(ledger: Ledger) -> None:
    (number,) = ledger.reserve(who(AGE, invariants=[]), [asked("a")])
    ledger.commit(drawn(ledger, number), b"bytes")
    stored = ledger.stored(who(AGE, invariants=[]), "a")
    assert stored is not None
    assert (stored.plan_digest, stored.used_digest, stored.payload) == ("plan", "used", b"bytes")
    assert [entry.used_digest for entry in ledger.entries("d")] == ["", "used", "", "", ""]
