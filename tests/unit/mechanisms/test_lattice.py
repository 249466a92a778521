"""Which noises on a lattice are offered for which totals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms._runs import pieces_of
from discreet.mechanisms.base import Lattice, Vector
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.lattice_laplace import LatticeLaplace
from discreet.mechanisms.projected_laplace import ProjectedLaplace
from discreet.mechanisms.registry import candidates
from discreet.mechanisms.rounded_lattice import RoundedLattice
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.mechanisms.sum_zero import PairedLaplace
from discreet.noise.bits import system_bits
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.totals.structure import Blocks, Kernel, Structure, Table, Tables

PAIRED = Table(np.arange(6).reshape(2, 3, 1), None)
WIDER = Table(np.arange(6, 15).reshape(3, 3, 1), None)


def laws(*tables: Table) -> list[object]:
    cells = sum(table.order.size for table in tables)
    answer = Vector(cells, None, Lattice(Tables(cells, tables), 1))
    return [noise for _, noise in candidates(answer, Sensitivity(4, 4), PureDP(1)) if noise.independent is None]


def test_paired_noise_needs_two_rows_in_every_table() -> None:
    (law,) = laws(PAIRED)
    assert isinstance(law, PairedLaplace)
    assert law.scale == Fraction(2)
    assert [type(law) for law in laws(PAIRED, WIDER)] == [LatticeLaplace, ProjectedLaplace]
    assert not any(isinstance(law, PairedLaplace) for law in laws(Table(np.arange(9).reshape(3, 3, 1), None)))


def test_a_lattice_gaussian_is_offered_up_to_the_variance_that_is_drawn() -> None:
    blocks = Blocks(5, np.array([4, 1, 2, 0, 3]), np.array([2, 3]), None)
    most = Fraction(10**34) / blocks.size
    assert LatticeGaussian(blocks, most).can_be_drawn()
    assert not LatticeGaussian(blocks, most * (1 + Fraction(1, 10**9))).can_be_drawn()


def test_heaps_are_parted_into_sixteen_pieces_or_into_a_million_candidates() -> None:
    assert [pieces_of(size) for size in (1, 2**16, 2**16 + 1, 2**17, 2**20, 2**21)] == [16, 16, 15, 8, 1, 1]


TWO = Tables(4, (Table(np.arange(4).reshape(2, 2, 1), None),))
THREE = Tables(9, (Table(np.arange(9).reshape(3, 3, 1), None),))


def offered(structure: Structure, l2_squared: int, guarantee: GDP | ZCDP) -> list[tuple[str, float]]:
    answer = Vector(structure.cells, None, Lattice(structure, 3))
    return [(noise.words.name, variance) for variance, noise in candidates(answer, Sensitivity(4, l2_squared), guarantee)]


@pytest.mark.parametrize(
    ("structure", "l2_squared", "least", "plain"), [(TWO, 4, 1.0833, 4.0833), (THREE, 6, 2.7801, 6.0833)]
)
def test_a_rounded_gaussian_keeps_the_totals_at_less_variance(
    structure: Structure, l2_squared: int, least: float, plain: float
) -> None:
    (first, variance), (other, more) = offered(structure, l2_squared, GDP(1))
    assert (first, other) == ("rounded Gaussian on the lattice", "rounded Gaussian")
    assert (variance, more) == (pytest.approx(least, abs=1e-4), pytest.approx(plain, abs=1e-4))


def test_a_gaussian_on_the_lattice_is_preferred_under_zcdp_where_it_can_be_drawn() -> None:
    names = [name for name, _ in offered(THREE, 6, ZCDP("1/2"))]
    assert names == ["Gaussian on the lattice", "rounded Gaussian"]
    large = Tables(10_000, (Table(np.arange(10_000).reshape(100, 100, 1), None),))
    assert {name for name, _ in offered(large, 6, ZCDP(30))} == {"rounded Gaussian on the lattice", "rounded Gaussian"}


@pytest.mark.parametrize("mu", [1, 3, 5, 8])
def test_totals_are_kept_also_where_the_noise_is_narrow(mu: int) -> None:
    """A bound of the variance that is too large would prefer independent noise, which keeps no totals."""
    for table in (Table(np.arange(4).reshape(2, 2, 1), None), PAIRED):
        structure = Tables(table.order.size, (table,))
        assert [name for name, _ in offered(structure, 4, GDP(mu))] == [
            "rounded Gaussian on the lattice",
            "rounded Gaussian",
        ]


def test_a_general_lattice_has_a_rounded_gaussian_unless_it_is_too_large() -> None:
    weights = Kernel(6, np.arange(6), np.array([[1] * 6, [0, 1, 2, 3, 1, 2]]))
    assert [name for name, _ in offered(weights, 8, GDP(1))] == ["rounded Gaussian on the lattice", "rounded Gaussian"]
    noise = RoundedLattice(weights, Fraction(8))
    drawn = noise.apply(np.zeros(6, dtype=np.int64), system_bits())
    assert not (weights.equations @ drawn).any()
    wide = Kernel(600, np.arange(600), np.ones((1, 600), dtype=np.int64))
    assert [name for name, _ in offered(wide, 8, GDP(1))] == ["rounded Gaussian"]
