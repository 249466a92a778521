"""Analysis of variance on releases: what it reads and refuses; several tests together."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.builders import run

import discreet as dp
from discreet.releases.hypotheses import anova

SCHEMA = dp.Schema(
    sex=dp.Category(["f", "m"], required=True),
    area=dp.Category(["north", "south", "west"], required=True),
    wage=dp.Number(0, 100),
)
ROWS = 3000
ASKED = [dp.sum("wage", nulls="skip"), dp.count("wage"), dp.variance("wage", nulls="skip")]


def data():
    draw = np.random.default_rng(12)
    sex = draw.choice(["f", "m"], ROWS)
    wage = np.clip(np.rint(np.where(sex == "f", 52, 44) + draw.normal(0, 12, ROWS)), 0, 100)
    return pl.DataFrame({"sex": sex, "area": draw.choice(["north", "south", "west"], ROWS), "wage": wage.astype(int)})


def released(*by, statistics=None, budget=None, exact=None, steps=lambda table: table):
    invariants = {} if exact is None else {"invariants": exact}
    session = dp.Session(
        data(), SCHEMA, dataset="d", ledger=":memory:", budget=budget or dp.PureDP(6), neighbours=dp.ReplaceOne(rows=ROWS),
        **invariants,
    )  # fmt: skip
    return session.release(steps(session.table).group_by(*by).agg(*(statistics or ASKED)), name="r")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("budget", [dp.PureDP(12), dp.ZCDP(6), dp.GDP(4)])
def test_means_that_differ_are_found_and_others_are_not(budget):
    found = dp.test_anova(released("sex", budget=budget), "sum_wage")
    assert found.rejects("0.001")
    assert found.details == {"groups": 2}
    assert found.statistic > 50
    assert not dp.test_anova(released("area", budget=budget), "sum_wage").rejects("0.001")
    both = released("sex", "area", budget=budget)
    assert not dp.test_anova(both, "sum_wage", at={"sex": "f"}, groups=["north", "west"]).rejects("0.001")
    assert dp.test_anova(both, "sum_wage", by="sex", at={"area": "north"}).p_value < Fraction(1, 10)


def test_a_known_deviation_stands_for_variances():
    known = released("sex", budget=dp.PureDP("0.4"), statistics=ASKED[:2])
    found = dp.test_anova(known, "sum_wage", deviation=14)
    assert found.rejects("0.05")
    assert "at most 14" in found.assumptions[-1]
    assert dp.test_anova(known, "sum_wage", deviation=500).p_value > found.p_value  # by the bounds alone
    with pytest.raises(dp.ArgumentError, match="must be above 0"):
        dp.test_anova(known, "sum_wage", deviation=0)


def test_beside_exact_totals_the_numbers_of_rows_are_known():
    found = released("sex", exact=dp.Totals("sex"), statistics=[dp.sum("wage", nulls="skip"), *ASKED[1:]])
    assert dp.test_anova(found, "sum_wage").rejects("0.001")


@pytest.mark.parametrize("steps", [lambda table: table, lambda table: table.clamp({"wage": (20, 75)})])
def test_sums_of_squares_are_those_that_the_variances_were_computed_of(steps, monkeypatch):
    """With hardly any noise the sample that the test reads has the sums of the rows, in steps from the middle."""
    seen = []
    monkeypatch.setattr(anova, "OneVariance", lambda groups, reach, _most: seen.append((groups, reach)) or _Never())
    dp.test_anova(released("sex", budget=dp.PureDP(10**9), steps=steps), "sum_wage")
    ((groups, reach),) = seen
    low, high = (0, 100) if reach in {50, 100} else (20, 75)
    rows = data().with_columns(pl.col("wage").clip(low, high))
    unit = (high - low) / 2 / reach
    for sex, one in zip("fm", groups, strict=True):
        f = (rows.filter(pl.col("sex") == sex)["wage"].to_numpy() - (low + high) / 2) / unit
        assert float(one.count.value) == len(f)
        assert float(one.total.value) == pytest.approx(f.sum(), abs=1e-6)
        assert (f**2 - one.shift).sum() <= float(one.squares.value) <= (f**2 - one.shift).sum() + 1


class _Never:
    def statistic(self):
        return 0.0

    def rejects(self, _level):
        return False


WRONG = {
    "release sum.*together": lambda: dp.test_anova(released("sex", statistics=ASKED[:2]), "sum_wage"),
    "is not a column of sums": lambda: dp.test_anova(released("sex"), "count_wage"),
    "cannot be added up": lambda: dp.test_anova(released("sex", "area"), "sum_wage", by="sex"),
    "'x' is not a label of sex": lambda: dp.test_anova(released("sex"), "sum_wage", groups=["f", "x"]),
    "takes 2 to": lambda: dp.test_anova(released("sex"), "sum_wage", groups=["f"]),
    "must be a list": lambda: dp.test_anova(released("sex"), "sum_wage", groups="fm"),
    "must be results of tests": lambda: dp.holm(0.05),
    "needs all tests": dp.holm,
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_tested_is_refused(words):
    with pytest.raises(dp.ArgumentError, match=words):
        WRONG[words]()


def test_several_tests_share_the_level():
    """Holm's steps by hand: 3 · 0.01, then 2 · 0.02, then the largest so far."""
    one = dp.test_anova(released("sex"), "sum_wage")
    tests = [dp_with(one, p) for p in ("0.02", "0.01", "0.03")]
    found = dp.holm(*tests)
    assert [float(each.adjusted) for each in found] == [0.04, 0.03, 0.04]
    assert [each.p_value for each in found] == [each.p_value for each in tests]
    assert all(each.tests == 3 for each in found)
    assert found[1].rejects("0.03")
    assert not found[0].rejects("0.03")
    assert "one of 3 tests" in str(found[0])
    assert json.loads(found[0].to_json())["adjusted_p_value"] == "0.04"
    assert [float(each.adjusted) for each in dp.holm(dp_with(one, "0.9"), dp_with(one, "0.6"))] == [1.0, 1.0]
    assert dp.holm(one)[0].rejects() == one.rejects()


def dp_with(one, p):
    from dataclasses import replace

    return replace(one, p_value=Fraction(p))


@pytest.mark.slow
def test_the_command_asks_several_tests_together(tmp_path):
    released("sex").save(tmp_path)
    once = json.loads(run("test", "anova", str(tmp_path), "--total", "sum_wage", "--json").stdout)
    assert "adjusted_p_value" not in once
    shown = run("test", "means", str(tmp_path), "--total", "sum_wage", "--total", "sum_wage", "--json")
    two = json.loads(shown.stdout)["tests"]
    assert [each["tests"] for each in two] == [2, 2]
    assert float(two[0]["adjusted_p_value"]) >= float(two[0]["p_value"])
    assert "one test" in run("test", "anova", str(tmp_path), "--total", "sum_wage").stdout
