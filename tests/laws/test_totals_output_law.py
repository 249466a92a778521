"""The law of what is published beside exact totals, on all databases of three rows over tiny schemas.

Two tables are compared where their totals are equal and they differ in at most a(t) rows; a(t) is found here by brute
force over every table with these totals. For each such pair the noisy integers of a quote must keep the guarantee that the
quote charges for. Noise laws are written down again from their definitions: where a law is an exponential of a norm its
largest log-ratio is an exact rational, Rényi divergences are sums over the points of the lattice, evaluated in balls, with
the truncated mass added against the claim. Each check is shown to fail on planted errors.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb

import discreet as dp
from discreet.mechanisms import correlated_lattice
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.one_sign_laplace import OneSignLaplace
from discreet.mechanisms.sum_zero import PairedLaplace, SumZeroLaplace
from discreet.quotes import allocate, lattice
from discreet.quotes.space import Space
from discreet.totals import adjacency as adjacency_module
from discreet.totals.exact_totals import exact_totals_of

from .totals_laws import (
    CASES,
    ROWS,
    SMALL,
    SPENDS,
    box,
    contributions,
    covered,
    fibres,
    fraction,
    one_row_too_few,
    quote_of,
    ratio,
    squared,
)

ORDERS = (Fraction(3, 2), Fraction(2), Fraction(5))


def renyi(law, u, order):
    """An upper bound of D_order between the law and itself shifted by u: a sum over points, in balls."""
    inner = law.noise if isinstance(law, HeldCells) else law
    if isinstance(inner, GaussianNoise):
        return sum((rounded_renyi(inner.sigma2, abs(int(s)), order) for s in u if s), start=arb(0))
    sigma2, far = law.sigma2, 14 * float(law.sigma2) ** 0.5
    points, cells = box(law, int(far + float(order) * np.abs(u).max()) + 1)
    u, rank = u[cells], law.structure.rank
    p, q = order.numerator, order.denominator
    tilted = exponential_sum(p * (points**2).sum(axis=1) + (q - p) * ((points + u) ** 2).sum(axis=1), 2 * q * sigma2)
    whole = exponential_sum((points**2).sum(axis=1), 2 * sigma2)
    # What the box leaves out lies at least `far` from the centre (order-1)u of the completed square, in one pivot.
    width = 1 + (2 * arb.pi() * fraction(sigma2)).sqrt()
    missed = 2 * rank * width**rank * (-(arb(far) ** 2) / fraction(2 * sigma2)).exp()
    missed *= (fraction(order * (order - 1)) * int((u * u).sum()) / fraction(2 * sigma2)).exp()
    return ((tilted + missed) / whole).log() / fraction(order - 1)


def exponential_sum(exponents, scale):
    values, times = np.unique(exponents, return_counts=True)
    terms = [int(k) * (-fraction(Fraction(int(e)) / scale)).exp() for e, k in zip(values, times, strict=True)]
    return sum(terms, start=arb(0))


def rounded_renyi(sigma2, shift, order):
    """D_order of round(N(0, σ²)) and of the same moved by an integer."""
    deviation = fraction(2 * sigma2).sqrt()
    reach = int(14 * float(sigma2) ** 0.5 + float(order) * shift) + 1

    def upper(x):  # P(N(0, σ²) > x)
        return (fraction(x) / deviation).erfc() / 2

    edges = [upper(Fraction(2 * k - 1, 2)) for k in range(-reach - shift, reach + shift + 2)]
    # Differences on the side where both are small, so that nothing cancels.
    mass = {k: edges[i] - edges[i + 1] for i, k in enumerate(range(-reach - shift, reach + shift + 1)) if k >= 0}
    power = fraction(order)
    total = sum(
        (mass[abs(k)] ** power * mass[abs(k + shift)] ** (1 - power) for k in range(-reach, reach + 1)), start=arb(0)
    )
    # In each interval the ratio is at most the integral of the two normal densities to these powers (Hölder).
    outside = 2 * upper(Fraction(reach) - (order - 1) * shift)
    outside *= (fraction(order * (order - 1) * shift**2) / fraction(2 * sigma2)).exp()
    return (total + outside).log() / (power - 1)


def shifts(quoted, differences):
    """For each query the differences of its answers, int64, shape (differences, cells)."""
    return [differences @ contributions(one.query, quoted.plan).T for one in quoted.measured]


def losses(quoted, differences):
    """For each distinct difference of all answers together its exact loss, ε or |u|²/σ², and one pair of tables with it."""
    one_loss = ratio if isinstance(quoted.measured[0].guarantee, dp.PureDP) else squared
    moved = shifts(quoted, differences)
    _, places = np.unique(np.concatenate(moved, axis=1), axis=0, return_index=True)
    known = [cache(lambda u, law=one.law: one_loss(law, np.array(u))) for one in quoted.measured]
    found = [(sum(loss(tuple(u[place])) for loss, u in zip(known, moved, strict=True)), place) for place in places.tolist()]
    return sorted(found)


def quotes(name, spend, *, published=True):
    """A quote for each fibre of a case; a request that its totals answer has none."""
    invariants, plan, _ = CASES[name]
    found = []
    for fibre in fibres(name):
        known = exact_totals_of(invariants, plan.schema, fibre.totals if published else None, ROWS)
        quoted = quote_of(plan, spend, known)
        if quoted is not None:
            found.append((quoted, fibre))
    assert found
    return found


def worst_loss(name, spend, *, published=True):
    """The largest loss of any pair, which no charge may be below."""
    worst = Fraction(0)
    for quoted, fibre in quotes(name, spend, published=published):
        loss, _ = losses(quoted, fibre.differences)[-1]
        assert loss <= covered(quoted)
        worst = max(worst, loss)
    return worst


@pytest.mark.one_in(9)
@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
@pytest.mark.parametrize("name", CASES)
def test_the_charge_covers_every_pair_of_tables(name, spend):
    assert worst_loss(name, spend) > 0


@pytest.mark.parametrize("spend", [dp.ApproxDP("0.75", "1e-6"), dp.ApproxDP("0.01", "1e-2"), dp.GDP("0.75")], ids=str)
@pytest.mark.parametrize("name", ["partition", "margins of 2 x 2"])
def test_the_charge_covers_every_pair_in_the_other_measures(name, spend):
    assert worst_loss(name, spend) > 0


@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
@pytest.mark.parametrize("name", ["partition", "margins of 2 x 2", "margins of 3 x 3"])
def test_a_quote_before_the_totals_covers_whatever_they_turn_out_to_be(name, spend):
    assert worst_loss(name, spend, published=False) > 0


def test_nothing_is_charged_in_vain():
    """Where two rows change places, the worst pair costs all that is charged."""
    for name in ("some groups", "partition of three"):
        assert worst_loss(name, dp.PureDP("0.75")) == Fraction(3, 4)
        assert worst_loss(name, dp.ZCDP("0.75")) == Fraction(3, 2)
    assert worst_loss("margins and a free column", dp.ZCDP("0.75")) == Fraction(3, 2)
    assert worst_loss("margins and a free column", dp.GDP("0.75")) == Fraction(9, 16)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CASES)
def test_no_pair_differs_in_more_rows_than_are_counted(name):
    invariants, plan, _ = CASES[name]
    for fibre in fibres(name):
        assert exact_totals_of(invariants, plan.schema, fibre.totals, ROWS).adjacency.a >= fibre.a
        assert exact_totals_of(invariants, plan.schema, None, ROWS).adjacency.a >= fibre.a


@pytest.mark.parametrize("name", ["partition", "partition, not shown", "margins of 2 x 2", "occupied"])
def test_divergences_by_enumeration_are_within_the_charge(name):
    """D_α ≤ ρα for all noises of a quote together, on the worst pair and a milder one."""
    spend = dp.ZCDP(2)
    quoted, fibre = quotes(name, spend)[0]
    found = losses(quoted, fibre.differences)
    for loss, place in [found[-1], found[len(found) // 2]]:
        moved = [(one.law, u[place]) for one, u in zip(quoted.measured, shifts(quoted, fibre.differences), strict=True)]
        for order in ORDERS:
            together = sum((renyi(law, u, order) for law, u in moved), start=arb(0))
            # A loss that is attained makes both sides equal; the slack is for the mass that the sums leave out.
            assert together < fraction(spend.rho * order) * arb("1.000001")
            on_lattice = all(isinstance(law, LatticeGaussian) or not u.any() for law, u in moved)
            if on_lattice and order.denominator == 1:  # a shift by a point of the lattice: D_α = α|u|²/(2σ²)
                assert together > fraction(loss * order / 2) * arb("0.999999")


@pytest.mark.parametrize("name", ["partition", "margins of 2 x 2"])
def test_log_ratios_by_enumeration_are_the_norms(name):
    """What `ratio` says of noise on a lattice, against all points of a box."""
    quoted, fibre = quotes(name, dp.PureDP("0.75"))[0]
    law = quoted.measured[0].law
    points, order = box(law, 6)
    scale = {SumZeroLaplace: 1, PairedLaplace: 2}[type(law)] * law.scale
    for u in np.unique(shifts(quoted, fibre.differences)[0], axis=0):
        gain = (np.abs(points + u[order]).sum(axis=1) - np.abs(points).sum(axis=1)).max()
        assert ratio(law, u) == Fraction(int(gain)) / scale


def assert_noticed(name, spend):
    with pytest.raises(AssertionError):
        worst_loss(name, spend)


@pytest.mark.parametrize(
    ("name", "spend"),
    [
        *[(name, SPENDS[0]) for name in ("partition", "margins of 2 x 2", "a weighted sum")],
        *[(name, SPENDS[1]) for name in ("partition", "some groups", "occupied")],
    ],
)
def test_one_row_too_few_is_noticed(name, spend, monkeypatch):
    """The noise of a(t) - 1 rows, for the pairs that differ in a(t)."""
    monkeypatch.setattr(adjacency_module, "semi_adjacency", one_row_too_few)
    assert_noticed(name, spend)


@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
def test_a_null_level_that_is_left_out_is_noticed(spend, monkeypatch):
    """{F, null} and {F, F} share a state total, while noise that sums to 0 over F and M leaves F + M as it is."""
    positions, alive_cells = lattice.positions, lattice.alive_cells

    def without_free_nulls(view, *parts):
        return positions(view, *parts)[..., :-1]

    def without_known_nulls(known, schema, columns=None):
        alive = alive_cells(known, schema, columns)
        return alive & np.pad(np.ones([levels - 1 for levels in alive.shape], dtype=bool), (0, 1))

    with monkeypatch.context() as planted:
        planted.setattr(lattice, "positions", without_free_nulls)
        assert_noticed("partition of three", spend)
    with monkeypatch.context() as planted:
        planted.setattr(lattice, "alive_cells", without_known_nulls)
        assert_noticed("margins of 3 x 3", spend)


@pytest.mark.parametrize(
    ("name", "spend"),
    [
        *[(name, spend) for name in ("partition", "margins of 3 x 3") for spend in SPENDS],
        # By ε alone a condition and a mean cost the same: one row changes two cells, and two rows one cell each.
        *[(name, SPENDS[1]) for name in ("partition, a condition", "partition, a mean")],
    ],
)
def test_noise_for_one_replaced_row_is_noticed(name, spend, monkeypatch):
    """What would be advertised if nobody counted the totals."""
    monkeypatch.setattr(allocate, "bound_with_totals", lambda _asked, _space, _query, change: allocate.worst(change))
    assert_noticed(name, spend)


@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
def test_noise_on_a_smaller_lattice_is_noticed(spend, monkeypatch):
    """Margins that the noise keeps although only those of one column are published."""
    _, plan, _ = CASES["partition"]
    real = allocate.space_of
    crossed = real(plan, exact_totals_of(dp.Margins("g", "f"), SMALL, None, ROWS)).structure
    monkeypatch.setattr(allocate, "space_of", lambda *arguments: replace(real(*arguments), structure=crossed))
    assert_noticed("partition", spend)


@pytest.mark.parametrize("spend", [SPENDS[1], dp.GDP("0.75")], ids=str)
@pytest.mark.parametrize("part", [0, 1])
def test_a_variance_a_tenth_too_small_is_noticed(spend, part, monkeypatch):
    """Within places and between them: every pair of tables is looked at, and some pair needs all of each."""
    real = correlated_lattice.best_shares

    def smaller(energies, weights):
        found = real(energies, weights)
        return replace(
            found, variances=tuple(one * Fraction(9, 10) if i == part else one for i, one in enumerate(found.variances))
        )

    monkeypatch.setattr(correlated_lattice, "best_shares", smaller)
    assert_noticed("margins and a free column", spend)


@pytest.mark.parametrize("name", ["partition", "margins of 2 x 2"])
def test_too_small_a_bound_of_sums_is_noticed(name, monkeypatch):
    """Sums of numbers of one sign with the noise of half of their changes."""
    real = Space.of_one_sign

    def smaller(space, largest):
        found = real(space, largest)
        return found and replace(found, l1=found.l1 // 2)

    laws = [one.law for quoted, _ in quotes(name, dp.PureDP("0.75")) for one in quoted.measured]
    assert any(isinstance(law, OneSignLaplace) for law in laws)
    monkeypatch.setattr(Space, "of_one_sign", smaller)
    assert_noticed(name, dp.PureDP("0.75"))


def test_noise_for_sums_of_one_sign_is_too_little_for_both_signs(monkeypatch):
    """Theorem L6 needs numbers of one sign: a row of -1 that becomes 1 may change one cell by 2."""
    real = allocate._Answered.adds

    def unsigned(asked, least, most, **facts):
        return real(asked, 0, max(abs(least), abs(most)), **facts)

    monkeypatch.setattr(allocate._Answered, "adds", unsigned)
    assert_noticed("partition, sums of both signs", dp.PureDP("0.75"))
