"""The law of what is published beside exact totals, on all databases of three rows over tiny schemas.

Two tables are compared where their totals are equal and they differ in at most a(t) rows; a(t) is found here by brute
force over every table with these totals. For each such pair the noisy integers of a quote must keep the guarantee that the
quote charges for. Noise laws are written down again from their definitions: where a law is an exponential of a norm its
largest log-ratio is an exact rational, Rényi divergences are sums over the points of the lattice, evaluated in balls, with
the truncated mass added against the claim. Each check is shown to fail on planted errors.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import polars as pl
import pytest
from flint import arb, fmpq
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

import discreet as dp
from discreet.cube.paths import KeyAxis, path_of
from discreet.cube.queries import NonNullCount, RowCount
from discreet.domain.steps import facts_of
from discreet.engines import open_source
from discreet.engines.reference import ReferenceEngine
from discreet.exact.lattices import hermite, independent_rows, kernel_basis
from discreet.invariants import Invariants
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.k_norm import KNormLaplace
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.sum_zero import PairedLaplace, SumZeroLaplace
from discreet.noise.bits import system_bits
from discreet.quotes import allocate, lattice
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.totals import adjacency as adjacency_module
from discreet.totals.adjacency import semi_adjacency
from discreet.totals.beside import beside
from discreet.totals.checking import checked_invariants
from discreet.totals.published import PublishedTotals, totals_of_counts
from discreet.totals.structure import Blocks, Tables, margin_equations

ROWS = 3
SMALL = dp.Schema(g=dp.Category(["x"]), f=dp.Category(["p"]), v=dp.Number(0, 1))
WIDE = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]))
LEVELS = {
    SMALL: {"g": ["x", None], "f": ["p", None], "v": [0, 1, None]},
    WIDE: {"g": ["x", "y", None], "f": ["p", "q", None]},
}
ORDERS = (Fraction(3, 2), Fraction(2), Fraction(5))
INFINITE = Fraction(10**9)


def small(request):
    return request(dp.Table(SMALL, dp.ReplaceOne(rows=ROWS)))


def wide(request):
    return request(dp.Table(WIDE, dp.ReplaceOne(rows=ROWS)))


def counted(table):
    return table.group_by("g", "f").agg(dp.count())


def counted_and_summed(table):
    return table.group_by("g", "f").agg(dp.count(), dp.sum("v", nulls="skip"))


# name: invariants, request, how many of the largest fibres are tried
CASES = {
    "partition": (dp.Totals("g"), small(counted_and_summed), 3),
    "partition, not shown": (dp.Totals("g"), small(lambda t: t.group_by("f").agg(dp.count(), dp.count("v"))), 3),
    "partition, a condition": (dp.Totals("g"), small(lambda t: t.where({"f": ["p"]}).group_by("g").agg(dp.count())), 3),
    "partition, a mean": (dp.Totals("g"), small(lambda t: t.group_by("g").agg(dp.mean("v", nulls="skip"))), 3),
    "some groups": (dp.Totals("g", only=["x"]), small(counted), 3),
    "margins of 2 x 2": (dp.Margins("g", "f"), small(counted_and_summed), 3),
    "one of two margins": (dp.Margins("g", "f"), small(lambda t: t.group_by("g").agg(dp.sum("v", nulls="skip"))), 3),
    "occupied": (dp.Occupied("g"), small(counted_and_summed), 3),
    "an impossible cell": (dp.Totals("g") + dp.Impossible("g", "f", cells=[("x", "p")]), small(counted_and_summed), 3),
    "partition of three": (dp.Totals("g"), wide(counted), 2),
    "margins of 3 x 3": (dp.Margins("g", "f"), wide(counted), 3),
    "a weighted sum": (dp.LinearInvariant("g", {"s": {"x": 1, "y": 2}}), wide(counted), 2),
}


# All tables, as histograms over all records ---------------------------------------------------------------------------


def records(schema):
    return list(product(*LEVELS[schema].values()))


def histograms(schema):
    size = len(records(schema))
    chosen = np.array(list(combinations_with_replacement(range(size), ROWS)))
    found = np.zeros((len(chosen), size), dtype=np.int64)
    for column in chosen.T:
        found[np.arange(len(chosen)), column] += 1
    return found


@dataclass(frozen=True)
class Fibre:
    """All tables with the same totals, a(t) by brute force, and the differences of all pairs that are compared."""

    totals: PublishedTotals
    tables: np.ndarray
    a: int
    differences: np.ndarray


@cache
def fibres(name):
    """The largest fibres of a case; a table with a row in an impossible cell is none."""
    invariants, plan, most = CASES[name]
    levels = LEVELS[plan.schema]
    keys = np.array(
        [
            [levels[column].index(record[list(levels).index(column)]) for column in invariants.columns]
            for record in records(plan.schema)
        ]
    )
    found = defaultdict(list)
    for table in histograms(plan.schema):
        try:
            found[totals_of_counts(invariants, plan.schema, (keys[table > 0], table[table > 0]))].append(table)
        except dp.InternalError:
            continue
    largest = sorted(found.items(), key=lambda item: -len(item[1]))[:most]
    return [fibre_of(totals, np.array(tables)) for totals, tables in largest]


def fibre_of(totals, tables):
    a = literal_a(tables)
    differences = (tables[:, None] - tables[None]).reshape(-1, tables.shape[1])
    near = differences[np.abs(differences).sum(axis=1) <= 2 * a]
    return Fibre(totals, tables, a, np.unique(near, axis=0))


def literal_a(tables):
    """max over tables, rows and feasible values of the rows that must change: Algorithm 1 on one whole fibre.

    Rows have no order, so that the other rows of two tables can be matched as well as their histograms overlap.
    """
    differences = tables[:, None] - tables[None]
    changed = np.abs(differences).sum(axis=2)
    most = 1
    for old, new in permutations(range(tables.shape[1]), 2):
        has, can = tables[:, old] > 0, tables[:, new] > 0
        if has.any() and can.any():
            one, other = differences[..., old], differences[..., new]
            rest = changed - np.abs(one) - np.abs(other) + np.abs(one - 1) + np.abs(other + 1)
            most = max(most, 1 + int(rest[np.ix_(has, can)].min(axis=1).max()) // 2)
    return most


def contributions(query, plan):
    """What a record adds to each cell of the request: int64, shape (cells, records)."""
    names = list(LEVELS[plan.schema])
    labels = [LEVELS[plan.schema][group.column] for group in plan.group_by]
    cells = {cell: number for number, cell in enumerate(product(*labels))}
    found = np.zeros((len(cells), len(records(plan.schema))), dtype=np.int64)
    for number, record in enumerate(records(plan.schema)):
        values = dict(zip(names, record, strict=True))
        if any(values[step.column] != "p" for step in plan.steps):
            continue  # the one condition that is used here
        cell = cells[tuple(values[group.column] for group in plan.group_by)]
        match query:
            case RowCount():
                found[cell, number] = 1
            case NonNullCount(column):
                found[cell, number] = values[column] is not None
            case _:
                found[cell, number] = 0 if values["v"] is None else query.first + query.slope * values["v"]
    return found


# The laws, written down again -----------------------------------------------------------------------------------------


def equations(structure):
    match structure:
        case Blocks(sizes=sizes):
            return np.repeat(np.eye(len(sizes), dtype=np.int64), sizes, axis=1), structure.order
        case Tables(tables=tables):
            parts = [margin_equations(table) for table in tables]
            return block_diag(*parts), np.concatenate([table.order.ravel() for table in tables])
    return structure.equations, structure.order


def on_support(law, u):
    """Whether noise can make up for u: outside, one table could be told from the other for certain."""
    if isinstance(law, HeldCells):
        return not np.delete(u, law.held).any()
    if law.everywhere:
        return True
    matrix, order = equations(law.structure)
    return not (matrix @ u[order]).any() and not np.delete(u, order).any()


def ratio(law, u):
    """The largest log-ratio of two shifts by u, exactly: the law is exp(-norm), and the norm is attained at one of them."""
    if not on_support(law, u):
        return INFINITE
    l1 = int(np.abs(u).sum())
    match law:
        case HeldCells(noise=inner):
            return ratio(inner, u)
        case LaplaceNoise(scale=scale) | SumZeroLaplace(scale=scale):
            return Fraction(l1) / scale
        case PairedLaplace(scale=scale):
            return Fraction(l1) / (2 * scale)
        case KNormLaplace(points=points, epsilon=epsilon):
            inside = not u.any() or (points == u[equations(law.structure)[1]]).all(axis=1).any()
            return epsilon if inside else INFINITE  # a point of the hull has a norm of at most 1
    raise AssertionError(law)


def squared(law, u):
    """|u|²/σ²: 2ρ and μ² of one shift by u."""
    if not on_support(law, u):
        return INFINITE
    inner = law.noise if isinstance(law, HeldCells) else law
    assert isinstance(inner, LatticeGaussian | GaussianNoise)
    return Fraction(int((u * u).sum())) / inner.sigma2


def fraction(value):
    return arb(fmpq(value.numerator, value.denominator))


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


def box(law, reach):
    """The points of the law's lattice whose pivot coordinates are at most `reach` in size, and where they stand."""
    matrix, cells = equations(law.structure)
    independent = [matrix[i].tolist() for i in independent_rows(matrix.tolist())]
    basis = np.array(hermite(kernel_basis(independent, matrix.shape[1])), dtype=np.int64)
    pivots = [int(np.flatnonzero(row)[0]) for row in basis]
    assert (basis[:, pivots] == np.eye(len(pivots))).all()  # so that the pivot coordinates tell the points apart
    grid = np.meshgrid(*[np.arange(-reach, reach + 1)] * len(pivots), indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, len(pivots)) @ basis, cells


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


