"""The designs of benchmarks/survey_intervals.py with fewer draws: how often intervals hold the number of the population.

Each assertion fails by chance in one of 10,000 runs at most, if intervals hold with 95 %; draws come from fixed seeds.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.statistics import designs, population, weighted_sums

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "survey_intervals.py"
DRAWS, MANY = 1000, 800
SPENDS = dp.ZCDP(2), dp.PureDP(4)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("survey_intervals", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["survey_intervals"] = module
    spec.loader.exec_module(module)
    return module


def measured(script: Any, make: Any, spend: Any) -> list[tuple[str, float, float, float]]:
    generator = np.random.default_rng(7)
    people = script.people(generator, 16_000)
    return list(script.coverage(make(people, MANY, generator), people, spend, DRAWS, generator))


@pytest.mark.slow
@pytest.mark.one_in(15)
@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("name", ["poisson", "by_size", "simple", "stratified", "clustered", "certified"])
def test_intervals_hold_the_number_of_the_population(script: Any, name: str, spend: Any) -> None:
    for word, held, alone, _ in measured(script, getattr(script, name), spend):
        assert not script.is_too_rare(held, DRAWS), (word, held)
        assert alone < held, "the noise alone would have been enough"


def test_clusters_that_are_declared_as_persons_are_noticed(script: Any) -> None:
    for word, held, _, _ in measured(script, script.as_if_persons, SPENDS[0]):
        assert script.is_too_rare(held, DRAWS), (word, held)


half_widths = population.sums_within
product_of = weighted_sums.product_sum


def product_once(facts: Any, values: Any, weights: Any, power: int, square: int = 1) -> Any:
    """Weights that are never squared."""
    return product_of(facts, values, weights, power, min(square, 1))


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (designs.PoissonDesign, "factor", 0),
        (designs.PoissonDesign, "factor", 0.25),
        (population, "sums_within", lambda variance, part, failing: 0.6 * half_widths(variance, part, failing)),
        (weighted_sums, "product_sum", product_once),
    ],
    ids=["no variance", "a quarter of the variance", "half-widths of 60 %", "weights that are not squared"],
)
def test_an_interval_that_is_too_short_is_noticed(
    script: Any, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(where, name, wrong)
    word, held, _, _ = measured(script, script.poisson, SPENDS[0])[0]
    assert script.is_too_rare(held, DRAWS), (word, held)
