from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.exact.figures import amount, decimals_for, interval, name, number, percent_up


def parsed(shown: str) -> Decimal:
    return Decimal(shown.replace("−", "-").replace(",", ""))


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (1414593, 0, "1,414,593"),
        (-12, 0, "−12"),
        (0, 2, "0.00"),
        (-0.0, 1, "0.0"),
        (-0.04, 1, "0.0"),
        (2.5, 0, "2"),
        (48124.6, 0, "48,125"),
        (0.29, 2, "0.29"),
        (1e300, 0, "1e+300"),
        (-(10**20), 0, "−1e+20"),
        (float("inf"), 0, "∞"),
    ],
)
def test_numbers_are_rounded_and_grouped(value, decimals, shown):
    assert number(value, decimals) == shown


@given(
    st.floats(-1e14, 1e14), st.floats(0, 1e14), st.integers(0, 6),
)  # fmt: skip
@example(10824.999999999998, 4369.0, 0)
@example(-0.0, 0.0, 0)
@example(1.15, 0.0, 1)
def test_a_printed_interval_contains_the_computed_one_and_little_more(low, width, decimals):
    high = low + width
    ends = [parsed(end) for end in interval(low, high, decimals).split(" – ")]
    unit = Decimal(1).scaleb(-decimals)
    assert Decimal(low) - unit - abs(Decimal(low)) * Decimal("1e-15") <= ends[0] <= Decimal(repr(low))
    assert Decimal(repr(high)) <= ends[1] <= Decimal(high) + unit + abs(Decimal(high)) * Decimal("1e-15")


def test_huge_intervals_are_rounded_outwards_too():
    low, high = interval(1.2345678e17, 1.2345678e17).split(" – ")
    assert (low, high) == ("1.23456e+17", "1.23457e+17")


@pytest.mark.parametrize(
    ("halves", "decimals"),
    [
        ([1660.0], 0),
        ([12.0, 1.66], 1),
        ([0.73], 2),
        ([0.0, 0.05], 3),
        ([1e-30], 6),
        ([], 0),
        ([0.0], 0),
        ([float("inf")], 0),
    ],
)
def test_two_digits_of_the_smallest_half_width_are_shown(halves, decimals):
    assert decimals_for(halves) == decimals


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "not known"),
        (True, "true"),
        (7, "7"),
        ("a b", "a b"),
        ("\u202eevil", "⟨U+202E⟩evil"),
        ("a\tb\x00", "a⟨U+0009⟩b⟨U+0000⟩"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("<b>&", "<b>&"),
    ],
)
def test_invisible_characters_in_names_are_spelled_out(value, shown):
    assert name(value) == shown


@pytest.mark.parametrize(("written", "shown"), [("0.1", "0.1"), ("1/3", "1/3"), ("100000000000/300000000001", "≤ 0.333334")])
def test_amounts_are_exact_or_rounded_up(written, shown):
    assert amount(written) == shown


@given(st.fractions(0, 1))
@example(Fraction(1, 20))
def test_percentages_are_never_below_the_truth(share):
    shown = Fraction(percent_up(share).removesuffix("\u00a0%")) / 100
    assert share <= shown < share + Fraction(1, 1000)


def test_five_percent_stay_five_percent():
    assert percent_up(Fraction(1, 20)) == "5\u00a0%"