# The check ------------------------------------------------------------------------------------------------------------


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


def covered(quoted):
    """What the charge allows for, as ε or |u|²/σ²."""
    made = [one.guarantee for one in quoted.measured]
    match quoted.spend, made[0]:
        case dp.PureDP() | dp.ApproxDP(), dp.PureDP():
            return quoted.spend.epsilon
        case dp.ZCDP(), dp.ZCDP():
            return 2 * quoted.spend.rho
        case dp.GDP(), dp.GDP():
            return quoted.spend.mu**2
        case dp.ApproxDP(epsilon=epsilon, delta=delta), dp.ZCDP():
            return 2 * dp.ZCDP.for_approx(epsilon, delta).rho
        case dp.ApproxDP(epsilon=epsilon, delta=delta), dp.GDP():
            return dp.GDP.for_approx(epsilon, delta).mu ** 2
    raise AssertionError(made)


def quotes(name, spend, *, published=True):
    """A quote for each fibre of a case; a request that its totals answer has none."""
    invariants, plan, _ = CASES[name]
    found = []
    for fibre in fibres(name):
        known = beside(invariants, plan.schema, fibre.totals if published else None, ROWS)
        quoted = quote_of(plan, spend, known)
        if quoted is not None:
            found.append((quoted, fibre))
    assert found
    return found


