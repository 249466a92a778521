"""The lattice Gaussians against enumerated laws and a slow reference. Declared error 1e-9 per test; mutants are rejected."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import isqrt, log

import numpy as np
import pytest
from flint import arb

from discreet.exact.balls import ball
from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import system_bits
from discreet.noise.lattice import _tree, margin_gaussian
from discreet.noise.lattice.margin_gaussian import margins_gaussian, sum_zero_gaussian
from discreet.noise.lattice.margin_laws import margins_cell
from discreet.noise.single import _acceptance, scalar

SIZE = 15_000
Case = tuple[tuple[int, ...], int, str]
"""The axes, the depth and sigma2; a block of n cells that sum to 0 is a table of one level and depth n."""

BLOCKS: list[Case] = [((1,), n, s) for n in (2, 3, 4, 5) for s in ("1/4", "1", "3")]
TABLES: list[Case] = [
    *(((2, 2), 1, s) for s in ("1/4", "1", "3")),
    ((2, 3), 1, "1/3"),
    ((2, 3), 1, "1"),
    ((3, 2), 1, "1/2"),
    ((3, 3), 1, "2/5"),
    ((2, 4), 1, "1/2"),
    ((4, 2), 1, "1/2"),
    ((2, 2), 2, "2/5"),
    ((1, 2), 3, "1/2"),
    ((2, 2, 2), 1, "1/3"),
    ((2, 1, 2), 1, "1/3"),
]


def constraints(shape: tuple[int, ...], depth: int) -> np.ndarray:
    """The indicators of all one-way margins, over the cells in the order of a (*shape, depth) array."""
    cells = list(product(*(range(n) for n in (*shape, depth))))
    return (
        np.array([[cell[axis] == level for cell in cells] for axis in range(len(shape)) for level in range(shape[axis])]) * 1
    )


def lattice(shape: tuple[int, ...], depth: int, radius2: int) -> np.ndarray:
    """All integer tables with margins 0 and |v|² ≤ radius2, by depth-first search over the cells."""
    rows = constraints(shape, depth)
    closing = [[i for i, row in enumerate(rows) if np.flatnonzero(row)[-1] == place] for place in range(rows.shape[1])]
    found: list[list[int]] = []

    def extend(table: list[int], sums: np.ndarray, left: int) -> None:
        place = len(table)
        if place == rows.shape[1]:
            found.append(table)
            return
        reach = isqrt(left)
        forced = {-int(sums[i]) for i in closing[place]}
        for x in range(-reach, reach + 1) if not forced else forced if len(forced) == 1 else ():
            if x * x <= left:
                extend([*table, x], sums + rows[:, place] * x, left - x * x)

    extend([], np.zeros(len(rows), dtype=int), radius2)
    return np.array(found)


def exact_law(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The tables that `SIZE` draws may show, and their probabilities; what the sum leaves out is below 1e-6."""
    shape, depth, sigma2 = case
    tables = lattice(shape, depth, int(2 * float(Fraction(sigma2)) * 15) + 4)
    square = (tables**2).sum(axis=1)
    weights = np.exp(-square / (2 * float(Fraction(sigma2))))
    shown = square <= 2 * float(Fraction(sigma2)) * log(2 * SIZE)
    return tables[shown], weights[shown] / weights.sum()


def draw(case: Case, size: int = SIZE) -> np.ndarray:
    """Draws of the sampler, one a row."""
    shape, depth, sigma2 = case
    if shape == (1,):
        return sum_zero_gaussian(sigma2, np.full(size, depth), system_bits()).reshape(size, depth)
    return margins_gaussian(sigma2, shape, system_bits(), depth=depth, blocks=size).reshape(size, -1)


@pytest.fixture
def follows(counts_fit) -> Callable[[Case, np.ndarray], bool]:
    """Whether draws are compatible with the exact law of the case; the tables not listed are one cell."""

    def compare(case: Case, drawn: np.ndarray) -> bool:
        tables, probabilities = exact_law(case)
        place = {tuple(table): i for i, table in enumerate(tables.tolist())}
        observed = np.zeros(len(tables) + 1)
        distinct, counts = np.unique(drawn, axis=0, return_counts=True)
        for table, count in zip(distinct.tolist(), counts.tolist(), strict=True):
            observed[place.get(tuple(table), -1)] += count
        return counts_fit(observed, np.append(probabilities, max(1 - probabilities.sum(), 1e-12)))

    return compare


@pytest.mark.one_in(6)
@pytest.mark.parametrize("case", [*BLOCKS, *TABLES])
def test_every_law_is_the_enumerated_one(case, follows) -> None:
    assert follows(case, draw(case))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("case", "comb"), [(((1,), 5, "1/2"), 8), (((5, 2), 1, "1/2"), 8), (((3, 3), 1, "1/2"), 8), (((2, 2, 2), 1, "1/2"), 32)]
)
def test_the_law_does_not_depend_on_the_tree(case, comb, follows, monkeypatch) -> None:
    monkeypatch.setattr(margin_gaussian, "_COMBS", (comb,))
    assert follows(case, draw(case))


