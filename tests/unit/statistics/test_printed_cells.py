"""Cells and the ends of their intervals as documents print them, beside the fractions that they stand for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.statistics import printed_cells
from discreet.statistics.printed_cells import decimals_of, ends_of

HALVES = st.fractions(Fraction(1, 1000), 10**6, max_denominator=10**6)
VALUES = st.lists(st.integers(-(10**17), 10**17), min_size=1, max_size=20)


def holds(values, denominator, half, wide=Fraction(11, 10000)):
    """The value is the nearest double, and the ends are outwards, by about a thousandth of the half-width at most."""
    near, low, high = ends_of(np.array(values), denominator, half, decimals_of(half))
    decimal = (max(map(abs, values)) // denominator + half) * 10 ** decimals_of(half) < 1 << 46
    for one, value, down, up in zip(values, near, low, high, strict=True):
        cell = Fraction(one, denominator)
        assert value == one / denominator
        most = half * (1 + wide) + 4 * Fraction(math.ulp(abs(value) + float(half)))
        assert cell - most <= Fraction(float(down)) <= cell - half
        assert cell + half <= Fraction(float(up)) <= cell + most
        if decimal:
            assert Fraction(repr(float(down))) * 10 ** decimals_of(half) % 1 == 0


@settings(max_examples=50)
@given(VALUES, st.integers(10**5, 10**12), HALVES)
def test_ends_are_outwards_and_close(values, denominator, half):
    holds(values, denominator, half)


def test_integers_of_python_have_the_same_ends():
    values, half = [10**20 + 7, -(10**19), 0], Fraction(731, 3)
    big = ends_of(np.array(values, dtype=object), 10**16, half, decimals_of(half))
    small = ends_of(np.array([one // 10**4 for one in values]), 10**12, half, decimals_of(half))
    for one, other in zip(big, small, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    holds([10**20 + 7, -(10**19)], 10**16, half)


def test_numbers_too_large_for_decimals_have_ends_in_doubles():
    half = Fraction(1, 2)
    near, low, high = ends_of(np.array([10**15]), 1, half, decimals_of(half))
    assert Fraction(float(low[0])) <= 10**15 - half < near[0] < 10**15 + half <= Fraction(float(high[0]))


def test_what_has_no_noise_is_printed_as_it_is():
    assert decimals_of(Fraction(0)) is None
    for one in ends_of(np.array([6, 3]), 3, Fraction(0), None):
        assert one.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("fault", ["ceil", "below"])
def test_ends_that_are_rounded_to_the_nearest_decimal_are_caught(fault, monkeypatch):
    values, half = list(range(-50, 50)), Fraction(123454, 1000)
    if fault == "ceil":
        monkeypatch.setattr(printed_cells, "ceil", int)
    else:
        monkeypatch.setattr(printed_cells, "_in_decimals", lambda values, denominator, half, decimals: nearest(values, half))
    with pytest.raises(AssertionError):
        holds(values, 7 * 10**5, half)


def nearest(values, half):
    cells = values / (7 * 10**5)
    return np.round(cells - float(half), 2), np.round(cells + float(half), 2)


@pytest.mark.parametrize("kind", [np.int64, np.object_])
@pytest.mark.parametrize("value", [7, 1 << 58])
def test_one_number_without_columns_has_ends_too(value, kind):
    """NumPy makes Python's numbers of arrays without axes: a release of such a table ended after its noise was drawn."""
    found = ends_of(np.array(value, dtype=kind), 1 << 30, Fraction(3), 3)
    assert [one.shape for one in found] == [(), (), ()]
    near, low, high = map(float, found)
    assert near == value / (1 << 30)
    assert near - 3.01 <= low <= near - 3 < near + 3 <= high <= near + 3.01
