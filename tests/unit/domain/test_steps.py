"""Clamp, impute, where and resize as facts: what is known of a table after each step."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

import discreet as dp
from discreet.domain.imputation import law_weights
from discreet.domain.row_samples import SampleEach
from discreet.errors import ArgumentError, PlanError

SCHEMA = dp.Schema(
    age=dp.Number(0, 110),
    sex=dp.Category(["F", "M", "X"]),
    wage=dp.Number("0", "2000", "10"),
    day=dp.Date("2024-01-01", "2024-12-31"),
)
TABLE = dp.Table(SCHEMA, dp.AddRemove())


def facts(table, name):
    return table.facts[name]


def test_disjoint_clamps_meet_in_one_value():
    twice = TABLE.clamp({"age": (0, 3)}).clamp({"age": (5, 10)})
    assert (facts(twice, "age").low, facts(twice, "age").high) == (5, 5)
    assert (facts(TABLE.clamp({"age": (5, 5)}), "age").low) == 5


def test_clamping_categories_makes_nulls_again():
    table = TABLE.impute({"sex": dp.Weights({"F": 1, "M": 1})})
    assert not facts(table, "sex").nullable
    again = table.clamp({"sex": ["F"]})
    assert facts(again, "sex").nullable
    assert facts(again, "sex").kept == (0,)


def test_numeric_clamps_keep_nulls_and_impute_removes_them():
    assert facts(TABLE.clamp({"age": (0, 50)}), "age").nullable
    assert not facts(TABLE.impute({"age": dp.Normal(40, 15)}), "age").nullable


def test_n_by_m_form_is_one_call_over_several_columns():
    """Seed 001: bounds, categories, weights and distributions per column."""
    table = TABLE.clamp({"age": (18, 65), "sex": ["F", "M"], "wage": ("0", "1500")}).impute(
        {"age": dp.Normal(40, 15), "sex": dp.Weights({"F": "0.5", "M": "0.5"}), "wage": dp.Uniform()}
    )
    assert len(table.steps) == 6
    assert not any(one.nullable for name, one in table.facts.columns.items() if name != "day")


def test_resize_states_n_copies_and_rate():
    """The seeds' three examples, section 4.5, as corrected: c = ⌈p⌉ and s = p/c."""
    full = TABLE.impute({"age": dp.Uniform()})
    for rows, p, copies, rate in [(150, 1, 1, 1), (100, "0.75", 1, "3/4"), (90, "1.5", 2, "3/4"), (90, "2.5", 3, "5/6")]:
        known = full.resize(rows, proportion=p).facts
        assert (known.rows, known.copies, known.rate) == (rows, copies, Fraction(rate))
    assert TABLE.facts.rows is None
    assert dp.Table(SCHEMA, dp.ReplaceOne(rows=7)).facts.rows == 7


def test_a_sample_states_its_rows_where_they_are_public():
    """Each row by itself: how many are kept is private. So many rows: public if the table has no fewer for certain."""
    public = dp.Table(SCHEMA, dp.ReplaceOne(rows=7))
    assert public.sample("1/2").facts.rows is None
    assert public.sample(rows=7).facts.rows == 7
    assert TABLE.sample(rows=7).facts.rows is None
    assert TABLE.sample("1/2").where({"age": (18, 65)}).facts.drawn == SampleEach(Fraction(1, 2))
    with pytest.raises(PlanError, match="at most the 7 rows of the table"):
        public.sample(rows=8)
    assert TABLE.sample("1/10").agg(dp.count()).digest != TABLE.sample("1/5").agg(dp.count()).digest
    assert (
        pickle.loads(pickle.dumps(TABLE.sample("1/10").agg(dp.count()))).digest == TABLE.sample("0.1").agg(dp.count()).digest
    )


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda t: t.clamp({"agee": (0, 1)}), "did you mean 'age'"),
        (lambda t: t.clamp({"age": (5, 1)}), "exchange the two"),
        (lambda t: t.clamp({"wage": (5, 100)}), "nearest grid values are 0 and 10"),
        (lambda t: t.clamp({"age": (-1, 100)}), "within [0, 110]"),
        (lambda t: t.clamp({"age": (1,)}), "pair"),
        (lambda t: t.clamp({"age": "18"}), "pair"),
        (lambda t: t.clamp({"sex": "F"}), "list of categories"),
        (lambda t: t.clamp({"sex": []}), "at least one"),
        (lambda t: t.clamp({"sex": ["F", "f"]}), "not a category"),
        (lambda t: t.clamp({}), "at least one column"),
        (lambda t: t.clamp([("age", (0, 1))]), "at least one column"),
        (lambda t: t.impute({"age": dp.Weights({"F": 1})}), "Uniform() or Normal"),
        (lambda t: t.impute({"sex": dp.Uniform()}), "Weights"),
        (lambda t: t.impute({"sex": dp.Weights({"Q": 1})}), "not a category"),
        (lambda t: t.clamp({"sex": ["F"]}).impute({"sex": dp.Weights({"M": 1})}), "an earlier clamp has removed"),
        (lambda t: t.impute({"age": 40}), "must be Uniform"),
        (lambda t: t.clamp({"age": (0, 50)}).impute({"age": dp.Uniform(0, 60)}), "within the column's bounds"),
        (lambda t: t.impute({"wage": dp.Uniform(5, 100)}), "grid"),
        (lambda t: t.where({"age": (18, 65)}).clamp({"age": (0, 50)}), "where() has used"),
        (lambda t: t.resize(0), "at least 1"),
        (lambda t: t.resize("100"), "whole number"),
        (lambda t: t.resize(True), "whole number"),
        (lambda t: t.resize(10, proportion=0), "greater than 0"),
        (lambda t: t.resize(10, proportion="-1/2"), "greater than 0"),
        (lambda t: t.resize(10, proportion="nan"), "must be a number"),
        (lambda t: t.resize(10).resize(20), "resized already"),
        (lambda t: t.resize(10).impute({"age": dp.Uniform()}), "resized already"),
        (lambda t: t.sample("1e-20"), "must be at least 2^-64"),
        (lambda t: t.sample("1/10").sample("1/10"), "sampled already"),
        (lambda t: t.sample("1/10").resize(10), "sampled already"),
        (lambda t: t.sample(rows=10).clamp({"age": (0, 50)}), "sampled already"),
        (lambda t: t.resize(10).sample("1/2"), "resized already"),
        (lambda t: t.sample(), 'sample("1/10"), or a number of rows'),
        (lambda t: t.sample("1/2", rows=3), 'sample("1/10"), or a number of rows'),
        (lambda t: t.sample(1), "less than 1"),
        (lambda t: t.sample(0), "greater than 0"),
        (lambda t: t.sample("nan"), "must be a number"),
        (lambda t: t.sample(rows="3"), "whole number"),
        (lambda t: t.sample(rows=0), "at least 1"),
    ],
)
def test_wrong_steps_are_refused_with_the_rule(build, says):
    with pytest.raises(PlanError) as refused:
        build(TABLE)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dp.Normal(0, 0), "sd"),
        (lambda: dp.Normal(0, -1), "sd"),
        (lambda: dp.Normal("nan", 1), "mean"),
        (lambda: dp.Weights({}), "mapping"),
        (lambda: dp.Weights({"F": -1, "M": 2}), "negative"),
        (lambda: dp.Weights({"F": 0}), "greater than 0"),
        (lambda: dp.Weights(["F"]), "mapping"),
        (lambda: dp.ReplaceOne(rows=0), "at least 1"),
        (lambda: dp.ReplaceOne(rows=True), "whole number"),
        (lambda: dp.AddRemove(rows_per_person=0), "at least 1"),
    ],
)
def test_wrong_laws_and_relations_are_refused(make, says):
    with pytest.raises(ArgumentError) as refused:
        make()
    assert says in str(refused.value)


