"""Which noises on a lattice are offered for which totals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.mechanisms._runs import pieces_of
from discreet.mechanisms.base import Lattice, Vector
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.registry import candidates
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.mechanisms.sum_zero import PairedLaplace
from discreet.privacy import PureDP
from discreet.totals.structure import Blocks, Table, Tables

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
    assert laws(PAIRED, WIDER) == []
    assert not any(isinstance(law, PairedLaplace) for law in laws(Table(np.arange(9).reshape(3, 3, 1), None)))


def test_a_lattice_gaussian_is_offered_up_to_the_variance_that_is_drawn() -> None:
    blocks = Blocks(5, np.array([4, 1, 2, 0, 3]), np.array([2, 3]), None)
    most = Fraction(10**34) / blocks.size
    assert LatticeGaussian(blocks, most).can_be_drawn()
    assert not LatticeGaussian(blocks, most * (1 + Fraction(1, 10**9))).can_be_drawn()


def test_heaps_are_parted_into_sixteen_pieces_or_into_a_million_candidates() -> None:
    assert [pieces_of(size) for size in (1, 2**16, 2**16 + 1, 2**17, 2**20, 2**21)] == [16, 16, 15, 8, 1, 1]
