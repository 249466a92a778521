"""Audits of tables of persons: canaries come near the claim, and noise for a smaller bound is refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest

import discreet as dp
from discreet.audit import audit
from discreet.audit.auditing import audit_quote
from discreet.audit.draws import Kernel
from discreet.audit.persons import canary_pairs
from discreet.domain.person_relations import with_beside
from discreet.quotes.allocate import quote

SCHEMA = dp.Schema(
    visitor=dp.Identifier(), shop=dp.Category(["a", "b", "c", "d", "e"]), day=dp.Number(0, 30), amount=dp.Number(-50, 300)
)
TABLE = dp.Table(SCHEMA, dp.AddRemove(person="visitor"))
SPENDS = [dp.PureDP(2), dp.ZCDP("0.5"), dp.GDP(1), dp.ApproxDP(2, "1e-6")]


def by_shop(groups, rows=1, most=100):
    table = TABLE.bound(groups=groups, rows=rows).group_by("shop")
    return {
        "persons": table.agg(dp.persons()),
        "rows": table.agg(dp.count()),
        "totals": table.agg(dp.sum("amount", per_person=(-20, most))),
        "means": table.agg(dp.mean("amount", per_person=(-20, most))),
    }


@pytest.mark.one_in(5)
@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
@pytest.mark.parametrize("asked", ["persons", "rows", "totals", "means"])
def test_canaries_come_near_the_claim_and_never_above(asked, spend):
    found = audit(by_shop(groups=3, rows=2)[asked], spend, runs=100_000)
    assert not found.refuted
    assert found.epsilon > 0.5 * found.claimed
    assert found.attacks[0].what.startswith("a person added with ")


def test_a_canary_is_in_as_many_groups_as_count_fully():
    (attack, *_) = audit(by_shop(groups=3)["persons"], dp.PureDP(1), runs=2000).attacks
    assert attack.what == "a person added with (shop=a), (shop=null), (shop=b)"


@pytest.mark.parametrize("spend", [dp.PureDP(2), dp.ZCDP(1)], ids=["PureDP", "ZCDP"])
@pytest.mark.parametrize(
    ("asked", "stated", "noised"),
    [
        ("persons", {"groups": 4}, {"groups": 1}),
        ("rows", {"groups": 1, "rows": 4}, {"groups": 1, "rows": 1}),
        ("totals", {"groups": 1, "most": 100}, {"groups": 1, "most": 30}),
    ],
)
def test_noise_for_a_smaller_bound_is_refuted(asked, stated, noised, spend):
    honest, other = quote(by_shop(**stated)[asked], spend), quote(by_shop(**noised)[asked], spend)
    small = (min(a.law, b.law, key=lambda law: law.variance()) for a, b in zip(honest.measured, other.measured, strict=True))
    wrong = replace(honest, measured=tuple(replace(one, law=law) for one, law in zip(honest.measured, small, strict=True)))
    assert audit_quote(wrong, runs=40_000).leaks


@pytest.mark.slow
def test_rows_that_are_made_of_persons_are_audited_as_rows():
    made = TABLE.per_person(visits=dp.rows(0, 5), spent=dp.total("amount", 0, 100))
    request = made.group_by(dp.bins("visits", [0, 1, 3, 5])).agg(dp.count(), dp.mean("spent", nulls="skip"))
    found = audit(request, dp.PureDP(3), runs=40_000)
    assert not found.refuted
    assert found.epsilon > 1.2
    filled = made.impute({"visits": dp.Uniform(), "spent": dp.Uniform()}).resize(50, proportion="1/2")
    assert not audit(filled.agg(dp.mean("spent")), dp.PureDP(3), runs=2000).refuted


def test_groups_that_are_found_are_refused_by_name():
    schema = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(max_length=20))
    table = dp.Table(schema, dp.AddRemove(person="visitor")).bound(groups=2).group_by(dp.Discover("shop"))
    with pytest.raises(dp.PlanError, match=r"audit\(\): attacks requests whose groups are public"):
        audit(table.agg(dp.persons()), dp.ApproxDP(1, "1e-6"))


PEOPLE = dp.Schema(id=dp.Identifier(), sex=dp.Category(["f", "m"]), age=dp.Number(0, 90))


RELATIONS = [
    dp.AddRemove(person="visitor"),
    dp.AddRemove(person="visitor", part=True),
    dp.ReplaceOne(rows=50, person="visitor"),
]


def joined(groups=3, rows=2, most=100, *, neighbours=RELATIONS[0]):
    relation = with_beside(neighbours, {"people": "id"})
    table = dp.Table(SCHEMA, relation, beside=(("people", PEOPLE),)).join("people").where({"age": (18, 90)})
    grouped = table.bound(groups=groups, rows=rows).group_by("sex", "shop")
    return {
        "persons": grouped.agg(dp.persons()),
        "rows": grouped.agg(dp.count()),
        "totals": grouped.agg(dp.sum("age", per_person=(0, most))),
    }


@pytest.mark.one_in(8)
@pytest.mark.parametrize("neighbours", RELATIONS, ids=["whole", "parts", "replaced"])
@pytest.mark.parametrize("asked", ["totals", "persons", "rows"])
def test_canaries_with_a_row_in_either_table_come_near_the_claim_and_never_above(asked, neighbours):
    found = audit(joined(neighbours=neighbours)[asked], dp.ZCDP("0.5"), runs=100_000)
    assert not found.refuted
    assert found.epsilon > 0.5 * found.claimed
    assert "sex=" in found.attacks[0].what
    assert ("replaced by" in found.attacks[0].what) == (neighbours is not RELATIONS[0])


def of_everybody():
    """Requests on a table with one row of each of fifty persons."""
    relation = with_beside(RELATIONS[2], {"people": "id"})
    table = dp.Table(SCHEMA, relation, beside=(("people", PEOPLE),)).join("people")
    made = table.per_person(visits=dp.rows(0, 3), sex=dp.only("sex"))
    return {
        "count": made.group_by("sex").agg(dp.count()),
        "mean": made.agg(dp.mean("visits", nulls="skip")),
        "sample": made.sample(rows=10).group_by("sex").agg(dp.count()),
        "impute": made.impute({"sex": dp.Weights({"f": 1, "m": 1})}).resize(40).group_by("sex").agg(dp.count()),
    }


@pytest.mark.one_in(2)
@pytest.mark.parametrize("asked", ["count", "mean"])
def test_rows_of_everybody_are_replaced(asked):
    found = audit(of_everybody()[asked], dp.ZCDP("0.5"), runs=100_000)
    assert not found.refuted
    # A mean shows 0.52 of the claim, with a standard deviation of 0.011.
    assert found.epsilon > 0.4 * found.claimed
    assert "replaced by" in found.attacks[0].what


@pytest.mark.parametrize("asked", ["sample", "impute"])
def test_draws_of_everybody_are_audited(asked):
    """A table of so many rows, of which copies and imputed values are counted too."""
    found = audit(of_everybody()[asked], dp.ZCDP("0.5"), runs=2_000)
    assert not found.refuted
    assert found.attacks
    rows = dp.Table(dp.Schema(sex=PEOPLE["sex"], visits=dp.Number(0, 3)), dp.ReplaceOne(rows=50))
    same = {
        "sample": rows.sample(rows=10).group_by("sex").agg(dp.count()),
        "impute": rows.impute({"sex": dp.Weights({"f": 1, "m": 1})}).resize(40).group_by("sex").agg(dp.count()),
    }
    assert {one.what for one in audit(same[asked], dp.ZCDP("0.5"), runs=2_000).checks} == {one.what for one in found.checks}


def test_a_canary_has_one_value_in_each_column_of_the_other_table():
    pairs = canary_pairs(Kernel(), quote(joined()["rows"], dp.ZCDP(1)))
    assert pairs
    for pair in pairs:
        for name in ("sex", "age"):
            place = pair.columns.index(name)
            assert len({row[place] for row in pair.rows}) == 1
        assert len({row[pair.columns.index("shop")] for row in pair.rows}) > 1


@pytest.mark.parametrize(
    ("asked", "stated", "noised"),
    [
        ("persons", {"groups": 4}, {"groups": 1}),
        ("totals", {"groups": 1, "most": 100}, {"groups": 1, "most": 30}),
    ],
)
def test_joined_noise_for_a_smaller_bound_is_refuted(asked, stated, noised):
    honest, other = quote(joined(**stated)[asked], dp.ZCDP(1)), quote(joined(**noised)[asked], dp.ZCDP(1))
    small = (min(a.law, b.law, key=lambda law: law.variance()) for a, b in zip(honest.measured, other.measured, strict=True))
    wrong = replace(honest, measured=tuple(replace(one, law=law) for one, law in zip(honest.measured, small, strict=True)))
    assert audit_quote(wrong, runs=40_000).leaks


@pytest.mark.slow
@pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("0.5")], ids=["PureDP", "ZCDP"])
@pytest.mark.parametrize("asked", ["persons", "rows"])
def test_two_million_runs_show_nine_tenths_of_the_claim(asked, spend):
    """Measured at 4 million: 0.95 to 0.97 of ε for persons, rows and totals, 0.89 and 0.96 for means."""
    found = audit(by_shop(groups=3, rows=2)[asked], spend, runs=2_000_000)
    assert not found.refuted
    assert found.epsilon > 0.9 * found.claimed


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", RELATIONS, ids=["whole", "parts", "replaced"])
def test_two_million_runs_show_nine_tenths_of_the_claim_beside_persons(neighbours):
    found = audit(joined(neighbours=neighbours)["persons"], dp.ZCDP("0.5"), runs=2_000_000)
    assert not found.refuted
    assert found.epsilon > 0.9 * found.claimed
