"""The division of a spend among effects for tables with weights or errors: certified, against any other, and in quotes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import EffectCounts
from discreet.mechanisms import effect_search, effect_shares
from discreet.mechanisms.effect_costs import Changes, cost_of
from discreet.mechanisms.effect_search import Demand, ListedCosts
from discreet.mechanisms.effect_shares import best_precisions, best_within
from discreet.mechanisms.effects import Effects, effects_of
from discreet.plan.plan import plan_json
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
    holds(effects, demand, CHANGES[changes], 1e-6)


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


@pytest.mark.slow
@pytest.mark.parametrize("summed", [False, True])
def test_thousands_of_tables_that_are_charged_exactly_have_the_gap(summed):
    effects, demand = problem(20, 1200, REPLACED, seed=4)
    demand = Demand.of_sum([1.0 + place % 7 for place in range(len(effects.parts))]) if summed else demand
    found = best_precisions(effects, demand, REPLACED)
    assert cost(effects, found.precisions, REPLACED) == pytest.approx(1, rel=1e-9)
    assert found.largest <= found.least * (1 + 1e-6)


def listed(seed):
    """A demand, and many changes of which most cost less than others do."""
    generator = np.random.default_rng(seed)
    tables = tuple(tuple((int(one), float(generator.uniform(1, 9))) for one in generator.choice(20, 4)) for _ in range(30))
    return generator.uniform(0, 5, (400, 20)), Demand(tables, tuple(generator.uniform(1, 50, 30)))


def gap_of_listed(seed):
    rows, demand = listed(seed)
    found = effect_search.solve_demand(ListedCosts(rows), demand)
    assert float((rows @ np.array(found.precisions)).max()) == pytest.approx(1, rel=1e-9)
    return found.largest / found.least - 1


@pytest.mark.parametrize("seed", range(3))
def test_listed_changes_are_divided_for_the_costliest(seed):
    assert gap_of_listed(seed) <= 1e-6


MUTANTS = {
    "changes keep their multipliers": lambda rows, roots, share, gap: share,
    "the costliest change alone counts": lambda rows, roots, share, gap: (
        1e-9 + (rows.sum(axis=1) == rows.sum(axis=1).max()) / (1 + 1e-9 * len(rows))
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_multipliers_of_changes_that_are_not_the_best_leave_a_gap(mutant, monkeypatch):
    monkeypatch.setattr(effect_search, "weigh_changes", MUTANTS[mutant])
    assert gap_of_listed(0) > 1e-3


def test_tables_of_one_effect_each_have_the_known_optimum():
    """Σ k_b t_b ≤ 1 and 1/t_b ≤ limit_b·x: x = Σ k_b/limit_b."""
    costs, limits = ListedCosts(np.array([[3.0, 2.0, 7.0]])), (4.0, 1.0, 2.0)
    found = effect_search.solve_demand(costs, Demand(tuple(((place, 1.0),) for place in range(3)), limits))
    assert found.largest == pytest.approx(3 / 4 + 2 / 1 + 7 / 2, rel=1e-6)


def equal(rows):
    return (1 / rows.sum(axis=1).max(),) * rows.shape[1]


FAULTS = {
    "errors are forgotten": lambda solve: (
        lambda costs, demand: solve(costs, Demand(demand.tables, (1.0,) * len(demand.limits)))
    ),
    "the bound is the optimum": lambda solve: (
        lambda costs, demand: replace(solve(costs, demand), least=solve(costs, demand).largest * 1.01)
    ),
    "all precisions are equal": lambda solve: (
        lambda costs, demand: replace(solve(costs, demand), precisions=equal(costs.first()[1]))
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
        ({"weights": [1, 1, None]}, r"weights\[2\]: the table has neither a weight nor an error"),
        ({"weights": [None, 1, 0], "errors": [3, None, None]}, r"weights\[2\]: the table has neither a weight nor an error"),
        ({"errors": [None, float("inf"), None]}, "a number for one of the tables at least"),
        ({"errors": [True, 1, 1]}, r"errors\[0\]"),
        ({"errors": [float("nan"), 1, 1]}, r"errors\[0\]"),
        ({"errors": [float("-inf"), 1, 1]}, r"errors\[0\]=-inf"),
        ({"errors": ["infinite", 1, 1]}, r"errors\[0\]='infinite'"),
        ({"weights": [-1, 1, 1]}, r"weights\[0\]=-1: must be greater"),
    ],
)
def test_what_is_no_weight_or_error_is_refused(options, told):
    with pytest.raises(dp.ArgumentError, match=told):
        dp.tables(*WAYS, **options)


@pytest.mark.parametrize("errors", [[3], [3, None]], ids=str)
def test_tables_with_errors_and_others_are_named_in_one_statistic(errors):
    own = [
        dp.tables(["a"], ["c"][: len(errors) - 1] or ["a", "c"], errors=[*errors, 3][:2]),
        dp.tables(["b"]).alias("others"),
    ]
    plan = dp.Table(SCHEMA, dp.AddRemove()).agg(*own)
    with pytest.raises(dp.PlanError, match="name them in one statistic"):
        quote(plan, dp.ZCDP(1))


# Some tables with errors, others weighed ------------------------------------------------------------------------------


def sum_of(weights, precisions):
    return sum(one / precision for one, precision in zip(weights, precisions, strict=True))


def check_within(columns, tables, changes, seed, room):
    effects, demand = problem(columns, tables, CHANGES[changes], seed)
    generator = np.random.default_rng(seed)
    weights = tuple(generator.uniform(0.1, 20, len(effects.parts)).tolist())
    limited = Demand(demand.tables[::2], demand.limits[::2])
    found = best_within(effects, limited, weights, room, CHANGES[changes])
    most = room * best_precisions(effects, limited, CHANGES[changes]).largest
    assert cost(effects, found.precisions, CHANGES[changes]) <= 1 + 1e-9
    assert largest(limited, found.precisions) <= most * (1 + 1e-9)
    assert found.largest == pytest.approx(sum_of(weights, found.precisions))
    assert found.least * (1 - 1e-9) <= found.largest <= found.least * (1 + 3e-4)
    for _ in range(200):
        moved = np.array(found.precisions) * np.exp(
            generator.normal(0, generator.choice([0.003, 0.03]), len(found.precisions))
        )
        moved /= cost(effects, moved, CHANGES[changes])
        if largest(limited, moved) <= most:
            assert sum_of(weights, moved) >= found.least * (1 - 1e-9)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("room", [1.05, 1.7, 30])
@pytest.mark.parametrize("changes", CHANGES)
def test_the_least_sum_of_those_that_meet_errors_is_certified(changes, room):
    for seed in range(2):
        check_within(4, 6, changes, seed, room)


def test_a_bound_that_forgets_what_errors_cost_is_caught(monkeypatch):
    """The mutant takes the dual bound of both for one of the sum alone."""
    right = effect_shares.best_precisions

    def forgets(effects, demand, changes):
        found = right(effects, demand, changes)
        return replace(found, prices=(*(0.0 for _ in found.prices[:-1]), found.prices[-1]))

    best_within.cache_clear()
    monkeypatch.setattr(effect_shares, "best_precisions", forgets)
    with pytest.raises(AssertionError):
        check_within(4, 6, "appears", 1, 1.05)
    best_within.cache_clear()


SPENDS = {"effects": dp.ZCDP(1), "whole": dp.PureDP(1)}


@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=90)], ids=str)
@pytest.mark.parametrize("spend", SPENDS)
def test_errors_are_met_and_the_rest_is_the_least(spend, neighbours):
    cells = np.array([4 * 3, 4 * 5, 3 * 5])

    def found(**options):
        return halves(quote(dp.Table(SCHEMA, neighbours).agg(dp.tables(*WAYS, **options)), SPENDS[spend]))

    plain = found(weights=[1, 2, 1])
    error = 0.8 * plain[0]
    own = found(errors=[error, None, None], weights=[None, 2, 1])
    assert own[0] <= error
    assert own[0] >= error * (0.99 if spend == "effects" else 0.95)

    def total(widths):
        return float((np.array([2, 1]) * cells[1:] * np.array(widths[1:]) ** 2).sum())

    assert total(own) > total(plain)
    # Weights that get the first table there leave more variance in the others.
    for weights in ([9, 2, 1], [30, 2, 1], [60, 2, 1], [120, 2, 1]):
        other = found(weights=weights)
        if other[0] <= own[0]:
            assert total(other) >= total(own) * 0.99
    wide = found(errors=[100 * plain[0], None, None], weights=[1, 2, 1])
    assert wide == pytest.approx(plain, rel=0.02)


@pytest.mark.parametrize("spend", SPENDS)
def test_a_spend_that_is_too_small_for_the_errors_is_refused_and_the_least_one_is_found(spend):
    plan = dp.Table(SCHEMA, dp.AddRemove()).agg(dp.tables(*WAYS, errors=[2, None, None]))
    with pytest.raises(dp.PlanError, match=r"times as wide as their errors at best; spend more, or allow larger errors"):
        quote(plan, type(SPENDS[spend])("0.01"))
    found = quote_for(plan, {"tables": 12}, SPENDS[spend], None)
    own = halves(found)
    assert own[0] <= 2
    assert max(own[1:]) == pytest.approx(dict(found.expected)["tables"])
    assert max(own[1:]) <= 12
    assert "all errors are met; all tables agree" in str(found)


def test_a_table_may_have_an_error_and_a_weight_and_all_may_have_both():
    asked = dp.tables(*WAYS, errors=[30, 30, 30], weights=[1, 1, 1])
    quoted = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(asked), dp.ZCDP(1))
    plain = quote(dp.Table(SCHEMA, dp.AddRemove()).agg(dp.tables(*WAYS)), dp.ZCDP(1))
    assert halves(quoted) == pytest.approx(halves(plain), rel=1e-3)
    assert dict(quoted.expected)["tables"] == pytest.approx(max(halves(quoted)))


def test_under_approx_dp_the_noise_that_meets_the_errors_is_taken():
    """Laplace noise cannot meet them here, and Gaussian noise can."""
    schema = dp.Schema(**{name: dp.Category([*"abcdef"]) for name in "abcdefghij"})
    plan = dp.Table(schema, dp.AddRemove()).agg(dp.tables(*dp.ways(list(schema.columns), 2), errors=[9, *[None] * 44]))
    quoted = quote(plan, dp.ApproxDP(3, "1e-6"))
    assert all(isinstance(one.query, EffectCounts) for one in quoted.measured)
    assert halves(quoted)[0] <= 9
    with pytest.raises(dp.PlanError, match="times as wide"):
        quote(plan, dp.PureDP("0.3"))


def test_a_plan_with_errors_of_some_tables_is_written_and_has_a_digest_of_its_own():
    made = [dp.tables(*WAYS, errors=[9, None, None], weights=[None, 1, 2]), dp.tables(*WAYS, errors=[9, float("inf"), None])]
    plans = [dp.Table(SCHEMA, dp.AddRemove()).agg(one) for one in made]
    written = [plan_json(one)["statistics"][0] for one in plans]
    assert [one["errors"] for one in written] == [["9", None, None]] * 2
    assert written[0]["weights"] == ["0", "1", "2"]
    assert plans[0].digest != plans[1].digest


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
