"""The declared change of every query of every shape, against all neighbouring tables of a few rows.

Nothing is sampled: each kind of query meets each way to prepare a table and to group it, under both relations, and for each
of the three things that a row can do (stay in its cell, move, count nowhere) the declared norms are never below the largest
that occur. They are equal to it wherever `Case.loose` gives no reason why not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import QUERIES, Dispersion, LevelCounts
from discreet.cube.queries.base import change_of_sum
from discreet.mechanisms import worst

from . import every_query
from .every_query import Case, cases, contribution, matrix, norms, placed, slack, violations
from .literal_rows import compared

RELATIONS = {"add-remove": dp.AddRemove(), "two rows": dp.ReplaceOne(rows=2), "three rows": dp.ReplaceOne(rows=3)}


def check(tried) -> Counter:
    """No case has a row that does more than is declared; how many cases of each kind of query were exact."""
    exact: Counter = Counter()
    for case in tried:
        assert not violations(case)
        if not case.loose:
            assert slack(case) == 1, str(case)
            exact[type(case.query)] += 1
    return exact


@pytest.mark.parametrize("upper", [3, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", RELATIONS)
def test_no_row_changes_any_answer_by_more_than_declared_and_some_row_by_as_much(name, upper):
    exact = check(cases(RELATIONS[name], upper))
    # Every member of the union is there: a new one that nobody has tried fails here.
    assert set(exact) == set(QUERIES)
    assert min(count for kind, count in exact.items() if kind is not Dispersion) >= 30


@pytest.mark.exhaustive
@pytest.mark.parametrize("upper", [4, 5, 12, 26])
@pytest.mark.parametrize("name", RELATIONS)
def test_the_same_on_more_domains(name, upper):
    assert set(check(cases(RELATIONS[name], upper))) == set(QUERIES)


def test_trees_of_several_levels_and_leaves_of_several_codes_are_among_them():
    found = {(q.tree.depth, q.tree.branching, q.tree.width) for q in _asked(7) if isinstance(q, LevelCounts)}
    assert {depth for depth, _, _ in found} == {1, 2, 3}
    assert {(2, 2, 1), (3, 2, 1), (2, 3, 1), (2, 2, 2)} <= found


def _asked(upper):
    return [case.query for case in cases(dp.AddRemove(), upper)]


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_a_wide_column_whose_squared_distances_are_rounded(rows):
    """Of 2^21 codes the ends, the middle and what is next to them; the declared change is that of the ends, rounded up."""
    width = 2**21 + 1
    plan = dp.Table(dp.Schema(v=dp.Number(0, width)), dp.ReplaceOne(rows=rows)).impute({"v": dp.Uniform()}).agg(dp.std("v"))
    case = Case(plan, Dispersion("v", width, rows))
    assert case.query.coarse > 1
    assert not violations(case)
    assert 1 <= slack(case) < Fraction(1_000_001, 1_000_000)


# Whole tables and several rows ------------------------------------------------------------------------------------------


def whole_tables(case: Case, neighbours, most: int):
    """The changes of the answer for all pairs of neighbouring tables of at most so many rows, row by row."""
    added = [contribution(case.query, case.plan, cell, row) for cell, row in placed(case.plan)]
    kinds = list({frozenset(one.items()): one for one in added}.values())[:6]
    sizes = [neighbours.rows] if isinstance(neighbours, dp.ReplaceOne) else range(most + 1)
    tables = [one for size in sizes for one in combinations_with_replacement(range(len(kinds)), size)]
    counts = np.array([np.bincount(np.array(one, dtype=int), minlength=len(kinds)) for one in tables])
    answers = counts @ matrix(kinds)
    pairs = compared(counts, neighbours)
    return answers[pairs[:, 0]] - answers[pairs[:, 1]]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("persons", [1, 2, 3])
@pytest.mark.parametrize("replaced", [False, True], ids=["add-remove", "replace-one"])
def test_a_person_with_k_rows_changes_an_answer_k_times_as_much(replaced, persons):
    """Δ₁ grows by k and Δ₂² by k², on whole tables; both are reached by a person whose rows are all the same."""
    neighbours = dp.ReplaceOne(rows=3, rows_per_person=persons) if replaced else dp.AddRemove(rows_per_person=persons)
    tried = [
        case
        for case in cases(neighbours, 3)
        if type(case.query).__name__ not in {"Dispersion", "QuantileCodes", "QuantileIntervals"}
    ]
    tried = [case for case in tried if not any(type(step).__name__ == "Resize" for step in case.plan.steps)]
    reached = 0
    for case in tried[::9]:
        one = worst(case.declared)
        found = norms(whole_tables(case, neighbours, 3))
        assert found[0] <= persons * one.l1
        assert found[1] <= persons**2 * one.l2_squared
        reached += found == (persons * one.l1, persons**2 * one.l2_squared)
    assert reached > 0.5 * len(tried[::9]) > 50


# A query that a test defines --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Toy:
    """Each row whose column is not null adds `amount`; what it claims to add is another matter."""

    column: str
    amount: int
    claimed: int

    def literally(self, row):
        return [] if row[self.column] is None else [(0, 0, self.amount)]

    def reach(self):
        return self.claimed, self.claimed

    def widths(self):
        return (1,)

    def nullable(self, facts):
        return facts[self.column].nullable

    def change(self, row, facts):
        return change_of_sum(self, row, facts)


HONEST, LIAR = Toy("v", 3, 3), Toy("v", 3, 2)


def joined(monkeypatch):
    """The toy is one of the queries; it has all its rules with it, and nothing of the library has to know it."""
    known = every_query.queries
    monkeypatch.setattr(every_query, "queries", lambda plan: [*known(plan), HONEST])


@pytest.mark.parametrize("name", RELATIONS)
def test_a_toy_joins_the_law(name, monkeypatch):
    joined(monkeypatch)
    tried = list(cases(RELATIONS[name], 3))
    assert {type(case.query) for case in tried} == {*QUERIES, Toy}
    # The others are what they were (see above).
    assert set(check(case for case in tried if isinstance(case.query, Toy))) == {Toy}


@pytest.mark.parametrize("name", RELATIONS)
def test_a_toy_that_lies_about_its_sensitivity_is_caught(name, monkeypatch):
    joined(monkeypatch)
    honest = [case for case in cases(RELATIONS[name], 3) if isinstance(case.query, Toy)]
    lying = [Case(case.plan, LIAR) for case in honest if not case.loose and worst(case.declared).l1]
    assert len(lying) > 10
    assert all(violations(case) for case in lying)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_query_without_rules_of_its_own_has_no_sensitivity_at_all(name):
    """Not that of a count: without a rule it used to add 1 to one coordinate."""
    plan = next(iter(cases(RELATIONS[name], 3))).plan
    for missing in ("change", "reach", "widths", "nullable"):
        rules = {rule: getattr(Toy, rule) for rule in ("change", "reach", "widths", "nullable") if rule != missing}
        lacking = type("Lacking", (), {**rules, "column": "v", "claimed": 3})
        with pytest.raises(AttributeError, match=missing):
            _ = Case(plan, lacking()).declared
