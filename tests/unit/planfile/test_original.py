"""`original` and `prepared` of a release in a plan file, and what a release of it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.pages.report import render
from discreet.pages.report.words import title_words

from .plans import load, refused

pytestmark = pytest.mark.usefixtures("one_artist")

PLAN = plan_text("original")


def original(plan: str, keys: str) -> str:
    return plan + keys + "\n"


def test_the_word_is_read(tmp_path: Path) -> None:
    both = load(tmp_path, original(PLAN, 'original = "recorded"')).orders[0].request
    alone = load(tmp_path, original(PLAN, 'original = "recorded"\nprepared = false')).orders[0].request
    asked = load(tmp_path, PLAN).orders[0].request
    assert both == asked.original()
    assert alone == asked.original(prepared=False)
    assert [one.name for one in alone.answered] == ["count_original", "mean_v_original", "histogram_v_original"]


def test_any_answer_is_read_and_drops_the_groups_of_nulls(tmp_path: Path) -> None:
    both = load(tmp_path, original(PLAN, 'original = "anywhere"')).orders[0].request
    asked = load(tmp_path, PLAN).orders[0].request
    assert both == asked.original("anywhere")
    assert both.dropped == ("g", "v")
    assert both.digest != asked.original().digest


@pytest.mark.parametrize(
    ("keys", "place", "words"),
    [
        ('original = "anywhere"\nwhere = { g = ["x"] }', "original", "group by it"),
        ('original = "any"', "original", '"recorded" or "anywhere"'),
        ('original = "record"', "original", "did you mean 'recorded'"),
        ("prepared = false", "prepared", "belongs to original"),
        ('original = "recorded"\nprepared = "no"', "prepared", "true or false"),
        ('original = "recorded"\nwhere = { v = [0, 5] }', "original", "do not have the same groups"),
    ],
)
def test_what_is_wrong_has_its_place(tmp_path: Path, keys: str, place: str, words: str) -> None:
    found = refused(tmp_path, original(PLAN, keys))
    assert place in found.place
    assert words in str(found)


def released(tmp_path: Path, keys: str) -> dp.Release:
    values = [f"{'xy'[row % 2]},{'' if row % 5 == 0 else row}" for row in range(60)]
    (tmp_path / "d.csv").write_text("g,v\n" + "\n".join(values) + "\n")
    plan = load(tmp_path, original(PLAN, keys))
    with dp.Session(
        plan.source,
        schema=plan.schema,
        neighbours=plan.neighbours,
        budget=dp.ZCDP(500),  # hardly any noise: what is asserted of the numbers holds by far
        ledger=plan.ledger,
        dataset=plan.dataset,
    ) as session:
        return session.release(plan.orders[0].request, spend=500, name="r")


def test_each_statistic_of_a_document_says_which_table_it_covers(tmp_path: Path) -> None:
    document = released(tmp_path, 'original = "recorded"').document
    covers = {one["name"]: one["covers"] for one in document["statistics"]}
    assert covers == {
        "count": "recorded",
        "mean_v": "prepared",
        "histogram_v": "prepared",
        "mean_v_original": "recorded",
        "histogram_v_original": "recorded",
    }
    assert {one["column"] for one in document["statistics"]} == {None, "v"}
    assert document["plan"]["original"] == {"nulls": "recorded", "prepared": True}
    assert "or as recorded, before them" in document["interval"]["covers"]
    assert [frame["name"] for frame in document["frames"]] == ["histogram_v", "histogram_v_original"]
    assert document["frames"][1]["columns"][1]["name"] == "v"


def test_a_document_and_its_pages_say_that_an_interval_holds_with_any_answer(tmp_path: Path) -> None:
    release = released(tmp_path, 'original = "anywhere"')
    covers = {one["name"]: one["covers"] for one in release.document["statistics"]}
    assert covers == {
        "count": "prepared",
        "mean_v": "prepared",
        "histogram_v": "prepared",
        "count_original": "anywhere",
        "mean_v_original": "anywhere",
        "histogram_v_original": "anywhere",
    }
    assert release.document["plan"]["original"] == {"nulls": "anywhere", "prepared": True}
    assert "with any answer of those who gave none" in release.document["interval"]["covers"]
    titles = {one["name"]: title_words(one) for one in release.document["statistics"]}
    assert titles["mean_v_original"] == "Mean of v, with any answer of those who gave none"
    assert "Mean of v, with any answer of those who gave none" in render(release)
    page = render(release, language="de")
    assert "Mittelwert von v, mit jeder Antwort derer, die keine gaben" in page
    assert "mit jeder Antwort derer, die keine gaben, in den Grenzen des Schemas" in page
    low, high = release.table["mean_v_original_low"][0], release.table["mean_v_original_high"][0]
    values = [row for row in range(60) if row % 2 == 0]
    known = [row for row in values if row % 5]
    assert low - 10 <= sum(known) / len(values)  # seven standard deviations of the noise: an interval of 95 % need not hold
    assert high + 10 >= (sum(known) + 50 * (len(values) - len(known))) / len(values)


def test_the_numbers_of_both_tables_are_within_what_is_possible_for_each(tmp_path: Path) -> None:
    table = released(tmp_path, 'original = "recorded"').table
    assert table["mean_v"].max() <= 20
    known = [row for row in range(60) if row % 5 and row % 2 == 0]
    (low,), (high,) = ([table[f"mean_v_original_{end}"][0]] for end in ("low", "high"))
    assert low - 5 <= sum(known) / len(known) <= high + 5
    assert table["mean_v_original"][0] > 20


def test_the_pages_name_the_table_as_recorded(tmp_path: Path) -> None:
    release = released(tmp_path, 'original = "recorded"')
    titles = {one["name"]: title_words(one) for one in release.document["statistics"]}
    assert titles["mean_v_original"] == "Mean of v as recorded"
    assert titles["mean_v"] == "Mean of v"
    assert titles["count"] == "Number of rows"
    assert "Mean of v as recorded" in render(release)
    assert "Mittelwert von v wie erfasst" in render(release, language="de")


@pytest.mark.parametrize("keys", ['original = "recorded"', 'original = "recorded"\nprepared = false'])
def test_the_pages_do_not_say_that_no_interval_accounts_for_the_steps(tmp_path: Path, keys: str) -> None:
    page = render(released(tmp_path, keys))
    assert "They do not account for how well these persons represent others." in page
    assert "what the steps below change" not in page


def test_nulls_that_are_dropped_are_dropped_in_both_tables(tmp_path: Path) -> None:
    for frame in released(tmp_path, 'original = "recorded"\nnulls = "drop"').tables.values():
        assert "v" not in frame.columns or frame["v"].null_count() == 0


def test_a_view_and_derived_numbers_take_either_table(tmp_path: Path) -> None:
    release = released(tmp_path, 'original = "recorded"')
    view = dp.consistent(release, "histogram_v_original")
    assert view["count_consistent"].min() >= 0
    change = dp.change(release, release)
    assert change.table.height
    with pytest.raises(dp.DiscreetError):
        dp.combine(dp.numbers(release, "mean_v"), dp.numbers(release, "mean_v_original"))
