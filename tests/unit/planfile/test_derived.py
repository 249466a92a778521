"""What a plan derives from its releases: computed with them, recorded and shown; mistakes are refused before the charge."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.builders import run

import discreet as dp
from discreet.errors import ArgumentError, PlanError
from discreet.pages.report import render
from discreet.planfile.faults import faults_of
from discreet.planfile.read import load_plan
from discreet.planfile.tree import read_toml
from discreet.releases.derived import in_documents, requests
from discreet.releases.derived.in_documents import outline

pytestmark = pytest.mark.usefixtures("one_artist")

DATA = """
[data]
dataset = "visits"
source = "visits.csv"
neighbours = "add-remove"
ledger = "ledger.db"

[columns.area]
type = "category"
categories = ["north", "south", "west"]
required = true

[columns.sex]
type = "category"
categories = ["f", "m"]
required = true

[columns.visits]
type = "number"
lower = 0
upper = 12

[budget]
measure = "pure-dp"
epsilon = 8
"""
RELEASE = """
[[release]]
name = "{name}"
group_by = ["area", "sex"]
statistics = ["count", {{ sum = "visits", nulls = "skip" }}, {{ mean = "visits", nulls = "skip" }}]
spend = 1
"""
ONE = DATA + RELEASE.format(name="one")
TWO = ONE + RELEASE.format(name="two")
RATE = """
[[derive]]
name = "rate"
ratio = { of = "sum_visits", by = ["area"] }
under = { public = "people.csv", column = "people" }
per = 1000
"""
SHARE = """
[[derive]]
name = "share"
ratio = "count"
under = { of = "count", by = ["area"] }
per = 100
confidence = 0.9
"""
INDEX = """
[[derive]]
name = "index"
ratio = "count"
under = { of = "count", at = { area = "west", sex = "m" } }
confidence = 0.999999
"""
GROWTH = """
[[derive]]
name = "growth"
change = "count"
since = { of = "count", folder = "former" }
"""
ALL = RATE + SHARE + INDEX


def folder(tmp_path: Path, plan: str) -> Path:
    """A folder with a plan, its data and a table of inhabitants; nobody lives in the west and is a man."""
    rows = [("north", "south", "south", "west")[i % 4] for i in range(800)]
    lines = [f"{area},{'f' if area == 'west' or i % 3 else 'm'},{i % 13}" for i, area in enumerate(rows)]
    (tmp_path / "visits.csv").write_text("\n".join(["area,sex,visits", *lines, ""]), encoding="utf-8")
    (tmp_path / "people.csv").write_text("area,people\nnorth,4000\nsouth,9000\nwest,350\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    return tmp_path / "plan.toml"


def released(tmp_path: Path, plan: str, *more: str) -> Path:
    found = run("release", str(folder(tmp_path, plan)), "--out", str(tmp_path / "out"), *more)
    assert found.exit_code == 0, found.output
    return tmp_path / "out"


def test_what_is_derived_is_what_the_functions_derive_from_the_release(tmp_path: Path) -> None:
    release = dp.Release.load(released(tmp_path, ONE + ALL))
    rate, share, index = release.document["derived"]
    count = dp.numbers(release, "count")
    expected = [
        dp.ratio(dp.numbers(release, "sum_visits", by=["area"]), dp.constants(tmp_path / "people.csv"), per=1000),
        dp.ratio(count, dp.numbers(release, "count", by=["area"]), per=100, confidence="0.9"),
        dp.ratio(count, dp.numbers(release, "count", at={"area": "west", "sex": "m"}), confidence="0.999999"),
    ]
    for one, same in zip((rate, share, index), expected, strict=True):
        assert release.tables[one["name"]].rows() == same.table.rows()
        assert (one["derived"], one["words"], one["notes"]) == (same.kind, same.words, [])
    assert share["confidence"] == "0.9"
    # The document cannot hold its own digest; everything else that is needed to compute the numbers again is there.
    assert [sorted(source) for source in share["sources"][:2]] == [
        ["at", "by", "covers", "dataset", "release", "statistic", "words"]
    ] * 2
    assert [source["words"] for source in rate["sources"]][1] == "people of people.csv"


def test_nothing_is_charged_for_it_and_no_digest_of_a_plan_has_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = (dp.Release.load(released(tmp_path / name, plan)) for name, plan in [("a", ONE), ("b", ONE + ALL)])
    assert "derived" not in first.document
    for key in ("plan_digest", "guarantee", "budget", "noise", "statistics", "interval"):
        assert first.document[key] == second.document[key]


def test_a_stored_release_keeps_what_it_was_made_with(tmp_path: Path) -> None:
    place = released(tmp_path, ONE + SHARE)
    before = (place / "release.json").read_bytes()
    (tmp_path / "plan.toml").write_text(ONE + SHARE + INDEX, encoding="utf-8")
    found = run("release", str(tmp_path / "plan.toml"), "--out", str(place))
    assert found.exit_code == 0
    assert "no new charge" in found.stdout
    assert (place / "release.json").read_bytes() == before


def test_a_change_since_a_former_release_names_its_digest(tmp_path: Path) -> None:
    (tmp_path / "former").mkdir()
    former = dp.Release.load(released(tmp_path / "former", ONE))
    plan = (ONE + GROWTH).replace('"former"', '"former/out"')
    release = dp.Release.load(released(tmp_path, plan))
    (growth,) = release.document["derived"]
    expected = dp.change(dp.numbers(former, "count"), dp.numbers(release, "count"))
    assert release.tables["growth"].rows() == expected.table.rows()
    assert release.tables["growth"].columns[2::3] == ["growth", "growth_relative"]
    assert [source.get("digest") for source in growth["sources"]] == [former.digest, None]


COMBINED = """
[[derive]]
name = "both"
release = "two"
combine = [{ of = "count", release = "one" }, "count"]
"""


def test_the_last_of_several_releases_has_what_is_derived_from_all(tmp_path: Path) -> None:
    place = released(tmp_path, TWO + COMBINED)
    one, two = (dp.Release.load(place / name) for name in ("one", "two"))
    assert "derived" not in one.document
    expected = dp.combine(dp.numbers(one, "count"), dp.numbers(two, "count"))
    assert two.tables["both"].rows() == expected.table.rows()
    (found,) = two.document["derived"]
    assert [source.get("digest") for source in found["sources"]] == [one.digest, None]


def test_releases_under_other_names_are_found(tmp_path: Path) -> None:
    place = released(tmp_path, TWO + COMBINED, "--as", "march")
    (found,) = dp.Release.load(place / "march-two").document["derived"]
    assert [source["release"] for source in found["sources"]] == ["march: one", "march: two"]
    assert found["columns"]


def test_check_and_quote_name_it_without_a_charge(tmp_path: Path) -> None:
    plan = str(folder(tmp_path, ONE + ALL))
    for command in ("check", "quote"):
        assert (
            "rate (ratio), share (ratio), index (ratio): from published numbers, at no charge" in run(command, plan).stdout
        )
        facts = json.loads(run(command, plan, "--json").stdout)
        assert facts["releases"][0]["derived"] == {"rate": "ratio", "share": "ratio", "index": "ratio"}


def test_every_export_and_the_page_have_it(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    labels = '[about.statistics.share]\nlabel = "Share of the <b>area</b>"\nunit = "%"\n'
    place = released(tmp_path, ONE + ALL + labels)
    release = dp.Release.load(place)
    for name in ("rate", "share", "index"):
        assert (place / f"{name}.csv").exists()
        assert (place / f"{name}.parquet").exists()
    with (place / "share.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == ["area", "sex", "share", "share_low", "share_high"]
    for word in ("csv", "xlsx", "sdmx", "csvw", "json-stat"):
        found = release.export(word, tmp_path / f"share.{word}", frame="share")
        assert found[0].stat().st_size > 100
    text = (tmp_path / "share.csv").read_text(encoding="utf-8")
    assert text.startswith('"area","sex","share"')
    cube = json.loads((tmp_path / "share.json-stat").read_text(encoding="utf-8"))
    assert any("100 times count" in note and "holds with 90 %" in note for note in cube["note"])
    page = render(release)
    assert "Share of the &lt;b&gt;area&lt;/b&gt; (%)" in page
    assert "100 times Number of rows, divided by Number of rows (added up by area)." in page
    assert "with a probability of at least 90\u00a0%" in page
    assert release.plot("share") is not None if pytest.importorskip("altair") else None


def test_an_unbounded_number_is_not_given_anywhere(tmp_path: Path) -> None:
    place = released(tmp_path, ONE + INDEX + "[quality]\n")
    release = dp.Release.load(place)
    assert release.tables["index"]["index"].to_list() == [None] * 6
    assert release.shown(0)["derived"][0]["columns"][-1]["values"] == ["c"] * 6  # not publishable
    sheet = release.export("csv", tmp_path / "index.csv", frame="index")[0].read_text(encoding="utf-8")
    assert sheet.splitlines()[1] == '"north","f",,,,"c"'
    page = render(release)
    assert "6 intervals are unbounded, because what is divided by may be 0" in page
    german = render(release, language="de")
    assert "6 Intervalle sind unbeschränkt, weil der Nenner 0 sein kann" in german


REFUSED = {
    "no name": ("[[derive]]\nratio = 'count'\nunder = 1\n", "the key 'name' is missing"),
    "no kind": ("[[derive]]\nname = 'x'\nunder = 'count'\n", "must have one of ratio, change, combine"),
    "two kinds": ("[[derive]]\nname = 'x'\nratio = 'count'\nunder = 1\nchange = 'count'\n", "must have one of"),
    "no second": ("[[derive]]\nname = 'x'\nratio = 'count'\n", "the key 'under' is missing"),
    "another key": ("[[derive]]\nname = 'x'\nchange = 'count'\nsince = 'count'\nper = 3\n", "no such key"),
    "one bracket": ("[derive]\nname = 'x'\n", "two pairs of brackets"),
    "no such column": (SHARE.replace('"count"\nunder', '"counts"\nunder'), "did you mean 'count'"),
    "no such group": (SHARE.replace('["area"]', '["aera"]'), "did you mean 'area'"),
    "no such label": (INDEX.replace('"west"', '"wets"'), "did you mean 'west'"),
    "no such release": (SHARE + 'release = "none"\n', "the plan has no release 'none'"),
    "no such folder": (GROWTH, "no release.json there"),
    "no such file": (RATE.replace("people.csv", "persons.csv"), "persons.csv': No such file"),
    "no such column of the file": (RATE.replace('"people" }', '"peple" }'), "did you mean 'people'"),
    "a mean added up": (SHARE.replace('of = "count"', 'of = "mean_visits"'), "only counts and sums can be added up"),
    "a group column too many": (
        SHARE.replace('"count"\nunder', '{ of = "count", by = [] }\nunder'),
        "under: has the group column",
    ),
    "two quantities": ("[[derive]]\nname = 'x'\nchange = 'count'\nsince = 'sum_visits'\n", "compare one statistic"),
    "a mean combined": ("[[derive]]\nname = 'x'\ncombine = ['mean_visits', 'mean_visits']\n", "only intervals are known"),
    "one to combine": ("[[derive]]\nname = 'x'\ncombine = ['count']\n", "at least two"),
    "a name of a column": (SHARE.replace('"share"', '"count"'), "'count' is in the release already"),
    "a name of an end": (SHARE.replace('"share"', '"count_low"'), "is in the release already"),
    "a name of the table": (SHARE.replace('"share"', '"table"'), "'table' is in the release already"),
    "a name twice": (SHARE + SHARE, "'share' is in the release already"),
    "a name with a sign that nobody sees": (SHARE.replace('"share"', '"sha\\u202ere"'), "must be printable"),
    "a factor of 0": (SHARE.replace("per = 100", "per = 0"), "must be greater than 0"),
    "a confidence of 1": (SHARE.replace("confidence = 0.9", "confidence = 1"), "strictly between 0 and 1"),
    "too much confidence": (
        "[[derive]]\nname = 'x'\nratio = 'mean_visits'\nunder = 'mean_visits'\nconfidence = 0.96\n",
        "together they allow",
    ),
    "too much confidence beside noise": (
        "[[derive]]\nname = 'x'\nratio = 'mean_visits'\nunder = 'count'\n",
        "confidence=0.9;",
    ),
    "nothing of the plan": ("[[derive]]\nname = 'x'\nratio = 3\nunder = 4\n", "derives from no release of this plan"),
    "words for what is not derived": (SHARE + "[about.statistics.shares]\nlabel = 'x'\n", "did you mean 'share'"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_before_anything_is_spent(tmp_path: Path, case: str) -> None:
    written, said = REFUSED[case]
    plan = folder(tmp_path, ONE + written)
    with pytest.raises(PlanError) as caught:
        load_plan(plan)
    assert said in str(caught.value)
    assert caught.value.place.startswith("plan.toml")
    assert run("release", str(plan), "--out", str(tmp_path / "out")).exit_code == 2
    assert not (tmp_path / "ledger.db").exists()


def test_units_that_differ_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    (tmp_path / "former").mkdir()
    words = "[about.statistics.sum_visits]\nunit = '{}'\n"
    released(tmp_path / "former", ONE + words.format("visits"))
    plan = ONE + GROWTH.replace('"former"', '"former/out"').replace('"count"', '"sum_visits"') + words.format("1,000 visits")
    with pytest.raises(PlanError, match="two units have no difference"):
        load_plan(folder(tmp_path, plan))


def test_all_faults_are_told_and_what_follows_from_another_is_not(tmp_path: Path) -> None:
    wrong = ONE.replace('["count"', '["cuont"')
    plan = folder(tmp_path, wrong + SHARE + INDEX.replace("west", "wets") + "[about.statistics.share]\nlabel = 'x'\n")
    assert [str(fault).split(":")[1] for fault in faults_of(read_toml(plan))] == ["30"]
    plan = folder(tmp_path, ONE + SHARE.replace("per = 100", "per = 0") + INDEX.replace("west", "wets"))
    assert len(faults_of(read_toml(plan))) == 2


@pytest.mark.parametrize(("error", "said"), [(ArgumentError("why it is so"), "why it is so"), (ValueError("secret"), None)])
def test_a_derivation_that_cannot_be_computed_takes_no_release_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str | None
) -> None:
    compute, times = requests.compute, []

    def fails_after_the_check(*given: object) -> object:
        times.append(1)
        if len(times) > 2:
            raise error
        return compute(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(in_documents, "compute", fails_after_the_check)
    release = dp.Release.load(released(tmp_path, ONE + SHARE))
    (found,) = release.document["derived"]
    assert found == {"name": "share", "derived": "ratio", "columns": [], "failed": said or "could not be computed"}
    assert "share" not in release.tables
    assert f"share could not be derived: {found['failed']}" in render(release)


def test_a_mean_over_a_sum_of_counts_that_totals_may_make_public_is_not_refused(tmp_path: Path) -> None:
    plan = ONE.replace('"add-remove"', '"replace-one"\nrows = 800') + "[invariants]\ntotals = [['area']]\n"
    under = "{ of = 'count', by = ['area'] }"
    asked = load_plan(folder(tmp_path, plan + f"[[derive]]\nname = 'x'\nratio = 'mean_visits'\nunder = {under}\n"))
    assert [one.name for one in asked.orders[0].derive] == ["x"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("per", ["1e400", "1.79e308", "1e-400"])
def test_a_number_beyond_all_doubles_takes_no_release_away(tmp_path: Path, per: str) -> None:
    release = dp.Release.load(released(tmp_path, ONE + SHARE.replace("100", f"'{per}'")))
    (found,) = release.document["derived"]
    assert "failed" not in found
    low, high = (release.tables["share"][f"share{end}"] for end in ("_low", "_high"))
    assert low.is_null().all() if per == "1e400" else (low <= high).all()


def test_what_cannot_be_written_takes_no_release_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame_columns = in_documents.Derived.frame_columns

    def infinite(of: in_documents.Derived) -> list[dict[str, object]]:
        return [*frame_columns(of), {"name": "x", "kind": "real", "values": [float("inf")]}]

    monkeypatch.setattr(in_documents.Derived, "frame_columns", infinite)
    (found,) = dp.Release.load(released(tmp_path, ONE + SHARE)).document["derived"]
    assert found["failed"] == "could not be computed"


def test_the_outline_of_a_plan_has_the_columns_and_groups_of_its_release(tmp_path: Path) -> None:
    place = released(tmp_path, ONE)
    (order,) = load_plan(tmp_path / "plan.toml").orders
    drawn, made = outline(("visits", "one"), order.request).document, dp.Release.load(place).document
    assert [one["name"] for one in drawn["columns"]] == [one["name"] for one in made["columns"]]
    assert [one["values"] for one in drawn["columns"][:2]] == [one["values"] for one in made["columns"][:2]]
    assert drawn["statistics"] == made["statistics"]
    assert drawn["interval"] == made["interval"]
