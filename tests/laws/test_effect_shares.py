"""The division of a spend among effects for tables with weights or errors: certified, against any other, and in quotes."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import EffectCounts
from discreet.mechanisms import effect_shares
from discreet.mechanisms.effect_costs import Changes, cost_of
from discreet.mechanisms.effect_shares import Demand, Division, best_precisions
from discreet.mechanisms.effects import Effects, effects_of
from discreet.quotes.allocate import quote
from discreet.quotes.spend_for_errors import quote_for

APPEARS, REPLACED = Changes(appears=True, leaves=False), Changes(appears=False, leaves=False)
CHANGES = {
    "appears": APPEARS,
    "replaced": REPLACED,
    "leaves": Changes(appears=False, leaves=True),
    "totals": Changes(appears=False, leaves=False, kept=((0,),), rows=2),
}


def problem(columns, tables, changes, seed):
    """Effects of random tables, and a demand of random errors."""
    generator = np.random.default_rng(seed)
    sizes = tuple(generator.integers(2, 9, columns).tolist())
    every = [one for many in (1, 2, 3) for one in combinations(range(columns), many)]
    chosen = [every[place] for place in sorted(generator.choice(len(every), tables, replace=False))]
    free = set(changes.kept[0]) if not changes.appears and not changes.leaves else None
    parts = [part for part in effects_of(sizes, chosen).parts if free is None or not set(part) <= free]
    places = {part: place for place, part in enumerate(parts)}
    effects, rows = Effects(sizes, tuple(parts)), []
    for table in chosen:
        inside = [part for many in range(4) for part in combinations(table, many) if part in places]
        outside = [prod(sizes[axis] for axis in table if axis not in part) for part in inside]
        each = zip(inside, outside, strict=True)
        rows.append(tuple((places[part], float(effects.energy(part)) / size**2) for part, size in each))
    rows = [one for one in rows if one]
    return effects, Demand(tuple(rows), tuple(generator.uniform(1, 50, len(rows)) ** 2))


def largest(demand, precisions):
    variances = [sum(value / precisions[place] for place, value in one) for one in demand.tables]
    return max(variance / limit for variance, limit in zip(variances, demand.limits, strict=True))


def cost(effects, precisions, changes):
    return float(cost_of(effects, [Fraction(float(one)) for one in precisions], changes).most) / changes.rows**2


def holds(effects, demand, changes, gap):
    """The precisions cost 1, have the errors that are said, and no others have errors below the bound, which is near."""
    found = best_precisions(effects, demand, changes)
    assert cost(effects, found.precisions, changes) == pytest.approx(1, rel=1e-9)
    assert found.largest == pytest.approx(largest(demand, found.precisions), rel=1e-9)
    assert found.largest <= found.least * (1 + gap)
    generator = np.random.default_rng(3)
    for spread in (0.001, 0.01, 0.1, 1.0):
        for _ in range(10):
            other = np.array(found.precisions) * np.exp(generator.normal(0, spread, len(found.precisions)))
            assert largest(demand, other) * cost(effects, other, changes) >= found.least * (1 - 1e-9)


@pytest.mark.parametrize("changes", CHANGES)
@pytest.mark.parametrize(("columns", "tables"), [(3, 4), (5, 12), (7, 20)])
def test_the_gap_is_certified_and_the_bound_is_one(columns, tables, changes):
    effects, demand = problem(columns, tables, CHANGES[changes], seed=columns)
    holds(effects, demand, CHANGES[changes], 1e-6 if changes == "appears" else 1e-4)


def test_many_columns_are_divided_for_what_is_charged():
    effects, demand = problem(22, 150, REPLACED, seed=1)
    found = best_precisions(effects, demand, REPLACED)
    assert cost(effects, found.precisions, REPLACED) == pytest.approx(1, rel=1e-9)
    assert found.largest <= found.least * (1 + 1e-6)


@pytest.mark.slow
def test_five_thousand_tables_have_the_gap():
    effects, demand = problem(32, 5000, APPEARS, seed=2)
    found = best_precisions(effects, demand, APPEARS)
    assert found.largest <= found.least * (1 + 1e-6)


def test_tables_of_one_effect_each_have_the_known_optimum():
    """Σ k_b t_b ≤ 1 and 1/t_b ≤ limit_b·x: x = Σ k_b/limit_b."""
    rows, limits = np.array([[3.0, 2.0, 7.0]]), (4.0, 1.0, 2.0)
    found = effect_shares.solve_demand(rows, Demand(tuple(((place, 1.0),) for place in range(3)), limits))
    assert found.largest == pytest.approx(3 / 4 + 2 / 1 + 7 / 2, rel=1e-6)


FAULTS = {
    "errors are forgotten": lambda solve: (
        lambda rows, demand: solve(rows, Demand(demand.tables, (1.0,) * len(demand.limits)))
    ),
    "the bound is the optimum": lambda solve: (
        lambda rows, demand: Division(
            solve(rows, demand).precisions, solve(rows, demand).largest, solve(rows, demand).largest * 1.01
        )
    ),
    "all precisions are equal": lambda solve: (
        lambda rows, demand: Division(
            (1 / rows.sum(axis=1).max(),) * rows.shape[1], solve(rows, demand).largest, solve(rows, demand).least
        )
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_division_that_is_not_the_best_is_caught(fault, monkeypatch):
    effects, demand = problem(5, 12, APPEARS, seed=8)
    monkeypatch.setattr(effect_shares, "solve_demand", FAULTS[fault](effect_shares.solve_demand))
    best_precisions.cache_clear()
    with pytest.raises(AssertionError):
        holds(effects, demand, APPEARS, 1e-6)
    best_precisions.cache_clear()


# In quotes ------------------------------------------------------------------------------------------------------------

SCHEMA = dp.Schema(a=dp.Category(["x", "y", "z"]), b=dp.Category(["p", "q"]), c=dp.Category(["k", "l", "m", "n"]))
WAYS = dp.ways(["a", "b", "c"], 2)


def halves(quoted):
    (line,) = quoted.lines
    return [float(one) for one in line.recipe.errors(quoted.noises(line))]


@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=90)], ids=str)
@pytest.mark.parametrize("budget", [dp.ZCDP(9), dp.GDP(9), dp.ApproxDP(9, "1e-6")], ids=str)
def test_the_least_spend_that_meets_all_errors(neighbours, budget):
    errors = [10, 4, "12.5"]
    plan = dp.Table(SCHEMA, neighbours).agg(dp.tables(*WAYS, errors=errors))
    found = quote_for(plan, {"tables": 1}, budget, None)
    quotients = np.array(halves(found)) / [float(one) for one in errors]
    assert quotients.max() <= 1
    effects = all(isinstance(one.query, EffectCounts) for one in found.measured)
    assert effects != (type(budget) is dp.ApproxDP)  # three tables have less noise with Laplace noise there
    # A spend has three digits, and tables are rounded up to one measure. Laplace noise has no one multiple of deviations.
    assert quotients == pytest.approx(1, rel=0.02 if effects else 0.1)
    assert dict(found.expected)["tables"] == pytest.approx(quotients.max())
    assert "times the error that its table should have" in str(found)


def test_weights_give_the_least_weighted_sum_of_variances():
    def total(weights, chosen):
        asked = dp.tables(*WAYS, weights=chosen)
        widths = halves(quote(dp.Table(SCHEMA, dp.AddRemove()).agg(asked), dp.ZCDP(1)))
        cells = [4 * 3, 4 * 5, 3 * 5]
        return sum(one * size * width**2 for one, size, width in zip(weights, cells, widths, strict=True))

    best = total([9, 1, 1], [9, 1, 1])
    for other in ([1, 1, 1], [8, 1, 1], [10, 1, 1], [9, 1.2, 1]):
        assert best <= total([9, 1, 1], other) * (1 + 1e-6)
    assert best < 0.9 * total([9, 1, 1], [1, 1, 1])


def test_equal_weights_are_the_plan_without_them():
    plans = [dp.Table(SCHEMA, dp.AddRemove()).agg(dp.tables(*WAYS, **one)) for one in ({}, {"weights": [2, 2, 2]})]
    assert halves(quote(plans[0], dp.ZCDP(1))) == pytest.approx(halves(quote(plans[1], dp.ZCDP(1))), rel=1e-6)
    assert plans[0].digest != plans[1].digest


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weights": [1, 2]}, "one number for each of the 3 tables"),
        ({"errors": [1, 2, 0]}, r"errors\[2\]=0: must be greater"),
        ({"errors": [1, 2, "1e10"]}, "below 1e9"),
        ({"weights": 3}, "must be a list"),
        ({"weights": [1, 1, 1], "errors": [1, 1, 1]}, "not both"),
    ],
)
def test_what_is_no_weight_or_error_is_refused(options, told):
    with pytest.raises(dp.ArgumentError, match=told):
        dp.tables(*WAYS, **options)


def test_errors_are_for_all_tables_of_a_request():
    own = [dp.tables(["a"], errors=[3]), dp.tables(["b"]).alias("others")]
    plan = dp.Table(SCHEMA, dp.AddRemove()).agg(*own)
    with pytest.raises(dp.PlanError, match="for all tables"):
        quote(plan, dp.ZCDP(1))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((["a", "b"],), "needs the numbers"),
        ((["a", "b"], 3), "from 1 to 2"),
        ((["a", "b"], True), "from 1 to 2"),
        ((["a", "b"], 1, 1), "each once"),
        ((["a", "a"], 1), "twice"),
        (("ab", 1), "list of columns"),
    ],
)
def test_ways_are_of_different_columns(given, told):
    with pytest.raises(dp.PlanError, match=told):
        dp.ways(*given)
    assert dp.ways(["a", dp.bins("v", [0, 5])], 1, 2) == [["a"], [dp.bins("v", [0, 5])], ["a", dp.bins("v", [0, 5])]]
