"""A session whose table of persons has a public number of rows: what is answered, and what is refused before a charge."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.unit.session.test_beside import DATED, DATED_ROWS, DAYS, HUGE, JOINED_IN, MONTHS, PEOPLE, ROWS, VISITS, by_sex

import discreet as dp
from discreet.domain.neighbours import neighbours_of
from discreet.domain.person_relations import ReplacePersons
from discreet.engines.joined import JoinedEngine
from discreet.pages.explain import explain
from discreet.pages.registry.page import render_evaluation
from discreet.pages.report.page import render
from discreet.quotes.allocate import quote as quote_of
from discreet.session import windows

PERSONS = pl.DataFrame(
    {
        "id": [*range(50), 70, 71, None, None, 3],
        "sex": [*["f", "m"] * 25, "f", "f", "m", "f", "f"],
        "age": [*range(20, 70), 30, 30, 40, 40, 23],
    }
)
"""Ten of sixty visitors are not there, two persons never visit, two rows have no id, and 3 is there twice."""


def opened(visits: Any = ROWS, people: Any = PERSONS, rows: int = 55, **more: Any) -> dp.Session:
    options = {
        "dataset": "visits",
        "ledger": ":memory:",
        "budget": HUGE,
        "neighbours": dp.ReplaceOne(rows=rows, person="visitor"),
        "beside": {"visitors": dp.Persons(people, more.pop("people_schema", PEOPLE), person="id")},
        **more,
    }
    return dp.Session(visits, options.pop("schema", VISITS), **options)


# What is answered -------------------------------------------------------------------------------------------------------


def test_visits_of_persons_who_are_there_count() -> None:
    with opened() as session:
        table = session.release(by_sex(session), spend=10**9, name="by sex").table
        alone = session.table.bound(rows=99).agg(dp.persons(), dp.count())
        known = session.release(alone, spend=10**9, name="all").table
    assert table["sex"].to_list() == ["f", "m", None]
    assert table["persons"].round(1).to_list() == [25, 24, 1]  # 3 is a woman and a man
    assert table["count"].round(0).to_list() == [250, 240, 10]
    assert [round(known[name][0]) for name in ("persons", "count")] == [50, 500]


def test_each_row_of_the_table_of_persons_is_a_row_of_a_person() -> None:
    with opened() as session:
        made = session.table.join("visitors").per_person(visits=dp.rows(0, 99), sex=dp.only("sex"), age=dp.only("age"))
        some = made.where({"visits": (0, 0)}).group_by("sex").agg(dp.count())
        nobody = session.release(some, spend=10**9, name="without visits").table
        whole = made.agg(dp.count(), dp.mean("age", nulls="skip"), dp.mean("visits", nulls="skip"))
        everybody = session.release(whole, spend=10**9, name="made").table
        people = session.beside["visitors"].group_by("sex").agg(dp.count())
        themselves = session.release(people, spend=10**9, name="persons").table
    assert nobody["count"].to_list() == [3, 1, 1]  # 70, 71 and two without an id, and the second row of 3
    assert everybody["count"][0] == 55
    ages = [*range(20, 70), 30, 30, 40, 40]
    assert everybody["mean_age"][0] == pytest.approx(sum(ages) / len(ages), abs=0.01)
    assert everybody["mean_visits"][0] == pytest.approx(500 / 55, abs=0.01)
    assert themselves["count"].to_list() == [28, 25, 2]


def test_answers_with_one_row_each_have_the_noise_of_a_table_of_so_many_rows() -> None:
    with opened() as session:
        quotes = [
            session.quote(session.table.per_person(n=dp.total("amount", 0, 9)).agg(dp.mean("n", nulls="skip")), spend=1),
            session.quote(session.beside["visitors"].agg(dp.mean("age", nulls="skip")), spend=1),
        ]
    rows = dp.Table(dp.Schema(n=dp.Number(0, 9), age=dp.Number(0, 110)), dp.ReplaceOne(rows=55))
    for quote, column in zip(quotes, ("n", "age"), strict=True):
        own = quote_of(rows.agg(dp.mean(column, nulls="skip")), dp.ZCDP(1))
        assert [one.sensitivity for one in quote.measured] == [one.sensitivity for one in own.measured]
    parts = dp.Table(VISITS, dp.AddRemove(person="visitor", part=True)).bound(groups=1, rows=2).group_by("shop")
    with opened() as session:
        asked = session.table.bound(groups=1, rows=2).group_by("shop").agg(dp.persons(), dp.count())
        quote = session.quote(asked, spend=1)
    own = quote_of(parts.agg(dp.persons(), dp.count()), dp.ZCDP(1))
    assert [one.law for one in quote.measured] == [one.law for one in own.measured]


def test_numbers_of_rows_are_known_for_everybody_also_for_who_has_none() -> None:
    """So the divisor of their mean is the public number, and all of the spend goes into the sum."""
    with opened() as session:
        made = session.table.per_person(visits=dp.rows(2, 99), shops=dp.distinct("shop", most=3))
        quote = session.quote(made.agg(dp.mean("visits"), dp.mean("shops")), spend=1)
        table = session.release(made.agg(dp.mean("visits"), dp.mean("shops")), spend=10**9, name="means").table
        groups = made.group_by(dp.bins("visits", [2, 3, 99])).agg(dp.count())
        cells = session.release(groups, spend=10**9, name="groups").table
    assert [one.query.words() for one in quote.measured] == ["sum of visits", "sum of shops"]
    assert table["mean_visits"][0] == pytest.approx((500 + 5 * 2) / 55, abs=0.01)  # who has no rows is at the bound
    assert table["mean_shops"][0] > 0
    assert cells["count"].to_list() == [5, 50]


def test_the_relation_is_read_back_and_said() -> None:
    with opened(budget=dp.ZCDP(1)) as session:
        relation = session.table.neighbours
        assert isinstance(relation, ReplacePersons)
        assert neighbours_of(relation.to_json()) == relation == pickle.loads(pickle.dumps(relation))
        asked, made = by_sex(session), session.table.per_person(n=dp.rows(0, 9)).group_by(dp.bins("n", step=5))
        told = [str(explain(session.quote(one, spend="0.1"))) for one in (asked, made.agg(dp.count()))]
        releases = [
            session.release(one, spend="0.3", name=name) for name, one in (("rows", asked), ("each", made.agg(dp.count())))
        ]
    assert "The compared tables have all rows of one person replaced by any others." in told[0]
    assert "differ in at most one row" in told[1]
    for release in releases:
        assert release.document["plan"]["neighbours" if release is releases[0] else "persons"]
        english, german = (" ".join(render(release, language=language).split()) for language in ("en", "de"))
        assert "The table “visitors” has 55 rows; this number is public and not protected" in english
        assert "When all rows of one person are replaced:" in english
        assert "Die Tabelle „visitors“ hat 55 Zeilen; diese Zahl ist öffentlich und nicht geschützt" in german
        assert "Wer nicht darin steht, trägt nichts bei." in german
        assert "all rows of one person" not in german
        assert "replaced by any others" in render_evaluation(release)


# What is refused before a charge ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [54, 56, 1])
def test_another_number_of_rows_is_refused_before_anything_is_charged(rows: int, tmp_path: Path) -> None:
    with opened(rows=rows, ledger=tmp_path / "l.db") as session:
        with pytest.raises(
            dp.RowsDiffer, match=rf"beside\['visitors'\]: does not have .*rows={rows}.*spent and fixed nothing"
        ):
            session.release(by_sex(session), spend=1, name="r")
        with pytest.raises(dp.RowsDiffer):
            session.check_source()
        assert session.spent == dp.ZCDP(0)
    with opened(ledger=tmp_path / "l.db") as session:  # nothing was fixed
        session.release(by_sex(session), spend=1, name="r")


def test_the_number_is_fixed_with_the_first_charge(tmp_path: Path) -> None:
    with opened(ledger=tmp_path / "l.db") as session:
        session.release(by_sex(session), spend=1, name="r")
    with pytest.raises(dp.LedgerError, match="rows: 55 in the ledger, 54 now"):
        opened(rows=54, people=PERSONS.head(54), ledger=tmp_path / "l.db")


def test_rows_of_persons_are_counted_each_time_also_where_the_rows_of_visits_have_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame has no snapshot, and its neighbour's says nothing about it."""
    ROWS.write_parquet(tmp_path / "visits.parquet")
    with opened(str(tmp_path / "visits.parquet")) as session:
        session.check_source()
        monkeypatch.setattr(JoinedEngine, "count_rows", lambda _: 54)
        with pytest.raises(dp.RowsDiffer):
            session.release(by_sex(session), spend=1, name="r")
        assert session.spent == dp.ZCDP(0)


