"""What the lattice Gaussians accept and refuse, the sums that are always 0, their trees, and the bounds of one cell."""

from fractions import Fraction
from math import prod
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.exact.balls import ball, enclosure
from discreet.noise import DiscreteGaussian
from discreet.noise.bits import system_bits
from discreet.noise.lattice import _tree, margin_laws
from discreet.noise.lattice.margin_gaussian import margins_gaussian, sum_zero_gaussian
from discreet.noise.lattice.margin_laws import LatticeGaussianCell, margins_cell, sum_zero_cell
from discreet.noise.single import _acceptance

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def margins(tables: np.ndarray) -> list[np.ndarray]:
    """The one-way margins of (blocks, *shape, depth) tables."""
    axes = range(1, tables.ndim - 1)
    return [tables.sum(axis=tuple(i for i in range(1, tables.ndim) if i != axis)) for axis in axes]


@settings(max_examples=25)
@given(st.lists(st.integers(1, 70), max_size=12), st.sampled_from(["1/5", "1", "4", "1e6", "1e30"]))
@example([100_000], "4")
@example([1], "4")
@example([3, 2, 1], "9e32")  # numerators that int64 does not hold
def test_every_block_sums_to_zero(sizes, sigma2) -> None:
    drawn = sum_zero_gaussian(sigma2, np.array(sizes, dtype=np.int64), system_bits())
    assert drawn.dtype == np.int64
    assert [int(part.astype(object).sum()) for part in np.split(drawn, np.cumsum(sizes)) if part.size] == [0] * len(sizes)


@settings(max_examples=25)
@given(SHAPES, st.integers(1, 4), st.integers(0, 3), st.sampled_from(["5/2", "4", "1e6", "1e27"]))
@example((1, 4), 1, 2, "4")
@example((5, 1, 1), 1, 1, "1e-9")
@example((2,) * 8, 1, 1, "3")
@example((3, 3), 2, 2, "1e32")
def test_every_margin_is_zero(shape, depth, blocks, sigma2) -> None:
    drawn = margins_gaussian(sigma2, shape, system_bits(), depth=depth, blocks=blocks)
    assert drawn.shape == (blocks, *shape, depth)
    assert drawn.dtype == np.int64
    assert not any(margin.any() for margin in margins(drawn))


def test_ten_thousand_tables_have_margins_zero() -> None:
    drawn = margins_gaussian(4, (3, 4, 2), system_bits(), depth=2, blocks=10_000)
    assert not any(margin.any() for margin in margins(drawn))
    assert drawn.any(axis=0).all()  # no cell is forced


@pytest.mark.parametrize(("shape", "depth"), [((1,), 1), ((7,), 1), ((1, 6), 1), ((6, 1), 1), ((1, 1, 3), 1), ((1, 1), 1)])
def test_what_the_margins_determine_is_zero(shape, depth) -> None:
    assert not margins_gaussian(100, shape, system_bits(), depth=depth, blocks=50).any()
    assert margins_cell(100, shape, depth) == LatticeGaussianCell(100, 0, 0)


def test_half_a_million_cells_in_blocks_of_999_sizes_are_drawn_in_few_calls(monkeypatch) -> None:
    calls = []
    around = _tree.discrete_gaussian_around
    monkeypatch.setattr(_tree, "discrete_gaussian_around", lambda *args: calls.append(1) or around(*args))
    sum_zero_gaussian(4, np.arange(1, 1000), system_bits())
    assert len(calls) < 250


def test_huge_variances_have_the_right_spread() -> None:
    drawn = sum_zero_gaussian("1e32", np.full(5000, 3), system_bits()).astype(float)
    assert abs(drawn.var() / (1e32 * 2 / 3) - 1) < 0.1  # 6 standard errors
    tables = margins_gaussian("1e31", (3, 3), system_bits(), blocks=2000).astype(float)
    assert abs(tables.var() / (1e31 * 4 / 9) - 1) < 0.15


@pytest.mark.parametrize("bad", [0, -1, "1e34", float("nan"), True, None])
def test_bad_variances_are_refused(bad) -> None:
    with pytest.raises(ArgumentError, match="sigma2"):
        sum_zero_gaussian(bad, np.array([5]), system_bits())
    with pytest.raises(ArgumentError, match="sigma2"):
        margins_gaussian(bad, (2, 3), system_bits())
    with pytest.raises(ArgumentError, match="sigma2"):
        margins_cell(bad if bad != "1e34" else "1e35", (2, 3))


@pytest.mark.parametrize("bad", [[0, 2], [-1], [[2, 3]], [1.5], ["2"], [2**31], [2**29] * 3])
def test_bad_sizes_are_refused(bad) -> None:
    with pytest.raises(ArgumentError, match="sizes"):
        sum_zero_gaussian(1, np.array(bad), system_bits())


