"""What can be assumed, what is refused, and how whole errors are told."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import pytest

import discreet as dp
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Quote
from discreet.quotes.whole import AssumedErrors

SCHEMA = dp.Schema(
    income=dp.Number(0, 450_000), profit=dp.Number(-100, 100), group=dp.Category(["a", "b"]), age=dp.Number(0, 110)
)
WHOLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=2000))
CUT = WHOLE.clamp({"income": (0, 80_000)})
SKIP = {"nulls": "skip"}


def asked(*statistics: dp.statistics.base.Statistic, table: dp.Table = CUT) -> Quote:
    return quote(table.agg(*statistics), dp.ZCDP("0.5"))


MEAN = asked(dp.mean("income", **SKIP))


def test_the_example_of_the_guide() -> None:
    """2,000 incomes, 10 % null, 6 % above 80,000, where they are 155,900 on average: the mean is 4,554 off."""
    found = MEAN.assuming(nulls="0.1", above="0.06", mean_above=155_900)
    one = found.of("mean_income")
    assert one.off == 4554
    assert one.draws == 0
    assert one.anywhere == 45_000
    assert one.noise > 78
    assert one.whole == one.noise + 4554
    assert str(found).splitlines()[0] == (
        "assumed of income: 10 % null; 6 % of the known values above 80000, their mean 155900"
    )
    assert "original() adds an interval" in str(found).splitlines()[-1]
    assert repr(found).startswith("<AssumedErrors: mean_income ±")


def test_noise_is_that_of_the_rows_that_are_known() -> None:
    (line,) = MEAN.lines
    size = dp.statistics.recipe.GroupSize(1800, 2000)
    assert MEAN.assuming(nulls="0.1").of("mean_income").noise == line.recipe.widest(MEAN.noises(line), size)
    assert MEAN.assuming(nulls=0).of("mean_income").noise == MEAN.errors(MEAN.sizes[0])["mean_income"]


def test_where_nothing_is_said_of_nulls_all_rows_but_one_may_be_null() -> None:
    """The noise of a mean of one value holds everything that is possible: 80,000 from one end of the clamp to the other."""
    found = MEAN.assuming(above=0)
    assert found.of("mean_income").noise == 80_000
    assert str(found).splitlines()[0] == "assumed of income: 0 to 100 % null"


def test_a_row_counts_where_both_columns_are_known() -> None:
    pair = asked(dp.covariance("income", "profit", **SKIP), table=WHOLE)
    half = pair.assuming(nulls={"income": "0.2", "profit": "0.3"}).of("covariance_income_profit").noise
    assert half == pair.errors(dp.statistics.recipe.GroupSize(1000, 2000))["covariance_income_profit"]


def test_an_error_for_rows_that_are_spread_evenly_is_not_a_whole_one() -> None:
    found = asked(dp.correlation("income", "profit", **SKIP), table=WHOLE).assuming(nulls=0)
    assert found.of("correlation_income_profit").whole is None
    assert "not stated for this kind of statistic" in str(found)


def test_everything_is_plain_data() -> None:
    found = MEAN.assuming(nulls=("0.05", "0.1"), above={"income": "1/3"}, mean=("40000", "60000"))
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    (about,) = shown["assumed"]
    assert about["nulls"] == ["0.05", "0.1"]
    assert about["above"] == ["1/3", "1/3"]
    assert about["mean_above"] == ["80000", "450000"]
    assert [one["name"] for one in shown["errors"]] == ["mean_income"]
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_private_number_of_rows_has_errors_for_each_size() -> None:
    table = dp.Table(SCHEMA, dp.AddRemove()).clamp({"income": (0, 80_000)})
    quoted = asked(dp.mean("income", **SKIP), dp.sum("income", **SKIP), table=table)
    found = quoted.assuming(nulls="0.1", above="0.06", mean_above=155_900)
    assert [one.rows for one in found.errors if one.name == "sum_income"] == [10, 100, 1_000, 10_000]
    assert found.of("sum_income", 10).off == pytest.approx(9 * 4554)
    assert found.of("mean_income", 10).off == found.of("mean_income", 10_000).off == 4554
    one = quoted.assuming(nulls="0.1", above="0.06", mean_above=155_900, rows=(500, 600))
    assert {each.rows for each in one.errors} == {500}
    assert one.of("sum_income").off == pytest.approx(540 * 4554)


def test_beside_the_prepared_number_the_recorded_one_has_noise_alone() -> None:
    quoted = quote(CUT.agg(dp.mean("income", **SKIP)).original(), dp.ZCDP("0.5"))
    found = quoted.assuming(nulls="0.1", above="0.06", mean_above=155_900)
    prepared, recorded = found.of("mean_income"), found.of("mean_income_original")
    assert (prepared.covers, recorded.covers) == ("prepared", "recorded")
    assert (recorded.off, recorded.draws) == (0.0, 0.0)
    assert recorded.whole is not None
    assert prepared.whole is not None
    assert recorded.whole < prepared.whole
    assert "original()" not in str(found)


def test_with_any_answer_the_range_of_answers_stands_beside_the_noise() -> None:
    quoted = quote(CUT.agg(dp.mean("income", **SKIP)).original("anywhere", prepared=False), dp.ZCDP("0.5"))
    found = quoted.assuming(nulls="0.1")
    one = found.of("mean_income_original")
    assert (one.covers, one.off, one.anywhere) == ("anywhere", 0.0, 45_000)
    assert "any answers of those who gave none: a range of 45000" in str(found)


def test_how_far_the_interval_of_a_quantile_with_any_answer_reaches_is_not_stated() -> None:
    """The error of a quantile is that of its number; the ends of its interval reach farther."""
    quoted = quote(WHOLE.agg(dp.median("income", **SKIP)).original("anywhere"), dp.ZCDP("0.5"))
    found = quoted.assuming(nulls="0.1")
    assert found.of("median_income").whole is not None
    assert found.of("median_income_original").whole is None


def test_a_range_of_both_tails_is_cut_at_all_values() -> None:
    """Shares of the two tails are at most 1 together."""
    quoted = asked(dp.mean("profit", **SKIP), table=WHOLE.clamp({"profit": (-10, 10)}))
    free = quoted.assuming().of("mean_profit").off
    assert free == 90
    both = quoted.assuming(above=("0.3", "0.9"), below=("0.3", "0.9")).of("mean_profit").off
    assert both == pytest.approx(0.7 * 90)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"nulls": "1.1"}, "from 0 to 1"),
        ({"nulls": ("0.2", "0.1")}, "exchange the two"),
        ({"nulls": (1, 2, 3)}, "a pair"),
        ({"nulls": "many"}, "nulls"),
        ({"above": {"incme": "0.1"}}, "did you mean 'income'"),
        ({"above": {"age": "0.1"}}, "no clamp moves its values so"),
        ({"below": "0.1"}, "is about no column"),
        ({"above": "0.06", "mean_above": 70_000}, "from 80000 to 450000"),
        ({"mean": -1}, "from 0 to 450000"),
        ({"above": 0, "mean": 90_000}, "contradicts what is said"),
        ({"rows": 0}, "from 1 to"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(given: dict[str, object], told: str) -> None:
    with pytest.raises(dp.ArgumentError, match=told):
        MEAN.assuming(**given)  # type: ignore[arg-type]


def test_tails_of_more_than_all_values_are_refused() -> None:
    quoted = asked(dp.mean("profit", **SKIP), table=WHOLE.clamp({"profit": (-10, 10)}))
    with pytest.raises(dp.ArgumentError, match="more than all values"):
        quoted.assuming(above="0.6", below="0.6")


def test_two_columns_have_to_be_named() -> None:
    table = WHOLE.clamp({"income": (0, 80_000), "age": (0, 90)})
    quoted = asked(dp.mean("income", **SKIP), dp.mean("age", **SKIP), table=table)
    with pytest.raises(dp.ArgumentError, match="one of income, age"):
        quoted.assuming(above="0.1")
    found = quoted.assuming(nulls="0.1", above={"income": "0.06", "age": "0.01"})
    assert found.of("mean_age").off == pytest.approx(0.2)


def test_tables_with_other_groups_or_rows_are_refused() -> None:
    imputed = WHOLE.impute({"group": dp.Weights({"a": 1}), "income": dp.Uniform()})
    with pytest.raises(dp.PlanError, match="do not have the same groups"):
        quote(imputed.group_by("group").agg(dp.mean("income")), dp.ZCDP(1)).assuming()
    private = dp.Table(SCHEMA, dp.AddRemove()).impute({"income": dp.Uniform()})
    with pytest.raises(dp.PlanError, match="before_sampling"):
        quote(private.sample("1/10").agg(dp.mean("income")), dp.ZCDP(1)).assuming()
    resized = quote(private.resize(500).agg(dp.mean("income")), dp.ZCDP(1))
    with pytest.raises(dp.PlanError, match="give rows="):
        resized.assuming(nulls="0.1")
    assert resized.assuming(nulls="0.1", rows=(400, 600)).of("mean_income").off is not None


def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(dp.PlanError, match="there are those of mean_income"):
        MEAN.assuming().of("mean_incme")


def test_what_has_no_form_is_said() -> None:
    found = asked(dp.std("income", **SKIP)).assuming(above="0.01")
    assert found.of("std_income").whole is None
    assert "not stated for this kind of statistic" in str(found)
    assert isinstance(found, AssumedErrors)


def test_a_law_of_many_values_is_summed_exactly() -> None:
    """Weights that do not fit 64 bits together with their squares."""
    table = WHOLE.impute({"income": dp.Normal(200_000, 90_000)})
    found = dp.quotes.moved.moved_by(table.agg(dp.mean("income")), "income")
    assert found is not None
    assert found.law is not None
    assert float(found.law.mean) == pytest.approx(200_250, rel=2e-3)  # clipped at 0 and at 450,000
    assert found.law.low == 0
    assert isinstance(found.law.variance, Fraction)
