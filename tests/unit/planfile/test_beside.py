"""Tables of persons in a plan file: what it says, where it is wrong, and what the commands do with it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.cli.planning import open_session, review
from discreet.pages.planner.scenes import planned_file
from discreet.planfile import load_plan
from discreet.planfile.faults import faults_of
from discreet.planfile.read import plan_of
from discreet.planfile.tree import toml_root

TEXT = plan_text("beside")
VISITS = "visitor,shop,amount\n" + "".join(f"v{k % 40},{'ab'[k % 2]},{k % 9}\n" for k in range(300))
PEOPLE = "id;sex;age\n" + "".join(f"v{k};{'fm'[k % 2]};{20 + k}\n" for k in range(45))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("plan.toml", TEXT), ("visits.csv", VISITS), ("visitors.csv", PEOPLE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def done(*command: str) -> str:
    result = run(*command)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def refused(text: str, where: Path) -> str:
    (where / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(dp.PlanError) as found:
        load_plan(where / "plan.toml")
    return str(found.value)


def test_a_plan_has_the_requests_of_the_same_calls(folder: Path) -> None:
    visits = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b"]), amount=dp.Number(0, 100))
    people = dp.Schema(id=dp.Identifier(), sex=dp.Category(["f", "m"]), age=dp.Number(0, 110))
    source = dp.CsvFiles("visitors.csv", separator=";")
    session = dp.Session(
        "visits.csv",
        visits,
        dataset="visits",
        ledger=":memory:",
        budget=dp.ZCDP(1),
        neighbours=dp.AddRemove(person="visitor"),
        beside={"visitors": dp.Persons(source, people, person="id")},
    )
    joined, ages = session.table.join("visitors").clamp({"age": (0, 90)}), {"age": (0, 90)}
    amount = dp.sum("amount", per_person=(0, 300))
    by_shop = joined.where({"age": (18, 64)}).bound(groups=2, rows=3).group_by("shop", "sex", nulls="drop")
    each = joined.per_person(visits=dp.rows(0, 50), sex=dp.only("sex")).group_by("sex")
    alone = session.beside["visitors"].clamp(ages).where({"sex": ["f"]})
    asked = [
        by_shop.agg(dp.persons(), dp.count(), amount),
        each.agg(dp.count(), dp.median("visits", nulls="skip")),
        alone.agg(dp.count(), dp.mean("age", nulls="skip")),
    ]
    plan = load_plan("plan.toml")
    assert [order.request for order in plan.orders] == asked
    assert [order.request.digest for order in plan.orders] == [one.digest for one in asked]
    with open_session(plan) as opened:
        for order in plan.orders:
            opened.quote(order.request, spend=order.spend)


def test_check_quote_and_release_read_both_tables(folder: Path) -> None:
    shown = done("check", "plan.toml")
    assert "beside      visitors, visitors.csv (its header fits the columns)" in shown
    assert "columns of visitors" in shown
    assert "and of 'id' in 'visitors'" in shown
    assert "Each row has the values of its person in the table “visitors”" in shown
    assert "One row of each person in the table “visitors” counts" in shown
    facts = json.loads(done("check", "plan.toml", "--json"))
    assert facts["beside"]["visitors"]["person"] == "id"
    assert "persons" in done("quote", "plan.toml")
    done("release", "plan.toml", "--out", "results")
    report = (folder / "results/by-shop-and-sex/report.html").read_text(encoding="utf-8")
    assert "all tables of the data set together" in report
    assert "in the table “visitors”" in report
    assert all(f"v{k}" not in (folder / "results/ages/release.json").read_text() for k in range(40))
    stored = done("release", "plan.toml", "--out", "results")
    assert stored.count("the stored release") == 3
    assert "ρ = 0.1  ages" in done("ledger", "show", "visits.ledger")


def test_a_plan_is_checked_without_its_sources(folder: Path) -> None:
    (folder / "visitors.csv").unlink()
    assert run("check", "plan.toml").exit_code == 2
    shown = done("check", "plan.toml", "--without-source")
    assert "visitors.csv (not opened)" in shown
    assert "the source is not here" in done("quote", "plan.toml")
    seen = review(load_plan("plan.toml"), without_source=True)
    with seen.session() as session, pytest.raises(dp.SourceError, match="is not here"):
        session.check_source()


def test_the_columns_of_either_table_are_compared_with_its_header(folder: Path) -> None:
    (folder / "visitors.csv").write_text("id;gender\n")
    (folder / "visits.csv").write_text("visitor,shop\n")
    told = run("check", "plan.toml").stderr
    assert "column 'amount'" in told
    assert "column 'sex'" in told
    assert "column 'age'" in told


def test_a_planner_writes_the_plan_with_its_tables(folder: Path) -> None:
    done("quote", "plan.toml", "--html", "planner.html")
    plan = load_plan("plan.toml")
    with open_session(plan) as session:
        quotes = {order.name: session.quote(order.request, spend=order.spend) for order in plan.orders}
    pieces = planned_file(plan, quotes, remaining=(Fraction(1),), frozen=False).written
    text = "".join(piece if isinstance(piece, str) else piece["was"] for piece in pieces)
    assert "\n[beside.visitors]\n" in text
    again = plan_of(toml_root(text.encode(), folder / "plan.toml"))
    assert [order.request.digest for order in again.orders] == [order.request.digest for order in plan.orders]
    assert again.beside.schemas == plan.beside.schemas


CHANGES = [
    ('person = "id"', 'person = "age"', "plan.toml:15: beside.visitors.person: person='age': is not an Identifier"),
    ('person = "id"\n', "", "the key 'person' is missing"),
    ('source = "visitors.csv"\n', "", "beside.visitors: the key 'source' is missing"),
    ('source = "visitors.csv"', "source = 5", "beside.visitors.source: must be a text in quotes"),
    ("[beside.visitors]", "[beside.visitors]\nunit = 3", "beside.visitors.unit: no such key"),
    ('sex = { type = "category"', 'sex = { type = "categroy"', "beside.visitors.columns.sex.type: 'categroy' is unknown"),
    ("clamp = [0, 90]", "clamp = [0, 900]", "plan.toml:21: beside.visitors.columns.age.clamp: clamp('age'): upper=900"),
    ('join = ["visitors"]', 'join = ["visitor"]', "release[0].join[0]: join('visitor'): is not a table of persons"),
    ('join = ["visitors"]', 'join = "visitors"', "release[0].join: must be a list"),
    ('join = ["visitors"]', 'join = ["visitors", "visitors"]', "release[0].join[1]: join('visitors'): was joined already"),
    ('table = "visitors"', 'table = "visits"', "release[2].table: 'visits' is not a table of persons of this plan"),
    ('table = "visitors"', 'table = "visitors"\njoin = ["visitors"]', "release[2].join: is about rows"),
    ('table = "visitors"', 'table = "visitors"\nbound = { rows = 2 }', "release[2].bound: is about rows"),
    ('person = "visitor"\n', "", "stands on a data set that says whose row is whose"),
    ("age = {", "amount = {", "join('visitors'): column 'amount' would stand beside column 'amount'"),
    ('where = { sex = ["f"] }', 'where = { sx = ["f"] }', "release[2].where.sx: column 'sx': is not declared"),
]


@pytest.mark.parametrize(("right", "wrong", "said"), CHANGES)
def test_mistakes_name_file_line_and_key(right: str, wrong: str, said: str, tmp_path: Path) -> None:
    assert right in TEXT
    text = TEXT.replace(right, wrong, 1)
    if right.startswith('person = "visitor"'):
        text = text.replace('visitor = { type = "identifier" }\n', "")
    assert said in refused(text, tmp_path)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = TEXT.replace('"zcdp"', '"zcpd"').replace('table = "visitors"', 'table = "x"')
    text = text.replace("clamp = [0, 90]", "clamp = [0, 900]").replace('categories = ["f", "m"]', "categories = []")
    told = [str(one) for one in faults_of(toml_root(text.encode(), tmp_path / "plan.toml"))]
    places = ("beside.visitors.columns.age.clamp", "beside.visitors.columns.sex", "budget", "release[2].table")
    assert [place for place in places if not any(place in one for one in told)] == []
    assert len(told) == 4


# A public number of persons -----------------------------------------------------------------------------------------------

REPLACED = TEXT.replace('"add-remove"', '"replace-one"\nrows = 45')


def test_a_plan_states_the_number_of_rows_of_its_table_of_persons(folder: Path) -> None:
    (folder / "plan.toml").write_text(REPLACED, encoding="utf-8")
    assert load_plan("plan.toml").neighbours.text().endswith("'visitors' has exactly 45 rows, which is public")
    shown = done("check", "plan.toml")
    assert "'visitors' has exactly 45 rows, which is public" in shown
    done("quote", "plan.toml")
    done("release", "plan.toml", "--out", "results")
    report = (folder / "results/ages/report.html").read_text(encoding="utf-8")
    assert "The table “visitors” has 45 rows; this number is public and not protected" in report
    assert run("check", "plan.toml", "--without-source").stdout.count("visitors.csv (not opened)") == 1


def test_another_number_of_rows_of_that_table_spends_nothing(folder: Path) -> None:
    (folder / "plan.toml").write_text(REPLACED.replace("45", "44"), encoding="utf-8")
    result = run("release", "plan.toml", "--out", "results")
    assert result.exit_code == 2
    assert "beside['visitors']: does not have the declared number of rows (rows=44); this command spent" in result.stderr
    assert not (folder / "visits.ledger").exists() or "by shop and sex" not in done("ledger", "show", "visits.ledger")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (REPLACED.split("[beside.visitors]")[0] + "[budget]" + REPLACED.split("[budget]")[1], "there is none; name it in"),
        (REPLACED.replace("rows = 45", "rows = 45\npart = true"), "part=True: stands with AddRemove"),
        (REPLACED.replace("rows = 45", "rows = 0"), "rows=0: must be at least 1"),
        (REPLACED.replace("rows = 45", "rows = 45\nrows_per_person = 2"), "stands alone"),
        (
            REPLACED.replace("per_person = { visits", 'where = { sex = ["f"] }\nper_person = { visits', 1),
            "all persons of 'visitors' have a row",
        ),
    ],
)
def test_what_a_plan_cannot_say_of_them_is_refused_where_it_stands(wrong: str, said: str, folder: Path) -> None:
    told = refused(wrong, folder)
    assert said in told
    assert "plan.toml:" in told
