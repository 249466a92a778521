"""`sampled` and `of = "population"` in a plan file, and what the commands say of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.builders import plan_text

import discreet as dp

from .plans import load, refused

PLAN = plan_text("sampled")
POISSON = 'neighbours = "add-remove"\nsampled = { design = "poisson", rate = "1/100", draw = "panel" }'
DRAWN = 'neighbours = "replace-one"\nrows = 4\nsampled = { design = "without-replacement", of = 40 }'
PURE = 'measure = "pure-dp"\nepsilon = 1'


def plan(data: str = POISSON, budget: str = PURE) -> str:
    return PLAN.replace(POISSON, data).replace(PURE, budget)


def test_a_draw_is_read(tmp_path: Path) -> None:
    assert load(tmp_path, plan()).neighbours == dp.AddRemove(sampled=dp.Poisson("1/100", draw="panel"))
    assert load(tmp_path, plan(DRAWN)).neighbours == dp.ReplaceOne(4, sampled=dp.WithoutReplacement(of=40))
    exact = POISSON.replace('"1/100"', "0.01")
    assert load(tmp_path, plan(exact)).neighbours.sampled == dp.Poisson(Fraction(1, 100), draw="panel")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('neighbours = "add-remove"\nsampled = "stratified"', "strata that are sampled in proportion to their sizes"),
        ('neighbours = "add-remove"\nsampled = { design = "cluster" }', "a sample of clusters is refused"),
        ('neighbours = "add-remove"\nsampled = { design = "size", rate = 0.1 }', "in proportion to size is refused"),
        ('neighbours = "add-remove"\nsampled = { design = "poison", rate = 0.1 }', "'poison' is unknown"),
        ('neighbours = "add-remove"\nsampled = { rate = 0.1 }', "design"),
        ('neighbours = "add-remove"\nsampled = { design = "poisson" }', "rate"),
        ('neighbours = "add-remove"\nsampled = { design = "poisson", rate = 2 }', "rate=2: must be above 0 and at most 1"),
        ('neighbours = "add-remove"\nsampled = { design = "poisson", rate = 0.1, of = 5 }', "of"),
        ('neighbours = "add-remove"\nsampled = { design = "without-replacement", of = 5 }', "declare ReplaceOne"),
        ('neighbours = "replace-one"\nrows = 4\nsampled = { design = "poisson", rate = 0.1 }', "declare AddRemove"),
        ('neighbours = "replace-one"\nrows = 4\nsampled = { design = "without-replacement", of = 3 }', "at most the size"),
        ('neighbours = "replace-one"\nrows = 4\nsampled = { design = "without-replacement", of = "9" }', "of='9'"),
    ],
)
def test_a_draw_from_which_nothing_follows_is_refused_at_its_place(tmp_path: Path, data: str, said: str) -> None:
    assert said in str(refused(tmp_path, plan(data)))


def test_a_budget_of_the_population_is_converted_once(tmp_path: Path) -> None:
    budget = load(tmp_path, plan(budget=PURE + '\nof = "population"')).budget
    assert isinstance(budget, dp.PureDP)
    assert Fraction("5.15229793824444") < budget.epsilon < Fraction("5.152297938244454705")  # log(1 + 100(e − 1))
    approx = 'measure = "approx-dp"\nepsilon = 1\ndelta = 1e-9\nof = "population"'
    assert load(tmp_path, plan(budget=approx)).budget == dp.ApproxDP(budget.epsilon, "1e-7")
    drawn = load(tmp_path, plan(DRAWN, PURE + '\nof = "population"')).budget
    assert isinstance(drawn, dp.PureDP)
    assert Fraction("2.900477097889") < drawn.epsilon < Fraction("2.90047709788938559")
    assert load(tmp_path, plan(budget=PURE + '\nof = "file"')).budget == dp.PureDP(1)


@pytest.mark.parametrize(
    ("data", "budget", "said"),
    [
        ('neighbours = "add-remove"', PURE + '\nof = "population"', "needs sampled in [data]"),
        (POISSON, PURE + '\nof = "people"', "'people' is unknown; write of = \"population\""),
        (POISSON, 'measure = "zcdp"\nrho = 1\nof = "population"', "a population has no ρ and no μ. State (ε, δ)"),
    ],
)
def test_a_budget_of_no_population_is_refused(tmp_path: Path, data: str, budget: str, said: str) -> None:
    assert said in str(refused(tmp_path, plan(data, budget)))
