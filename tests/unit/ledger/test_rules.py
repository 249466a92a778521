"""How the ledger's refusals are worded."""

from __future__ import annotations

import json
from fractions import Fraction
from types import SimpleNamespace

from discreet.ledger import Identity
from discreet.ledger.declarations import short
from discreet.ledger.rules import _describe_excess, _differences


def differences(before: object, now: object, *, budgets: tuple[int, int] = (1, 1)) -> str:
    stored, asked = (
        Identity("d", json.dumps(one), "zcdp", (Fraction(budget),))
        for one, budget in zip((before, now), budgets, strict=True)
    )
    return _differences(stored, asked)


def declared(*schema: object, rows: int = 100, **others: object) -> dict[str, object]:
    return {
        "schema": list(schema),
        "neighbours": {"relation": "replace-one", "rows": rows, "rows_per_person": 1},
        "budget": {"kind": "zcdp", "rho": "1"},
        "invariants": [],
        **others,
    }


STATE = {"name": "state", "type": "category", "categories": ["a", "b"]}
BY_STATE = {"part": "totals", "columns": ["state"], "only": None}


def test_differences_are_told_in_the_words_of_a_plan() -> None:
    assert differences(declared(rows=4999), declared(rows=5000)) == "rows: 4999 in the ledger, 5000 now"
    added = {"relation": "add-remove", "rows_per_person": 1}
    assert differences(declared(), declared(neighbours=added)) == (
        "neighbours: replace-one in the ledger, add-remove now; rows: 100 in the ledger, not there now"
    )
    doubled = {"kind": "zcdp", "rho": "2"}
    assert differences(declared(), declared(budget=doubled), budgets=(1, 2)) == "rho: 1 in the ledger, 2 now"
    assert differences(declared(), declared(), budgets=(1, 2)) == "budget: 1 in the ledger, 2 now"


def test_a_column_of_the_exact_totals_is_named_and_no_other_column_is() -> None:
    now = {**STATE, "categories": ["a"]}
    before = declared(STATE, {"name": "age", "upper": "100"}, invariants=[BY_STATE])
    assert differences(before, declared(now, {"name": "age", "upper": "110"}, invariants=[BY_STATE])) == (
        'categories of column \'state\', which the exact totals use: ["a","b"] in the ledger, ["a"] now'
    )
    assert differences(declared(STATE), declared(STATE, invariants=[BY_STATE])).startswith(
        "invariants: [] in the ledger, [{"
    )


def test_the_column_that_says_whose_row_it_is_is_named_as_such() -> None:
    persons = {"relation": "add-remove-persons", "person": "visitor"}
    before = declared({"name": "visitor", "type": "identifier", "kind": "text"}, neighbours=persons)
    now = declared({"name": "visitor", "type": "identifier", "kind": "number"}, neighbours=persons)
    assert differences(before, now) == (
        "kind of column 'visitor', which says whose row it is: text in the ledger, number now"
    )


def test_of_many_differences_some_are_named_and_the_depth_is_bounded() -> None:
    many = differences({f"c{i}": 1 for i in range(9)}, {f"c{i}": 2 for i in range(9)})
    assert many.count(" in the ledger, ") == 6
    assert many.endswith("; and 3 more")
    deep, deeper = 1, 2
    for _ in range(400):
        deep, deeper = {"k": deep}, {"k": deeper}
    assert differences({"of": deep}, {"of": deeper}).startswith("of k k k: {")


def test_sixty_letters_of_a_declaration_are_shown() -> None:
    assert short("x" * 60) == "x" * 60
    assert short("x" * 61) == "x" * 60 + "…"
    assert short(None) == "nothing"
    assert short(["é", 1]) == '["\\u00e9",1]'


def test_a_refusal_says_by_how_much_each_coordinate_is_over() -> None:
    identity = SimpleNamespace(dataset="d", measure="approx-dp")
    wanted, left = (Fraction(1), Fraction(1, 10**7)), (Fraction(1, 4), Fraction(1, 10**6))
    assert "over by 0.75, 0 " in str(_describe_excess("dataset='wages'", identity, wanted, left)).replace(
        "(0.75, 0)", "0.75, 0"
    )  # type: ignore[arg-type]
