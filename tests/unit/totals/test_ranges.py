"""Ranges of counts and lower bounds: what is declared, published, refused and said of them."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.quotes.allocate import quote
from discreet.totals import recovered
from discreet.totals.adjacency import disclosures, is_vacuous, semi_adjacency
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.given import read_totals
from discreet.totals.published import totals_from_json, totals_of_counts
from discreet.totals.recovered import narrowed_cells
from discreet.totals.words import published_words

SCHEMA = dp.Schema(
    state=dp.Category(["A", "B", "C"]),
    county=dp.Category(["p", "q", "r"]),
    owner=dp.Category(["y"]),
    parent=dp.Category(["y"]),
    sex=dp.Category(["f", "m"]),
    age=dp.Number(0, 5),
)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dp.Rounded("state", base=1), "base=1 must be a whole number from 2 to .*; for exact counts publish Totals"),
        (lambda: dp.Rounded("state", base=0), "base=0 must be a whole number"),
        (lambda: dp.Rounded("state", base=-3), "base=-3 must be a whole number"),
        (lambda: dp.Rounded("state", base=2.5), "base=2.5 must be a whole number"),
        (lambda: dp.Rounded("state", base=True), "base=True must be a whole number"),
        (lambda: dp.Rounded("state", base=10**10), "base=10000000000 must be a whole number"),
        (lambda: dp.Rounded("state", base=3, to="random"), "to='random' must be one of .*draws at random is a release"),
        (lambda: dp.Rounded("state", base=3, to=None), "to=None must be one of"),
        (lambda: dp.Suppressed("state", below=0), "below=0 must be a whole number from 2"),
        (lambda: dp.Suppressed("state", below=1), "below=1 must be a whole number from 2"),
        (lambda: dp.Suppressed("state", below=2, zeros="shown"), "below=2 must be a whole number from 3"),
        (lambda: dp.Suppressed("state", below=10, zeros=True), "zeros=True must be one of"),
        (lambda: dp.SizeClasses("state", starts=[]), r"must be a list of counts"),
        (lambda: dp.SizeClasses("state", starts=10), "starts=10 must be a list"),
        (lambda: dp.SizeClasses("state", starts=[10, 5]), "must be in ascending order"),
        (lambda: dp.SizeClasses("state", starts=[5, 5]), "must be in ascending order"),
        (lambda: dp.SizeClasses("state", starts=[0]), "starts=0 must be a whole number from 1"),
        (lambda: dp.AtLeast("state", rows=0), "rows=0 must be a whole number from 1"),
        (lambda: dp.AtLeast("state", rows=-4), "rows=-4 must be a whole number from 1"),
        (lambda: dp.AtLeast("state", rows="3"), "rows='3' must be a whole number"),
        (lambda: dp.Rounded(base=3), r"Rounded\(\): names no column"),
        (lambda: dp.Suppressed("state", below=3, only=[]), r"Suppressed: only=\[\] names no cell"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_at_once(make, words):
    with pytest.raises(dp.DiscreetError, match=words):
        make()


@pytest.mark.parametrize(
    ("invariants", "rows", "words"),
    [
        (dp.Rounded("city", base=3), 20, "'city': is not declared in the schema"),
        (dp.AtLeast("state", rows=7), 20, "contradict each other or the 20 rows of the table: .* 21 rows or more, and 20"),
        (dp.AtLeast("state", rows=21, only=["A"]), 20, "21 rows or more, and 20 or fewer"),
        (dp.AtLeast("state", rows=3) + dp.Impossible("state", cells=["A"]), 20, "has 3 rows or more, but other .* exclude"),
        (dp.Rounded("state", "age", base=3) + dp.Rounded("age", "sex", base=3), 20, "belong to groups that cross.*nested"),
        (
            dp.LinearInvariant("state", {"s": {"A": 1, "B": 2}}) + dp.Rounded("state", base=3),
            20,
            "sums with weights and the ranges .* publish one of the two",
        ),
    ],
)
def test_what_no_table_has_or_has_no_proof_is_refused_before_data(invariants, rows, words):
    with pytest.raises(dp.DiscreetError, match=words):
        semi_adjacency(invariants, *check(invariants), rows)


def check(invariants):
    invariants.check(SCHEMA)
    return SCHEMA, None


@pytest.mark.parametrize(
    ("invariants", "a", "exact", "reason"),
    [
        (dp.Rounded("state", base=5), 2, False, "nested or disjoint"),
        (dp.AtLeast("state", rows=2), 2, True, "nested or disjoint"),
        (dp.AtLeast("state", rows=20, only=["A"]), 1, True, "no range of counts is full"),
        (dp.Totals("state") + dp.Suppressed("state", "county", below=10), 2, False, "nested or disjoint"),
        (dp.Totals("state", "county") + dp.Rounded("state", base=3), 2, True, "the totals of one partition"),
        (dp.Margins("state", "sex") + dp.Suppressed("state", "sex", below=10), 4, False, "classes of crossing totals"),
        (dp.Rounded("state", base=3) + dp.Rounded("sex", base=3), 3, False, "independent parts"),
        (dp.Rounded("sex", "owner", base=3) + dp.Rounded("owner", "parent", base=3), 4, False, "sets that cross"),
    ],
)
def test_the_theorem_that_answers_is_named_before_the_ranges_are_published(invariants, a, exact, reason):
    found = semi_adjacency(invariants, SCHEMA, None, 20)
    assert (found.a, found.exact) == (a, exact)
    assert reason in found.reason


COUNTIES = {("A", "p"): 30, ("A", "q"): 4, ("B", "p"): 12, ("B", "q"): 3, ("B", "r"): 5, ("C", "r"): 1}


def counted(invariants, cells=COUNTIES, columns=("state", "county")):
    table = {SCHEMA[name]: None for name in columns}
    shape = [column.size + 1 for column in table]
    counts = np.zeros(shape, dtype=np.int64)
    for cell, rows in cells.items():
        counts[tuple(SCHEMA[name].code(value, name) for name, value in zip(columns, cell, strict=True))] = rows
    return totals_of_counts(invariants, SCHEMA, counts, columns)


def test_a_suppressed_count_that_follows_by_subtraction_is_named():
    """In A only q is below 5 and the null cell may hold rows too; with the empty cells shown q is 34 less 30."""
    shown = dp.Totals("state") + dp.Suppressed("state", "county", below=6, zeros="shown")
    totals = counted(shown)
    found = {one.cell: (one.published, one.least, one.most) for one in narrowed_cells(shown, SCHEMA, totals)}
    assert found == {
        ("A", "q"): ("1 to 5", 4, 4),
        ("B", "q"): ("1 to 5", 3, 5),
        ("B", "r"): ("1 to 5", 3, 5),
        ("C", "r"): ("1 to 5", 1, 1),
    }
    assert disclosures(shown, SCHEMA, totals) == (
        "totals of state: 1 cell holds exactly one row",
        "ranges of state, county: 2 counts follow exactly from the other published numbers, by subtraction",
        "ranges of state, county: 2 counts follow from all published numbers more closely than published",
    )
    hidden = dp.Totals("state") + dp.Suppressed("state", "county", below=6)
    assert not any(one.least == one.most for one in narrowed_cells(hidden, SCHEMA, counted(hidden)))


def test_suppressed_cells_of_a_table_with_margins_are_searched_or_the_release_says_that_they_are_not(monkeypatch):
    crossing = dp.Margins("state", "county") + dp.Suppressed("state", "county", below=5, zeros="shown")
    totals = counted(crossing)
    found = {one.cell: (one.least, one.most) for one in narrowed_cells(crossing, SCHEMA, totals)}
    assert found == {("A", "q"): (4, 4), ("B", "q"): (3, 3), ("C", "r"): (1, 1)}
    monkeypatch.setattr(recovered, "MOST_SEARCHED", 2)
    assert disclosures(crossing, SCHEMA, totals)[-1] == (
        "ranges of state, county: too many to search for counts that follow by subtraction"
    )


def test_a_group_that_is_left_with_one_row_by_ranges_is_a_disclosure():
    facts = dp.Totals("state") + dp.SizeClasses("state", "county", starts=[1, 4, 5, 6], only=[("A", "p"), ("A", "q")])
    cells = {("A", "q"): 4, ("A", "r"): 1, ("B", "p"): 9}
    assert any(
        "by subtraction: 1 further group of cells holds exactly one row" in words
        for words in disclosures(facts, SCHEMA, counted(facts, cells))
    )
    one = dp.SizeClasses("state", starts=[1, 2])
    said = disclosures(one, SCHEMA, counted(one, {("A",): 1, ("B",): 9}, ("state",)))
    assert said[0] == "totals of state: 1 cell holds exactly one row"


def test_lower_bounds_that_fill_the_table_leave_nothing():
    schema = dp.Schema(a=dp.Category(["x", "y"]))
    floors = dp.AtLeast("a", rows=5)
    assert is_vacuous(floors, schema, None, 10)
    assert not is_vacuous(floors, schema, None, 11)
    with pytest.raises(dp.PlanError, match="nothing is left to protect"):
        dp.Session(
            {"a": ["x"] * 5 + ["y"] * 5},
            schema,
            dataset="d",
            ledger=":memory:",
            budget=dp.ZCDP(1),
            neighbours=dp.ReplaceOne(rows=10),
            invariants=floors,
        )


def test_what_is_published_is_written_in_words_and_comes_back():
    several = dp.Rounded("state", base=5) + dp.Suppressed("county", below=10) + dp.SizeClasses("sex", starts=[10, 50])
    totals = counted(several, {("A", "p", "f"): 33, ("A", "q", "m"): 4, ("B", "p", "m"): 12}, ("state", "county", "sex"))
    parts = {part["columns"][0]: part["cells"] for part in totals.to_json(SCHEMA)["parts"]}
    assert parts["state"] == [["A", "35", 33, 37], ["B", "10", 8, 12], ["C", "0", 0, 2], [None, "0", 0, 2]]
    assert parts["county"][:2] == [["p", "45", 45, 45], ["q", "fewer than 10", 0, 9]]
    assert parts["sex"] == [["f", "10 to 49", 10, 49], ["m", "10 to 49", 10, 49], [None, "0 to 9", 0, 9]]
    assert totals_from_json(several, SCHEMA, totals.to_json(SCHEMA)) == totals
    given = {
        "state": {"A": 35, "B": "10"},
        "county": {"p": 45, "q": "fewer than 10"},
        "sex": {"f": "10 to 49", "m": "10 to 49"},
    }
    assert read_totals(several, SCHEMA, given, 49) == totals
    assert published_words(several.parts) == (
        "counts of state, rounded to the nearest multiple of 5; counts of county, suppressed below 10; "
        "counts of sex, in 3 classes of size"
    )


@pytest.mark.parametrize(
    ("given", "rows", "words"),
    [
        ({"state": {"A": 7}}, None, "'7' is never published where counts are rounded to the nearest multiple of 5"),
        ({"state": {"A": "about 5"}}, None, "'about 5' is never published"),
        ({"state": {"A": True}}, None, "'True' is never published"),
        ({"state": {"A": -5}}, None, "'-5' is never published"),
        ({"state": {"A": 10**30}}, None, "is never published"),
        ({"state": {"A": 10, "B": 15}}, 40, "the ranges of state cannot hold the 40 rows"),
        ({"state": {"A": 30, "B": 15}}, 40, "the ranges of state cannot hold the 40 rows"),
        ({}, 40, "the ranges of state are missing"),
    ],
)
def test_ranges_that_cannot_be_are_refused(given, rows, words):
    with pytest.raises(dp.DiscreetError, match=words):
        read_totals(dp.Rounded("state", base=5), SCHEMA, given, rows)


def test_ranges_that_contradict_a_table_are_refused_and_a_whole_table_says_them():
    both = dp.Totals("state", "sex") + dp.Rounded("state", base=5)
    table = {("state", "sex"): {("A", "f"): 3, ("A", "m"): 4}}
    assert read_totals(both, SCHEMA, table).value(both.parts[1]) == (3, 0, 0, 0)
    with pytest.raises(dp.PlanError, match=r'cell \["A"\] of state is 10, but has 7 rows'):
        read_totals(both, SCHEMA, table | {"state": {"A": 10}})
    nested = dp.Rounded("state", base=5) + dp.Rounded("state", "sex", base=5)
    wrong = {"state": {"A": 5}, ("state", "sex"): {("A", "f"): 10}}
    with pytest.raises(dp.PlanError, match="the ranges and totals of state, sex contradict each other"):
        semi_adjacency(nested, SCHEMA, read_totals(nested, SCHEMA, wrong, 10), 10)


def test_a_row_that_breaks_a_lower_bound_is_an_internal_error_without_numbers():
    with pytest.raises(dp.InternalError, match=r"^a cell has fewer rows than was declared that it has at least$"):
        counted(dp.AtLeast("state", rows=2))


def test_counts_that_a_range_leaves_as_they_are_have_no_noise():
    """Of the suppressed table only the small counts are left to protect; the others stand in the release as published."""
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=55))
    facts = dp.Totals("state") + dp.Suppressed("state", "county", below=6, zeros="shown")
    totals = counted(facts)
    stands = exact_totals_of(facts, SCHEMA, totals, 55)
    asked = quote(table.group_by("state", "county").agg(dp.count()), dp.ZCDP(1), stands)
    structure = asked.measured[0].law.structure
    assert sorted(structure.sizes.tolist()) == [1, 1, 1, 1, 2]  # B: q and r are 8 together
    assert asked.measured[0].sensitivity.l2_squared <= 8
    exact = dp.SizeClasses("state", starts=[1, 2, 3])
    few = {("A", "p"): 2, ("B", "q"): 1}
    told = exact_totals_of(exact, SCHEMA, counted(exact, few), 3)
    with pytest.raises(dp.PlanError, match="asks only for numbers that are public already"):
        quote(dp.Table(SCHEMA, dp.ReplaceOne(rows=3)).group_by("state").agg(dp.count()), dp.ZCDP(1), told)


def test_ranges_that_turn_out_to_say_every_count_are_a_disclosure():
    schema = dp.Schema(a=dp.Category(["x", "y"]))
    facts = dp.Suppressed("a", below=4, zeros="shown")
    assert not is_vacuous(facts, schema, None, 10)
    for counts, said in [([6, 4, 0], True), ([7, 3, 0], True), ([5, 3, 2], False)]:
        totals = totals_of_counts(facts, schema, np.array(counts))
        found = disclosures(facts, schema, totals)
        assert ("the totals determine every row completely: nothing in this table is protected" in found) is said
