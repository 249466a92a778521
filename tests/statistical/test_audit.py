"""The audit finds planted defects, and never refutes the kernel as it is.

Every statement of an audit is true with a probability of at least 1 - 1e-9, so that an honest kernel is refuted in one of
1e9 runs at most; there is no other tolerance in these tests. Each defect is one that DP software has had.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet import allocate, evaluate
from discreet.allocate import quote
from discreet.audit import Kernel, audit_quote
from discreet.audit.draws import KERNEL
from discreet.evaluate import exact_answers, noisy_answers
from discreet.invariants.adjacency import SemiAdjacency
from discreet.invariants.beside import beside
from discreet.invariants.structure import Blocks
from discreet.mechanisms import Sensitivity, worst
from discreet.mechanisms.lattice import LatticeGaussian, SumZeroLaplace
from discreet.noise.laws import DiscreteLaplace, RoundedGaussian
from discreet.resample import impute, resample
from discreet.steps import Resize

ROWS = 100
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]), v=dp.Number(0, 10))
ADDED = dp.Table(SCHEMA, dp.AddRemove())
REPLACED = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
FILLED = {"g": dp.Weights({"x": 1, "y": 1}), "v": dp.Uniform()}
SKIP = {"nulls": "skip"}
FEW = 100_000
MANY = 1_000_000


def beside_totals(invariants, rows=ROWS):
    return beside(invariants, SCHEMA, None, rows)


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
    "imputed": (REPLACED.impute(FILLED).group_by("g").agg(dp.mean("v")), None, dp.ZCDP(1)),
    "equations": (REPLACED.group_by("g", "f").agg(dp.count()), dp.LinearInvariant("g", {"s": {"x": 1, "y": 2}}), dp.ZCDP(1)),
    "hull": (REPLACED.group_by("g", "f").agg(dp.count()), dp.Margins("g", "f"), dp.PureDP(2)),
}


def quoted(case):
    request, invariants, spend = case
    return quote(request, spend, None if invariants is None else beside_totals(invariants))


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_kernel_is_not_refuted(name):
    found = audit_quote(quoted(HONEST[name]), runs=FEW)
    assert not found.refuted, found
    assert 0 < found.epsilon <= found.claimed


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HONEST, *SLOW_ONLY])
def test_an_honest_kernel_is_not_refuted_by_a_million_runs(name):
    found = audit_quote(quoted((HONEST | SLOW_ONLY)[name]), runs=MANY)
    assert not found.refuted, found


# Planted defects -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Defect:
    """A quote that claims more than its noise does, or a kernel that does less than its quote says."""

    quote: object
    kernel: Kernel = KERNEL


def by_law(change):
    """A kernel whose noise is drawn from another law than the quote says."""

    def noisy(asked, exact, bits):
        measured = tuple(replace(one, law=change(one.law)) for one in asked.measured)
        return noisy_answers(replace(asked, measured=measured), exact, bits)

    return Kernel(noisy=noisy)


def smaller(factor):
    """Noise whose every value is that much smaller in distribution."""

    def change(law):
        match law:
            case DiscreteLaplace(scale=scale):
                return DiscreteLaplace(scale * factor)
            case RoundedGaussian(sigma2=sigma2):
                return RoundedGaussian(sigma2 * factor**2)
            case SumZeroLaplace(structure=structure, scale=scale):
                return SumZeroLaplace(structure, scale * factor)
            case LatticeGaussian(structure=structure, sigma2=sigma2):
                return LatticeGaussian(structure, sigma2 * factor**2)
        raise AssertionError(law)

    return by_law(change)


def halved(change):
    whole = worst(change)
    return Sensitivity(-(-whole.l1 // 2), -(-whole.l2_squared // 4))


def sensitivity_halved(request, spend):
    def plant(monkeypatch):
        with monkeypatch.context() as patched:
            patched.setattr(allocate, "worst", halved)
            return Defect(quote(request, spend))

    return plant


def noise_smaller(request, spend, factor, invariants=None):
    return lambda _: Defect(quoted((request, invariants, spend)), smaller(factor))


def not_sampled(spend):
    """The spend is divided as if a tenth of the rows were sampled, and all of them are used."""

    def plant(monkeypatch):
        def all_rows(cube, axes, moments, *, resize, rows, bits):
            return impute(cube, axes, moments, bits)

        monkeypatch.setattr(evaluate, "resample", all_rows)
        request = REPLACED.impute(FILLED).resize(10, proportion="0.1").group_by("g").agg(dp.count())
        return Defect(quote(request, spend))

    return plant


def sampled_too_often(spend):
    """The spend is divided as if a tenth of the rows were sampled, and it is half of them."""

    def plant(monkeypatch):
        def half(cube, axes, moments, *, resize, rows, bits):
            larger = None if resize is None else Resize(ROWS // 2, Fraction(1, 2))
            return resample(cube, axes, moments, resize=larger, rows=rows, bits=bits)

        monkeypatch.setattr(evaluate, "resample", half)
        request = REPLACED.impute(FILLED).resize(10, proportion="0.1").group_by("g").agg(dp.count())
        return Defect(quote(request, spend))

    return plant


def replaced_as_added(spend):
    def plant(_):
        asked = REPLACED.group_by("g").agg(dp.count())
        as_added = quote(ADDED.group_by("g").agg(dp.count()), spend)
        return Defect(replace(as_added, plan=asked))

    return plant


def one_row_a_person(spend):
    def plant(_):
        asked = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS, rows_per_person=2)).group_by("g").agg(dp.count())
        return Defect(replace(quote(REPLACED.group_by("g").agg(dp.count()), spend), plan=asked))

    return plant


def totals_ignored(request, invariants, spend):
    """The sensitivity is that of a = 1 row, as if nothing were published beside the answers."""

    def plant(_):
        true = beside_totals(invariants)
        alone = replace(true, adjacency=SemiAdjacency(1, exact=True, reason="planted"))
        return Defect(replace(quote(request, spend, alone), beside=true))

    return plant


def nulls_exact(spend):
    """The lattice is that of the values: what is null gets no noise, and the noise of the values adds up to 0 without it."""

    def plant(_):
        honest = quote(REPLACED.group_by("g", "f").agg(dp.count()), spend, beside_totals(dp.Totals("g")))
        return Defect(replace(honest, measured=tuple(replace(m, law=without_nulls(m.law)) for m in honest.measured)))

    return plant


def without_nulls(law):
    blocks = np.split(law.structure.order, np.cumsum(law.structure.sizes)[:-1])
    kept = [members[:-1] for members in blocks]  # null is the last level
    sizes = np.array([len(members) for members in kept], dtype=np.int64)
    return replace(law, structure=Blocks(law.structure.cells, np.concatenate(kept), sizes, None))


def nulls_apart(spend):
    """The lattice is that of the values, and nulls have noise of their own: the number of nulls is still found exactly."""

    def plant(_):
        honest = nulls_exact(spend)(None).quote

        def noisy(asked, exact, bits):
            (values,) = noisy_answers(asked, exact, bits)
            table = values.reshape(-1, 3, 3)  # groups of g and f, null last
            table[:, :, 2] += DiscreteLaplace(Fraction(2)).sample(table[:, :, 2].size, bits).reshape(-1, 3)
            return [table.ravel()]

        return Defect(honest, Kernel(noisy=noisy))

    return plant


def noise_reused(spend):
    """One draw for all groups of a run: differences of groups are exact."""

    def plant(_):
        def noisy(asked, exact, bits):
            (values,) = exact
            drawn = asked.measured[0].law.sample(len(values) // 3, bits)
            return [values + np.repeat(drawn, 3)]

        return Defect(quote(REPLACED.group_by("g").agg(dp.count()), spend), Kernel(noisy=noisy))

    return plant


def together_too_cheap(spend):
    """The queries of a request get more of the spend than it has: each is made as if it were alone."""

    def plant(monkeypatch):
        with monkeypatch.context() as patched:
            patched.setattr(allocate, "_joint", lambda *_: Fraction(1, 2))
            return Defect(quote(ADDED.agg(dp.count(), dp.sum("v", **SKIP)), spend))

    return plant


def unfiltered(spend):
    """A row outside the condition is counted with the weight of its value: the query reaches further than was declared."""

    def plant(_):
        request = ADDED.clamp({"v": (0, 5)}).agg(dp.sum("v", **SKIP))

        def exact(asked, cubes, bits):
            return [2 * values for values in exact_answers(asked, cubes, bits)]

        return Defect(quote(request, spend), Kernel(exact=exact))

    return plant


BY_F = REPLACED.group_by("f").agg(dp.count())
COUNTED = REPLACED.group_by("g", "f").agg(dp.count())


def range_doubled(request, spend):
    """Quantiles chosen as if a record changed half as much as it does."""

    def sharper(law):
        return replace(law, reach=2 * law.reach)

    return lambda _: Defect(quote(request, spend), by_law(sharper))


DEFECTS = {
    "sensitivity halved, pure": sensitivity_halved(REPLACED.group_by("g").agg(dp.count()), dp.PureDP(1)),
    "sensitivity halved, zCDP": sensitivity_halved(ADDED.agg(dp.sum("v", **SKIP)), dp.ZCDP("0.5")),
    "sensitivity halved, squares": sensitivity_halved(ADDED.agg(dp.sum("v", **SKIP), dp.variance("v", **SKIP)), dp.GDP(1)),
    "noise x 0.95, pure": noise_smaller(ADDED.agg(dp.count()), dp.PureDP(3), Fraction(95, 100)),
    "noise x 0.95, zCDP": noise_smaller(ADDED.agg(dp.sum("v", **SKIP)), dp.ZCDP(2), Fraction(95, 100)),
    "noise x 0.95, GDP": noise_smaller(REPLACED.agg(dp.sum("v", **SKIP)), dp.GDP(2), Fraction(95, 100)),
    "noise x 0.95, approximate": noise_smaller(ADDED.agg(dp.count()), dp.ApproxDP(3, "1e-6"), Fraction(95, 100)),
    "noise x 0.95, beside totals": noise_smaller(BY_F, dp.PureDP(4), Fraction(95, 100), dp.Totals("g")),
    "amplification not done, pure": not_sampled(dp.PureDP(1)),
    "amplification not done, approximate": not_sampled(dp.ApproxDP(1, "1e-6")),
    "replace-one as add/remove, pure": replaced_as_added(dp.PureDP(1)),
    "replace-one as add/remove, zCDP": replaced_as_added(dp.ZCDP("0.5")),
    "one row a person": one_row_a_person(dp.PureDP(1)),
    "a(t) ignored, pure": totals_ignored(COUNTED, dp.Totals("g"), dp.PureDP(1)),
    "a(t) ignored, zCDP": totals_ignored(COUNTED, dp.Totals("g"), dp.ZCDP("0.5")),
    "a(t) ignored, sums": totals_ignored(REPLACED.group_by("g").agg(dp.sum("v", **SKIP)), dp.Totals("g"), dp.GDP(1)),
    "nulls left out of a lattice, pure": nulls_exact(dp.PureDP(1)),
    "nulls left out of a lattice, zCDP": nulls_exact(dp.ZCDP("0.1")),
    "nulls beside a lattice": nulls_apart(dp.PureDP(1)),
    "noise reused": noise_reused(dp.PureDP("0.5")),
    "queries together too cheap": together_too_cheap(dp.PureDP(2)),
    "noise halved, variance of a public n": noise_smaller(
        REPLACED.impute(FILLED).agg(dp.variance("v")), dp.PureDP(1), Fraction(1, 2)
    ),
    "quantiles chosen too sharply, pure": range_doubled(ADDED.agg(dp.median("v", **SKIP, interval=0)), dp.PureDP(1)),
    "quantiles chosen too sharply, zCDP": range_doubled(REPLACED.agg(dp.median("v", **SKIP, interval=0)), dp.ZCDP("0.5")),
    "a query that reaches further": unfiltered(dp.ZCDP("0.5")),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found(name, monkeypatch):
    defect = DEFECTS[name](monkeypatch)
    found = audit_quote(defect.quote, runs=MANY if "0.95" in name else FEW, kernel=defect.kernel)
    assert found.refuted, found


@pytest.mark.slow
def test_a_sample_that_is_larger_than_the_quote_says_is_found(monkeypatch):
    """Each run draws a sample anew: of 600,000 runs a hundredth is made."""
    defect = sampled_too_often(dp.PureDP(1))(monkeypatch)
    found = audit_quote(defect.quote, runs=600_000)
    assert found.attacks[0].runs == 6000
    assert found.refuted, found


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found_by_a_million_runs(name, monkeypatch):
    defect = DEFECTS[name](monkeypatch)
    assert audit_quote(defect.quote, runs=MANY, kernel=defect.kernel).refuted
