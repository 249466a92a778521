from __future__ import annotations

import datetime as dt

import pytest

import discreet as dp
from discreet.domain.declared_words import column_words, list_names, step_words


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (dp.Number(-50, 1500, step="0.5"), "numbers from −50 to 1,500 in steps of 0.5"),
        (dp.Date(dt.date(2024, 2, 29), "2025-12-31"), "dates from 2024-02-29 to 2025-12-31"),
        (dp.Category(["F"]), "1 category: “F”"),
        (dp.Category([True, False]), "2 categories: “true” and “false”"),
        (dp.Category(range(15)), f"15 categories: {', '.join(f'“{k}”' for k in range(12))} and 3 more"),
    ],
)
def test_a_column_is_its_declared_domain(column, shown):
    assert column_words(column.to_json()) == shown


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
    assert step_words(step) == shown.replace("REPLACED", "a value that is not known is replaced")


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
    assert shown in step_words({"step": "resize", "rows": 1000, "proportion": proportion})


def test_an_unknown_step_is_refused():
    with pytest.raises(ValueError, match="shuffle"):
        step_words({"step": "shuffle", "column": "a", "categories": []})


def test_long_lists_are_cut():
    assert list_names(["a"]) == "a"
    assert list_names(["a", "b", "c"]) == "a, b and c"
    assert list_names([str(i) for i in range(51)]).endswith("11 and 39 more")
