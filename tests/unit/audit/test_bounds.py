"""Bounds of Clopper and Pearson are never too narrow, and events are chosen where they show most."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from scipy.stats import binom

from discreet.audit.bounds import Event, above, below, best_events, thresholds

ERRORS = (1e-2, 1e-6, 1e-12)


def wald(hits, runs, z):
    """The upper bound that many use instead: too narrow near 0 and 1."""
    share = hits / runs
    return share + z * np.sqrt(share * (1 - share) / runs)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("runs", [1, 7, 60])
def test_both_bounds_err_as_seldom_as_they_say(runs, error):
    """Exactly, by summing the binomial law: the chance that a bound is on the wrong side of p, for many p."""
    hits = np.arange(runs + 1)
    low, high = below(hits, runs, error), above(hits, runs, error)
    assert (low <= hits / runs).all()
    assert (high >= hits / runs).all()
    for p in [1e-12, 1e-4, *np.linspace(0.01, 0.99, 45), 1 - 1e-4]:
        chances = binom.pmf(hits, runs, p)
        assert chances[low > p].sum() <= error
        assert chances[high < p].sum() <= error


def test_the_bounds_are_the_best_possible():
    """At the bound itself the observed tail has the probability that is allowed."""
    low, high = below(np.array([300]), 1000, 1e-9)[0], above(np.array([300]), 1000, 1e-9)[0]
    assert binom.sf(299, 1000, low) == pytest.approx(1e-9, rel=1e-3)
    assert binom.cdf(300, 1000, high) == pytest.approx(1e-9, rel=1e-3)


def test_a_narrower_bound_would_be_noticed():
    hits, p = np.arange(61), 0.001
    chances = binom.pmf(hits, 60, p)
    assert chances[wald(hits, 60, 6.0) < p].sum() > 0.5


def test_bounds_at_no_hits_and_all_hits():
    runs = 500_000
    assert below(np.array([0]), runs, 1e-12)[0] == 0
    assert above(np.array([runs]), runs, 1e-12)[0] == 1
    assert above(np.array([0]), runs, 1e-12)[0] == pytest.approx(-log(1e-12) / runs, rel=0.01)
    assert below(np.array([runs]), runs, 1e-12)[0] == pytest.approx(1 + log(1e-12) / runs, abs=1e-6)


def test_an_event_bounds_delta_and_epsilon_from_below():
    event = Event(0.5, 0.1)
    assert event.delta_at(Fraction(1)) == pytest.approx(0.5 - exp(1) * 0.1, rel=1e-5)
    assert event.delta_at(Fraction(1)) < 0.5 - exp(1) * 0.1
    assert event.delta_at(Fraction(10**6)) == 0
    assert event.epsilon_at(Fraction(0)) < log(5)
    assert event.epsilon_at(Fraction(0)) == pytest.approx(log(5), rel=1e-6)
    assert event.epsilon_at(Fraction(1, 2)) == 0
    assert Event(0.0, 0.0).epsilon_at(Fraction(0)) == 0


def test_the_best_threshold_is_found():
    """Of two triangles that overlap, the event that only one of them has."""
    first = np.sort(np.repeat([3.0, 2.0, 1.0], [5000, 3000, 2000]))
    second = np.sort(np.repeat([2.0, 1.0, 0.0], [3000, 4000, 3000]))
    found = best_events(first, second, thresholds(first, second), error=1e-12, epsilons=(Fraction(1),), delta=Fraction(0))
    assert [round(cut) for _, cut in found] == [3, 3]
    assert found[0][0] == pytest.approx(0.5, abs=0.05)


def test_thresholds_of_many_values_reach_into_both_tails():
    values = np.arange(1_000_000, dtype=np.float64)
    cuts = thresholds(values, values + 0.5)
    assert len(cuts) < 500
    assert (cuts < 10).any()
    assert (cuts > 999_990).any()
