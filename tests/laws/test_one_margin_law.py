"""Tests beside the exact totals of one column: the law of one cell of a block, the size by enumeration, planted errors."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, comb, exp

import numpy as np
import pytest

from discreet.noise.bits import system_bits
from discreet.noise.lattice.nearest_plane import rounded_sum_zero
from discreet.noise.lattice.nearest_plane_laws import entries_of
from discreet.noise.lattice.sum_zero_laws import SumZeroLaplaceCell
from discreet.releases.hypotheses.estimated_margins import Part
from discreet.releases.hypotheses.one_margin import BlockCell, OneMargin, block_law
from discreet.releases.hypotheses.search import Box, rejects

REACH = 9


def masses_of_block(*, squared, parameter, cells):
    """The law of the first cell, by a sum over all vectors that add up to 0."""
    found = {}
    for others in product(range(-REACH, REACH + 1), repeat=cells - 1):
        first = -sum(others)
        if abs(first) <= REACH:
            far = sum(v**2 / 2 if squared else abs(v) for v in (first, *others))
            found[first] = found.get(first, 0.0) + exp(-far / float(parameter))
    whole = sum(found.values())
    return {k: mass / whole for k, mass in found.items()}


@pytest.mark.parametrize(("squared", "parameter"), [(False, Fraction(1, 2)), (True, Fraction(2))])
@pytest.mark.parametrize("cells", [2, 3, 4])
def test_one_cell_has_the_law_of_all_vectors(squared, parameter, cells):
    masses = masses_of_block(squared=squared, parameter=parameter, cells=cells)
    law = BlockCell(squared, parameter, cells)
    for k in range(6):
        true = sum(mass for v, mass in masses.items() if abs(v) > k)
        assert float(law.rough_tails(np.array([k]))[0]) == pytest.approx(true, abs=1e-7)
    assert law.variance() == pytest.approx(sum(v**2 * mass for v, mass in masses.items()), abs=1e-5)


@pytest.mark.parametrize(("scale", "cells"), [(Fraction(8), 3), (Fraction(3), 400), (Fraction(400), 5)])
def test_one_cell_of_a_large_block_has_the_certified_law(scale, cells):
    law, certified = BlockCell(False, scale, cells), SumZeroLaplaceCell(scale, cells)
    for k in (0, 1, 7, 40):
        low, high = certified.tail(k)
        assert low - 1e-13 <= float(law.rough_tails(np.array([k]))[0]) <= high + 1e-13
    assert law.half_width("0.99999999999") >= certified.half_width("0.99999999999")
    assert law.variance() >= certified.variance() * (1 - 1e-9)


def test_rounded_cells_are_near_the_law_that_is_said():
    """Each draw is within `off` of a normal number: so no more are beyond a bound than of these, at a rate of 1e-6."""
    sigma2, cells, times = Fraction(9), 5, 40_000
    law, off = block_law({"noise": "rounded Gaussian on the lattice", "variance": "9"}, cells)
    drawn = np.asarray(rounded_sum_zero(sigma2, np.full(times, cells), system_bits())).reshape(times, cells)
    assert 0.5 + float(entries_of((1,), cells)[1].max()) / 2 < off < 2  # half of its entries, and its own rounding
    for k in (2, 4, 6):
        beyond = float(law.rough_tails(np.array([int(np.floor(k - off))]))[0])
        for cell in range(cells):
            assert np.mean(np.abs(drawn[:, cell]) > k) <= beyond + 5 * (beyond / times) ** 0.5
    exactly, none = block_law({"noise": "rounded Gaussian on the lattice", "variance": "9"}, 2)
    assert none == 0
    assert exactly.sigma2 == Fraction(9, 2)


def size(level, law, used, *, share, totals=(6, 5), least=1e-6, plugged=False):
    """P(rejected) where the first level of a column has the same share in both groups, by a sum over counts and noise."""
    masses = masses_of_block(squared=False, parameter=law.parameter, cells=law.cells)
    published = []
    for rows in totals:
        found = {}
        for h in range(rows + 1):
            chance = comb(rows, h) * share**h * (1 - share) ** (rows - h)
            for k, mass in masses.items():
                found[h + k] = found.get(h + k, 0.0) + chance * mass
        published.append({y: chance for y, chance in found.items() if chance > least})
    total = 0.0
    for (one, chance), (other, also) in product(published[0].items(), published[1].items()):
        table = OneMargin(False, (0, 1), np.array(totals), np.array([[one], [other]]), used, 0.0)
        found = table.association((0, 0), "two-sided")
        total += chance * also * (_at_published(found, level) if plugged else rejects(found, level, 16))
    return total


def _at_published(one, level):
    """A rejection that takes the published margin for the true one."""
    point = (one.whole.published, one.row.published, min(max(one.column.published, 0), one.whole.published))
    return one.above(Box(point, point), 1e-9, level) <= level


def test_a_table_beside_one_margin_keeps_its_level():
    law = BlockCell(False, Fraction(1, 2), 3)
    assert 0.01 < size(0.3, law, law, share=0.5) <= 0.3
    assert size(0.1, law, law, share=0.2) <= 0.1


def test_the_size_notices_noise_that_is_ignored():
    law = BlockCell(False, Fraction(2), 3)
    assert size(0.2, law, BlockCell(False, Fraction(1, 5), 3), share=0.5, totals=(4, 4), least=0.02, plugged=True) > 0.3


def test_the_column_has_the_noise_of_all_groups():
    """A part that forgets a group, or what a noise may be off, has a narrower box."""
    law = BlockCell(False, Fraction(2), 3)
    table = OneMargin(False, (0, 1, 2), np.array([20, 20, 20]), np.array([[9], [10], [11]]), law, 0.0)
    one = table.association((1, 0), "two-sided")
    assert len(one.column.laws) == 3
    assert one.row.laws == one.whole.laws == ()
    assert Part(30, one.column.laws, 0.7).half_width(0.01) == one.column.half_width(0.01) + 3
    r, c = 1 / 3, 0.5
    factors = sorted(abs(term.factor) for term in one._terms(r, c) for _ in range(term.times))
    assert factors == pytest.approx([1 / 3, 1 / 3, 2 / 3])


def test_a_rounded_cell_is_as_far_from_its_gaussian_as_is_said():
    """Of four cells some have more mass beyond 1 than a rounded Gaussian; moved by what is said, it has more than they."""
    times, variance, cells = 100_000, Fraction(1, 3), 4
    written = {"noise": "rounded Gaussian on the lattice", "variance": "1/3"}
    law, off = block_law(written, cells)
    drawn = np.asarray(rounded_sum_zero(variance, np.full(times, cells), system_bits())).reshape(times, cells)
    for k in (0, 1):
        seen = (np.abs(drawn) > k).mean(axis=0).max()
        beyond = ceil(k + 1 - off) - 1  # the rounded Gaussian is larger than this where a cell is larger than k
        assert beyond < 0 or seen <= law.tail(beyond)[1]
    # 0.0048 and 0.0027: at least six standard deviations of the 100,000 draws are between them.
    assert seen > 1.25 * law.tail(1)[1]
    assert off >= 1
