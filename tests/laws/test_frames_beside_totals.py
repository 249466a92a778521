"""Histograms, tables and counts of known values beside exact totals, against all tables of three rows with equal totals.

For every two tables with the same totals the counts of a frame must differ by a member of the lattice on which its noise
lives, and those of semi-adjacent ones by no more than the declared sensitivity. Rows are counted here by plain Python.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
import discreet.quotes.space as space_module
import discreet.quotes.view as view_module
from discreet.domain.groups import group_labels
from discreet.domain.steps import Where, WhereIn
from discreet.quotes.allocate import quote
from discreet.totals.exact_totals import exact_totals_of

from .mutants import Mutant
from .test_totals_in_requests import LEVELS, ROWS, SCHEMA, TABLE, all_in_lattice, fibres

VALUES = dp.bins("v", [0, 2, 4])


def apart(*groupings):
    """Tables that are measured each by itself, as one alone is under pure ε."""
    return [dp.tables(by).alias(f"table {place}") for place, by in enumerate(groupings)]


CASES = {
    "a table of the totals and a free column": (dp.Totals("a"), TABLE.agg(*apart(["a", "f"]))),
    "tables of which one is exact": (dp.Totals("a"), TABLE.agg(*apart(["a"], ["f", "a"]))),
    "a table without the totals": (dp.Totals("a"), TABLE.agg(*apart(["f", VALUES]))),
    "a histogram in each group": (dp.Totals("a"), TABLE.group_by("a").agg(dp.histogram("v", [0, 2, 4]))),
    "a histogram that leaves rows out": (dp.Totals("a"), TABLE.group_by("a").agg(dp.histogram("v", [2, 4]))),
    "a histogram of totals": (dp.Totals("v"), TABLE.group_by("f").agg(dp.histogram("v", [0, 2, 4]))),
    "a histogram of a grouped column": (
        dp.Totals("a"),
        TABLE.group_by(dp.bins("v", [0, 4])).agg(dp.histogram("v", [0, 2, 4])),
    ),
    "a table under a condition": (dp.Totals("a"), TABLE.where({"b": ["p"]}).agg(*apart(["a", "f"]))),
    "a table of some groups": (dp.Totals("a"), TABLE.where({"a": ["x"]}).agg(*apart(["a", "f"]))),
    "margins": (dp.Margins(["a"], ["b"]), TABLE.agg(*apart(["a", "b"], ["b"]))),
    "margins and a free column": (dp.Margins(["a"], ["b"]), TABLE.agg(*apart(["b", "f", "a"]))),
    "margins, one of them binned": (dp.Margins(["a"], ["v"]), TABLE.group_by("a").agg(dp.histogram("v", [0, 2, 4]))),
    "known values of the totals": (dp.Totals("a"), TABLE.group_by("f").agg(dp.count("a"))),
    "known values of the totals, exact": (dp.Totals("a"), TABLE.agg(dp.count("a"), dp.count("v"))),
    "known values of a free column": (dp.Totals("a"), TABLE.group_by("a").agg(dp.count("f"))),
    "known values of a margin": (dp.Margins(["a"], ["b"]), TABLE.group_by("a").agg(dp.count("b"))),
    "known values, categories clamped away": (dp.Totals("a"), TABLE.clamp({"a": ["x"]}).group_by("f").agg(dp.count("a"))),
    "a histogram of totals that leaves rows out": (dp.Totals("v"), TABLE.group_by("f").agg(dp.histogram("v", [2, 4]))),
    "overlapping margins": (dp.Margins(["a", "f"], ["b", "f"]), TABLE.agg(*apart(["a", "b", "f"], ["b", "a"], ["f"]))),
    "occupied cells": (dp.Occupied("a"), TABLE.agg(*apart(["a", "f"]), dp.count("a"))),
    "totals and occupied cells": (dp.Totals("a") + dp.Occupied("b"), TABLE.agg(*apart(["b", "a"]))),
    "some groups": (dp.Totals("a", only=["x"]), TABLE.agg(*apart(["a", "f"]))),
    "impossible cells": (dp.Totals("a") + dp.Impossible("a", "b", cells=[("x", "q")]), TABLE.agg(*apart(["a", "b"]))),
    "a sum": (dp.LinearInvariant(["a"], {"s": {"x": 1, "y": 2}}), TABLE.agg(*apart(["a", "f"]))),
}


def value_of(plan, column, record):
    """The value of a row in a column after the clamps of categories; null where it is clamped away."""
    value = dict(zip(LEVELS, record, strict=True))[column]
    for step in plan.steps:
        if type(step).__name__ == "ClampCategories" and step.column == column:
            value = value if value in [SCHEMA[column].values[code] for code in step.kept] else None
    return value


def label_of(plan, group, record):
    """The label of a row in a group; a row that is in none has the word "none"."""
    value = value_of(plan, group.column, record)
    if group.column != "v" or value is None:
        return value
    bins = [code <= value // 2 for code in group.edges].count(True) - 1
    return group.labels[bins] if 0 <= bins < len(group.edges) - 1 else "none"


def counts_of(plan, query, table):
    """The counts of a query, row by row."""
    groups = (*plan.group_by, *query.rows.by)
    places = {cell: i for i, cell in enumerate(product(*(group_labels(group, plan.facts) for group in groups)))}
    found = np.zeros(len(places), dtype=int)
    for record in table:
        values = dict(zip(LEVELS, record, strict=True))
        for step in plan.steps:
            if isinstance(step, WhereIn) and values[step.column] not in [SCHEMA[step.column].values[c] for c in step.kept]:
                break
            assert not isinstance(step, Where)
        else:
            cell = tuple(label_of(plan, group, record) for group in groups)
            known = [value_of(plan, name, record) for name in query.rows.known]
            if "none" not in cell and None not in known:
                found[places[cell]] += 1
    return found


def asked_queries(plan):
    """The queries of a request without totals, in which none of them is public."""
    return [one.query for one in quote(plan, dp.PureDP(1)).measured]


def violations(name):
    """What a quote says of a query that some two tables refute, and how many semi-adjacent pairs there were."""
    invariants, plan = CASES[name]
    wrong, compared = [], 0
    whole = exact_totals_of(invariants, SCHEMA, None, ROWS)
    before = quoted(plan, whole)
    for number, (totals, fibre) in enumerate(fibres(invariants).items()):
        if number % 5 and len(fibre) < 12:
            continue
        tables = fibre[:40]
        records = [Counter(table) for table in tables]
        pairs = np.array(list(combinations(range(len(tables)), 2)), dtype=int).reshape(-1, 2)
        for published in (None, totals):
            exactly = whole if published is None else exact_totals_of(invariants, SCHEMA, published, ROWS)
            near = [(records[i] - records[j]).total() <= exactly.adjacency.a for i, j in pairs]
            compared += sum(near)
            measured = before if published is None else quoted(plan, exactly)
            space = space_module.space_of(plan, exactly)
            for query in asked_queries(plan):
                counts = np.array([counts_of(plan, query, table) for table in tables])
                moved = counts[pairs[:, 0]] - counts[pairs[:, 1]]
                if query not in measured:
                    known = space.counting(query).known.counts()
                    wrong += ["public"] if moved.any() or (published and (known != counts).any()) else []
                    continue
                one = measured[query]
                wrong += ["l1"] if (np.abs(moved[near]).sum(axis=1) > one.sensitivity.l1).any() else []
                wrong += ["l2"] if ((moved[near] ** 2).sum(axis=1) > one.sensitivity.l2_squared).any() else []
                wrong += ["lattice"] if not drawn_covers(one.law, space.counting(query), moved) else []
    return wrong, compared


def quoted(plan, exactly):
    """The measured queries; none where the totals determine everything."""
    alone = any(one.kind.word == "tables" for one in plan.statistics)
    try:
        return {one.query: one for one in quote(plan, dp.PureDP(1) if alone else dp.ZCDP(1), exactly).measured}
    except dp.PlanError as refused:
        assert any(said in str(refused) for said in ("public already", "follows from what is public"))  # noqa: PT017
        return {}


def drawn_covers(law, counted, moved):
    """True if the noise can reach every difference: on its lattice, or at the cells that have noise."""
    if law.keeps_totals:
        return all_in_lattice(counted.structure, moved)
    still = np.ones(moved.shape[1], dtype=bool)
    still[slice(None) if law.held is None else law.held] = False
    return not moved[:, still].any()


@pytest.mark.slow
@pytest.mark.one_in(18)
@pytest.mark.parametrize("name", CASES)
def test_counts_of_frames_differ_within_lattice_and_sensitivity(name):
    wrong, compared = violations(name)
    assert not wrong
    assert compared > 50


MUTANTS = {
    "null rows are counted": (
        "known values of the totals, exact",
        Mutant(view_module, "_places_of", "np.where(_codes_of(plan, name, known) == NULL, -1, place)", "place"),
    ),
    "bins that leave rows out are taken for all": (
        "a histogram that leaves rows out",
        Mutant(view_module, "view_of", "and further and known", "and known"),
    ),
    "null is no level of a free column": (
        "known values of a free column",
        Mutant(view_module, "view_of", "and further and known", "and further"),
    ),
    "three rows move no more than two in any table": (
        "margins",
        Mutant(space_module, "_of_margins", " and a == 3 and all(_has_pair(table) for table in structure.tables)", ""),
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", MUTANTS)
def test_counts_that_are_seen_wrongly_are_noticed(name, monkeypatch):
    case, mutant = MUTANTS[name]
    mutant.plant(monkeypatch)
    monkeypatch.setattr(space_module, "view_of", view_module.view_of)  # it has it by name
    assert violations(case)[0]


def test_agreeing_counts_of_impossible_cells_are_zero_and_the_others_agree():
    """One combination cannot hold a row: it is 0 also where tables are made to agree, and sums are those of the other."""
    frame = pl.DataFrame([("x", "p"), ("y", "q"), ("y", "p")] * 40, schema=["a", "b"], orient="row")
    schema = dp.Schema({name: SCHEMA[name] for name in ("a", "b")})
    facts = dp.Impossible("a", "b", cells=[("x", "q"), (None, "q"), (None, "p"), (None, None), ("x", None), ("y", None)])
    with session_over(frame, schema, neighbours=dp.ReplaceOne(rows=120), invariants=facts) as session:
        found = session.release(session.table.agg(dp.tables(["a", "b"], ["b"])), spend=1, name="both").tables
    both, one = found["tables_a_b"], found["tables_b"]
    zero = both.filter((pl.col("a") == "x") & (pl.col("b") == "q"))
    assert zero.select("count", "count_low", "count_high").rows() == [(0, 0, 0)]
    sums = dict(both.group_by("b").agg(pl.col("count").sum()).rows())
    assert all(sums[label] == pytest.approx(value, abs=1e-6) for label, value in one["b", "count"].rows())
