"""Covariances and correlations: exact ranges over the box of half-widths, what is asked for them, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.builders import plan_text

import discreet as dp
from discreet.cube.queries import Factor, NonNullCount, PairSum, RowCount, Squares, WeightedSum
from discreet.errors import PlanError
from discreet.mechanisms import Sensitivity
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root
from discreet.quotes.allocate import quote
from discreet.statistics import covariance as source
from discreet.statistics.base import statistic_json
from discreet.statistics.correlation import correlation_estimate
from discreet.statistics.covariance import covariance_estimate
from discreet.statistics.estimate import Estimate

SKIP = {"nulls": "skip"}
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(-2, 5), w=dp.Number("0.5", "2", "0.5"), k=dp.Number(3, 3))
TABLE = dp.Table(SCHEMA, dp.AddRemove())
UNITS = [Fraction(1), Fraction(1, 20), Fraction(10**30, 7), Fraction(7, 10**25)]
REACHES = ((-4, 4), (-3, 5))


# The interval -----------------------------------------------------------------------------------------------------------


def noisy(number, half):
    return np.array([number], dtype=np.int64), np.array([half], dtype=np.int64)


@st.composite
def boxes(draw):
    """Noisy sums of a, b and a·b over a noisy number of rows, with half-widths: of a table, or of none that there is."""
    halves = [draw(st.integers(0, 12)) for _ in range(3)] + [draw(st.sampled_from([0, 0, 1, 5, 40]))]
    if draw(st.integers(0, 3)):
        rows = draw(st.lists(st.tuples(st.integers(*REACHES[0]), st.integers(*REACHES[1])), min_size=1, max_size=30))
        sums = [sum(a for a, _ in rows), sum(b for _, b in rows), sum(a * b for a, b in rows)]
        numbers = [*sums, len(rows) + draw(st.integers(-1, 20))]
    else:
        numbers = [draw(st.integers(-150, 150)) for _ in range(3)] + [draw(st.integers(-3, 30))]
    return list(zip(numbers, halves, strict=True))


def estimated(box, unit=Fraction(1)):
    s, t, p, n = (noisy(*one) for one in box)
    found = covariance_estimate((s, t), p, n, unit=unit, reaches=REACHES)
    return [Fraction(float(end[0])) for end in (found.low, found.value, found.high)]


def in_the_box(box):
    """The covariance, moved to what is possible, at the corners of the sums for every number of rows."""
    *sums, (n, dn) = box
    most = Fraction(8 * 8, 4)
    for size in range(max(n - dn, 1), max(n + dn, 1) + 1):
        for s, t, p in product(*((centre - half, centre + half) for centre, half in sums)):
            yield min(max(Fraction(p, size) - Fraction(s * t, size**2), -most), most)


@pytest.mark.slow
@settings(max_examples=300)
@given(boxes(), st.sampled_from(UNITS))
@example([(10, 0), (-10, 0), (0, 0), (20, 5)], Fraction(1))
@example([(30, 3), (30, 3), (90, 9), (15, 8)], Fraction(1, 20))
@example([(0, 5), (0, 5), (0, 0), (6, 5)], Fraction(1))
def test_the_interval_of_a_covariance_holds_every_table_in_the_box(box, unit):
    low, value, high = estimated(box, unit)
    most = 16 * unit * (1 + Fraction(1, 10**12))
    assert -most <= low <= value <= high <= most
    there = list(in_the_box(box))
    assert low <= unit * min(there)
    assert unit * max(there) <= high
    if box[3][0] - box[3][1] < 1:
        assert (low, high) == (-high, high)
        assert high >= 16 * unit
    elif box[3][1] == 0:  # one number of rows: no wider than the box asks for
        slack = Fraction(1, 10**9) * unit
        assert low >= unit * min(there) - slack
        assert high <= unit * max(there) + slack


def test_between_two_numbers_of_rows_the_end_is_where_the_slope_turns():
    """P/N - A·B/N² with P = 40 and A·B = 200 is greatest, 2, at N = 10; both ends of [6, 20] have less."""
    _, value, high = estimated([(10, 0), (20, 0), (40, 0), (13, 7)])
    assert value < 2 <= high < 2 + 1e-9
    low, value, _ = estimated([(10, 0), (-20, 0), (-40, 0), (13, 7)])
    assert -2 - 1e-9 < low <= -2 < value


def test_a_range_without_its_turn_is_noticed(monkeypatch):
    """The mutant looks at the ends of the number of rows only."""
    ends = lambda p, m, few, many: np.maximum(p / few - m / few**2, p / many - m / many**2)  # noqa: E731
    monkeypatch.setattr(source, "_greatest", ends)
    assert estimated([(10, 0), (20, 0), (40, 0), (13, 7)])[2] < 2


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9), st.floats(0, 9)), min_size=3, max_size=3))
def test_the_interval_of_a_correlation_holds_every_quotient_in_the_box(ends):
    """Of a covariance of either sign, and of two variances."""
    covariance, one, other = (sorted(each) for each in ends)
    covariance = [covariance[0] - 5, covariance[1] - 5, covariance[2] - 5]
    found = correlation_estimate(*(Estimate(*(np.array([each[k]]) for k in (1, 0, 2))) for each in (covariance, one, other)))
    low, value, high = (float(end[0]) for end in (found.low, found.value, found.high))
    assert -1 <= low <= value <= high <= 1
    if min(one[0], other[0]) <= 1e-100:
        assert (low, high) == (-1, 1)
        return
    for c, a, b in product(covariance, one, other):
        quotient = min(max(Fraction(c) / Fraction(sqrt(a) * sqrt(b)), Fraction(-1)), Fraction(1))
        assert Fraction(low) - Fraction(1, 10**14) <= quotient <= Fraction(high) + Fraction(1, 10**14)


def test_integers_beyond_64_bits_are_taken():
    huge, half = np.array([10**40, -(10**40), 0], dtype=np.object_), np.array([10**39] * 3, dtype=np.object_)
    count = np.array([10**20, 10**18, 5], dtype=np.object_)
    found = covariance_estimate(
        ((huge, half), (huge, half)), (huge, half), (count, half // 10**30), unit=Fraction(1), reaches=((0, 9), (-9, 0))
    )
    assert np.isfinite([found.low, found.value, found.high]).all()


# What is asked ----------------------------------------------------------------------------------------------------------


def queries(table, *statistics):
    return [one.query for one in quote(table.agg(*statistics), dp.PureDP(1)).measured]


FULL = TABLE.impute({"v": dp.Uniform(), "w": dp.Uniform()})
V, W = Factor("v", 0, -7, 2, 7, 1), Factor("w", 0, -3, 2, 3, 1)


def test_columns_that_are_always_known_share_everything_but_the_products():
    asked = queries(FULL, dp.covariance("v", "w"))
    assert asked == [RowCount(), WeightedSum("v", -7, 2, 7), WeightedSum("w", -3, 2, 3), PairSum(V, W, 0)]
    several = (dp.correlation("v", "w"), dp.covariance("v", "w"), dp.std("v"), dp.mean("w"), dp.count())
    kinds = [type(query) for query in queries(FULL, *several)]
    assert (len(kinds), kinds.count(Squares), kinds.count(PairSum)) == (6, 2, 1)


def test_columns_that_may_be_null_are_added_up_over_the_rows_where_both_are_known():
    asked = queries(TABLE, dp.covariance("v", "w", **SKIP))
    assert {type(query) for query in asked} == {PairSum}
    assert [query.words() for query in asked] == [
        "rows where v and w are known",
        "sum of v where v and w are known",
        "sum of w where v and w are known",
        "sum of v times w where v and w are known",
    ]
    half = queries(TABLE.impute({"w": dp.Uniform()}), dp.covariance("w", "v", **SKIP))
    assert half[0] == NonNullCount("v")
    assert [type(query) for query in half[1:]] == [PairSum, WeightedSum, PairSum]


def test_the_products_of_a_row_reach_the_corner_of_both_halves_of_a_range():
    products = quote(FULL.agg(dp.covariance("v", "w")), dp.PureDP(1)).measured[-1]
    assert products.query == PairSum(V, W, 0)
    assert products.query.reach() == (-21, 21)
    assert products.sensitivity == Sensitivity(21, 441)


def test_a_public_number_of_rows_is_not_asked():
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=9)).impute({"v": dp.Uniform(), "w": dp.Uniform()})
    assert RowCount() not in queries(table, dp.covariance("v", "w"))


# What comes out ---------------------------------------------------------------------------------------------------------

ROWS = pl.DataFrame(
    {
        "g": ["x", "x", "x", "x", "x", "y", "y"],
        "v": [-2, 0, 3, None, 5, 1, 1],
        "w": [0.5, 1.0, 2.0, 2.0, None, 0.5, 2.0],
        "k": [3] * 7,
    }
)


def released(*statistics, spend=10**6):
    with dp.Session(ROWS, SCHEMA, dataset="d", ledger=":memory:", budget=dp.PureDP(spend), neighbours=dp.AddRemove()) as one:
        return one.release(one.table.group_by("g").agg(*statistics), name="r")


def test_next_to_no_noise_gives_the_numbers_of_the_rows_where_both_are_known():
    table = released(dp.covariance("v", "w", **SKIP), dp.correlation("v", "w", **SKIP)).table
    x, y = np.array([-2, 0, 3]), np.array([0.5, 1, 2])
    assert table["covariance_v_w"][0] == pytest.approx(np.cov(x, y, bias=True)[0, 1], rel=1e-9)
    assert table["correlation_v_w"][0] == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)
    assert table["covariance_v_w"].to_list()[1:] == [0, 0]  # one column is constant; nobody is in the last group
    assert table.select("correlation_v_w", "correlation_v_w_low", "correlation_v_w_high").rows()[1:] == [(0, -1, 1)] * 2


def test_the_expected_errors_are_linear_in_the_noises():
    asked = quote(FULL.agg(dp.covariance("v", "w"), dp.correlation("v", "w")), dp.PureDP(1))
    p, s, t, v, w = _widths(asked, asked.lines[1].level)
    both = (p + 3 * s + 7 * t) * 12 / (14 * 6) + 6 * (v + 14 * s) / 14**2 + 6 * (w + 6 * t) / 6**2
    assert dict(asked.expected)["correlation_v_w"] == pytest.approx(both / 1000, rel=1e-12)
    p, s, t, _, _ = _widths(asked, asked.lines[0].level)
    assert dict(asked.expected)["covariance_v_w"] == pytest.approx((p + 3 * s + 7 * t) / 8 / 1000, rel=1e-12)


def _widths(asked, level):
    found = {one.query: int(one.law.half_widths(level)) for one in asked.measured}
    squares = [query for query in found if isinstance(query, Squares)]
    return [found[query] for query in (PairSum(V, W, 0), WeightedSum("v", -7, 2, 7), WeightedSum("w", -3, 2, 3), *squares)]


# Names, files, refusals -------------------------------------------------------------------------------------------------

PLAN = plan_text("two-numbers")


def loaded(tmp_path, statistic):
    return plan_of(toml_root(PLAN.replace('"count"', statistic).encode(), tmp_path / "plan.toml"))


@pytest.mark.parametrize("word", ["covariance", "correlation"])
def test_a_plan_file_names_both_columns(tmp_path, word):
    (order,) = loaded(tmp_path, f'{{ {word} = ["v", "w"], nulls = "skip", weight = 2 }}').orders
    (one,) = order.request.statistics
    assert one == getattr(dp, word)("v", "w", nulls="skip", weight=2)
    said = {"statistic": word, "column": None, "name": f"{word}_v_w", "weight": "2", "columns": ["v", "w"], "nulls": "skip"}
    assert statistic_json(one) == said
    assert one.kind.title(said, "") == f"{word.capitalize()} of v and w, where both are known"


@pytest.mark.parametrize(
    ("statistic", "message"),
    [
        ('{ covariance = ["v"] }', r"covariance: must name two different columns, such as covariance\('age', 'income'\)"),
        ('{ correlation = ["v", "v"] }', "correlation: must name two different columns"),
        ('{ covariance = "v" }', "must be a list"),
        ('"covariance"', r"'covariance' needs two columns: write \{ covariance = \[\"x\", \"y\"\] \}"),
    ],
)
def test_a_plan_file_with_other_columns_is_refused(tmp_path, statistic, message):
    with pytest.raises(PlanError, match=message):
        loaded(tmp_path, statistic)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: dp.covariance("v", "w"),
            r"covariance\('v', 'w'\): 'v' can be null; impute it first, or ask for covariance\('v'",
        ),
        (lambda: dp.correlation("g", "w", **SKIP), "the column is categorical"),
        (lambda: dp.correlation("w", "k", **SKIP), r"correlation\('w', 'k'\): 'k' has a single value"),
        (lambda: dp.covariance("v", "nothing", **SKIP), "nothing"),
        (lambda: dp.covariance("v", 3), "must be the name of a column"),
    ],
)
def test_other_columns_are_refused(make, message):
    with pytest.raises(PlanError, match=message):
        TABLE.agg(make())


def test_plans_that_ask_for_other_pairs_have_other_digests():
    asked = [dp.covariance("v", "w", **SKIP), dp.covariance("w", "v", **SKIP), dp.correlation("v", "w", **SKIP)]
    assert len({TABLE.agg(one.alias("same")).digest for one in asked}) == 3
