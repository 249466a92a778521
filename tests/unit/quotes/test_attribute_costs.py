"""The parts of a release that a change of one attribute costs, by hand, for each rule that says what the change touches."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import discreet as dp
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.plan.person_table import PersonTable
from discreet.quotes import allocate
from discreet.quotes.attributes import cost_of_change, part_of_change
from discreet.releases.evaluate import exact_answers, run_scans
from discreet.totals.attributes import attributes_of, changes_of_attribute
from discreet.totals.exact_totals import exact_totals_of

SCHEMA = dp.Schema(
    area=dp.Category(["a1", "a2", "b1"]),
    state=dp.DerivedColumn("state", of="area", by={"a1": "A", "a2": "A", "b1": "B"}),
    sex=dp.Category(["f", "m"]),
    age=dp.Number(0, 9),
)
ROWS = 20
CROSSING = dp.Totals("area") + dp.Totals("state", "sex")


def change_of(name, invariants=None, schema=SCHEMA):
    (attribute,) = [one for one in attributes_of(schema) if name in one]
    return changes_of_attribute(attribute, invariants, schema, ROWS)[0]


def quoted(request, invariants=None, neighbours=None, spend=None):
    known = None if invariants is None else exact_totals_of(invariants, SCHEMA, None, ROWS)
    return allocate.quote(request(dp.Table(SCHEMA, neighbours or dp.ReplaceOne(rows=ROWS))), spend or dp.ZCDP(1), known)


def test_a_condition_sees_the_columns_that_it_names():
    """A row that comes in or goes out changes a count, although the query reads no column of its own."""
    women = quoted(lambda table: table.where({"sex": ["f"]}).group_by("state").agg(dp.count()))
    assert part_of_change(women, change_of("sex")) >= Fraction(1, 2)
    assert part_of_change(women, change_of("area")) == 1
    assert part_of_change(women, change_of("age")) == 0


def test_rows_that_are_drawn_and_rows_of_persons_cost_all_of_the_spend():
    drawn = quoted(lambda table: table.sample("1/2").agg(dp.count(), dp.sum("age", nulls="skip")))
    assert part_of_change(drawn, change_of("age")) == 1
    assert part_of_change(drawn, change_of("sex")) == 0


VISITS = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b"]), day=dp.Number(0, 2), paid=dp.Number(0, 1))
OF_PERSONS = {
    "a column": lambda table: table.per_person(home=dp.only("shop")).group_by("home").agg(dp.count()),
    "a condition": lambda table: table.where({"day": (0, 1)}).per_person(visits=dp.rows(0, 2)).agg(dp.count()),
    "a clamp": lambda table: table.clamp({"paid": (0, 0)}).per_person(visits=dp.rows(0, 2)).agg(dp.count()),
    "not used": lambda table: table.per_person(spent=dp.total("paid", 0, 2), days=dp.distinct("day", most=2)).agg(
        dp.count(), dp.sum("spent", nulls="skip")
    ),
}


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("case", OF_PERSONS)
def test_what_is_made_of_the_rows_of_a_person_is_charged_for_the_columns_of_the_rows(case, part):
    """Whatever a person's only row, or one of two, is changed to in one attribute: an answer that moves is charged."""
    plan = OF_PERSONS[case](dp.Table(VISITS, dp.AddRemove(person="visitor", part=part)))
    found = allocate.quote(plan, dp.ZCDP(1))
    names = ("shop", "day", "paid")
    header = {"visitor": ColumnType("integer", ""), "shop": ColumnType("text", "")}
    header |= {"day": ColumnType("integer", ""), "paid": ColumnType("integer", "")}

    def answers(rows):
        cubes = run_scans(ReferenceEngine(header, [(1, *row) for row in rows]), plan.layout)
        return [one.tolist() for one in exact_answers(found, cubes, system_bits())]

    for place, name in enumerate(names):
        moved = False
        for row, other, kept in product(product("ab", range(3), range(2)), range(3), [[], [("b", 0, 1)]]):
            values = [*row]
            values[place] = "ab"[other % 2] if name == "shop" else min(other, 2 - (name == "paid"))
            moved |= answers([row, *kept]) != answers([tuple(values), *kept])
        change = change_of(name, schema=VISITS)
        assert (part_of_change(found, change) > 0) == moved, name
        assert (cost_of_change(found, change) == (dp.ZCDP(1) if part else dp.ZCDP(4))) == moved


def test_columns_of_persons_that_pass_for_those_of_their_rows_are_noticed(monkeypatch):
    monkeypatch.setattr(PersonTable, "columns_behind", lambda table, used: frozenset(used))
    with pytest.raises(AssertionError):
        test_what_is_made_of_the_rows_of_a_person_is_charged_for_the_columns_of_the_rows("a column", part=False)


@pytest.mark.parametrize("name", ["area", "sex"])
def test_crossing_totals_tie_the_columns_of_all_of_them(name):
    assert {"area", "state", "sex"} <= change_of(name, CROSSING).moved
    assert change_of("age", CROSSING).moved == {"age"}


def test_a_release_that_sees_only_what_the_totals_tie_to_an_attribute_is_charged_for_it():
    """Who leaves the area takes a sex along, and somebody of this sex must come: so the area shows in the counts by sex."""
    by_sex = quoted(lambda table: table.where({"age": (0, 4)}).group_by("sex").agg(dp.count()), CROSSING)
    assert part_of_change(by_sex, change_of("area", CROSSING)) > 0
    assert part_of_change(by_sex, change_of("age", CROSSING)) > 0


