"""Tests of coefficients: what is read of a regression with intervals for its population, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.builders import run

import discreet as dp
from discreet.releases.document import make_release

ROWS = 4000
SCHEMA = dp.Schema(
    sex=dp.Category(["f", "m"], required=True),
    age=dp.Number(0, 10),
    luck=dp.Number(0, 10),
    wage=dp.Number(0, 40),
)


def released(*by, on=("age", "luck"), **options):
    draw = np.random.default_rng(2)
    age, luck = draw.integers(0, 11, (2, ROWS))
    wage = np.clip(np.rint(5 + 2.5 * age + draw.normal(0, 3, ROWS)), 0, 40).astype(int)
    data = pl.DataFrame({"sex": draw.choice(["f", "m"], ROWS), "age": age, "luck": luck, "wage": wage})
    session = dp.Session(
        data, SCHEMA, dataset="d", ledger=":memory:", budget=dp.ZCDP(50), neighbours=dp.ReplaceOne(rows=ROWS)
    )
    asked = dp.regression("wage", list(on), nulls="skip", **options)
    return session.release(session.table.group_by(*by).agg(asked), name="r")


POPULATION = released(interval="population", fit=["r2"])


def test_a_coefficient_is_rejected_where_its_interval_excludes_zero():
    found = dp.test_coefficient(POPULATION, "regression_wage_age")
    assert found.p_value == Fraction(5, 100)
    assert found.rejects("0.05")
    assert not found.rejects("0.01")
    assert found.statistic == pytest.approx(2.5, abs=0.6)
    other = dp.test_coefficient(POPULATION, "regression_wage_luck")
    assert other.p_value == 1
    assert other.details["low"] < 0 < other.details["high"]
    assert "given age, luck" in other.assumptions[0]
    assert dp.holm(found, other)[0].adjusted == Fraction(1, 10)


@pytest.mark.parametrize(("low", "high"), [(0.0, 4.0), (-4.0, 0.0)])
def test_an_interval_that_ends_at_zero_holds_it(low, high):
    document = {key: value for key, value in POPULATION.document.items() if key != "digest"}
    ends = {"regression_wage_age_low": [low], "regression_wage_age_high": [high]}
    document["columns"] = [{**one, "values": ends.get(one["name"], one["values"])} for one in document["columns"]]
    assert dp.test_coefficient(make_release(document), "regression_wage_age").p_value == 1


def test_groups_are_named():
    by_sex = released("sex", interval="population")
    assert dp.test_coefficient(by_sex, "regression_wage_age", at={"sex": "m"}).p_value == Fraction(5, 100)
    for wrong in (None, {"sex": "x"}, {"age": 3}):
        with pytest.raises(dp.ArgumentError, match="at: "):
            dp.test_coefficient(by_sex, "regression_wage_age", at=wrong)


WRONG = {
    "its interval is for the table": lambda: dp.test_coefficient(released(), "regression_wage_age"),
    "is not a coefficient.*regression_wage_age": lambda: dp.test_coefficient(POPULATION, "regression_wage_ages"),
    "'regression_wage_r2': is not a coefficient": lambda: dp.test_coefficient(POPULATION, "regression_wage_r2"),
    "the release has none": lambda: dp.test_coefficient(POPULATION, "regression_wage_age", at={"sex": "f"}),
    "must be labels": lambda: dp.test_coefficient(POPULATION, "regression_wage_age", at="f"),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_tested_is_refused(words):
    with pytest.raises(dp.ArgumentError, match=words):
        WRONG[words]()


def test_the_command_prints_it_in_both_languages(tmp_path):
    POPULATION.save(tmp_path)
    asked = "test", "coefficient", str(tmp_path), "--coefficient", "regression_wage_age"
    assert json.loads(run(*asked, "--json").stdout)["p_value"] == "0.05"
    shown = run(*asked, "--language", "de").stdout
    assert shown.startswith("Nullhypothese: der Koeffizient regression_wage_age ist 0")
    assert "the " not in shown
