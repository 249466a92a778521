"""Requests on a table of persons: what is refused, in which words, before anything is read; and what a plan says."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import plan_text, session_over

import discreet as dp
from discreet.domain.neighbours import AddRemovePersons, find_relation, neighbours_of, relations
from discreet.errors import ArgumentError, BudgetExceeded, DiscreetError, LedgerError, PlanError
from discreet.pages.explain import explain
from discreet.pages.report.page import render
from discreet.planfile.read import load_plan

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b"]), amount=dp.Number(0, 100))
PERSONS = dp.AddRemove(person="visitor")
TABLE = dp.Table(SCHEMA, PERSONS)
BOUND = TABLE.bound(groups=2, rows=3)
SUM = dp.sum("amount", per_person=(0, 3))
OF_EACH = TABLE.per_person(visits=dp.rows(0, 5), spent=dp.total("amount", 0, 9), home=dp.only("shop"))
FRAME = pl.DataFrame({"visitor": ["x", "x", "y", None], "shop": ["a", "b", "a", "a"], "amount": [1, 2, 3, 4]})
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "groups without a bound": (lambda: TABLE.group_by("shop").agg(dp.persons()), "bound(groups=8)"),
    "rows without a bound": (lambda: TABLE.agg(dp.count()), "bound(rows=3)"),
    "both without a bound": (lambda: TABLE.group_by("shop").agg(dp.count()), "bound(groups=8, rows=3)"),
    "rows without a number of rows": (lambda: TABLE.bound(groups=2).group_by("shop").agg(dp.count()), "bound(rows=3)"),
    "groups without a number of groups": (lambda: TABLE.bound(rows=2).group_by("shop").agg(dp.count()), "bound(groups=8)"),
    "a step after the bound": (lambda: BOUND.where({"amount": (1, 2)}), "bound() is the last step"),
    "two bounds": (lambda: BOUND.bound(groups=1), "bound() is the last step"),
    "an empty bound": (TABLE.bound, "takes a number of groups"),
    "too many groups": (lambda: TABLE.bound(groups=4097), "4,096"),
    "no rows": (lambda: TABLE.bound(rows=0), "at least 1"),
    "half a group": (lambda: TABLE.bound(groups="2"), "whole number"),
    "the identifier as a group": (lambda: BOUND.group_by("visitor").agg(dp.persons()), "Identifier"),
    "the identifier as a condition": (lambda: TABLE.where({"visitor": (1, 2)}), "Identifier"),
    "the identifier as a statistic": (lambda: BOUND.agg(dp.mean("visitor")), "persons()"),
    "a mean of rows without their number": (lambda: TABLE.agg(dp.mean("amount", nulls="skip")), "bound(rows=3)"),
    "a mean of all rows": (lambda: BOUND.agg(dp.mean("amount")), "null; ask for mean('amount', nulls=\"skip\")"),
    "a sum of rows": (lambda: BOUND.agg(dp.sum("amount", nulls="skip")), "write sum('amount', per_person=(low, high))"),
    "a median without rows": (lambda: TABLE.agg(dp.median("amount", nulls="skip")), "bound(rows=3)"),
    "a chosen interval": (lambda: BOUND.agg(dp.median("amount", nulls="skip", interval="chosen")), "leave interval out"),
    "a joint interval": (lambda: BOUND.agg(dp.std("amount", nulls="skip", interval="joint")), "leave interval out"),
    "a covariance": (lambda: BOUND.agg(dp.covariance("amount", "shop", nulls="skip")), "table.per_person(…)"),
    "tables": (lambda: BOUND.agg(dp.tables(["shop"])), "answers persons(), share(), count(), mean"),
    "a sum without a bound": (lambda: TABLE.group_by("shop").agg(SUM), "bound(groups=8)"),
    "a sum for each person of a table of rows": (
        lambda: dp.Table(dp.Schema(amount=SCHEMA["amount"]), dp.AddRemove()).agg(SUM),
        "leave per_person out",
    ),
    "bounds between two sums": (lambda: BOUND.agg(dp.sum("amount", per_person=(0, "7.5"))), "nearest sums are 7 and 8"),
    "bounds far away": (lambda: BOUND.agg(dp.sum("amount", per_person=(0, 2**40))), "smaller bounds"),
    "reversed bounds": (lambda: dp.sum("amount", per_person=(3, 0)), "low must be below high"),
    "equal bounds": (lambda: dp.mean("amount", per_person=(3, 3)), "low must be below high"),
    "one bound": (lambda: dp.sum("amount", per_person=3), "must be a pair"),  # type: ignore[arg-type]
    "bounds as a text": (lambda: dp.sum("amount", per_person="03"), "must be a pair"),  # type: ignore[arg-type]
    "a sum of categories": (lambda: BOUND.agg(dp.sum("shop", per_person=(0, 3))), "categorical"),
    "a sum of ids": (lambda: BOUND.agg(dp.sum("visitor", per_person=(0, 3))), "Identifier"),
    "a sum as recorded": (lambda: BOUND.agg(SUM).original(), "leave it out"),
    "known categories": (lambda: BOUND.agg(dp.count("shop")), "group by 'shop' and ask for count()"),
    "imputation": (lambda: TABLE.impute({"amount": dp.Uniform()}).bound(rows=1).agg(dp.count()), "leave it out"),
    "a resize": (lambda: TABLE.resize(10).agg(dp.persons()), "leave the step out"),
    "a sample": (lambda: TABLE.sample("1/10").agg(dp.persons()), "leave the step out"),
    "the table as recorded": (lambda: BOUND.agg(dp.count()).original(), "leave it out"),
    "a bound of a table of rows": (
        lambda: dp.Table(dp.Schema(shop=SCHEMA["shop"]), dp.AddRemove()).bound(rows=1).agg(dp.count()),
        "AddRemove(person=",
    ),
    "persons of a table of rows": (
        lambda: dp.Table(dp.Schema(shop=SCHEMA["shop"]), dp.AddRemove()).agg(dp.persons()),
        "ask for count()",
    ),
    "a relation without its identifier": (
        lambda: dp.Table(dp.Schema(shop=SCHEMA["shop"]), PERSONS).agg(dp.persons()),
        "visitor=Identifier()",
    ),
    "a category as the person": (
        lambda: dp.Table(SCHEMA, dp.AddRemove(person="shop")).agg(dp.persons()),
        "shop=Identifier()",
    ),
    "an identifier without its relation": (
        lambda: dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()),
        "AddRemove(person='visitor')",
    ),
    "a declared number of rows beside": (lambda: dp.AddRemove(2, person="visitor"), "leave rows_per_person"),
    "a secret sample beside": (lambda: dp.AddRemove(sampled=dp.Poisson("1/2"), person="visitor"), "sampled out"),
    "no name": (lambda: dp.AddRemove(person=""), "name of a column"),
    "a query": (lambda: SCHEMA.select("SELECT shop, amount FROM source"), "leave the query out"),
    "exact totals": (lambda: session_over(FRAME, SCHEMA, neighbours=PERSONS, invariants=dp.Totals("shop")), "ReplaceOne"),
    "the number of rows": (
        lambda: session_over(FRAME, SCHEMA, neighbours=PERSONS).estimate_rows(spend="0.1"),
        "release persons()",
    ),
    "assumptions": (
        lambda: session_over(FRAME, SCHEMA, neighbours=PERSONS).quote(BOUND.agg(dp.count()), spend="0.1").assuming(rows=5),
        "left_out(groups)",
    ),
    "no column of persons": (TABLE.per_person, "names no column"),
    "a column that is not made of rows": (lambda: TABLE.per_person(visits=dp.count()), "must be rows(low, high)"),  # type: ignore[arg-type]
    "one row of each of a table of rows": (
        lambda: dp.Table(dp.Schema(shop=SCHEMA["shop"]), dp.AddRemove()).per_person(visits=dp.rows(0, 5)),
        "AddRemove(person=",
    ),
    "one row of each twice": (lambda: OF_EACH.per_person(visits=dp.rows(0, 5)), "one row of each person"),
    "one row of each of bounded persons": (lambda: BOUND.per_person(visits=dp.rows(0, 5)), "leave bound() out"),
    "one row of each after a sample": (lambda: TABLE.sample("1/2").per_person(visits=dp.rows(0, 5)), "put it first"),
    "one row of each of imputed rows": (
        lambda: TABLE.impute({"amount": dp.Uniform()}).per_person(visits=dp.rows(0, 5)),
        "after per_person()",
    ),
    "a total of categories": (lambda: TABLE.per_person(spent=dp.total("shop", 0, 5)), "ask for distinct() or only()"),
    "a total between two sums": (lambda: TABLE.per_person(spent=dp.total("amount", 0, "0.5")), "nearest sums are 0 and 1"),
    "the latest of categories": (lambda: TABLE.per_person(last=dp.latest("shop")), "ask for only()"),
    "an unknown column": (lambda: TABLE.per_person(last=dp.latest("day")), "not declared"),
    "ids as a column of persons": (lambda: TABLE.per_person(who=dp.only("visitor")), "Identifier"),
    "ids that are counted": (lambda: TABLE.per_person(who=dp.distinct("visitor", most=3)), "Identifier"),
    "reversed bounds of rows": (lambda: dp.rows(5, 1), "low must be below high"),
    "a bound of one row of each": (lambda: OF_EACH.bound(groups=2).agg(dp.count()), "one row of each person"),
    "persons of one row of each": (lambda: OF_EACH.agg(dp.persons()), "ask for count()"),
    "the relation of one row of each, declared": (
        lambda: dp.Table(dp.Schema(shop=SCHEMA["shop"]), AddRemovePersons("visitor", "row")).agg(dp.count()),
        "per_person",
    ),
    "another table of persons": (
        lambda: session_over(FRAME, SCHEMA, neighbours=PERSONS).quote(
            dp.Table(dp.Schema({**SCHEMA.columns, "day": dp.Number(0, 6), "visitor": dp.Identifier()}), PERSONS)
            .per_person(visits=dp.rows(0, 5))
            .agg(dp.count()),
            spend="0.1",
        ),
        "another schema",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_proved_bound_is_refused_with_the_next_step(what: str) -> None:
    asked, said = REFUSED[what]
    with pytest.raises(DiscreetError) as refused:
        asked()
    assert said in str(refused.value)


def test_a_bound_is_part_of_the_plan_and_of_its_digest() -> None:
    one, other = (TABLE.bound(groups=groups, rows=1).group_by("shop").agg(dp.count()) for groups in (1, 2))
    assert one.digest != other.digest
    assert one.used_digest != other.used_digest
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.facts.bound is not None


def test_the_relation_is_read_back_and_is_one_of_persons() -> None:
    assert type(PERSONS) is AddRemovePersons
    assert neighbours_of(PERSONS.to_json()) == PERSONS == pickle.loads(pickle.dumps(PERSONS))
    assert dp.AddRemove() != PERSONS
    assert dp.AddRemove(2).rows_per_person == 2
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA != dp.Schema(shop=SCHEMA["shop"], amount=SCHEMA["amount"])


def test_a_release_states_all_rows_of_one_person() -> None:
    with session_over(FRAME, SCHEMA, neighbours=PERSONS, budget=dp.PureDP(10**13)) as session:
        request = session.table.bound(groups=1, rows=1).group_by("shop").agg(dp.persons(), dp.count())
        release = session.release(request, spend=10**12, name="by shop")
        assert release.table["persons"].to_list() == [1.5, 0.5, 0.0]  # with hardly any noise: units of 1/2**20 are kept
        assert release.table["count"].to_list() == [1.5, 0.5, 0.0]
        whole = session.release(session.table.agg(dp.persons()), spend=10**6, name="all")
    assert whole.table["persons"].to_list() == [2]
    assert release.guarantee.relation == "add-remove-persons"
    assert str(release.guarantee).startswith("When all rows of one person are added or removed: ")
    assert "one record" not in str(release.guarantee)
    assert "each counted as the bound says" in release.document["interval"]["covers"]
    assert [one["view"] for one in release.document["statistics"]] == ["unbiased for persons as they are bounded"] * 2
    assert [one["view"] for one in whole.document["statistics"]] == ["unbiased"]
    page = render(release)
    for secret in ("x", "y"):
        assert f">{secret}<" not in page
    assert "all rows of one person added or removed" in page
    with pytest.raises(ArgumentError, match="counts persons as they are bounded"):
        dp.consistent(release)


def test_the_relation_has_words_of_its_own() -> None:
    for words in ("word", "about", "compared", "guess", "holds"):
        assert getattr(AddRemovePersons, words) not in {getattr(kind, words) for kind in relations()}
    assert find_relation(AddRemovePersons.word) is AddRemovePersons


def test_an_explanation_speaks_of_a_person() -> None:
    with session_over(FRAME, SCHEMA, neighbours=PERSONS) as session:
        said = str(explain(session.quote(BOUND.group_by("shop").agg(dp.count()), spend="0.5")))
    assert "The compared tables have all rows of one person added or removed." in said
    assert "differ in all rows of one person" in said
    assert "when one row differs" not in said


def test_the_ledger_freezes_who_is_a_person(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with session_over(FRAME, SCHEMA, neighbours=PERSONS, ledger=path) as session:
        session.release(session.table.agg(dp.persons()), spend="0.1", name="all")
    wider = dp.Schema({**SCHEMA.columns, "day": dp.Number(0, 6), "visitor": dp.Identifier()})
    with session_over(FRAME.with_columns(day=1), wider, neighbours=PERSONS, ledger=path) as session:
        assert session.spent == dp.PureDP("0.1")
    rows, twin = dp.Schema(dict(SCHEMA.columns)), dp.Schema({**SCHEMA.columns, "other": dp.Identifier()})
    for schema, neighbours in ((rows, dp.AddRemove()), (twin, dp.AddRemove(person="other"))):
        with pytest.raises(LedgerError):
            session_over(FRAME.with_columns(other=1), schema, neighbours=neighbours, ledger=path)


def test_the_ledger_freezes_how_ids_are_read(tmp_path: Path) -> None:
    """Another encoding could make one person of two, or two of one."""
    path, ledger = tmp_path / "visits.csv", tmp_path / "visits.ledger"
    path.write_bytes("visitor,shop,amount\né,a,1\n".encode())

    def session_of(source: dp.CsvFiles) -> dp.Session:
        return session_over(source, SCHEMA, neighbours=PERSONS, ledger=ledger)

    with session_of(dp.CsvFiles(path)) as session:
        session.release(session.table.agg(dp.persons()), spend="0.1", name="all")
    with pytest.raises(LedgerError, match="column 'visitor', which says whose row it is"):
        session_of(dp.CsvFiles(path, encoding="latin-1"))


def test_what_does_not_fit_is_refused_and_nothing_is_spent() -> None:
    with session_over(FRAME, SCHEMA, neighbours=PERSONS) as session:
        with pytest.raises(BudgetExceeded):
            session.release(session.table.agg(dp.persons()), spend=2, name="all")
        with pytest.raises(PlanError):
            session.release(session.table.group_by("shop").agg(dp.persons()), spend=1, name="all")
        assert session.spent == dp.PureDP(0) or session.remaining == session.budget


PLAN = plan_text("persons")


def test_a_plan_file_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    plan = load_plan(path)
    assert plan.neighbours == PERSONS
    assert plan.orders[0].request == BOUND.group_by("shop").agg(dp.persons(), dp.count())


def test_sums_and_means_of_a_plan_file_are_those_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    asked = '{ sum = "amount", per_person = [0, 3] }, { mean = "amount", per_person = [0, 3], as = "spent" }'
    path.write_text(PLAN.replace('"persons", "count"', asked))
    mean = dp.mean("amount", per_person=(0, 3)).alias("spent")
    assert load_plan(path).orders[0].request == BOUND.group_by("shop").agg(SUM, mean)


def test_shares_are_of_the_weights_of_persons() -> None:
    with session_over(FRAME, SCHEMA, neighbours=PERSONS, budget=dp.PureDP(10**13)) as session:
        request = session.table.bound(groups=1).group_by("shop", nulls="drop").agg(dp.share())
        assert str(session.quote(request, spend=10).expected) != ""
        release = session.release(request, spend=10**12, name="shares")
        with pytest.raises(ArgumentError):
            dp.test_proportion(release, 0.5)
        with pytest.raises(PlanError, match="bound"):
            session.table.group_by("shop").agg(dp.share())
    assert release.table["share"].to_list() == pytest.approx([0.75, 0.25])  # x is in both shops, y in one
    assert release.document["statistics"][0]["view"] == "clipped into the public bounds, for persons as they are bounded"


def test_one_row_of_each_person_is_a_table_like_any_other(tmp_path: Path) -> None:
    with session_over(FRAME, SCHEMA, neighbours=PERSONS, budget=dp.PureDP(10**13), ledger=tmp_path / "l") as session:
        table = session.table.where({"amount": (1, 3)}).per_person(
            visits=dp.rows(0, 5), spent=dp.total("amount", 0, 4), home=dp.only("shop")
        )
        request = table.group_by("home").agg(dp.count(), dp.sum("spent", nulls="skip"), dp.median("visits", nulls="skip"))
        assert pickle.loads(pickle.dumps(request)) == request
        release = session.release(request, spend=10**12, name="habits")
        said = str(explain(session.quote(request, spend="0.5")))
    assert release.table["count"].to_list() == [1, 0, 1]  # y is in "a" only, x in both
    assert release.table["sum_spent"].to_list() == [3, 0, 3]
    assert release.table["median_visits"].to_list()[0] == 1
    assert release.guarantee.relation == "add-remove-persons"
    assert "spent is the sum of amount over all rows of each person, moved into the range from 0 to 4." in said
    assert dp.consistent(release)["count"].to_list() == [1, 0, 1]
    page = render(release)
    assert "all rows of one person added or removed" in page
    assert "home is the shop of each person, where all rows of this person have the same." in page
    assert "home ist shop jeder Person, wenn alle Zeilen dieser Person gleich sind." in render(release, language="de")
    grown = dp.Schema({**SCHEMA.columns, "day": dp.Number(0, 6), "visitor": dp.Identifier()})
    with session_over(
        FRAME.with_columns(day=1), grown, neighbours=PERSONS, budget=dp.PureDP(10**13), ledger=tmp_path / "l"
    ) as (session):
        again = session.table.where({"amount": (1, 3)}).per_person(
            days=dp.latest("day"), visits=dp.rows(0, 5), spent=dp.total("amount", 0, 4), home=dp.only("shop")
        )
        request = again.group_by("home").agg(dp.count(), dp.sum("spent", nulls="skip"), dp.median("visits", nulls="skip"))
        assert session.release(request, spend=10**12, name="habits").digest == release.digest


def test_a_plan_file_makes_one_row_of_each_person(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(plan_text("rows-of-persons"))
    table = TABLE.where({"amount": (1, 3)}).per_person(
        visits=dp.rows(0, 5),
        spent=dp.total("amount", 0, 9),
        shops=dp.distinct("shop", most=2),
        last=dp.latest("amount"),
        first=dp.earliest("amount"),
        home=dp.only("shop"),
    )
    table = table.clamp({"spent": (0, 4)}).impute({"home": dp.Weights({"a": 1, "b": 1})}).where({"visits": (1, 5)})
    wanted = table.group_by("home").agg(dp.count(), dp.median("spent", nulls="skip"))
    assert load_plan(path).orders[0].request == wanted


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("per_person = { visits = { rows = 5 } }", "list of two numbers"),
        ("per_person = { visits = { row = [0, 5] } }", "must say one of rows, total"),
        ("per_person = { visits = 5 }", "must say one of rows, total"),
        ('per_person = { spent = { total = "amount" } }', "bounds"),
        ('per_person = { last = { latest = "shop" } }', "ask for only()"),
        ("of_persons = { where = { visits = [1, 5] } }", "per_person = {"),
        ("per_person = { visits = { rows = [0, 5] } }\nof_persons = { where = { amount = [1, 5] } }", "not declared"),
    ],
)
def test_rows_of_persons_in_a_plan_file_that_are_wrong_are_refused(wrong: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    text = PLAN.replace('group_by = ["shop"]\nbound = { groups = 2, rows = 3 }\n', f"{wrong}\n")
    path.write_text(text.replace('"persons", "count"', '"count"'))
    with pytest.raises(PlanError) as refused:
        load_plan(path)
    assert said in str(refused.value)


def test_a_release_has_what_each_person_spends() -> None:
    with session_over(FRAME, SCHEMA, neighbours=PERSONS, budget=dp.PureDP(10**13)) as session:
        asked = dp.sum("amount", per_person=(2, 40)), dp.mean("amount", per_person=(2, 40))
        by_shop = session.table.bound(groups=1).group_by("shop", nulls="drop").agg(*asked)
        release = session.release(by_shop, spend=10**12, name="by shop")
        whole = session.release(session.table.agg(*asked), spend=10**12, name="all")
    assert release.table["sum_amount"].to_list() == [4, 1]  # x is in two shops: 2/2 + 3 and 2/2
    assert release.table["mean_amount"].to_list() == pytest.approx([(1 + 3) / 1.5, 2])
    assert whole.table.row(0)[0] == 6
    assert whole.table.row(0)[3] == pytest.approx(3)
    shown = whole.document["statistics"]
    assert [one["per_person"] for one in shown] == [["2", "40"]] * 2
    assert [one["view"] for one in shown] == [
        "unbiased for persons as they are bounded",
        "clipped into the public bounds, for persons as they are bounded",
    ]
    assert "Summe von amount, je Person von 2 bis 40" in render(whole, language="de")
    page = render(whole)
    assert "Sum of amount, from 2 to 40 for a person" in page
    assert "Mean of amount, from 2 to 40 for a person" in page


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('person = "visitor"\n', "", "AddRemove(person='visitor')"),
        ('person = "visitor"', 'person = "shop"', "shop=Identifier()"),
        ('person = "visitor"', 'person = "visitor"\nrows_per_person = 2', "leave rows_per_person"),
        ("bound = { groups = 2, rows = 3 }\n", "", "bound(rows=3)"),
        ("rows = 3", "rows = 0", "at least 1"),
        ("rows = 3", "row = 3", "rows"),
        ('"persons", "count"', '{ mean = "amount" }', 'nulls="skip"'),
        ('"persons", "count"', '{ mean = "amount", per_person = [3, 0] }', "low must be below high"),
        ('"persons", "count"', '{ sum = "amount", per_person = 3 }', "list"),
        ('"persons", "count"', '"sum_per_person"', "is written { sum = 'column', per_person = [low, high] }"),
        ('group_by = ["shop"]', 'group_by = ["visitor"]', "Identifier"),
    ],
)
def test_a_plan_file_that_is_wrong_is_refused_at_its_place(right: str, wrong: str, said: str, tmp_path: Path) -> None:
    assert right in PLAN
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace(right, wrong))
    with pytest.raises(PlanError) as refused:
        load_plan(path)
    assert said in str(refused.value)
