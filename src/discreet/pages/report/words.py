"""The facts of a release document in plain sentences. Text only; the template escapes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.domain.about import About
from discreet.domain.neighbours import is_of_persons, neighbours_of
from discreet.exact.figures import name
from discreet.exact.numbers import exact, text
from discreet.pages.words import Words
from discreet.plan.recorded import ANYWHERE, PREPARED
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


def covered_words(interval: Mapping[str, Any], words: Words) -> str:
    """The values that the intervals contain, with which probability, and whether each of them or all together."""
    level = f"{words.figures(text(100 * exact(interval['level'], 'level')))}\u00a0%"
    key = "together" if interval.get("hold") == "simultaneous" else "each"
    return words(f"report.covered.{key}", level=level, covers=words.said(name(interval["covers"])))


def title_words(statistic: Mapping[str, Any], part: str = "") -> str:
    """The title of one statistic, "Mean of income"; with a `part`, of one of its numbers, "25 % quantile of income"."""
    word = str(statistic["statistic"])
    kind = by_word().get(word)
    covers = statistic.get("covers", PREPARED)
    recorded = covers != PREPARED and (covers == ANYWHERE or statistic.get("column") or statistic.get("columns"))
    shown = {**statistic, "nulls": None} if recorded else statistic  # what is recorded is known
    said = title(part or capital(name(word)), shown) if kind is None else kind.title(shown, part)
    if not recorded:
        return said
    return f"{said}, with any answer of those who gave none" if covers == ANYWHERE else f"{said} as recorded"


def what_words(document: Mapping[str, Any], about: About, words: Words) -> str:
    """The published statistics, groups and further tables."""
    titles = [words.said(title_words(apply_words(statistic, about))) for statistic in document["statistics"]]
    asked = {statistic["name"] for statistic in document["statistics"]}
    further = [name(frame["name"]) for frame in document.get("frames", ()) if frame["name"] not in asked]
    derived = [about.statistic(one["name"]).label or name(one["name"]) for one in document.get("derived", ())]
    said = [_groups_words(words.titles(titles), document, about, words)]
    said += [words("report.what.further", names=words.enumerate(further))] if further else []
    said += [words("report.what.derived", names=words.enumerate(derived))] if derived else []
    hidden = _hidden_columns(document, about)
    said += [words("report.what.hidden", names=words.enumerate(hidden, "or"))] if hidden else []
    return " ".join(said)


def _hidden_columns(document: Mapping[str, Any], about: About) -> list[str]:
    """The columns whose groups of nulls are not printed."""
    plan = document["plan"]
    tabled = [group for one in plan["statistics"] for grouping in one.get("tables", ()) for group in grouping]
    grouped = {group["column"] for group in (*plan["group_by"], *tabled)}
    required = [column["name"] for column in plan["schema"] if column.get("required") and column["name"] in grouped]
    return [title_of(about, column) for column in dict.fromkeys([*plan.get("nulls_dropped", ()), *required])]


def _groups_words(titles: str, document: Mapping[str, Any], about: About, words: Words) -> str:
    """What is published, for how many groups of what."""
    groups = document["plan"]["group_by"]
    if not groups:
        return words("report.what.whole", titles=titles)
    cells = document["table"]["rows"] if "table" in document else len(document["columns"][0]["values"])
    ways = " × ".join(title_of(about, group["column"]) for group in groups)
    return words("report.what.groups", titles=titles, n=words.number(cells), ways=ways)


_KEPT = {
    "add up to the published ones": "add_up",
    "add up to the published ones with those that are not printed": "add_up_with_hidden",
    "add up to the published ones, but need not lie in the published ranges": "add_up_not_ranges",
    "add up to the published ones with those that are not printed, but need not lie in the published ranges": (
        "add_up_with_hidden_not_ranges"
    ),
    "do not match the published ones": "differ",
    "are the published ones": "exact",
}
"""For what a document says of counts beside exact totals, the key of the sentence."""


def kept_words(statistic: Mapping[str, Any], words: Words) -> str:
    """A sentence on whether counts add up to the exact totals; empty for other statistics, or without totals."""
    told = statistic.get("totals")
    if told is None:
        return ""
    return words(f"report.kept.{_KEPT[told]}") if told in _KEPT else words("report.kept.other", told=name(told))


def drawn_words(statistic: Mapping[str, Any], words: Words) -> str:
    """A sentence on what the interval of a number of the population rests on."""
    return words("report.kept.drawn", told=words.said(name(statistic.get("population", ""))))


def people_words(document: Mapping[str, Any], words: Words) -> str:
    """The persons in the data set, and whether their number is public."""
    neighbours = neighbours_of(document["plan"]["neighbours"])
    any_number = is_of_persons(neighbours.word)
    rows = words("report.people.any") if any_number else words.many("report.people.rows", neighbours.rows_per_person)
    start = words("report.people.persons", dataset=name(document["dataset"]))
    return f"{start} {rows} {words.said(f'{neighbours.size_words()}.')}"
