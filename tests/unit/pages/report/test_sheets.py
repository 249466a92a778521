"""Cross tables with the subtotals that a release has, key numbers, and the order in which a reader meets them."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.pages.report import cross, render

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(
    region=dp.Category(["N", "S", "E"], required=True),
    sex=dp.Category(["f", "m"], required=True),
    age=dp.Category(["young", "old"], required=True),
)
ROWS = {"region": ["N", "S", "E"] * 40, "sex": ["f", "m"] * 60, "age": ["young"] * 60 + ["old"] * 60}


@pytest.fixture(scope="module")
def three(released):
    return released(
        SCHEMA,
        ROWS,
        lambda t: t.group_by("region", "sex", "age").agg(dp.count()),
        budget=dp.ZCDP(1),
        invariants=dp.Totals("region", "sex") + dp.Totals("age"),
    )


@pytest.fixture(scope="module")
def margins(released):
    return released(
        SCHEMA,
        ROWS,
        lambda t: t.agg(dp.tables(["sex"], ["region"], ["region", "sex"])),
        budget=dp.ZCDP(1),
        neighbours=dp.ReplaceOne(rows=120),
    )


def crossed(release, read, words=""):
    (found,) = [one for one in read(render(release)).tables if one.headings[-1] == "total" and words in one.caption]
    return [[cell.strip() for cell in row] for row in found.rows]


def test_a_cross_table_has_every_value_at_its_place_and_exact_subtotals(three, read):
    heads, columns, *rows, foot = crossed(three, read)
    assert heads == ["region", "sex", "age", "total"]
    assert columns == ["young", "old"]
    frame = three.table
    shown = [row[-3:] for row in rows]
    values = frame["count"].to_list()
    for place, (young, old, total) in enumerate(shown):
        for cell, value in ((young, values[2 * place]), (old, values[2 * place + 1])):
            assert cell.startswith(f"{value:,}".replace("-", "−"))
        assert total == "20"
    assert [row[0] for row in rows if len(row) == 5] == ["N", "S", "E"], "a label stands once, for all its rows"
    assert foot == ["total", "60", "60", ""]


def test_the_tables_of_one_statistic_are_subtotals_of_each_other(margins, read):
    _, columns, *rows, foot = crossed(margins, read, "Number of rows by region × sex")
    assert columns == ["f", "m"]
    tables = margins.tables
    by_region = dict(zip(*(tables["tables_region"][key].to_list() for key in ("region", "count")), strict=True))
    assert {row[0]: float(row[-1]) for row in rows} == pytest.approx(by_region, abs=0.051)
    assert list(map(float, foot[1:3])) == pytest.approx(tables["tables_sex"]["count"].to_list(), abs=0.051)
    assert "the cells need not add up to them" in render(margins)


def test_a_number_without_subtotals_gets_none(released, read):
    release = released(SCHEMA, ROWS, lambda t: t.group_by("sex", "age").agg(dp.count()))
    html = render(release)
    assert "class=total" not in html
    assert "at the edges" not in html


AGES = dp.Schema(
    sex=dp.Category(["f", "m"], required=True),
    region=dp.Category(["N", "S"], required=True),
    age=dp.Number(0, 99, required=True),
)
AGED = {"sex": ["f", "m"] * 60, "region": ["N", "N", "S"] * 40, "age": [*range(60)] * 2}


def aged(released, ask):
    exact = dp.Totals("sex") + dp.Totals("region")
    return render(released(AGES, AGED, ask, budget=dp.ZCDP(1), invariants=exact))


def test_exact_totals_of_all_rows_are_no_subtotals_of_counts_of_some(released):
    html = aged(released, lambda t: t.where({"age": (0, 9)}).group_by("sex", "region").agg(dp.count()))
    assert '<table class="cross">' in html
    assert "class=total" not in html


def test_exact_totals_are_no_subtotals_over_bins_that_leave_rows_out(released):
    for edges in ([0, 20, 40], [10, 50, 99]):
        html = aged(released, lambda t, edges=edges: t.group_by("sex", dp.bins("age", edges)).agg(dp.count()))
        assert '<table class="cross">' in html
        assert "class=total" not in html
    assert "class=total" in aged(released, lambda t: t.group_by("sex", dp.bins("age", [0, 50, 99])).agg(dp.count()))


def test_a_table_with_other_bins_has_no_subtotals(released):
    ages, fine = dp.bins("age", [0, 20, 40, 99]), dp.bins("age", [0, 50, 99])
    for own, shown in ((fine, True), (ages, False)):
        asked = dp.tables([own], ["sex", fine])
        html = render(released(AGES, AGED, lambda t, asked=asked: t.agg(asked), neighbours=dp.ReplaceOne(rows=120)))
        assert '<table class="cross">' in html
        assert ("class=total" in html) is shown


def test_too_many_columns_or_cells_stay_a_list(released, monkeypatch):
    release = released(SCHEMA, ROWS, lambda t: t.group_by("sex", "age").agg(dp.count()))
    assert '<table class="cross">' in render(release)
    monkeypatch.setattr(cross, "MOST_ACROSS", 1)
    assert '<table class="cross">' not in render(release)


def test_the_shorter_group_stands_across():
    assert cross._across([3, 20], 60) == 0
    assert cross._across([3, 12], 36) == 1
    assert cross._across([20, 20], 400) is None
    assert cross._across([3, 4], 11) is None, "a combination is missing"
    assert cross._across([5], 5) is None


def test_key_numbers_the_attacker_and_the_contents_come_before_the_numbers(three):
    html = render(three)
    order = ["<h1>", 'class="keys-first"', "accepts a false alarm in 5\u00a0%", 'id="contents"', 'id="numbers"', 'id="made"']
    places = [html.index(part) for part in order]
    assert places == sorted(places)
    assert "<dt>rows in the data set, public</dt><dd>120" in html
    assert "<dt>groups</dt><dd>12" in html
    assert html.index("accepts a false alarm") < html.index('<blockquote class="promise">')
    assert html[: html.index('<blockquote class="promise">')].rstrip().endswith("</summary>"), "its details are folded"


def test_few_numbers_are_key_numbers_themselves(released):
    release = released(dp.Schema(age=dp.Number(0, 9)), {"age": [1]}, lambda t: t.agg(dp.count("age")))
    value = f"{release.table['count_age'][0]:,}".replace("-", "−")
    assert f"<dt>Number of rows where age is known</dt><dd>{value}<small>" in render(release)


def test_classes_have_colours_and_letters(released):
    frame = {"sex": ["f", "m"] * 60, "age": ["young"] * 120, "region": ["N"] * 120}
    release = released(SCHEMA, frame, lambda t: t.group_by("sex", "age").agg(dp.count()), quality=dp.Quality())
    html = render(release)
    assert '<td class="class-c">' in html
    assert "<abbr>c</abbr>" in html
