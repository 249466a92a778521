from __future__ import annotations

import re
import time
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from tests.builders import MOMENT

import discreet as dp
from discreet.errors import ArgumentError
from discreet.pages.report import files, render, tables, write_report

pytestmark = pytest.mark.usefixtures("one_artist")

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=1+1",
    "{{ 7 * 7 }}",
    "'&amp;",
    "\u202egpj.exe",
    "a\u200bb",
]


INSIDE = "data:image/svg+xml;base64,"


def assert_only_the_own_script(html):
    """One script, which is the same in every page, and which the policy of the page allows by its digest alone."""
    scripts = re.findall(r"<script.*?>(.*?)</script", html, flags=re.DOTALL | re.IGNORECASE)
    assert scripts == [Path(files.__file__).with_name("report.js").read_text(encoding="utf-8").rstrip("\n")]
    digest = b64encode(sha256(scripts[0].encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', html)
    assert "default-src 'none'" in policy.replace("&#39;", "'")
    assert f"script-src 'sha256-{digest}'" in policy.replace("&#39;", "'").replace("&#43;", "+")


def test_the_tables_hold_every_value_and_interval(wages, read):
    counts, sums, means, noise = read(render(wages)).tables
    frame = wages.table.to_dict(as_series=False)
    shown = counts.cells(3)
    assert [row[0] for row in shown] == frame["sex"] == ["F", "M"]
    assert [int(row[1].replace("−", "-")) for row in shown] == frame["count"]
    for table, column in ((counts, "count"), (sums, "sum_wage"), (means, "mean_wage")):
        for k, (_, _, ends) in enumerate(table.cells(3)):
            low, high = (float(end.replace(",", "").replace("−", "-")) for end in ends.split(" – "))
            assert low <= frame[f"{column}_low"][k] <= frame[f"{column}_high"][k] <= high
    assert "Number of rows" in counts.caption
    assert "Mean of wage" in means.caption
    assert [row[0] for row in noise.cells(1)] == [measured["query"] for measured in wages.document["noise"]]


def test_a_third_party_finds_what_it_needs(wages):
    html = render(wages)
    document = wages.document
    for measured in document["noise"]:
        assert measured["scale"] in html
        assert measured["l1_sensitivity"] in html
        assert measured["share"] in html
    for text in (
        wages.digest,
        document["plan_digest"],
        document["library"],
        "wages-2025",
        "ε = 2 (pure DP)",
        "at most 2 of its rows",
    ):
        assert text in html
    (steps,) = re.findall(r"<ol>(.*?)</ol>", html, flags=re.DOTALL)
    assert steps.count("<li>") == len(document["plan"]["steps"])


def test_a_null_group_is_called_not_known(released, read):
    schema = dp.Schema(sex=dp.Category(["F", "M"]), owner=dp.Category([False, True]))
    release = released(schema, {"sex": ["F"], "owner": [None]}, lambda t: t.group_by("sex", "owner").agg(dp.count()))
    (crossed, counts, _) = read(render(release)).tables
    assert [cell.strip() for cell in crossed.rows[1]] == ["false", "true", "not known"]
    assert [row[0].strip() for row in crossed.rows[2:]] == ["F", "M", "not known"]
    labels = counts.cells(2)
    assert labels == [(a, b) for a in ("F", "M", "not known") for b in ("false", "true", "not known")]


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.group_by(dp.bins("age", [0, 5])).agg(dp.count()),
        lambda t: t.agg(dp.histogram("age", [0, 5])),
        lambda t: t.agg(dp.tables(["sex", dp.bins("age", [0, 5])])),
    ],
)
def test_what_becomes_of_values_in_no_bin_is_said(released, ask):
    schema = dp.Schema(sex=dp.Category(["F", "M"]), age=dp.Number(0, 9))
    html = render(released(schema, {"sex": ["F"], "age": [1]}, ask))
    assert "numbers from 0 to 9 in steps of 1; values in no bin do not count<" in html


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.group_by(dp.bins("age", [0, 5, 9])).agg(dp.count()),
        lambda t: t.agg(dp.histogram("age", step=3)),
        lambda t: t.clamp({"age": (2, 7)}).agg(dp.tables(["sex", dp.bins("age", [2, 5, 7])])),
    ],
)
def test_nothing_is_said_of_bins_that_hold_every_value(released, ask):
    schema = dp.Schema(sex=dp.Category(["F", "M"]), age=dp.Number(0, 9))
    html = render(released(schema, {"sex": ["F"], "age": [1]}, ask))
    assert "numbers from 0 to 9 in steps of 1<" in html
    assert "in no bin" not in html


