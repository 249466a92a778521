"""Areas that add up: what all neighbours can tell, cells and intervals by dense least squares, and mutants.

The noise of a quote is taken as it is, and the answers of all small tables are worked out row by row from the words of the
steps. So nothing of the library says what a row does.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import AreaEffects
from discreet.mechanisms import law_of_cell, tree_costs
from discreet.mechanisms.effects import Effects
from discreet.mechanisms.tree_costs import Kept, TreeChanges, cost_in_tree
from discreet.noise.bits import system_bits
from discreet.quotes import areas as room
from discreet.quotes.allocate import quote
from discreet.releases.assemble import answers_of
from discreet.releases.evaluate import noisy_answers
from discreet.statistics import tree_given
from discreet.statistics.tree_cells import TreeTables, errors_of_areas, variances_of_areas
from discreet.statistics.tree_shares import Wanted, best_shares_in_tree, mean_variances
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

from . import literal_rows
from .changed_tables import farthest

pytestmark = pytest.mark.one_in(2)  # the others run with make test-slow

TREES = {
    "two levels": {"wide": ["A", "A", "B"], "fine": ["a", "b", "c"]},
    "only children": {"wide": ["A", "A"], "fine": ["a", "b"]},
    "three levels": {"top": ["T", "T", "T"], "wide": ["A", "A", "B"], "fine": ["a", "b", "c"]},
}
SPEND = dp.ZCDP("1/2")
ROWS = 2


def schema_of(tree="two levels"):
    levels = TREES[tree]
    areas = dp.Hierarchy(levels, levels=list(levels))
    return dp.Schema(area=areas, s=dp.Category(["f", "m"]), c=dp.Category(["u"]))


BY = {"rows": [[]], "by s": [[], ["s"]], "s and c": [["s", "c"]], "s, c": [["s"], ["c"]]}


def request(neighbours, by="by s", tree="two levels", levels=("area",), shares=None, **conditions):
    table = dp.Table(schema_of(tree), neighbours)
    asked = dp.agreeing_areas(*levels, by=BY[by], **(shares or {}))
    return (table.where(conditions) if conditions else table).agg(asked)


def records(tree):
    """Every row of the prepared table, with the levels that the table of areas gives it."""
    levels = TREES[tree]
    codes = [*zip(*levels.values(), strict=True), (None,) * len(levels)]
    for own, s, c in product(codes, ("f", "m", None), ("u", None)):
        yield {"area": own[-1], "s": s, "c": c, **{f"area.{name}": code for name, code in zip(levels, own, strict=True)}}


def scaled(quoted, tree):
    """For every row its contributions to all answers, each over the deviation of its noise: distances are μ."""
    kinds = list(records(tree))
    found = []
    for one in quoted.measured:
        matrix = np.zeros((len(kinds), sum(one.query.widths())))
        for row, record in enumerate(kinds):
            if literal_rows.passes(quoted.plan, record):
                for _, place, amount in literal_rows.parts(one.query, quoted.plan, record):
                    matrix[row, place] += amount
        found.append(matrix / float(law_of_cell(one.law).sigma2) ** 0.5)
    return np.concatenate(found, axis=1)


def worst(quoted, tree="two levels", keeps=lambda _row: (), changed=1, rows=ROWS):
    """The largest μ² between two tables of so many rows that keep the totals and differ in at most `changed` rows."""
    return farthest(scaled(quoted, tree), [keeps(row) for row in records(tree)], changed=changed, rows=rows)


def appearing(quoted, tree="two levels"):
    return float((scaled(quoted, tree) ** 2).sum(axis=1).max())


def beside(invariants, by="by s", tree="two levels", **conditions):
    plan = request(dp.ReplaceOne(rows=ROWS), by, tree, **conditions)
    totals = exact_totals_of(invariants, schema_of(tree), None, ROWS)
    return quote(plan, SPEND, totals), totals.adjacency.a


def kept(*lists):
    return lambda row: [(names, tuple(row[name] for name in names)) for names in lists]


# What neighbours can tell ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("tree", TREES)
def test_all_neighbours_together_cost_exactly_the_spend(tree, by):
    """μ² = 1, attained, under either relation."""
    alone = quote(request(dp.AddRemove(), by, tree), SPEND)
    assert appearing(alone, tree) == pytest.approx(1, rel=1e-6)
    replaced = quote(request(dp.ReplaceOne(rows=ROWS), by, tree), dp.GDP(1))
    assert worst(replaced, tree) == pytest.approx(1, rel=1e-6)
    assert (alone.charge, replaced.charge) == ("exact", "exact")


@pytest.mark.parametrize("conditions", [{"s": ["f"]}, {"c": ["u"]}], ids=str)
@pytest.mark.parametrize("by", BY)
def test_no_row_costs_more_where_it_may_count_nowhere(by, conditions):
    """A row that counts may be replaced by none; rows that count may be more alike than all rows, which is not looked at."""
    assert appearing(quote(request(dp.AddRemove(), by, **conditions), SPEND)) == pytest.approx(1, rel=1e-6)
    replaced = quote(request(dp.ReplaceOne(rows=ROWS), by, **conditions), SPEND)
    assert {one.query.level for one in replaced.measured} == {0, 1, 2}
    assert worst(replaced) <= 1 + 1e-9


NESTED = [(("area.wide",),), (("area.fine",),), (("area.wide", "s"),), (("area.wide", "s"), ("area.wide",)), (("s",),)]


@pytest.mark.parametrize("by", ["by s", "s and c"])
@pytest.mark.parametrize("lists", NESTED, ids=str)
def test_beside_totals_that_are_nested_the_spend_is_attained(lists, by):
    invariants = dp.Totals(*lists[0])
    for one in lists[1:]:
        invariants += dp.Totals(*one)
    quoted, a = beside(invariants, by)
    assert worst(quoted, keeps=kept(*lists), changed=a) == pytest.approx(1, rel=1e-6)
    assert a == 2


@pytest.mark.parametrize("lists", [(("area.fine",), ("area.wide", "s")), (("area.wide",), ("s",))], ids=str)
def test_beside_totals_that_cross_no_pair_costs_more_than_the_spend(lists):
    """A county does not tell the sex: a = 3, and rows are matched by one of the lists (F3, F4)."""
    invariants = dp.Totals(*lists[0]) + dp.Totals(*lists[1])
    quoted, a = beside(invariants, "s and c")
    assert worst(quoted, keeps=kept(*lists), changed=a) <= 1 + 1e-9
    assert quoted.charge == "upper bound"


@pytest.mark.parametrize("names", [("area.wide",), ("s",), ("c",), ("area.wide", "s")], ids=str)
def test_what_would_be_advertised_is_what_one_row_costs_that_keeps_no_totals(names):
    quoted, _ = beside(dp.Totals(*names))
    assert worst(quoted) == pytest.approx(2 * float(quoted.advertised.rho), rel=1e-6)
    some, _ = beside(dp.Totals(*names), c=["u"])
    assert worst(some) <= 2 * float(some.advertised.rho) * (1 + 1e-9)


@pytest.mark.parametrize("conditions", [{"s": ["f"]}, {"c": ["u"]}], ids=str)
def test_beside_totals_and_a_condition_nothing_is_free(conditions):
    quoted, a = beside(dp.Totals("area.wide"), "rows", **conditions)
    assert {one.query.level for one in quoted.measured} == {0, 1, 2}
    assert worst(quoted, keeps=kept(("area.wide",)), changed=a) <= 1 + 1e-9


@pytest.mark.parametrize("by", ["rows", "by s", "s and c"])
@pytest.mark.parametrize("names", [("c",), ("area.wide", "c"), ("c", "s")], ids=str)
def test_beside_totals_that_tell_whether_a_row_counts_matched_rows_count_both(names, by):
    """The rows of one kind: what the totals say of them is free, and the spend is attained."""
    quoted, a = beside(dp.Totals(*names), by, c=["u"])
    told = {(1 if "area.wide" in names else 0, ()), (0, ("s",) if "s" in names else ())}
    assert told.isdisjoint({(one.query.level, one.query.effect.columns()) for one in quoted.measured})
    assert worst(quoted, keeps=kept(names), changed=a) == pytest.approx(1, rel=1e-6)
    assert quoted.charge == "exact"


def beside_one_of_two_conditions():
    quoted, a = beside(dp.Totals("area.wide", "c"), "rows", "three levels", c=["u"], s=["f"])
    return worst(quoted, "three levels", keeps=kept(("area.wide", "c")), changed=a)


def test_beside_totals_that_tell_one_of_two_conditions_a_row_may_still_leave():
    assert beside_one_of_two_conditions() == pytest.approx(1, rel=1e-6)


def test_totals_of_some_areas_leave_nothing_free():
    quoted, a = beside(dp.Totals("area.wide", only=["A"]), "rows")
    assert {one.query.level for one in quoted.measured} >= {1, 2}
    found = worst(quoted, keeps=lambda row: [row["area.wide"]] if row["area.wide"] == "A" else [], changed=a)
    assert found <= 1 + 1e-9


OTHER_FACTS = {
    "occupied": dp.Occupied("area.wide"),
    "occupied beside totals": dp.Totals("area.wide") + dp.Occupied("area.fine"),
    "a sum": dp.LinearInvariant(["area.wide"], {"sum": {"A": 1, "B": 2}}),
    "rounded": dp.Rounded("area.wide", base=2),
    "some areas and a column": dp.Totals("area.wide", only=["A"]) + dp.Totals("s"),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("facts", OTHER_FACTS)
@pytest.mark.parametrize("conditions", [{}, {"c": ["u"]}], ids=str)
def test_beside_other_exact_facts_no_pair_costs_more_than_the_spend(facts, conditions):
    """Tables with the same published facts that differ in at most a(t) rows, whatever made a(t) larger."""
    invariants, kinds, schema = OTHER_FACTS[facts], list(records("two levels")), schema_of()
    quoted, a = beside(invariants, "by s", **conditions)
    gram = scaled(quoted, "two levels") @ scaled(quoted, "two levels").T
    values = [(name, schema[name].values) for name in invariants.columns]
    codes = [[-1 if row[name] is None else own.index(row[name]) for name, own in values] for row in kinds]
    fibres: dict[str, list[object]] = {}
    for table in combinations_with_replacement(range(len(kinds)), ROWS):
        totals = totals_of_counts(invariants, schema, (np.array(codes)[list(table)], np.ones(ROWS, dtype=np.int64)))
        fibres.setdefault(repr(totals.to_json(schema)), []).append(np.bincount(table, minlength=len(kinds)))
    for tables in map(np.array, fibres.values()):
        for own in tables:
            moved = (tables - own)[np.abs(tables - own).sum(axis=1) <= 2 * a]
            assert np.einsum("ti,ij,tj->t", moved, gram, moved).max() <= 1 + 1e-9


def test_other_queries_of_the_request_are_paid_beside_the_areas():
    """Their costs are added up: never too little."""
    statistics = [dp.agreeing_areas("area"), dp.agreeing_areas("area.fine", by=[["s"]]).alias("more"), dp.count("s")]
    for relation, cost in ((dp.AddRemove(), appearing), (dp.ReplaceOne(rows=ROWS), worst)):
        for own in (statistics, [*statistics[:1], dp.tables(["s", "c"])]):
            assert cost(quote(dp.Table(schema_of(), relation).agg(*own), SPEND)) <= 1 + 1e-9


def some_rows_beside_totals():
    return worst(beside(dp.Totals("area.wide"), "rows", "three levels", c=["u"])[0], "three levels", kept(("area.wide",)), 2)


FAULTS = {
    "a row that appears is a replaced one of a public number": (
        {"appears": False, "forks": (3,)},
        lambda: appearing(quote(request(dp.AddRemove(), "rows", "three levels"), SPEND), "three levels"),
    ),
    "a replaced row always counts": ({"kept": (Kept(2, (), leaves=False),)}, some_rows_beside_totals),
    "totals of one column tell another": ({"kept": (Kept(2, (), leaves=False),)}, beside_one_of_two_conditions),
    "areas never differ": ({"forks": ()}, lambda: worst(quote(request(dp.ReplaceOne(rows=ROWS)), SPEND))),
    "areas differ at the last level alone": (
        {"forks": (2,)},
        lambda: worst(quote(request(dp.ReplaceOne(rows=ROWS), "rows"), SPEND)),
    ),
    "a rows cost as one": (
        {"rows": 1},
        lambda: worst(beside(dp.Totals("area.wide"))[0], keeps=kept(("area.wide",)), changed=2),
    ),
    "a list of one column tells the areas": (
        {"kept": (Kept(1, (0,), leaves=False),)},
        lambda: worst(beside(dp.Totals("s"))[0], keeps=kept(("s",)), changed=2),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_charge_that_forgets_something_is_caught(fault, monkeypatch):
    wrong, cost = FAULTS[fault]
    names = ("appears", "forks", "kept", "rows")

    def planted(*known):
        return TreeChanges(**{**dict(zip(names, known, strict=False)), **wrong})

    monkeypatch.setattr(room, "TreeChanges", planted)
    assert cost() > 1.01


def test_a_level_from_which_on_areas_differ_costs_all_its_effects(monkeypatch):
    """F7: from that level on the rows of both areas count fully, those of the empty effect too."""

    def without(sizes, precisions):
        effects = Effects(tuple(sizes), ())
        return sum((t * effects.energy(part) for (_, part), t in precisions if part), Fraction(0))

    monkeypatch.setattr(tree_costs, "_alone", without)
    assert worst(quote(request(dp.ReplaceOne(rows=ROWS)), SPEND)) > 1.01


def test_rows_in_one_area_may_cost_more_than_rows_in_two():
    """Two rows of two sexes in one area move its effect by 2, and in two areas by 1: both are tried."""
    precisions = {(0, ()): Fraction(1), (0, (0,)): Fraction(9), (1, (0,)): Fraction(1)}
    changes = TreeChanges(appears=False, forks=(1,), kept=(Kept(0, (), leaves=False),))
    # Together above: 9 · 2 and below 2 · ½, or in one area 10 · 2.
    assert cost_in_tree((2,), precisions, changes).most == 20


# Stated shares --------------------------------------------------------------------------------------------------------

STATED = {
    "all": {"shares": {"": [1, "1/3"], "area.wide": [2, 5], "area.fine": ["0.7", 3]}},
    "some": {"shares": {"area.wide": [4, 0], "area.fine": [0, 1]}},
    "by level": {"shares": {"": [1, 2], "area.fine": [0, 1]}, "level_shares": {"": "1/7", "area.fine": "6/7"}},
}


@pytest.mark.parametrize("stated", STATED)
def test_stated_shares_cost_exactly_the_spend(stated):
    """μ² = 1, attained, under either relation and beside totals."""
    alone = quote(request(dp.AddRemove(), shares=STATED[stated]), SPEND)
    assert appearing(alone) == pytest.approx(1, rel=1e-6)
    replaced = quote(request(dp.ReplaceOne(rows=ROWS), shares=STATED[stated]), dp.GDP(1))
    assert worst(replaced) == pytest.approx(1, rel=1e-6)
    assert (alone.charge, replaced.charge) == ("exact", "exact")
    totals = exact_totals_of(dp.Totals("area.wide"), schema_of(), None, ROWS)
    beside_totals = quote(request(dp.ReplaceOne(rows=ROWS), shares=STATED[stated]), SPEND, totals)
    assert worst(beside_totals, keeps=kept(("area.wide",)), changed=2) == pytest.approx(1, rel=1e-6)


def measured_whole(quoted, shares, precision):
    """The least-squares variances of the cells of all tables, each measured as a whole with these precisions: dense."""
    recipe = quoted.lines[0].recipe
    tree, sizes = recipe.tree, recipe.effects.sizes
    levels = [np.eye(tree.sizes[-1])]
    for parents, size in zip(reversed(tree.parents), reversed(tree.sizes[:-1]), strict=True):
        above = np.zeros((size, tree.sizes[-1]))
        np.add.at(above, list(parents), levels[0])
        levels.insert(0, above)

    def margin(level, axes):
        matrix = levels[level]
        for axis, n in enumerate(sizes):
            matrix = np.kron(matrix, np.eye(n) if axis in axes else np.ones((1, n)))
        return matrix

    rows = [margin(0, ()) * 1e4]  # n is public
    for level, name in enumerate(["", "area.wide", "area.fine"]):
        for table, own in zip(recipe.wanted.tables, shares[name], strict=True):
            rows.append(margin(level, table) * (own * precision) ** 0.5)
    matrix = np.concatenate(rows)
    inverse = np.linalg.pinv(matrix.T @ matrix, rcond=1e-13, hermitian=True)
    return {one: np.diag(margin(one.level, one.axes) @ inverse @ margin(one.level, one.axes).T) for one in recipe.asked}


def precision_of(quoted):
    """What a share of 1 is as the precision of a cell: the same for every effect of every level."""
    recipe, noises = quoted.lines[0].recipe, quoted.noises(quoted.lines[0])
    behind = recipe.noise_behind(noises)
    found = []
    for (level, part), one in behind.items():
        if one.law is not None:
            energy, scale = recipe.effects.energy(part), recipe.effects.scale(part)
            variance = one.law.sigma2 / (one.times * scale) ** 2
            found.append(float(recipe.given[level, part] / energy * variance))
    assert max(found) == pytest.approx(min(found), rel=1e-9)
    return 1 / found[0]


def test_effects_with_stated_shares_say_what_whole_tables_say():
    """Tables measured as a whole and their effects, each with the sum of its precisions, have the same least squares.

    Of a spend ρ whole tables get the precision ρ · share, since rows of two areas cost each of them 2; n is free, which the
    others have.
    """
    shares = {"": [0, 2], "area.wide": [2, 5], "area.fine": [1, 3]}
    quoted = quote(request(dp.ReplaceOne(rows=ROWS), shares={"shares": shares}), dp.ZCDP(2))
    recipe, noises, precision = quoted.lines[0].recipe, quoted.noises(quoted.lines[0]), precision_of(quoted)
    assert precision >= 2 / 13
    mine = variances_of_areas(TreeTables(recipe.tree, recipe.effects), recipe.asked, recipe.noise_behind(noises))
    for table, least in measured_whole(quoted, shares, precision).items():
        own = np.repeat(mine[table][recipe.tree.shapes.of[table.level]], len(least) // recipe.tree.sizes[table.level])
        assert own == pytest.approx(least, rel=1e-4, abs=1e-6)


def test_an_effect_that_loses_the_tables_it_is_part_of_is_caught(monkeypatch):
    """Shares of tables with more columns measure the effects of their parts too."""
    right = tree_given.parts_of
    monkeypatch.setattr(tree_given, "parts_of", lambda effects, table: right(effects, table)[-1:])
    with pytest.raises((AssertionError, dp.PlanError)):
        test_effects_with_stated_shares_say_what_whole_tables_say()


def test_cells_from_levels_that_are_not_measured_are_least_squares_too():
    quoted = quote(request(dp.AddRemove(), shares=STATED["some"]), SPEND)
    exact = [np.zeros(sum(one.query.widths()), dtype=np.int64) for one in quoted.measured]
    answers = answers_of(quoted, quoted.lines[0], noisy_answers(quoted, exact, system_bits()))
    for table, (cells, _) in zip(quoted.lines[0].recipe.tables(answers), dense(quoted, answers), strict=True):
        assert table.counts.value == pytest.approx(cells, abs=1e-2)


# The division of the spend --------------------------------------------------------------------------------------------


def test_no_other_division_of_the_spend_is_better_for_all_tables_of_all_levels():
    """Small steps in any direction, at the same cost, never lower the sum of the logarithms by more than the gap."""
    (line,) = quote(request(dp.AddRemove(), "s and c", "three levels"), SPEND).lines
    wanted: Wanted = line.recipe.wanted
    best = {key: float(one) for key, one in best_shares_in_tree(wanted).items()}
    generator = np.random.default_rng(3)

    def total(shares):
        every = sum(shares.values())
        found = mean_variances(
            wanted, {key: float(wanted.effects.energy(key[1])) * every / one for key, one in shares.items()}
        )
        return float(sum(np.log(one) for one in found.values()))

    least = total(best)
    for _ in range(60):
        assert total({key: one * np.exp(generator.normal(0, 0.1)) for key, one in best.items()}) >= least - 1e-6


# Cells and intervals --------------------------------------------------------------------------------------------------


def dense(quoted, answers):
    """The least-squares cells of every table and their variances, from a matrix over the finest joint table."""
    (line,) = quoted.lines
    recipe = line.recipe
    tree, sizes = recipe.tree, recipe.effects.sizes
    levels = [np.eye(tree.sizes[-1])]
    for parents, size in zip(reversed(tree.parents), reversed(tree.sizes[:-1]), strict=True):
        above = np.zeros((size, tree.sizes[-1]))
        np.add.at(above, list(parents), levels[0])
        levels.insert(0, above)

    def over(level, factors):
        matrix = levels[level]
        for factor in factors:
            matrix = np.kron(matrix, factor)
        return matrix

    rows, right = [], []
    for (level, part), one in recipe.measured(answers).items():
        matrix = over(level, [np.eye(n) * n - 1 if axis in part else np.ones((1, n)) for axis, n in enumerate(sizes)])
        deviation = 1e-3 if one.law is None else float(one.law.sigma2) ** 0.5 / one.times
        rows.append(matrix / deviation)
        right.append(one.values.ravel().astype(float) / one.times / deviation)
    matrix, right = np.concatenate(rows), np.concatenate(right)
    inverse = np.linalg.pinv(matrix.T @ matrix, rcond=1e-13, hermitian=True)
    found = inverse @ matrix.T @ right
    for table in recipe.asked:
        margin = over(table.level, [np.eye(n) if axis in table.axes else np.ones((1, n)) for axis, n in enumerate(sizes)])
        yield margin @ found, np.diag(margin @ inverse @ margin.T)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=50)], ids=str)
def test_cells_are_the_least_squares_estimate_with_its_deviation(neighbours, tree):
    quoted = quote(request(neighbours, "s, c", tree), SPEND)
    exact = [np.zeros(sum(one.query.widths()), dtype=np.int64) for one in quoted.measured]
    answers = answers_of(quoted, quoted.lines[0], noisy_answers(quoted, exact, system_bits()))
    recipe = quoted.lines[0].recipe
    tables, noises = TreeTables(recipe.tree, recipe.effects), quoted.noises(quoted.lines[0])
    variances = variances_of_areas(tables, recipe.asked, recipe.noise_behind(noises))
    halves = errors_of_areas(tables, recipe.asked, recipe.noise_behind(noises), noises.level)
    every = zip(recipe.asked, recipe.tables(answers), dense(quoted, answers), strict=True)
    for asked, table, (cells, least) in every:
        assert table.counts.value == pytest.approx(cells, abs=1e-2)
        per_area = least.reshape(recipe.tree.sizes[asked.level], -1)
        of = recipe.tree.shapes.of[asked.level]
        mine = variances[asked][of]
        assert per_area.max(axis=1) == pytest.approx(mine, abs=1e-4)
        assert np.ptp(per_area, axis=1).max() < 1e-4
        wide = mine > 1e-4
        widths = halves[asked][of][wide] / mine[wide] ** 0.5
        assert ((widths >= 1.9599) & (widths <= 1.9599 * 1.003)).all()


def test_every_effect_of_every_level_is_asked_once():
    quoted = quote(request(dp.AddRemove(), "s, c"), SPEND)
    assert all(isinstance(one.query, AreaEffects) for one in quoted.measured)
    asked = [(one.query.level, one.query.effect.columns()) for one in quoted.measured]
    assert sorted(asked) == sorted(product(range(3), [(), ("s",), ("c",)]))
