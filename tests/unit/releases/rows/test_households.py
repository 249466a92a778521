"""Rows of households and persons go together: a household has as many persons as it says, and both keep their facts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from tests.laws.mutants import Mutant
from tests.unit.releases.rows.homes import HOMES, OF_PEOPLE, PEOPLE, homes_of, made_up, people_of, released

import discreet as dp
from discreet.errors import InternalError
from discreet.releases.rows import fit, households


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    """Rows are fitted in two sweeps: enough for what holds after every draw."""
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 20, 1), (Fraction(40), 20, 1)))


def check(found, size="size"):
    """Every household has its size of persons, who agree with it."""
    homes, people = found.homes.frame, found.persons.frame
    assert homes["household"].to_list() == [*range(len(homes))]
    assert people["household"].is_sorted()
    many = Counter(people["household"].to_list())
    assert [many[place] for place in range(len(homes))] == homes[size].to_list()
    assert found.persons.made == len(people) == homes[size].sum()
    beside = homes[people["household"].to_numpy()]
    assert beside.select(found.shared).equals(people.select(found.shared))


def as_true(found, places, columns):
    return Counter(found.select(columns).rows()) == Counter(made_up()[places].select(columns).rows())


def test_households_and_persons_go_together_where_no_number_is_public():
    found = dp.fit_households(homes_of(public=False), people_of(public=False), size="size")
    check(found)
    assert found.shared == ("area", "area.state", "area.county", "tenure")
    assert found.persons.made == found.persons.published
    assert "who agree with theirs in area, area.state, area.county, tenure" in str(found)


BESIDE = {
    "areas of persons": (None, dp.Totals("area", "sex")),
    "finer ones of persons": (dp.Totals("area.state"), dp.Totals("area", "tenure")),
    "of both": (dp.Totals("area.county", "tenure"), dp.Totals("area.state", "age")),
    "sizes": (dp.Totals("size"), None),
    "not shared": (None, dp.Totals("sex", "age")),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_exact_facts_of_both_hold(kind):
    """The noise is large: what the tables say of sizes is far from the totals of persons."""
    invariants = BESIDE[kind]
    found = dp.fit_households(homes_of(invariants[0], spend="1/50"), people_of(invariants[1], spend="1/50"), size="size")
    check(found)
    assert len(found.homes.frame) == len(made_up()[0])
    assert len(found.persons.frame) == len(made_up()[1])
    columns = {
        "areas of persons": [(1, ["area", "sex"])],
        "finer ones of persons": [(1, ["area", "tenure"])],
        "of both": [(0, ["area", "tenure"]), (1, ["age"])],
        "sizes": [(0, ["size"])],
        "not shared": [(1, ["sex", "age"])],
    }[kind]
    assert all(as_true((found.homes, found.persons)[place].frame, place, names) for place, names in columns)
    assert "sizes of households" in found.homes.kept
    assert "sizes of households" in found.persons.kept


def test_persons_may_know_the_size_of_their_household():
    people, schema = made_up()[1].rename({"household_size": "size"}), dp.Schema(size=HOMES["size"], sex=PEOPLE["sex"])
    found = dp.fit_households(homes_of(), released(people, schema, [["size", "sex"]], dp.Totals("sex")), size="size")
    check(found)
    assert found.shared == ("size",)


def test_everybody_gets_the_same_households():
    both = homes_of(), people_of()
    one, other = (dp.fit_households(*both, size="size") for _ in range(2))
    assert one.homes.frame.equals(other.homes.frame)
    assert one.persons.frame.equals(other.persons.frame)
    assert one.homes.digest == both[0].digest


def test_nothing_shared_is_chance():
    schema = dp.Schema(sex=PEOPLE["sex"], age=PEOPLE["age"])
    found = dp.fit_households(homes_of(), released(made_up()[1], schema, [["sex", "age"]]), size="size")
    check(found)
    assert found.shared == ()


REFUSED = {
    "must be a column of the households, such as 'size'": {"size": "rooms"},
    "must be a category of whole numbers from 0 on": {"size": "tenure"},
}


@pytest.mark.parametrize("message", REFUSED)
def test_columns_that_are_no_sizes_are_refused(message):
    with pytest.raises(dp.ArgumentError, match=message):
        dp.fit_households(homes_of(), people_of(), **REFUSED[message])


def test_a_shared_column_has_the_same_values_in_both():
    schema = dp.Schema(tenure=dp.Category(["own", "rent", "other"]), sex=PEOPLE["sex"])
    with pytest.raises(dp.ArgumentError, match=r"'tenure': households and persons both have it, .* another name"):
        dp.fit_households(homes_of(), released(made_up()[1], schema, [["tenure", "sex"]]), size="size")


def test_totals_that_no_sizes_have_are_refused_by_name():
    few = made_up()[1].filter(pl.col("area") != "a1")
    with pytest.raises(dp.ArgumentError, match="were found for sizes of households inside totals of area"):
        dp.fit_households(homes_of(dp.Totals("area")), released(few, PEOPLE, OF_PEOPLE, dp.Totals("area")), size="size")


def test_exact_households_without_a_size_are_refused_with_the_next_step():
    homes = made_up()[0].with_columns(size=pl.when(pl.col("area") == "a1").then(None).otherwise("size"))
    of_homes = released(homes, HOMES, [["area", "size"]], dp.Totals("size"))
    with pytest.raises(
        dp.ArgumentError, match=r"size='size': totals of size have households of which no size is known, .*com"
    ):
        dp.fit_households(of_homes, people_of(public=False), size="size")


MUTANTS = {
    "persons of any kind": (households, "_with_rooms", "lists=(*targets.lists, listed)", "lists=targets.lists"),
    "places in any order": (households, "_placed", "of_persons[order]", "of_persons[order] * 0"),
}


@pytest.mark.parametrize("planted", MUTANTS)
def test_what_breaks_households_is_noticed(planted, monkeypatch):
    both = homes_of(), people_of(dp.Totals("area", "sex"))
    Mutant(*MUTANTS[planted]).plant(monkeypatch)
    with pytest.raises((AssertionError, InternalError, dp.ArgumentError)):
        check(households.fit_households(*both, size="size"))
