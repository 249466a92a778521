"""Budgets above and below the one of a data set: populations and windows, also for whoever reads the entries."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import ArgumentError, BudgetExceeded, LedgerError
from discreet.ledger import Identity, Ledger, Reservation
from discreet.ledger.book import Book, Row, follow
from discreet.ledger.drafts import dataset_details
from discreet.ledger.records import canonical, entry_digest

from .declared import amounts, asks, identity

RELATION = {"relation": "add-remove", "rows_per_person": 1}
DAYS = {"column": "day", "each": "month", "first": "2026-01-01", "last": "2026-03-31", "budget": ["0.5"]}
ABOVE = {"name": "x", "budget": ["1"]}
COLUMNS = [{"name": "day", "type": "date", "first": "2026-01-01", "last": "2026-03-31"}, {"name": "g", "type": "category"}]


def member(
    dataset: str, *budget: object, above: Any = "1", days: Any = None, measure: str = "pure", **relation: Any
) -> Identity:
    """A data set of the population "everybody", with windows if `days` says so."""
    said = {"neighbours": {**RELATION, **relation}, "schema": COLUMNS}
    if above is not None:
        said["population"] = {"name": "everybody", "budget": above if isinstance(above, list) else [above]}
    if days is not None:
        said["windows"] = days
    return identity(*budget, dataset=dataset, declaration=canonical(said), measure=measure)


def of(name: str, charge: object, *windows: str) -> Reservation:
    return replace(asks(name, charge), windows=windows)


# Populations --------------------------------------------------------------------------------------------------------------


def test_data_sets_of_one_population_have_one_total(ledger: Ledger) -> None:
    first, second = member("a", "0.75"), member("b", "0.9")
    alone = member("c", 1, above=None)
    ledger.reserve(first, [asks("r", "0.7")])
    assert ledger.left(second)[1] == amounts("0.3")  # before it is declared
    assert ledger.left(alone)[1] == amounts(1)
    ledger.reserve(second, [asks("r", "0.2")])
    assert (ledger.spent("a"), ledger.spent("b")) == (amounts("0.7"), amounts("0.2"))
    assert (ledger.remaining("a"), ledger.remaining("b")) == (amounts("0.05"), amounts("0.1"))
    for one in (first, second):
        with pytest.raises(BudgetExceeded):
            ledger.reserve(one, [asks("s", "0.100000001")])
    with pytest.raises(BudgetExceeded, match="population 'everybody'"):
        ledger.reserve(second, [asks("s", "0.06"), asks("t", "0.06")])
    with pytest.raises(BudgetExceeded, match=r"^dataset='a': "):  # its own budget
        ledger.reserve(first, [asks("s", "0.06")])
    ledger.reserve(second, [asks("s", "0.1")])
    assert ledger.remaining("a") == (Fraction(0),)
    account = ledger.above.population(first)
    assert account is not None
    assert (account.members, account.spent, account.left) == (["a", "b"], amounts(1), amounts(0))
    assert ledger.verify().intact


def test_the_total_outlives_the_object(tmp_path: Path) -> None:
    for dataset in ("a", "b"):
        with Ledger.open(tmp_path / "budget.db") as ledger:
            ledger.reserve(member(dataset), [asks("r", "0.4")])
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert ledger.remaining("a") == ledger.remaining("b") == amounts("0.2")
        with pytest.raises(BudgetExceeded):
            ledger.reserve(member("c"), [asks("r", "0.2000001")])


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (member("b", above="2"), "another budget of the population"),
        (member("b", measure="zcdp"), "another measure"),
        (member("b", rows_per_person=2), "another unit"),
        (member("b", relation="replace-one", rows=7), "another unit"),
        (member("b", relation="add-remove-persons", person="g"), "another unit"),
    ],
)
def test_another_unit_measure_or_budget_is_refused(ledger: Ledger, other: Identity, said: str) -> None:
    ledger.reserve(member("a"), [asks("r", "0.1")])
    with pytest.raises(LedgerError, match=said):
        ledger.reserve(other, [asks("r", "0.1")])
    with pytest.raises(LedgerError, match=said):
        ledger.check(other)
    assert ledger.datasets() == ("a",)
    assert ledger.spent("a") == amounts("0.1")


def test_data_sets_of_one_population_have_their_own_number_of_rows_and_name_of_the_identifier(ledger: Ledger) -> None:
    for dataset, rows in (("a", 100), ("b", 90)):
        ledger.reserve(member(dataset, relation="replace-one", rows=rows), [asks("r", "0.1")])
    assert ledger.remaining("a") == amounts("0.8")
    kinds = {
        "visitor": {"type": "identifier", "fold": True},
        "id": {"type": "identifier", "fold": True},
        "nr": {"type": "identifier"},
    }
    found = []
    for name, kind in kinds.items():
        said = {
            "neighbours": {"relation": "add-remove-persons", "person": name},
            "schema": [{"name": name, **kind}],
            "population": {"name": "visitors", "budget": ["1"]},
        }
        found.append(identity(dataset=name, declaration=canonical(said)))
    ledger.reserve(found[0], [asks("r", "0.1")])
    ledger.reserve(found[1], [asks("r", "0.1")])
    with pytest.raises(LedgerError, match="another unit"):  # values that are read otherwise are other persons
        ledger.reserve(found[2], [asks("r", "0.1")])


def test_a_data_set_keeps_its_population(ledger: Ledger) -> None:
    """It cannot leave it, change it or join one later; and its name is compared after normalisation."""
    ledger.reserve(member("a"), [asks("r", "0.9")])
    ledger.reserve(member("plain", above=None), [asks("r", "0.9")])
    other = replace(member("a"), declaration=member("a").declaration.replace("everybody", "nobody"))
    for changed in (member("a", above=None), member("a", above="3"), other, member("plain")):
        with pytest.raises(LedgerError, match="declared otherwise in this ledger: population"):
            ledger.reserve(changed, [asks("s", "0.1")])
    accented = [replace(member(d), declaration=member(d).declaration.replace("everybody", n)) for d, n in
                (("c", "\\u00e9"), ("d", "e\\u0301"))]  # fmt: skip
    ledger.reserve(accented[0], [asks("r", "0.9")])
    assert ledger.left(accented[1])[1] == amounts("0.1")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"population": {"name": "x"}}, "name and a budget"),
        ({"population": {"name": "x", "budget": "1"}}, "name and a budget"),
        ({"population": {"name": "x", "budget": ["one"]}}, "list of amounts"),
        ({"population": {"name": "x", "budget": ["-1"]}}, "must be positive"),
        ({"population": {"name": "x", "budget": ["1", "1"]}}, "measure of the data set"),
        ({"population": {"name": "", "budget": ["1"]}}, "printable text"),
        ({"windows": {**DAYS, "budget": ["1", "1"]}}, "measure of the data set"),
        ({"windows": {**DAYS, "budget": ["0"]}}, "must be positive"),
        ({"windows": {**DAYS, "each": "moon"}}, "column, each, first, last"),
        ({"windows": {**DAYS, "first": "now"}}, "column, each, first, last"),
        ({"windows": {**DAYS, "more": 1}}, "column, each, first, last"),
        ({"windows": {"column": "day"}}, "column, each, first, last"),
        ({"windows": [1]}, "column, each, first, last"),
        ({"windows": DAYS, "invariants": [{"columns": ["g"]}]}, "exact totals has no windows"),
        (
            {"population": {"name": "x", "budget": ["1"]}, "windows": DAYS, "invariants": [{"columns": ["g"]}]},
            "exact totals has no windows",
        ),
    ],
)
def test_a_declaration_that_cannot_be_kept_is_refused(ledger: Ledger, wrong: dict[str, Any], said: str) -> None:
    declared = identity(declaration=canonical({"neighbours": RELATION, "schema": COLUMNS, **wrong}))
    with pytest.raises(ArgumentError, match=said):
        ledger.reserve(declared, [asks("r", "0.1")])
    assert ledger.head_sequence() == 0


def test_a_secret_sample_has_neither_population_nor_windows(ledger: Ledger) -> None:
    for more in ({"above": "1"}, {"above": None, "days": DAYS}):
        with pytest.raises(ArgumentError, match="a secret sample has no"):
            ledger.reserve(member("a", sampled={"design": "poisson", "rate": "1/2"}, **more), [asks("r", "0.1")])


# Windows ------------------------------------------------------------------------------------------------------------------


def test_each_window_has_its_budget_and_the_data_set_bounds_them_together(ledger: Ledger) -> None:
    who = member("a", "0.95", above=None, days=DAYS)
    ledger.reserve(who, [of("january", "0.4", "2026-01"), of("two", "0.1", "2026-01", "2026-02")])
    left = {name: ledger.left(who, windows)[1] for name, windows in
            {"first": ("2026-01",), "second": ("2026-02",), "third": ("2026-03",), "all": ()}.items()}  # fmt: skip
    assert left == {"first": amounts(0), "second": amounts("0.4"), "third": amounts("0.45"), "all": amounts(0)}
    for refused in (
        of("x", "0.01", "2026-01"),
        of("x", "0.01"),
        of("x", "0.41", "2026-02"),
        of("x", "0.01", "2026-01", "2026-02"),
    ):
        with pytest.raises(BudgetExceeded):
            ledger.reserve(who, [refused])
    with pytest.raises(BudgetExceeded, match="dataset='a', window 2026-02"):
        ledger.reserve(who, [of("x", "0.3", "2026-02"), of("y", "0.11", "2026-02")])
    ledger.reserve(who, [of("march", "0.4", "2026-03")])
    with pytest.raises(BudgetExceeded, match=r"^dataset='a': "):  # 0.95 in all
        ledger.reserve(who, [of("x", "0.051", "2026-02")])
    assert ledger.spent("a") == amounts("0.9")
    assert ledger.verify().intact


def test_a_release_of_all_rows_is_charged_to_every_window(tmp_path: Path) -> None:
    who = member("a", 3, above=None, days=DAYS)
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.reserve(who, [asks("all", "0.3"), of("first", "0.1", "2026-01")])
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert ledger.left(who, ("2026-02",))[1] == amounts("0.2")
        assert ledger.left(who, ("2026-01",))[1] == ledger.left(who, ())[1] == amounts("0.1")
        with pytest.raises(BudgetExceeded, match="all rows, and so each window"):
            ledger.reserve(who, [asks("more", "0.11")])


@pytest.mark.parametrize("names", [("2026-04",), ("2026-02", "2026-01"), ("2026-01", "2026-01"), ("",), (1,)])
def test_windows_that_a_data_set_does_not_have_are_refused(ledger: Ledger, names: tuple[Any, ...]) -> None:
    with pytest.raises(ArgumentError, match="names windows"):
        ledger.reserve(member("a", days=DAYS), [of("x", "0.1", *names)])
    with pytest.raises(ArgumentError, match="has none"):
        ledger.reserve(member("b"), [of("x", "0.1", "2026-01")])
    assert ledger.head_sequence() == 0


def test_the_column_of_the_windows_is_fixed(ledger: Ledger) -> None:
    who = member("a", above=None, days=DAYS)
    ledger.reserve(who, [of("x", "0.1", "2026-01")])
    whole = json.loads(who.declaration)
    day, other = whole["schema"]
    wider = {**whole, "schema": [{**day, "missing": ["2026-01-01"]}, other]}
    with pytest.raises(LedgerError, match="missing of column 'day', which has the windows"):
        ledger.check(replace(who, declaration=canonical(wider)))
    longer = {**whole, "windows": {**DAYS, "each": "quarter"}}
    with pytest.raises(LedgerError, match="windows each: month in the ledger, quarter now"):
        ledger.check(replace(who, declaration=canonical(longer)))
    freely = {**whole, "schema": [day, {**other, "categories": ["x"]}]}
    ledger.reserve(replace(who, declaration=canonical(freely)), [of("y", "0.1", "2026-01")])
    assert [entry.kind for entry in ledger.entries("a")] == ["dataset", "reserve", "amend", "reserve"]


# Entries ------------------------------------------------------------------------------------------------------------------


def rows_of(*bodies: dict[str, Any]) -> list[Row]:
    found, digest = [], "0" * 64
    for number, fields in enumerate(bodies, start=1):
        body = canonical({**fields, "nonce": "n", "time": "t", "user": "u", "sequence": number})
        digest = entry_digest(digest, body)
        found.append((number, body, digest))
    return found


def declared(who: Identity) -> dict[str, Any]:
    return {"kind": "dataset", "dataset": who.dataset, "details": dataset_details(who)}


def reserved(dataset: str, name: str, charge: str, **more: Any) -> dict[str, Any]:
    fields = {"kind": "reserve", "dataset": dataset, "name": name, "charge": [charge], "plan_digest": "p", "protocol": 1}
    return {**fields, **more}


def followed(*bodies: dict[str, Any]) -> Book:
    book = Book("0" * 64)
    for row in rows_of(*bodies):
        follow(book, row)
    return book


PAIR = (member("a"), member("b"))


@pytest.mark.parametrize(
    ("bodies", "said"),
    [
        (
            [declared(member("a")), declared(member("b")), reserved("a", "r", "0.6"), reserved("b", "r", "0.6")],
            "its population",
        ),
        ([declared(member("a")), declared(member("b", above="2"))], "declares otherwise"),
        ([declared(member("a")), declared(member("b", rows_per_person=2))], "declares otherwise"),
        ([declared(member("a", days=DAYS)), reserved("a", "r", "0.6", windows=["2026-01"])], "or a window"),
        ([declared(member("a", days=DAYS)), reserved("a", "r", "0.1", windows=["2026-07"])], "names windows"),
        ([declared(member("a", days=DAYS)), reserved("a", "r", "0.1", windows=[])], "names windows"),
        ([declared(member("a", days=DAYS)), reserved("a", "r", "0.1", windows="2026-01")], "names windows"),
        ([declared(member("a")), reserved("a", "r", "0.1", windows=["2026-01"])], "that has none"),
    ],
)
def test_entries_that_no_ledger_would_write_are_damage(bodies: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        followed(*bodies)


def test_what_is_read_again_is_what_was_charged() -> None:
    book = followed(
        declared(member("a", days=DAYS)),
        declared(member("b")),
        reserved("a", "r", "0.2", windows=["2026-01", "2026-02"]),
        reserved("b", "r", "0.3"),
        {"kind": "fail", "dataset": "a", "name": "r", "reservation": 3},  # a charge is never given back
    )
    windows = book.accounts["a"].windows
    assert windows is not None
    assert [windows.spent(name) for name in windows.starts] == [amounts("0.2"), amounts("0.2"), amounts(0)]
    assert book.populations["everybody"].spent == amounts("0.5")
