"""Defects of the kernel, of quotes and of choices, which an audit must find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

import discreet as dp
from discreet.audit import Kernel
from discreet.audit.draws import KERNEL
from discreet.cube.resample import impute, resample
from discreet.domain.steps import Resize
from discreet.mechanisms import Sensitivity, _runs, quantile_choice, quantiles_change, worst
from discreet.mechanisms.correlated_lattice import CorrelatedLattice
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.rounded_lattice import RoundedLattice
from discreet.mechanisms.sum_zero import SumZeroLaplace
from discreet.quotes import allocate, one_row
from discreet.quotes.allocate import quote
from discreet.releases import evaluate
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.totals.adjacency import SemiAdjacency
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.given import read_totals
from discreet.totals.structure import Blocks

from .audited import ADDED, CHOSEN, EIGHTHS, FILLED, QUARTERS, REPLACED, ROWS, SCHEMA, SKIP, beside_totals, quoted

OUTER = ["0.1", "0.5", "0.9"]


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
            case LaplaceNoise(scale=scale):
                return LaplaceNoise(scale * factor)
            case GaussianNoise(sigma2=sigma2):
                return GaussianNoise(sigma2 * factor**2)
            case SumZeroLaplace(structure=structure, scale=scale):
                return SumZeroLaplace(structure, scale * factor)
            case LatticeGaussian(structure=structure, sigma2=sigma2):
                return LatticeGaussian(structure, sigma2 * factor**2)
            case RoundedLattice(structure=structure, sigma2=sigma2):
                return RoundedLattice(structure, sigma2 * factor**2)
            case CorrelatedLattice(within=within, between=between):
                return replace(law, within=within * factor**2, between=between * factor**2)
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


TENTH = REPLACED.impute(FILLED).resize(10, proportion="0.1").group_by("g").agg(dp.count())


def not_sampled(spend, request=TENTH):
    """The spend is divided as if a tenth of the rows were sampled, and all of them are used."""

    def plant(monkeypatch):
        def all_rows(cube, axes, moments, *, drawing, rows, bits):
            return impute(cube, axes, moments, bits)

        monkeypatch.setattr(evaluate, "resample", all_rows)
        return Defect(quote(request, spend))

    return plant


def sampled_too_often(spend):
    """The spend is divided as if a tenth of the rows were sampled, and it is half of them."""

    def plant(monkeypatch):
        def half(cube, axes, moments, *, drawing, rows, bits):
            larger = None if drawing is None else Resize(ROWS // 2, Fraction(1, 2))
            return resample(cube, axes, moments, drawing=larger, rows=rows, bits=bits)

        monkeypatch.setattr(evaluate, "resample", half)
        return Defect(quote(TENTH, spend))

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
            table[:, :, 2] += LaplaceNoise(Fraction(2)).independent.sample(table[:, :, 2].size, bits).reshape(-1, 3)
            return [table.ravel()]

        return Defect(honest, Kernel(noisy=noisy))

    return plant


def noise_reused(spend):
    """One draw for all groups of a run: differences of groups are exact."""

    def plant(_):
        def noisy(asked, exact, bits):
            (values,) = exact
            drawn = asked.measured[0].law.independent.sample(len(values) // 3, bits)
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


def quoted_with(change, request, spend, totals=None):
    """A quote that is made while one function of the library is another; the kernel is as it should be."""

    def plant(monkeypatch):
        with monkeypatch.context() as patched:
            patched.setattr(*change)
            return Defect(quote(request, spend, totals))

    return plant


def drawn_with(change, request, spend, totals=None):
    """One function of the library is another while the audit runs; the quote is as it should be."""

    def plant(monkeypatch):
        asked = quote(request, spend, totals)
        monkeypatch.setattr(*change)
        return Defect(asked)

    return plant


def chosen_as_added(quantiles, *, cells, skipped, neighbours):
    """A replaced record is charged as one that is added."""
    return quantiles_change(quantiles, cells=cells, skipped=skipped, neighbours=dp.AddRemove())


AS_ADDED = (one_row, "quantiles_change", chosen_as_added)


ONE_LEVEL = (quantile_choice, "_levels", lambda quantiles: 1)


SMALLER_SIDE = (_runs.Node, "largest", property(lambda node: max(1, min(node.over, node.unit - node.over))))


KNOWN = exact_totals_of(dp.Totals("g"), SCHEMA, read_totals(dp.Totals("g"), SCHEMA, {"g": {"x": 60, "y": 40}}, ROWS), ROWS)


DOUBLED = REPLACED.impute(FILLED).resize(2 * ROWS, proportion=2)


def chosen_too_sharply(request, spend, totals=None):
    return lambda _: Defect(quote(request, spend, totals), by_law(lambda law: replace(law, reach=2 * law.reach)))


def one_level(least, most, *, at_once, **others):
    """A tree of several levels gets the noise of one."""
    return CHANGE_OF(least, most, at_once=1, **others)


CHANGE_OF = one_row.change_of


NOISE_OF_ONE = (one_row, "change_of", one_level)


LONG = dp.Table(dp.Schema(v=dp.Number(0, 1000)), dp.AddRemove())


TREE = {**SKIP, "interval": 1}


CHOICES = {
    "a tree with the noise of one level, pure": quoted_with(NOISE_OF_ONE, LONG.agg(dp.median("v", **TREE)), dp.PureDP(1)),
    "a tree with the noise of one level, GDP": quoted_with(NOISE_OF_ONE, LONG.agg(dp.median("v", **TREE)), dp.GDP(1)),
    "a replaced record charged as an added one, pure": quoted_with(
        AS_ADDED, REPLACED.agg(dp.quantiles("v", QUARTERS, **CHOSEN)), dp.PureDP(3)
    ),
    "a replaced record charged as an added one, zCDP": quoted_with(
        AS_ADDED, REPLACED.agg(dp.quantiles("v", QUARTERS, **CHOSEN)), dp.ZCDP("0.5")
    ),
    "largest is the smaller side, one quantile": drawn_with(
        SMALLER_SIDE, ADDED.agg(dp.quantiles("v", ["0.1"], **CHOSEN)), dp.PureDP(1)
    ),
    "largest is the smaller side, one quantile, zCDP": drawn_with(
        SMALLER_SIDE, REPLACED.agg(dp.quantiles("v", ["0.1"], **CHOSEN)), dp.ZCDP("0.5")
    ),
    "largest is the smaller side, outer quantiles": drawn_with(
        SMALLER_SIDE, ADDED.agg(dp.quantiles("v", OUTER, **CHOSEN)), dp.PureDP(1)
    ),
    "levels of choices not added up, two": quoted_with(
        ONE_LEVEL, ADDED.agg(dp.quantiles("v", QUARTERS, **CHOSEN)), dp.PureDP(3)
    ),
    "levels of choices not added up, three": quoted_with(
        ONE_LEVEL, ADDED.agg(dp.quantiles("v", EIGHTHS, **CHOSEN)), dp.PureDP(3)
    ),
    "chosen too sharply beside totals": chosen_too_sharply(
        REPLACED.group_by("f").agg(dp.median("v", **CHOSEN)), dp.PureDP(1), KNOWN
    ),
    "chosen too sharply beside totals that are not known": chosen_too_sharply(
        REPLACED.agg(dp.median("v", **CHOSEN)), dp.ZCDP("0.5"), beside_totals(dp.Totals("g"))
    ),
    "chosen too sharply from two copies": chosen_too_sharply(DOUBLED.agg(dp.median("v", interval=0)), dp.PureDP(1)),
    "a(t) ignored, a median": totals_ignored(REPLACED.agg(dp.median("v", **CHOSEN)), dp.Totals("g"), dp.PureDP(1)),
    "amplification not done, a median": not_sampled(
        dp.PureDP(1), REPLACED.impute(FILLED).resize(10, proportion="0.1").agg(dp.median("v", interval=0))
    ),
}


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
    **CHOICES,
}