def quote_of(plan, spend, known):
    try:
        return allocate.quote(plan, spend, known)
    except dp.PlanError as refused:
        if "already" not in str(refused):
            raise
        return None


def worst_loss(name, spend, *, published=True):
    """The largest loss of any pair, which no charge may be below."""
    worst = Fraction(0)
    for quoted, fibre in quotes(name, spend, published=published):
        loss, _ = losses(quoted, fibre.differences)[-1]
        assert loss <= covered(quoted)
        worst = max(worst, loss)
    return worst


SPENDS = [dp.PureDP("0.75"), dp.ZCDP("0.75")]


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


@pytest.mark.parametrize("name", CASES)
def test_no_pair_differs_in_more_rows_than_are_counted(name):
    invariants, plan, _ = CASES[name]
    for fibre in fibres(name):
        assert beside(invariants, plan.schema, fibre.totals, ROWS).adjacency.a >= fibre.a
        assert beside(invariants, plan.schema, None, ROWS).adjacency.a >= fibre.a


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


# Planted errors -------------------------------------------------------------------------------------------------------


def one_row_too_few(*arguments):
    found = semi_adjacency(*arguments)
    return replace(found, a=max(1, found.a - 1))


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

    def without_known_nulls(known, schema):
        alive = alive_cells(known, schema)
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
    monkeypatch.setattr(allocate, "_beside_totals", lambda _space, _query, change: allocate.worst(change))
    assert_noticed(name, spend)