@pytest.mark.parametrize(
    ("shape", "depth", "blocks"), [((), 1, 1), ((2, 0), 1, 1), ((2, 2), 0, 1), ((2**16, 2**16), 1, 1), ((2, 2.5), 1, 1)]
)
def test_bad_shapes_are_refused(shape, depth, blocks) -> None:
    with pytest.raises(ArgumentError, match="shape"):
        margins_gaussian(4, shape, system_bits(), depth=depth, blocks=blocks)
    with pytest.raises(ArgumentError, match="blocks"):
        margins_gaussian(4, (2, 2), system_bits(), blocks=-1)


def test_a_variance_too_small_for_the_table_is_refused_with_one_that_is_enough() -> None:
    with pytest.raises(ArgumentError, match=r"sigma2=0\.5: too small .* at least 1\.\d+: spend less"):
        margins_gaussian("1/2", (300, 333), system_bits())
    with pytest.raises(ArgumentError, match="too small"):
        margins_gaussian("1e-300", (2, 2), system_bits())


@settings(max_examples=40)
@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.sampled_from([2, 8, 32]))
def test_the_stages_take_blocks_apart_into_single_cells(sizes, comb) -> None:
    whole = dict(zip((np.cumsum(sizes) - sizes).tolist(), sizes, strict=True))
    for stage in _tree.stages(np.array(sizes), comb):
        rights = np.broadcast_to(stage.right, stage.start.shape).tolist()
        for start, right in zip(stage.start.tolist(), rights, strict=True):
            assert whole[start] == stage.left + right
            whole[start], whole[start + stage.left] = stage.left, right
            assert stage.left * right >= (stage.left + right) / 2  # no variance below sigma2/2
    assert whole == dict.fromkeys(range(sum(sizes)), 1)


def ratio_by_sums(s: Fraction, c: Fraction) -> Fraction:
    """ρ(Z - c)/ρ(Z), by the sums themselves."""
    reach = int(12 * float(s) ** 0.5) + 5

    def rho(centre: Fraction):
        return sum((-ball((k - centre) ** 2 / (2 * s))).exp() for k in range(-reach, reach + 1))

    return Fraction(enclosure(lambda: rho(c) / rho(Fraction(0)))[0])