def test_computed_columns_of_one_column_of_the_source_are_one_attribute():
    schema = dp.Schema(low=dp.Number(0, 9), high=dp.Number(0, 9), other=dp.Number(0, 9)).select(
        "SELECT age AS low, 9 - age AS high, other FROM source"
    )
    assert attributes_of(schema) == (("low", "high"), ("other",))
    assert change_of("low", dp.Totals("high"), schema).rows.a == 2


def test_a_part_is_relative_to_what_all_queries_cost_together():
    """A value that changes moves the sum by 9 at most (18 half steps), and the number of known values by 1."""
    found = quoted(lambda table: table.group_by("state").agg(dp.count(), dp.mean("age", nulls="skip")))
    assert found.joint < 1
    known, added = (one.law.sigma2 for one in found.measured if one.query.columns())
    assert part_of_change(found, change_of("age")) == (1 / known + 18**2 / added) / (2 * found.spend.rho) == Fraction(3, 5)


def test_where_a_row_may_go_to_another_place_noise_of_two_variances_costs_more():
    """A row of another age stays at its place, where this noise has its larger variance; one of another sex does not."""
    beside = dp.Margins(["state"], ["sex"])
    found = quoted(lambda table: table.group_by("state", "sex", dp.bins("age", [0, 5, 9])).agg(dp.count()), beside)
    (noise,) = (one.law for one in found.measured)
    inside, outside = (part_of_change(found, change_of(name, beside)) for name in ("age", "sex"))
    between = (2 - Fraction(2, noise.depth)) / noise.within + Fraction(2, noise.depth) / noise.between
    assert inside == 2 / noise.within / (2 * found.spend.rho)
    assert outside == min(1, 4 * between / (2 * found.spend.rho))


def test_a_column_as_recorded_is_the_column():
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS)).clamp({"age": (0, 5)}).group_by("state")
    found = allocate.quote(table.agg(dp.sum("age", nulls="skip")).original(prepared=False), dp.ZCDP(1), None)
    assert part_of_change(found, change_of("sex")) == 0
    assert part_of_change(found, change_of("age")) > 0


@pytest.mark.parametrize("name", ["x", "y"])
def test_a_vector_costs_at_least_what_any_two_rows_differ_in(name):
    """Against all pairs of rows that differ in one of its columns alone."""
    schema = dp.Schema(x=dp.Number(0, 2), y=dp.Number(0, 3))
    found = allocate.quote(
        dp.Table(schema, dp.ReplaceOne(rows=1)).agg(dp.regression("y", "x", nulls="skip")), dp.ZCDP(1), None
    )
    answers = {}
    for x, y in product(range(3), range(4)):
        cubes = [
            ReferenceEngine({"x": "value", "y": "value"}, [(x, y)]).aggregate(s.axes, s.moments)
            for s in found.plan.layout.scans
        ]
        answers[x, y] = exact_answers(found, cubes, system_bits())
    worst = Fraction(0)
    for one, other in product(answers, repeat=2):
        if one["xy".index(name) - 1] == other["xy".index(name) - 1]:  # the other column is the same
            parts = zip(answers[one], answers[other], found.measured, strict=True)
            worst = max(worst, sum(Fraction(int(((a - b) ** 2).sum())) / each.law.sigma2 for a, b, each in parts))
    assert 0 < worst <= part_of_change(found, change_of(name, schema=schema)) * 2 * found.spend.rho


def test_an_amount_with_a_delta_counts_all_rows_of_a_person():
    """The noise is for one row; two rows of a person cost twice its μ, stated at the same δ."""
    spend, two = dp.ApproxDP(1, "1e-3"), dp.ReplaceOne(rows=ROWS, rows_per_person=2)
    many = [dp.count(), dp.mean("age", nulls="skip"), dp.variance("age", nulls="skip")]
    found = quoted(lambda table: table.group_by("state", "sex").agg(*many), None, two, spend)
    assert cost_of_change(found, change_of("sex")) == spend
    part = found.joint * part_of_change(found, change_of("age"))
    mu = float(part * sum(one.guarantee.mu**2 for one in found.measured)) ** 0.5
    cost = cost_of_change(found, change_of("age"))
    assert cost.delta == spend.delta
    assert float(cost.epsilon) == pytest.approx(dp.GDP(2 * Fraction(mu)).epsilon_at("1e-3"), rel=1e-6)


def test_a_part_of_an_amount_with_a_delta_is_stated_at_the_same_delta():
    beside, spend = dp.Totals("state"), dp.ApproxDP(1, "1e-6")
    found = quoted(lambda table: table.group_by("state", "sex").agg(dp.count()), beside, None, spend)
    part = cost_of_change(found, change_of("sex", beside))
    assert part.delta == spend.delta
    assert Fraction(1, 4) < part.epsilon < spend.epsilon  # a quarter of ρ, which is about half of ε


def test_a_text_that_is_named_like_a_column_as_recorded_is_itself():
    """Taken for the column before its steps, its groups would be said to cost nothing."""
    schema = dp.Schema({"id": dp.Identifier(), "a as recorded": dp.Text(max_length=9), "a": dp.Category(["x"])})
    table = dp.Table(schema, dp.AddRemove(person="id")).bound(groups=1, rows=1)
    request = table.group_by(dp.Discover("a as recorded", at_least=5)).agg(dp.persons())
    found = allocate.quote(request, dp.ApproxDP(1, "1e-6"))
    whole = dp.ApproxDP(1, "1e-6").group(2)
    assert cost_of_change(found, change_of("a as recorded", schema=schema)) == whole
    assert cost_of_change(found, change_of("a", schema=schema)) is None
