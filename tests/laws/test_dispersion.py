"""The variance of a public n as one integer: what one row can change, on all tables, and what is read from it."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import Dispersion
from discreet.quotes.allocate import quote
from discreet.releases.assemble import estimate_statistics
from discreet.statistics.dispersion import dispersion_estimate


def answer(codes, query: Dispersion) -> int:
    return sum((x - y) ** 2 for x, y in combinations(codes, 2)) // query.coarse


@pytest.mark.parametrize("rows", [2, 3, 4])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("coarse", [1, 2, 4])
def test_no_replaced_row_changes_it_by_more_than_declared(rows, width, coarse, monkeypatch):
    monkeypatch.setattr(Dispersion, "coarse", coarse)
    query = Dispersion("v", width, rows)
    largest = 0
    for codes in product(range(width + 1), repeat=rows):
        for other in range(width + 1):
            change = abs(answer(codes, query) - answer((other, *codes[1:]), query))
            largest = max(largest, change)
    assert largest <= query.most
    # It is reached, up to rounding down: with all other rows at one end.
    assert largest >= width**2 * (rows - 1) // coarse


def test_a_wide_column_of_many_rows_is_rounded_so_that_noise_fits():
    query = Dispersion("v", 10**9, 10**9)
    assert query.most <= 2**40
    assert query.most * query.coarse >= query.width**2 * (query.rows - 1)


@pytest.mark.parametrize("coarse", [1, 8])
def test_the_value_is_the_variance_and_the_interval_holds_what_was_rounded(coarse):
    codes = [0, 1, 1, 5, 9, 9]
    spread = sum((x - y) ** 2 for x, y in combinations(codes, 2))
    truth = Fraction(spread, len(codes) ** 2) * Fraction(1, 4)
    noisy = (np.array([spread // coarse]), np.array([0]))
    found = dispersion_estimate(noisy, coarse=coarse, rows=len(codes), width=9, unit=Fraction(1, 2))
    assert found.low[0] <= truth <= found.high[0]
    assert found.value[0] == pytest.approx(float(truth), abs=coarse / len(codes) ** 2)


def asked(*statistics, rows=10, spend=None):
    table = dp.Table(dp.Schema(v=dp.Number(0, 8)), dp.ReplaceOne(rows=rows)).impute({"v": dp.Uniform()})
    return quote(table.agg(*statistics), spend or dp.PureDP(1))


def test_it_is_asked_where_the_number_of_rows_is_public_and_the_sum_is_not_asked_anyway():
    assert [type(one.query) for one in asked(dp.variance("v"), dp.std("v")).measured] == [Dispersion]
    kinds = {type(one.query) for one in asked(dp.variance("v"), dp.mean("v")).measured}
    assert Dispersion not in kinds
    assert Dispersion not in {type(one.query) for one in asked(dp.variance("v"), rows=1).measured}


@pytest.mark.parametrize("rows", [2, 10, 1000])
def test_the_expected_error_is_the_half_width_of_the_noise_over_the_square_of_the_rows(rows):
    quoted = asked(dp.variance("v"), dp.std("v"), rows=rows)
    (one,) = quoted.measured
    widest = one.law.half_widths(quoted.lines[0].level) * one.query.coarse
    variance, deviation = (error for _, error in quoted.expected)
    assert variance == pytest.approx(widest / rows**2, rel=1e-12)
    assert deviation == pytest.approx(variance**0.5, rel=1e-12)


@pytest.mark.parametrize("noise", [-(10**9), 0, 10**9])
def test_whatever_the_noise_is_it_stays_between_0_and_what_is_possible(noise):
    quoted = asked(dp.variance("v"), dp.std("v"))
    for columns in estimate_statistics(quoted, [np.array([noise], dtype=np.int64)]):
        low, value, high = (float(part[0]) for part in (columns.estimate.low, columns.estimate.value, columns.estimate.high))
        assert 0 <= low <= value <= high <= 16.0