def test_nothing_is_said_of_bins_where_there_are_none(released):
    schema = dp.Schema(sex=dp.Category(["F", "M"]), age=dp.Number(0, 9))
    html = render(released(schema, {"sex": ["F"], "age": [1]}, lambda t: t.group_by("sex").agg(dp.count("age"))))
    assert "numbers from 0 to 9 in steps of 1<" in html
    assert "in no bin" not in html


def test_a_table_without_groups_has_one_row(released, read):
    release = released(dp.Schema(age=dp.Number(0, 9)), {"age": [1]}, lambda t: t.agg(dp.count("age")))
    (counts, _) = read(render(release)).tables
    assert "Number of rows where age is known" in counts.caption
    assert [row[0] for row in counts.cells(1)] == ["all rows"]


@pytest.mark.parametrize("measure", [dp.PureDP("1/3"), dp.ApproxDP(4, "1e-6"), dp.ZCDP("0.1"), dp.GDP(1)])
@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=2, rows_per_person=2)])
def test_every_measure_and_relation_has_its_words(released, measure, neighbours):
    release = released(
        dp.Schema(sex=dp.Category(["F", "M"])),
        {"sex": ["F", "M"]},
        lambda t: t.group_by("sex").agg(dp.count()),
        budget=measure,
        neighbours=neighbours,
    )
    html = render(release)
    replace = isinstance(neighbours, dp.ReplaceOne)
    assert ("2 rows; this number is public" in html) is replace
    assert ("confidential and protected" in html) is not replace
    assert ("up to 2 rows" in html) is replace


def test_hostile_names_stay_text(released, read):
    listed = [text for text in HOSTILE if text.isprintable()] + ["\u202egpj.exe", "a\u200bb"]
    schema = dp.Schema({"<b>group</b>": dp.Category(listed), '"v': dp.Number(0, 9)})

    def ask(table):
        clamped = table.clamp({"<b>group</b>": listed[:-1]})
        return clamped.group_by("<b>group</b>").agg(dp.sum('"v', nulls="skip").alias("</table><script>x</script>"))

    release = released(
        schema, {"<b>group</b>": listed[:1], '"v': [1]}, ask, name="</title><script>1</script>", dataset="'\"><svg onload=x>"
    )
    html = render(release)
    reader = read(html)
    assert_only_the_own_script(html)
    assert all(value.startswith(INSIDE) for tag, key, value in reader.attributes if (tag, key) == ("img", "src"))
    assert not [key for _, key, _ in reader.attributes if key.startswith("on")]
    assert "\u202e" not in html
    assert "\u200b" not in html
    labels = [row[0] for row in reader.tables[0].cells(1)]
    assert labels == [*HOSTILE[:5], "⟨U+202E⟩gpj.exe", "not known"]


def test_a_document_made_by_hand_stays_text_too(wages, rewritten, read):
    document = wages.document
    evil = "<script>1</script>"
    columns = [{**c, "values": [evil] * 2, "kind": "text"} if c["name"] == "sex" else c for c in document["columns"]]
    changed = rewritten(
        wages,
        columns=columns,
        guarantee={**document["guarantee"], "words": evil},
        interval={"level": "0.95", "covers": evil},
        library=evil,
        plan_digest=evil,
        noise=[{**measured, "query": evil, "share": evil} for measured in document["noise"]],
        frames=[{"name": evil, "columns": [{"name": evil, "kind": "text", "values": [evil]}]}],
        ledger={"sequence": evil},
    )
    html = render(changed)
    assert evil not in html
    assert_only_the_own_script(html)


@pytest.mark.parametrize(
    "parts",
    [
        {"plan": {}},
        {"columns": []},
        {"noise": [{}]},
        {"statistics": [1]},
        {"guarantee": {}},
        {"interval": 3},
        {"group": "x"},
        {"invariants": ["totals"]},
        {"frames": [{}]},
        {"joint": "<script>1</script>"},
    ],
)
def test_a_document_that_lacks_a_part_is_refused(wages, rewritten, parts):
    with pytest.raises(ArgumentError, match="lacks a part"):
        render(rewritten(wages, **parts))


@pytest.mark.parametrize("written", ["", "{}", '{"kind": ""}', '{"kind": "approx-dp"}', '{"kind": "zcdp", "rho": "x"}'])
def test_a_noise_with_a_guarantee_that_no_noise_has_is_refused(wages, rewritten, written):
    first, *others = wages.document["noise"]
    with pytest.raises(ArgumentError, match="lacks a part"):
        render(rewritten(wages, noise=[{**first, "guarantee": written}, *others]))


def test_only_a_release_is_rendered(wages):
    with pytest.raises(ArgumentError, match="must be a Release"):
        render(wages.document)


