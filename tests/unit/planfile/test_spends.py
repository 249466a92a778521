"""Spends of a plan file: what stated ones leave of the budget, split by shares."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import plan_text

import discreet as dp
from discreet.planfile.faults import faults_of
from discreet.planfile.tree import read_toml
from discreet.privacy import coordinates

from .plans import load, refused

SPLIT = plan_text("split")
BUDGETS = {
    'measure = "pure-dp"\nepsilon = 1': (dp.PureDP("0.6"), dp.PureDP("0.2")),
    'measure = "zcdp"\nrho = 1': (dp.ZCDP("0.6"), dp.ZCDP("0.2")),
    'measure = "approx-dp"\nepsilon = 1\ndelta = "1e-6"': (dp.ApproxDP("0.6", "6e-7"), dp.ApproxDP("0.2", "2e-7")),
}


def spends(tmp_path: Path, text: str):
    return {order.name: order.spend for order in load(tmp_path, text).orders}


@pytest.mark.parametrize("budget", BUDGETS)
def test_what_is_left_is_split_by_shares(tmp_path, budget):
    found = spends(tmp_path, SPLIT.replace('measure = "zcdp"\nrho = 1', budget))
    three, one = BUDGETS[budget]
    assert (found["r"], found["s"]) == (three, one)


def test_squares_of_mu_add_up_to_no_more_than_the_budget(tmp_path):
    text = SPLIT.replace('measure = "zcdp"\nrho = 1', 'measure = "gdp"\nmu = 1')
    found = spends(tmp_path, text)
    stated = coordinates(dp.GDP("0.2"))[0]
    parts = [coordinates(found[name])[0] for name in ("r", "s")]
    assert sum(parts) <= 1 - stated
    assert float(parts[0] / parts[1]) == pytest.approx(3, rel=1e-9)
    assert float(sum(parts) + stated) == pytest.approx(1, rel=1e-9)


@given(shares=st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=1000), min_size=1, max_size=6))
def test_parts_add_up_to_what_is_left_exactly(tmp_path_factory, shares):
    head, *_ = SPLIT.split("[[release]]")
    releases = "".join(
        f'[[release]]\nname = "r{place}"\nstatistics = ["count"]\nshare = "{share}"\n' for place, share in enumerate(shares)
    )
    found = spends(tmp_path_factory.mktemp("plan"), head + releases)
    assert sum(coordinates(one)[0] for one in found.values()) == 1
    assert [coordinates(one)[0] for one in found.values()] == [share / sum(shares) for share in shares]


WRONG = {
    "[budget] spends: 'splt' is unknown": (("split", "splt"),),
    "share: must be greater than 0": (("share = 3", "share = 0"),),
    "share: cannot stand beside 'spend'": (("share = 3", 'share = 3\nspend = "1/5"'),),
    "error: cannot stand beside spends = 'split'": (("share = 3", "error = { mean_age = 2 }"),),
    "nothing is left to split": (('spend = "1/5"', "spend = 1"),),
    'share: needs spends = "split" in [budget]': (('spends = "split"\n', ""),),
    "several can split the budget": (('spends = "split"\n', ""), ("share = 3\n", "")),
}


@pytest.mark.parametrize("rule", WRONG)
def test_what_cannot_be_split_is_refused_in_place(tmp_path, rule):
    text = SPLIT
    for old, new in WRONG[rule]:
        assert old in text
        text = text.replace(old, new)
    said = str(refused(tmp_path, text))
    assert all(part in said for part in rule.replace("[budget] ", "").split(": "))
    path = tmp_path / "all.toml"
    path.write_text(text, encoding="utf-8")
    assert any(rule.split(": ")[-1] in str(fault) for fault in faults_of(read_toml(path)))


def test_a_fault_of_the_budget_is_the_only_one_told(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(SPLIT.replace("rho = 1", "rho = -1"), encoding="utf-8")
    (fault,) = faults_of(read_toml(path))
    assert "rho" in str(fault)
