"""The data sets of an audit are neighbours indeed, and they move every query as far as its sensitivity allows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import discreet as dp
from discreet.audit.draws import KERNEL, NOTHING
from discreet.audit.fitting import fit_table
from discreet.audit.pairs import neighbouring_tables
from discreet.audit.tables import cubes_of
from discreet.cube.cube import row_count
from discreet.noise.bits import system_bits
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers
from discreet.totals.cells import domain_size, label_of
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.given import read_totals

SCHEMA = dp.Schema(
    g=dp.Category(["x", "y", "z"]), f=dp.Category(["p", "q"]), v=dp.Number(-3, 10), d=dp.Date("2020-01-01", "2020-12-31")
)
SKIP = {"nulls": "skip"}
ADDED = dp.Table(SCHEMA, dp.AddRemove())
REPLACED = dp.Table(SCHEMA, dp.ReplaceOne(rows=50))


def requests(table):
    return {
        "rows": table.agg(dp.count()),
        "by group": table.group_by("g").agg(dp.count(), dp.mean("v", **SKIP)),
        "sum from 0": table.agg(dp.sum("v", **SKIP)),
        "variance": table.group_by("f").agg(dp.variance("v", **SKIP)),
        "condition": table.where({"d": ("2020-02-01", "2020-03-01")}).group_by("g").agg(dp.count(), dp.sum("v", **SKIP)),
        "bins": table.group_by(dp.bins("v", [0, 5, 10])).agg(dp.count()),
        "dates": table.group_by(dp.bins("d", ["2020-02-01", "2020-03-01", "2020-04-01"])).agg(dp.count("v")),
        "histogram": table.agg(dp.histogram("v", [0, 2, 4])),
        "quantiles": table.agg(dp.quantiles("v", ["0.5"], **SKIP, interval=1)),
        "clamped categories": table.clamp({"g": ["x"], "v": (0, 4)}).group_by("g").agg(dp.sum("v", **SKIP)),
    }


def pairs_of(asked):
    return neighbouring_tables(KERNEL, asked, system_bits())


def differences(asked, pair):
    found = [exact_answers(asked, cubes_of(asked.plan, pair.columns, table), NOTHING) for table in (pair.first, pair.second)]
    return [second - first for first, second in zip(*found, strict=True)]


def norms(asked):
    """For each query the largest norms over all pairs."""
    moved = [differences(asked, pair) for pair in pairs_of(asked)]
    return [
        (max(int(np.abs(one[i]).sum()) for one in moved), max(int((one[i] ** 2).sum()) for one in moved))
        for i in range(len(asked.measured))
    ]


@pytest.mark.parametrize("name", requests(ADDED))
@pytest.mark.parametrize("table", [ADDED, REPLACED], ids=["add-remove", "replace-one"])
def test_every_query_is_moved_as_far_as_its_sensitivity_allows(table, name):
    request = requests(table)[name]
    if table is REPLACED and name == "rows":
        request = table.agg(dp.count("v"))  # the number of rows is public
    asked = quote(request, dp.PureDP(1))
    for one, (l1, l2_squared) in zip(asked.measured, norms(asked), strict=True):
        assert l1 <= one.sensitivity.l1
        assert l2_squared <= one.sensitivity.l2_squared
        assert l1 == one.sensitivity.l1, one.query


@pytest.mark.parametrize("neighbours", [dp.AddRemove(3), dp.ReplaceOne(rows=40, rows_per_person=3)])
def test_a_person_changes_all_of_its_rows(neighbours):
    asked = quote(dp.Table(SCHEMA, neighbours).group_by("g").agg(dp.count()), dp.PureDP(1))
    for pair in pairs_of(asked):
        first, second = Counter(dict(pair.first)), Counter(dict(pair.second))
        if isinstance(neighbours, dp.AddRemove):
            assert not first - second
            assert (second - first).total() == 3
        else:
            assert (first - second).total() == (second - first).total() == 3
            assert first.total() == 40
    one, (l1, _) = asked.measured[0], norms(asked)[0]
    assert l1 == 3 * one.sensitivity.l1


def test_a_null_against_a_value_is_tried():
    asked = quote(REPLACED.group_by("f").agg(dp.sum("v", **SKIP)), dp.PureDP(1))

    def changed(pair):
        first, second = Counter(dict(pair.first)), Counter(dict(pair.second))
        return [any(None in row for row in part) for part in (first - second, second - first)]

    assert any(sum(changed(pair)) == 1 for pair in pairs_of(asked))


def test_long_ranges_and_many_groups_stay_small():
    schema = dp.Schema(g=dp.Category([f"g{i}" for i in range(3000)]), v=dp.Number(0, 10**6))
    table = dp.Table(schema, dp.ReplaceOne(rows=10**9))
    asked = quote(table.group_by("g").agg(dp.mean("v", **SKIP)), dp.ZCDP(1))
    for pair in pairs_of(asked):
        assert len(pair.first) <= 2
        assert [row_count(cube) for cube in cubes_of(asked.plan, pair.columns, pair.first)] == [10**9]


def test_a_resized_table_has_rows_to_draw_from():
    filled = ADDED.impute({"g": dp.Weights({"x": 1, "y": 1, "z": 1})})
    asked = quote(filled.resize(20, proportion="0.5").group_by("g").agg(dp.count()), dp.PureDP(1))
    for pair in pairs_of(asked):
        assert sum(times for _, times in pair.first) == 40
        assert len(Counter(dict(pair.second)) - Counter(dict(pair.first))) == 1


# Beside exact totals ----------------------------------------------------------------------------------------------------

TOTALS = {
    "partition": (dp.Totals("g"), {"g": {"x": 20, "y": 29, None: 1}}),
    "some groups": (dp.Totals("g", only=["x"]), {"g": {"x": 20}}),
    "margins": (dp.Margins("g", "f"), {"g": {"x": 20, "y": 30}, "f": {"p": 49, "q": 1}}),
    "joint": (dp.Totals("g", "f"), {("g", "f"): {("x", "p"): 25, ("y", "q"): 25}}),
    "occupied": (dp.Occupied("g"), None),  # without numbers here
    "impossible": (dp.Totals("g") + dp.Impossible("g", "f", cells=[("x", "p")]), {"g": {"x": 25, "y": 25}}),
    "linear": (dp.LinearInvariant("g", {"s": {"x": 1, "y": 2}}), None),
}


def marks(invariants, pair, table):
    """The published numbers of a table, counted row by row."""
    found = Counter()
    for row, times in table:
        values = dict(zip(pair.columns, row, strict=True))
        for number, part in enumerate(invariants.parts):
            cell = tuple(label_of(SCHEMA[c], SCHEMA[c].size if values[c] is None else values[c]) for c in part.columns)
            kind = type(part).__name__
            if kind == "TotalsStatement" and (part.only is None or cell in part.only):
                found[number, cell] += times
            if kind == "OccupiedStatement":
                found[number, cell] = 1
            if kind == "LinearStatement":
                for name, row_of in zip(part.names, part.rows, strict=True):
                    found[number, name] += times * dict(row_of).get(cell, 0)
            if kind == "ImpossibleStatement":
                assert cell not in part.cells
    return +found


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("name", "known"), [(name, known) for name, (_, numbers) in TOTALS.items() for known in {False, numbers is not None}]
)
def test_tables_beside_totals_have_the_same_totals(name, known):
    invariants, numbers = TOTALS[name]
    totals = read_totals(invariants, SCHEMA, numbers, 50) if known else None
    stands = exact_totals_of(invariants, SCHEMA, totals, 50)
    asked = quote(REPLACED.group_by("f").agg(dp.count(), dp.sum("v", **SKIP)), dp.ZCDP(1), stands)
    pairs = pairs_of(asked)
    assert pairs
    for pair in pairs:
        first, second = Counter(dict(pair.first)), Counter(dict(pair.second))
        assert 0 < (first - second).total() <= stands.adjacency.a
        assert first.total() == second.total() == 50
        assert marks(invariants, pair, pair.first) == marks(invariants, pair, pair.second)
        if known:
            shown = marks(invariants, pair, pair.first)
            part = invariants.parts[0]
            expected = Counter(dict(zip(totals.cells(part, SCHEMA), totals.value(part), strict=True)))
            assert +expected == Counter({cell: n for (number, cell), n in shown.items() if number == 0})


def test_margins_move_the_counts_as_far_as_they_can():
    stands = exact_totals_of(dp.Margins("g", "f"), SCHEMA, None, 50)
    asked = quote(REPLACED.group_by("g", "f").agg(dp.count()), dp.ZCDP(1), stands)
    assert norms(asked)[0] == (asked.measured[0].sensitivity.l1, asked.measured[0].sensitivity.l2_squared)


def test_a_table_for_totals_that_nobody_can_have_is_not_made_up():
    schema = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p", "q"]))
    three = {("a", "b"): {("x", "p"): 1}}
    stands = exact_totals_of(dp.Totals("a", "b"), schema, read_totals(dp.Totals("a", "b"), schema, three, 1), 1)
    cells = domain_size(("a", "b"), schema)
    least = np.zeros(cells, dtype=np.int64)
    assert fit_table(stands, schema, least).sum() == 1
    least[3] = 1  # ("y", "p") has no row
    assert fit_table(stands, schema, least) is None


def test_pairs_are_not_repeated():
    asked = quote(REPLACED.group_by("g").agg(dp.count(), dp.mean("v", **SKIP)), dp.ZCDP(1))
    shown = sorted(repr((pair.first, pair.second)) for pair in pairs_of(asked))
    assert all(one != other for one, other in pairwise(shown))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("totals", "a"),
    [
        (dp.Totals("a", "b") + dp.Totals("b", "c") + dp.Totals("a", "c"), 5),
        (dp.Totals("a", "b") + dp.Totals("b", "c") + dp.Totals("c", "d"), 4),
    ],
)
def test_all_rows_that_can_change_change_alike(totals, a):
    """Beside overlapping lists a rows go from one cell to another of a free column: no pair moves the counts further."""
    schema = dp.Schema({name: dp.Category(["x"]) for name in "abcdf"})
    plan = dp.Table(schema, dp.ReplaceOne(rows=60)).group_by(*totals.columns, "f").agg(dp.count())
    asked = quote(plan, dp.GDP(1), exact_totals_of(totals, schema, None, 60))
    assert asked.beside.adjacency.a == a
    assert norms(asked) == [(2 * a, 2 * a * a)]


def test_a_row_of_a_person_of_a_unit_appears_or_is_exchanged():
    """No table has two rows of one person: an exchange moves two groups, each by one row."""
    schema = dp.Schema(home=dp.Identifier(), g=dp.Category(["x", "y"]))
    made = dp.Table(schema, dp.AddRemove(person="home", part=True)).per_person(g=dp.only("g"), visits=dp.rows(0, 4))
    asked = quote(made.group_by("g").agg(dp.count()), dp.PureDP(1))
    moved = [differences(asked, pair)[0] for pair in pairs_of(asked)]
    assert {tuple(sorted(one[one != 0].tolist())) for one in moved} <= {(1,), (-1,), (-1, 1)}
    assert any(one.min() == -1 and one.max() == 1 for one in moved)
