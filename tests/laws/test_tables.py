"""Agreeing tables of whole quotes: what all neighbours can tell, cells and intervals by dense least squares, and mutants.

The noise of a quote is taken as it is, and the answers of all small tables are worked out row by row from the words of the
steps. So nothing of the library says what a row does.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import EffectCounts
from discreet.mechanisms import effect_costs, effect_shares, law_of_cell
from discreet.mechanisms.effect_costs import Changes, cost_of
from discreet.mechanisms.effect_search import Demand
from discreet.mechanisms.effect_shares import best_precisions
from discreet.mechanisms.effects import effects_of
from discreet.noise.bits import system_bits
from discreet.quotes import effects as room
from discreet.quotes.allocate import quote
from discreet.releases.assemble import answers_of
from discreet.releases.evaluate import noisy_answers
from discreet.totals.exact_totals import exact_totals_of

from . import literal_rows
from .changed_tables import farthest

pytestmark = pytest.mark.one_in(2)  # the others run with make test-slow

SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p"]), c=dp.Category(["u"]))
TABLES = [("a", "b"), ("b", "c"), ("a", "c")]
SPEND = dp.ZCDP("1/2")
ROWS = 3


def request(neighbours, tables=TABLES, **conditions):
    table = dp.Table(SCHEMA, neighbours)
    return (table.where(conditions) if conditions else table).agg(dp.tables(*map(list, tables)))


def records():
    return [dict(zip("abc", row, strict=True)) for row in product(("x", "y", None), ("p", None), ("u", None))]


def scaled(quoted):
    """For every row its contributions to all answers, each over the deviation of its noise: distances are μ."""
    found = []
    for row in records():
        parts = []
        counts = literal_rows.passes(quoted.plan, row)
        for one in quoted.measured:
            amounts = [amount for _, _, amount in literal_rows.parts(one.query, quoted.plan, row)]
            parts += [counts * amount / float(law_of_cell(one.law).sigma2) ** 0.5 for amount in amounts]
        found.append(parts)
    return np.array(found)


def worst(quoted, keeps=lambda _row: (), changed=1, rows=ROWS):
    """The largest μ² between two tables of so many rows that keep the totals and differ in at most `changed` rows."""
    return farthest(scaled(quoted), [keeps(row) for row in records()], changed=changed, rows=rows)


def appearing(quoted):
    return float((scaled(quoted) ** 2).sum(axis=1).max())


def beside(invariants, tables=TABLES, **conditions):
    plan = request(dp.ReplaceOne(rows=ROWS), tables, **conditions)
    totals = exact_totals_of(invariants, SCHEMA, None, ROWS)
    return quote(plan, SPEND, totals), totals.adjacency.a


def kept(*lists):
    return lambda row: [(names, tuple(row[name] for name in names)) for names in lists]


# What neighbours can tell ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("conditions", [{}, {"a": ["x"]}, {"a": ["x"], "c": ["u"]}], ids=str)
@pytest.mark.parametrize("spend", [dp.ZCDP("1/2"), dp.GDP(1)], ids=str)
def test_all_neighbours_together_cost_exactly_the_spend(conditions, spend):
    """μ² = 1, attained: under either relation, with rows that may count nowhere or not."""
    assert appearing(quote(request(dp.AddRemove(), **conditions), spend)) == pytest.approx(1, rel=1e-6)
    assert worst(quote(request(dp.ReplaceOne(rows=ROWS), **conditions), spend)) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("tables", [[("a", "b"), ("b", "c"), ("a", "c")], [("a", "b", "c")], [("a",), ("b", "c")]], ids=str)
@pytest.mark.parametrize("lists", [(("a",),), (("a", "b"),), (("a", "b"), ("a",))], ids=str)
def test_beside_totals_that_are_nested_the_spend_is_attained(tables, lists):
    invariants = dp.Totals(*lists[0])
    for one in lists[1:]:
        invariants += dp.Totals(*one)
    quoted, a = beside(invariants, tables)
    assert worst(quoted, kept(*lists), a) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("lists", [(("a",), ("b",)), (("a", "b"), ("b", "c")), (("a",), ("b",), ("c",))], ids=str)
def test_beside_totals_that_cross_the_spend_is_attained_too(lists):
    invariants = dp.Totals(*lists[0])
    for one in lists[1:]:
        invariants += dp.Totals(*one)
    quoted, a = beside(invariants, [("a", "b", "c"), ("a", "c")])
    assert worst(quoted, kept(*lists), a, rows=a) == pytest.approx(1, rel=1e-6)
    assert quoted.charge == "exact"


def test_where_changes_are_too_many_a_bound_is_charged_and_said(monkeypatch):
    """It is never too small: the bound matches rows by one of the lists."""
    monkeypatch.setattr(effect_costs, "listed_changes", lambda *_: None)
    monkeypatch.setattr(effect_shares, "listed_changes", lambda *_: None)
    quoted, a = beside(dp.Totals("a") + dp.Totals("b"), [("a", "b", "c"), ("a", "c")])
    assert worst(quoted, kept(("a",), ("b",)), a) <= 1 + 1e-9
    assert quoted.charge == "upper bound"
    assert "upper bound" in str(quoted)
    assert "upper bound" not in str(quote(request(dp.AddRemove()), SPEND))


def test_beside_totals_and_a_condition_no_effect_is_free():
    quoted, a = beside(dp.Totals("a"), c=["u"])
    assert {one.query.columns() for one in quoted.measured} >= {(), ("a",)}
    assert worst(quoted, kept(("a",)), a) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("conditions", [{"c": ["u"]}, {"a": ["x"]}, {"b": ["p"]}], ids=str)
def test_beside_totals_that_cross_and_a_condition_the_spend_covers_rows_that_count_nowhere(conditions):
    quoted, a = beside(dp.Totals("a") + dp.Totals("b"), [("a", "b")], **conditions)
    assert worst(quoted, kept(("a",), ("b",)), a, rows=a) <= 1 + 1e-9


def test_totals_of_some_groups_leave_no_effect_free():
    invariants = dp.Totals("a", only=["x"])
    quoted, a = beside(invariants)
    assert ("a",) in {one.query.columns() for one in quoted.measured}
    listed = worst(quoted, lambda row: [row["a"]] if row["a"] == "x" else [], a)
    assert listed == pytest.approx(1, rel=1e-6)


FAULTS = {
    "a replaced row always counts": (
        {"leaves": False},
        lambda: worst(quote(request(dp.ReplaceOne(rows=ROWS), a=["x"]), SPEND)),
    ),
    "a row that appears is a replaced one": ({"appears": False}, lambda: appearing(quote(request(dp.AddRemove()), SPEND))),
    "a rows cost as one": ({"rows": 1}, lambda: worst(beside(dp.Totals("a"))[0], kept(("a",)), 2)),
    "rows that may count nowhere are listed like others": (
        {"lists": ((0,), (1,))},
        lambda: worst(beside(dp.Totals("a") + dp.Totals("b"), [("a", "b")], c=["u"])[0], kept(("a",), ("b",)), 3),
    ),
    "a list of some groups is a list of all": (
        {"kept": ((0,),)},
        lambda: worst(beside(dp.Totals("a", only=["x"]))[0], lambda row: [row["a"]] if row["a"] == "x" else [], 2),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_charge_that_forgets_something_is_caught(fault, monkeypatch):
    wrong, cost = FAULTS[fault]
    monkeypatch.setattr(room, "Changes", lambda **known: Changes(**{**known, **wrong}))
    assert cost() > 1.01


def test_columns_outside_all_lists_would_be_charged_too_little(monkeypatch):
    """F4: rows differ outside one list, never outside all of them."""
    invariants = dp.Totals("a", "b") + dp.Totals("c")
    right, a = beside(invariants, [("a", "b", "c")])
    assert worst(right, kept(("a", "b"), ("c",)), min(a, ROWS)) <= 1 + 1e-9
    changes = Changes(appears=False, leaves=False, kept=((0, 1, 2),), rows=a)
    assert cost_of(effects_of((3, 2, 2), [(0, 1, 2)]), [Fraction(1)] * 8, changes).most == 0


# The division of the spend --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(2, 3, 4), (2, 2, 2, 2), (5, 2, 3)])
def test_no_other_division_of_the_spend_has_a_smaller_sum_of_variances(sizes):
    """Small steps in any direction, at the same cost, never lower the sum by more than the gap."""
    pairs = [(i, j) for i in range(len(sizes)) for j in range(i)]
    effects = effects_of(sizes, [tuple(sorted(one)) for one in pairs])
    generator = np.random.default_rng(5)
    weights = tuple(generator.uniform(0.5, 3, len(effects.parts)))
    for changes in (Changes(appears=True, leaves=False), Changes(appears=False, leaves=True)):
        best = np.array(best_precisions(effects, Demand.of_sum(weights), changes).precisions)

        def total(precisions, changes=changes):
            cost = float(cost_of(effects, [Fraction(float(one)) for one in precisions], changes).most)
            return cost * float((np.array(weights) / precisions).sum())

        least = total(best)
        for _ in range(60):
            assert total(best * np.exp(generator.normal(0, 0.05, len(best)))) >= least * (1 - 1e-5)


def test_many_columns_are_charged_in_doubles_that_are_rounded_up():
    """Ten columns: the certified doubles are at least the fractions, and hardly more; termwise bounds are bounds."""
    sizes = (2, 3, 2, 4, 2, 3, 2, 5, 2, 3)
    effects = effects_of(sizes, [(i, j) for j in range(10) for i in range(j)])
    generator = np.random.default_rng(1)
    precisions = [Fraction(int(one), 7) for one in generator.integers(1, 50, len(effects.parts))]
    changes = Changes(appears=False, leaves=False)
    doubles = cost_of(effects, precisions, changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effect_costs, "_MOST_EXACT", 20)
        exact = cost_of(effects, precisions, changes)
        patch.setattr(effect_costs, "_MOST_EXACT", 2)
        patch.setattr(effect_costs, "_MOST_SETS", 2)
        bound = cost_of(effects, precisions, changes)
    assert exact.most <= doubles.most <= exact.most * (1 + Fraction(1, 10**12))
    assert (exact.exact, doubles.exact, bound.exact) == (True, True, False)
    assert exact.most <= bound.most <= 2 * exact.most


# Cells and intervals --------------------------------------------------------------------------------------------------


def dense(quoted, answers):
    """The least-squares cells of every table and their variances, from a matrix over the joint table."""
    (line,) = quoted.lines
    recipe = line.recipe
    sizes = recipe.domain.effects.sizes
    rows, right = [], []
    for part, one in recipe.measured(answers).items():
        eye = [np.eye(n) * n - 1 if axis in part else np.ones((1, n)) for axis, n in enumerate(sizes)]
        matrix = np.ones((1, 1))
        for factor in eye:
            matrix = np.kron(matrix, factor)
        deviation = 1e-4 if one.law is None else float(one.law.sigma2) ** 0.5 / one.times
        rows.append(matrix / deviation)
        right.append(one.values.ravel().astype(float) / one.times / deviation)
    matrix, right = np.concatenate(rows), np.concatenate(right)
    inverse = np.linalg.pinv(matrix.T @ matrix, rcond=1e-13, hermitian=True)
    found = inverse @ matrix.T @ right
    for table in recipe.domain.tables:
        both, margin = [], np.ones((1, 1))
        for axis, n in enumerate(sizes):
            margin = np.kron(margin, np.eye(n) if axis in table else np.ones((1, n)))
        ascending = sorted(table)
        order = [ascending.index(axis) for axis in table]
        for cells in (margin @ found, np.diag(margin @ inverse @ margin.T)):
            both.append(cells.reshape([sizes[axis] for axis in ascending]).transpose(order).ravel())
        yield both


@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=50)], ids=str)
def test_cells_are_the_least_squares_estimate_with_its_deviation(neighbours):
    quoted = quote(request(neighbours, [("a", "b"), ("c", "b"), ("c",), ("c", "a")]), SPEND)
    exact = [np.zeros(sum(one.query.widths()), dtype=np.int64) for one in quoted.measured]
    noisy = noisy_answers(quoted, exact, system_bits())
    (line,) = quoted.lines
    answers = answers_of(quoted, line, noisy)
    halves = line.recipe.errors(quoted.noises(line))
    for table, half, (cells, variances) in zip(line.recipe.tables(answers), halves, dense(quoted, answers), strict=True):
        assert table.counts.value == pytest.approx(cells, abs=1e-4)
        assert np.ptp(variances) < 1e-4
        assert 1.9599 <= float(half) / variances.max() ** 0.5 <= 1.9599 * 1.003


def test_every_effect_of_a_table_is_asked_once():
    quoted = quote(request(dp.AddRemove()), SPEND)
    assert [one.query.columns() for one in quoted.measured] == [
        (),
        ("a",),
        ("b",),
        ("c",),
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert all(isinstance(one.query, EffectCounts) for one in quoted.measured)


@pytest.mark.parametrize("lists", [("a",), ("a", "b")], ids=str)
def test_what_would_be_advertised_is_not_less_than_one_replaced_row_costs(lists):
    quoted, _ = beside(dp.Totals(*lists))
    assert worst(quoted) <= 2 * float(quoted.advertised.rho) * (1 + 1e-9)


@pytest.mark.parametrize("times", [1, 1 << 30])
def test_the_number_of_rows_is_an_effect_of_its_own_however_fine_it_is_measured(times):
    """Its integers are no longer of 64 bits where noise is far below one row."""
    for counts in (np.array([7]), np.array([7, 0])):
        rows = np.concatenate([EffectCounts((), (), (), times).of_counts(one).ravel() for one in counts])
        assert rows.tolist() == [times * int(one) for one in counts]
