from __future__ import annotations

import pytest

from discreet.errors import ArgumentError
from discreet.pages.report import render
from discreet.releases.frames import column_json

pytestmark = pytest.mark.usefixtures("one_artist")

BINS = column_json("age", ["[0, 18)", "[18, 65)", None])
COUNTS = [column_json("count", [5, -1, 2]), column_json("count_low", [2, -4, -1]), column_json("count_high", [8, 2, 5])]


def triplet(base, value, half):
    ends = ((base, value), (f"{base}_low", value - half), (f"{base}_high", value + half))
    return [column_json(name, [number] * 2) for name, number in ends]


@pytest.fixture
def asked(wages, rewritten):
    """A function that adds a statistic with its columns, or frames, to a release by sex."""

    def ask(statistic=None, columns=(), **parts):
        document = wages.document
        statistics = [*document["statistics"], *([statistic] if statistic else [])]
        return render(rewritten(wages, statistics=statistics, columns=[*document["columns"], *columns], **parts))

    return ask


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("share", "Share of wage"),
        ("variance", "Variance of wage"),
        ("std", "Standard deviation of wage"),
        ("median", "Median of wage"),
    ],
)
def test_every_statistic_of_one_number_has_one_table(asked, read, kind, title):
    statistic = {"statistic": kind, "column": "wage", "name": "s", "view": "clipped"}
    shown = read(asked(statistic, triplet("s", 0.5, 0.125))).table(title)
    assert shown.cells(3) == [("F", "0.50", "0.37 – 0.63"), ("M", "0.50", "0.37 – 0.63")]
    assert "clipped" in shown.caption


@pytest.mark.parametrize(
    ("at", "parts"),
    [(["0.25", "0.5"], ["25", "50"]), (["0.125"], ["12.5"]), (["0"], ["0"]), (["1", "0.999"], ["100", "99.9"])],
)
def test_quantiles_have_a_table_for_each_order(asked, read, at, parts):
    statistic = {"statistic": "quantiles", "column": "wage", "name": "q", "at": at, "nulls": "refuse", "view": "unbiased"}
    columns = [column for part in parts for column in triplet(f"q_p{part}", 1000 + int(float(part)), 20)]
    page = read(asked(statistic, columns))
    for part in parts:
        table = page.table(f"q_p{part} ")
        assert f"{part} % quantile of wage" in table.caption
        value = 1000 + int(float(part))
        assert table.cells(3) == [(sex, f"{value:,}", f"{value - 20:,} – {value + 20:,}") for sex in ("F", "M")]
    assert len([table for table in page.tables if "quantile" in table.caption]) == len(parts)


def test_an_unknown_kind_is_shown_by_its_columns(asked, read):
    statistic = {"statistic": "<i>gini</i>", "column": ["wage", "age"], "name": "g"}
    texts = [column_json("g_note", ["<b>x</b>", None]), column_json("g_note_low", [None, None])]
    page = read(asked(statistic, [*triplet("g_first", 7, 1), *texts]))
    assert page.table("g_first").cells(3) == [("F", "7", "6 – 8"), ("M", "7", "6 – 8")]
    assert page.table("g_note ").cells(3) == [("F", "<b>x</b>", "–"), ("M", "–", "–")]
    assert "i" not in page.tags


def test_an_unknown_kind_without_columns_is_only_named(asked, read, wages):
    before = len(read(render(wages)).tables)
    html = asked({"statistic": "trend", "name": "t"})
    assert "the trend of rows" in html
    assert len(read(html).tables) == before


@pytest.mark.parametrize(
    "statistic",
    [
        {"statistic": "median", "column": "wage", "name": "m"},
        {"statistic": "quantiles", "column": "wage", "name": "q", "at": ["0.25", "0.5"]},
        {"statistic": "quantiles", "column": "wage", "name": "q", "at": ["a quarter"]},
    ],
)
def test_a_known_kind_without_its_columns_is_refused(asked, statistic):
    with pytest.raises(ArgumentError, match="lacks a part"):
        asked(statistic, triplet("q_p25", 1, 1))


def test_further_frames_are_tables_of_their_own(asked, read):
    html = asked(frames=[{"name": "histogram_age", "columns": [BINS, *COUNTS]}])
    table = read(html).table("histogram_age")
    assert table.headings[:3] == ("age", "value", "interval")
    assert table.cells(3) == [("[0, 18)", "5", "2 – 8"), ("[18, 65)", "−1", "0 – 2"), ("not known", "2", "0 – 5")]
    assert "Further tables: histogram_age." in html


def test_a_frame_of_a_statistic_has_its_title_and_says_whether_it_adds_up(asked, read):
    statistic = {"statistic": "histogram", "column": "age", "name": "histogram_age", "view": "unbiased"}
    told = {**statistic, "totals": "add up to the published ones"}
    html = asked(told, frames=[{"name": "histogram_age", "columns": [BINS, *COUNTS]}])
    assert len(read(html).table("Histogram of age").rows) == 4
    assert "These counts add up to the exact totals" in html
    assert "Further tables" not in html


def test_frames_of_several_numbers_or_without_intervals_are_shown(asked, read):
    several = {"name": "both", "columns": [BINS, *COUNTS, *[{**one, "name": f"other_{one['name']}"} for one in COUNTS]]}
    plain = {"name": "<plain>", "columns": [column_json("a", ["x", "y"]), column_json("b", [1.5, 2.5])]}
    page = read(asked(frames=[several, plain, {"name": "none", "columns": []}]))
    assert [table.headings[:2] for table in page.tables if "both" in table.caption] == [("age", "value")] * 2
    assert page.table("<plain>").cells(3) == [("x", "1.5", "–"), ("y", "2.5", "–")]


def test_bars_of_frames_lie_within_their_table(asked):
    html = asked(frames=[{"name": "h", "columns": [BINS, *COUNTS]}])
    assert html.count("<svg") == 6 + 3


def test_long_frames_are_cut_like_other_tables(asked, monkeypatch):
    from discreet.pages.report import tables

    monkeypatch.setattr(tables, "MOST_ROWS", 2)
    assert "1 more groups are in the files next to this page" in asked(frames=[{"name": "h", "columns": [BINS, *COUNTS]}])
