from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.statistics.sums import sum_estimate

ZERO = np.array([0])


@given(
    total=st.integers(-(2**70), 2**70),
    s=st.integers(0, 2**60),
    unit=st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(7, 10), Fraction(100), Fraction(1, 2**60)]),
)
@example(total=2**53, s=0, unit=Fraction(1))
@example(total=2**53, s=1, unit=Fraction(1))
@example(total=-(2**53), s=1, unit=Fraction(1, 2))
def test_the_ends_of_a_sum_contain_the_exact_ones_and_little_more(total, s, unit):
    got = sum_estimate(
        np.array([total], dtype=object),
        ZERO,
        np.array([s * unit.numerator], dtype=object),
        unit=unit,
        origin=Fraction(0),
    )
    low, high = Fraction(float(got.low[0])), Fraction(float(got.high[0]))
    slack = Fraction(1, 2**50) * (abs(total) + s) * unit + Fraction(1, 10**300)
    assert (total - s) * unit - slack <= low <= (total - s) * unit
    assert (total + s) * unit <= high <= (total + s) * unit + slack


@pytest.mark.parametrize(("unit", "ends"), [(Fraction(1), (11, 19)), (Fraction(1, 2), (5.5, 9.5))])
def test_ends_that_are_doubles_are_exact(unit, ends):
    got = sum_estimate(np.array([15]), np.array([3]), np.array([4]), unit=unit, origin=Fraction(0))
    assert (got.low[0], got.high[0]) == ends