def skipped(sigma2, nodes, losses, bits) -> np.ndarray:
    return np.ones(losses.size, dtype=bool)


@pytest.mark.parametrize(
    "case", [((1,), 3, "1/4"), ((2, 3), 1, "1/3"), ((3, 3), 1, "2/5"), ((2, 2), 2, "1/3"), ((2, 2, 2), 1, "1/3")]
)
def test_skipping_the_acceptance_is_noticed(case, follows, monkeypatch) -> None:
    monkeypatch.setattr(margin_gaussian, "accept", skipped)
    assert not follows(case, draw(case, 2 * SIZE))


WRONG_NODES = {
    "a variance a fifth too large": lambda nodes: replace(nodes, over=6 * nodes.over, under=5 * nodes.under),
    "the centre 0": lambda nodes: replace(nodes, numerators=0 * nodes.numerators),
    "the centre's sign": lambda nodes: replace(nodes, numerators=-nodes.numerators),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", [((1,), 5, "1"), ((2, 2), 2, "2/5"), ((2, 2, 2), 1, "1/2")])
@pytest.mark.parametrize("wrong", WRONG_NODES)
def test_a_wrong_node_is_noticed(case, wrong, follows, monkeypatch) -> None:
    right = _tree.Proposal.draw
    monkeypatch.setattr(_tree.Proposal, "draw", lambda proposal, nodes: right(proposal, WRONG_NODES[wrong](nodes)))
    assert not follows(case, draw(case))


def test_a_variance_that_is_not_thinned_out_is_noticed(follows, monkeypatch) -> None:
    monkeypatch.setattr(_tree.Proposal, "_keep", lambda proposal, steps, *_: np.ones(steps.size, dtype=bool))
    assert not follows(((1,), 3, "1"), draw(((1,), 3, "1")))


def test_independent_draws_that_are_not_rejected_are_noticed(follows, monkeypatch) -> None:
    case: Case = ((1,), 5, "1/4")
    monkeypatch.setattr(margin_gaussian, "_GOOD_LOSS", -1.0)
    assert follows(case, draw(case))
    monkeypatch.setattr(margin_gaussian, "discrete_gaussian", lambda s, n, bits: scalar.discrete_gaussian(s * 2, n, bits))
    assert not follows(case, draw(case))


@pytest.mark.parametrize("case", [((1,), 3, "1/4"), ((2, 3), 1, "1/3"), ((2, 2), 2, "2/5")])
def test_the_law_is_the_same_in_python_integers(case, follows, monkeypatch) -> None:
    monkeypatch.setattr(_tree, "_ROOM", 0)
    assert follows(case, draw(case))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", [((1,), 3, "1/4"), ((3, 3), 1, "2/5"), ((2, 2), 2, "2/5")])
def test_the_law_is_the_same_where_enclosures_decide_everything(case, follows, monkeypatch) -> None:
    monkeypatch.setattr(_acceptance, "_SLACK", 2.0)
    assert follows(case, draw(case, 800))


def test_drawing_v_again_instead_of_extending_it_is_noticed(counts_fit, monkeypatch) -> None:
    # V is ambiguous below 2A: drawn again it is accepted with probability 2A² instead of A.
    monkeypatch.setattr(_acceptance, "_MARGIN", 1.0)

    def decided(size: int) -> np.ndarray:
        bits, a = system_bits(), Fraction(3, 10)
        yes = _acceptance.below(bits.words(size), np.full(size, float(a)), lambda _: ball(a), bits)
        return np.bincount(yes, minlength=2)

    assert counts_fit(decided(2000), np.array([0.7, 0.3]))
    monkeypatch.setattr(_acceptance, "LazyUniform", lambda bits, value, known: LazyUniform(bits))
    assert not counts_fit(decided(4000), np.array([0.7, 0.3]))


def by_rejection(case: Case, rounds: int = 250_000) -> np.ndarray:
    """The meaning of the samplers: independent discrete Gaussians, of which those with all margins 0 are kept."""
    shape, depth, sigma2 = case
    rows = constraints(shape, depth)
    tables = scalar.discrete_gaussian(sigma2, rounds * rows.shape[1], system_bits()).reshape(rounds, -1)
    for row in rows:
        tables = tables[tables[:, row == 1].sum(axis=1) == 0]
    return tables


def summary(tables: np.ndarray) -> np.ndarray:
    """Two functions of a table in one integer: |v|² and the first cell."""
    return (tables**2).sum(axis=1) * 1000 + tables[:, 0] + 500


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", [((1,), 8, "1"), ((3, 3), 1, "1/2"), ((2, 2, 3), 1, "1/3"), ((2, 3), 2, "1/2")])
def test_the_law_is_that_of_independent_draws_given_the_margins(case) -> None:
    slow = by_rejection(case)
    assert len(slow) > 1000

    def alike(other: Case) -> bool:
        """The chi-square test of homogeneity, for two samples of one size; values seen fewer than 40 times are joined."""
        both = [summary(slow), summary(draw(other, len(slow)))]
        values = np.unique(np.concatenate(both))
        counts = np.array([np.bincount(np.searchsorted(values, part), minlength=values.size) for part in both])
        frequent = counts.sum(axis=0) >= 40
        first, second = np.column_stack([counts[:, frequent], counts[:, ~frequent].sum(axis=1)])
        statistic = float(((first - second) ** 2 / np.maximum(first + second, 1)).sum())
        return float((arb(statistic) / 2).gamma_upper(arb(first.size - 1) / 2, regularized=1)) > 1e-9

    assert alike(case)
    assert not alike((*case[:2], str(Fraction(case[2]) * Fraction(4, 3))))


WIDE: list[Case] = [((1,), 11, "20"), ((5, 6), 1, "20"), ((3, 2, 3), 1, "20"), ((3, 3), 3, "20")]


def covariances_fit(case: Case, drawn: np.ndarray) -> bool:
    """Whether V'V/(n sigma2) is the projector onto the lattice's span, entries and trace within 7 standard errors."""
    rows = constraints(*case[:2]).astype(float)
    projector = np.eye(rows.shape[1]) - np.linalg.pinv(rows) @ rows
    found = drawn.T.astype(float) @ drawn / (len(drawn) * float(Fraction(case[2])))
    spread = np.sqrt((np.outer(projector.diagonal(), projector.diagonal()) + projector**2) / len(drawn))
    off = found - projector
    return bool((np.abs(off) < 7 * spread).all() and abs(off.trace()) < 7 * np.sqrt(2 * projector.trace() / len(drawn)))


@pytest.mark.parametrize("case", WIDE)
def test_larger_tables_have_the_covariances_of_the_lattice(case, monkeypatch) -> None:
    assert covariances_fit(case, draw(case, 2000))
    right = _tree.Proposal.draw
    for wrong in WRONG_NODES.values():
        monkeypatch.setattr(_tree.Proposal, "draw", lambda proposal, nodes, wrong=wrong: right(proposal, wrong(nodes)))
        assert not covariances_fit(case, draw(case, 2000))


@pytest.mark.parametrize(
    "case", [((1,), 6, "3"), ((3, 4), 1, "3"), ((2, 2, 2), 1, "4"), ((4, 3), 3, "2"), ((3, 3), 1, "1/2")]
)
def test_intervals_cover_and_the_next_smaller_ones_do_not(case) -> None:
    cell, drawn = margins_cell(case[2], *case[:2]), np.abs(draw(case)[:, 0])
    for coverage in (0.5, 0.95, 0.99):
        w, slack = cell.half_width(coverage), 7 * np.sqrt(coverage * (1 - coverage) / SIZE)
        assert np.mean(drawn <= w) >= coverage - slack
        if cell.distortion < 0.01:
            assert np.mean(drawn <= w - 1) < coverage + slack


@pytest.mark.parametrize(
    "case",
    [((1,), 3, "0.3"), ((2, 2), 1, "1"), ((3, 3), 1, "0.4"), ((2, 4), 1, "0.7"), ((2, 2), 2, "0.4"), ((2, 2, 2), 1, "0.5")],
)
def test_a_cell_has_the_law_that_its_bounds_promise(case) -> None:
    """By enumeration: r_k lies in [1 - η, 1], the tails and the variance below their bounds; and η is not idle."""
    shape, depth, sigma2 = case
    s, cell = float(Fraction(sigma2)), margins_cell(sigma2, shape, depth)
    tables = lattice(shape, depth, int(30 * s) + 6)
    weights = np.exp(-(tables**2).sum(axis=1) / (2 * s))
    first, weights = np.abs(tables[:, 0]), weights / weights.sum()
    mass = np.bincount(first, weights) / np.where(np.arange(first.max() + 1) > 0, 2, 1)
    k = np.arange(3)
    r = mass[:3] * np.exp(k * k / (2 * s * float(cell.projected))) / mass[0]
    assert (1 - cell.distortion - 1e-3 <= r).all()
    assert (r <= 1 + 1e-3).all()
    assert r.min() < 1 - 1e-3 or cell.distortion < 1e-2
    assert (weights * first**2).sum() <= cell.variance() + 1e-4
    for w in range(4):
        assert weights[first > w].sum() <= cell.tail(w) + 1e-5
    for coverage in ("0", "0.5", "0.9", "0.99"):
        assert weights[first <= cell.half_width(coverage)].sum() >= float(coverage) - 1e-5