def _beside(*names: str) -> dict[str, dp.Persons]:
    schemas = [PEOPLE, dp.Schema(id=dp.Identifier(), town=dp.Category(["n"]))]
    return {name: dp.Persons(PERSONS, schema, person="id") for name, schema in zip(names, schemas, strict=False)}


@pytest.mark.parametrize(("names", "said"), [((), "there is none; name it in"), (("a", "b"), "there are 2; name it in")])
def test_there_is_one_table_of_persons(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(dp.PlanError, match=rf"ReplaceOne\(rows=55, person=…\): .*{said}.*AddRemove\(person=…\)"):
        opened(beside=_beside(*names) or None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows": 0}, "rows=0"),
        ({"rows": "5"}, "whole number"),
        ({}, "rows=None"),
        ({"rows": 5, "rows_per_person": 2}, "stands alone"),
        ({"rows": 5, "part": True}, "ReplaceOne"),
        ({"rows": 5, "person": 3}, "person=3"),
    ],
)
def test_what_the_relation_does_not_take(given: dict[str, Any], said: str) -> None:
    with pytest.raises(dp.ArgumentError, match=said):
        dp.ReplaceOne(**{"person": "visitor", **given})


def test_a_request_has_the_table_of_persons() -> None:
    table = dp.Table(VISITS, dp.ReplaceOne(rows=5, person="visitor"))
    for ask in (
        lambda: table.agg(dp.persons()),
        lambda: table.per_person(n=dp.rows(0, 9)).agg(dp.count()),
        lambda: table.bound(groups=1, rows=1).group_by("shop").agg(dp.count()),
    ):
        with pytest.raises(dp.PlanError, match="there is none"):
            ask()