def test_the_page_is_self_contained_and_accessible(wages, read):
    html = render(wages)
    reader = read(html)
    assert not {"link", "iframe", "object"} & set(reader.tags)
    assert_only_the_own_script(html)
    places = [value for tag, key, value in reader.attributes if (tag, key) == ("a", "href")]
    assert all(place.startswith("#") and place[1:] in reader.ids for place in places)
    sources = [value for tag, key, value in reader.attributes if key in {"src", "href", "action", "srcset"} and tag != "a"]
    assert all(value.startswith(INSIDE) for value in sources)
    assert len([1 for tag, key, value in reader.attributes if (tag, key) == ("img", "alt") and value]) == len(sources)
    assert "http://" not in html
    assert "https://" not in html
    assert "@import" not in html
    assert "url(" not in html
    assert ("html", "lang", "en") in reader.attributes
    assert reader.tags.count("caption") == reader.tags.count("table")
    assert all(("th", "scope", scope) in reader.attributes for scope in ("col", "row"))
    assert reader.tags.count("th") == len([1 for tag, key, _ in reader.attributes if (tag, key) == ("th", "scope")])
    assert reader.tags.count("h1") == 1
    labelled = [value for _, key, value in reader.attributes if key == "aria-labelledby"]
    assert set(labelled) <= set(reader.ids)
    assert len(set(reader.ids)) == len(reader.ids)
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def luminance(color: str) -> float:
    full = color.lstrip("#") if len(color) == 7 else "".join(2 * digit for digit in color.lstrip("#"))
    parts = [int(full[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_the_contrast_of_wcag_aa_in_every_scheme(wages):
    schemes = re.findall(r":root \{(.*?)\}", render(wages), flags=re.DOTALL)
    assert len(schemes) == 3
    for scheme in schemes:
        colors = dict(re.findall(r"--(\w+): (#\w+)", scheme))
        for back in ("paper", "tint"):
            for front in ("ink", "quiet", "accent"):
                light, dark = sorted((luminance(colors[front]), luminance(colors[back])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, back)


def test_bars_lie_within_their_table_and_around_the_value(wages):
    bars = [
        tuple(map(int, found)) for found in re.findall(r"<rect x=(\d+) y=4 width=(\d+) .*?M(\d+) 10H(\d+)", render(wages))
    ]
    assert len(bars) == 6
    for left, width, low, high in bars:
        assert 0 <= left <= left + width <= 1000
        assert 0 <= low <= high <= 1000
        assert low <= left + width or low <= left


@pytest.mark.slow
def test_ten_thousand_cells_are_small_and_fast(released):
    schema = dp.Schema(
        county=dp.Category([f"county number {k}" for k in range(2499)]),
        kind=dp.Category(["a", "b", "c"]),
        v=dp.Number(0, 99),
    )
    release = released(
        schema,
        {"county": ["county number 7"], "kind": ["a"], "v": [1]},
        lambda t: t.group_by("county", "kind").agg(dp.count(), dp.sum("v", nulls="skip"), dp.mean("v", nulls="skip")),
    )
    assert release.table.height == 10_000
    start = time.process_time()
    html = render(release)
    assert time.process_time() - start < MOMENT
    assert len(html.encode()) < 3_000_000
    assert html.count("<tr>") == 3 * (10_000 + 20) + 4  # a head for every block of 500 rows
    assert "<svg" not in html


def test_a_table_beyond_the_limit_says_what_is_left_out(released, monkeypatch, read):
    monkeypatch.setattr(tables, "MOST_ROWS", 4)
    schema = dp.Schema(k=dp.Category(list(range(9))))
    html = render(released(schema, {"k": [1]}, lambda t: t.group_by("k").agg(dp.count())))
    assert "6 more groups are in the files next to this page" in html
    assert len(read(html).tables[0].rows) == 5


def test_the_file_is_written_whole_or_not_at_all(wages, tmp_path, monkeypatch):
    assert write_report(wages, tmp_path) == tmp_path / "report.html"
    written = write_report(wages, tmp_path / "page.html")
    assert written.read_text(encoding="utf-8") == render(wages)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "report.html"]
    monkeypatch.setattr(files.Path, "write_bytes", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ArgumentError, match="No space left"):
        write_report(wages, tmp_path / "other.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "report.html"]


def test_a_missing_folder_is_refused(wages, tmp_path):
    with pytest.raises(ArgumentError, match="choose another path"):
        write_report(wages, tmp_path / "nowhere" / "page.html")


def test_the_same_release_gives_the_same_page(wages):
    assert render(wages) == render(type(wages)(wages.payload))
