"""What is asked of the table as recorded beside the prepared one, and what is refused."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.quotes.allocate import quote

SCHEMA = dp.Schema(g=dp.Category(["a", "b"]), h=dp.Category(["x", "y"]), income=dp.Number(0, 100), age=dp.Number(0, 10))
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=100))
CUT = TABLE.clamp({"income": (0, 50)})
FILLED = CUT.impute({"income": dp.Uniform()})
SKIP = {"nulls": "skip"}


def priced(request):
    return quote(request.original("anywhere"), dp.ZCDP(1))


def names(request):
    return [one.name for one in request.answered]


def test_each_statistic_of_a_changed_column_has_one_of_the_column_as_recorded():
    asked = [dp.count(), dp.count("income"), dp.mean("income"), dp.mean("age", **SKIP), dp.histogram("income", [0, 50])]
    request = FILLED.agg(*asked).original()
    twins = ["count_income_original", "mean_income_original", "histogram_income_original"]
    assert names(request) == [*(one.name for one in asked), *twins]
    assert request.facts["income as recorded"].high == 100
    assert request.facts["income as recorded"].nullable
    assert request.facts["income"].high == 50


def test_where_nothing_is_changed_the_two_tables_are_the_same():
    request = TABLE.clamp({"income": (0, 100)}).agg(dp.mean("income", **SKIP)).original()
    assert names(request) == ["mean_income"]
    assert "same table: the steps change nothing that mean_income read" in str(quote(request, dp.ZCDP(1)))


def test_without_the_prepared_table_the_steps_are_those_of_the_stripped_plan():
    asked = [dp.count(), dp.mean("income"), dp.std("income"), dp.covariance("income", "age", **SKIP)]
    request = FILLED.where({"g": ["a"]}).agg(*asked)
    alone = request.original(prepared=False)
    assert names(alone) == [f"{one.name}_original" for one in asked]
    assert [type(step).__name__ for step in alone.steps] == ["WhereIn"]
    assert all(one.skip_nulls for one in alone.statistics[1:])
    resized = FILLED.resize(50).agg(dp.mean("income")).original(prepared=False)
    assert resized.digest == TABLE.agg(dp.mean("income", **SKIP)).original(prepared=False).digest


def test_with_any_answer_each_statistic_of_a_column_or_a_group_has_another_interval():
    asked = [dp.count(), dp.count("income"), dp.mean("age", **SKIP)]
    request = CUT.agg(*asked).original("anywhere")
    assert names(request) == ["count", "count_income", "mean_age", "count_income_original", "mean_age_original"]
    grouped = CUT.group_by("g").agg(*asked).original("anywhere")
    assert names(grouped)[3:] == ["count_original", "count_income_original", "mean_age_original"]
    assert grouped.dropped == ("g",)
    words = str(quote(request, dp.ZCDP(1)))
    assert "columns with _original hold the value of the table with any answer of those who gave none" in words
    assert "same table: the steps change nothing that count read" in words


def test_beside_exact_totals_any_answer_is_refused_by_name():
    source = pl.DataFrame({"g": ["a"], "h": ["x"], "income": [1], "age": [1]})
    options = {"neighbours": dp.ReplaceOne(rows=1), "budget": dp.ZCDP(1), "invariants": dp.Totals("g")}
    with session_over(source, SCHEMA, **options) as session, pytest.raises(dp.PlanError, match="nulls='recorded'"):
        session.quote(session.table.agg(dp.mean("income", **SKIP)).original("anywhere"), spend="0.1")


def test_a_request_without_originals_keeps_its_digest_and_its_pickle():
    request = FILLED.agg(dp.mean("income"))
    assert len(request.__reduce__()[1]) == 7
    beside = request.original()
    assert beside.digest != request.digest
    assert pickle.loads(pickle.dumps(beside)) == beside
    assert pickle.loads(pickle.dumps(beside)).answered == beside.answered


@pytest.mark.parametrize(
    ("request_of", "words"),
    [
        (lambda: FILLED.resize(50).agg(dp.mean("income")).original(), "resized"),
        (lambda: CUT.where({"income": (0, 10)}).agg(dp.count()).original(), "do not have the same groups"),
        (lambda: CUT.group_by(dp.bins("income", [0, 50])).agg(dp.count()).original(), "do not have the same groups"),
        (lambda: TABLE.clamp({"g": ["a"]}).agg(dp.tables(["g"], ["h"])).original(), "ask for a histogram"),
        (lambda: CUT.agg(dp.count()).original("missing"), "'recorded', 'anywhere'"),
        (lambda: CUT.where({"g": ["a"]}).agg(dp.count()).original("anywhere"), "group by it in the place of where"),
        (lambda: CUT.agg(dp.covariance("income", "age", **SKIP)).original("anywhere"), "ask for nulls='recorded'"),
        (lambda: CUT.agg(dp.tables(["g"], ["h"])).original("anywhere"), "ask for nulls='recorded'"),
        (lambda: priced(CUT.agg(dp.std("income", interval="joint", **SKIP))), "leave out interval="),
        (lambda: priced(CUT.agg(dp.median("income", interval="chosen", **SKIP))), "no tree of counts"),
        (lambda: priced(CUT.group_by(dp.bins("age", [2, 5])).agg(dp.share())), "bins of all values"),
        (lambda: CUT.agg(dp.count()).original(prepared=1), "True or False"),
    ],
)
def test_what_has_no_such_form_is_refused_by_name(request_of, words):
    with pytest.raises(dp.PlanError, match=words):
        request_of()


def test_a_column_that_is_called_as_another_one_as_recorded_is_refused():
    schema = dp.Schema(**{"income": dp.Number(0, 9), "income as recorded": dp.Number(0, 9)})
    request = dp.Table(schema, dp.AddRemove()).clamp({"income": (0, 5)}).agg(dp.sum("income", **SKIP))
    with pytest.raises(dp.PlanError, match="rename it"):
        request.original()


def test_names_of_originals_do_not_collide():
    with pytest.raises(dp.PlanError, match="mean_income_original"):
        CUT.agg(dp.mean("income", **SKIP), dp.mean("age", **SKIP).alias("mean_income_original")).original()
