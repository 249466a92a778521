"""`convert`: one guarantee in the terms of another, never below it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

import discreet as dp
from discreet.privacy.amounts import number_text

from .commands import done, refused


@pytest.mark.one_in(3)
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


# On both sides of a sample --------------------------------------------------------------------------------------------


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("arguments", "key", "least", "most"),
    [
        ("--rho 0.1 --delta 1e-6 --sampled 1/100", "epsilon", 0.0415, 0.0416),
        ("--rho 0.1 --delta 1e-6 --sampled 1/10", "epsilon", 0.456, 0.4563),
        ("--rho 0.1 --delta 1e-6 --sampled 1", "epsilon", 2.14, 2.1425),
        ("--rho 0.1 --delta 1e-6 --without-replacement 7,700", "epsilon", 0.0415, 0.0416),
        ("--mu 0.5 --epsilon 1 --sampled 1/10", "delta", 1.1149e-10, 1.115e-10),
        ("--rho 0.1 --delta 1e-6 --proportion 3/2", "epsilon", *(dp.ZCDP("0.4").epsilon_at("1e-6"),) * 2),
    ],
)
def test_a_curve_for_the_population(arguments: str, key: str, least: float, most: float) -> None:
    facts = json.loads(done("convert", *arguments.split(), "--json"))
    assert least <= facts[key] <= most
    assert repr(facts[key]) in done("convert", *arguments.split())


@pytest.mark.parametrize(
    ("arguments", "outside", "inside"),
    [
        ("--epsilon 1 --sampled 1/100", 0.017036863236176549786, 5.1522979382444547047),
        ("--epsilon 1 --sampled 1/10", 0.15856507874042911101, 2.9004770978893854),
        ("--epsilon 1 --without-replacement 3,30", 0.15856507874042911101, 2.9004770978893854),
        # log E e^K, K binomial (2, 3/4), and the ε with (1/4 + 3/4·e^ε)² = e
        ("--epsilon 1 --proportion 3/2", 1.6559778784857395, 0.6232405136177339),
    ],
)
def test_both_directions_of_a_pure_guarantee(arguments: str, outside: float, inside: float) -> None:
    facts = json.loads(done("convert", *arguments.split(), "--json"))
    assert outside * (1 - 1e-15) <= float(facts["outside"]["epsilon"]) <= outside * (1 + 1e-14)
    assert inside * (1 - 1e-14) <= float(facts["inside"]["epsilon"]) <= inside * (1 + 1e-15)
    assert dp.PureDP(facts["outside"]["epsilon"]).epsilon >= Fraction(outside) * (1 - Fraction(1, 10**15))


def test_both_directions_of_an_approximate_guarantee() -> None:
    given = ["convert", "--epsilon", "1", "--delta", "1e-9", "--sampled", "1/100"]
    facts, said = json.loads(done(*given, "--json")), done(*given)
    assert facts["outside"]["delta"] == "0.00000000001"
    assert facts["inside"]["delta"] == "0.0000001"
    assert 0.999e-7 < dp.ZCDP(facts["rho"]).delta_at(facts["inside"]["epsilon"]) <= 1e-7
    assert 0.999e-7 < dp.GDP(facts["mu"]).delta_at(facts["inside"]["epsilon"]) <= 1e-7
    assert facts["rho"] in said
    assert "for the rows of the file implies ε = 1, δ = 1e-9 for the population, as long as nobody learns who" in said


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--mu 1 --sampled 1/2", "--mu: give --delta to learn ε, or --epsilon to learn δ"),
        ("--rho 1 --sampled 1/2", "--rho: give --delta to learn ε"),
        ("--rho 1 --epsilon 1 --delta 1e-9 --sampled 1/2", "and only one of them"),
        ("--sampled 1/2", "give --rho, --mu or --epsilon"),
        ("--epsilon 1 --sampled 0", "--sampled=0: must be above 0 and at most 1"),
        ("--epsilon 1 --sampled 2", "--sampled=2: must be above 0 and at most 1"),
        ("--epsilon 1 --sampled x9", "--sampled='x9': must be a number"),
        ("--epsilon 1 --sampled stratified", "strata that are sampled in proportion to their sizes are refused"),
        ("--epsilon 1 --sampled 1/2 --proportion 1", "--sampled and --proportion: give one of them"),
        ("--epsilon 1 --without-replacement 5", "must be two whole numbers, rows drawn and persons: 100,10000"),
        ("--epsilon 1 --without-replacement 5,x", "must be two whole numbers"),
        ("--epsilon 1 --without-replacement 5,3", "rows=5: must be at most the size of the population, of=3"),
        ("--epsilon 1 --without-replacement 0,3", "at least one row must be drawn"),
        ("--epsilon 1 --proportion -1", "proportion=-1: must be greater than 0"),
        ("--epsilon -1 --sampled 1/2", "epsilon=-1: must not be negative"),
    ],
)
def test_a_sample_from_which_nothing_follows_is_refused(arguments: str, said: str) -> None:
    assert said in refused(2, "convert", *arguments.split())


# Numbers --------------------------------------------------------------------------------------------------------------


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
