"""The sections `[about]` and `[quality]`, and files of labels: read, and refused with their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.planfile import load_plan
from discreet.planfile.about import about_file
from discreet.planfile.faults import faults_of
from discreet.planfile.tree import read_toml

pytestmark = pytest.mark.usefixtures("one_artist")

BASE = plan_text("about")
ABOUT = """
[about]
language = "en"
title = "Age"
notes = ["one", "two"]
[about.columns.sex]
label = "Sex"
unknown = "not stated"
categories = { F = "female" }
[about.columns.old.categories]
true = "yes"
[about.columns.age]
unit = "years"
categories = { "[0, 50)" = "young" }
[about.statistics.mean_age]
label = "Mean age"
[about.releases.r]
title = "Age of r"
[about.releases.r.statistics.count]
label = "Persons"
[quality]
good = 0.1
caution = 0.2
suppress = "quality"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(BASE + text, encoding="utf-8")
    return path


def test_texts_and_the_rule_are_in_each_order_and_not_in_its_plan(tmp_path: Path) -> None:
    (order,) = load_plan(written(tmp_path, ABOUT)).orders
    (about,) = order.about
    assert (about.title, about.notes, about.statistic("count").label) == ("Age of r", ("one", "two"), "Persons")
    assert about.column("old").categories == {"true": "yes"}
    assert order.quality == dp.Quality("0.1", "0.2", suppress="quality")
    (plain,) = load_plan(written(tmp_path, "")).orders
    assert (plain.about, plain.quality) == ([], None)
    assert plain.request.digest == order.request.digest


def test_an_empty_section_is_the_usual_rule(tmp_path: Path) -> None:
    (order,) = load_plan(written(tmp_path, "[quality]\n")).orders
    assert order.quality == dp.Quality("0.166", "0.333")


