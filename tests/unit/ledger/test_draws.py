"""Data sets about one secret draw of persons have one budget, also for whoever reads the entries."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Identity, Ledger
from discreet.ledger.book import Book, Row, follow
from discreet.ledger.datasets import fresh_account
from discreet.ledger.drafts import dataset_details
from discreet.ledger.draws import draw_of
from discreet.ledger.records import canonical, entry_digest

from .declared import amounts, asks, identity

POISSON = {"design": "poisson", "rate": "1/100", "draw": "panel"}


def drawn(dataset: str, *budget: object, sampled: dict[str, Any] | None = None, **neighbours: Any) -> Identity:
    relation = {"relation": "add-remove", "rows_per_person": 1, **neighbours, "sampled": sampled or POISSON}
    return identity(*budget, dataset=dataset, declaration=canonical({"neighbours": relation}))


def test_a_draw_has_the_name_that_it_is_given_or_that_of_its_data_set() -> None:
    assert draw_of(drawn("a")) == "panel"
    assert draw_of(drawn("a", sampled={**POISSON, "draw": ""})) == "a"
    assert draw_of(drawn("a", sampled={**POISSON, "draw": "Pane\u0301"})) == "Pan\u00e9"
    assert not draw_of(identity())
    assert not draw_of(identity(declaration='{"neighbours":"replace-one"}'))


def test_data_sets_of_one_draw_have_one_total(ledger: Ledger) -> None:
    first, second, alone = drawn("a"), drawn("b"), drawn("c", sampled={**POISSON, "draw": "another"})
    ledger.reserve(first, [asks("r", "0.7")])
    assert ledger.left(second)[1] == amounts("0.3")  # before it is declared
    ledger.reserve(second, [asks("r", "0.2")])
    assert ledger.left(alone)[1] == amounts(1)
    for name, spent in (("a", "0.7"), ("b", "0.2")):
        assert (ledger.spent(name), ledger.remaining(name)) == (amounts(spent), amounts("0.1"))
    for one in (first, second):
        with pytest.raises(BudgetExceeded):
            ledger.reserve(one, [asks("s", "0.100000001")])
    ledger.reserve(first, [asks("s", "0.1")])
    assert ledger.remaining("b") == (Fraction(0),)
    assert ledger.verify().intact


def test_the_total_is_shared_after_the_file_is_opened_again(tmp_path: Path) -> None:
    for dataset in ("a", "b"):
        with Ledger.open(tmp_path / "budget.db") as ledger:
            ledger.reserve(drawn(dataset), [asks("r", "0.4")])
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert ledger.remaining("a") == ledger.remaining("b") == amounts("0.2")


def test_two_coordinates_are_shared_each(ledger: Ledger) -> None:
    ledger.reserve(drawn("a", 1, "1e-6"), [asks("r", "0.5", "1e-6")])
    with pytest.raises(BudgetExceeded):
        ledger.reserve(drawn("b", 1, "1e-6"), [asks("r", "0.1", "1e-9")])
    ledger.reserve(drawn("b", 1, "1e-6"), [asks("r", "0.5", 0)])
    assert ledger.remaining("a") == (0, 0)


@pytest.mark.parametrize(
    "other",
    [
        drawn("b", 2),
        drawn("b", sampled={**POISSON, "rate": "1/50"}),
        drawn("b", relation="replace-one", rows=5, sampled={"design": "without-replacement", "of": 500, "draw": "panel"}),
        Identity("b", drawn("b").declaration, "zcdp", amounts(1)),
    ],
)
def test_one_draw_has_one_rate_relation_measure_and_budget(ledger: Ledger, other: Identity) -> None:
    ledger.reserve(drawn("a"), [asks("r", "0.1")])
    for attempt in (lambda: ledger.check(other), lambda: ledger.reserve(other, [asks("r", *other.budget)])):
        with pytest.raises(LedgerError, match="draw='panel' is the draw of 'a' too, and data sets of one draw have"):
            attempt()
    assert ledger.datasets() == ("a",)


def test_rows_of_a_person_may_differ_between_files_of_one_draw(ledger: Ledger) -> None:
    ledger.reserve(drawn("a"), [asks("r", "0.1")])
    ledger.reserve(drawn("b", rows_per_person=3), [asks("r", "0.1")])
    assert ledger.remaining("a") == amounts("0.8")


def test_a_second_draw_needs_a_name(ledger: Ledger) -> None:
    unnamed = {**POISSON, "draw": ""}
    ledger.reserve(drawn("a", sampled=unnamed), [asks("r", "0.1")])
    with pytest.raises(LedgerError, match=r"this ledger has 'a', which is a secret sample too.*write draw='a'"):
        ledger.check(drawn("b", sampled=unnamed))
    ledger.check(drawn("a", sampled=unnamed))
    ledger.check(identity())  # no secret sample
    ledger.reserve(drawn("b", sampled={**POISSON, "draw": "a"}), [asks("r", "0.1")])
    assert ledger.remaining("a") == amounts("0.8")


def test_the_draw_is_fixed(ledger: Ledger) -> None:
    ledger.reserve(drawn("a"), [asks("r", "0.1")])
    with pytest.raises(LedgerError, match=r"rate: 1/100 in the ledger, 1/10 now"):
        ledger.check(drawn("a", sampled={**POISSON, "rate": "1/10"}))
    with pytest.raises(LedgerError, match=r"draw: panel in the ledger, other now"):
        ledger.check(drawn("a", sampled={**POISSON, "draw": "other"}))


def rows_of(*entries: dict[str, object]) -> list[Row]:
    """A chain of entries, however wrong they are."""
    rows: list[Row] = []
    for number, entry in enumerate(entries, start=1):
        body = json.dumps({"sequence": number, **entry}, sort_keys=True, separators=(",", ":"))
        rows.append((number, body, entry_digest(rows[-1][2] if rows else "", body)))
    return rows


def declares(one: Identity) -> dict[str, object]:
    return {"kind": "dataset", "dataset": one.dataset, "details": dataset_details(one)}


def reserves(dataset: str, charge: str) -> dict[str, object]:
    return {"kind": "reserve", "dataset": dataset, "name": "r", "charge": [charge], "plan_digest": "p", "protocol": 1}


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([declares(drawn("a")), reserves("a", "0.7"), declares(drawn("b")), reserves("b", "0.4")], "budget of its draw"),
        ([declares(drawn("a")), declares(drawn("b", 2))], "a draw that another one declares otherwise"),
    ],
)
def test_entries_that_spend_a_draw_twice_are_damage(entries: list[dict[str, object]], problem: str) -> None:
    book = Book("")
    *sound, last = rows_of(*entries)
    for row in sound:
        follow(book, row)
    with pytest.raises(ValueError, match=problem):
        follow(book, last)


def test_a_new_account_leaves_the_book_as_it_is() -> None:
    book = Book("")
    for row in rows_of(declares(drawn("a")), reserves("a", "0.7")):
        follow(book, row)
    assert fresh_account(book, drawn("b")).remaining == amounts("0.3")
    assert not book.accounts["a"].others
