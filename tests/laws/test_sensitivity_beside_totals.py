"""The declared sensitivity of every query beside exact totals, against all tables of three rows with equal totals.

Compared are tables with the same published totals that differ in at most a(t) rows (semi-adjacent ones). What a row adds is
found row by row, as without totals; totals are those of the table as it is scanned.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
import discreet.quotes.allocate as module
from discreet.cube.queries import (
    QUERIES,
    AreaEffects,
    AreaLevels,
    Contrast,
    Dispersion,
    EffectCounts,
    Excess,
    Factor,
    ImputedSum,
    LevelCounts,
    NonNullCount,
    NullCount,
    PairSum,
    Part,
    ProductSum,
    QuantileCodes,
    QuantileIntervals,
    RowCount,
    Squares,
    TableCounts,
    VectorSum,
    WeightedSum,
    WholeTable,
)
from discreet.cube.trees import Tree
from discreet.domain.groups import CategoryGroup
from discreet.mechanisms import Sensitivity
from discreet.quotes.allocate import changes_of, quote
from discreet.quotes.primitives import Asked
from discreet.quotes.space import Space, space_of
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

from . import literal_rows
from .every_query import contribution, matrix
from .literal_choices import HALF, changed
from .literal_intervals import largest_factor
from .mutants import Mutant

CHOSEN = (QuantileCodes, QuantileIntervals)
ROWS, MOST_FIBRES, MOST_CHOICES = 3, 3, 100
SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p", "q"]), v=dp.Number(0, 3), w=dp.Number(0, 2))
LEVELS = {"a": ["x", "y", None], "b": ["p", None], "v": [0, 3, None], "w": [0, 2, None]}
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
FULL = TABLE.impute({"v": dp.Uniform(3, 3), "w": dp.Uniform(2, 2)})
INVARIANTS = {
    "a partition": dp.Totals("a"),
    "one group": dp.Totals("a", only=["x"]),
    "margins": dp.Margins(["a"], ["b"]),
    "occupied cells": dp.Occupied("a"),
    "a sum": dp.LinearInvariant(["a"], {"s": {"x": 1, "y": 2}}),
}
REQUESTS = {
    "everybody": TABLE.agg(dp.count("v")),
    "by the totals": TABLE.group_by("a").agg(dp.count("v")),
    "by another column": TABLE.group_by("b").agg(dp.count("v")),
    "by both": TABLE.group_by("a", "b").agg(dp.count("v")),
    "some rows": TABLE.where({"b": ["p"]}).group_by("a").agg(dp.count("v")),
    "nothing is null": FULL.agg(dp.sum("v")),
    "nothing is null, by the totals": FULL.group_by("a").agg(dp.sum("v")),
}


BESIDE_ORIGINALS = {Excess, ImputedSum, NullCount}
"""Sums and counts like the others, asked in requests for originals: `test_originals` and `every_query` have them."""


def queries(plan):
    """One of each kind and shape."""
    yield from (
        RowCount(),
        NonNullCount("v"),
        WeightedSum("v", -3, 2, 3),
        WeightedSum("v", 2, 1, 3),
        Squares("v", 0, 1, 3, 4),
    )
    yield from (LevelCounts("v", 0, Tree(4, 2, 2)), LevelCounts("v", 0, Tree(4, 4, 1)))
    column = plan.facts["b"]
    size = len(column.kept) + column.nullable
    yield TableCounts((CategoryGroup("b"),), (size,))
    yield EffectCounts((CategoryGroup("b"),), (size,), (tuple(range(size)),), 2)
    yield WholeTable((CategoryGroup("b"),), (size,), (tuple(range(size)),), 1, 2)
    yield AreaEffects(AreaLevels(("b",), (size,), (tuple(range(size)),), ()), 1, EffectCounts((), (), (), 2))
    yield QuantileCodes("v", 0, 4, HALF)
    yield QuantileIntervals(QuantileCodes("v", 0, 4, HALF), HALF)
    yield PairSum(Factor("v", 0, -3, 2, 3, 1), Factor("w", 0, -1, 1, 2, 1), 0)
    yield ProductSum((Factor("v", 0, -3, 2, 3, 1), Factor("w", 0, -1, 1, 2, 2)))
    v, signs = Factor("v", 0, -3, 2, 3, 1), Contrast("a", ((0, -1), (1, 1)), (0, 1))
    yield VectorSum((Part((), 2), Part((v,), 1), Part((signs, v), 1)), ("a", "v"))


def rows_of(plan):
    """The rows of the source with their cell and their final values; nulls are drawn by laws with one value."""
    labels = plan.layout.labels
    for values in product(*LEVELS.values()):
        laws = [literal_rows.after_steps(plan, name, value) for name, value in zip(LEVELS, values, strict=True)]
        row = dict(zip(LEVELS, (value for law in laws for value in law), strict=True))
        cell = literal_rows.cell_of(plan.group_by, labels, row) if literal_rows.passes(plan, row) else None
        yield values, cell, row


@cache
def all_beside(name, totals):
    return exact_totals_of(INVARIANTS[name], SCHEMA, totals, ROWS)


def kinds_of(invariants, plan, query):
    """Rows that are alike for the totals and for the query are one: its raw values, and what it adds."""
    found = {}
    for values, cell, row in rows_of(plan):
        shown = tuple(values[list(LEVELS).index(name)] for name in invariants.columns)
        added = (cell, row["v"]) if isinstance(query, CHOSEN) else contribution(query, plan, cell, row)
        key = added if isinstance(query, CHOSEN) else frozenset(added.items())
        found.setdefault((shown, key), (values, added))
    return list(found.values())


@cache
def totals_of(name, shown):
    """The totals of a table, from the codes of its rows in the columns of the totals."""
    return totals_of_counts(INVARIANTS[name], SCHEMA, (np.array(shown), np.ones(ROWS, dtype=np.int64)))


def fibres(name, kinds):
    """The largest sets of tables with equal totals, as numbers of rows of each kind."""
    columns, found = INVARIANTS[name].columns, defaultdict(list)
    codes = [tuple(LEVELS[column].index(values[list(LEVELS).index(column)]) for column in columns) for values, _ in kinds]
    for table in combinations_with_replacement(range(len(kinds)), ROWS):
        found[totals_of(name, tuple(sorted(codes[kind] for kind in table)))].append(np.bincount(table, minlength=len(kinds)))
    largest = sorted(found.items(), key=lambda item: -len(item[1]))[:MOST_FIBRES]
    return [(totals, np.array(tables)) for totals, tables in largest]


def declared(plan, query, totals):
    """The declared sensitivity beside totals, and a(t)."""
    asked = quote(TABLE.agg(dp.count("v")), dp.PureDP(1))
    change = changes_of(replace(asked, plan=plan, measured=(replace(asked.measured[0], query=query),)))[0]
    space = space_of(plan, totals)
    if isinstance(query, RowCount) and space.determined:
        return Sensitivity(0, 0), totals.adjacency.a
    return module._sensitivity(Asked(plan, plan.facts, space), query, change), totals.adjacency.a


def reached(query, kinds, tables, a):
    """The largest norms over all pairs of these tables that differ in at most a rows."""
    first, second = np.nonzero(np.abs(tables[:, None] - tables[None]).sum(axis=2) <= 2 * a)
    if isinstance(query, CHOSEN):
        pairs = [(i, j) for i, j in zip(first, second, strict=True) if i < j]
        both = [choices(query, kinds, tables[i], tables[j]) for i, j in pairs[:: 1 + len(pairs) // MOST_CHOICES]]
        return max((l1 for l1, _ in both), default=0), max((l2 for _, l2 in both), default=0)
    moved = (tables[first] - tables[second]) @ matrix([added for _, added in kinds])
    return int(np.abs(moved).sum(axis=1).max(initial=0)), int((moved**2).sum(axis=1).max(initial=0))


def choices(query, kinds, one, other):
    """Of the choices in all cells together."""
    cells = {cell for _, (cell, value) in kinds if cell is not None and value is not None}
    found = []
    for cell in cells:
        both = [
            tuple(
                sorted(
                    value
                    for (_, (where, value)), n in zip(kinds, table, strict=True)
                    for _ in range(n)
                    if where == cell and value is not None
                )
            )
            for table in (one, other)
        ]
        if isinstance(query, QuantileIntervals):
            factor = largest_factor(query.centres.size, *query.at, (tuple(both),))
            found.append({(factor, factor**2)})
        else:
            found.append(changed(*both, 0, query.size - 1, query.at, HALF[0]))
    return sum(max(l1 for l1, _ in each) for each in found), sum(max(l2 for _, l2 in each) for each in found)


def tried(name, request_name):
    """For every query and some totals: what is declared and what is reached."""
    invariants, plan = INVARIANTS[name], REQUESTS[request_name]
    for query in queries(plan):
        kinds = kinds_of(invariants, plan, query)
        for totals, tables in fibres(name, kinds):
            bound, a = declared(plan, query, all_beside(name, totals))
            yield query, bound, reached(query, kinds, tables, a)


def violated(name, request_name):
    return [query for query, bound, found in tried(name, request_name) if found[0] > bound.l1 or found[1] > bound.l2_squared]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("name", INVARIANTS)
def test_no_two_semi_adjacent_tables_differ_by_more_than_declared(name, request_name):
    assert not violated(name, request_name)
    assert {type(query) for query in queries(REQUESTS[request_name])} == set(QUERIES) - {Dispersion, *BESIDE_ORIGINALS}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("request_name", ["everybody", "nothing is null"])
@pytest.mark.parametrize("name", ["a partition", "one group", "occupied cells"])
def test_some_two_tables_differ_by_as_much_where_no_cell_is_tied_to_the_totals(name, request_name):
    """Elsewhere the bound is a(t) times that of one row within a class, though a row in one class may be less free."""
    assert all(found == (bound.l1, bound.l2_squared) for _, bound, found in tried(name, request_name))


def test_the_squared_distances_of_a_public_number_of_rows():
    """Dispersion: its sum over a(t) replaced rows of one class; here any two of three rows may be replaced."""
    query, plan = Dispersion("v", 3, ROWS), REQUESTS["nothing is null"]
    bound, a = declared(plan, query, all_beside("a partition", totals_of("a partition", ((0,), (0,), (1,)))))
    tables = list(product(range(4), repeat=ROWS))
    values = [sum((x - y) ** 2 for x, y in combinations(codes, 2)) for codes in tables]
    changed = [
        abs(values[i] - values[j])
        for (i, one), (j, other) in combinations(enumerate(tables), 2)
        if sum(x != y for x, y in zip(one, other, strict=True)) <= a
    ]
    assert a == 2
    assert max(changed) <= bound.l1 <= 2 * max(changed)
    assert max(changed) ** 2 <= bound.l2_squared


MUTANTS = {
    "a(t) is forgotten": Mutant(Space, "of_moves", "a * max(l1", "max(l1"),
    "a(t) is not squared": Mutant(Space, "of_moves", "a * a * max", "a * max"),
    "nobody moves to another cell": Mutant(Space, "of_moves", "(within, across, leaves) if self.across else", ""),
    "nobody moves within a cell": Mutant(Space, "of_moves", "else (within, leaves)", "else (leaves,)"),
    "counts without a(t)": Mutant(
        Space, "of_values", "(within, within**2), (2 * largest, 2 * largest**2)", "(0, 0), (1, 1)"
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_bound_that_forgets_something_is_noticed(name, monkeypatch):
    MUTANTS[name].plant(monkeypatch)
    assert any(violated("a partition", request_name) for request_name in REQUESTS)


def test_a_lattice_of_some_lists_has_the_bounds_of_all_totals(monkeypatch):
    """Margins, a condition on one column: the other list leaves a lattice, in which a row may leave its cell for none."""
    space = space_of(REQUESTS["some rows"], all_beside("margins", None))
    assert space.structure is not None
    assert not space.settled
    assert not violated("margins", "some rows")
    Mutant(Space, "of_rows", "not self.settled", "self.structure is None").plant(monkeypatch)
    assert violated("margins", "some rows")
