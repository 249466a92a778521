"""The audit finds planted defects, and never refutes the kernel as it is.

Every statement of an audit is true with a probability of at least 1 - 1e-9, so that an honest kernel is refuted in one of
1e9 runs at most; there is no other tolerance in these tests. Each defect is one that DP software has had.
"""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.audit import audit_quote

from .audited import ADDED, CHOSEN, EIGHTHS, FEW, FILLED, MANY, REPLACED, ROWS, SCHEMA, SKIP, audits, quick, quoted
from .planted_defects import DEFECTS, sampled_too_often

# name: request, invariants, spend. Each runs in the default tests with few runs, and with a million of them as a slow test.
HONEST = {
    "count, pure": (ADDED.agg(dp.count()), None, dp.PureDP(1)),
    "count, pure, 3 rows a person": (dp.Table(SCHEMA, dp.AddRemove(3)).agg(dp.count()), None, dp.PureDP(2)),
    "sum, pure": (REPLACED.agg(dp.sum("v", **SKIP)), None, dp.PureDP(3)),
    "means by group, pure": (REPLACED.group_by("g").agg(dp.count(), dp.mean("v", **SKIP)), None, dp.PureDP(2)),
    "variance of a public n, GDP": (REPLACED.impute(FILLED).agg(dp.variance("v")), None, dp.GDP(1)),
    "a median, pure": (ADDED.agg(dp.median("v", **SKIP)), None, dp.PureDP(2)),
    "quartiles by group, GDP": (
        REPLACED.group_by("g").agg(dp.quantiles("v", ["0.25", "0.5", "0.75"], **SKIP)),
        None,
        dp.GDP(1),
    ),
    "quantiles of several depths, pure": (ADDED.agg(dp.quantiles("v", EIGHTHS, **CHOSEN)), None, dp.PureDP(3)),
    "the ends, pure": (ADDED.agg(dp.quantiles("v", ["0", "1"], **CHOSEN)), None, dp.PureDP(2)),
    "a median beside totals, pure": (REPLACED.group_by("f").agg(dp.median("v", **CHOSEN)), dp.Totals("g"), dp.PureDP(2)),
    "a median of two copies, pure": (
        REPLACED.impute(FILLED).resize(2 * ROWS, proportion=2).agg(dp.median("v", interval=0)),
        None,
        dp.PureDP(2),
    ),
    "sum, zCDP": (ADDED.agg(dp.sum("v", **SKIP)), None, dp.ZCDP(2)),
    "variances by group, zCDP": (REPLACED.group_by("g").agg(dp.variance("v", **SKIP)), None, dp.ZCDP("0.5")),
    "histogram and a condition, GDP": (
        ADDED.where({"g": ["x"]}).agg(dp.histogram("v", [0, 5, 10]), dp.count()),
        None,
        dp.GDP(1),
    ),
    "quadratics, approximate": (REPLACED.agg(dp.count("v"), dp.variance("v", **SKIP)), None, dp.ApproxDP(1, "1e-6")),
    "beside totals, pure": (REPLACED.group_by("g", "f").agg(dp.count()), dp.Totals("g"), dp.PureDP(2)),
    "beside totals, zCDP": (REPLACED.group_by("g", "f").agg(dp.count()), dp.Totals("g"), dp.ZCDP(1)),
    "sums beside totals, GDP": (REPLACED.group_by("g").agg(dp.sum("v", **SKIP)), dp.Totals("g"), dp.GDP(2)),
    "beside margins, zCDP": (REPLACED.group_by("g", "f").agg(dp.count()), dp.Margins("g", "f"), dp.ZCDP(1)),
}


SLOW_ONLY = {
    "resized, pure": (
        REPLACED.impute(FILLED).resize(50, proportion="0.5").group_by("g").agg(dp.count()),
        None,
        dp.PureDP(1),
    ),
    "resized, a private number of rows": (
        ADDED.impute(FILLED).resize(20, proportion="0.5").group_by("g").agg(dp.mean("v")),
        None,
        dp.ApproxDP(1, "1e-6"),
    ),
    "a median of a sample, GDP": (
        REPLACED.impute(FILLED).resize(50, proportion="0.5").agg(dp.median("v", interval=0)),
        None,
        dp.GDP(1),
    ),
    "counts of one copy and a half, pure": (
        ADDED.impute(FILLED).resize(30, proportion="1.5").group_by("g").agg(dp.count()),
        None,
        dp.PureDP(1),
    ),
    "imputed": (REPLACED.impute(FILLED).group_by("g").agg(dp.mean("v")), None, dp.ZCDP(1)),
    "equations": (REPLACED.group_by("g", "f").agg(dp.count()), dp.LinearInvariant("g", {"s": {"x": 1, "y": 2}}), dp.ZCDP(1)),
    "hull": (REPLACED.group_by("g", "f").agg(dp.count()), dp.Margins("g", "f"), dp.PureDP(2)),
}


@pytest.mark.one_in(24)
@pytest.mark.parametrize("name", quick(HONEST))
def test_an_honest_kernel_is_not_refuted(name):
    found = audit_quote(quoted(HONEST[name]), runs=FEW)
    assert not found.refuted, found
    assert 0 < found.epsilon <= found.claimed


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*HONEST, *SLOW_ONLY])
def test_an_honest_kernel_is_not_refuted_by_a_million_runs(name):
    found = audit_quote(quoted((HONEST | SLOW_ONLY)[name]), runs=MANY)
    assert not found.refuted, found


@pytest.mark.one_in(42)
@pytest.mark.parametrize("name", [*quick(DEFECTS), "a replaced record charged as an added one, zCDP"])
def test_a_planted_defect_is_found(name, monkeypatch):
    defect = DEFECTS[name](monkeypatch)
    assert any(found.leaks for found in audits(defect, MANY if "0.95" in name else FEW))


@pytest.mark.exhaustive
def test_a_sample_that_is_larger_than_the_quote_says_is_found(monkeypatch):
    """Each run draws a sample anew: of 600,000 runs a hundredth is made."""
    defect = sampled_too_often(dp.PureDP(1))(monkeypatch)
    found = audit_quote(defect.quote, runs=600_000)
    assert found.attacks[0].runs == 6000
    assert found.leaks, found


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found_by_a_million_runs(name, monkeypatch):
    defect = DEFECTS[name](monkeypatch)
    assert audit_quote(defect.quote, runs=MANY, kernel=defect.kernel).leaks