@pytest.mark.parametrize("spend", SPENDS, ids=["pure", "zcdp"])
def test_noise_on_a_smaller_lattice_is_noticed(spend, monkeypatch):
    """Margins that the noise keeps although only those of one column are published."""
    _, plan, _ = CASES["partition"]
    real = allocate.space_of
    crossed = real(plan, beside(dp.Margins("g", "f"), SMALL, None, ROWS)).structure
    monkeypatch.setattr(allocate, "space_of", lambda *arguments: replace(real(*arguments), structure=crossed))
    assert_noticed("partition", spend)


# The kernel draws these laws --------------------------------------------------------------------------------------------

DRAWS = 250
ALPHA = 1e-9
SAMPLED = [
    ("partition", dp.ZCDP(2)),
    ("margins of 2 x 2", dp.PureDP(2)),
    pytest.param("partition", dp.PureDP(4), marks=pytest.mark.slow),
    pytest.param("margins of 2 x 2", dp.ZCDP(1), marks=pytest.mark.slow),
]


def kernel(name, spend):
    """Noisy minus exact counts of a table with four different rows, as a release computes them, and their law."""
    invariants, _, _ = CASES[name]
    plan = small(counted)
    frame = pl.DataFrame({"g": ["x", None, "x"], "f": ["p", "p", None], "v": [1, 0, None]})
    engine = open_source(frame, SMALL)
    (brought,) = plan.layout.parts
    cube = engine.aggregate(brought.axes, brought.moments)
    engine.close()
    quoted = allocate.quote(plan, spend, beside(invariants, SMALL, None, ROWS))
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


@pytest.mark.parametrize(("name", "spend"), SAMPLED)
def test_what_the_kernel_draws_has_the_law_of_the_quote(name, spend):
    """A false alarm once in 10^9 runs; noise of half the size is rejected."""
    law, drawn = kernel(name, spend)
    assert p_value(law, drawn) > ALPHA
    narrow = replace(law, sigma2=law.sigma2 / 4) if isinstance(law, LatticeGaussian) else replace(law, scale=law.scale / 2)
    bits = system_bits()
    assert p_value(law, np.array([narrow.sample(bits) for _ in range(DRAWS)])) < ALPHA


# A resized table --------------------------------------------------------------------------------------------------------


def resized(rows, proportion):
    table = dp.Table(WIDE, dp.ReplaceOne(rows=ROWS)).impute({"f": dp.Weights({"p": 1, "q": 1})})
    return table.resize(rows, proportion=proportion).group_by("f").agg(dp.count())


def sampled_law(table, copies, size):
    """The law of the counts of p and q when `size` of all copies are kept; the rows have no nulls."""
    values = [record[1] for record, count in zip(records(WIDE), table, strict=True) for _ in range(copies * count)]
    kept = list(combinations(values, size))
    law = defaultdict(Fraction)
    for chosen in kept:
        law[chosen.count("p"), chosen.count("q")] += Fraction(1, len(kept))
    return law


