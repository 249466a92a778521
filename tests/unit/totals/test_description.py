"""Descriptions of exact statistics: what can be said, what is refused, and that equal meanings have one JSON form."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.invariants import Impossible, Invariants, LinearInvariant, Margins, Occupied, Totals
from discreet.totals import description

SCHEMA = dp.Schema(
    {
        "state": dp.Category(["Alabama", "Alaska"]),
        "sex": dp.Category(["F", "M"]),
        "age": dp.Number(0, 110),
        "wage": dp.Number("0", "2000", step="0.1"),
        "born": dp.Date("2020-01-01", "2020-01-31"),
        "veteran": dp.Category([False, True]),
    }
)
PARTS = st.sampled_from(
    [
        Totals("state"),
        Totals("sex", "state"),
        Totals("state", only=["Alaska", None]),
        Occupied("age"),
        Impossible("sex", "veteran", cells=[("F", True)]),
        LinearInvariant("age", {"retired": {65: 1, 66: 1}}),
    ]
)


def test_margins_are_a_sum_of_totals():
    assert Margins(["state"], ["sex", "age"]) == Totals("state") + Totals("sex", "age")
    assert Margins("state") == Totals("state")


def test_columns_come_in_the_order_of_first_mention():
    assert (Totals("sex", "state") + Totals("age") + Occupied("state")).columns == ("sex", "state", "age")


@settings(max_examples=30)
@given(PARTS, PARTS, PARTS)
def test_joining_is_associative_idempotent_and_says_the_same_in_any_order(a, b, c):
    assert (a + b) + c == a + (b + c)
    assert a + a == a
    assert a + b + a == a + b
    assert (a + b).to_json() == (b + a).to_json()
    (a + b + c).check(SCHEMA)


def test_what_means_the_same_has_the_same_json():
    assert Totals("state", "sex").to_json() == Totals("sex", "state").to_json()
    left = Totals("state", "sex", only=[("Alaska", "F"), ("Alabama", None)])
    right = Totals("sex", "state", only=[(None, "Alabama"), ("F", "Alaska")])
    assert left.to_json() == right.to_json()
    assert left + right == left
    first = LinearInvariant(["sex", "age"], {"a": {("F", 1): 2, ("M", 3): 0}})
    assert first.to_json() == LinearInvariant(["age", "sex"], {"a": {(1, "F"): 2}}).to_json()


def test_what_means_something_else_has_another_json():
    said = [
        Totals("sex"),
        Occupied("sex"),
        Totals("sex", only=["F"]),
        Totals("sex", only=["M"]),
        Totals("veteran", only=[True]),
    ]
    said += [Totals("veteran", only=[1]), Impossible("sex", cells=["F"]), LinearInvariant("sex", {"a": {"F": 1}})]
    shown = [str(one.to_json()) for one in said]
    assert len(set(shown)) == len(said)


def test_numbers_and_dates_may_be_written_in_several_ways():
    for value in ["0.5", 0.5]:
        Totals("wage", only=[value]).check(dp.Schema(wage=dp.Number(0, 10, step="0.5")))
    assert Totals("born", only=[dt.date(2020, 1, 2)]) == Totals("born", only=["2020-01-02"])
    assert Totals("age", only=[3.0]) == Totals("age", only=[3])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (Totals, "names no column"),
        (Margins, "names no columns"),
        (lambda: Margins(3), "must be a list"),
        (lambda: Totals("sex", "sex"), "'sex' is named twice"),
        (lambda: Totals(7), "must be the name"),
        (lambda: Totals("sex", only=[]), "names no cell"),
        (lambda: Totals("sex", only="F"), "must be a list of cells"),
        (lambda: Totals("sex", only=["F", "F"]), "listed twice"),
        (lambda: Totals("sex", "age", only=["F"]), "must have 2 values, not 1"),
        (lambda: Totals("sex", only=[object()]), "is not a value of a cell"),
        (lambda: Impossible("sex", cells=[]), "names no cell"),
        (lambda: LinearInvariant([], {"a": {}}), "names no column"),
        (lambda: LinearInvariant("sex", {}), "at least one name"),
        (lambda: LinearInvariant("sex", {"": {"F": 1}}), "must be printable text"),
        (lambda: LinearInvariant("sex", {"a": 3}), "must map cells to integers"),
        (lambda: LinearInvariant("sex", {"a": {"F": 0}}), "no coefficient other than 0"),
        (lambda: LinearInvariant("sex", {"a": {"F": 0.5}}), "must be an integer"),
        (lambda: LinearInvariant("sex", {"a": {"F": True}}), "must be an integer"),
        (lambda: LinearInvariant("sex", {"a": {"F": 10**10}}), "must be an integer"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(made, words):
    with pytest.raises(dp.ArgumentError, match=words):
        made()


@pytest.mark.parametrize(
    ("invariants", "words"),
    [
        (Totals("stat"), "not declared in the schema; did you mean 'state'"),
        (Totals("sex", only=["X"]), "sex='X': is not a category"),
        (Totals("veteran", only=[1]), "veteran=1: is not a category"),
        (Occupied("age", only=[111]), "must lie within"),
        (Impossible("sex", "age", cells=[("F", 0.5)]), "must lie on the grid"),
        (LinearInvariant("born", {"a": {"2021-01-01": 1}}), "must lie within"),
        (Totals("age", only=["3", 3]), "listed twice"),
        (Totals("wage"), "20001 values, more than 10000"),
        (Totals("age", "born") + Totals("sex", "state") + Occupied("veteran"), None),
        (LinearInvariant("sex", {"age": {"F": 1}}), "is the name of a column"),
        (LinearInvariant("sex", {"a": {"F": 1}}) + LinearInvariant("sex", {"a": {"M": 1}}), "used twice"),
    ],
)
def test_the_schema_is_asked(invariants, words):
    if words is None:
        invariants.check(SCHEMA)
        return
    with pytest.raises(dp.ArgumentError, match=words):
        invariants.check(SCHEMA)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("column", "followed"),
    [
        (dp.Number(0, 100, "0.005"), {"step=0.02": dp.Number(0, 100, "0.02"), "closer bounds": dp.Number(0, 49, "0.005")}),
        (dp.Number(0, 20_011), {"closer bounds": dp.Number(0, 9999)}),  # a prime number of steps: no step divides it
        (dp.Number(0, 2**51), {"closer bounds": dp.Number(0, 9999)}),
        (dp.Date("1990-01-01", "2020-01-01"), {"closer bounds": dp.Date("1993-01-01", "2020-01-01")}),
    ],
)
def test_each_advice_for_a_column_of_too_many_values_can_be_followed(column, followed):
    with pytest.raises(dp.ArgumentError, match="more than 10000; declare ") as refused:
        Totals("x").check(dp.Schema(x=column))
    words = str(refused.value)
    assert ("step=" in words) == ("step=0.02" in followed)
    assert words.endswith("or list the values to publish in only=[…]")
    for advice, coarser in followed.items():
        assert advice in words
        Totals("x").check(dp.Schema(x=coarser))
    if column.size < 1_000_000:
        listed = Totals("x", only=[column.value(0), column.value(column.size - 1)])
        assert listed.semi_adjacency(dp.Schema(x=column)) == 2


def test_a_sum_over_too_many_values_is_not_advised_to_list_them():
    with pytest.raises(
        dp.ArgumentError, match=r"20001 values, more than 10000; declare a coarser step, such as step=0\.4, or closer"
    ) as refused:
        LinearInvariant("wage", {"all": {1: 1}}).check(SCHEMA)
    assert "only=" not in str(refused.value)


def test_a_joint_domain_that_is_too_large_is_refused_with_its_size():
    schema = dp.Schema({name: dp.Number(0, 98) for name in "abcd"})
    with pytest.raises(dp.ArgumentError, match="totals of a, b, c, d have 100000000 cells, more than 5000000"):
        Totals("a", "b", "c", "d").check(schema)
    with pytest.raises(dp.ArgumentError, match=r"joint domain of a, b, c, d has 100000000 cells.*'a', which has 100 levels"):
        Margins("a", "b", "c", "d").check(schema)
    Totals("a", "b", "c").check(schema)


def test_a_list_that_tells_all_others_may_have_more_cells(monkeypatch):
    """Lists that follow from a finest one, such as blocks by sex and counties, are one partition: nothing is looked for."""
    monkeypatch.setattr(description, "_MAX_CELLS", 10)
    monkeypatch.setattr(description, "_MAX_NESTED", 12)
    areas = {"county": ["1", "1", "2"], "block": ["a", "b", "c"]}
    schema = dp.Schema(area=dp.Hierarchy(areas, levels=["county", "block"]), sex=dp.Category(["f", "m"]))
    (Totals("area.block", "sex") + Totals("area.county") + Totals("sex")).check(schema)  # 4 × 3 cells
    for crossing in (
        Totals("area.block") + Totals("area.county", "sex"),
        Totals("area.block", "sex", only=[("a", "f")]) + Totals("area.county"),
    ):
        with pytest.raises(dp.ArgumentError, match="12 cells, more than 10"):
            crossing.check(schema)
    monkeypatch.setattr(description, "_MAX_NESTED", 11)
    with pytest.raises(dp.ArgumentError, match="12 cells, more than 11"):
        Totals("area.block", "sex").check(schema)


def test_it_joins_with_invariants_only():
    with pytest.raises(TypeError):
        Totals("sex") + "state"
    assert Invariants(()) + Totals("sex") == Totals("sex")
