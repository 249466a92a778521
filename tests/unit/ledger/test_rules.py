"""How the ledger's refusals are worded."""

from __future__ import annotations

import json
from fractions import Fraction
from types import SimpleNamespace

from discreet.ledger import Identity
from discreet.ledger.rules import _describe_excess, _differences, _short


def differences(before: object, now: object) -> str:
    stored, asked = (Identity("d", json.dumps({"schema": part}), "pure", (Fraction(1),)) for part in (before, now))
    return _differences(stored, asked)


def test_the_column_that_differs_is_named_where_long_schemas_begin_alike() -> None:
    first = {"name": "carrier", "categories": ["AA", "UA"] * 30}
    before = [first, {"name": "delay", "lower": "0", "upper": "60"}]
    now = [first, {"name": "delay", "lower": "0", "upper": "90"}, {"name": "day"}]
    assert (
        differences(before, now)
        == 'schema day is absent there and {"name":"day"} here; schema delay upper is "60" there and "90" here'
    )
    assert differences([{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}]) == (
        'the order of schema is ["a","b"] there and ["b","a"] here'
    )
    assert differences([{"name": "a"}, {"name": "a"}], [{"name": "a"}]).startswith('schema is [{"name":"a"},{"name"')


def test_of_many_differences_some_are_named_and_the_depth_is_bounded() -> None:
    many = differences({f"c{i}": 1 for i in range(9)}, {f"c{i}": 2 for i in range(9)})
    assert many.count(" there and ") == 6
    assert many.endswith("; and 3 more")
    deep, deeper = 1, 2
    for _ in range(400):
        deep, deeper = {"k": deep}, {"k": deeper}
    assert differences(deep, deeper).startswith("schema k k k is {")


def test_sixty_letters_of_a_declaration_are_shown() -> None:
    assert _short("x" * 60) == "x" * 60
    assert _short("x" * 61) == "x" * 60 + "…"
    assert _short("") == ""
    assert _short(None) == "absent"


def test_a_refusal_says_by_how_much_each_coordinate_is_over() -> None:
    identity = SimpleNamespace(dataset="d", measure="approx-dp")
    wanted, left = (Fraction(1), Fraction(1, 10**7)), (Fraction(1, 4), Fraction(1, 10**6))
    assert "over by 0.75, 0 " in str(_describe_excess(identity, wanted, left)).replace("(0.75, 0)", "0.75, 0")  # type: ignore[arg-type]
