"""A session with tables of persons: joined requests, requests on the persons, one account, and what is refused before."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.domain.person_relations import AddRemovePersons
from discreet.ledger import Ledger
from discreet.plan.plan import plan_json
from discreet.session.windows import Windows

VISITS = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b"]), amount=dp.Number(0, 100))
PEOPLE = dp.Schema(id=dp.Identifier(), sex=dp.Category(["f", "m"]), age=dp.Number(0, 110))
ROWS = pl.DataFrame(
    {"visitor": [k % 60 for k in range(600)], "shop": ["a", "b", "b"] * 200, "amount": [k % 7 for k in range(600)]}
)
PERSONS = pl.DataFrame({"id": [*range(50), None], "sex": ["f", "m", "m"] * 17, "age": [*range(20, 71)]})
"""Ten of sixty visitors are not there."""
HUGE = dp.ZCDP(10**12)


def opened(visits: Any = ROWS, people: Any = PERSONS, **more: Any) -> dp.Session:
    options = {
        "dataset": "visits",
        "ledger": ":memory:",
        "budget": HUGE,
        "neighbours": dp.AddRemove(person="visitor"),
        "beside": {"visitors": dp.Persons(people, more.pop("people_schema", PEOPLE), person="id")},
        **more,
    }
    return dp.Session(visits, options.pop("schema", VISITS), **options)


def by_sex(session: dp.Session) -> dp.Plan:
    return session.table.join("visitors").bound(groups=1, rows=99).group_by("sex").agg(dp.persons(), dp.count())


# What is answered -------------------------------------------------------------------------------------------------------


def test_columns_of_persons_stand_on_the_rows_of_their_visits() -> None:
    with opened() as session:
        table = session.release(by_sex(session), spend=10**9, name="by sex").table
    sexes = dict(zip(PERSONS["id"].to_list(), PERSONS["sex"].to_list(), strict=True))
    visitors = [sexes.get(one) for one in range(60)]
    assert table["sex"].to_list() == ["f", "m", None]
    assert table["persons"].round(1).to_list() == [visitors.count(sex) for sex in ("f", "m", None)]
    visits = [sexes.get(one) for one in ROWS["visitor"]]
    assert table["count"].round(0).to_list() == [visits.count(sex) for sex in ("f", "m", None)]


def test_requests_on_the_persons_themselves_have_one_row_of_each() -> None:
    twice = pl.concat([PERSONS, pl.DataFrame({"id": [0, 1], "sex": ["f", "f"], "age": [20, 99]})])
    with opened(people=twice) as session:
        people = session.beside["visitors"]
        assert list(session.beside) == ["visitors"]
        request = people.where({"age": (20, 60)}).group_by("sex").agg(dp.count(), dp.mean("age", nulls="skip"))
        table = session.release(request, spend=10**9, name="persons").table
        everybody = session.release(people.agg(dp.count(), dp.count("sex"), dp.count("age")), spend=10**9, name="all").table
    once = [row for row in PERSONS.rows() if row[0] is not None and row[2] <= 60 and row[0] != 1]
    assert table["count"].to_list() == [*(sum(row[1] == sex for row in once) for sex in ("f", "m")), 0]
    assert [everybody[name][0] for name in ("count", "count_sex", "count_age")] == [50, 49, 49]


def test_everything_is_charged_to_one_account() -> None:
    with opened(budget=dp.ZCDP(1)) as session:
        session.release(by_sex(session), spend="0.3", name="joined")
        session.release(session.table.agg(dp.persons()), spend="0.2", name="visits alone")
        session.release(session.beside["visitors"].agg(dp.count()), spend="0.4", name="persons")
        assert session.spent == dp.ZCDP("0.9")
        with pytest.raises(dp.BudgetExceeded):
            session.release(session.beside["visitors"].group_by("sex").agg(dp.count()), spend="0.2", name="more")


def test_the_promise_is_about_all_tables() -> None:
    with opened() as session:
        release = session.release(by_sex(session), spend=1, name="r")
        document = release.document
    relation = {"relation": "add-remove-persons", "person": "visitor", "beside": {"visitors": "id"}}
    assert document["plan"]["neighbours"] == relation
    columns = {one["name"]: one.get("table", "") for one in document["plan"]["schema"]}
    assert columns == {"shop": "", "amount": "", "visitor": "", "sex": "visitors", "age": "visitors"}
    assert "and of 'id' in 'visitors'" in repr(session.table)
    assert "all tables of the data set together" in session.table.neighbours.size_words()
    with opened(neighbours=dp.AddRemove(person="visitor", part=True)) as session:
        assert "any rows with one value of 'visitor', and of 'id' in 'visitors', may differ" in repr(session.table)
        assert session.beside["visitors"].neighbours.rows_per_person == 2


def test_plans_are_read_back() -> None:
    with opened() as session:
        for request in (by_sex(session), session.beside["visitors"].agg(dp.count())):
            again = pickle.loads(pickle.dumps(request))
            assert again == request
            assert again.digest == request.digest
            assert again.layout.each is None or again.layout.each.table == "visitors"
        session.release(pickle.loads(pickle.dumps(by_sex(session))), spend=1, name="r")


def test_public_look_ups_stand_on_both_sides(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("town,part\nn,north\ne,north\ns,south\n")
    (tmp_path / "shops.csv").write_text("shop,street\na,high\nb,low\n")
    visits = dp.Schema(
        visitor=dp.Identifier(),
        shop=dp.Category(["a", "b"]),
        street=dp.DerivedColumn("street", of="shop", by=str(tmp_path / "shops.csv")),
    )
    people = dp.Schema(
        id=dp.Identifier(),
        town=dp.Category(["n", "e", "s"]),
        part=dp.DerivedColumn("part", of="town", by=str(tmp_path / "ages.csv")),
    )
    towns = pl.DataFrame({"id": [0, 1, 1, 2, 2], "town": ["n", "n", "e", "n", "s"]})
    with opened(ROWS.filter(pl.col("visitor") < 3), towns, schema=visits, people_schema=people) as session:
        table = session.table.join("visitors").bound(groups=2).group_by("street", "part").agg(dp.persons())
        found = session.release(table, spend=10**9, name="parts").table
        alone = session.release(
            session.beside["visitors"].agg(dp.count("town"), dp.count("part")), spend=10**9, name="alone"
        ).table
    shops = {visitor: {*ROWS.filter(pl.col("visitor") == visitor)["shop"]} for visitor in range(3)}
    streets = {"high": "a", "low": "b"}
    expected = [
        sum(shop in shops[one] and part == where for one, where in ((0, "north"), (1, "north"), (2, None)))
        for _street, shop in [*streets.items(), (None, "")]
        for part in ("north", "south", None)
    ]
    assert found["persons"].round(1).to_list() == expected
    assert [alone[name][0] for name in ("count_town", "count_part")] == [1, 2]


# What is refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda session: session.table.join("visitor"), "visitors"),
        (lambda session: session.table.join(3), "not a table of persons"),
        (lambda session: session.table.join("visitors").join("visitors"), "joined already"),
        (lambda session: session.table.bound(rows=2).join("visitors"), r"before bound\(\)"),
        (lambda session: session.table.per_person(n=dp.rows(0, 9)).join("visitors"), r"before bound\(\) and per_person"),
        (lambda session: session.beside["visitors"].join("visitors"), "puts columns on rows"),
        (lambda session: session.beside["visitors"].agg(dp.persons()), "one row of each person; ask for count"),
        (lambda session: session.beside["visitors"].agg(dp.counted_in_full()), "one row of each person; leave it out"),
        (
            lambda session: session.beside["visitors"].bound(rows=2).agg(dp.count()),
            "one row of each person; leave the bound",
        ),
        (lambda session: session.beside["visitors"].per_person(sex=dp.only("sex")), "one row of each person; leave it out"),
        (lambda session: session.table.join("visitors").group_by("sex").agg(dp.persons()), r"bound\(groups=8\)"),
        (lambda session: session.table.join("visitors").where({"id": (1, 2)}), "not declared"),
        (lambda session: session.table.join("visitors").bound(rows=2, weight="age").agg(dp.count()), "column of 'visitors'"),
        (lambda session: session.table.join("visitors").impute({"age": dp.Uniform()}).agg(dp.persons()), "impute"),
        (lambda session: session.table.group_by("sex"), "not declared"),
    ],
)
def test_requests_that_cannot_be_joined_are_refused(asked: Any, said: str) -> None:
    with opened() as session, pytest.raises(dp.PlanError, match=said):
        asked(session)


@pytest.mark.parametrize("name", ["amount", "Amount", "visitor"])
def test_columns_of_one_name_are_refused_with_the_next_step(name: str) -> None:
    people = dp.Schema({"id": dp.Identifier(), name: dp.Number(0, 9)})
    frame = PERSONS.rename({"age": name})
    with opened(people=frame, people_schema=people) as session:
        session.beside["visitors"].agg(dp.count())  # by itself the table has no such trouble
        with pytest.raises(dp.PlanError, match=f"join.'visitors'.: column '{name}' would stand beside .*rename it"):
            session.table.join("visitors")


def test_two_tables_with_one_column_are_not_joined_together() -> None:
    both = {name: dp.Persons(PERSONS, PEOPLE, person="id") for name in ("visitors", "others")}
    with opened(beside=both) as session, pytest.raises(dp.PlanError, match="column 'sex' of 'visitors'"):
        session.table.join("visitors").join("others")


def test_two_tables_of_persons_stand_beside_one_another() -> None:
    other = dp.Schema(who=dp.Identifier(), town=dp.Category(["n", "s"]))
    towns = pl.DataFrame({"who": range(0, 60, 2), "town": ["n", "s", "s"] * 10})
    both = {"visitors": dp.Persons(PERSONS, PEOPLE, person="id"), "towns": dp.Persons(towns, other, person="who")}
    with opened(beside=both) as session:
        table = session.table.join("towns").join("visitors").where({"age": (30, 60)})
        request = table.bound(groups=1).group_by("town", "sex", nulls="drop").agg(dp.persons())
        found = session.release(request, spend=10**9, name="both").table
    kept = [row for row in PERSONS.rows() if row[0] is not None and 30 <= row[2] <= 60 and row[0] % 2 == 0]
    town = dict(towns.iter_rows())
    expected = [sum(town[row[0]] == where and row[1] == sex for row in kept) for where in ("n", "s") for sex in ("f", "m")]
    assert found["persons"].round(1).to_list() == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "must map names"),
        (5, "must map names"),
        ({"visitors": PERSONS}, r"must be Persons\("),
        ({"": dp.Persons(PERSONS, PEOPLE, person="id")}, "printable text"),
        ({3: dp.Persons(PERSONS, PEOPLE, person="id")}, "printable text"),
        ({f"t{k}": dp.Persons(PERSONS, PEOPLE, person="id") for k in range(17)}, "more than 16"),
    ],
)
def test_other_tables_are_refused(given: Any, said: str) -> None:
    with pytest.raises(dp.ArgumentError, match=said):
        opened(beside=given)


@pytest.mark.parametrize(
    ("schema", "person", "said"),
    [
        (PEOPLE, "age", "not an Identifier"),
        (PEOPLE, "ID", "did you mean 'id'"),
        (PEOPLE, 5, "not an Identifier"),
        ({"id": dp.Identifier()}, "id", "must be a Schema"),
        (dp.Schema(id=dp.Identifier(), own=dp.Identifier(), age=dp.Number(0, 9)), "id", "column 'own'"),
        (dp.Schema(id=dp.Identifier(), name=dp.Text(max_length=9)), "id", "no Text yet"),
        (dp.Schema(id=dp.Identifier()), "id", "no column but its Identifier"),
    ],
)
def test_other_schemas_of_persons_are_refused(schema: Any, person: Any, said: str) -> None:
    with pytest.raises(dp.ArgumentError, match=said):
        dp.Persons(PERSONS, schema, person=person)


@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=600), dp.AddRemove(rows_per_person=3)])
def test_a_relation_of_single_rows_has_no_tables_of_persons(neighbours: Any) -> None:
    schema = dp.Schema(VISITS.columns)
    with pytest.raises(dp.PlanError, match=r"AddRemove\(person=…\)"):
        opened(schema=schema, neighbours=neighbours)


def test_a_relation_that_names_tables_that_are_not_there_is_refused() -> None:
    named = AddRemovePersons("visitor", beside=(("others", "id"),))
    for beside in ({"visitors": dp.Persons(PERSONS, PEOPLE, person="id")}, None):
        with pytest.raises(dp.PlanError, match="other tables of persons"):
            opened(neighbours=named, beside=beside)


def test_requests_of_other_tables_are_refused() -> None:
    other = dp.Schema(id=dp.Identifier(), sex=dp.Category(["m", "f"]), age=dp.Number(0, 110))
    with opened() as session, opened(people_schema=other) as stranger, opened(beside=None) as alone:
        for asked in (by_sex(stranger), stranger.beside["visitors"].agg(dp.count()), alone.table.agg(dp.persons())):
            with pytest.raises(dp.PlanError, match="another schema or neighbouring relation"):
                session.quote(asked, spend=1)
        with pytest.raises(dp.PlanError, match="another schema or neighbouring relation"):
            alone.quote(session.beside["visitors"].agg(dp.count()), spend=1)


# The ledger -------------------------------------------------------------------------------------------------------------


def test_the_tables_and_their_identifiers_are_fixed_and_their_columns_are_not(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with opened(ledger=path) as session:
        first = session.release(by_sex(session), spend=1, name="r")
    grown = dp.Schema(id=dp.Identifier(), age=dp.Number(0, 99), sex=dp.Category(["f", "m"]), town=dp.Category(["n"]))
    frame = PERSONS.with_columns(town=pl.lit("n"))
    with opened(ledger=path, people=frame, people_schema=grown) as session:
        again = session.release(by_sex(session), spend=1, name="r")
        assert again.payload == first.payload  # it uses nothing that has changed
        session.release(session.table.join("visitors").bound(groups=1).group_by("town").agg(dp.persons()), spend=1, name="s")
    other = dp.Schema(age=dp.Identifier(), sex=dp.Category(["f", "m"]))
    for changed, said in [
        ({"beside": None}, "beside: .*not there now"),
        ({"beside": {"people": dp.Persons(PERSONS, PEOPLE, person="id")}}, "beside"),
        ({"beside": {"visitors": dp.Persons(PERSONS, other, person="age")}}, "beside"),
    ]:
        with pytest.raises(dp.LedgerError, match=said):
            opened(ledger=path, **changed)
    with Ledger.open(path) as ledger:
        (amended,) = (json.loads(entry.details) for entry in ledger.entries("visits") if entry.kind == "amend")
    assert [one["name"] for one in amended["beside"]["visitors"]["added"]] == ["town"]
    assert [one["name"] for one in amended["beside"]["visitors"]["changed"]] == ["age"]
    assert amended["beside"]["visitors"]["order"] == ["age", "sex", "town", "id"]


def test_how_ids_are_read_is_fixed(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("id;sex;age\n1;f;30\n")
    visits = tmp_path / "visits.csv"
    visits.write_text("visitor,shop,amount\n1,a,3\n")
    usual, latin = dp.CsvFiles(str(people), separator=";"), dp.CsvFiles(str(people), separator=";", encoding="latin-1")
    with opened(str(visits), usual, ledger=tmp_path / "l.db") as session:
        session.release(by_sex(session), spend=1, name="r")
    with pytest.raises(dp.LedgerError, match="encoding"):
        opened(str(visits), latin, ledger=tmp_path / "l.db")


def test_a_change_of_either_source_while_it_is_read_gives_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ROWS.write_parquet(tmp_path / "visits.parquet")
    PERSONS.write_parquet(tmp_path / "people.parquet")
    for name in ("visits", "people"):
        with opened(str(tmp_path / "visits.parquet"), str(tmp_path / "people.parquet")) as session:
            literal = session._charging.reserve

            def reserve(*given: Any, _file: str = name, _literal: Any = literal, **more: Any) -> Any:
                frame = pl.read_parquet(tmp_path / f"{_file}.parquet")
                frame.head(len(frame) - 1).write_parquet(tmp_path / f"{_file}.parquet")
                return _literal(*given, **more)

            with monkeypatch.context() as patched:
                patched.setattr(type(session._charging), "reserve", lambda _self, *given, **more: reserve(*given, **more))
                with pytest.raises(dp.ReleaseFailed):
                    session.release(by_sex(session), spend=1, name="r")
            assert session.spent == dp.ZCDP(1)


def test_a_stored_release_is_given_back_whatever_the_sources_are(tmp_path: Path) -> None:
    with opened(ledger=tmp_path / "l.db") as session:
        first = session.release(by_sex(session), spend=1, name="r")
    with opened(ROWS.head(5), PERSONS.head(3), ledger=tmp_path / "l.db") as session:
        assert session.release(by_sex(session), spend=1, name="r").payload == first.payload


def test_data_sets_of_one_population_may_have_tables_of_persons_or_not(tmp_path: Path) -> None:
    everybody = dp.Population("everybody", dp.ZCDP(3))
    shared = {"ledger": tmp_path / "l.db", "budget": dp.ZCDP(2), "population": everybody}
    with opened(dataset="with", **shared) as session:
        session.release(by_sex(session), spend=2, name="r")
    with opened(dataset="without", beside=None, **shared) as session:
        assert session.remaining == dp.ZCDP(1)


# Windows and words ------------------------------------------------------------------------------------------------------

DATED = dp.Schema(visitor=dp.Identifier(), day=dp.Date("2026-01-01", "2026-12-31"))
BORN = dp.Schema(id=dp.Identifier(), day=dp.Date("2026-01-01", "2026-12-31"))
JOINED_IN = dp.Schema(id=dp.Identifier(), since=dp.Date("2026-01-01", "2026-12-31"))
MONTHS = dp.Windows("day", each="month", budget=dp.ZCDP("0.5"))
DAYS = [dt.date(2026, 1 + k % 12, 1 + k % 28) for k in range(600)]
DATED_ROWS = pl.DataFrame({"visitor": ROWS["visitor"], "day": DAYS})


def charged_windows(session: dp.Session, request: dp.Plan) -> tuple[str, ...]:
    return session._charging.read_by(request)


def test_a_table_of_persons_is_in_all_windows_whatever_its_columns_are_called() -> None:
    people = pl.DataFrame({"id": range(60), "day": DAYS[:60]})
    options = {"schema": DATED, "windows": MONTHS, "budget": dp.ZCDP(1)}
    january = (dt.date(2026, 1, 1), dt.date(2026, 1, 31))
    with opened(DATED_ROWS, people, people_schema=BORN, **options) as session:
        asked = session.beside["visitors"].where({"day": january}).agg(dp.count())
        assert charged_windows(session, asked) == ()
        session.release(asked, spend="0.3", name="born in January")
        assert session.quote(session.window("2026-05").agg(dp.persons())).spend == dp.ZCDP("0.2")
        with pytest.raises(dp.PlanError, match="column 'day'"):
            session.table.join("visitors")


def test_a_joined_request_reads_the_windows_of_its_rows() -> None:
    people = pl.DataFrame({"id": range(60), "since": DAYS[:60]})
    options = {"schema": DATED, "windows": MONTHS, "budget": dp.ZCDP(1)}
    with opened(DATED_ROWS, people, people_schema=JOINED_IN, **options) as session:
        quarters = dp.bins("since", step="quarter")
        table = session.window("2026-03").join("visitors")
        assert charged_windows(session, table.bound(groups=1).group_by(quarters).agg(dp.persons())) == ("2026-03",)
        other = session.table.join("visitors").where({"since": (dt.date(2026, 3, 1), dt.date(2026, 3, 31))})
        assert charged_windows(session, other.agg(dp.persons())) == ()


def test_a_condition_on_persons_that_is_taken_for_a_window_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    literal = Windows.read_by

    def read_by(self: Windows, request: dp.Plan) -> tuple[str, ...]:
        if request.persons is None or not request.persons.table:
            return literal(self, request)
        first = request.steps[0]
        return ("2026-01",) if first.column == self.column else ()  # type: ignore[union-attr]

    monkeypatch.setattr(Windows, "read_by", read_by)
    with pytest.raises(AssertionError):
        test_a_table_of_persons_is_in_all_windows_whatever_its_columns_are_called()


def test_words_and_numbers_of_joined_columns() -> None:
    labels = {"sex": dp.Labels("Sex", categories={"f": "women"}), "age": dp.Labels("Age")}
    about = dp.About(columns=labels)
    with opened() as session:
        table = session.table.join("visitors").bound(groups=2).group_by("sex", dp.bins("age", [0, 40, 110]))
        release = session.release(table.agg(dp.persons()), spend=Fraction(1), name="r", about=about)
        assert release.document["about"][0]["columns"]["sex"]["categories"] == {"f": "women"}
        json.dumps(plan_json(by_sex(session)))
