"""No interval of a group of so many rows is wider than its bound, for extreme rows and noise at its half-width."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.quotes import quote as quoting
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers
from discreet.statistics import means, widest
from discreet.statistics.recipe import Answers, GroupSize

from .replay import cubes_of

SCHEMA = dp.Schema(x=dp.Number(-3, 9), y=dp.Number(0, 4, "0.5"), w=dp.Number(1, 4, "0.5"), s=dp.Category(["a", "b"]))
BY = dp.Weight("w", most=4)
ASKED = {
    "count": dp.count(),
    "sum": dp.sum("x", nulls="skip"),
    "share": dp.share(),
    "mean": dp.mean("x", nulls="skip"),
    "variance": dp.variance("x", nulls="skip"),
    "std": dp.std("y", nulls="skip"),
    "covariance": dp.covariance("x", "y", nulls="skip"),
    "joint variance": dp.variance("x", interval="joint", nulls="skip"),
    "joint std": dp.std("y", interval="joint", nulls="skip"),
    "weighted sum": dp.weighted_sum("x", BY, nulls="skip"),
    "weighted share": dp.weighted_share(BY, nulls="skip"),
}
SIZES = (3, 40, 200)
EXTREMES = ((0, 0), (12, 8), (12, 0))
"""Codes of x and y: at both ends of their bounds."""


def groups(rows: int, nulls: int) -> Iterator[list[dict[str, Any]]]:
    """Groups of equal rows, of two kinds of rows in several shares, and of one row unlike the others, and null rows."""
    for one, other in product(EXTREMES, repeat=2):
        for many in sorted({0, 1, rows // 2}):
            drawn = [one] * (rows - many) + [other] * many + [(None, None)] * nulls
            yield [{"x": x, "y": y, "w": 6 if y else 0, "s": 0} for x, y in drawn]


def half_widths(quoted: Any, rows: list[dict[str, Any]]) -> Iterator[float]:
    """Half of the interval of the group "a", with its noise of every query at either half-width."""
    (line,) = quoted.lines
    noises = quoted.noises(line)
    exact = exact_answers(quoted, cubes_of(quoted.plan, rows), None)  # type: ignore[arg-type]
    for signs in product((-1, 1), repeat=len(exact)):
        values = {
            one.asked: answer + sign * noises.largest(one.asked) * (np.arange(len(answer)) == 0)
            for one, answer, sign in zip(quoted.measured, exact, signs, strict=True)
        }
        (found,) = line.recipe.estimates(Answers(noises, values, slice(0, 1)))
        yield float(found.high[0] - found.low[0]) / 2


def worst(name: str, spend: Any, expect: int, *, rows: int, nulls: int = 0, others: int = 0) -> tuple[float, float]:
    """The widest half-width of a group of these rows and so many null ones, and the bound for the expected size."""
    quoted = quote(dp.Table(SCHEMA, dp.AddRemove()).group_by("s").agg(ASKED[name]), spend, expect=(expect,))
    rest = [{"x": 4, "y": 2, "w": 0, "s": 1}] * others
    found = max(width for own in groups(rows, nulls) for width in half_widths(quoted, [*own, *rest]))
    (size,) = quoted.sizes
    return found, quoted.errors(size)[quoted.lines[0].statistic.name]


@pytest.mark.one_in(30)
@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP(2)], ids=str)
@pytest.mark.parametrize("name", ASKED)
def test_no_interval_is_wider_than_its_bound(name: str, spend: Any) -> None:
    for rows in SIZES:
        for nulls, others in ((0, 0), (rows, 0), (0, rows)):
            found, bound = worst(name, spend, rows, rows=rows, nulls=nulls, others=others)
            assert found <= bound * (1 + 1e-9) + 1e-9, (rows, nulls, others)
            if (rows, nulls, others) == (SIZES[-1], 0, 0) and not name.endswith("std"):
                assert bound <= 3 * found, "a bound that says nothing"


@pytest.mark.parametrize("name", ["mean", "variance", "covariance"])
def test_null_rows_do_not_count_as_rows_of_a_group(name: str) -> None:
    """With 200 rows of which 150 are null the interval is wider than the bound for 200 rows."""
    found, bound = worst(name, dp.PureDP(4), 200, rows=50, nulls=150)
    assert found > bound * (1 + 1e-9)


def test_a_share_that_takes_other_groups_to_be_as_large_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_alike(_plan: Any, expect: tuple[int, ...]) -> tuple[GroupSize, ...]:
        return tuple(GroupSize(rows, 3 * rows) for rows in expect)

    monkeypatch.setattr(quoting, "sizes_of", all_alike)
    found, bound = worst("share", dp.PureDP(1), 200, rows=200)
    assert found > bound * (1 + 1e-9)


def test_a_bound_that_leaves_the_noise_of_the_count_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(noises: Any, sums: Any, _count: Any, rows: int) -> Any:
        return widest.Fraction(noises.largest(sums[0]), rows)

    monkeypatch.setattr(means, "quotient_width", without)
    found, bound = worst("mean", dp.PureDP(1), 40, rows=40)
    assert found > bound * (1 + 1e-9)


def test_a_public_number_of_rows_makes_the_variance_of_all_rows_a_single_query() -> None:
    rows = [{"x": 0}] * 36 + [{"x": 12}] * 4
    plan = dp.Table(SCHEMA, dp.ReplaceOne(rows=40)).impute({"x": dp.Uniform()}).agg(dp.variance("x"))
    quoted = quote(plan, dp.PureDP(1))
    (line,) = quoted.lines
    noises = quoted.noises(line)
    exact = exact_answers(quoted, cubes_of(plan, rows), None)  # type: ignore[arg-type]
    values = {one.asked: answer for one, answer in zip(quoted.measured, exact, strict=True)}
    (found,) = line.recipe.estimates(Answers(noises, values, slice(0, 1)))
    bound = line.recipe.widest(noises, GroupSize(40, 40))
    assert np.all((found.high - found.low) / 2 <= bound * (1 + 1e-9))
    assert bound <= 1.5 * float((found.high - found.low).max() / 2) + 1


def test_the_error_of_a_correlation_is_that_of_rows_spread_evenly() -> None:
    """Every pair of values once or more often: without noise the half-width is the stated one, up to the grid."""
    plan = dp.Table(SCHEMA, dp.AddRemove()).group_by("s").agg(dp.correlation("x", "y", nulls="skip"))
    quoted = quote(plan, dp.ZCDP(2), expect=(13 * 9 * 4,))
    (line,) = quoted.lines
    rows = [{"x": x, "y": y, "s": 0} for x in range(13) for y in range(9)] * 4
    exact = exact_answers(quoted, cubes_of(quoted.plan, rows), None)  # type: ignore[arg-type]
    values = {one.asked: answer for one, answer in zip(quoted.measured, exact, strict=True)}
    (found,) = line.recipe.estimates(Answers(quoted.noises(line), values, slice(0, 1)))
    (size,) = quoted.sizes
    stated = quoted.errors(size)["correlation_x_y"]
    assert 0.7 < float(found.high[0] - found.low[0]) / 2 / stated < 1.1
    assert stated < 0.3
