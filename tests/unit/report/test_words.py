from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import pytest

import discreet as dp
from discreet.release import Guarantee
from discreet.report import words


def promise(measure, relation="add-remove"):
    delta = measure.delta if isinstance(measure, dp.ApproxDP) else Fraction(1, 10**9)
    return Guarantee(measure, relation, 1, delta, measure.epsilon_at(delta))


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (
            {"step": "clamp", "column": "wage", "lower": "-10.5", "upper": "150000"},
            "wage: values are moved into the range from −10.5 to 150,000; what is not known stays so.",
        ),
        (
            {"step": "clamp", "column": "sex", "categories": ["F", "M"]},
            "sex: only “F” and “M” are kept; everything else counts as not known.",
        ),
        (
            {"step": "impute", "column": "h", "distribution": "uniform", "lower": "0", "upper": "0"},
            "h: where it is not known, the number 0 TAKEN",
        ),
        (
            {"step": "impute", "column": "h", "distribution": "uniform"},
            "h: where it is not known, a uniform random number within the bounds of the column TAKEN",
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
            "h: where it is not known, a normal random number (mean 40, standard deviation 1/3) moved between 0 and 9 TAKEN",
        ),
        (
            {"step": "impute", "column": "b", "distribution": "weights", "weights": [[True, "1"], [False, "2"]]},
            "b: where it is not known, one of “true” (33.3 %) and “false” (66.7 %) TAKEN",
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
            "day: values are moved into the range from 2025-01-01 to 2025-12-31; what is not known stays so.",
        ),
    ],
)
def test_steps_are_sentences(step, shown):
    assert words.step_words(step) == shown.replace("TAKEN", "takes its place, whatever the other data are.")


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


@pytest.mark.parametrize("mu", ["0.1", "0.5", "1", "3"])
def test_the_detection_bound_holds_for_the_gaussian_and_is_tight(mu):
    truth = NormalDist().cdf(NormalDist().inv_cdf(0.05) + float(mu))
    assert truth <= words._power(promise(dp.GDP(mu))) <= truth + 0.03
    assert truth <= words._power(promise(dp.ZCDP(Fraction(mu) ** 2 / 2))) <= truth + 0.15


@pytest.mark.parametrize(
    ("measure", "bound"),
    [
        (dp.PureDP(1), 0.05 * 2.718281828459045),
        (dp.ApproxDP(1, "0.01"), 0.05 * 2.718281828459045 + 0.01),
        (dp.PureDP(5), 1 - 0.95 * 0.006737946999085467),
        (dp.PureDP(100), 1.0),
        (dp.ZCDP(1000), 1.0),
        (dp.PureDP("1e-400"), 0.05),
    ],
)
def test_the_detection_bound_of_randomised_response(measure, bound):
    assert bound <= words._power(promise(measure)) <= bound * (1 + 1e-6)


@pytest.mark.parametrize(
    "measure", [dp.PureDP("1/3"), dp.ApproxDP("1/3", "1e-6"), dp.ZCDP("0.1"), dp.GDP("1/7"), dp.ZCDP("0.0123456789")]
)
def test_no_printed_privacy_loss_is_below_the_truth(measure):
    guarantee = promise(measure)
    printed = str(guarantee).split("(ε = ")[-1].split(" at ")[0].split(")")[0]
    assert Fraction(guarantee.epsilon) <= Fraction(printed) <= Fraction(guarantee.epsilon) * Fraction(1002, 1000)
    assert printed in words.epsilon_words(guarantee)
