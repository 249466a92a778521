"""The kernel draws the noise beside exact totals by the law that the quote states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from flint import arb

import discreet as dp
from discreet.cube.queries import RowCount
from discreet.engines import open_source
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.sum_zero import PairedLaplace, SumZeroLaplace
from discreet.noise.bits import system_bits
from discreet.quotes import allocate
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.totals.exact_totals import exact_totals_of

from .totals_laws import CASES, ROWS, SMALL, box, contributions, counted, records, small

DRAWS = 250


ALPHA = 1e-9


SAMPLED = [
    ("partition", dp.ZCDP(2)),
    ("margins of 2 x 2", dp.PureDP(2)),
    pytest.param("partition", dp.PureDP(4), marks=pytest.mark.exhaustive),
    pytest.param("margins of 2 x 2", dp.ZCDP(1), marks=pytest.mark.exhaustive),
]


def kernel(name, spend):
    """Noisy minus exact counts of a table with four different rows, as a release computes them, and their law."""
    invariants, _, _ = CASES[name]
    plan = small(counted)
    frame = pl.DataFrame({"g": ["x", None, "x"], "f": ["p", "p", None], "v": [1, 0, None]})
    engine = open_source(frame, SMALL)
    (brought,) = plan.layout.scans
    cube = engine.aggregate(brought.axes, brought.moments)
    engine.close()
    quoted = allocate.quote(plan, spend, exact_totals_of(invariants, SMALL, None, ROWS))
    bits = system_bits()
    exact = exact_answers(quoted, [cube], bits)
    histogram = np.array([int(record in frame.rows()) for record in records(SMALL)])
    assert (exact[0] == contributions(RowCount(), plan) @ histogram).all()
    return quoted.measured[0].law, np.array([noisy_answers(quoted, exact, bits)[0] - exact[0] for _ in range(DRAWS)])


def p_value(law, drawn):
    """Chi-square of the drawn points against the law by enumeration; points that expect less than 10 are one cell."""
    points, order = box(law, 12)
    if isinstance(law, LatticeGaussian):
        weights = np.exp(-(points**2).sum(axis=1) / (2 * float(law.sigma2)))
    else:
        weights = np.exp(-np.abs(points).sum(axis=1) / float({SumZeroLaplace: 1, PairedLaplace: 2}[type(law)] * law.scale))
    expected = weights / weights.sum() * len(drawn)
    often = np.flatnonzero(expected >= 10)
    observed = np.array([(drawn[:, order] == points[place]).all(axis=1).sum() for place in often])
    expected = np.append(expected[often], len(drawn) - expected[often].sum())
    observed = np.append(observed, len(drawn) - observed.sum())
    kept = expected >= 5
    statistic = float(((observed - expected) ** 2 / expected)[kept].sum())
    return float((arb(statistic) / 2).gamma_upper(arb(int(kept.sum()) - 1) / 2, regularized=1))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "spend"), SAMPLED)
def test_what_the_kernel_draws_has_the_law_of_the_quote(name, spend):
    """A false alarm once in 10^9 runs; noise of half the size is rejected."""
    law, drawn = kernel(name, spend)
    assert p_value(law, drawn) > ALPHA
    narrow = replace(law, sigma2=law.sigma2 / 4) if isinstance(law, LatticeGaussian) else replace(law, scale=law.scale / 2)
    bits = system_bits()
    # Twice as many draws: of 40 such sets with as many as above, the largest p-value was already 2e-10.
    assert p_value(law, np.array([narrow.sample(bits) for _ in range(2 * DRAWS)])) < ALPHA
