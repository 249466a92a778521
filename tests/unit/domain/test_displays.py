"""How tables, plans, quotes and releases look, that hostile names stay text, and that all of them can be pickled."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from html.parser import HTMLParser

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.errors import ArgumentError
from discreet.plan.plan import plan_json
from discreet.releases.document import make_release

pytestmark = pytest.mark.usefixtures("one_artist")

EVIL = "<script>alert(1)</script>"
ATTACK = "\"'><img src=x onerror=alert(1)>&amp;\u202e"
ALLOWED = {"div", "p", "strong", "table", "tr", "th", "td"}


class Tags(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.rows = set(), set(), "", []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {key for key, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_data(self, data):
        self.text += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


SCHEMA = dp.Schema({EVIL: dp.Category([ATTACK, EVIL]), "wage": dp.Number(0, 2000, 10)})


def session():
    frame = pl.DataFrame({EVIL: [EVIL, ATTACK.replace("\u202e", "")] * 100, "wage": [100, 500] * 100})
    schema = dp.Schema({EVIL: dp.Category([ATTACK.replace("\u202e", ""), EVIL]), "wage": dp.Number(0, 2000, 10)})
    return dp.Session(frame, schema, dataset=EVIL, ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=200))


@pytest.fixture(scope="module")
def made():
    """Table, request, quote and release with names that try to be HTML."""
    with session() as opened:
        table = opened.table.impute({"wage": dp.Uniform()})
        ask = [dp.count(), dp.mean("wage").alias("mean <b>"), dp.histogram("wage", [0, 1000, 2000])]
        request = table.group_by(EVIL).agg(*ask)
        quote = opened.quote(request, spend="0.5")
        release = opened.release(request, spend="0.5", name=ATTACK.replace("\u202e", ""))
    return {"table": table, "request": request, "quote": quote, "release": release}


KINDS = ["table", "request", "quote", "release"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_html_holds_only_our_tags_and_the_names_as_text(made, kind):
    page = made[kind]._repr_html_()
    found = Tags(page)
    assert found.tags <= ALLOWED
    assert found.attributes <= {"scope", "style"}
    assert EVIL in found.text
    assert EVIL not in page
    # Without the escaping the same parser sees the foreign tags.
    assert Tags(page.replace("&lt;", "<").replace("&gt;", ">")).tags - ALLOWED


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_of_an_object_is_one_short_printable_line(made, kind):
    shown = repr(made[kind])
    assert shown.isprintable()
    assert len(shown) < 400
    assert "mappingproxy" not in shown


def test_lines_say_what_matters(made):
    assert repr(dp.Table(dp.Schema(age=dp.Number(0, 110)), dp.AddRemove()).clamp({"age": (0, 90)})) == (
        "<Table of age (add-remove: the number of rows is private; 1 row a person) after clamp age>"
    )
    assert repr(made["request"]) == f"<Plan for count, mean <b>, histogram_wage by {EVIL}>"
    assert re.fullmatch(
        r"<Quote: ρ = 0\.5; expected error in a group of \S+ rows count ±\d+, mean <b> ±\S+, histogram_wage ±\d+>",
        repr(made["quote"]),
    )
    assert made["release"].digest[:12] in repr(made["release"])


def test_the_line_of_a_session_says_what_is_left():
    with session() as opened:
        assert repr(opened) == f"<Session: data set '{EVIL}', ρ = 1 left of ρ = 1>"
        opened.release(opened.table.agg(dp.count("wage")), spend="0.25", name="first")
        assert repr(opened).endswith(" ρ = 0.75 left of ρ = 1>")
    assert repr(opened) == f"<Session: data set '{EVIL}', closed>"


def test_the_card_of_a_release_shows_its_numbers_and_its_promise(made):
    release = made["release"]
    found = Tags(release._repr_html_())
    assert str(release.guarantee) in found.text
    assert "histogram_wage" in found.text
    headings = found.rows[-1 - release.table.height]
    assert headings == [EVIL, "count", "mean <b>"]
    for shown, row in zip(found.rows[-release.table.height :], release.table.rows(named=True), strict=True):
        value, low, high = (int(part.replace(",", "").replace("−", "-")) for part in re.findall(r"[−\d,]+", shown[1]))
        assert (value, low, high) == (row["count"], max(row["count_low"], 0), max(row["count_high"], 0))
        low, high = map(float, re.search(r"\((\S+) – (\S+)\)", shown[2].replace(",", "").replace("−", "-")).groups())
        assert low <= row["mean <b>_low"]
        assert high >= row["mean <b>_high"]


def test_the_card_of_a_long_release_shows_its_first_rows():
    with session_over(pl.DataFrame({"g": [1, 2]}), dp.Schema(g=dp.Category(list(range(50))))) as opened:
        release = opened.release(opened.table.group_by("g").agg(dp.count()), name="r")
    found = Tags(release._repr_html_())
    assert "51, of which the first 20 are shown" in found.text
    assert [row[0] for row in found.rows[-20:]] == [str(number) for number in range(20)]


def test_invisible_characters_are_spelled_out(made):
    content = {key: value for key, value in made["release"].document.items() if key != "digest"}
    hidden = make_release({**content, "name": "safe\u202eevil"})
    for shown in (repr(hidden), hidden._repr_html_()):
        assert "⟨U+202E⟩" in shown
        assert "\u202e" not in shown


def test_a_document_without_the_parts_of_a_release_fails_as_one():
    made_up = make_release({"name": "r", "dataset": "d", "guarantee": {}, "columns": []})
    assert repr(made_up).startswith("<Release 'r' of 'd', digest ")
    with pytest.raises(ArgumentError, match="it is not a document that discreet wrote"):
        made_up._repr_html_()


# Pickling -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_pickle_gives_back_the_same(made, kind):
    one = made[kind]
    back = pickle.loads(pickle.dumps(one))
    if kind == "quote":
        assert str(back) == str(one)
        assert plan_json(back.plan) == plan_json(one.plan)
    else:
        assert back == one
    assert repr(back) == repr(one)


def test_a_quote_beside_totals_and_on_a_lattice_survives_a_pickle():
    schema = dp.Schema(sex=dp.Category(["F", "M"]), state=dp.Category(["A", "B"]), wage=dp.Number(0, 100))
    frame = pl.DataFrame({"sex": ["F", "M"] * 50, "state": ["A", "B"] * 50, "wage": [10, 20] * 50})
    with session_over(
        frame, schema, budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=100), invariants=dp.Totals("state")
    ) as opened:
        opened.publish_totals()
        table = opened.table.impute({"wage": dp.Uniform()})
        ask = [dp.count(), dp.mean("wage"), dp.quantiles("wage", ["0.25", "0.75"])]
        quote = opened.quote(table.group_by("state", "sex").agg(*ask), spend="0.5")
    assert "lattice" in str(quote)
    assert str(pickle.loads(pickle.dumps(quote))) == str(quote)


def test_a_pickle_of_a_changed_release_is_refused(made):
    changed = pickle.dumps(made["release"]).replace(b'"count":', b'"cOunt":').replace(b'"format":1', b'"format":0')
    assert changed != pickle.dumps(made["release"])
    with pytest.raises(ArgumentError, match="digest"):
        pickle.loads(changed)


# Plots ----------------------------------------------------------------------------------------------------------------


def points(chart):
    (layer, other) = chart.to_dict()["layer"]
    values = chart.to_dict().get("data", layer.get("data"))["values"]
    return layer, other, values


@pytest.mark.parametrize("column", [None, "count", "mean <b>"])
def test_a_plot_has_a_bar_and_an_interval_for_each_group(made, column):
    release = made["release"]
    drawn, chosen = release.plot(column), column or "count"
    bars, lines, values = points(drawn)
    assert (bars["mark"]["type"], lines["mark"]["type"]) == ("bar", "rule")
    assert (bars["encoding"]["x"]["field"], bars["encoding"]["x"]["title"]) == ("value", chosen)
    assert (lines["encoding"]["x"]["field"], lines["encoding"]["x2"]["field"]) == ("low", "high")
    assert bars["encoding"]["y"]["sort"] is None
    shown = {one["name"]: one["values"] for one in release.shown(0)["columns"]}
    for key, name in (("value", chosen), ("low", f"{chosen}_low"), ("high", f"{chosen}_high")):
        assert [one[key] for one in values] == shown[name]
    assert [one["group"] for one in values] == ["not known" if one is None else one for one in shown[EVIL]]


def test_a_histogram_is_plotted_by_its_name(made):
    _, _, values = points(made["release"].plot("histogram_wage"))
    frame = made["release"].tables["histogram_wage"]
    assert [one["value"] for one in values] == frame["count"].to_list()
    assert len({one["group"] for one in values}) == frame.height


def test_groups_of_one_name_stay_apart(made):
    content = {key: value for key, value in made["release"].document.items() if key != "digest"}
    columns = [
        {"name": "g", "kind": "text", "values": ["a", "a", "a (2)"]},
        *({"name": f"n{end}", "kind": "integer", "values": [1, 2, 3]} for end in ("", "_low", "_high")),
    ]
    _, _, values = points(make_release({**content, "columns": columns}).plot())
    assert len({one["group"] for one in values}) == 3
    assert [one["value"] for one in values] == [1, 2, 3]


def test_what_cannot_be_plotted_is_refused_with_what_can(made):
    with pytest.raises(ArgumentError, match=r"it has count, mean <b>, histogram_wage; did you mean 'count'\?"):
        made["release"].plot("counts")
    content = {key: value for key, value in made["release"].document.items() if key != "digest"}
    columns = [{"name": f"n{end}", "kind": "integer", "values": [0] * 1001} for end in ("", "_low", "_high")]
    with pytest.raises(ArgumentError, match="1,001 groups are more than 1,000 bars"):
        make_release({**content, "columns": columns}).plot()
    with pytest.raises(ArgumentError, match="no such number"):
        make_release({**content, "columns": [], "frames": []}).plot()


def test_without_altair_the_message_names_the_extra(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ArgumentError, match=r"pip install 'discreet\[plot\]'"):
        made["release"].plot()


def test_altair_is_loaded_by_plots_alone():
    code = (
        "import sys, discreet, discreet.releases.plot, discreet.cli, discreet.pages.report; print('altair' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