@pytest.mark.parametrize("s", [Fraction(1, 64), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
def test_the_acceptance_of_a_node(s) -> None:
    losses = []
    for c in [Fraction(0), Fraction(1, 7), Fraction(1, 3), Fraction(499, 1000), Fraction(1, 2)]:
        exactly = ratio_by_sums(s, c)
        low, high = enclosure(lambda c=c: _acceptance.ratio(s, c), at_most=1.0)
        assert float(exactly) == pytest.approx(low, rel=1e-12)
        assert float(exactly) == pytest.approx(high, rel=1e-12)
        rough = float(_acceptance._losses(np.array([float(s)]), np.array([float(c)]))[0])
        assert rough == pytest.approx(-np.log(float(exactly)), rel=1e-7, abs=1e-13)
        losses.append(rough)
    bound = float(_acceptance.loss_up(np.array([float(s)]))[0])
    assert max(losses) < bound < max(losses) * (1 + 1e-5)


def test_the_bound_of_a_loss_holds_where_it_is_tiny_and_where_it_is_huge() -> None:
    variances = np.array([1e-300, 1e-3, 0.0156, 3.0, 100.0, 1e30])
    bounds = _acceptance.loss_up(variances)
    assert np.isinf(bounds[:3]).all()
    assert 4 * np.exp(-2 * np.pi**2 * 3.0) < bounds[3] < 2**-56
    assert (bounds[4:] > 0).all()
    assert (bounds[4:] < 2**-56).all()


@pytest.mark.parametrize(("shape", "depth", "comb"), [((5, 6), 1, 2), ((7, 11), 1, 8), ((3, 4, 3), 2, 2), ((1, 6), 5, 2)])
def test_the_loss_of_a_table_is_that_of_its_nodes_at_their_worst(shape, depth, comb) -> None:
    sigma2 = Fraction(1)
    proposal = _tree.Proposal(sigma2, system_bits())
    _tree.tables(shape, depth, 1, comb, proposal)
    rank = prod(shape) * depth - 1 - sum(shape) + len(shape)
    assert sum(nodes.numerators.size for nodes in proposal.nodes) == rank
    worst = [
        _acceptance.loss_up(np.broadcast_to(nodes.over / nodes.under, nodes.numerators.shape)).sum()
        for nodes in proposal.nodes
    ]
    assert _tree.tables_loss(sigma2, shape, depth, comb) == pytest.approx(sum(worst), rel=1e-9)
    if depth == 1 and len(shape) == 2:  # the volume: Π 1/factor = det² of the lattice, which is I^(J-1) J^(I-1)
        volume = prod(Fraction(int(nodes.under[0]), int(nodes.over[0])) ** nodes.numerators.size for nodes in proposal.nodes)
        assert volume == shape[0] ** (shape[1] - 1) * shape[1] ** (shape[0] - 1)


def test_the_loss_of_blocks_is_that_of_their_nodes_at_their_worst() -> None:
    sizes = np.array([1, 2, 7, 30, 100])
    proposal = _tree.Proposal(Fraction(1), system_bits())
    _tree.integers(np.zeros(5, dtype=np.int64), sizes, np.arange(5), proposal)
    worst = np.zeros(5)
    for nodes in proposal.nodes:
        np.add.at(worst, nodes.blocks, _acceptance.loss_up(nodes.over / nodes.under))
    assert _tree.integers_loss(Fraction(1), sizes) == pytest.approx(worst, rel=1e-12)


@settings(max_examples=25)
@given(SHAPES, st.integers(1, 4))
@example((2, 2, 2), 1)
@example((20, 30), 1)
def test_the_nodes_below_a_cell_have_the_volume_they_must_have(shape, depth) -> None:
    """det² of the lattice is the product of 1/variance over the sampler's nodes, and over p and the nodes below the cell."""
    p = margins_cell(1, shape, depth).projected
    proposal = _tree.Proposal(Fraction(100), system_bits())
    _tree.tables(shape, depth, 1, 2, proposal)
    sampled = [(Fraction(int(n.over[0]), int(n.under[0])), n.numerators.size) for n in proposal.nodes]
    assert (p == 0) == (not sampled)
    if sampled:
        assert p >= Fraction(1, 4)
        with mock.patch.object(margin_laws, "_LISTED", 10**6):
            below = list(margin_laws._steps(shape, depth))
        assert sum(count for _, count in below) == sum(count for _, count in sampled) - 1
        assert p * prod(f**count for f, count in below) == prod(f**count for f, count in sampled)


def test_nodes_that_are_not_listed_are_rounded_down() -> None:
    short = list(margin_laws._path(100))
    with mock.patch.object(margin_laws, "_LISTED", 100):
        long = list(margin_laws._path(100))
    assert long == [(Fraction(i, i + 1), 1) for i in range(1, 100)]
    assert sum(count for _, count in short) == 99
    assert short[:15] == long[:15]
    assert short[-1][0] <= long[15][0]


def test_one_cell_of_a_block() -> None:
    assert sum_zero_cell(4, 1) == LatticeGaussianCell(4, 0, 0)
    assert sum_zero_cell(4, 2).half_width("0.95") == DiscreteGaussian(2).half_width("0.95")
    assert sum_zero_cell(3, 7).projected == Fraction(6, 7)
    assert sum_zero_cell(4, 100_000).distortion < 1e-15
    assert sum_zero_cell(10, 5) == margins_cell(10, (1,), 5)
    assert sum_zero_cell(10, 5).half_width("0.95") == DiscreteGaussian(8).half_width("0.95")


def test_without_a_distortion_below_one_half_the_sub_gaussian_bound_serves() -> None:
    cell = LatticeGaussianCell(Fraction(9), Fraction(1), 1.0)
    assert cell.half_width("0.95") == 8  # 9² ≥ 2·9·log(40) = 66.4 > 8²
    assert cell.tail(8) == pytest.approx(2 * np.exp(-81 / 18), rel=1e-12)
    assert cell.tail(0) == 1.0
    assert LatticeGaussianCell(Fraction(9), Fraction(0), 1.0).half_width("0.95") == 0
    assert margins_cell("1/4", (20, 20)).distortion == 1.0


@pytest.mark.parametrize(
    "bad", [(1, Fraction(-1, 2), 0.0), (1, Fraction(3, 2), 0.0), (1, Fraction(1, 2), -0.1), (0, 1, 0.5)]
)
def test_bad_cells_are_refused(bad) -> None:
    with pytest.raises(ArgumentError):
        LatticeGaussianCell(*bad)


def test_bad_arguments_of_cells_are_refused() -> None:
    with pytest.raises(ArgumentError, match="size"):
        sum_zero_cell(1, 0)
    with pytest.raises(ArgumentError, match="shape"):
        margins_cell(1, (2, 0))
    with pytest.raises(ArgumentError, match="coverage"):
        sum_zero_cell(1, 3).half_width(1)
    with pytest.raises(ArgumentError, match="k="):
        sum_zero_cell(1, 3).tail(-1)