def test_translations_are_files_with_the_same_keys(tmp_path: Path) -> None:
    (tmp_path / "de.toml").write_text('language = "de"\ntitle = "Alter"\n[columns.sex]\nlabel = "Geschlecht"\n', "utf-8")
    (order,) = load_plan(written(tmp_path, '[about]\ntitle = "Age"\ntranslations = ["de.toml"]\n')).orders
    assert [(one.language, one.title) for one in order.about] == [("en", "Age"), ("de", "Alter")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[about]\ntitel = "x"', "plan.toml:25: about.titel: no such key; did you mean 'title'"),
        ('[about]\nlanguage = "german"', "plan.toml:25: about.language: .*BCP 47"),
        ('[about]\nlanguage = "de_DE"', "did you mean 'de-DE'"),
        ("[about]\ntitle = 1", "about.title: .*must be a text"),
        ('[about]\ntitle = "a\\u202eb"', r"about.title: .*U\+202E"),
        ('[about]\nnotes = "x"', "about.notes: .*must be a list"),
        ('[about.columns.sx]\nlabel = "x"', "did you mean 'sex'"),
        ('[about.columns.sex]\nlabl = "x"', "about.columns.sex.labl: no such key; did you mean 'label'"),
        ('[about.columns.sex.categories]\nFF = "x"', "'FF' is not a category of 'sex'"),
        ('[about.columns.age.categories]\n"[0, 60)" = "x"', "is not a category of 'age'.*did you mean"),
        ('[about.statistics.mean_aeg]\nlabel = "x"', "did you mean 'mean_age'"),
        ('[about.releases.rr]\ntitle = "x"', "the plan has no release 'rr'; did you mean 'r'"),
        ('[about.releases.r]\nlanguage = "de"', "about.releases.r.language: no such key"),
        ('[about]\ntranslations = ["none.toml"]', "none.toml"),
        ("[quality]\ngood = 0.5", "good=0.5: must be above 0, and not above caution=0.333"),
        ('[quality]\nsuppress = "all"', "quality.suppress: .*must be 'quality'"),
        ("[quality]\ngod = 1", "quality.god: no such key; did you mean 'good'"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(dp.PlanError, match=told):
        load_plan(written(tmp_path, text))


@pytest.mark.parametrize("text", ['title = "x"', 'language = "de"\ntranslations = ["a"]', 'language = "en"'])
def test_a_file_of_labels_names_its_language_and_only_one_has_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "de.toml").write_text(text, "utf-8")
    with pytest.raises(dp.PlanError, match=r"language|translations"):
        load_plan(written(tmp_path, '[about]\ntranslations = ["de.toml"]\n'))


def test_all_faults_of_the_sections_are_told_at_once(tmp_path: Path) -> None:
    text = '[about]\ntitel = "x"\nperiod = 7\n[about.columns.sex]\nlabl = "x"\n[quality]\ngod = 1\ngood = 0.9\n'
    path = written(tmp_path, text.replace("good", "caution = 0.1\ngood"))
    told = "\n".join(map(str, faults_of(read_toml(path))))
    for part in ("about.titel", "about.period", "about.columns.sex.labl", "quality.god", "caution=0.1"):
        assert part in told


def test_a_file_of_more_than_a_megabyte_is_refused(tmp_path: Path) -> None:
    (tmp_path / "de.toml").write_text(f'language = "de"\ntitle = "{"x" * 1_000_000}"', "utf-8")
    with pytest.raises(dp.PlanError, match="at most 1000000 bytes"):
        load_plan(written(tmp_path, '[about]\ntranslations = ["de.toml"]\n'))


# A map -------------------------------------------------------------------------------------------------------------------

RING = [[0, 0], [1, 0], [1, 1], [0, 0]]
SHAPES = {
    "type": "FeatureCollection",
    "features": [
        {"properties": {"code": code}, "geometry": {"type": "Polygon", "coordinates": [RING]}}
        for code in ("F", "<b>\x1b", "<b>")
    ],
}


def mapped(folder: Path, file: str = "shapes.geojson", key: str = "code", column: str = "sex") -> Path:
    (folder / "shapes.geojson").write_text(json.dumps(SHAPES), encoding="utf-8")
    return written(folder, f'[about.map]\nfile = "{file}"\nkey = "{key}"\ncolumn = "{column}"\n')


def test_a_map_is_in_the_texts_and_in_no_digest(tmp_path: Path) -> None:
    (order,) = load_plan(mapped(tmp_path)).orders
    (about,) = order.about
    assert [shape.key for shape in about.map.shapes] == ["<b>", "F"]
    (plain,) = load_plan(written(tmp_path, "")).orders
    assert plain.request.digest == order.request.digest


def test_a_release_can_have_its_own_map_and_a_file_of_labels_too(tmp_path: Path) -> None:
    mapped(tmp_path)
    own = '[about.releases.r.map]\nfile = "shapes.geojson"\nkey = "code"\ncolumn = "sex"\n'
    (order,) = load_plan(written(tmp_path, own)).orders
    assert order.about[0].map.column == "sex"
    labels = tmp_path / "labels.toml"
    labels.write_text('language = "de"\n[map]\nfile = "shapes.geojson"\nkey = "code"\ncolumn = "sex"\n', encoding="utf-8")
    assert about_file(labels).map.column == "sex"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"file": "none.geojson"}, "plan.toml:25: about.map.file: file='.*none.geojson': cannot be read"),
        ({"file": "plan.toml"}, "about.map.file: .* is not valid JSON"),
        ({"key": "kode"}, "about.map.key: key='kode': no feature .* did you mean 'code'"),
        ({"column": "sax"}, "about: map: 'sax' is not a column; did you mean 'sex'"),
        ({"column": "wage"}, "about: map: no release is grouped by 'wage'"),
    ],
)
def test_a_map_that_fits_nothing_is_refused_at_its_place(tmp_path: Path, given: dict[str, str], said: str) -> None:
    path = mapped(tmp_path, **given)
    wage = '[columns.wage]\ntype = "category"\ncategories = [1]\n'
    text = path.read_text(encoding="utf-8") + (wage if given.get("column") == "wage" else "")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(dp.PlanError, match=said):
        load_plan(path)


def test_check_names_what_the_file_lacks_and_what_has_no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("sex,old,age\nF,true,7\n", encoding="utf-8")
    plan = mapped(tmp_path)
    plan.write_text(plan.read_text(encoding="utf-8").replace("example:acs12", "rows.csv"), encoding="utf-8")
    checked = run("check", "plan.toml")
    said = " ".join(checked.output.split())
    assert checked.exit_code == 0, said
    assert "note: map: 1 of 3 features have no usable key" in said
    assert "note: map: the file has no shape for 'M' of column 'sex'" in said
    assert "note: map: column 'sex' has no group for the shapes '<b>'" in said
    (tmp_path / "shapes.geojson").write_text("[" * 10_000, encoding="utf-8")
    checked = run("check", "plan.toml")
    assert checked.exit_code == 2
    assert "is not valid JSON" in checked.output
    assert "Traceback" not in checked.output
    released = run("release", "plan.toml", "--out", "results")
    assert released.exit_code == 2
    assert not (tmp_path / "l.db").exists()
