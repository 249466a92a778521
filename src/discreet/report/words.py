"""What a release document says, in plain sentences. Text only; the template escapes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, exp
from typing import Any

from discreet.exact import decimal_up, text
from discreet.privacy import ApproxDP, PureDP
from discreet.privacy.coordinates import Budget
from discreet.release import Guarantee
from discreet.report.figures import name, number, percent_up

__all__ = [
    "calibration_words",
    "column_words",
    "comparison_words",
    "detection_words",
    "epsilon_words",
    "listed",
    "people_words",
    "row_words",
    "step_words",
    "title_words",
    "what_words",
]

_MOST_LISTED = 12
_FALSE_ALARMS = Fraction(1, 20)


def listed(names: Sequence[str]) -> str:
    """The names as an enumeration: "a, b and c"; a long one ends in a number."""
    if len(names) > _MOST_LISTED:
        return f"{', '.join(names[:_MOST_LISTED])} and {len(names) - _MOST_LISTED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def title_words(statistic: Mapping[str, Any]) -> str:
    """What one statistic is: "Mean of income"."""
    column = None if statistic["column"] is None else name(statistic["column"])
    kind = str(statistic["statistic"])
    if kind == "count":
        return "Number of rows" if column is None else f"Number of rows where {column} is known"
    skipped = ", where it is known" if statistic.get("nulls") == "skip" else ""
    return f"{name(kind).capitalize()} of {column}{skipped}"


def what_words(document: Mapping[str, Any]) -> str:
    """What was published: the statistics and the groups."""
    titles = [title_words(statistic) for statistic in document["statistics"]]
    shown = listed([f"the {title[0].lower()}{title[1:]}" for title in titles])
    return f"{shown[0].upper()}{shown[1:]}{_groups_words(document['plan'])}."


def _groups_words(plan: Mapping[str, Any]) -> str:
    """For how many groups of what."""
    groups = plan["group_by"]
    if not groups:
        return ", of the whole table"
    cells = 1
    for group in groups:
        cells *= len(group["labels"])
    ways = " × ".join(name(group["column"]) for group in groups)
    return f", in each of {number(cells)} groups ({ways})"


def people_words(document: Mapping[str, Any]) -> str:
    """About whom, and whether their number is public."""
    neighbours = document["plan"]["neighbours"]
    most = neighbours["rows_per_person"]
    rows = "one row" if most == 1 else f"up to {number(most)} rows"
    if neighbours["relation"] == "replace-one":
        size = f"It has {number(neighbours['rows'])} rows, which is public and not protected"
    else:
        size = "How many rows it has is confidential and protected"
    return f"The persons in the data set “{name(document['dataset'])}”. Each of them has {rows} in it. {size}."


def comparison_words(guarantee: Guarantee) -> str:
    """Who is compared with whom."""
    if guarantee.relation == "replace-one":
        return "Compare this publication with one in which any one person's data had been replaced by anything else."
    return "Compare this publication with one in which any one person's data had been left out, or one person's added."


def detection_words(guarantee: Guarantee) -> str:
    """The guarantee as a bound on an attacker's success."""
    question = (
        "which of two records one person has"
        if guarantee.relation == "replace-one"
        else "whether one person's data are there at all"
    )
    return (
        f"Somebody who knows the data of all others and wants to find out {question}, and accepts a false alarm in "
        f"{percent_up(_FALSE_ALARMS)} of cases, succeeds in at most {percent_up(_power(guarantee))}; "
        f"by mere guessing it would be {percent_up(_FALSE_ALARMS)}."
    )


def _power(guarantee: Guarantee) -> float:
    """An upper bound of the power of any test of level 5 % against one person's data.

    For every (ε, δ) that holds, power ≤ min(e^ε·α + δ, 1 − e^−ε·(1 − δ − α)); the least over a few of them is taken and
    rounded up by more than the doubles can be off.
    """
    return min(1.0, min(_power_at(*pair) for pair in _pairs(guarantee.effective)) * (1 + 1e-9))


def _pairs(measure: Budget) -> list[tuple[float, float]]:
    if isinstance(measure, PureDP):
        return [(float(measure.epsilon), 0.0)]
    if isinstance(measure, ApproxDP):
        return [(float(measure.epsilon), float(measure.delta))]
    largest = max(1, ceil(measure.epsilon_at("1e-9")))
    grid = [Fraction(k * min(largest, 50), 100) for k in range(101)]
    return [(float(epsilon), measure.delta_at(epsilon)) for epsilon in grid]


