"""What is derived from published numbers, in sentences: of what it is made, how far its intervals hold, what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.domain.about import About
from discreet.exact.figures import name
from discreet.exact.numbers import decimal_text, exact
from discreet.pages.report.words import title_words
from discreet.pages.words import Words
from discreet.releases.frames import value_columns
from discreet.releases.labelled import apply_words, title_of, value_label
from discreet.releases.notes import NOTES

__all__ = ["derived_words", "failed_words"]

_MOST_LISTED = 10

Told = tuple[Mapping[str, Any], About, Words]
"""The document of a release, its words, and the words of the page."""


def derived_words(one: Mapping[str, Any], place: int, told: Told) -> str:
    """The sentences below the table of a derived number; `place` 1 is the relative change.

    Args:
        one: the derivation of a document.
        place: which of its numbers.
        told: the document that has it, its words, and the words of the page.
    """
    _, _, words = told
    sources = [source for source in one["sources"] if "per" not in source]
    operands = [_operand(source, told, alike=one["derived"] != "ratio") for source in sources]
    level = f"{words.figures(decimal_text(100 * exact(one['confidence'], 'confidence'), 4))}\u00a0%"
    said = [_describe_numbers(one, operands, place, words), words("report.derived.holds", level=level)]
    lows = [column["values"] for column in one["columns"] if column["name"] in _lower_ends(one)]
    unbounded = lows[place].count(None)
    said += [words.many("report.derived.unbounded", unbounded)] if unbounded else []
    said += [
        words.many("report.derived.missing", len(groups), operand=operand, names=_groups(groups, words))
        for operand, groups in zip(operands, one["missing"], strict=False)
        if groups
    ]
    return " ".join([*said, *(words(f"report.derived.{NOTES[note]}") for note in one["notes"] if note in NOTES)])


def failed_words(document: Mapping[str, Any], words: Words) -> tuple[str, ...]:
    """A sentence for each derivation that could not be computed."""
    return tuple(
        words("report.derived.failed", name=name(one["name"]), reason=name(one["failed"]))
        for one in document.get("derived", ())
        if "failed" in one
    )


def _lower_ends(one: Mapping[str, Any]) -> set[str]:
    """The columns with the lower ends of its numbers: of a change two, the second of the relative one."""
    return {f"{one['name']}{relative}_low" for relative in ("", "_relative")}


def _describe_numbers(one: Mapping[str, Any], operands: list[str], place: int, words: Words) -> str:
    """The sentence on what the numbers are."""
    if one["derived"] == "combine":
        return words("report.derived.combine", all=words.enumerate(operands))
    first, second = operands
    if one["derived"] == "change":
        return words("report.derived.relative" if place else "report.derived.change", before=first, after=second)
    per = next((source["per"] for source in one["sources"] if "per" in source), "1")
    if per == "1":
        return words("report.derived.ratio", over=first, under=second)
    return words("report.derived.ratio_per", over=first, under=second, per=words.figures(per))


def _operand(source: Mapping[str, Any], told: Told, *, alike: bool) -> str:
    """The numbers that something is derived from: their column, their release and their groups.

    Operands that are `alike`, as those of a change are, have the title of the column in this release.
    """
    document, about, words = told
    if "constants" in source:
        return words("report.derived.constant", what=name(source["constants"]))
    here = source["release"] == document["name"] and "digest" not in source
    column = _title(source["statistic"], told) if here or alike else name(source["statistic"])
    said = column if here else words("report.derived.of", column=column, release=name(source["release"]))
    if source["at"]:
        places = [f"{title_of(about, key)} = {value_label(about, key, label)}" for key, label in source["at"].items()]
        said = words("report.derived.at", operand=said, places=words.enumerate(places))
    if source["by"] is None:
        return said
    columns = [title_of(about, key) for key in source["by"]]
    if not columns:
        return words("report.derived.by_none", operand=said)
    return words("report.derived.by", operand=said, columns=words.enumerate(columns))


def _title(column: str, told: Told) -> str:
    """The title of a column of this release; the name of a column that it has not."""
    document, about, words = told
    for line in document["statistics"]:
        orders = value_columns(line)
        if column in orders:
            part = f"{orders[column]} % quantile" if orders[column] else ""
            return about.statistic(column).label or words.said(title_words(apply_words(line, about), part))
    return name(column)


def _groups(groups: list[list[str | None]], words: Words) -> str:
    shown = [" × ".join(map(words.name, group)) for group in groups[:_MOST_LISTED]]
    return "; ".join([*shown, *(["…"] if len(groups) > _MOST_LISTED else [])])
