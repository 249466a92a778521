"""A few of the random plans of benchmarks/original_intervals.py: coverage of the recorded value, and widths.

An interval that holds with 95 % is rejected once in 10^9 times: the script, which draws a plan again, rejects sooner.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scipy.stats import binom

import discreet as dp
from discreet.quotes.allocate import quote

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "original_intervals.py"
PLANS, DRAWS, ALARM = 15, 1000, 1e-9


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("original_intervals", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["original_intervals"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_interval_of_a_recorded_mean_covers_it_in_every_plan_and_is_near_the_oracle(script: Any) -> None:
    mean = dp.mean("x", nulls="skip")
    ratios: dict[type, list[float]] = {dp.PureDP: [], dp.ZCDP: []}
    for case in script.cases(PLANS):
        engine = script.opened(case.values)
        for request in (script.prepared(case).agg(mean).original(prepared=wanted) for wanted in (True, False)):
            found = script.measured(quote(request, case.spend), (engine, case.values), "_original", DRAWS)
            assert found.inside["mean"] >= binom.ppf(ALARM, DRAWS, 0.95), (case.data.name, case.spend, found)
        ratios[type(case.spend)].append(found.width["mean"] / script.oracle(case))
        engine.close()
    assert sum(ratios[dp.PureDP]) / len(ratios[dp.PureDP]) <= 1.6
    assert sum(ratios[dp.ZCDP]) / len(ratios[dp.ZCDP]) <= 1.25
    assert min(min(one) for one in ratios.values()) >= 1.0


@pytest.mark.slow
def test_with_any_answer_both_ends_are_held_and_no_interval_is_narrower_than_any_can_be(script: Any) -> None:
    mean = dp.mean("x", nulls="skip")
    ratios: dict[type, list[float]] = {dp.PureDP: [], dp.ZCDP: []}
    for case in script.cases(PLANS):
        engine, worst = script.opened(case.values), script.identified(case)
        request = script.prepared(case).agg(mean).original("anywhere", prepared=False)
        found = script.measured(quote(request, case.spend), (engine, case.values), "_original", DRAWS, worst)
        alone = script.prepared(case).agg(mean).original(prepared=False)
        width = script.measured(quote(alone, case.spend), (engine, case.values), "_original", 50).width["mean"]
        engine.close()
        assert found.inside["mean"] >= binom.ppf(ALARM, DRAWS, 0.95), (case.data.name, case.spend, found)
        assert width >= script.least_width(case)
        ratios[type(case.spend)].append((found.width["mean"] - (worst[1] - worst[0])) / script.oracle(case))
    assert sum(ratios[dp.PureDP]) / len(ratios[dp.PureDP]) <= 1.8
    assert sum(ratios[dp.ZCDP]) / len(ratios[dp.ZCDP]) <= 1.25


def test_a_clamp_without_originals_would_be_noticed(script: Any) -> None:
    missed = 0
    for case in script.cases(10):
        engine = script.opened(case.values)
        request = script.prepared(case).agg(dp.mean("x", nulls="skip"))
        found = script.measured(quote(request, case.spend), (engine, case.values), "", 200)
        missed += found.inside["mean"] < binom.ppf(ALARM, 200, 0.95)
        engine.close()
    assert missed >= 4
