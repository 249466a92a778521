"""What a release document says, in plain sentences. Text only; the template escapes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from discreet.domain.neighbours import neighbours_of
from discreet.exact.figures import enumerated, name, number
from discreet.exact.numbers import exact, text
from discreet.statistics.common import title
from discreet.statistics.registry import by_word

__all__ = [
    "capital",
    "column_words",
    "covered_words",
    "kept_words",
    "listed",
    "people_words",
    "step_words",
    "title_words",
    "what_words",
]

_MOST_LISTED = 12


def listed(names: Sequence[str]) -> str:
    """The names as an enumeration: "a, b and c"; a long one ends in a number."""
    if len(names) > _MOST_LISTED:
        return f"{', '.join(names[:_MOST_LISTED])} and {len(names) - _MOST_LISTED} more"
    return enumerated(names)


def capital(sentence: str) -> str:
    """The text with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def covered_words(interval: Mapping[str, Any]) -> str:
    """What the intervals hold, how certainly, and whether each of them or all together."""
    level = f"{text(100 * exact(interval['level'], 'level'))}\u00a0%"
    covers = name(interval["covers"])
    if interval.get("hold") == "simultaneous":
        return f"All intervals of this release together contain with a probability of at least {level}: {covers}."
    return f"Each interval contains with a probability of at least {level}: {covers}. Among many intervals, some will miss."


def title_words(statistic: Mapping[str, Any], part: str = "") -> str:
    """What one statistic is: "Mean of income"; with a `part`, which of its numbers: "25 % quantile of income"."""
    word = str(statistic["statistic"])
    kind = by_word().get(word)
    return title(part or capital(name(word)), statistic) if kind is None else kind.title(statistic, part)


def what_words(document: Mapping[str, Any]) -> str:
    """What was published: the statistics, the groups and the tables besides."""
    titles = [title_words(statistic) for statistic in document["statistics"]]
    shown = listed([f"the {title[0].lower()}{title[1:]}" for title in titles])
    asked = {statistic["name"] for statistic in document["statistics"]}
    further = [name(frame["name"]) for frame in document.get("frames", ()) if frame["name"] not in asked]
    besides = f" Further tables: {listed(further)}." if further else ""
    return f"{capital(shown)}{_groups_words(document['plan'])}.{besides}"


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


def kept_words(statistic: Mapping[str, Any]) -> str:
    """Whether the counts of a statistic add up to the exact totals; nothing for other statistics, or without totals."""
    told = statistic.get("totals")
    sentences = {
        "add up to the published ones": "These counts add up to the exact totals: the noise leaves every total as it is.",
        "do not match the published ones": "These counts do not add up to the exact totals: each count has its own noise.",
        "are the published ones": "These counts follow from the exact totals: they are exact and unprotected.",
    }
    return "" if told is None else sentences.get(told, f"Totals: {name(told)}.")


def people_words(document: Mapping[str, Any]) -> str:
    """About whom, and whether their number is public."""
    neighbours = neighbours_of(document["plan"]["neighbours"])
    most = neighbours.rows_per_person
    rows = "one row" if most == 1 else f"up to {number(most)} rows"
    whose = f"The persons in the data set “{name(document['dataset'])}”"
    return f"{whose}. Each person has {rows} in it. {neighbours.size_words()}."


def step_words(step: Mapping[str, Any]) -> str:
    """One step in a sentence."""
    if step["step"] == "resize":
        return _resize_words(step)
    column = name(step["column"])
    if step["step"] == "impute":
        return f"{column}: a value that is not known is replaced by {_law_words(step)}, whatever the other data are."
    between = f"from {_shown(step['lower'])} to {_shown(step['upper'])}" if "lower" in step else None
    kept = None if between else listed([f"“{name(value)}”" for value in step["categories"]])
    if step["step"] == "clamp" and between:
        return f"{column}: values are moved into the range {between}; values that are not known stay so."
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
        f"The table is brought to exactly {rows} rows: {taken} taken. If that is more than {rows}, a random selection of "
        "them is kept. If it is less, the rest are made-up rows, drawn like values that are not known."
    )


def column_words(column: Mapping[str, Any]) -> str:
    """What the schema declares of a column."""
    if column["type"] == "category":
        return listed([f"“{name(value)}”" for value in column["categories"]])
    if column["type"] == "date":
        return f"days from {name(column['first'])} to {name(column['last'])}"
    return f"numbers from {_shown(column['lower'])} to {_shown(column['upper'])} in steps of {_shown(column['step'])}"


def _shown(written: str) -> str:
    """An exact number with its thousands separated: "−150,000.5"; other exact texts, such as 1/3 or a date, as they are."""
    sign, digits = ("−", written[1:]) if written.startswith("-") else ("", written)
    whole, dot, part = digits.partition(".")
    return f"{sign}{int(whole):,}{dot}{name(part)}" if whole.isdecimal() and "/" not in part else name(written)
