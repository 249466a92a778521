from __future__ import annotations

import pytest

from discreet.pages.report import words


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (
            {"step": "clamp", "column": "wage", "lower": "-10.5", "upper": "150000"},
            "wage: values are moved into the range from −10.5 to 150,000; values that are not known stay so.",
        ),
        (
            {"step": "clamp", "column": "sex", "categories": ["F", "M"]},
            "sex: only “F” and “M” are kept; everything else counts as not known.",
        ),
        (
            {"step": "impute", "column": "h", "distribution": "uniform", "lower": "0", "upper": "0"},
            "h: REPLACED by the number 0, whatever the other data are.",
        ),
        (
            {"step": "impute", "column": "h", "distribution": "uniform"},
            "h: REPLACED by a uniform random number within the bounds of the column, whatever the other data are.",
        ),
        (
            {
                "step": "impute",
                "column": "h",
                "distribution": "normal",
                "mean": "40",
                "sd": "1/3",
                "lower": "0",
                "upper": "9",
            },
            (
                "h: REPLACED by a normal random number (mean 40, standard deviation 1/3) moved between 0 and 9, "
                "whatever the other data are."
            ),
        ),
        (
            {"step": "impute", "column": "b", "distribution": "weights", "weights": [[True, "1"], [False, "2"]]},
            "b: REPLACED by one of “true” (33.3 %) and “false” (66.7 %), whatever the other data are.",
        ),
        (
            {"step": "where", "column": "age", "lower": "18", "upper": "65"},
            "Only rows with age from 18 to 65 count; all others contribute nothing.",
        ),
        (
            {"step": "where", "column": "sex", "categories": ["F"]},
            "Only rows with sex equal to “F” count; all others contribute nothing.",
        ),
        (
            {"step": "clamp", "column": "day", "lower": "2025-01-01", "upper": "2025-12-31"},
            "day: values are moved into the range from 2025-01-01 to 2025-12-31; values that are not known stay so.",
        ),
    ],
)
def test_steps_are_sentences(step, shown):
    assert words.step_words(step) == shown.replace("REPLACED", "a value that is not known is replaced")


@pytest.mark.parametrize(
    ("proportion", "shown"),
    [
        ("1", "all of the records are taken"),
        ("0.75", "a random share 0.75 of the records is taken"),
        ("1.5", "a random share 0.75 of 2 copies of each record is taken"),
        ("3", "all of 3 copies of each record are taken"),
    ],
)
def test_a_resize_says_what_is_taken(proportion, shown):
    assert shown in words.step_words({"step": "resize", "rows": 1000, "proportion": proportion})


def test_an_unknown_step_is_refused():
    with pytest.raises(ValueError, match="shuffle"):
        words.step_words({"step": "shuffle", "column": "a", "categories": []})


def test_long_lists_are_cut():
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert words.listed([str(i) for i in range(51)]).endswith("11 and 39 more")


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
    alone = "Each interval contains with a probability of at least 95\u00a0%: the value of the table; noise only."
    assert words.covered_words(said).startswith(alone)
    assert words.covered_words({**said, "hold": "each"}) == words.covered_words(said), "releases from before say nothing"
    assert words.covered_words({**said, "hold": "simultaneous"}).startswith("All intervals of this release together contain")
