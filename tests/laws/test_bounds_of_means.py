"""Chernoff's bound of the test of two means against exact tails: skewed values of two ends, in sums of a few."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.releases.derived.linear import Linear
from discreet.releases.hypotheses import bounded_means
from discreet.releases.hypotheses.bounded_means import Group, MeansApart

from .mutants import mutant

ROWS = 20
CASES = [(0.05, 1), (0.05, -1), (0.5, 1), (0.95, 1), (0.95, -1)]


def tails(mean: float, side: int) -> list[tuple[float, float]]:
    """For sums of 20 values of 0 and 1 with this mean: the probability of being so far on a side, and its bound."""
    nothing = Group(Linear(Fraction(0), ()), Linear(Fraction(ROWS), ()))
    test = MeansApart(0.0, 1.0, nothing, nothing, (1,), np.inf)
    found = []
    for sum_ in range(ROWS + 1):
        seen = side * (sum_ - ROWS * mean)
        truth = binom.sf(sum_ - 1, ROWS, mean) if side > 0 else binom.cdf(sum_, ROWS, mean)
        if seen > 0:
            found.append((float(truth), test._chernoff(mean, mean, [(nothing, ROWS, 1.0, side)], seen)))
    return found


@pytest.mark.parametrize(("mean", "side"), CASES)
def test_no_sum_is_farther_off_than_the_bound_says(mean: float, side: int) -> None:
    for truth, bound in tails(mean, side):
        assert truth <= bound


@pytest.mark.parametrize(
    "new",
    ["reach = above - self.low if sign > 0 else self.high - below", "reach = min(self.high - below, above - self.low)"],
)
def test_a_reach_on_the_wrong_side_would_be_noticed(new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = "reach = self.high - below if sign > 0 else above - self.low"
    planted: Any = mutant(MeansApart._chernoff, old, new)
    monkeypatch.setattr(bounded_means.MeansApart, "_chernoff", planted)
    assert any(truth > bound for mean, side in CASES for truth, bound in tails(mean, side))


def test_a_reach_that_is_forgotten_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = bounded_means._bennett
    monkeypatch.setattr(bounded_means, "_bennett", lambda rates, _reach: real(rates, 1e-9))
    assert any(truth > bound for mean, side in CASES for truth, bound in tails(mean, side))
