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
from discreet.audit import Kernel, audit_quote
from discreet.audit.draws import KERNEL
from discreet.cube.cube import joined, row_count
from discreet.cube.resample import _null_rows, _sampled, impute, resample
from discreet.domain.steps import Resize
from discreet.mechanisms import Sensitivity, _runs, quantiles_change, selection, worst
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.sum_zero import SumZeroLaplace
from discreet.noise.bits import Bits
from discreet.noise.single import exponential
from discreet.quotes import allocate
from discreet.quotes.allocate import quote
from discreet.releases import evaluate
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.totals.adjacency import SemiAdjacency
from discreet.totals.beside import beside
from discreet.totals.given import read_totals
from discreet.totals.structure import Blocks

ROWS = 100
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]), v=dp.Number(0, 10))
ADDED = dp.Table(SCHEMA, dp.AddRemove())
REPLACED = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
FILLED = {"g": dp.Weights({"x": 1, "y": 1}), "v": dp.Uniform()}
SKIP = {"nulls": "skip"}
FEW = 100_000
MANY = 1_000_000
CHOSEN = {**SKIP, "interval": 0}
OUTER = ["0.1", "0.5", "0.9"]
QUARTERS = ["0.25", "0.5", "0.75"]
EIGHTHS = ["0.1", "0.2", "0.3", "0.5", "0.7", "0.8", "0.9"]


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


def quoted(case):
    request, invariants, spend = case
    return quote(request, spend, None if invariants is None else beside_totals(invariants))


DEEP = "of several depths", "outer quantiles", "not added up", "charged as an added one", "without the heap", "the ends"
"""Several quantiles take many runs of several choices each: left to the slow tests, but for one."""


def quick(cases):
    return [name for name in cases if not any(word in name for word in DEEP)]


@pytest.mark.parametrize("name", quick(HONEST))
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
            case LaplaceNoise(scale=scale):
                return LaplaceNoise(scale * factor)
            case GaussianNoise(sigma2=sigma2):
                return GaussianNoise(sigma2 * factor**2)
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


TENTH = REPLACED.impute(FILLED).resize(10, proportion="0.1").group_by("g").agg(dp.count())


def not_sampled(spend, request=TENTH):
    """The spend is divided as if a tenth of the rows were sampled, and all of them are used."""

    def plant(monkeypatch):
        def all_rows(cube, axes, moments, *, resize, rows, bits):
            return impute(cube, axes, moments, bits)

        monkeypatch.setattr(evaluate, "resample", all_rows)
        return Defect(quote(request, spend))

    return plant


