"""What is asked of the table as recorded beside the prepared one, and what is refused."""

from __future__ import annotations

import pickle

import pytest

import discreet as dp
from discreet.quotes.allocate import quote

SCHEMA = dp.Schema(g=dp.Category(["a", "b"]), h=dp.Category(["x", "y"]), income=dp.Number(0, 100), age=dp.Number(0, 10))
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=100))
CUT = TABLE.clamp({"income": (0, 50)})
FILLED = CUT.impute({"income": dp.Uniform()})
SKIP = {"nulls": "skip"}


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
        (lambda: CUT.agg(dp.count()).original("missing"), "'recorded'"),
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
