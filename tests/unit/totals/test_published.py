"""Published totals: from private counts, from a caller, to JSON and back; contradictions are shown with their numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.domain.codes import NULL
from discreet.errors import InternalError
from discreet.exact.canonical import canonical
from discreet.invariants import Impossible, LinearInvariant, Margins, Occupied, Totals
from discreet.totals.cells import cell_at, cell_index, domain_size, levels, positions, shape_of
from discreet.totals.contradictions import refuse_contradictions
from discreet.totals.given import read_totals
from discreet.totals.published import PublishedTotals, totals_from_json, totals_of_counts

SCHEMA = dp.Schema(
    {
        "state": dp.Category(["AL", "AK"]),
        "sex": dp.Category(["F", "M"]),
        "age": dp.Number(0, 2),
        "half": dp.Number(0, 1, step="0.5"),
        "day": dp.Date("2020-01-01", "2020-01-02"),
    }
)
EVERYTHING = (
    Totals("state", "sex")
    + Totals("sex", "age", only=[("F", 2), (None, None)])
    + Occupied("age")
    + Occupied("sex", "state", only=[("F", "AL"), ("M", "AK")])
    + Impossible("sex", "age", cells=[("M", 0)])
    + LinearInvariant("age", {"years": {1: 1, 2: 2}, "minors": {0: -1}})
)


def counts_of(rows, columns=("state", "sex", "age")):
    """The dense counts of rows given as tuples of labels."""
    table = np.zeros(domain_size(columns, SCHEMA), dtype=np.int64)
    for row in rows:
        table[cell_index(row, columns, SCHEMA)] += 1
    return table


def test_levels_end_with_null():
    assert levels(SCHEMA["state"]) == ("AL", "AK", None)
    assert levels(SCHEMA["half"]) == (0, "0.5", 1, None)
    assert levels(SCHEMA["day"]) == ("2020-01-01", "2020-01-02", None)


def test_cells_and_their_numbers_agree():
    columns = ("half", "state", "day")
    cells = [cell_at(index, columns, SCHEMA) for index in range(domain_size(columns, SCHEMA))]
    assert cells == list(product(*(levels(SCHEMA[name]) for name in columns)))
    assert [cell_index(cell, columns, SCHEMA) for cell in cells] == list(range(len(cells)))


def test_positions_find_the_cell_of_some_of_the_columns_in_any_order():
    whole = ("state", "sex", "age")
    for columns in [("age", "state"), ("sex",), (), whole, ("age", "sex", "state")]:
        found = positions(columns, whole, SCHEMA)
        for index in range(domain_size(whole, SCHEMA)):
            cell = cell_at(index, whole, SCHEMA)
            assert found[index] == cell_index([cell[whole.index(name)] for name in columns], columns, SCHEMA)


def test_counts_become_totals():
    rows = [("AL", "F", 2), ("AL", "F", 2), ("AK", None, None), (None, "M", 1)]
    totals = totals_of_counts(EVERYTHING, SCHEMA, counts_of(rows))
    joint, some, ages, pairs, nothing, sums = (totals.value(part) for part in EVERYTHING.parts)
    assert totals.rows == 4
    assert joint == (2, 0, 0, 0, 0, 1, 0, 1, 0)
    assert some == (2, 1)
    assert ages == (0, 1, 1, 1)
    assert pairs == (1, 0)
    assert nothing == ()
    assert sums == (5, 0)
    assert totals.cells(EVERYTHING.parts[1], SCHEMA) == {("F", 2): 2, (None, None): 1}
    assert totals.cells(EVERYTHING.parts[2], SCHEMA) == {(0,): 0, (1,): 1, (2,): 1, (None,): 1}
    assert totals.table(("sex",), SCHEMA).tolist() == [2, 1, 1]
    assert totals.table(("sex", "state"), SCHEMA).tolist() == [[2, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert totals.table(("age",), SCHEMA) is None


def test_sparse_counts_give_the_same_with_either_code_of_null():
    rows = [("AL", "F", 2), ("AK", None, None)]
    dense = totals_of_counts(EVERYTHING, SCHEMA, counts_of(rows).reshape(shape_of(("state", "sex", "age"), SCHEMA)))
    for null in (NULL, None):
        keys = np.array([[0, 0, 2], [1, 2 if null is None else null, 3 if null is None else null]])
        assert totals_of_counts(EVERYTHING, SCHEMA, (keys, np.array([1, 1]))) == dense


def test_sums_do_not_overflow():
    large = LinearInvariant("sex", {"a": {"F": 10**9}})
    totals = totals_of_counts(large, SCHEMA, (np.array([[0]]), np.array([2**40])))
    assert totals.values == ((10**9 * 2**40,),)


def test_a_row_where_none_can_be_is_an_internal_error_without_numbers():
    for keys in ([[0, 1, 0]], [[0, 7, 0]], [[0, -2, 0]]):
        with pytest.raises(InternalError) as caught:
            totals_of_counts(EVERYTHING, SCHEMA, (np.array(keys), np.array([31])))
        assert not any(char.isdigit() for char in str(caught.value))


ROWS = st.lists(
    st.tuples(st.sampled_from(["AL", "AK", None]), st.sampled_from(["F", None]), st.sampled_from([0, 1, 2, None])),
    max_size=8,
)


@settings(max_examples=25)
@given(ROWS)
def test_json_comes_back_and_nothing_true_is_a_contradiction(rows):
    totals = totals_of_counts(EVERYTHING, SCHEMA, counts_of(rows))
    assert totals_from_json(EVERYTHING, SCHEMA, totals.to_json(SCHEMA)) == totals
    refuse_contradictions(totals, SCHEMA)


@settings(max_examples=25)
@given(ROWS)
def test_the_order_of_parts_and_columns_does_not_show_in_json(rows):
    first = Totals("state", "sex") + Occupied("age")
    second = Occupied("age") + Totals("sex", "state")
    left = totals_of_counts(first, SCHEMA, counts_of(rows))
    right = totals_of_counts(second, SCHEMA, counts_of([(a, x, s) for s, x, a in rows], ("age", "sex", "state")))
    assert canonical(left.to_json(SCHEMA)) == canonical(right.to_json(SCHEMA))


def test_json_of_other_invariants_is_refused():
    totals = totals_of_counts(Totals("sex"), SCHEMA, np.array([1, 2, 0]))
    with pytest.raises(dp.PlanError, match="describes other invariants"):
        totals_from_json(Totals("state"), SCHEMA, totals.to_json(SCHEMA))
    with pytest.raises(dp.PlanError, match="belong to other invariants"):
        read_totals(Totals("state"), SCHEMA, totals)
    assert read_totals(Totals("sex"), SCHEMA, totals) is totals


@settings(max_examples=25)
@given(ROWS)
def test_a_caller_may_write_what_a_table_says(rows):
    totals = totals_of_counts(EVERYTHING, SCHEMA, counts_of(rows))
    joint, some, ages, *_ = EVERYTHING.parts
    swapped = {(sex, state): count for (state, sex), count in totals.cells(joint, SCHEMA).items() if count}
    written = {
        ("sex", "state"): swapped,
        ("sex", "age"): totals.cells(some, SCHEMA),
        "age": [cell for cell, there in totals.cells(ages, SCHEMA).items() if there],
        "years": totals.value(EVERYTHING.parts[5])[0],
        "minors": totals.value(EVERYTHING.parts[5])[1],
    }
    assert read_totals(EVERYTHING, SCHEMA, written) == totals


def test_rows_are_known_only_where_a_whole_table_or_the_caller_says_them():
    some = Totals("sex", only=["F"])
    assert read_totals(some, SCHEMA, {"sex": {"F": 3}}).rows is None
    assert read_totals(some, SCHEMA, {"sex": {"F": 3}}, rows=5).rows == 5
    assert read_totals(Totals("sex"), SCHEMA, {"sex": {"F": 3}}).values == ((3, 0, 0),)


BOTH = Totals("state") + Totals("state", "sex")


@pytest.mark.parametrize(
    ("invariants", "written", "words"),
    [
        (Totals("sex"), [], "must map columns"),
        (Totals("sex"), {"sx": {}}, "did you mean 'sex'"),
        (Totals("sex"), {"sex": ["F"]}, "a list of occupied cells is not among the invariants"),
        (Totals("sex"), {7: {}}, "'7'"),
        (Totals("sex"), {}, "totals of sex are missing"),
        (Occupied("sex"), {}, "occupied cells of sex are missing"),
        (LinearInvariant("sex", {"a": {"F": 1}}), {}, "sum 'a' is missing"),
        (LinearInvariant("sex", {"a": {"F": 1}}), {"a": 1.5}, "must be a whole number"),
        (Totals("sex"), {"sex": {"X": 1}}, "not a category"),
        (Totals("sex"), {"sex": {"F": -1}}, "must be at least 0"),
        (Totals("sex"), {"sex": {"F": 1.5}}, "must be a whole number"),
        (Totals("sex"), {"sex": {("F", "M"): 1}}, "must have 1 values"),
        (Totals("age"), {"age": {1: 1, "1": 2}}, r"cell \[.?1.?\] is given twice"),
        (Totals("state", "sex"), {("state", "sex"): {}, ("sex", "state"): {}}, "given twice"),
        (Totals("sex", only=["F"]), {"sex": {"M": 1}}, "not among the published cells"),
        (Occupied("sex"), {"sex": "F"}, "must be"),
        (BOTH, {"state": {"AL": 3}, ("state", "sex"): {("AL", "F"): 2}}, "have 3 rows where state is 'AL', the .* have 2"),
        (Margins("state", "sex"), {"state": {"AL": 3}, "sex": {"F": 4}}, "have 3 rows, the totals of sex have 4"),
        (
            Totals("state", "sex") + Totals("sex", "age"),
            {("state", "sex"): {("AL", "F"): 1, ("AL", "M"): 1}, ("sex", "age"): {("F", 1): 2}},
            "have 1 rows where sex is 'F', the .* have 2",
        ),
        (
            Totals("state") + Totals("state", "sex", only=[("AL", "F")]),
            {"state": {"AL": 1, "AK": 9}, ("state", "sex"): {("AL", "F"): 2}},
            "have 1 rows where state is 'AL', the .* have 2",
        ),
        (
            Totals("state", only=["AL"]) + Totals("state", "sex", only=[("AL", "F"), ("AL", "M"), ("AL", None)]),
            {"state": {"AL": 3}, ("state", "sex"): {("AL", "F"): 2}},
            "have 3 rows where state is 'AL', the .* have 2",
        ),
        (
            Occupied("sex") + Totals("sex", "age"),
            {"sex": ["M"], ("sex", "age"): {("F", 1): 2}},
            "is not occupied, but has 2",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_the_reason(invariants, written, words):
    with pytest.raises(dp.ArgumentError, match=words):
        read_totals(invariants, SCHEMA, written)


@pytest.mark.parametrize(
    ("invariants", "written", "words"),
    [
        (Totals("sex"), {"sex": {"F": 3}}, "add up to 3, but the table has 5 rows"),
        (Totals("sex", only=["F"]), {"sex": {"F": 6}}, "add up to 6, but the table has 5 rows"),
        (
            Occupied("state", "sex"),
            {("state", "sex"): list(product(["AL", "AK"], ["F", "M", None]))},
            "6 cells .* by 5 rows",
        ),
        (LinearInvariant("age", {"a": {1: 1, 2: 2}}), {"a": 11}, "'a' is 11, but 5 rows give between 0 and 10"),
        (LinearInvariant("age", {"a": {0: -1, 1: -2, 2: -2, None: -3}}), {"a": -4}, "between -15 and -5"),
    ],
)
def test_the_number_of_rows_is_held_against_the_totals(invariants, written, words):
    with pytest.raises(dp.PlanError, match=words):
        read_totals(invariants, SCHEMA, written, rows=5)


def test_published_totals_are_frozen_values():
    one = PublishedTotals(Totals("sex"), 3, ((1, 2, 0),))
    assert one == PublishedTotals(Totals("sex"), 3, ((1, 2, 0),))
    assert hash(one) == hash(PublishedTotals(Totals("sex"), 3, ((1, 2, 0),)))