def worst_resized(spend, rows, proportion, copies, size):
    """The largest log-ratio of the noisy counts of two semi-adjacent tables, sampling and noise together."""
    invariants, _, _ = CASES["partition of three"]
    without_nulls = [record[1] is not None for record in records(WIDE)]
    worst = 0.0
    for fibre in fibres("partition of three"):
        full = fibre.tables[fibre.tables[:, without_nulls].sum(axis=1) == ROWS]
        quoted = allocate.quote(resized(rows, proportion), spend, beside(invariants, WIDE, fibre.totals, ROWS))
        scale = fraction(quoted.measured[0].law.scale)
        weights = [(-arb(k) / scale).exp() for k in range(2 * rows + 1)]
        laws = {tuple(map(int, table)): sampled_law(table, copies, size) for table in full}
        # Beyond the points 0, …, rows the ratio no longer changes. The null group is 0 in both.
        densities = {
            table: [
                sum((fraction(mass) * weights[abs(p - i) + abs(q - j)] for (i, j), mass in law.items()), start=arb(0))
                for p, q in product(range(rows + 1), repeat=2)
            ]
            for table, law in laws.items()
        }
        for first, second in permutations(densities, 2):
            if np.abs(np.subtract(first, second)).sum() <= 2 * fibre.a:
                ratios = [one / other for one, other in zip(densities[first], densities[second], strict=True)]
                worst = max(worst, *(float(one.log().upper()) for one in ratios))
    return worst


RESIZED = [(2, "2/3", 1, 2), (3, "4/3", 2, 3)]


@pytest.mark.parametrize(("rows", "proportion", "copies", "size"), RESIZED)
def test_a_resized_table_counts_all_rows_that_change(rows, proportion, copies, size):
    spend = dp.PureDP("0.75")
    worst = worst_resized(spend, rows, proportion, copies, size)
    assert worst <= 0.75 * (1 + 1e-12)
    assert worst > 0.5


@pytest.mark.parametrize(("rows", "proportion", "copies", "size"), RESIZED)
def test_a_resize_that_forgets_the_other_rows_is_noticed(rows, proportion, copies, size, monkeypatch):
    real = allocate.resampling_of
    monkeypatch.setattr(allocate, "resampling_of", lambda plan, _beside: real(plan, None))
    assert worst_resized(dp.PureDP("0.75"), rows, proportion, copies, size) > 0.76


# Random schemas, totals and requests ------------------------------------------------------------------------------------


def values_of(schema, name):
    column = schema[name]
    known = column.values if isinstance(column, dp.Category) else range(int(column.lower), int(column.upper) + 1)
    return [*known, None]


def some(rng, values, most=None):
    values = list(values)
    return rng.sample(values, rng.randint(1, min(len(values), most or len(values))))


def random_schema(rng):
    return dp.Schema(
        a=dp.Category(some(rng, "xy")),
        b=dp.Category(some(rng, "pqr")),
        w=dp.Number(0, rng.randint(1, 3)),
        c=dp.Category(some(rng, "st")),
        y=dp.Number(-1, rng.randint(0, 3)),
    )


def random_invariants(rng, schema):
    joined = Invariants(())
    for number in range(rng.choice([1, 1, 2, 2, 3])):
        names = rng.sample("abwc", rng.choice([1, 1, 1, 2, 2, 3]))
        cells = some(rng, list(product(*(values_of(schema, name) for name in names)))[:-1], 4)
        kinds = [
            dp.Totals(*names),
            dp.Totals(*names),
            dp.Totals(*names, only=cells),
            dp.Occupied(*names, only=cells),
            dp.Impossible(*names, cells=cells),
            dp.LinearInvariant(names, {f"s{number}": {cell: rng.choice([1, 2, -1]) for cell in cells}}),
        ]
        joined += rng.choice(kinds)
    return joined


def random_range(rng, schema, name):
    if isinstance(schema[name], dp.Category):
        return some(rng, schema[name].values)
    low, high = sorted(rng.choices(values_of(schema, name)[:-1], k=2))
    return (low, high)