def sampled_too_often(spend):
    """The spend is divided as if a tenth of the rows were sampled, and it is half of them."""

    def plant(monkeypatch):
        def half(cube, axes, moments, *, resize, rows, bits):
            larger = None if resize is None else Resize(ROWS // 2, Fraction(1, 2))
            return resample(cube, axes, moments, resize=larger, rows=rows, bits=bits)

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


# Choices ---------------------------------------------------------------------------------------------------------------


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


AS_ADDED = (allocate, "quantiles_change", chosen_as_added)
ONE_LEVEL = (selection, "_levels", lambda quantiles: 1)
SMALLER_SIDE = (_runs.Node, "largest", property(lambda node: max(1, min(node.over, node.unit - node.over))))
KNOWN = beside(dp.Totals("g"), SCHEMA, read_totals(dp.Totals("g"), SCHEMA, {"g": {"x": 60, "y": 40}}, ROWS), ROWS)
DOUBLED = REPLACED.impute(FILLED).resize(2 * ROWS, proportion=2)


def chosen_too_sharply(request, spend, totals=None):
    return lambda _: Defect(quote(request, spend, totals), by_law(lambda law: replace(law, reach=2 * law.reach)))


def one_level(least, most, *, at_once, **others):
    """A tree of several levels gets the noise of one."""
    return CHANGE_OF(least, most, at_once=1, **others)


CHANGE_OF = allocate.change_of
NOISE_OF_ONE = (allocate, "change_of", one_level)
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

# Draws of another law: they need not break a guarantee, and are not what the proofs speak of. ----------------------------


def wrong_side(stretches, target, node):
    """A candidate is off by the smaller of two numbers of records, so that codes far away win."""
    runs = WHOLE(stretches, target, node)
    wanted, ahead = target[stretches.owner], stretches.ahead
    loss = np.minimum(node.unit * ahead - wanted, wanted - node.unit * (ahead + stretches.heap))
    return replace(runs, loss=loss)


def without_the_heap(stretches, target, node):
    """The records at a candidate itself are left out of its loss."""
    runs = WHOLE(stretches, target, node)
    wanted = target[stretches.owner]
    return replace(runs, loss=np.abs(node.unit * stretches.ahead - wanted))


def imputed_per_copy(cube, axes, moments, *, resize, rows, bits):
    """The copies of a record draw imputed values of their own."""
    if resize is None:
        return impute(cube, axes, moments, bits)
    kept = _sampled(cube, resize, rows, bits)
    nulls = _null_rows(axes, moments, resize.rows - row_count(kept))
    return impute(joined([kept, nulls]), axes, moments, bits)


def never_drawn_again(bits, bound, size):
    """Uniform integers below a bound as the rest of some bits: those that are too large are not drawn again."""
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    return ((bits.words(size) >> shift) % np.uint64(bound)).astype(np.int64)


def first_of_the_gap(bounds, bits):
    """Of codes that are equally good always the first."""
    return np.zeros(len(bounds), dtype=np.int64)


def half_dropped(cube, resize, rows, bits):
    """Rows are dropped before they are copied, so that the copies of a row come and go together."""
    once = Resize(max(1, resize.rows // resize.copies), resize.proportion / resize.copies)
    kept = _sampled(cube, once, rows, bits)
    return replace(kept, rows=kept.rows * resize.copies)


WHOLE = _runs._whole
BIASED = (Bits, "below_array", never_drawn_again)
PER_COPY = (evaluate, "resample", imputed_per_copy)
RESIZED = {
    "public": REPLACED.impute(FILLED).resize(60, proportion="0.6"),
    "private": ADDED.impute(FILLED).resize(30, proportion="0.5"),
    "copies": REPLACED.impute(FILLED).resize(150, proportion="1.5"),
    "private copies": ADDED.impute(FILLED).resize(30, proportion="1.5"),
}
OTHER_LAWS = {
    "the wrong side of a loss": drawn_with((_runs, "_whole", wrong_side), ADDED.agg(dp.median("v", **CHOSEN)), dp.PureDP(1)),
    "a loss without the heap": drawn_with(
        (_runs, "_whole", without_the_heap), REPLACED.agg(dp.quantiles("v", QUARTERS, **CHOSEN)), dp.ZCDP("0.5")
    ),
    "always the first code of a gap": drawn_with(
        (exponential, "below_each", first_of_the_gap), ADDED.agg(dp.median("v", **CHOSEN)), dp.PureDP(1)
    ),
    "imputed per copy, whole copies": drawn_with(PER_COPY, DOUBLED.group_by("g").agg(dp.count()), dp.PureDP(1)),
    "imputed per copy": drawn_with(PER_COPY, RESIZED["copies"].group_by("g").agg(dp.mean("v")), dp.ApproxDP(1, "1e-6")),
    "imputed per copy, a private number": drawn_with(
        PER_COPY, RESIZED["private copies"].agg(dp.median("v", interval=0)), dp.PureDP(1)
    ),
    "biased integers, a public sample": drawn_with(BIASED, RESIZED["public"].group_by("g").agg(dp.count()), dp.PureDP(1)),
    "biased integers, a private sample": drawn_with(BIASED, RESIZED["private"].group_by("g").agg(dp.count()), dp.PureDP(1)),
    "biased integers, copies": drawn_with(BIASED, RESIZED["copies"].group_by("g").agg(dp.count()), dp.ZCDP(1)),
    "biased integers, imputed values": drawn_with(
        BIASED, REPLACED.impute(FILLED).group_by("g").agg(dp.mean("v")), dp.ZCDP(1)
    ),
    "copies that come and go together": drawn_with(
        ("discreet.cube.resample._sampled", half_dropped),
        RESIZED["private copies"].group_by("g").agg(dp.count()),
        dp.PureDP(1),
    ),
}


def audits(defect, runs):
    """Some audits, one after the other: in so few runs one may miss a defect that nine of ten find; an honest kernel is
    refuted by all together with a probability of at most 5e-9."""
    return (audit_quote(defect.quote, runs=runs, kernel=defect.kernel) for _ in range(5))


@pytest.mark.parametrize("name", quick(OTHER_LAWS))
def test_draws_of_another_law_are_found(name, monkeypatch):
    defect = OTHER_LAWS[name](monkeypatch)
    found = next((one for one in audits(defect, FEW) if one.unlike), None)
    assert found is not None
    assert found.refuted


@pytest.mark.parametrize("name", [*quick(DEFECTS), "a replaced record charged as an added one, zCDP"])
def test_a_planted_defect_is_found(name, monkeypatch):
    defect = DEFECTS[name](monkeypatch)
    assert any(found.leaks for found in audits(defect, MANY if "0.95" in name else FEW))


@pytest.mark.slow
def test_a_sample_that_is_larger_than_the_quote_says_is_found(monkeypatch):
    """Each run draws a sample anew: of 600,000 runs a hundredth is made."""
    defect = sampled_too_often(dp.PureDP(1))(monkeypatch)
    found = audit_quote(defect.quote, runs=600_000)
    assert found.attacks[0].runs == 6000
    assert found.leaks, found


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found_by_a_million_runs(name, monkeypatch):
    defect = DEFECTS[name](monkeypatch)
    assert audit_quote(defect.quote, runs=MANY, kernel=defect.kernel).leaks


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_LAWS)
def test_draws_of_another_law_are_found_by_a_million_runs(name, monkeypatch):
    defect = OTHER_LAWS[name](monkeypatch)
    assert audit_quote(defect.quote, runs=MANY, kernel=defect.kernel).unlike
