"""Effects of product domains: integers in, the same tables out, and energies that are those of all changes of rows."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import prod

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.mechanisms import effects as room
from discreet.mechanisms.effect_costs import Changes, cost_of
from discreet.mechanisms.effects import (
    Effects,
    beside,
    effects_of,
    exchanged,
    leaving,
    measure,
    replaced,
    restore,
)
from discreet.mechanisms.shares import best_shares, mu_squared

from .mutants import mutant

pytestmark = pytest.mark.one_in(4)  # the others run with make test-slow


def subsets(columns):
    return [one for many in range(len(columns) + 1) for one in combinations(columns, many)]


def some_effects(sizes, most=3):
    return effects_of(sizes, [one for one in subsets(range(len(sizes))) if len(one) <= most])


def variances_of(effects, seed):
    generator = np.random.default_rng(seed)
    return [Fraction(int(one), 8) for one in generator.integers(1, 60, len(effects.parts))]


REPLACED = Changes(appears=False, leaves=False)


def precisions(variances):
    return [1 / one for one in variances]


def projected(effects, part, row):
    """The effect of one row over the cells of its columns, from the definition."""
    found = np.ones(())
    for axis in part:
        unit = np.zeros(effects.sizes[axis])
        unit[row[axis]] = 1
        found = np.multiply.outer(found, unit - 1 / effects.sizes[axis])
    return found.ravel()


def vectors(effects, variances):
    """For each row its effects, each divided by the deviation of its noise: distances are μ."""
    rows = list(product(*map(range, effects.sizes)))
    parts = zip(effects.parts, variances, strict=True)
    by_part = [[projected(effects, part, row) / float(one) ** 0.5 for row in rows] for part, one in parts]
    return rows, np.hstack([np.array(one) for one in by_part])


def by_brute_force(effects, variances, a, known):
    """The largest μ² of two multisets of a rows for which `known` is equal."""
    rows, at = vectors(effects, variances)
    groups = defaultdict(list)
    for chosen in combinations_with_replacement(range(len(rows)), a):
        groups[known([rows[i] for i in chosen])].append(at[list(chosen)].sum(axis=0))
    return max(
        float(((np.array(group)[:, None] - np.array(group)[None]) ** 2).sum(axis=2).max()) for group in groups.values()
    )


def keeps(*lists):
    """The totals of the lists, of rows given one by one."""
    return lambda rows: tuple(tuple(sorted(tuple(row[axis] for axis in one) for row in rows)) for one in lists)


SIZES = [(2, 3, 2), (3, 2, 4), (2, 2, 2, 2), (4, 3), (1, 3, 2)]


@pytest.mark.parametrize("sizes", SIZES)
def test_one_row_costs_what_enumeration_says(sizes):
    effects = some_effects(sizes)
    for seed in range(3):
        variances = variances_of(effects, seed)
        rows, at = vectors(effects, variances)
        pairs = ((at[:, None] - at[None]) ** 2).sum(axis=2).max()
        exact = mu_squared(replaced(effects), variances)
        assert float(exact) == pytest.approx(pairs, rel=1e-12)
        cost = cost_of(effects, precisions(variances), REPLACED)
        assert (cost.most, cost.exact) == (exact, True)
        assert float(mu_squared(leaving(effects), variances)) == pytest.approx((at**2).sum(axis=1).max(), rel=1e-12)
        other = tuple((row + 1) % effects.sizes[axis] if axis in cost.changed else row for axis, row in enumerate(rows[0]))
        assert ((at[0] - at[rows.index(other)]) ** 2).sum() == pytest.approx(pairs, rel=1e-12)


NESTED = [((2, 3, 2), (0,)), ((3, 2, 2), (1,)), ((2, 2, 3), (0, 1)), ((2, 2, 2), (2,))]


@pytest.mark.parametrize(("sizes", "totals"), NESTED)
def test_one_list_of_totals_costs_four_times_a_change_outside_it(sizes, totals):
    effects = some_effects(sizes)
    for seed in range(2):
        variances = variances_of(effects, seed)
        exact = mu_squared(beside(effects, 2, [totals]), variances)
        assert float(exact) == pytest.approx(by_brute_force(effects, variances, 2, keeps(totals)), rel=1e-12)
        assert (
            cost_of(effects, precisions(variances), Changes(appears=False, leaves=False, kept=(totals,), rows=2)).most
            == exact
        )
        finer = by_brute_force(effects, variances, 2, keeps(totals, totals[:1]))  # nested: the finest says all
        assert float(exact) == pytest.approx(finer, rel=1e-12)


def test_totals_of_some_groups_leave_no_effect_free():
    """Two groups of four are listed: rows of the others can go from one to another, and no effect is constant."""
    effects = some_effects((4, 2))

    def listed(rows):
        return tuple(sorted(row[0] for row in rows if row[0] < 2))

    above = []
    for seed in range(4):
        variances = variances_of(effects, seed)
        exact = by_brute_force(effects, variances, 2, listed)
        assert exact == pytest.approx(float(mu_squared(beside(effects, 2, [()]), variances)), rel=1e-12)
        above.append(exact / float(mu_squared(beside(effects, 2, [(0,)]), variances)))
    assert max(above) > 1.1, "a list of all groups would be charged less"


LISTS = [
    ((2, 2, 2), ((0,), (1,)), 2),
    ((3, 2, 2), ((0,), (1,)), 3),
    ((2, 2, 2), ((0, 1), (1, 2)), 3),
    ((3, 3), ((0,), (1,)), 3),
]


@pytest.mark.parametrize(("sizes", "lists", "a"), LISTS)
def test_several_lists_cost_what_enumeration_says_and_the_bound_is_one(sizes, lists, a):
    effects = some_effects(sizes)
    exact, bound = exchanged(effects, a, lists), beside(effects, a, lists)
    for seed in range(3):
        variances = variances_of(effects, seed)
        true = by_brute_force(effects, variances, a, keeps(*lists))
        assert float(mu_squared(exact, variances)) == pytest.approx(true, rel=1e-12)
        assert float(mu_squared(bound, variances)) >= true * (1 - 1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("sizes", "lists", "a"),
    [((4, 3), ((0,), (1,)), 2), ((3, 2, 5), ((0,), (1,)), 2), ((2, 6), ((0,),), 2), ((4, 4), ((0,), (1,)), 3)],
)
def test_smaller_columns_have_the_same_energies(sizes, lists, a):
    """The domain is cut to a levels of listed columns and 2a of others; enumeration of the whole one says the same."""
    effects = some_effects(sizes)
    for seed in range(2):
        variances = variances_of(effects, seed)
        found = mu_squared(exchanged(effects, a, lists), variances)
        assert float(found) == pytest.approx(by_brute_force(effects, variances, a, keeps(*lists)), rel=1e-12)


UNDERCHARGED = {
    "changes outside all lists alone": (
        beside,
        "replaced(effects, one) for one in lists",
        "replaced(effects, sum(lists, ())) for _ in lists",
    ),
    "a factor 4 for lists that are not nested": (beside, "a * a * energy", "4 * energy"),
    "columns of lists cut to two levels": (exchanged, "a if axis in listed", "2 if axis in listed"),
    "totals of cells that are not published": (exchanged, "_sums(shape, lists)", "_sums(shape, [tuple(range(len(shape)))])"),
}


@pytest.mark.parametrize("name", UNDERCHARGED)
def test_a_charge_that_is_too_small_is_noticed(name):
    function, old, new = UNDERCHARGED[name]
    sizes, lists = (3, 3), ((0,), (1,))
    effects = some_effects(sizes)
    if "4" in name:
        sizes, lists = (3, 3, 2), ((0,), (1,))
        effects = some_effects(sizes)
    variances = [Fraction(1)] * len(effects.parts)
    known = Fraction(by_brute_force(effects, variances, 3, keeps(*lists)))
    assert mu_squared(mutant(function, old, new)(effects, 3, lists), variances) < known * Fraction(99, 100)


def test_the_empty_effect_is_charged_where_rows_appear():
    effects = effects_of((2, 3), [(0, 1)])
    assert effects.parts == ((), (0,), (1,), (0, 1))
    assert leaving(effects)[0][0] == 1
    assert all(one[0] == 0 for one in replaced(effects))


@pytest.mark.parametrize("sizes", SIZES)
def test_tables_come_back_from_their_effects_and_agree(sizes):
    generator = np.random.default_rng(3)
    counts = generator.integers(0, 1000, sizes)
    tables = [one for one in subsets(range(len(sizes))) if len(one) >= 1]
    effects = effects_of(sizes, tables)
    exact = {part: measure(effects, part, counts) for part in effects.parts}
    noisy = {part: values + generator.integers(-50, 50, values.shape) for part, values in exact.items()}
    for table in tables:
        outside = tuple(axis for axis in range(len(sizes)) if axis not in table)
        numerators, denominator = restore(effects, table, exact)
        assert (numerators == counts.sum(axis=outside).astype(object) * denominator).all()
        for coarser in subsets(table):
            summed, other = restore(effects, coarser, noisy)
            whole, one = restore(effects, table, noisy)
            added = np.asarray(whole).sum(axis=tuple(i for i, axis in enumerate(table) if axis not in coarser))
            assert (np.asarray(added) * other == np.asarray(summed) * one).all(), "agreeing tables, exactly"


def test_the_variance_of_a_cell_is_that_of_the_linear_map():
    effects = effects_of((2, 3, 2), [(0, 1), (1, 2)])
    variances = dict(zip(effects.parts, variances_of(effects, 1), strict=True))
    for table in ((0, 1), (1, 2), (1,)):
        found = np.zeros([effects.sizes[axis] for axis in table])
        for part in effects.parts:
            for place in np.ndindex(*[effects.sizes[axis] for axis in part]):
                one = {other: np.zeros([effects.sizes[axis] for axis in other], dtype=object) for other in effects.parts}
                one[part][place] = 1
                numerators, denominator = restore(effects, table, one)
                found = (
                    found + (numerators / denominator).astype(float) ** 2 * float(variances[part]) * effects.scale(part) ** 2
                )
        assert np.allclose(found, float(effects.variance(table, variances)))


@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (2, 3, 4), (3, 3, 3)])
def test_shares_for_tables_are_optimal_for_a_replaced_row(sizes):
    """Those for a row that appears, scaled, cost up to a few percent more; the dual bound certifies the best."""
    effects = effects_of(sizes, list(combinations(range(len(sizes)), 2)))
    parts = Effects(effects.sizes, effects.parts[1:])
    ones = dict.fromkeys(effects.parts, Fraction(0))
    weights = [
        sum(
            prod(parts.sizes[i] for i in table) * parts.variance(table, ones | {part: Fraction(1)})
            for table in combinations(range(len(sizes)), 2)
        )
        for part in parts.parts
    ]
    scaled = [int(weight * 10**6) for weight in weights]
    best = best_shares(replaced(parts), scaled)
    cost = sum(float(v) * w for v, w in zip(best.variances, scaled, strict=True))
    assert best.least <= cost <= best.least * 1.0001
    naive = best_shares(leaving(parts), scaled).variances
    size = mu_squared(replaced(parts), naive)
    assert sum(float(v * size) * w for v, w in zip(naive, scaled, strict=True)) >= cost * 0.9999


def test_too_many_changes_are_not_listed_and_a_foreign_table_is_refused():
    assert exchanged(some_effects((9, 9, 9)), 6, ((0,), (1,))) is None
    with pytest.raises(InternalError, match="all levels"):
        measure(some_effects((2, 3)), (1,), np.zeros((2, 2), dtype=np.int64))
    huge = np.full((2, 3), 1 << 58)
    assert (measure(some_effects((2, 3)), (0, 1), huge) == 0).all()
    assert room._centred(huge, (2, 3)).dtype == object
