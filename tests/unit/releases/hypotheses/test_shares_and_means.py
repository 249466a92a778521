"""Tests of a share, of two shares and of means on releases: what they read, what they find, and what they refuse."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.builders import run

import discreet as dp

SCHEMA = dp.Schema(
    sex=dp.Category(["f", "m"], required=True),
    area=dp.Category(["north", "south", "west"], required=True),
    ill=dp.Category(["no", "yes"], required=True),
    wage=dp.Number(0, 100),
)
ROWS = 3000


def released(*by, statistics=None, exact=None, budget=None, rows=ROWS):
    draw = np.random.default_rng(11)
    sex = draw.choice(["f", "m"], rows)
    data = pl.DataFrame(
        {
            "sex": sex,
            "area": draw.choice(["north", "south", "west"], rows),
            "ill": np.where(draw.random(rows) < np.where(sex == "f", 0.5, 0.3), "yes", "no"),
            "wage": np.clip(np.where(sex == "f", 60, 30) + draw.integers(-20, 21, rows), 0, 100),
        }
    )
    invariants = {} if exact is None else {"invariants": exact}
    session = dp.Session(
        data, SCHEMA, dataset="d", ledger=":memory:", budget=budget or dp.PureDP(4), neighbours=dp.ReplaceOne(rows=rows),
        **invariants,
    )  # fmt: skip
    return session.release(session.table.group_by(*by).agg(*(statistics or [dp.count()])), name="r")


SUMS = [dp.sum("wage", nulls="skip"), dp.count("wage")]
BOTH = released("sex", "ill")


def test_a_share_with_and_without_a_public_number_of_rows():
    noisy = dp.test_proportion(BOTH, "0.5", of={"ill": "yes"})
    assert noisy.rejects("0.001")
    assert noisy.details == {"rows": "noisy"}
    assert "ill = yes" in noisy.hypothesis
    within = dp.test_proportion(BOTH, "0.5", of={"ill": "yes"}, at={"sex": "f"})
    assert not within.rejects("0.001")
    alone = released("ill")
    public = dp.test_proportion(alone, "0.5", of={"ill": "yes"}, rows=ROWS)
    assert public.method.startswith("exact")
    assert public.rejects("0.001")
    assert dp.test_proportion(alone, "0.5", of={"ill": "yes"}, rows=ROWS, alternative="greater").p_value > Fraction(99, 100)
    assert dp.test_proportion(alone, "0.4", of={"ill": "yes"}, rows=ROWS).p_value > Fraction(1, 1000)


def test_the_difference_of_two_shares():
    found = dp.test_difference(BOTH, {"ill": "yes"}, by="sex")
    assert found.rejects("0.001")
    assert found.hypothesis == "the share of ill = yes is the same for sex = f and sex = m in the population"
    sides = {
        (groups, side): dp.test_difference(BOTH, {"ill": "yes"}, by="sex", groups=groups, alternative=side).rejects("0.001")
        for groups in (("f", "m"), ("m", "f"))
        for side in ("greater", "less")
    }
    assert [key for key, rejected in sides.items() if rejected] == [(("f", "m"), "greater"), (("m", "f"), "less")]
    three = released("area", "ill")
    assert not dp.test_difference(three, {"ill": "yes"}, by="area", groups=["north", "west"]).rejects("0.001")
    with pytest.raises(dp.ArgumentError, match="name two different labels of area"):
        dp.test_difference(three, {"ill": "yes"}, by="area")


def test_beside_exact_margins_the_side_is_the_one_of_the_groups():
    beside = released("sex", "ill", exact=dp.Margins(["sex"], ["ill"]), rows=1000)
    for label, groups, side in (("yes", ("f", "m"), "greater"), ("no", ("f", "m"), "less"), ("yes", ("m", "f"), "less")):
        found = dp.test_difference(beside, {"ill": label}, by="sex", groups=groups, alternative=side)
        assert found.rejects("0.001")
        assert found.alternative == side


@pytest.mark.slow
def test_beside_exact_margins_there_are_two_groups():
    with pytest.raises(dp.ArgumentError, match="two labels of each column"):
        dp.test_difference(
            released("area", "ill", exact=dp.Margins(["area"], ["ill"])), {"ill": "yes"}, by="area", groups=["north", "west"]
        )


@pytest.mark.parametrize("budget", [dp.PureDP(4), dp.ZCDP(2), dp.GDP(2)])
def test_beside_the_totals_of_groups_shares_are_tested(budget):
    """The share of f is 0.5 and that of m 0.3: one group by itself, both against one number, and each other."""
    beside = released("sex", "ill", exact=dp.Totals("sex"), budget=budget)
    for label, groups, side in (("yes", ("f", "m"), "greater"), ("no", ("f", "m"), "less"), ("yes", ("m", "f"), "less")):
        found = dp.test_difference(beside, {"ill": label}, by="sex", groups=groups, alternative=side)
        assert found.rejects("0.001")
        assert found.details["margins"] == "exact for sex"
    assert dp.test_difference(beside, {"ill": "yes"}, by="sex", alternative="less").p_value > Fraction(1, 2)
    within = {sex: dp.test_proportion(beside, "0.5", of={"ill": "yes"}, at={"sex": sex}) for sex in "fm"}
    assert within["m"].rejects("0.001")
    assert not within["f"].rejects("0.001")
    assert within["f"].details == {"rows": "public"}
    assert "rows of the exact totals" in within["f"].assumptions[-1]
    assert dp.test_proportion(beside, "0.5", of={"ill": "yes"}).rejects("0.001")
    three = released("area", "ill", exact=dp.Totals("area"), budget=budget)
    assert not dp.test_difference(three, {"ill": "yes"}, by="area", groups=["north", "west"]).rejects("0.001")


def test_means_of_two_groups_and_of_three():
    two = released("sex", statistics=SUMS)
    found = dp.test_means(two, "sum_wage")
    assert found.rejects("0.001")
    assert found.details == {"groups": 2, "pairs": 1}
    assert dp.test_means(two, "sum_wage", alternative="less").p_value == 1
    assert dp.test_means(two, "sum_wage", deviation=20).p_value <= found.p_value
    three = dp.test_means(released("area", statistics=SUMS), "sum_wage", over="count_wage", by="area")
    assert three.details == {"groups": 3, "pairs": 3}
    assert not three.rejects()
    crossed = released("sex", "area", statistics=SUMS)
    assert dp.test_means(crossed, "sum_wage", by="sex").rejects("0.001")
    assert dp.test_means(crossed, "sum_wage", at={"area": "west"}).rejects()


@pytest.mark.slow
def test_a_test_of_two_sides_has_half_the_level_for_each():
    """The levels that are tried are 15 % apart, so that twice the p-value of the better side may come out as 1.7 times."""
    few = released("sex", statistics=SUMS, rows=200)
    one, other = (dp.test_means(few, "sum_wage", alternative=side).p_value for side in ("greater", "less"))
    both = dp.test_means(few, "sum_wage").p_value
    assert one < Fraction(1, 10) < other
    assert both >= Fraction(3, 2) * one


def test_the_commands_print_the_same(tmp_path):
    BOTH.save(tmp_path / "counts")
    released("sex", statistics=SUMS).save(tmp_path / "sums")
    share = run("test", "proportion", str(tmp_path / "counts"), "--of", "ill=yes", "--share", "0.5", "--json")
    assert json.loads(share.stdout)["rejected_at"]["0.001"] is True
    apart = run("test", "difference", str(tmp_path / "counts"), "--of", "ill=yes", "--by", "sex", "--groups", "f,m")
    assert "the share of ill = yes is the same" in apart.stdout
    means = run("test", "means", str(tmp_path / "sums"), "--total", "sum_wage", "--deviation", "20")
    assert "the standard deviation of wage is at most 20" in means.stdout
    assert means.stdout.endswith("Nothing was spent.\n")


ENGLISH = re.compile(r"\b(the|of|and|which|level|rows|with)\b")


def test_in_german_no_english_is_left(tmp_path):
    """Every sentence of every test has its German one."""
    BOTH.save(tmp_path / "counts")
    released("sex", statistics=[*SUMS, dp.variance("wage", nulls="skip")]).save(tmp_path / "sums")
    released("sex", "ill", exact=dp.Margins(["sex"], ["ill"])).save(tmp_path / "two")
    released("sex", "area", exact=dp.Margins(["sex"], ["area"])).save(tmp_path / "three")
    released("sex", "ill", exact=dp.Totals("sex")).save(tmp_path / "beside")
    share = "--of", "ill=yes", "--share", "0.5"
    asked = [
        ("independence", "counts"),
        ("independence", "two", "--alternative", "greater"),
        ("independence", "three", "--draws", "99"),
        ("proportion", "counts", *share),
        ("proportion", "counts", "--at", "sex=f", *share, "--rows", "1500", "--alternative", "less"),
        ("difference", "counts", "--of", "ill=yes", "--by", "sex"),
        ("means", "sums", "--total", "sum_wage", "--deviation", "20.5"),
        ("anova", "sums", "--total", "sum_wage"),
        ("independence", "beside"),
        ("proportion", "beside", *share),
        ("difference", "beside", "--of", "ill=yes", "--of", "ill=no", "--by", "sex"),
    ]
    for word, folder, *rest in asked:
        shown = run("test", word, str(tmp_path / folder), *rest, "--language", "de").stdout
        assert shown.startswith("Nullhypothese: ")
        assert not ENGLISH.search(shown), shown


WRONG = {
    "share=": lambda: dp.test_proportion(BOTH, 1, of={"ill": "yes"}),
    "rows=0": lambda: dp.test_proportion(BOTH, "0.5", of={"ill": "yes"}, rows=0),
    "rows: is needed": lambda: dp.test_proportion(released("sex", "ill"), "0.5", at={"sex": "f", "ill": "yes"}),
    "is not a group": lambda: dp.test_proportion(BOTH, "0.5", of={"ill": "maybe"}),
    "one label by its column": lambda: dp.test_difference(BOTH, {"ill": "yes", "sex": "f"}, by="sex"),
    "is not a label of ill": lambda: dp.test_difference(BOTH, {"ill": "maybe"}, by="sex"),
    "is not a column of sums": lambda: dp.test_means(BOTH, "count"),
    "is not a count of wage": lambda: dp.test_means(released("sex", statistics=SUMS[:1]), "sum_wage"),
    "name one group column": lambda: dp.test_means(released("sex", "area", statistics=SUMS), "sum_wage"),
    "only two groups have a side": lambda: dp.test_means(released("area", statistics=SUMS), "sum_wage", alternative="less"),
    "must be above 0": lambda: dp.test_means(released("sex", statistics=SUMS), "sum_wage", deviation=0),
    "not known": lambda: dp.test_proportion(released("sex", "ill", exact=dp.Totals("sex")), "0.5", of={"sex": "f"}),
    "tied by exact totals": lambda: dp.test_proportion(
        released("sex", "ill", exact=dp.Totals("sex"), budget=dp.GDP(1)), "0.5", of={"sex": "f"}
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_tested_is_refused(words):
    with pytest.raises(dp.ArgumentError, match=words):
        WRONG[words]()


UNTYPED = {
    "of='ill': must be labels": lambda: dp.test_proportion(BOTH, "0.5", of="ill"),
    "at='sex': must be labels": lambda: dp.test_proportion(BOTH, "0.5", of={"ill": "yes"}, at="sex"),
    "'ill' is fixed by at= already": lambda: dp.test_proportion(BOTH, "0.5", of={"ill": "yes"}, at={"ill": "yes"}),
    "must be at least 1e-9": lambda: dp.test_proportion(BOTH, "0.99999999999999999999", of={"ill": "yes"}),
    "share='1e-20': must be": lambda: dp.test_proportion(BOTH, "1e-20", of={"ill": "yes"}),
    "groups=5: must be a list": lambda: dp.test_difference(BOTH, {"ill": "yes"}, by="sex", groups=5),
    "by='ill': must name one group column other than ill": lambda: dp.test_difference(BOTH, {"ill": "yes"}, by="ill"),
    "by=3: must be a list": lambda: dp.test_independence(BOTH, by=3),
    "by=<list>: must be a list": lambda: dp.test_independence(BOTH, by=["sex", ["ill"]]),
    "by='sex': name 2 different": lambda: dp.test_independence(BOTH, by=["sex"]),
}


@pytest.mark.parametrize("words", UNTYPED)
def test_an_argument_of_another_kind_is_refused_by_its_name(words):
    with pytest.raises(dp.ArgumentError, match=words):
        UNTYPED[words]()


@pytest.mark.filterwarnings("error")
def test_the_least_and_the_greatest_share_have_a_p_value():
    for rows in (None, ROWS):
        assert dp.test_proportion(BOTH, "1e-9", of={"ill": "yes"}, rows=rows).rejects("0.001")
        assert dp.test_proportion(BOTH, Fraction(10**9 - 1, 10**9), of={"ill": "yes"}, rows=rows).rejects("0.001")


def test_rows_of_persons_are_refused_whatever_their_number():
    schema = dp.Schema(who=dp.Identifier(), ill=dp.Category(["no", "yes"], required=True))
    data = pl.DataFrame({"who": ["a", "a", "b"], "ill": ["no", "yes", "yes"]})
    session = dp.Session(
        data, schema, dataset="d", ledger=":memory:", budget=dp.PureDP(1), neighbours=dp.AddRemove(person="who")
    )
    release = session.release(session.table.bound(groups=1, rows=1).group_by("ill").agg(dp.count()), name="r")
    with pytest.raises(dp.ArgumentError, match="a person may have several rows"):
        dp.test_proportion(release, "0.5", of={"ill": "yes"})


def test_a_factor_far_below_the_others_changes_no_probability_by_much():
    from discreet.noise.single.laws import DiscreteLaplace
    from discreet.releases.hypotheses.masses import Term, spread

    law = DiscreteLaplace(Fraction(2))
    with np.errstate(all="raise", under="ignore"):
        both, alone = spread([Term(1.0, law), Term(1e-21, law)]), spread([Term(1.0, law)])
    assert both.at_least(np.array([7.0]))[0] == pytest.approx(alone.at_least(np.array([7.0]))[0], rel=0.2)
    assert both.at_least(np.array([7.0]))[0] >= sum(law.rough_tails(np.array([6]))) / 2
