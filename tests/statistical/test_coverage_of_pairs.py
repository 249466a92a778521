"""Intervals of covariances and correlations hold the number of the rows of their group at least as often as they say."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet import datasets
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise

from .test_coverage import ACS, SKIP, Drawn, assert_covered, held

PAIR = ("age", "hrs_work")


def request(neighbours):
    asked = dp.covariance(*PAIR, **SKIP), dp.correlation(*PAIR, **SKIP)
    return dp.Table(ACS, neighbours).group_by("gender", "employment").agg(*asked)


def truths(frame):
    """By a plain loop: for each group, in the order of the release, both numbers of the rows in which both are known."""
    rows = defaultdict(list)
    for gender, employment, *pair in frame.select("gender", "employment", *PAIR).iter_rows():
        if None not in pair:
            rows[gender, employment].append(pair)
    genders, employments = ([*ACS[name].values, None] for name in ("gender", "employment"))
    cells = [np.array(rows[one, other], dtype=float).T for one in genders for other in employments]
    numbers = [len(cell[0]) if cell.size else 0 for cell in cells]
    covariances = [np.cov(cell, bias=True)[0, 1] if n else 0.0 for cell, n in zip(cells, numbers, strict=True)]
    varying = [n > 1 and cell.std(axis=1).min() > 0 for cell, n in zip(cells, numbers, strict=True)]
    correlations = [np.corrcoef(cell)[0, 1] if varies else 0.0 for cell, varies in zip(cells, varying, strict=True)]
    names = [f"{word}_age_hrs_work" for word in ("covariance", "correlation")]
    there = np.array(numbers) > 0, np.array(varying)
    return {
        name: (np.array(values), known)
        for name, values, known in zip(names, (covariances, correlations), there, strict=True)
    }


def tally(neighbours, spend, repetitions):
    frame = pl.read_parquet(datasets.path("acs12"))
    drawn, known = Drawn(request(neighbours), spend, frame), truths(frame)
    found = {name: np.zeros(2, dtype=np.int64) for name in known}
    for _ in range(repetitions):
        _, estimates = drawn.release()
        for name, truth in known.items():
            found[name] += held(estimates[name], *truth)
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("neighbours", "spend"),
    [(dp.AddRemove(), dp.PureDP(200)), (dp.ReplaceOne(rows=2000), dp.ZCDP(50)), (dp.AddRemove(), dp.GDP("0.5"))],
    ids=["pure", "zcdp", "much noise"],
)
def test_intervals_hold_the_number_of_their_group(neighbours, spend):
    found = tally(neighbours, spend, 60)
    assert min(of for _, of in found.values()) >= 60
    assert_covered(found)


def test_intervals_of_a_thirtieth_of_the_width_would_be_noticed(monkeypatch):
    for noise in (LaplaceNoise, GaussianNoise):
        whole = noise.half_widths
        monkeypatch.setattr(noise, "half_widths", lambda law, level, whole=whole: whole(law, level) // 30)
    for name, (inside, of) in tally(dp.AddRemove(), dp.PureDP(200), 60).items():
        assert inside / of < 0.9, name
