"""The semi-adjacency parameter: which theorem answers, what is refused, what is said about single rows."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import discreet as dp
from discreet.invariants import Impossible, Invariants, LinearInvariant, Margins, Occupied, Sums, Totals
from discreet.quotes.allocate import quote
from discreet.totals.adjacency import SemiAdjacency, disclosures, is_vacuous, semi_adjacency
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.given import read_totals
from discreet.totals.published import totals_of_counts


def category(size):
    return dp.Category([f"v{i}" for i in range(size)])


SCHEMA = dp.Schema(
    {
        "a": category(2),
        "b": category(2),
        "c": category(3),
        "d": category(3),
        "age": dp.Number(0, 5),
        "big": category(500),
        "lived": dp.Number(0, 110),
        "grown": dp.Number(18, 90),
        "far": dp.Number(0, 20_000),
        "none": dp.Number(0, 0),
    }
)
AGE = Sums("lived", SCHEMA)
AGES = LinearInvariant("age", {"years": {age: age for age in range(6)}})


@pytest.mark.parametrize(
    ("invariants", "a", "exact", "words"),
    [
        (Invariants(()), 1, True, "nothing"),
        (Impossible("a", cells=["v0"]), 1, True, "nothing apart"),
        (Totals("a"), 2, True, "one partition"),
        (Totals("big", "c") + Totals("big"), 2, True, "one partition"),
        (Totals("a") + AGES, 7, False, "independent parts"),
        (Occupied("a"), 2, True, "occupied"),
        (Totals("a") + Occupied("a", "b"), 2, True, "one partition and which cells are occupied"),
        (Margins("a", "c") + Occupied("a", "c"), 2, True, "exchange two rows"),
        (AGES + Occupied("age"), 2, False, "exchange two rows"),
        (Margins("a", "b"), 3, True, "2 disjoint margins: 2 \\+ 1"),
        (Margins("big", "c", "d", "a"), 5, True, "4 disjoint margins: 4 \\+ 1"),
        (Totals("a") + Occupied("b"), 3, False, "independent parts"),
        (Margins(["a", "b"], ["b", "c"]), 3, False, "2 partitions that cross in full tables"),
        (Margins(["a", "b"], ["b", "c"], ["b", "d"]), 4, False, "3 partitions that cross in full tables"),
        (Margins(["a", "b"], ["b", "c"], ["c", "d"]), 4, False, "3 decomposable margins"),
        (Margins("c", "d") + Impossible("c", "d", cells=[("v0", "v1")]), 5, False, "two crossing partitions"),
        (Margins("a", "b") + Impossible("a", "b", cells=[("v0", "v1")]), 4, False, "two crossing partitions"),
        (AGES, 6, False, "Graver basis"),
        (Sums("lived", SCHEMA), 111, True, "the sum of a magnitude"),
        (Totals("a") + Sums("lived", SCHEMA, "a"), 111, True, "the sums of a magnitude within groups"),
        (Totals("a") + Sums("lived", SCHEMA), 112, False, "independent parts"),
        (Sums("grown", SCHEMA), 91, False, "the sum of a magnitude: at most 91"),
        (Sums("grown", SCHEMA) + Impossible("grown", cells=[None]), 73, True, "the sum of a magnitude"),
        (Totals("a", "b") + Occupied("a", "c"), 3, True, "one partition, and which cells are occupied across it"),
        (Margins("a", "b") + Occupied("a", "b", only=[("v0", "v0")]), 4, False, "two crossing partitions"),
    ],
)
def test_the_theorem_that_answers_is_named(invariants, a, exact, words):
    found = semi_adjacency(invariants, SCHEMA)
    assert (found.a, found.exact) == (a, exact)
    assert words.replace("\\", "") in found.reason
    assert invariants.semi_adjacency(SCHEMA) == a


@pytest.mark.parametrize(
    ("invariants", "totals", "a"),
    [
        (Totals("a"), {"a": {"v0": 5}}, 1),
        (Totals("a"), {"a": {"v0": 5, None: 1}}, 2),
        (Margins("a", "b"), {"a": {"v0": 2, "v1": 2}, "b": {"v0": 2, "v1": 2}}, 2),
        (Margins("a", "b"), {"a": {"v0": 2, "v1": 1}, "b": {"v0": 2, "v1": 1}}, 3),
        (Margins("a", "b"), {"a": {"v0": 9}, "b": {"v0": 5, "v1": 4}}, 2),
        (Margins("a", "b", "c"), {name: {"v0": 3, "v1": 2} for name in "abc"}, 3),
        (Margins("a", "b", "c"), {name: {"v0": 9, "v1": 2} for name in "abc"}, 4),
        (Margins("a", "b", "c"), {name: {"v0": 2, "v1": 2} for name in "abc"}, 3),
        (Occupied("c"), {"c": ["v1"]}, 1),
        (Occupied("c"), {"c": ["v1", None]}, 2),
        (AGES, {"years": 0}, 1),
        (Sums("lived", SCHEMA), {"sum of lived": 0}, 1),
    ],
)
def test_published_totals_lower_it(invariants, totals, a):
    assert invariants.semi_adjacency(SCHEMA, totals) == a
    assert a <= invariants.semi_adjacency(SCHEMA)


@pytest.mark.parametrize(
    ("years", "a"),
    [(80_000, 4), (110_000, 3), (0, 1), (220_000, 1), (100, 101), (219_000, 111), (150_000, 5), (199_999, 11)],
)
def test_the_total_of_age_of_2000_persons_needs_few_rows(years, a):
    """With 40 years on average three others make up for anybody: 3 · 40 ≥ 110; near an extreme all that are left must."""
    found = semi_adjacency(AGE, SCHEMA, read_totals(AGE, SCHEMA, {"sum of lived": years}, 2000), 2000)
    assert (found.a, found.exact) == (a, True)


def test_a_sum_that_the_rows_of_a_group_cannot_have_is_refused():
    by = Totals("a") + Sums("lived", SCHEMA, "a")
    sums = {f"sum of lived, a 'v{i}'": 5 for i in (0, 1)} | {"sum of lived, without a": 0}
    assert by.semi_adjacency(SCHEMA, {"a": {"v0": 9, "v1": 9}, **sums}) == 6
    with pytest.raises(dp.PlanError, match="cannot give"):
        by.semi_adjacency(SCHEMA, {"a": {"v0": 9, "v1": 9}, **sums, "sum of lived, a 'v0'": 991})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a", SCHEMA), "is not a number"),
        (("far", SCHEMA), "declare a coarser step"),
        (("none", SCHEMA), "no sum to publish"),
    ],
)
def test_a_sum_needs_a_number_with_few_values(arguments, words):
    with pytest.raises(dp.ArgumentError, match=words):
        Sums(*arguments)


def test_a_sum_needs_the_schema():
    with pytest.raises(dp.SchemaError, match="must be the Schema that declares 'lived'"):
        Sums("lived", None)


def test_sums_by_group_without_the_rows_of_the_groups_are_told_to_publish_them():
    with pytest.raises(dp.PlanError, match="publish nested or disjoint totals, the rows of each group beside sums by group"):
        Sums("lived", SCHEMA, "a").semi_adjacency(SCHEMA)


def test_a_sum_of_fractions_is_one_of_whole_units():
    schema = dp.Schema(g=category(1), wage=dp.Number("0.5", 2, step="0.5"))
    part = Sums("wage", schema, ["g"]).parts[0]
    assert part.names == ("sum of wage in units of 1/2, g 'v0'", "sum of wage in units of 1/2, without g")
    assert dict(part.rows[1]) == {(None, "0.5"): 1, (None, 1): 2, (None, "1.5"): 3, (None, 2): 4}


def test_the_number_of_rows_lowers_it():
    assert [semi_adjacency(Margins("a", "b", "c"), SCHEMA, rows=n).a for n in (1, 2, 3, 4, 100)] == [1, 2, 3, 4, 4]
    assert not semi_adjacency(Margins("a", "b", "c"), SCHEMA, rows=3).exact


def test_all_two_way_margins_of_a_small_table_take_the_graver_basis():
    two = {(x, y): 3 for x in ("v0", "v1") for y in ("v0", "v1")}
    totals = {("a", "b"): two, ("b", "c"): two, ("a", "c"): two}
    invariants = Margins(["a", "b"], ["b", "c"], ["a", "c"])
    found = semi_adjacency(invariants, SCHEMA, read_totals(invariants, SCHEMA, totals))
    assert found == SemiAdjacency(5, exact=False, reason="the longest exchange of the Graver basis: at most 5")


def test_tables_of_many_groups_that_look_alike_are_solved_once():
    """One three-way problem for each of 500 groups: they share no sum, and all are the same."""
    schema = dp.Schema({"big": category(500), **{name: dp.Category(["x"]) for name in "xyz"}})
    invariants = Margins(["big", "x", "y"], ["big", "y", "z"], ["big", "x", "z"])
    assert semi_adjacency(invariants, schema).a == 5


def test_what_is_too_large_for_the_general_case_is_refused_with_its_size():
    invariants = Margins(["a", "c"], ["c", "d"], ["a", "d"])
    with pytest.raises(dp.PlanError, match=r"they distinguish 48 cells, of which 48 are connected; publish nested"):
        semi_adjacency(invariants, SCHEMA)
    with pytest.raises(dp.PlanError, match=r"they distinguish 5511 cells"):
        semi_adjacency(Margins(["a", "c"], ["c", "big"], ["a", "big"]) + Impossible("a", "c", cells=[(None, None)]), SCHEMA)


@pytest.mark.parametrize(
    ("invariants", "words"),
    [
        (Impossible("a", cells=["v0", "v1", None]), "no cell of a is possible"),
        (Margins(["a", "b"], ["b", "c"]) + Occupied("a", "c"), r'together: Occupied\("a", "b", "c"\)'),
        (Occupied("a", "b", only=[("v0", "v0")]) + Occupied("a"), r'together: Occupied\("a", "b"\)'),
        (Totals("stat"), "not declared in the schema"),
    ],
)
def test_what_has_no_proof_is_refused(invariants, words):
    with pytest.raises(dp.ArgumentError, match=words):
        semi_adjacency(invariants, SCHEMA)


@pytest.mark.parametrize(
    ("invariants", "totals", "words"),
    [
        (
            Totals("a") + Impossible("a", cells=["v0"]),
            {"a": {"v0": 1, "v1": 1}},
            "rows in cells that other totals or rules exclude",
        ),
        (
            LinearInvariant("a", {"s": {"v0": 2}}) + Totals("b"),
            {"s": 3, "b": {"v0": 4}},
            "which 4 rows with coefficients 0 and 2",
        ),
        (
            Totals("a", only=["v0"]) + LinearInvariant("a", {"s": {"v0": 1, "v1": 1}}) + Totals("b"),
            {"a": {"v0": 3}, "s": 2, "b": {"v0": 9}},
            "some cells have more rows than a group that contains them",
        ),
    ],
)
def test_totals_that_no_table_has_are_refused(invariants, totals, words):
    with pytest.raises(dp.PlanError, match=words):
        invariants.semi_adjacency(SCHEMA, totals)


def totals(invariants, schema, mapping):
    return read_totals(invariants, schema, mapping)


SMALL = dp.Schema(a=category(2), b=category(2))


@pytest.mark.parametrize(
    ("invariants", "mapping", "said"),
    [
        (Totals("a"), {"a": {"v0": 3, "v1": 2}}, ()),
        (Totals("a"), {"a": {"v0": 3}}, ("the totals determine the value of a in every row: it is not protected",)),
        (
            Totals("a", "b"),
            {("a", "b"): {("v0", "v1"): 3}},
            ("the totals determine every row completely: nothing in this table is protected",),
        ),
        (Totals("a"), {"a": {"v0": 3, "v1": 1, None: 1}}, ("totals of a: 2 cells hold exactly one row",)),
        (Totals("a", only=["v0"]) + Totals("b"), {"a": {"v0": 1}, "b": {"v0": 9}}, None),
        (Occupied("a") + Totals("b"), {"a": ["v0", "v1"], "b": {"v0": 1, "v1": 1}}, None),
    ],
)
def test_disclosures_are_said_in_words(invariants, mapping, said):
    found = disclosures(invariants, SMALL, totals(invariants, SMALL, mapping))
    if said is not None:
        assert found == said
    assert not any("v0" in words or "v1" in words for words in found)


def test_one_row_and_one_row_for_each_key_are_disclosures():
    invariants = Totals("a", only=["v0"]) + Totals("b")
    found = disclosures(invariants, SMALL, totals(invariants, SMALL, {"a": {"v0": 1}, "b": {"v0": 9}}))
    assert found == (
        "the totals determine the value of b in every row: it is not protected",
        "totals of a: 1 cell holds exactly one row",
    )
    keys = Occupied("a") + Totals("b")
    found = disclosures(keys, SMALL, totals(keys, SMALL, {"a": ["v0", "v1"], "b": {"v0": 1, "v1": 1}}))
    assert "occupied cells of a: every one holds exactly one row" in found
    assert disclosures(keys, SMALL, None) == ()


def test_a_class_that_is_empty_by_subtraction_is_seen():
    """3 rows in v0 or v1, 3 of them in v0: nobody is in v1, although no total of v1 is published."""
    invariants = Totals("a", only=["v0"]) + LinearInvariant("a", {"both": {"v0": 1, "v1": 1}}) + Totals("b")
    published = totals(invariants, SMALL, {"a": {"v0": 3}, "both": 3, "b": {"v0": 2, "v1": 1}})
    assert disclosures(invariants, SMALL, published)[0].startswith("the totals determine the value of a in every row")
    assert semi_adjacency(invariants, SMALL, published).a == 2


@pytest.mark.parametrize(
    ("invariants", "vacuous"),
    [
        (Totals("a"), False),
        (Margins("a", "b"), False),
        (Totals("a", "b"), True),
        (Occupied("a", "b"), False),
        (Totals("a", "b") + Occupied("a"), True),
        (Margins("a", "b") + Totals("a", "b", only=[(x, y) for x in ("v0", "v1") for y in ("v0", "v1")]), True),
        (Margins("a", "b") + Impossible("a", "b", cells=[("v0", "v0"), ("v1", "v1"), (None, None)]), False),
        (
            Margins("a", "b")
            + Impossible("a", "b", cells=[("v0", "v0"), ("v1", "v1"), (None, None), ("v0", None), (None, "v1")]),
            True,
        ),
        (LinearInvariant(["a", "b"], {f"s{i}{j}": {(i, j): 1} for i in ("v0", "v1") for j in ("v0", "v1", None)}), False),
        (LinearInvariant(["a", "b"], {f"s{i}{j}": {(i, j): 1} for i in ("v0", None) for j in ("v0", "v1", None)}), False),
    ],
)
def test_vacuous_invariants_leave_nothing(invariants, vacuous):
    assert is_vacuous(invariants, SMALL) == vacuous
    assert not is_vacuous(invariants, SCHEMA)


def test_weights_of_full_rank_leave_nothing():
    schema = dp.Schema(a=category(2))
    assert is_vacuous(LinearInvariant("a", {"s": {"v0": 1}, "u": {"v1": 1}}), schema)
    assert is_vacuous(LinearInvariant("a", {"s": {"v0": 1, "v1": 2}, "u": {"v1": 1}}), schema)
    assert not is_vacuous(LinearInvariant("a", {"s": {"v0": 1, "v1": 2}}), schema)


def test_published_totals_can_leave_nothing():
    margins = Margins("a", "b")
    assert is_vacuous(margins, SMALL, totals(margins, SMALL, {"a": {"v0": 3}, "b": {"v0": 2, "v1": 1}}))
    assert not is_vacuous(margins, SMALL, totals(margins, SMALL, {"a": {"v0": 2, "v1": 1}, "b": {"v0": 2, "v1": 1}}))


def test_large_domains_take_no_time():
    schema = dp.Schema(a=category(299), b=category(332), c=category(9))
    counts = np.ones(300 * 333, dtype=np.int64)
    margins = Margins("a", "b")
    assert semi_adjacency(margins, schema, totals_of_counts(margins, schema, counts)).a == 3
    joint = Totals("a", "b") + Totals("a")
    assert semi_adjacency(joint, schema, totals_of_counts(joint, schema, counts)).a == 2
    assert semi_adjacency(Totals("a", "b", "c") + Totals("a", "b", only=[("v1", "v1")]), schema).a == 2


def test_the_semi_adjacency_says_whether_it_is_attained_and_why():
    found = Margins("a", "b").semi_adjacency(SCHEMA, {"a": {"v0": 3, "v1": 4}, "b": {"v0": 5, "v1": 2}})
    assert (found.a, found.exact, found.reason) == (3, True, "2 disjoint margins: 2 + 1")
    bound = Margins(["a", "b"], ["b", "c"]).semi_adjacency(SCHEMA)
    assert (bound.exact, bound.reason) == (False, "2 partitions that cross in full tables: at most 2 + 1")


def test_the_semi_adjacency_is_still_the_integer_that_it_was():
    found = Margins("a", "b").semi_adjacency(SCHEMA)
    assert isinstance(found, int)
    assert (str(found), f"{found}", json.dumps({"a": found}), found**2, {3: "x"}[found]) == ("3", "3", '{"a": 3}', 9, "x")
    assert repr(found) == "SemiAdjacency(3, exact=True, reason='2 disjoint margins: 2 + 1')"
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (again, again.exact, again.reason) == (3, found.exact, found.reason)
    with pytest.raises(AttributeError, match="cannot be changed"):
        found.note = 1
    with pytest.raises(AttributeError):
        found.exact = True


@pytest.mark.parametrize(
    ("invariants", "mapping", "rows", "said"),
    [
        (
            Totals("a", only=["v0"]),
            {"a": {"v0": 5}},
            6,
            "totals of a, by subtraction: 1 further group of cells holds exactly one row",
        ),
        (Totals("a", only=["v0"]), {"a": {"v0": 4}}, 6, None),
        (
            Totals("a", only=["v0"]),
            {"a": {"v0": 1}},
            2,
            "totals of a, by subtraction: 1 further group of cells holds exactly one row",
        ),
        (
            Totals("a") + Totals("a", "b", only=[("v0", "v0"), ("v1", "v0")]),
            {"a": {"v0": 3, "v1": 3}, ("a", "b"): {("v0", "v0"): 2, ("v1", "v0"): 2}},
            6,
            "totals of a, b, by subtraction: 2 further groups of cells hold exactly one row",
        ),
        (Totals("a"), {"a": {"v0": 5, "v1": 1}}, 6, None),
        (
            Totals("a") + Totals("a", "b", only=[("v0", "v0")]),
            {"a": {"v0": 1, "v1": 5}, ("a", "b"): {("v0", "v0"): 0}},
            6,
            None,
        ),
    ],
)
def test_a_row_that_is_alone_by_subtraction_is_a_disclosure(invariants, mapping, rows, said):
    found = disclosures(invariants, SMALL, read_totals(invariants, SMALL, mapping, rows))
    assert [words for words in found if "subtraction" in words] == ([] if said is None else [said])


ONE_LEVEL = dp.Schema(a=category(3), b=category(3), c=category(2))


@pytest.mark.parametrize(("shown", "levels", "l2_squared"), [("abc", 3, 6), ("abc", 2, 4), ("acb", 3, 6), ("cab", 3, 6)])
def test_an_axis_with_one_level_that_has_rows_is_no_axis(shown, levels, l2_squared):
    """Margins of a, b and c, with every row in one level of c: a and b are a table of two margins, whose a is 3."""
    margins = Margins("a", "b", "c")
    table = dp.Table(ONE_LEVEL, dp.ReplaceOne(rows=30)).group_by(*shown).agg(dp.count())
    rows = {f"v{i}": 30 // levels for i in range(levels)}
    published = read_totals(margins, ONE_LEVEL, {"a": rows, "b": rows, "c": {"v0": 30}})
    found = quote(table, dp.ZCDP("1/2"), exact_totals_of(margins, ONE_LEVEL, published, 30)).measured[0]
    assert (found.sensitivity.l2_squared, found.law.sigma2) == (l2_squared, l2_squared)
    assert found.law.to_json()["lattice"] == f"1 table of {levels} x {levels}, with exact margins"