def random_plan(rng, schema, rows, known):
    """Clamps, a condition, a certain imputation, groups and bins; counts, sums and means."""
    table = dp.Table(schema, dp.ReplaceOne(rows=rows))
    names = list(schema.columns)
    for name in rng.sample(names, rng.choice([0, 0, 1])):
        table = table.clamp({name: random_range(rng, schema, name)})
    free = [name for name in "bc" if name not in known]
    for name in rng.sample(free, min(len(free), rng.choice([0, 1]))):
        table = table.impute({name: dp.Weights({table.facts[name].column.values[0]: 1})})
    for name in rng.sample(names, rng.choice([0, 0, 1])):
        table = table.where({name: random_range(rng, schema, name)})
    groups = []
    for name in rng.sample(names, rng.randint(0, 3)):
        low, high = values_of(schema, name)[0], values_of(schema, name)[-2]
        if isinstance(schema[name], dp.Category):
            groups.append(name)
        elif low < high:
            groups.append(dp.bins(name, rng.choice([[low, high], [low, low + 1], sorted({low, low + 1, high})])))
    asked = [dp.count(), dp.count(rng.choice(names)), dp.sum("y", nulls="skip"), dp.mean("w", nulls="skip")]
    grouped = table.group_by(*groups) if groups else table
    return grouped.agg(*some(rng, asked, 3))


def assert_kept(invariants, plan, tables, rows):
    """Lattices for all tables of equal totals, charges for those that differ in at most a(t) rows, known counts for each."""
    schema = plan.schema
    header = dict.fromkeys(schema.columns, "value")
    raw = [KeyAxis(path_of(name, (), facts_of(schema, plan.neighbours))) for name in invariants.columns]
    engines = {table: ReferenceEngine(header, table) for table in tables}
    fibres = defaultdict(list)
    for table, engine in engines.items():
        cube = engine.aggregate(raw, ())
        with suppress(dp.InternalError):  # a row in an impossible cell
            fibres[totals_of_counts(invariants, schema, (cube.keys, cube.rows))].append(table)
    totals, alike = max(fibres.items(), key=lambda item: len(item[1]), default=(None, []))
    brought, bits, pairs = plan.layout.parts[0], system_bits(), 0
    for published, spend in product([totals, None], SPENDS):
        known = beside(invariants, schema, published, rows)
        quoted = quote_of(plan, spend, known) if alike else None
        if quoted is None:
            continue
        exact = {
            table: exact_answers(quoted, [engines[table].aggregate(brought.axes, brought.moments)], bits)
            for table in alike[:14]
        }
        one_loss = ratio if isinstance(spend, dp.PureDP) else squared
        for first, second in combinations(exact, 2):
            changed = sum((Counter(first) - Counter(second)).values())
            moved = [
                (one.law, left - right)
                for one, left, right in zip(quoted.measured, exact[first], exact[second], strict=True)
            ]
            assert all(on_support(law, u) for law, u in moved)
            if changed <= semi_adjacency(invariants, schema, published, rows).a:
                pairs += 1
                assert sum(one_loss(law, u) for law, u in moved) <= covered(quoted)
    return pairs


def random_case(rng):
    """How many pairs of tables were compared; 0 for a case that is refused in words."""
    rows = rng.choice([2, 3, 3, 4])
    schema = random_schema(rng)
    invariants = random_invariants(rng, schema)
    try:
        checked_invariants(invariants, schema, dp.ReplaceOne(rows=rows))
        plan = random_plan(rng, schema, rows, invariants.columns)
    except dp.PlanError:
        return 0
    everybody = list(product(*(values_of(schema, name) for name in schema.columns)))
    few = rng.sample(everybody, min(len(everybody), 8))
    return assert_kept(invariants, plan, list(combinations_with_replacement(few, rows)), rows)


def random_cases(examples):
    pairs = []

    @settings(max_examples=examples, database=None, phases=[Phase.generate])
    @given(st.randoms(use_true_random=True))
    def run(rng):
        pairs.append(random_case(rng))

    run()
    return sum(pairs)


@pytest.mark.slow
def test_many_random_requests(monkeypatch):
    """And with the noise of one row too few some of them fail."""
    assert random_cases(400) > 20_000
    monkeypatch.setattr(adjacency_module, "semi_adjacency", one_row_too_few)
    with pytest.raises(AssertionError):
        random_cases(400)
