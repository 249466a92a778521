"""The budget of a data set is never exceeded, and a data set is what its first entry declared."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ArgumentError, BudgetExceeded, LedgerError
from discreet.ledger import Identity, Ledger, Reservation

from .declared import DECLARATION, amounts, asks, identity


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
            "rows: 100 in the ledger, 101 now",
            "column 'age', which the exact totals use: ",
            "measure: pure in the ledger, zcdp now",
            "budget: 1 in the ledger, 2 now",
        ):
            assert part in str(caught.value)
    assert ledger.spent("wages") == amounts("0.1")


def test_a_key_that_is_absent_on_one_side_is_named(ledger: Ledger) -> None:
    ledger.reserve(identity(1), [asks("a", "0.1")])
    with pytest.raises(LedgerError, match="invariants: not there in the ledger, state now"):
        ledger.check(identity(1, declaration=DECLARATION[:-1] + ',"invariants":"state"}'))
    ledger.check(identity(1, declaration=DECLARATION + " "))  # blanks declare nothing


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
