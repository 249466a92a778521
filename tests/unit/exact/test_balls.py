"""Enclosures become numbers: rounded to the named side, by less than one double, from 1e-320 to 1e300."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.exact.balls import ball, enclose, enclosure, lower, lower_rational, upper, upper_rational

SIZES = [-1060, -1021, -900, -500, -3, 0, 40, 500, 900, 1020]


@pytest.mark.parametrize("power", SIZES)
@pytest.mark.parametrize("bits", [1, 60, 300])
def test_numbers_of_every_size_are_rounded_up_by_less_than_a_double(power: int, bits: int) -> None:
    from flint import ctx

    truth = Fraction(2) ** power * (1 + Fraction(1, 2**bits))
    with ctx.workprec(400):
        exact = ball(truth)
        found = upper(exact)
        assert (upper(-exact), lower(-exact)) == (-lower(exact), -found)
    assert Fraction(found) >= truth
    assert Fraction(math.nextafter(found, 0)) <= truth
    assert Fraction(lower(exact)) <= truth <= Fraction(math.nextafter(lower(exact), math.inf))
    with ctx.workprec(128):
        near = ball(truth)
        high, low = upper_rational(near), lower_rational(near)
    assert low <= truth <= high
    if power > -1000:  # smaller ones may be told apart from 0 only
        assert high - low <= truth / 2**50


def test_an_enclosure_is_as_tight_as_asked() -> None:
    for asked in (64, 90, 200):
        found = enclose(lambda: ball(Fraction(1, 3)).exp(), asked)
        assert found.rel_accuracy_bits() >= asked


@pytest.mark.parametrize(("power", "ends"), [(10**12, (math.nextafter(math.inf, 0), math.inf)), (-(10**12), (0.0, 5e-324))])
def test_numbers_beyond_every_double_have_the_last_ones_as_their_ends(power: int, ends: tuple[float, float]) -> None:
    assert enclosure(lambda: ball(2) ** power) == ends


def test_what_is_too_small_to_be_told_from_0_is_enclosed_at_once() -> None:
    asked = []

    def nearly_nothing() -> Any:
        asked.append(None)
        return ball(Fraction(1, 3)) ** 10**9 - ball(Fraction(1, 3)) ** 10**9

    assert enclosure(nearly_nothing) == (0.0, 5e-324)
    assert len(asked) == 1
