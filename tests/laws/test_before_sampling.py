"""Coverage of the intervals for the table before a sample, by enumeration of all samples of small tables (W7).

The noise is left out, because its part of what may fail is known to be right; at a confidence of one half the bounds miss
often enough that a wrong one is noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, log, sqrt

import pytest

from discreet.noise.single.laws import DiscreteLaplace
from discreet.releases.derived import before_sampling as module
from discreet.releases.derived.linear import Cell, Linear, constant

HALF = Fraction(1, 2)
RATES = [Fraction(1, 10), Fraction(1, 2), Fraction(3, 4)]
TABLES = [(0, 0, 0, 3), (3,) * 9, (0, 1, 2, 3, 3, 0, 1, 3), (1, 0, 0, 0, 0, 0, 0, 0, 0)]


def design(rate: Fraction, rows: int | None = None, lower: int = 0, upper: int = 3) -> dict[str, object]:
    return {"rate": str(rate), "rows": rows, "lower": str(lower), "upper": str(upper)}


def noisy(value: int, scale: int) -> Linear:
    cell = Cell("draw", f"query {scale}", 0, DiscreteLaplace(Fraction(scale)), tied=False)
    return Linear(Fraction(value), ((Fraction(1), cell),))


def samples(values: Sequence[int], rate: Fraction, rows: int | None) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Each row by itself; or all sets of rate · rows of `rows` rows, of which the others are in another group."""
    if rows is None:
        for mask in product([False, True], repeat=len(values)):
            chance = rate ** sum(mask) * (1 - rate) ** (len(values) - sum(mask))
            yield tuple(value for value, kept in zip(values, mask, strict=True) if kept), chance
        return
    drawn, others = int(rate * rows), rows - len(values)
    for size in range(min(drawn, len(values)) + 1):
        for kept in combinations(values, size):
            yield kept, Fraction(comb(others, drawn - size), comb(rows, drawn))


def missed(figure: object, truth: Fraction) -> bool:
    return not Fraction(figure.low) <= truth <= Fraction(figure.high)


def counted(size: int, rate: Fraction, rows: int | None) -> Fraction:
    """The probability that the interval misses the count."""
    total = Fraction(0)
    for kept in range(size + 1):
        if rows is None:
            chance = comb(size, kept) * rate**kept * (1 - rate) ** (size - kept)
        else:
            drawn = int(rate * rows)
            chance = Fraction(comb(size, kept) * comb(rows - size, drawn - kept), comb(rows, drawn)) if kept <= drawn else 0
        if chance and missed(module._figure(constant(Fraction(kept)), None, design(rate, rows), HALF), Fraction(size)):
            total += chance
    return total


def summed(values: Sequence[int], rate: Fraction, rows: int | None) -> Fraction:
    total = Fraction(0)
    for kept, chance in samples(values, rate, rows):
        cell = constant(Fraction(sum(kept)))
        if chance and missed(module._figure(cell, Fraction(3), design(rate, rows), HALF), Fraction(sum(values))):
            total += chance
    return total


def averaged(values: Sequence[int], rate: Fraction, rows: int | None) -> Fraction:
    total, ends = Fraction(0), (Fraction(0), Fraction(3))
    for kept, chance in samples(values, rate, rows):
        parts = constant(Fraction(sum(kept))), constant(Fraction(len(kept)))
        found = module._mean_figure(*parts, ends, design(rate, rows), Fraction(1, 10))
        if chance and missed(found, Fraction(sum(values), len(values))):
            total += chance
    return total


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rows", [None, 40])
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_counts_are_covered_exactly(rate, rows):
    found = [counted(size, rate, rows) for size in range(1, 41)]
    assert max(found) <= HALF * 4 / 5
    assert max(found) > 0


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rows", [None, 20])
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_sums_are_covered_exactly(rate, rows):
    assert max(summed(values, rate, rows) for values in TABLES) <= HALF * 4 / 5


@pytest.mark.one_in(5)
@pytest.mark.parametrize("rows", [None, 20])
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_means_are_covered_exactly(rate, rows):
    assert max(averaged(values, rate, rows) for values in TABLES) <= Fraction(9, 10) * 3 / 5


