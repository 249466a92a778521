"""All intervals of a release hold together as often as they say; those that only hold one by one do not.

Each test errs with a probability of at most 1e-9: the number of releases with a miss is held against the binomial law.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from tests.builders import session_over

import discreet as dp
from discreet.noise.bits import system_bits
from discreet.quotes.quote import LEVEL
from discreet.releases import assemble
from discreet.releases.evaluate import exact_answers, noisy_answers

SKIP = {"nulls": "skip"}
SCHEMA = dp.Schema(
    g=dp.Category(list("abcdefgh")), h=dp.Category([True, False]), v=dp.Number(0, 20), w=dp.Number(-5, 5, "0.5")
)
ERROR = 1e-9
EVERY = [
    dp.count(),
    dp.count("v"),
    dp.share(),
    dp.sum("v", **SKIP),
    dp.mean("w", **SKIP),
    dp.variance("w", **SKIP),
    dp.std("v", **SKIP),
    dp.quantiles("v", ["0.25", "0.5", "0.9"], **SKIP, interval=1),
    dp.histogram("w", [-5, 0, 5]),
]


def frame(rows=4000):
    generator = np.random.default_rng(20261122)
    values = pl.DataFrame(
        {
            "g": generator.choice(list("abcdefgh"), rows, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.03, 0.02]),
            "h": generator.random(rows) < 0.3,
            "v": generator.integers(0, 21, rows),
            "w": generator.integers(-10, 11, rows) / 2,
        }
    )
    return values.with_columns(v=pl.when(pl.col("v") < 19).then(pl.col("v")))


def session(neighbours, invariants=None, budget=None):
    return session_over(frame(), SCHEMA, budget=budget or dp.ZCDP(10), neighbours=neighbours, invariants=invariants)


def ends_and_values(quote, noisy):
    estimates = [columns.estimate for columns in assemble.estimate_statistics(quote, noisy)]
    return estimates + [one.counts.estimate for one in assemble.frames(quote, noisy)]


def misses(one, request, spend, releases):
    """In how many releases at least one interval misses, seen through the test seam; and how many intervals there are."""
    quote, bits = one.quote(request, spend=spend), system_bits()
    (brought,) = request.layout.scans
    exact = exact_answers(quote, [one._engine.aggregate(brought.axes, brought.moments)], bits)
    truths = [estimate.value for estimate in ends_and_values(quote, exact)]
    missed = 0
    for _ in range(releases):
        found = ends_and_values(quote, noisy_answers(quote, exact, bits))
        held = [
            np.all((estimate.low <= truth) & (truth <= estimate.high)) for estimate, truth in zip(found, truths, strict=True)
        ]
        missed += not all(held)
    return missed, sum(map(len, truths))


def refused(missed, releases):
    """Whether so many releases with a miss are hardly possible at the level."""
    return missed > binom.isf(ERROR, releases, float(1 - LEVEL))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=4000)], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("spend", [dp.ZCDP(2), dp.PureDP(8)], ids=lambda one: type(one).__name__)
def test_all_intervals_of_a_release_hold_together(spend, neighbours):
    """Statistics of every kind; the mutant has the intervals that hold one by one."""
    budget = type(spend)(1000)
    with session(neighbours, budget=budget) as one:
        # No group is null, hence empty: an empty one has no mean and no quantile that could be missed.
        table = one.table.impute({"g": dp.Weights({"a": 1, "b": 1}), "h": dp.Weights({True: 1, False: 1})})
        request = table.group_by("g", "h").agg(*EVERY)
        missed, intervals = misses(one, request.simultaneous(), spend, 60)
        assert intervals == 16 * 13
        assert not refused(missed, 60)
        missed, _ = misses(one, request, spend, 60)
        assert refused(missed, 60)


def test_where_every_interval_is_one_noise_they_are_no_wider_than_they_have_to_be():
    with session(dp.AddRemove()) as one:
        request = one.table.group_by("g", "h").agg(dp.count(), dp.count("v"))
        missed, _ = misses(one, request.simultaneous(), "0.0005", 1500)
        assert not refused(missed, 1500)
        assert missed > binom.ppf(ERROR, 1500, 0.04)


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("budget", [dp.ZCDP(10), dp.PureDP(10)], ids=lambda one: type(one).__name__)
def test_noise_that_keeps_exact_totals_is_covered_too(budget):
    with session(dp.ReplaceOne(rows=4000), dp.Totals("g"), budget) as one:
        one.publish_totals()
        request = one.table.group_by("g", "h").agg(dp.count(), dp.sum("v", **SKIP))
        missed, _ = misses(one, request.simultaneous(), "0.05", 150)
        assert not refused(missed, 150)
        missed, _ = misses(one, request, "0.05", 150)
        assert refused(missed, 150)
