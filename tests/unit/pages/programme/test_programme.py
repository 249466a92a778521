"""The programme page: every release of a folder with its budget and its files, whether tables agree, and hostile folders."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pytest
from tests.builders import run

import discreet as dp
from discreet.exact.canonical import seal
from discreet.ledger import Ledger, Reservation
from discreet.pages.programme import agreement, shelf_of, write_programme
from discreet.pages.programme.agreement import agreements_of, totals_agreements_of
from discreet.pages.programme.spending import spendings_of
from discreet.pages.words import words_in
from discreet.releases.document import Release
from discreet.session.accounts import accounts_of

SCHEMA = dp.Schema(sex=dp.Category(["f", "m"]), region=dp.Category(["n", "s", "w"]), age=dp.Number(0, 100))
FRAME = pl.DataFrame({"sex": ["f", "m"] * 150, "region": ["n", "s", "w"] * 100, "age": [20, 60, 35] * 100})


class Seen(HTMLParser):
    """The tags, attributes and texts of a page, its script and style aside."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self._in = [], [], "", ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._in = tag

    def handle_endtag(self, tag):
        self._in = ""

    def handle_data(self, data):
        if self._in not in {"script", "style"}:
            self.text += f" {data} "


def changed(release, **parts):
    """The release with other parts, and a digest that fits."""
    body = {key: value for key, value in release.document.items() if key != "digest"}
    return Release(seal({**body, **parts}).encode("ascii"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A ledger, and three releases of one data set: by sex, by sex and region, and the mean age by sex."""
    ledger = tmp_path_factory.mktemp("ledger") / "budget.ledger"
    with dp.Session(
        FRAME, SCHEMA, dataset="d", ledger=ledger, budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=300)
    ) as session:
        table = session.table
        about = dp.About(title="People <i>by</i> sex", columns={"sex": dp.Labels("Sex", categories={"f": "women"})})
        releases = [
            session.release(table.group_by("sex").agg(dp.count()), name="T1", spend="0.1", about=about),
            session.release(table.group_by("sex", "region").agg(dp.count()), name="T2", spend="0.1"),
            session.release(table.group_by("sex").agg(dp.mean("age", nulls="skip")), name="T10", spend="1/3"),
        ]
    return ledger, releases


@pytest.fixture
def folder(made, tmp_path):
    """The releases in a folder."""
    for release in made[1]:
        release.save(tmp_path / release.name)
    return tmp_path


def page(folder, **options):
    place, _ = write_programme(folder, **options)
    return place.read_text(encoding="utf-8")


def test_it_needs_no_network_and_runs_one_known_script(folder):
    html = page(folder)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert not re.search(r"https?://|innerHTML|insertAdjacent|document\.write|\beval\b|fetch\(|@import|url\(", html)


def test_every_release_has_its_line_with_links_to_files_that_are_there(folder):
    seen = Seen(page(folder))
    addresses = [value for key, value in seen.attributes if key == "href" and not value.startswith("#")]
    assert "./T1/table.csv" in addresses
    assert all((folder / unquote(address)).is_file() for address in addresses)
    assert "People <i>by</i> sex" in seen.text
    assert "i" not in seen.tags
    assert [seen.text.index(f" {one} ") for one in ("T1", "T2", "T10")] == sorted(
        seen.text.index(f" {one} ") for one in ("T1", "T2", "T10")
    ), "T10 comes after T2"
    assert "3 releases of one data set." in seen.text


def test_a_report_is_what_the_title_leads_to(folder):
    (folder / "T2" / "report.html").write_text("<p>", encoding="utf-8")
    assert re.search(r'<a href="\./T2/report\.html"><bdi>T2</bdi></a>', page(folder))


def test_the_budget_is_that_of_the_ledger_or_of_the_documents_and_says_which(made, folder):
    ledger, releases = made
    (from_ledger,) = spendings_of(releases, accounts_of(ledger))
    (from_documents,) = spendings_of(releases)
    whole = Fraction("0.2") + Fraction(1, 3)
    assert (from_ledger.source, from_documents.source) == ("ledger", "documents")
    assert from_ledger.spent.rho == from_documents.spent.rho == whole
    assert from_ledger.left.rho == from_documents.left.rho == 1 - whole
    assert "from the ledger" in page(folder, accounts=accounts_of(ledger))
    assert "the state after the newest release" in page(folder)


def test_what_ledger_and_folder_do_not_share_is_said(made, folder):
    ledger, releases = made
    other = changed(releases[0], name="stranger")
    (spending,) = spendings_of([releases[0], other], accounts_of(ledger))
    assert spending.elsewhere == ("T2", "T10")
    assert spending.unknown == (1,)
    assert spending.part == pytest.approx(0.2 + 1 / 3)


def test_documents_without_a_budget_give_the_sum_of_what_is_there(made):
    old = [changed(one, budget=None) for one in made[1][:2]]
    (spending,) = spendings_of(old)
    assert (spending.source, spending.budget, spending.spent.rho) == ("sum", None, Fraction("0.2"))


def test_a_lost_charge_is_said(made, folder, tmp_path_factory):
    ledger = tmp_path_factory.mktemp("copy") / "budget.ledger"
    ledger.write_bytes(made[0].read_bytes())
    ledger.chmod(0o600)
    with Ledger.open(ledger) as opened:
        opened.reserve(opened.identity("d"), [Reservation("lost <b>", (Fraction(1, 10),), "0" * 64, "")])
    (account,) = accounts_of(ledger)
    assert account.lost == ("lost <b>",)
    assert "One release was charged and not committed: “lost <b>”." in Seen(page(folder, accounts=[account])).text


# Agreement ----------------------------------------------------------------------------------------------------------------


def test_a_table_is_held_against_the_sums_of_a_finer_one(made):
    (found,) = agreements_of(made[1])
    assert (found.quantity.statistic, found.keys, found.direct, found.summed) == ("count", ("sex",), (0,), (1,))
    assert found.cells == 3
    values = dict(made[1][0].table.select("sex", "count").iter_rows())
    summed = dict(made[1][1].table.group_by("sex").agg(pl.col("count").sum()).iter_rows())
    assert found.apart or found.widest.distance == max(abs(values[key] - summed[key]) for key in values)


def test_tables_that_contradict_each_other_are_said_first(made, folder):
    first = made[1][0]
    moved = [
        {**one, "values": [value + 100 for value in one["values"]]} if one["name"].startswith("count") else one
        for one in first.document["columns"]
    ]
    other = changed(first, name="T3", columns=moved)
    found = agreements_of([first, other])[0]
    assert (found.apart, found.cells, found.widest.distance, found.widest.overlap) == (3, 3, 100, False)
    other.save(folder / "T3")
    assert "in 3 of 3 numbers, intervals do not overlap" in page(folder)


def test_a_wrong_interval_would_be_noticed(made, monkeypatch):
    """Intervals of no width nearly never meet."""
    first = made[1][0]
    moved = [
        {**one, "values": [value + 1 for value in one["values"]]} if one["name"].startswith("count") else one
        for one in first.document["columns"]
    ]
    pair = [first, changed(first, name="T3", columns=moved)]
    assert agreements_of(pair)[0].apart == 0
    monkeypatch.setattr(agreement, "_ends", lambda one: (one.value, one.value))
    assert agreements_of(pair)[0].apart == 3


@pytest.mark.parametrize("steps", ["where", "dataset"])
def test_different_quantities_are_not_compared(made, steps):
    first = made[1][0]
    document = first.document
    if steps == "where":
        plan = {**document["plan"], "steps": [{"step": "where", "column": "region", "categories": ["n"]}]}
        other = changed(first, name="T3", plan=plan)
    else:
        other = changed(first, name="T3", dataset="e")
    assert agreements_of([first, other]) == ()


def test_exact_totals_agree_or_do_not():
    with dp.Session(
        FRAME, SCHEMA, dataset="d", ledger=":memory:", budget=dp.ZCDP(1), neighbours=dp.ReplaceOne(rows=300),
        invariants=dp.Totals("sex"),
    ) as session:  # fmt: skip
        asked = session.table.group_by("sex", "region").agg(dp.count())
        one = session.release(asked, name="a", spend="0.1")
        two = session.release(asked, name="b", spend="0.1")
    (found,) = totals_agreements_of([one, two])
    assert (found.columns, found.releases, found.same) == (("sex",), (0, 1), True)
    stated = json.loads(json.dumps(two.document["invariants"]))
    stated["totals"]["parts"][0]["cells"][0][-1] += 1
    (found,) = totals_agreements_of([one, changed(two, invariants=stated)])
    assert not found.same


# Folders ------------------------------------------------------------------------------------------------------------------


def test_a_folder_may_hold_anything(made, folder, tmp_path_factory):
    release = made[1][0]
    outside = tmp_path_factory.mktemp("outside")
    release.save(outside / "linked")
    torn, foreign, newer, up = (folder / name for name in ("torn", "foreign", "newer", "made up"))
    for place in (torn, foreign, newer, up, folder / "link", folder / "pipe", folder / "folder"):
        place.mkdir()
    (torn / "release.json").write_bytes(release.payload[:-40])
    (foreign / "release.json").write_text('{"name": "left-pad", "version": "1.0"}', encoding="utf-8")
    (newer / "release.json").write_bytes(changed(release, format=2).payload.replace(b'"format":2', b'"format":9'))
    (up / "release.json").write_bytes(changed(release, statistics=[{"statistic": 7}], plan={}).payload)
    (folder / "link" / "release.json").symlink_to(outside / "linked" / "release.json")
    (folder / "round").symlink_to(folder, target_is_directory=True)
    (folder / "elsewhere").symlink_to(outside, target_is_directory=True)
    os.mkfifo(folder / "pipe" / "release.json")
    (folder / "folder" / "release.json").mkdir()
    shelf = shelf_of(folder)
    why = {one.place: one.why for one in shelf.left_out}
    assert why["link/release.json"] == "link"
    assert why["pipe/release.json"] == why["folder/release.json"] == "not a file"
    html = Seen(page(folder)).text
    for place in ("torn", "foreign", "newer", "made up", "link", "pipe", "folder"):
        assert f"{place}/release.json" in html
    assert "3 releases of one data set." in html


def test_copies_are_one_release(made, folder):
    made[1][0].save(folder / "T1 again")
    shelf = shelf_of(folder)
    assert len(shelf.releases) == 3
    assert "The same document is also in: T1 again" in page(folder)


@pytest.mark.parametrize("place", ["", "nowhere", "file"])
def test_a_folder_without_releases_is_refused(tmp_path, place):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(dp.ArgumentError, match="programme"):
        write_programme(tmp_path / place)


def test_a_page_of_somebody_else_is_not_replaced(folder):
    (folder / "index.html").write_text("<h1>mine</h1>", encoding="utf-8")
    with pytest.raises(dp.ArgumentError, match="not a page of this command"):
        write_programme(folder)
    assert (folder / "index.html").read_text(encoding="utf-8") == "<h1>mine</h1>"
    (folder / "index.html").unlink()
    assert page(folder) == page(folder)


def test_hostile_names_are_text_and_addresses_stay_in_the_folder(made, folder):
    name = "javascript:alert(1)%2f..#?\"'><img src=x onerror=alert(2)>"
    about = [{"language": "en", "title": "</title></script><script>alert(3)</script>"}]
    changed(made[1][0], name="x", dataset="<b>\u202egpj", about=about).save(folder / name)
    seen = Seen(page(folder))
    assert seen.tags.count("script") == 1
    assert not {"img", "b"} & set(seen.tags)
    assert not [key for key, _ in seen.attributes if key.startswith("on")]
    assert "\u202e" not in seen.text
    addresses = [value for key, value in seen.attributes if key == "href"]
    assert all(value.startswith(("./", "#")) for value in addresses)
    assert all((folder / unquote(value)).is_file() for value in addresses if value.startswith("./"))


@pytest.mark.parametrize("many", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_releases_are_one_page(made, tmp_path, many):
    for place in range(many):
        where = tmp_path / f"t{place}"
        where.mkdir()
        (where / "release.json").write_bytes(changed(made[1][0], name=f"table {place}").payload)
    html = page(tmp_path)
    assert html.count("data-line") >= many
    assert f"and {many - 12} more" in html
    assert len(html) < 1_500_000


# The command --------------------------------------------------------------------------------------------------------------


def test_the_command_writes_the_page_and_says_what_it_left_out(made, folder):
    (folder / "torn").mkdir()
    (folder / "torn" / "release.json").write_text("{", encoding="utf-8")
    found = run("programme", str(folder), "--ledger", str(made[0]), "--title", "Year <2026>")
    assert found.exit_code == 0, found.output
    assert "3 releases. Nothing was spent." in found.output
    assert "not shown: torn/release.json" in found.output
    assert "Year &lt;2026&gt;" in (folder / "index.html").read_text(encoding="utf-8")
    assert run("programme", str(folder), "--ledger", str(folder / "none")).exit_code == 2
    assert run("programme", str(folder), "--language", "tlh").exit_code == 2


def test_it_is_german_with_german_numbers(made, folder):
    html = Seen(page(folder, language="de")).text
    assert "3 Veröffentlichungen aus einem Datenbestand." in html
    assert re.search(r"ρ = 0,1\b", html)
    assert "Releases" not in html


def test_no_english_text_of_the_catalogue_is_left_in_german(folder):
    html = Seen(page(folder, language="de")).text
    english = [text for key, text in words_in("en").texts.items() if key.startswith("programme.") and isinstance(text, str)]
    sentences = [text for text in english if len(text.split()) > 2 and "{" not in text]
    assert len(sentences) > 10
    assert not [text for text in sentences if text in html]


def test_accounts_need_a_ledger(tmp_path):
    with pytest.raises(dp.LedgerError, match="there is no such file"):
        accounts_of(Path(tmp_path / "none"))
