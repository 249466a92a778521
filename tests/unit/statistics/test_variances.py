"""Variances, standard deviations and shares: exact ranges over the box of half-widths, found by trying its integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.statistics.estimate import Estimate
from discreet.statistics.shares import share_estimate
from discreet.statistics.variances import root_estimate, variance_estimate

UNITS = [Fraction(1), Fraction(1, 20), Fraction(1, 3), Fraction(10**30, 7), Fraction(7, 10**25)]


def one(number):
    return np.array([number], dtype=np.int64)


def pair(number, half):
    return one(number), one(half)


@st.composite
def sums(draw):
    """Noisy sums of f and f² - shift over a noisy number of rows, with half-widths: of a table, or of none that there is."""
    low = draw(st.integers(-6, 6))
    reach = (low, low + draw(st.integers(0, 9)))
    shift = draw(st.integers(0, 40))
    ds, dq, dn = draw(st.integers(0, 12)), draw(st.integers(0, 12)), draw(st.sampled_from([0, 0, 1, 5, 40]))
    if draw(st.integers(0, 3)):
        values = draw(st.lists(st.integers(*reach), min_size=1, max_size=30))
        s, q, n = sum(values), sum(f * f - shift for f in values), len(values) + draw(st.integers(-1, 20))
    else:
        s, q, n = draw(st.integers(-200, 200)), draw(st.integers(-900, 900)), draw(st.integers(-3, 30))
    return (s, ds), (q, dq), (n, dn), shift, reach


def spread(s, q, n, shift, reach):
    """The variance of a table with these sums in steps of f, moved to what is possible."""
    found = Fraction(q, n) + shift - Fraction(s, n) ** 2
    return min(max(found, Fraction(0)), Fraction((reach[1] - reach[0]) ** 2, 4))


def box(centre, half):
    """The ends of a range, and 0 where it is inside: what squares and quotients are largest and smallest at."""
    return {centre - half, centre + half} | ({0} if abs(centre) <= half else set())


@pytest.mark.slow
@settings(max_examples=150)
@given(sums(), st.sampled_from(UNITS))
@example(((0, 0), (100, 0), (4, 0), 0, (-5, 5)), Fraction(1, 20))
@example(((0, 0), (1, 0), (1, 0), 0, (-1, 1)), Fraction(1, 3))
def test_the_interval_of_a_variance_holds_every_table_in_the_box(asked, unit):
    (s, ds), (q, dq), (n, dn), shift, reach = asked
    found = variance_estimate(pair(s, ds), pair(q, dq), pair(n, dn), shift=shift, unit=unit, reach=reach)
    low, value, high = (Fraction(float(end[0])) for end in (found.low, found.value, found.high))
    most = unit**2 * Fraction((reach[1] - reach[0]) ** 2, 4)
    assert 0 <= low <= value <= high <= most * (1 + Fraction(1, 10**12))
    rows = range(max(n - dn, 1), max(n + dn, 1) + 1)
    corners = list(product(box(s, ds), box(q, dq)))
    there = [unit**2 * spread(*corner, rows_there, shift, reach) for corner in corners for rows_there in rows]
    assert low <= min(there)
    assert max(there) <= high
    if n - dn < 1:
        assert (low, high >= most) == (0, True)
    else:
        # No wider than the box asks for: between whole numbers of rows the ends are attained.
        near = [(*corner, size) for corner in corners for size in np.linspace(rows[0], rows[-1], 200)]
        ends = [min(max(q_ / n_ + shift - (s_ / n_) ** 2, 0), float(most / unit**2)) for s_, q_, n_ in near]
        slack = 1e-4 * (abs(q) + dq + (abs(s) + ds) ** 2 + shift + 1)
        assert float(low / unit**2) >= min(ends) - slack
        assert float(high / unit**2) <= max(ends) + slack


@given(sums())
def test_a_standard_deviation_is_the_root_of_the_variance(asked):
    s, q, n, shift, reach = asked
    variance = variance_estimate(pair(*s), pair(*q), pair(*n), shift=shift, unit=Fraction(1, 7), reach=reach)
    found = root_estimate(variance)
    low, value, high = (Fraction(float(end[0])) for end in (found.low, found.value, found.high))
    assert 0 <= low <= value <= high
    assert low**2 <= Fraction(float(variance.low[0]))
    assert high**2 >= Fraction(float(variance.high[0]))
    assert high <= Fraction(reach[1] - reach[0], 14) * (1 + Fraction(1, 10**12))


def test_what_cannot_vary_has_no_error():
    zero = np.zeros(3)
    found = root_estimate(Estimate(zero, zero, zero))
    assert [end.tolist() for end in (found.low, found.value, found.high)] == [[0.0] * 3] * 3
    constant = variance_estimate(pair(0, 0), pair(0, 0), pair(5, 2), shift=0, unit=Fraction(1, 3), reach=(4, 4))
    assert [constant.low[0], constant.value[0], constant.high[0]] == [0.0, 0.0, 0.0]


@given(st.integers(-5, 60), st.integers(0, 9), st.integers(-3, 80), st.sampled_from([0, 0, 3, 30, 100]))
def test_the_interval_of_a_share_holds_every_table_in_the_box(n, dn, total, half):
    found = share_estimate(pair(n, dn), (total, half))
    low, value, high = (Fraction(float(end[0])) for end in (found.low, found.value, found.high))
    assert 0 <= low <= value <= high <= 1
    every = range(max(total - half, 1), max(total + half, 1) + 1)
    there = [min(max(Fraction(count, rows), Fraction(0)), Fraction(1)) for count in (n - dn, n + dn) for rows in every]
    assert low <= min(there)
    assert max(there) <= high
    if total - half < 1:
        assert (low, high) == (0, 1)
    else:
        slack = Fraction(1, 10**11)
        assert low >= min(there) - slack
        assert high <= max(there) + slack


def test_integers_beyond_64_bits_are_taken():
    huge = np.array([10**40, -(10**40), 0], dtype=np.object_)
    half = np.array([10**39] * 3, dtype=np.object_)
    count = np.array([10**20, 10**18, 5], dtype=np.object_)
    found = variance_estimate((huge, half), (huge, half), (count, half // 10**30), shift=0, unit=Fraction(1), reach=(0, 9))
    share = share_estimate((huge, half), (huge.sum(), 10**40))
    for estimate in (found, share, root_estimate(found)):
        ends = np.array([estimate.low, estimate.value, estimate.high])
        assert np.isfinite(ends).all()
        assert (np.diff(ends, axis=0) >= 0).all()
