from __future__ import annotations

import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.pages.report import words
from discreet.pages.words import english

ENGLISH = english()


@pytest.mark.parametrize(
    ("statistic", "shown"),
    [
        ({"statistic": "count", "column": None}, "Number of rows"),
        ({"statistic": "count", "column": "age"}, "Number of rows where age is known"),
        ({"statistic": "mean", "column": "wage", "nulls": "skip"}, "Mean of wage, where it is known"),
        ({"statistic": "std", "column": "wage", "nulls": "refuse"}, "Standard deviation of wage"),
        ({"statistic": "share", "column": None}, "Share of rows"),
        ({"statistic": "quantiles", "column": "wage"}, "Quantiles of wage"),
        ({"statistic": "gini\u200b", "column": "wage"}, "Gini⟨U+200B⟩ of wage"),
        ({"statistic": "mode"}, "Mode of rows"),
    ],
)
def test_every_kind_of_statistic_has_a_title(statistic, shown):
    assert words.title_words(statistic) == shown


def test_one_of_several_numbers_of_a_statistic_says_which_it_is():
    assert words.title_words({"statistic": "quantiles", "column": "wage"}, "25 % quantile") == "25 % quantile of wage"


def test_a_reader_learns_whether_intervals_hold_together():
    said = {"level": "0.95", "covers": "the value of the table; noise only"}
    alone = "With a probability of at least 95\u00a0%, each interval contains the value of the table; noise only."
    assert words.covered_words(said, ENGLISH).startswith(alone)
    assert words.covered_words({**said, "hold": "each"}, ENGLISH) == words.covered_words(said, ENGLISH), (
        "releases from before say nothing"
    )
    assert words.covered_words({**said, "hold": "simultaneous"}, ENGLISH).startswith(
        "With a probability of at least 95\u00a0%, all intervals of this release together contain"
    )


def test_groups_that_are_not_printed_are_those_in_which_any_column_is_not_known():
    schema = dp.Schema({"sex": dp.Category(["f", "m"], required=True), "old": dp.Category(["y"], required=True)})
    session = session_over(pl.DataFrame({"sex": ["f", "m"] * 50, "old": ["y"] * 100}), schema)
    release = session.release(session.table.group_by("sex", "old").agg(dp.count()), name="r")
    assert "Groups in which sex or old is not known are not printed" in words.what_words(
        release.document, release.about, english()
    )


def test_only_groups_of_the_release_are_said_to_be_left_out():
    schema = dp.Schema(k=dp.Category(["x", "y"], required=True), other=dp.Category(["u", "v"], required=True))
    with session_over(pl.DataFrame({"k": ["x", "y"], "other": ["u", "v"]}), schema) as session:
        release = session.release(session.table.group_by("k").agg(dp.count()), name="r")
    said = words.what_words(release.document, dp.About(), ENGLISH)
    assert "Groups in which k is not known are not printed" in said
    assert "other" not in said
