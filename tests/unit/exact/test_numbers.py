from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.exact.numbers import (
    decimal_text,
    decimal_up,
    exact,
    float_down,
    float_up,
    rational_gcd,
    sqrt_down,
    sqrt_up,
    text,
)

FRACTIONS = st.fractions() | st.builds(Fraction, st.integers(-(10**30), 10**30), st.integers(1, 10**30))


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1e-9", Fraction(1, 10**9)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (0.1 + 0.2, Fraction(30000000000000004, 10**17)),
        ("1e-400", Fraction(1, 10**400)),
        (5e-324, Fraction(5, 10**324)),
        (" 7 ", Fraction(7)),
        (-3, Fraction(-3)),
    ],
)
def test_numbers_mean_what_is_written(given_value, meant):
    assert exact(given_value, "x") == meant


@pytest.mark.parametrize(
    "bad",
    [True, None, "nan", "inf", math.nan, math.inf, Decimal("NaN"), Decimal("Infinity"), "1_000", "0x1F", "１２", "",
     "1e9999999", "1e-1001", "1/0", "1,5", "--1", [1], b"1", "1" * 2000],
)  # fmt: skip
def test_what_is_no_number_is_refused_by_name(bad):
    with pytest.raises(ArgumentError, match="spend"):
        exact(bad, "spend")


@given(FRACTIONS)
@example(Fraction(1, 3))
@example(Fraction(-1, 8))
@example(Fraction(1, 2**60))
def test_text_is_canonical(value):
    assert exact(text(value), "x") == value


@given(FRACTIONS)
@example(Fraction(1, 10))
@example(Fraction(2**1024))
@example(-Fraction(2**1024))
@example(Fraction(1, 2**1080))
def test_directed_floats_enclose(value):
    low, high = float_down(value), float_up(value)
    assert low == -math.inf or Fraction(low) <= value
    assert high == math.inf or Fraction(high) >= value
    assert high <= math.nextafter(low, math.inf)
    if low == high:
        assert Fraction(low) == value


@given(st.fractions(min_value=0))
@example(Fraction(4, 9))
@example(Fraction(2))
@example(Fraction(0))
def test_square_roots_are_on_their_side(value):
    low, high = sqrt_down(value), sqrt_up(value)
    assert low**2 <= value <= high**2
    assert high - low <= high / 2**79
    assert sqrt_down(value**2) == value == sqrt_up(value**2)


@given(FRACTIONS, FRACTIONS)
def test_the_gcd_divides_both(a, b):
    g = rational_gcd(a, b)
    if g:
        assert (a / g).denominator == (b / g).denominator == 1
        assert math.gcd(int(a / g), int(b / g)) == 1
    else:
        assert a == b == 0


def test_a_negative_has_no_root():
    with pytest.raises(ArgumentError):
        sqrt_down(Fraction(-1))
    assert decimal_text(Fraction(1, 3), 3) == "0.333"


@given(st.fractions(min_value=0) | st.floats(0, 1e300).map(Fraction))
@example(Fraction(1, 3))
@example(Fraction("2.7155"))
@example(Fraction(1, 10**400))
def test_a_printed_privacy_loss_is_never_below_the_truth(value):
    shown = Fraction(decimal_up(value, 4))
    assert value <= shown <= value * Fraction(1002, 1000)


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (1.5, "1.5"), (Fraction(1, 3), "0.333334"), (Fraction(1, 10**9), "1e-9"), (30, "30")]
)
def test_a_printed_privacy_loss_is_short(value, shown):
    assert decimal_up(value) == shown


def test_zero_has_no_sign():
    assert str(float_up(Fraction(0))) == str(float_down(Fraction(0))) == "0.0"