def test_laws_on_the_grid_are_fixed_integer_weights():
    age = SCHEMA["age"]
    assert law_weights(dp.Uniform(), age, 0, 3).tolist() == [1, 2, 2, 1]
    assert law_weights(dp.Uniform(1, 2), age, 0, 3).tolist() == [0, 1, 1, 0]
    assert law_weights(dp.Uniform(), age, 7, 7).tolist() == [2]
    normal = law_weights(dp.Normal(1, 1), age, 0, 2)
    # Clipped, not truncated: the ends carry the tails, Φ(-1/2) each.
    assert normal[0] == normal[2]
    assert normal[0] / normal.sum() == pytest.approx(0.3085375387, abs=1e-9)
    far = law_weights(dp.Normal(1000, 1), age, 0, 110)
    assert far[-1] == far.sum()
    assert law_weights(dp.Weights({"M": "0.25", "F": "0.75"}), SCHEMA["sex"], 0, 2).tolist() == [3, 1, 0]


def test_weights_that_need_too_many_bits_are_refused():
    law = dp.Weights({"F": "1e-30", "M": 1})
    with pytest.raises(PlanError, match="62 bits"):
        TABLE.impute({"sex": law})


def test_a_complete_column_is_imputed_by_one_value():
    known = {"sex": "M", "age": 0, "wage": "10"}
    laws = {"sex": dp.Weights({"M": 1}), "age": dp.Uniform(0, 0), "wage": dp.Uniform(10, 10)}
    assert TABLE.complete(known).steps == TABLE.impute(laws).steps
    assert not any(facts(TABLE.complete(known), name).nullable for name in known)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"sex": "Q"}, "complete.'sex'.='Q': is not a category"),
        ({"sex": ["F"]}, "is not a category"),
        ({"sex": None}, "is not a category"),
        ({"age": None}, "complete.'age'.=None: must be a number"),
        ({"age": 111}, "must lie within"),
        ({"wage": 5}, "must lie on the grid"),
        ({"day": "2024-01-01"}, "for categories and numbers"),
        ({"shoe": 1}, "is not declared"),
        ({}, "must map at least one column"),
    ],
)
def test_what_a_column_cannot_have_completes_nothing(values, told):
    with pytest.raises(PlanError, match=told):
        TABLE.complete(values)


def test_a_column_is_completed_once_and_within_its_clamp():
    with pytest.raises(PlanError, match="never null after the steps before"):
        TABLE.complete({"sex": "M"}).complete({"sex": "F"})
    with pytest.raises(PlanError, match=r"^complete\('sex'\)='M': an earlier clamp has removed this category; give another"):
        TABLE.clamp({"sex": ["F"]}).complete({"sex": "M"})
    with pytest.raises(PlanError, match=r"^complete\('age'\)=5: is outside the bounds of an earlier clamp; give another"):
        TABLE.clamp({"age": (10, 20)}).complete({"age": 5})
