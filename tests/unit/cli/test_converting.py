"""`convert`: one guarantee in the terms of another, never below it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

import discreet as dp
from discreet.privacy.amounts import number_text

from .commands import done, refused


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--rho 0.213 --delta 1e-10", lambda: {"epsilon": dp.ZCDP("0.213").epsilon_at("1e-10")}),
        ("--rho 0.5 --epsilon 3", lambda: {"delta": dp.ZCDP("0.5").delta_at(3)}),
        ("--mu 1 --delta 1e-6", lambda: {"epsilon": dp.GDP(1).epsilon_at("1e-6")}),
        ("--mu 1 --epsilon 1", lambda: {"delta": dp.GDP(1).delta_at(1)}),
        ("--mu 0.5", lambda: {"rho": "0.125"}),
        ("--epsilon 1", lambda: {"rho": "0.5"}),
        ("--epsilon 1 --delta 0", lambda: {"rho": "0.5"}),
    ],
)
def test_convert(arguments: str, expected: Any) -> None:
    facts = json.loads(done("convert", *arguments.split(), "--json"))
    assert expected().items() <= facts.items()
    assert "implies" in done("convert", *arguments.split())


def test_convert_a_target_gives_parameters_that_imply_it() -> None:
    facts = json.loads(done("convert", "--epsilon", "1", "--delta", "1e-9", "--json"))
    assert 0.999e-9 < dp.ZCDP(facts["rho"]).delta_at(1) <= 1e-9
    assert 0.999e-9 < dp.GDP(facts["mu"]).delta_at(1) <= 1e-9
    assert facts["rho"] in done("convert", "--epsilon", "1", "--delta", "1e-9")


@pytest.mark.parametrize(
    "arguments",
    ["", "--rho 1", "--rho 1 --mu 1", "--delta 1e-9", "--rho nan --delta 1e-9", "--rho 1 --delta 1e-9 --epsilon 1",
     "--rho -1 --delta 1e-9", "--rho 1 --delta 2", "--epsilon x"],
)  # fmt: skip
def test_convert_refuses_what_says_nothing(arguments: str) -> None:
    refused(2, "convert", *arguments.split())


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(0), "0"), (Fraction(1, 10), "0.1"), (Fraction(1, 10**9), "1e-9"), (Fraction(1, 3), "1/3"),
        (Fraction(29501), "29501"), (Fraction(1, 10**400), "1e-400"), (Fraction("0.123456789"), "0.123456789"),
        (Fraction(1, 123456789), "1/123456789"), (Fraction(2, 3 * 10**15), "6.66667e-16"),
    ],
)  # fmt: skip
def test_numbers_are_short_exact_where_that_is_short_and_never_below(value: Fraction, shown: str) -> None:
    assert number_text(value) == shown
    assert Fraction(number_text(value)) >= value