def _power_at(epsilon: float, delta: float) -> float:
    if epsilon > 50:
        return 1.0
    alarms = float(_FALSE_ALARMS)
    return min(exp(epsilon) * alarms + delta, 1 - exp(-epsilon) * (1 - delta - alarms))


def step_words(step: Mapping[str, Any]) -> str:
    """One step in a sentence."""
    if step["step"] == "resize":
        return _resize_words(step)
    column = name(step["column"])
    if step["step"] == "impute":
        return f"{column}: where it is not known, {_law_words(step)} takes its place, whatever the other data are."
    between = f"from {_shown(step['lower'])} to {_shown(step['upper'])}" if "lower" in step else None
    kept = None if between else listed([f"“{name(value)}”" for value in step["categories"]])
    if step["step"] == "clamp" and between:
        return f"{column}: values are moved into the range {between}; what is not known stays so."
    if step["step"] == "clamp":
        return f"{column}: only {kept} are kept; everything else counts as not known."
    if step["step"] == "where":
        return f"Only rows with {column} {between or f'equal to {kept}'} count; all others contribute nothing."
    raise ValueError(step["step"])


def _law_words(step: Mapping[str, Any]) -> str:
    if step["distribution"] == "weights":
        total = sum(Fraction(weight) for _, weight in step["weights"])
        shares = [(value, Fraction(weight) / total) for value, weight in step["weights"]]
        return "one of " + listed([f"“{name(value)}” ({number(float(100 * share), 1)} %)" for value, share in shares])
    within = " within the bounds of the column"
    if "lower" in step and "upper" in step:
        low, high = _shown(step["lower"]), _shown(step["upper"])
        if low == high:
            return f"the number {low}"
        within = f" between {low} and {high}"
    if step["distribution"] == "uniform":
        return f"a uniform random number{within}"
    return f"a normal random number (mean {_shown(step['mean'])}, standard deviation {_shown(step['sd'])}) moved{within}"


def _resize_words(step: Mapping[str, Any]) -> str:
    rows, proportion = number(step["rows"]), Fraction(step["proportion"])
    copies = ceil(proportion)
    pool = "the records" if copies == 1 else f"{copies} copies of each record"
    taken = f"all of {pool} are" if proportion == copies else f"a random share {text(proportion / copies)} of {pool} is"
    return (
        f"The table is brought to exactly {rows} rows: {taken} taken; where that is more than {rows}, a random selection "
        "of them stays, and where it is less, the rest are made-up rows, drawn like values that are not known."
    )


def column_words(column: Mapping[str, Any]) -> str:
    """What the schema declares of a column."""
    if column["type"] == "category":
        return listed([f"“{name(value)}”" for value in column["categories"]])
    if column["type"] == "date":
        return f"days from {name(column['first'])} to {name(column['last'])}"
    return f"numbers from {_shown(column['lower'])} to {_shown(column['upper'])} in steps of {_shown(column['step'])}"


def row_words(moved: int, steps: Sequence[Mapping[str, Any]]) -> str:
    """How the guarantee of the publication becomes one for a single row of the table that is asked."""
    if any(step["step"] == "resize" for step in steps):
        return (
            "The guarantee of the whole publication becomes one for a single row of the resized table by the functional "
            "parameters of the resize (Theorems R1 to R3), which follow from its rows and proportion; one person can move "
            f"at most {number(moved)} of its rows."
        )
    if moved > 1:
        return (
            f"The guarantee of the whole publication is shared by group privacy among the {number(moved)} rows of a person."
        )
    return "Start from the guarantee of the whole publication."


def calibration_words(measured: Mapping[str, str]) -> str:
    """How the scale of a noise follows from sensitivity and guarantee."""
    if measured["noise"] == "discrete Laplace":
        return "scale = Δ₁ / ε"
    return "σ² = Δ₂² / (2ρ)" if '"zcdp"' in measured["guarantee"] else "σ² = Δ₂² / μ²"


def _shown(written: str) -> str:
    """An exact number with its thousands separated: "−150,000.5"; other exact texts, such as 1/3 or a date, as they are."""
    sign, digits = ("−", written[1:]) if written.startswith("-") else ("", written)
    whole, dot, part = digits.partition(".")
    return f"{sign}{int(whole):,}{dot}{name(part)}" if whole.isdecimal() and "/" not in part else name(written)


def epsilon_words(guarantee: Guarantee) -> str:
    """(ε, δ), both rounded up."""
    return f"(ε = {decimal_up(guarantee.epsilon, 4)}, δ = {decimal_up(guarantee.report_delta)})"
