"""Many runs in one call are what as many calls would be: the same law, tied in the same way, none lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.audit.draws import KERNEL, NOTHING, Kernel, Randomness, drawer, window_of
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.k_norm import KNormLaplace
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.sum_zero import PairedLaplace, SumZeroLaplace
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import noisy_answers
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.structure import Blocks, Table, Tables
from discreet.totals.structure import Kernel as Equations

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]))
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=20))
TWO = Blocks(7, np.array([6, 1, 2, 0, 4]), np.array([2, 3]), None)
WIDE = Tables(7, (Table(np.array([[[0], [1], [2]], [[3], [4], [6]]]), None),))
LAWS = {
    "Laplace": LaplaceNoise(Fraction(2)),
    "Gaussian": GaussianNoise(Fraction(9)),
    "held": HeldCells(7, np.array([0, 2, 3]), LaplaceNoise(Fraction(2))),
    "blocks, Laplace": SumZeroLaplace(TWO, Fraction(2)),
    "blocks, Gaussian": LatticeGaussian(TWO, Fraction(4)),
    "tables, Laplace": PairedLaplace(WIDE, Fraction(2)),
    "tables, Gaussian": LatticeGaussian(WIDE, Fraction(4)),
}


def windowed(law, moved, size):
    return window_of(asked(law).measured[0], np.array(moved), size)


def asked(law):
    one = quote(TABLE.group_by("g").agg(dp.count()), dp.PureDP(1))
    return replace(one, measured=(replace(one.measured[0], law=law),))


def runs_of(law, window, count, answer=None):
    draw = drawer(KERNEL, asked(law), [window], count)
    values = np.arange(7) * 100 if answer is None else answer
    return np.concatenate(list(draw.run_repeatedly([values], count, system_bits()))), draw


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LAWS)
def test_every_run_is_as_one_call_would_be(name):
    """Cells without noise have none, tied cells add up to 0, and the spread of every cell is that of single calls."""
    law, bits = LAWS[name], system_bits()
    window = windowed(law, [0], 7)
    together, draw = runs_of(law, window, 20_000)
    assert draw.copies > 1
    assert together.shape == (20_000, len(window))
    noise = together - np.arange(7)[window] * 100
    single = np.stack([law.apply(np.zeros(7, dtype=np.int64), bits) for _ in range(80)])
    single = single[:, window].astype(np.float64)
    moved = (single != 0).any(axis=0)
    assert ((noise != 0).any(axis=0) == moved).all()
    # The relative standard error of a variance is 0.016 for Laplace noise: 0.15 is more than nine of them.
    assert noise.var(axis=0)[moved].mean() / law.variance() == pytest.approx(1, abs=0.15)
    ranks = [np.linalg.matrix_rank(part, tol=1e-6) for part in (noise[:4000], single)]
    assert ranks[0] == ranks[1]


def test_a_window_has_all_that_is_tied_to_a_cell():
    many = Blocks(1000, np.arange(1000), np.full(100, 10), None)
    assert set(windowed(SumZeroLaplace(many, Fraction(1)), [505], 1000)) >= set(range(500, 510))
    assert len(windowed(SumZeroLaplace(many, Fraction(1)), [505], 1000)) <= 40
    assert len(windowed(LaplaceNoise(Fraction(1)), [505], 1000)) == 16
    tables = Tables(200, tuple(Table(np.arange(8).reshape(2, 2, 2) + 8 * i, None) for i in range(25)))
    assert set(windowed(LatticeGaussian(tables, Fraction(1)), [100], 200)) >= set(range(96, 104))


def test_a_window_of_some_blocks_draws_these_blocks():
    many = Blocks(40, np.arange(40)[::-1].copy(), np.array([10, 3, 7, 20]), None)
    window = windowed(SumZeroLaplace(many, Fraction(3)), [28], 40)
    draw = drawer(KERNEL, asked(SumZeroLaplace(many, Fraction(3))), [window], 500)
    runs = np.concatenate(list(draw.run_repeatedly([np.zeros(40, dtype=np.int64)], 500, system_bits())))
    for members in (range(27, 30), range(20, 27)):  # the second and the third block, counted from behind
        places = [int(np.flatnonzero(window == cell)[0]) for cell in members if cell in window]
        if places:
            assert len(places) == len(members)
            assert (runs[:, places].sum(axis=1) == 0).all()
    assert runs.any()


def test_the_law_of_independent_cells_is_the_quotes_own():
    law = LaplaceNoise(Fraction(2))
    draw = drawer(KERNEL, asked(law), [np.arange(5)], 100)
    assert draw.quote.measured[0].law is law


@pytest.mark.parametrize("count", [1, 999, 1000, 70_001])
def test_as_many_runs_as_were_asked_for(count):
    together, draw = runs_of(LaplaceNoise(Fraction(1)), np.arange(7), count)
    assert len(together) == count
    counter = iter(range(10**6))
    answers = iter(lambda: [np.full(7, 10**6 * next(counter))], None)
    drawn = np.concatenate(list(draw.runs(answers, min(count, 2000), system_bits())))
    assert (np.rint(drawn[:, 0] / 10**6) == np.arange(len(drawn))).all()
    assert next(counter) == len(drawn)  # no table is drawn in vain, none is used twice


def test_laws_without_copies_run_one_by_one():
    equations = Equations(4, np.arange(4), np.array([[1, 1, 1, 1], [0, 1, 2, 3]]))
    law = LatticeGaussian(equations, Fraction(4))
    draw = drawer(KERNEL, asked(law), [np.array([0, 3])], 50)
    assert draw.copies == 0
    assert np.concatenate(list(draw.run_repeatedly([np.zeros(4, dtype=np.int64)], 50, system_bits()))).shape == (50, 2)
    stands = exact_totals_of(dp.Margins("g", "f"), SCHEMA, None, 20)
    hulls = quote(TABLE.group_by("g", "f").agg(dp.count()), dp.PureDP(2), stands)
    assert isinstance(hulls.measured[0].law, KNormLaplace)
    assert drawer(KERNEL, hulls, [np.arange(9)], 50).copies == 0


def test_the_kernel_is_called_and_nothing_else():
    calls = Counter()

    def noisy(quoted, exact, bits):
        calls["noisy"] += 1
        return [values * 2 for values in exact]

    draw = drawer(Kernel(noisy=noisy), asked(LaplaceNoise(Fraction(1))), [np.arange(7)], 3)
    assert (np.concatenate(list(draw.run_repeatedly([np.arange(7)], 3, system_bits()))) == 2 * np.arange(7)).all()
    assert calls["noisy"] == 1
    assert KERNEL.noisy is noisy_answers


def test_a_source_of_nothing_says_so():
    with pytest.raises(Randomness):
        NOTHING.words(1)
    assert NOTHING.words(0).size == 0