def test_a_condition_on_persons_stands_after_per_person() -> None:
    """It would leave persons out of a table of which the number of rows is public."""
    with opened() as session:
        joined = session.table.join("visitors")
        with pytest.raises(dp.PlanError, match="put the condition on it"):
            joined.where({"sex": ["f"]}).per_person(n=dp.rows(0, 9))
        made = joined.where({"shop": ["a"]}).per_person(n=dp.rows(0, 9), sex=dp.only("sex"))
        found = session.release(made.where({"sex": ["f"]}).agg(dp.count()), spend=10**9, name="women").table
        with pytest.raises(dp.PlanError, match="one person can have any number"):
            session.estimate_rows(spend=1)
    assert found["count"][0] == 28


# Windows and populations ------------------------------------------------------------------------------------------------


def window_charges() -> None:
    people = pl.DataFrame({"id": range(60), "since": DAYS[:60]})
    options = {"schema": DATED, "windows": MONTHS, "budget": dp.ZCDP(1), "rows": 60, "people_schema": JOINED_IN}
    with opened(DATED_ROWS, people, **options) as session:
        read = session._charging.read_by
        table = session.window("2026-03")
        for asked in (
            table.agg(dp.persons()),
            table.join("visitors").bound(groups=1).group_by(dp.bins("since", step="quarter")).agg(dp.persons()),
            table.per_person(n=dp.rows(0, 9)).agg(dp.sum("n", nulls="skip")),
            session.beside["visitors"].agg(dp.count("since")),
        ):
            assert read(asked) == ()


def test_every_request_is_charged_to_all_windows_because_it_reads_who_is_there() -> None:
    window_charges()


def test_a_request_that_is_charged_to_one_window_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "base_of", lambda _: "")
    with pytest.raises(AssertionError):
        window_charges()


def test_data_sets_of_one_population_have_numbers_of_their_own(tmp_path: Path) -> None:
    shared = {"ledger": tmp_path / "l.db", "budget": dp.ZCDP(2), "population": dp.Population("all", dp.ZCDP(3))}
    with opened(dataset="one", **shared) as session:
        session.release(by_sex(session), spend=2, name="r")
    others = pl.DataFrame({"id": range(9), "sex": ["f"] * 9, "age": [30] * 9})
    with opened(dataset="other", people=others, rows=9, **shared) as session:
        assert session.remaining == dp.ZCDP(1)
    with pytest.raises(dp.LedgerError):
        opened(dataset="third", neighbours=dp.AddRemove(person="visitor"), **shared)