def test_no_interval_is_vacuous():
    """So that coverage says something: large samples narrow all of them."""
    count = module._figure(constant(Fraction(1000)), None, design(HALF), Fraction(95, 100))
    total = module._figure(constant(Fraction(3000)), Fraction(3), design(HALF), Fraction(95, 100))
    parts = constant(Fraction(3000)), constant(Fraction(2000))
    mean = module._mean_figure(*parts, (Fraction(0), Fraction(3)), design(HALF), Fraction(95, 100))
    assert 1870 < count.low < 2000 < count.high < 2130
    assert 5400 < total.low < 6000 < total.high < 6600
    assert 1.3 < mean.low < 1.5 < mean.high < 1.7


@pytest.mark.parametrize("left_out", [Fraction(0), Fraction(1, 2**63)], ids=["m = n", "nearly all"])
def test_a_sample_of_all_rows_adds_no_error(left_out):
    """The rate is 1, or 1 as a double: rows that are not in the sample are impossible, or nearly so."""
    level, whole = Fraction(95, 100), design(1 - left_out, 3000)
    count = module._figure(constant(Fraction(1000)), None, whole, level)
    assert 1000 * (1 - 1e-8) < count.low <= 1000 <= count.high < 1001
    parts = constant(Fraction(2000)), constant(Fraction(1000))
    mean = module._mean_figure(*parts, (Fraction(0), Fraction(3)), whole, level)
    assert mean.low <= 2 <= mean.high


def test_the_error_of_a_mean_is_that_of_bernstein():
    """√(2bv) + (U − L)b/3 of W7, which coverage of small tables is far too kind to check."""
    level, b = Fraction(95, 100), log(100)
    found = module._mean_figure(
        constant(Fraction(3000)), constant(Fraction(2000)), (Fraction(0), Fraction(3)), design(HALF), level
    )
    _, most = module._count_before((Fraction(2000), Fraction(2000)), HALF, b, None)
    error = sqrt(2 * b * float(HALF * most) * 9 / 4) + 3 * b / 3
    assert found.low == pytest.approx((3000 - error) / 2000, rel=1e-6)
    assert found.high == pytest.approx((3000 + error) / 2000, rel=1e-6)


def test_the_noise_of_the_sample_moves_both_ends():
    """As if the sample had as many rows, or as large a sum, as the noise allows for at its part of what may fail."""
    level, rate = Fraction(95, 100), HALF
    sums, counts = (noisy(value, scale) for value, scale in ((9000, 40), (4000, 30)))
    half = sums.half_width(1 - (1 - level) / 5)
    for bound in (None, Fraction(3)):
        found = module._figure(sums, bound, design(rate), level)
        apart = [module._figure(constant(sums.value + sign * half), bound, design(rate), level) for sign in (-1, 1)]
        assert (found.low, found.high) == (apart[0].low, apart[1].high)
    ends = Fraction(0), Fraction(3)
    whole = module._mean_figure(sums, counts, ends, design(rate), level)
    for quiet in ((constant(sums.value), counts), (sums, constant(counts.value))):
        found = module._mean_figure(*quiet, ends, design(rate), level)
        assert whole.low < found.low < found.high < whole.high


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("planted", "of"),
    [
        (lambda patch: patch.setattr(module, "_log_up", lambda value: 0.1), counted),
        (lambda patch: patch.setattr(module, "_log_up", lambda value: 0.01), summed),
        (lambda patch: patch.setattr(module, "_log_up", lambda value: 0.001), averaged),
    ],
)
def test_an_error_of_the_sample_that_is_left_out_is_noticed(planted, of, monkeypatch):
    planted(monkeypatch)
    tables = [10, 20, 30] if of is counted else TABLES
    most = {counted: HALF * 4 / 5, summed: HALF * 4 / 5, averaged: Fraction(9, 10) * 3 / 5}[of]
    assert max(of(one, HALF, None) for one in tables) > most
