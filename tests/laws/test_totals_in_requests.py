"""What exact totals leave free of a request, against all tables of three rows over small schemas.

For every two tables with the same totals the row counts must differ by a member of the lattice on which the noise lives, and
for those that differ in at most a(t) rows all answers must lie within the declared sensitivities. The cells of a table are
found here by plain Python, one record at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.quotes.space import space_of
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.published import totals_of_counts
from discreet.totals.structure import Blocks, Kernel, Tables

ROWS = 3
SCHEMA = dp.Schema(
    {"a": dp.Category(["x", "y"]), "b": dp.Category(["p", "q"]), "f": dp.Category(["u"]), "v": dp.Number(0, 4, 2)}
)
TABLE = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
LEVELS = {"a": ["x", "y", None], "b": ["p", "q", None], "f": ["u", None], "v": [0, 2, 4, None]}


def one(request):
    return request.agg(dp.count(), dp.sum("v", nulls="skip"))


CASES = {
    "partition, shown with a free column": (dp.Totals("a"), one(TABLE.group_by("a", "f"))),
    "partition, shown alone": (dp.Totals("a"), one(TABLE.group_by("a"))),
    "partition, not shown": (dp.Totals("a"), one(TABLE.group_by("f"))),
    "partition, categories clamped away": (dp.Totals("a"), one(TABLE.clamp({"a": ["x"]}).group_by("a", "f"))),
    "partition, some groups kept": (dp.Totals("a"), one(TABLE.where({"a": ["x"]}).group_by("a", "f"))),
    "partition, a free condition": (dp.Totals("a"), one(TABLE.where({"b": ["p"]}).group_by("a"))),
    "partition, bins that leave rows out": (dp.Totals("a"), one(TABLE.group_by("a", dp.bins("v", [0, 2])))),
    "nested": (dp.Totals("a") + dp.Totals("a", "b"), one(TABLE.group_by("a", "f"))),
    "some groups only": (dp.Totals("a", only=["x"]), one(TABLE.group_by("a", "f"))),
    "some groups of a nested partition": (
        dp.Totals("a") + dp.Totals("a", "b", only=[("x", "p")]),
        one(TABLE.group_by("a", "b")),
    ),
    "margins, shown": (dp.Margins(["a"], ["b"]), one(TABLE.group_by("a", "b"))),
    "margins, shown the other way round": (dp.Margins(["a"], ["b"]), one(TABLE.group_by("b", "a"))),
    "margins with a free column": (dp.Margins(["a"], ["b"]), one(TABLE.group_by("a", "f", "b"))),
    "margins, one shown": (dp.Margins(["a"], ["b"]), one(TABLE.group_by("b", "f"))),
    "margins, none shown": (dp.Margins(["a"], ["b"]), one(TABLE.group_by("f"))),
    "margins, a group dropped": (dp.Margins(["a"], ["b"]), one(TABLE.where({"a": ["x"]}).group_by("a", "b"))),
    "overlapping margins": (dp.Margins(["a", "f"], ["b", "f"]), one(TABLE.group_by("a", "b", "f"))),
    "overlapping margins, separator not shown": (dp.Margins(["a", "f"], ["b", "f"]), one(TABLE.group_by("a", "b"))),
    "three margins": (dp.Margins(["a"], ["b"], ["f"]), one(TABLE.group_by("a", "b", "f"))),
    "occupied cells": (dp.Occupied("a"), one(TABLE.group_by("a", "f"))),
    "impossible cells": (dp.Totals("a") + dp.Impossible("a", "b", cells=[("x", "q")]), one(TABLE.group_by("a", "b"))),
    "a linear invariant": (dp.LinearInvariant(["a"], {"s": {"x": 1, "y": 2}}), one(TABLE.group_by("a"))),
    "a linear invariant with a free column": (
        dp.LinearInvariant(["a"], {"s": {"x": 1, "y": 2}}),
        one(TABLE.group_by("a", "f")),
    ),
}


def cell_of(plan, record):
    """The labels of the record's cell, or None where it counts nowhere."""
    values = dict(zip(LEVELS, record, strict=True))
    for step in plan.steps:
        if type(step).__name__ == "ClampCategories":
            kept = [SCHEMA[step.column].values[code] for code in step.kept]
            values[step.column] = values[step.column] if values[step.column] in kept else None
    for step in plan.steps:
        if type(step).__name__ == "WhereIn" and values[step.column] not in [
            SCHEMA[step.column].values[c] for c in step.kept
        ]:
            return None
    labels = []
    for group in plan.group_by:
        if group.column == "v" and values["v"] is not None:
            low = [code <= values["v"] // 2 for code in group.edges].count(True) - 1
            if not 0 <= low < len(group.edges) - 1:
                return None
            labels.append(group.labels[low])
        else:
            labels.append(values[group.column])
    return tuple(labels)


def cells(plan):
    facts = dp.Table(SCHEMA, plan.neighbours, plan.steps).facts
    from discreet.domain.groups import group_labels

    return {cell: i for i, cell in enumerate(product(*(group_labels(group, facts) for group in plan.group_by)))}


def answers(plan, table, places):
    counts, sums = np.zeros(len(places), dtype=int), np.zeros(len(places), dtype=int)
    for record in table:
        cell = cell_of(plan, record)
        if cell is not None:
            counts[places[cell]] += 1
            sums[places[cell]] += (record[3] or 0) // 2
    return counts, sums


def totals_of(invariants, table):
    columns = invariants.columns
    names = list(LEVELS)
    keys = [[LEVELS[name].index(record[names.index(name)]) for name in columns] for record in table]
    return totals_of_counts(invariants, SCHEMA, (np.array(keys), np.ones(len(table), dtype=np.int64)))


def all_in_lattice(structure, differences):
    """Whether each row of `differences` is a member of the lattice of the structure."""
    left = np.ones(differences.shape[1], dtype=bool)
    if isinstance(structure, Blocks):
        left[structure.order] = False
        blocks = np.split(differences[:, structure.order], np.cumsum(structure.sizes)[:-1], axis=1)
        fits = all(not block.sum(axis=1).any() for block in blocks)
    elif isinstance(structure, Tables):
        fits = True
        for table in structure.tables:
            left[table.order] = False
            shown = differences[:, table.order]
            for axis in range(1, shown.ndim - 1):
                fits &= not shown.sum(axis=tuple(i for i in range(1, shown.ndim) if i != axis)).any()
    else:
        left[structure.order] = False
        fits = not (differences[:, structure.order] @ structure.equations.T).any()
    return fits and not differences[:, left].any()


def fibres(invariants):
    records = list(product(*LEVELS.values()))
    rng = np.random.default_rng(7)
    chosen = [tuple(records[i] for i in rng.integers(0, len(records), ROWS)) for _ in range(700)]
    # Few records, so that fibres are rich.
    few = [records[i] for i in rng.choice(len(records), 14, replace=False)]
    tables = {tuple(sorted(table, key=str)) for table in [*chosen, *combinations_with_replacement(few, ROWS)]}
    found = defaultdict(list)
    for table in sorted(tables, key=str):
        try:
            found[totals_of(invariants, table)].append(table)
        except dp.InternalError:
            continue  # a row in an impossible cell
    return found


@pytest.mark.one_in(15)
@pytest.mark.parametrize("name", CASES)
def test_equal_totals_differ_within_lattice_and_sensitivity(name):
    invariants, plan = CASES[name]
    places = cells(plan)
    whole = space_of(plan, exact_totals_of(invariants, SCHEMA, None, ROWS))
    compared = 0
    for number, (totals, fibre) in enumerate(fibres(invariants).items()):
        if number % 7 and len(fibre) < 12:
            continue
        space = space_of(plan, exact_totals_of(invariants, SCHEMA, totals, ROWS))
        counted = space.of_counts(may_skip=space.structure is None)
        summed = space.of_values(0, 2, may_skip=True)
        tables = fibre[:40]
        counts, sums = map(np.array, zip(*(answers(plan, table, places) for table in tables), strict=True))
        if space.determined:
            assert (counts == space.structure.counts()).all()
        pairs = np.array(list(combinations(range(len(tables)), 2)), dtype=int).reshape(-1, 2)
        differences = [one[pairs[:, 0]] - one[pairs[:, 1]] for one in (counts, sums)]
        for one_space in (space, whole):
            if one_space.structure is not None:
                assert all_in_lattice(one_space.structure, differences[0]), name
        records = [Counter(table) for table in tables]
        near = [(records[i] - records[j]).total() <= space.beside.adjacency.a for i, j in pairs]
        compared += sum(near)
        for difference, span in zip(differences, (counted, summed), strict=True):
            if not (space.determined and span is counted):
                assert (np.abs(difference[near]).sum(axis=1) <= span.l1).all(), name
                assert ((difference[near] ** 2).sum(axis=1) <= span.l2_squared).all(), name
    assert compared > 50


EXPECTED = {
    "partition, shown with a free column": (Blocks, 2, 8),
    "partition, a free condition": (None, 2, 4),
    "margins, shown": (Tables, 3, 6),
    "margins with a free column": (Tables, 3, 18),
    "margins, one shown": (Blocks, 3, 18),
    "overlapping margins": (Tables, 3, 6),
    "three margins": (Tables, 4, 16),
    "a linear invariant": (Kernel, None, None),
    "partition, bins that leave rows out": (None, 2, None),
    "margins, a group dropped": (Blocks, 3, None),
}


@pytest.mark.parametrize("name", ["partition, shown with a free column", "margins, shown", "a linear invariant"])
def test_a_difference_outside_the_lattice_would_be_noticed(name):
    """One difference among many, in one coordinate."""
    invariants, plan = CASES[name]
    structure = space_of(plan, exact_totals_of(invariants, SCHEMA, None, ROWS)).structure
    differences = np.zeros((5, len(cells(plan))), dtype=int)
    assert all_in_lattice(structure, differences)
    for place in range(differences.shape[1]):
        wrong = differences.copy()
        wrong[3, place] = 1
        assert not all_in_lattice(structure, wrong)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_used_for_a_request(name):
    kind, a, l2_squared = EXPECTED[name]
    invariants, plan = CASES[name]
    space = space_of(plan, exact_totals_of(invariants, SCHEMA, None, 1000))
    assert type(space.structure) is (type(None) if kind is None else kind)
    if a is not None:
        assert space.beside.adjacency.a == a
    if l2_squared is not None:
        assert space.of_counts(may_skip=space.structure is None).l2_squared == l2_squared


def test_counts_that_the_totals_say_are_exact():
    space = space_of(CASES["partition, shown alone"][1], exact_totals_of(dp.Totals("a"), SCHEMA, None, ROWS))
    assert space.determined
    assert not space.across
