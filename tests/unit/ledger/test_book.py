"""Entries whose digests are right but which no ledger would have written: each is refused, for its own reason."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.ledger import Identity, entry_digest
from discreet.ledger import book as book_module
from discreet.ledger.book import Book, Row, follow, follow_all, standing
from discreet.ledger.drafts import dataset_details
from discreet.ledger.records import canonical

WHO = Identity("wages", "{}", "approx", (Fraction(1), Fraction(1, 10**6)))
DECLARE = {"kind": "dataset", "dataset": "wages", "details": dataset_details(WHO)}
RESERVE = {"kind": "reserve", "dataset": "wages", "name": "a", "charge": ["0.6", "0"], "plan_digest": "p"}
COMMIT = {"kind": "commit", "dataset": "wages", "name": "a", "reservation": 2, "payload_digest": "d", "plan_digest": "p"}
WITH_TOTALS = {**DECLARE, "details": dataset_details(Identity("wages", '{"invariants":["n"]}', "pure", (Fraction(1),)))}
PUBLISH = {"kind": "publish", "dataset": "wages", "name": "totals", "plan_digest": "p"}
PUBLISHED = {**PUBLISH, "kind": "commit", "reservation": 2, "payload_digest": "d"}
UNPUBLISHED = {**PUBLISH, "kind": "fail", "reservation": 2}
CHEAP = {**RESERVE, "charge": ["0.6"]}
FAIL = {"kind": "fail", "dataset": "wages", "name": "a", "reservation": 2, "plan_digest": "p"}


def feed(book: Book, *entries: dict[str, object], row: int | None = None) -> None:
    for entry in entries:
        number = book.sequence + 1
        body = canonical({"sequence": number, **entry})
        follow(book, (row or number, body, entry_digest(book.digest, body)))


def meaning(book: Book) -> str:
    accounts = [(a.identity, a.spent, a.remaining, a.totals_owed, a.releases, a.published) for a in book.accounts.values()]
    return repr((book.sequence, book.digest, book.begun, book.concluded, accounts))


def test_sound_entries_are_followed() -> None:
    book = Book("genesis")
    feed(
        book,
        DECLARE,
        RESERVE,
        COMMIT,
        {**RESERVE, "name": "b", "charge": ["0.4", "0.000001"]},
        {**FAIL, "name": "b", "reservation": 4},
    )
    account = book.accounts["wages"]
    assert account.identity == WHO
    assert account.remaining == (0, 0)
    assert account.releases == {"a": 2, "b": 4}
    assert [(s.name, s.sequence, s.state, s.outcome) for number in book.begun if (s := standing(book, number))] == [
        ("a", 2, "committed", 3),
        ("b", 4, "failed", 5),
    ]


def test_sound_rows_are_taken_in_together(monkeypatch: pytest.MonkeyPatch) -> None:
    book, rows = Book("genesis"), []
    for entry in (DECLARE, RESERVE, COMMIT):
        digest = rows[-1][2] if rows else book.digest
        body = canonical({"sequence": len(rows) + 1, **entry})
        rows.append((len(rows) + 1, body, entry_digest(digest, body)))
    alone = Book("genesis")
    for row in rows:
        follow(alone, row)
    monkeypatch.setattr(book_module, "follow", lambda *_: pytest.fail("a sound row was followed alone, which takes longer"))
    follow_all(book, rows)
    assert meaning(book) == meaning(alone)


def test_exact_totals_come_first_and_may_be_tried_again() -> None:
    book = Book("genesis")
    feed(book, WITH_TOTALS, PUBLISH, UNPUBLISHED, PUBLISH, PUBLISH, {**PUBLISHED, "reservation": 5})
    feed(book, {**UNPUBLISHED, "reservation": 4}, CHEAP, {**CHEAP, "name": "totals", "charge": ["0.1"]})
    account = book.accounts["wages"]
    assert (account.published, account.totals_owed, book.concluded[5][0]) == (5, False, 6)
    assert sorted(account.releases) == ["a", "totals"]
    assert {number: state for number, (_, state, _) in book.concluded.items()} == {2: "failed", 4: "failed", 5: "committed"}
    assert list(book.begun) == [2, 4, 5, 8, 9]
    assert account.spent == (Fraction(7, 10),)


@pytest.mark.parametrize(
    ("before", "entry", "problem"),
    [
        ([], RESERVE, "undeclared"),
        ([], {**DECLARE, "details": "{}"}, "lacks a field"),
        ([], {**DECLARE, "details": dataset_details(Identity("wages", "5", "pure", (Fraction(1),)))}, "declaration"),
        ([], {**DECLARE, "details": dataset_details(Identity("wages", "{}", "pure", (Fraction(-1),)))}, "budget"),
        ([], {**DECLARE, "kind": "refund"}, "kind"),
        ([], {**DECLARE, "sequence": 2}, "another number"),
        ([DECLARE], DECLARE, "second time"),
        ([DECLARE], {**RESERVE, "charge": ["0.6"]}, "coordinates"),
        ([DECLARE], {**RESERVE, "charge": ["0.6", "-0.1"]}, "negative"),
        ([DECLARE], {**RESERVE, "charge": ["1.1", "0"]}, "more than the budget"),
        ([DECLARE], {**RESERVE, "charge": ["0.1", "0.000002"]}, "more than the budget"),
        ([DECLARE], {**RESERVE, "charge": ["x", "0"]}, "invalid literal"),
        ([DECLARE], {**RESERVE, "charge": [0.1, 0]}, "wrong type"),
        ([DECLARE], {**RESERVE, "dataset": "others"}, "undeclared"),
        ([DECLARE], COMMIT, "does not exist"),
        ([DECLARE, RESERVE], RESERVE, "used"),
        ([DECLARE, RESERVE], {**RESERVE, "name": "b"}, "more than the budget"),
        ([DECLARE, RESERVE], {**COMMIT, "reservation": 1}, "does not exist"),
        ([DECLARE, RESERVE], {**COMMIT, "name": "b"}, "does not exist"),
        ([DECLARE, RESERVE], {**FAIL, "dataset": "others"}, "does not exist"),
        ([DECLARE, RESERVE, COMMIT], COMMIT, "second time"),
        ([DECLARE, RESERVE, COMMIT], FAIL, "second time"),
        ([DECLARE, RESERVE, FAIL], COMMIT, "second time"),
        ([], PUBLISH, "not declared"),
        ([DECLARE], PUBLISH, "not declared"),
        ([DECLARE, RESERVE, COMMIT], PUBLISH, "not declared"),
        ([WITH_TOTALS], {**PUBLISH, "charge": ["0.1"]}, "at a charge"),
        ([WITH_TOTALS], {"kind": "publish", "dataset": "wages"}, "lacks a field"),
        ([WITH_TOTALS], CHEAP, "before the exact totals"),
        ([WITH_TOTALS, PUBLISH], CHEAP, "before the exact totals"),
        ([WITH_TOTALS, PUBLISH, UNPUBLISHED], CHEAP, "before the exact totals"),
        ([WITH_TOTALS, PUBLISH, PUBLISHED], PUBLISH, "published already"),
        ([WITH_TOTALS, PUBLISH, PUBLISHED, CHEAP], PUBLISH, "published already"),
        ([WITH_TOTALS, PUBLISH, PUBLISH, PUBLISHED], {**PUBLISHED, "reservation": 3}, "published already"),
        ([WITH_TOTALS, PUBLISH, PUBLISHED], PUBLISHED, "second time"),
        ([WITH_TOTALS, PUBLISH, UNPUBLISHED], PUBLISHED, "second time"),
        ([WITH_TOTALS, PUBLISH], {**PUBLISHED, "name": "other"}, "does not exist"),
    ],
)
def test_unsound_entries_are_refused_and_leave_the_book_as_it_was(
    before: list[dict[str, object]], entry: dict[str, object], problem: str
) -> None:
    book = Book("genesis")
    feed(book, *before)
    untouched = meaning(book)
    with pytest.raises(ValueError, match=problem):
        feed(book, entry)
    assert meaning(book) == untouched


def test_the_number_of_a_row_and_its_digest_count() -> None:
    book = Book("genesis")
    with pytest.raises(ValueError, match="is missing"):
        feed(book, DECLARE, row=2)
    body = canonical({"sequence": 1, **DECLARE})
    for digest in (entry_digest("other", body), entry_digest("genesis", body + " "), "", 7):
        with pytest.raises(ValueError, match="digest"):
            follow(book, (1, body, digest))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="digest"):
        follow(book, (1, body.encode(), entry_digest("genesis", body)))  # type: ignore[arg-type]


def rows_of(entries: list[dict[str, object]], odd: int, change: str) -> list[Row]:
    """The rows of these entries; the one at place `odd` is changed, and the chain goes on from what it was."""
    rows, previous = [], "genesis"
    for number, entry in enumerate(entries, start=1):
        body = canonical({"sequence": number, **entry})
        body = (
            {"no object": "[5]", "two": body + ",{}", "cut": body[:-1], "deep": "[" * 10**5}.get(change, body)
            if (number == odd)
            else body
        )
        digest = entry_digest(previous, body)
        changed = {"number": (number + 1, body, digest), "digest": (number, body, previous), "body": (number, "é", digest)}
        rows.append(changed.get(change, (number, body, digest)) if number == odd else (number, body, digest))
        previous = digest
    return rows


def followed(rows: list[Row], together: int) -> tuple[str, str]:
    """What a book means after the rows, and why it took in no more of them."""
    book = Book("genesis")
    try:
        if together == 1:
            for row in rows:
                follow(book, row)
        else:
            for start in range(0, len(rows), together):
                follow_all(book, rows[start : start + together])
    except ValueError as error:
        return meaning(book), str(error)
    return meaning(book), ""


entries = st.sampled_from([DECLARE, RESERVE, COMMIT, FAIL, {**RESERVE, "name": "b", "charge": ["0.4", "0.000001"]}])
changes = st.sampled_from(["", "no object", "two", "cut", "deep", "number", "digest", "body"])


@given(st.lists(entries, max_size=5), st.integers(1, 6), changes, st.integers(2, 4))
@example([DECLARE, RESERVE, COMMIT], 2, "two", 3)
@example([DECLARE, RESERVE, COMMIT], 3, "deep", 3)
@example([DECLARE, RESERVE, COMMIT], 3, "", 2)
def test_following_together_is_following_one_by_one(
    some: list[dict[str, object]], odd: int, change: str, together: int
) -> None:
    rows = rows_of([DECLARE, *some], odd, change)
    assert followed(rows, together) == followed(rows, 1)
    assert followed(rows_of([DECLARE, RESERVE, COMMIT], 0, ""), together)[1] == ""
