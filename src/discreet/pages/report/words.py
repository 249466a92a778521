"""The facts of a release document in plain sentences. Text only; the template escapes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.domain.about import About
from discreet.domain.declared_words import list_names
from discreet.domain.neighbours import neighbours_of
from discreet.exact.figures import name, number
from discreet.exact.numbers import exact, text
from discreet.plan.recorded import PREPARED
from discreet.releases.labelled import apply_words, title_of
from discreet.statistics.common import title
from discreet.statistics.registry import by_word

__all__ = [
    "capital",
    "covered_words",
    "drawn_words",
    "kept_words",
    "people_words",
    "title_words",
    "what_words",
]


def capital(sentence: str) -> str:
    """The text with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def covered_words(interval: Mapping[str, Any]) -> str:
    """The values that the intervals contain, with which probability, and whether each of them or all together."""
    level = f"{text(100 * exact(interval['level'], 'level'))}\u00a0%"
    covers = name(interval["covers"])
    if interval.get("hold") == "simultaneous":
        return f"All intervals of this release together contain with a probability of at least {level}: {covers}."
    return f"Each interval contains with a probability of at least {level}: {covers}. Among many intervals, some will miss."


def title_words(statistic: Mapping[str, Any], part: str = "") -> str:
    """The title of one statistic, "Mean of income"; with a `part`, of one of its numbers, "25 % quantile of income"."""
    word = str(statistic["statistic"])
    kind = by_word().get(word)
    recorded = statistic.get("covers", PREPARED) != PREPARED and (statistic.get("column") or statistic.get("columns"))
    shown = {**statistic, "nulls": None} if recorded else statistic  # what is recorded is known
    said = title(part or capital(name(word)), shown) if kind is None else kind.title(shown, part)
    return f"{said} as recorded" if recorded else said


def what_words(document: Mapping[str, Any], about: About) -> str:
    """The published statistics, groups and further tables."""
    titles = [title_words(apply_words(statistic, about)) for statistic in document["statistics"]]
    shown = list_names([f"the {title[0].lower()}{title[1:]}" for title in titles])
    asked = {statistic["name"] for statistic in document["statistics"]}
    further = [name(frame["name"]) for frame in document.get("frames", ()) if frame["name"] not in asked]
    besides = f" Further tables: {list_names(further)}." if further else ""
    return f"{capital(shown)}{_groups_words(document, about)}.{besides}{_tell_hidden(document['plan'], about)}"


def _tell_hidden(plan: Mapping[str, Any], about: About) -> str:
    """A sentence on the groups that are not printed."""
    tabled = [group for one in plan["statistics"] for grouping in one.get("tables", ()) for group in grouping]
    grouped = {group["column"] for group in (*plan["group_by"], *tabled)}
    required = [column["name"] for column in plan["schema"] if column.get("required") and column["name"] in grouped]
    dropped = [title_of(about, column) for column in dict.fromkeys([*plan.get("nulls_dropped", ()), *required])]
    if not dropped:
        return ""
    shown = list_names(dropped, "or")
    return f" Groups in which {shown} is not known are not printed; exact totals and shares count their rows."


def _groups_words(document: Mapping[str, Any], about: About) -> str:
    """For how many groups of what."""
    groups = document["plan"]["group_by"]
    if not groups:
        return ", of the whole table"
    cells = document["table"]["rows"] if "table" in document else len(document["columns"][0]["values"])
    ways = " × ".join(title_of(about, group["column"]) for group in groups)
    return f", in each of {number(cells)} groups ({ways})"


def kept_words(statistic: Mapping[str, Any]) -> str:
    """A sentence on whether counts add up to the exact totals; empty for other statistics, or without totals."""
    told = statistic.get("totals")
    sentences = {
        "add up to the published ones": "These counts add up to the exact totals: the noise leaves every total as it is.",
        "add up to the published ones with those that are not printed": (
            "These counts and those that are not printed add up to the exact totals: the noise leaves every total as it is."
        ),
        "do not match the published ones": "These counts do not add up to the exact totals: each count has its own noise.",
        "are the published ones": "These counts follow from the exact totals: they are exact and unprotected.",
    }
    return "" if told is None else sentences.get(told, f"Totals: {name(told)}.")


def drawn_words(statistic: Mapping[str, Any]) -> str:
    """A sentence on what the interval of a number of the population rests on."""
    return f"For the population, {name(statistic.get('population', ''))}. The interval is approximate."


def people_words(document: Mapping[str, Any]) -> str:
    """The persons in the data set, and whether their number is public."""
    neighbours = neighbours_of(document["plan"]["neighbours"])
    most = neighbours.rows_per_person
    rows = "one row" if most == 1 else f"up to {number(most)} rows"
    whose = f"The persons in the data set “{name(document['dataset'])}”"
    return f"{whose}. Each person has {rows} in it. {neighbours.size_words()}."
