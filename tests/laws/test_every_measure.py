"""Every registered measure, and every registered relation, has what is asked of it, and what it says holds."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import ArgumentError, InternalError
from discreet.privacy import GDP, ZCDP, ApproxDP, ApproxGDP, ApproxZCDP, PureDP
from discreet.privacy.measures import budgets, find_budget, find_measure, find_noise_measure, noise_measures

from .every_measure import assert_adds, assert_converts, assert_hidden, assert_sampled, assert_shared, assert_written

EXAMPLES: dict[type, list[Any]] = {
    PureDP: [PureDP("0.4"), PureDP(2)],
    ApproxDP: [ApproxDP("0.4", "1e-6"), ApproxDP(2, "1/1000")],
    ZCDP: [ZCDP("0.1"), ZCDP(1)],
    GDP: [GDP("0.3"), GDP("1.5")],
    ApproxZCDP: [ZCDP("0.1", delta="1e-7"), ZCDP(1, delta="1/1000")],
    ApproxGDP: [GDP("0.3", delta="1e-7"), GDP("1.5", delta="1/1000")],
}


def test_every_measure_has_an_example() -> None:
    assert set(EXAMPLES) == set(budgets()) >= set(noise_measures())


@pytest.mark.parametrize("one", [one for kind in budgets() for one in EXAMPLES[kind]], ids=str)
def test_every_budget_is_written_adds_up_converts_and_passes_through_a_sample(one: Any) -> None:
    assert_written(one)
    assert_converts(one)
    assert_adds(one)
    assert_sampled(one)


@pytest.mark.parametrize("one", [one for kind in noise_measures() for one in EXAMPLES[kind]], ids=str)
def test_noise_has_the_guarantee_that_every_measure_says_it_has(one: Any) -> None:
    assert_shared(one)
    assert_hidden(one)


@pytest.mark.parametrize("spend", EXAMPLES[ApproxDP], ids=str)
def test_what_implies_an_approximate_guarantee_does(spend: Any) -> None:
    found = [one for kind in noise_measures() for one in kind.implying(spend, None, totals=True)]
    assert [type(one) for one in found] == [PureDP, GDP, ZCDP]
    assert all(one.delta_at(spend.epsilon) <= float(spend.delta) for one in found)


def test_no_two_measures_have_the_same_words() -> None:
    for words in ("word", "long_name"):
        assert len({getattr(kind, words) for kind in budgets()}) == len(budgets())
    assert [find_budget(kind.word) for kind in budgets()] == list(budgets())
    assert [find_noise_measure(kind.word) for kind in noise_measures()] == list(noise_measures())


def test_an_unknown_word_is_never_another_measure() -> None:
    with pytest.raises(InternalError, match="no budget"):
        find_budget("rdp")
    with pytest.raises(ArgumentError, match="not a measure of noise"):
        find_noise_measure("approx-dp")
    with pytest.raises(ArgumentError, match="unknown"):
        find_measure("zcpd")
