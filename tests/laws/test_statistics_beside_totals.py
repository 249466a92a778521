"""Declared sensitivities beside exact totals hold for all statistics: every two tables that have equal totals are tried.

Answers are sums over rows, so those of any table follow from those of tables in which all rows are the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.cube.queries import RowCount
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts

ROWS = 3
SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p", "q"]), v=dp.Number(0, 7))
HEADER = {"a": ColumnType("text", "text"), "b": ColumnType("text", "text"), "v": ColumnType("integer", "BIGINT")}
LEVELS = {"a": ["x", "y", None], "b": ["p", "q", None]}
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
PART, HALVES = dp.histogram("v", [4, 7]), dp.histogram("v", [0, 4, 7]).alias("halves")
SPREAD, TREE = dp.std("v", nulls="skip"), dp.median("v", nulls="skip", interval=1)

INVARIANTS = {
    "a partition": dp.Totals("a"),
    "one group": dp.Totals("a", only=["x"]),
    "margins": dp.Margins(["a"], ["b"]),
    "occupied cells": dp.Occupied("a"),
}
REQUESTS = {
    "everybody": TABLE.agg(PART, HALVES, SPREAD, TREE),
    "by the totals": TABLE.group_by("a").agg(PART, SPREAD, TREE),
    "by a free column": TABLE.group_by(dp.bins("v", [0, 4])).agg(PART, HALVES, dp.share()),
    "by both": TABLE.group_by("a", "b").agg(TREE, HALVES, dp.variance("v", nulls="skip")),
    "some rows": TABLE.where({"b": ["p"]}).group_by("a").agg(PART, HALVES, SPREAD, TREE),
    "bins of what is never null": TABLE.impute({"v": dp.Uniform()}).agg(PART, HALVES.alias("other"), dp.mean("v")),
    "large values": TABLE.impute({"v": dp.Uniform()}).clamp({"v": (5, 7)}).where({"b": ["p"]}).agg(dp.sum("v")),
    "margins": TABLE.agg(dp.tables(["b", dp.bins("v", [0, 4])], [dp.bins("v", [4, 7])]), dp.mean("v", nulls="skip")),
}


def records(request):
    """Some rows, alike in part, so that many tables have equal totals."""
    values = [0, 3, 7] if request.steps and type(request.steps[0]).__name__ == "Impute" else [0, 3, 7, None]
    everything = list(product(LEVELS["a"], LEVELS["b"], values))
    return [everything[i] for i in np.random.default_rng(5).choice(len(everything), 11, replace=False)]


def totals_of(invariants, table):
    keys = [[LEVELS[name].index(record["ab".index(name)]) for name in invariants.columns] for record in table]
    return totals_of_counts(invariants, SCHEMA, (np.array(keys), np.ones(len(table), dtype=np.int64)))


def fibres(invariants, rows):
    """The largest sets of tables with equal totals."""
    found = defaultdict(list)
    for table in combinations_with_replacement(rows, ROWS):
        found[totals_of(invariants, table)].append(table)
    return sorted(found.items(), key=lambda item: -len(item[1]))[:4]


def answers(asked, row):
    """What one such row adds to the answer of each query."""
    (brought,) = asked.plan.layout.scans
    cube = ReferenceEngine(HEADER, [row] * ROWS).aggregate(brought.axes, brought.moments)
    return [answer.astype(np.int64) // ROWS for answer in exact_answers(asked, [cube], None)]


@pytest.mark.one_in(9)
@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("name", INVARIANTS)
def test_no_two_tables_with_equal_totals_differ_by_more_than_declared(name, request_name):
    invariants, request = INVARIANTS[name], REQUESTS[request_name]
    rows, compared = records(request), 0
    for totals, tables in fibres(invariants, rows):
        asked = quote(request, dp.PureDP(1), exact_totals_of(invariants, SCHEMA, totals, ROWS))
        assert sum(one.guarantee.epsilon for one in asked.measured) == 1
        each = [np.stack(of_rows) for of_rows in zip(*(answers(asked, row) for row in rows), strict=True)]
        counts = np.array([[Counter(table)[row] for row in rows] for table in tables])
        moved = counts[:, None] - counts[None]
        near = np.abs(moved).sum(axis=2) // 2 <= asked.beside.adjacency.a
        compared += int(near.sum())
        for one, added in zip(asked.measured, each, strict=True):
            if isinstance(one.query, RowCount):
                continue  # these are compared with the lattice of their noise elsewhere
            changed = np.abs(moved[near] @ added)
            assert changed.sum(axis=1).max(initial=0) <= one.sensitivity.l1, one.query
            assert (changed**2).sum(axis=1).max(initial=0) <= one.sensitivity.l2_squared, one.query
            if one.law.held is not None:
                assert not np.delete(counts @ added, one.law.held, axis=1).any()
    assert compared > 100
