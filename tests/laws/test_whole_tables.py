"""Tables that are measured whole: what neighbours can tell, cells and their noise by dense matrices, and mutants."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import EffectCounts, WholeTable
from discreet.mechanisms import law_of_cell
from discreet.mechanisms.effects import effects_of
from discreet.noise.bits import system_bits
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.quotes.allocate import quote
from discreet.statistics import effects as effects_room
from discreet.statistics import table_axes
from discreet.statistics import whole_effects as room
from discreet.statistics.effects import cells_of
from discreet.statistics.filled import blocks_of_cells
from discreet.statistics.whole_effects import (
    MeasuredTable,
    WholeTables,
    best_weights,
    effects_from,
    halves_of_whole,
    noises_of,
    variance_of_effect,
)
from discreet.statistics.whole_shares import divide_for_errors, divide_whole
from discreet.totals.exact_totals import exact_totals_of

from . import literal_rows
from .changed_tables import farthest

pytestmark = pytest.mark.one_in(2)  # the others run with make test-slow

SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p"]), c=dp.Category(["u"]))
TABLES = [["a", "b"], ["b", "c"], ["a", "c"], ["a"]]
ROWS = 3
LEVEL = Fraction(95, 100)


# What neighbours can tell ---------------------------------------------------------------------------------------------


def request(neighbours, tables=TABLES, **conditions):
    table = dp.Table(SCHEMA, neighbours)
    return (table.where(conditions) if conditions else table).agg(dp.tables(*tables))


def scaled(quoted, *, power):
    """For every row its contributions to all answers, over the scale of the noise: distances are ε, or μ."""
    found = []
    for values in product(("x", "y", None), ("p", None), ("u", None)):
        row = dict(zip("abc", values, strict=True))
        counts, parts = literal_rows.passes(quoted.plan, row), []
        for one in quoted.measured:
            assert isinstance(one.query, WholeTable)
            law = law_of_cell(one.law)
            scale = float(law.scale) if power == 1 else float(law.sigma2) ** 0.5
            added = np.zeros(sum(one.query.widths()))
            for _, place, amount in literal_rows.parts(one.query, quoted.plan, row) if counts else ():
                added[place] += amount / scale
            parts += added.tolist()
        found.append(parts)
    return np.array(found)


SPENDS = {1: dp.PureDP(1), 2: dp.ZCDP("1/2")}


def few(monkeypatch, power):
    """Gaussian noise measures tables whole where effects are too many."""
    if power == 2:
        monkeypatch.setattr(table_axes, "_MOST_EFFECTS", 0)


@pytest.mark.parametrize("conditions", [{}, {"a": ["x"]}], ids=str)
@pytest.mark.parametrize("power", [1, 2])
def test_all_neighbours_together_cost_exactly_the_spend(conditions, power, monkeypatch):
    few(monkeypatch, power)
    near = 1e-6 if power == 2 else 1e-9
    appearing = scaled(quote(request(dp.AddRemove(), **conditions), SPENDS[power]), power=power)
    assert (np.abs(appearing) ** power).sum(axis=1).max() == pytest.approx(1, rel=near)
    replaced = scaled(quote(request(dp.ReplaceOne(rows=ROWS), **conditions), SPENDS[power]), power=power)
    assert farthest(replaced, [()] * 12, changed=1, rows=ROWS, power=power) == pytest.approx(1, rel=near)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("columns", [("a",), ("a", "b")], ids=str)
def test_beside_totals_the_spend_covers_all_rows_that_keep_them(columns, power, monkeypatch):
    few(monkeypatch, power)
    totals = exact_totals_of(dp.Totals(*columns), SCHEMA, None, ROWS)
    quoted = quote(request(dp.ReplaceOne(rows=ROWS)), SPENDS[power], totals)
    rows = [dict(zip("abc", one, strict=True)) for one in product(("x", "y", None), ("p", None), ("u", None))]
    kept = [[tuple(row[name] for name in columns)] for row in rows]
    found = farthest(scaled(quoted, power=power), kept, changed=totals.adjacency.a, rows=ROWS, power=power)
    assert 0.49 < found <= 1 + 1e-6


def test_a_charge_that_forgets_a_table_would_be_noticed():
    """The mutant: noise of the share of one table for all of them."""
    quoted = quote(request(dp.AddRemove()), SPENDS[1])
    found = scaled(quoted, power=1).copy()
    found[:, sum(quoted.measured[0].query.widths()) :] *= 1.1
    assert np.abs(found).sum(axis=1).max() > 1.01


# Cells and their noise ------------------------------------------------------------------------------------------------

SIZES = (3, 2, 4)
AXES = ((0, 1), (1, 2), (0,), (2, 0))
FILLS = {0: (3, 1), 2: (1, 2, 0)}


def measured(laplace, times=4):
    laws = [
        DiscreteLaplace(Fraction(9 + place)) if laplace else RoundedGaussian(Fraction(10**8 * (1 + place)))
        for place in range(4)
    ]
    return tuple(MeasuredTable(axes, None, times, law) for axes, law in zip(AXES, laws, strict=True))


def domain(laplace=True, known=()):
    effects = effects_of(SIZES, AXES)
    tables = measured(laplace)
    noisy = [part for part in effects.parts if part not in known]
    return WholeTables(effects, tables, best_weights(effects, tables, noisy))


def margin(table, fills):
    """The matrix from the joint table to the printed cells of one of its margins, in the order of its axes."""
    found = np.ones((1, 1))
    for axis, size in enumerate(SIZES):
        own = np.ones((1, size))
        if axis in table:
            own = np.eye(size)
            if axis in fills:
                own = np.hstack([np.eye(size - 1), np.array(fills[axis])[:, None] / sum(fills[axis])])
        found = np.kron(found, own)
    ascending = sorted(table)
    shape = [SIZES[axis] - (axis in fills) for axis in ascending]
    rows = found.reshape(*shape, -1).transpose([*(ascending.index(axis) for axis in table), len(shape)])
    return rows.reshape(-1, prod(SIZES))


def dense(whole, table, fills):
    """The generalised least-squares weights of each measured number in each cell, and the variance of each cell."""
    rows = [margin(one.axes, {}) / float(one.variance) ** 0.5 for one in whole.tables]
    matrix = np.concatenate(rows)
    best = np.linalg.pinv(matrix.T @ matrix, rcond=1e-12, hermitian=True)
    own = margin(table, fills)
    weights = own @ best @ matrix.T
    scales = np.concatenate(
        [np.full(len(row), float(one.variance) ** 0.5) for row, one in zip(rows, whole.tables, strict=True)]
    )
    return weights / scales, np.diag(own @ best @ own.T)


def weights_in_cells(whole, fills):
    """The exact weights of each measured number in each cell of each table: of unit answers, one after the other."""
    found = [[] for _ in AXES]
    for place, one in enumerate(whole.tables):
        shape = [SIZES[axis] for axis in one.axes]
        for cell in range(prod(shape)):
            tables = []
            for other, each in enumerate(whole.tables):
                values = np.zeros(prod(SIZES[axis] for axis in each.axes), dtype=np.int64)
                values[cell if other == place else slice(0, 0)] = 1
                tables.append(
                    MeasuredTable(each.axes, values.reshape([SIZES[axis] for axis in each.axes]), each.times, each.law)
                )
            given = WholeTables(whole.effects, tuple(tables), whole.weights)
            missing = {
                part: effects_room.MeasuredEffect(np.zeros([SIZES[axis] - 0 for axis in part], dtype=np.int64), 1, None)
                for part in whole.effects.parts
                if part not in whole.weights
            }
            cells = cells_of(whole.effects, AXES, effects_from(given) | missing, fills)
            for column, (values, denominator) in zip(found, cells, strict=True):
                column.append([float(Fraction(int(one), int(denominator))) for one in values.ravel()])
    return [np.array(one).T for one in found]


@pytest.mark.parametrize("fills", [{}, FILLS], ids=str)
@pytest.mark.parametrize("laplace", [True, False])
def test_cells_are_the_least_squares_estimate(fills, laplace):
    whole = domain(laplace)
    for table, exact in zip(AXES, weights_in_cells(whole, fills), strict=True):
        best, variances = dense(whole, table, fills)
        assert exact * whole.tables[0].times == pytest.approx(best, abs=1e-6)
        each = np.concatenate([np.full(prod(SIZES[axis] for axis in one.axes), float(one.variance)) for one in whole.tables])
        own = (exact * whole.tables[0].times) ** 2 @ each
        assert own == pytest.approx(variances, rel=1e-5)


def columns_of(whole):
    ends = np.cumsum([0, *(prod(SIZES[axis] for axis in one.axes) for one in whole.tables)])
    return [slice(*pair) for pair in pairwise(ends)]


def check_noises(fills):
    whole = domain()
    for place, (table, exact) in enumerate(zip(AXES, weights_in_cells(whole, fills), strict=True)):
        shape = [SIZES[axis] - (axis in fills) for axis in table]
        flat = np.arange(prod(shape)).reshape(shape)
        for cells in blocks_of_cells(SIZES, table, fills):
            rows = exact[flat[cells.index].ravel()]
            told = noises_of(whole, table, cells)
            for other, own in enumerate(columns_of(whole)):
                squares, largest = (rows[:, own] ** 2).sum(axis=1), np.abs(rows[:, own]).max(axis=1)
                assert squares.max() <= told.squares[other] * (1 + 1e-12)
                assert told.squares[other] <= squares.max() * (1 + 1e-6) + 1e-15
                assert largest.max() <= told.largest[other] * (1 + 1e-12)
            assert told.alone is not None
            assert told.alone[0] == place
            numbers = np.arange(prod(SIZES[axis] for axis in table)).reshape([SIZES[axis] for axis in table])
            for axis in (axis for axis in table if axis in fills):
                numbers = numbers.take(range(SIZES[axis] - 1), axis=table.index(axis))
            at = numbers[cells.index].ravel()
            mine = rows[:, columns_of(whole)[place]][np.arange(len(at)), at]
            assert told.alone[1] <= mine.min() <= mine.max() <= told.alone[2]
            assert told.alone[2] <= mine.min() * (1 + 1e-6)


@pytest.mark.parametrize("fills", [{}, FILLS], ids=str)
def test_what_is_said_of_the_weights_is_what_they_are(fills):
    check_noises(fills)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_largest_of", lambda right: lambda *given: right(*given) * 0.9),
        ("gain_of", lambda right: lambda *given: right(*given) * Fraction(9, 10)),
        ("_at_level", lambda right: lambda *given: right(*given) * 1.01),
        ("_outside", lambda right: lambda effects, part, axes: right(effects, part, axes) if part else 1),
    ],
    ids=["largest", "squares", "own number", "outside"],
)
def test_a_bound_of_the_weights_that_is_wrong_is_caught(name, wrong, monkeypatch):
    monkeypatch.setattr(room, name, wrong(getattr(room, name)))
    with pytest.raises(AssertionError):
        check_noises(FILLS)


def test_effects_that_are_public_have_no_noise():
    """The number of rows is public: no table counts in it, and the variance of cells is less."""
    whole = domain(known=((),))
    assert () not in whole.weights
    for fills in ({}, FILLS):
        for own, every in zip(
            halves_of_whole(whole, AXES, fills, LEVEL), halves_of_whole(domain(), AXES, fills, LEVEL), strict=True
        ):
            # The bound is of the moments: it may be a little wider where less of the noise is in one number.
            assert all(half < more * 1.05 for (_, half), (_, more) in zip(own, every, strict=True))


@pytest.mark.parametrize("fills", [{}, FILLS], ids=str)
@pytest.mark.parametrize("laplace", [True, False])
def test_intervals_contain_what_is_drawn(fills, laplace):
    whole = domain(laplace)
    draws, bits = 3000, system_bits()
    noise = np.concatenate(
        [one.law.sample(draws * prod(SIZES[axis] for axis in one.axes), bits).reshape(-1, draws) for one in whole.tables]
    )
    most = 0.05 + 7 * (0.05 * 0.95 / draws) ** 0.5  # a cell that misses in 5 % has more with a probability of 4e-11
    for table, exact, halves in zip(
        AXES, weights_in_cells(whole, fills), halves_of_whole(whole, AXES, fills, LEVEL), strict=True
    ):
        shape = [SIZES[axis] - (axis in fills) for axis in table]
        errors = np.abs(exact @ noise.astype(float)).reshape(*shape, draws)
        for cells, half in halves:
            missed = (errors[cells.index] > float(half)).mean(axis=-1)
            assert missed.max() <= most
            # The widths are near: with six tenths of them too many would miss. At least 12 % do, 7 standard errors above.
            assert (errors[cells.index] > float(half) / 1.7).mean(axis=-1).max() > most


def test_the_variance_of_an_effect_is_that_of_its_weights():
    whole = domain()
    for part in whole.weights:
        pinned = 1 / sum(
            1 / (float(one.variance) * prod(SIZES[axis] for axis in one.axes if axis not in part))
            for one in whole.tables
            if set(part) <= set(one.axes)
        )
        assert pinned <= float(variance_of_effect(whole, part)) <= pinned * (1 + 1e-6)


# How the spend is divided ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [2, 1])
def test_no_other_division_near_it_has_a_smaller_sum(power):
    effects = effects_of(SIZES, AXES)
    generator = np.random.default_rng(3)
    worth = dict(zip(effects.parts, generator.uniform(0.5, 3, len(effects.parts)).tolist(), strict=True))

    def total(shares):
        shares = np.array(shares) / sum(shares)
        found = 0.0
        for part, value in worth.items():
            told = sum(
                share**power / prod(SIZES[axis] for axis in axes if axis not in part)
                for share, axes in zip(shares, AXES, strict=True)
                if set(part) <= set(axes)
            )
            found += value / told
        return found

    start = [12 ** (1 / 3), 8 ** (1 / 3), 3 ** (1 / 3), 12 ** (1 / 3)]
    best = divide_whole(effects, AXES, worth, start, power)
    assert total(best) <= total(start)
    for _ in range(100):
        assert total(np.array(best) * np.exp(generator.normal(0, 0.03, 4))) >= total(best) * (1 - 1e-4)


def test_a_division_for_errors_makes_quotients_alike():
    effects = effects_of(SIZES, AXES)
    errors = [2.0, 1.0, 0.5, 3.0]
    cells = []
    for axes, error in zip(AXES, errors, strict=True):
        own = {}
        for part in effects.parts:
            if set(part) <= set(axes):
                own[part] = prod((1 - 1 / SIZES[axis]) if axis in part else 1 / SIZES[axis] ** 2 for axis in axes) / error**2
        cells.append(own)
    start = [1 / error for error in errors]
    found = np.array(divide_for_errors(effects, AXES, cells, start, 2))

    def largest(shares):
        shares = shares / shares.sum()
        told = {
            part: sum(
                share**2 / prod(SIZES[axis] for axis in axes if axis not in part)
                for share, axes in zip(shares, AXES, strict=True)
                if set(part) <= set(axes)
            )
            for part in effects.parts
        }
        return max(sum(value / told[part] for part, value in own.items()) for own in cells)

    assert largest(found) <= largest(np.array(start)) * (1 + 1e-9)
    generator = np.random.default_rng(4)
    assert min(largest(found * np.exp(generator.normal(0, 0.05, 4))) for _ in range(100)) >= largest(found) * 0.98


def test_tables_of_the_same_columns_are_measured_once():
    quoted = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(dp.tables(["a", "b"], ["b", "a"])), SPENDS[1])
    assert len(quoted.measured) == 1
    one = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(dp.tables(["a", "b"])), SPENDS[1])
    assert law_of_cell(one.measured[0].law) == law_of_cell(quoted.measured[0].law)


def test_gaussian_noise_measures_effects_where_they_are_few_and_says_else_why_not(monkeypatch):
    assert all(isinstance(one.query, EffectCounts) for one in quote(request(dp.AddRemove()), SPENDS[2]).measured)
    few(monkeypatch, 2)
    said = str(quote(request(dp.AddRemove()), SPENDS[2]))
    assert "each table is measured whole: their effects would be too many" in said
    assert "Laplace noise in effects would be wider" in str(quote(request(dp.AddRemove()), SPENDS[1]))
