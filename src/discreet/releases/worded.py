"""A document as people see it: labels in the place of categories, classes next to numbers, suppressed values left out.

Functions of the document and of the words applied to it. What is possible was settled before (`possible`); which class a
number has, and whether it is suppressed, follows from the document as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.domain.about import About
from discreet.releases.labelled import value_label
from discreet.releases.quality import numbers_of, quality_in

__all__ = ["CONSISTENT", "QUALITY", "in_words"]

QUALITY = "_quality"
"""After the name of a number: the column with its classes."""

CONSISTENT = "_consistent"
"""After the name of a count: the one that agrees with other tables. It is left out where the count is."""

Column = Mapping[str, Any]


def in_words(shown: Mapping[str, Any], document: Mapping[str, Any], about: About) -> dict[str, Any]:
    """The shown document with the labels of `about`, and where the document has a rule of quality, with classes.

    Args:
        shown: the document as views show it.
        document: the same with the numbers that it has.
        about: the words.
    """
    found = {**shown, "columns": _columns(shown["columns"], document["columns"], document, about, "")}
    if "frames" in shown:
        pairs = zip(shown["frames"], document["frames"], strict=True)
        frames = [(one, own["columns"]) for one, own in pairs]
        found["frames"] = [
            {**one, "columns": _columns(one["columns"], own, document, about, one["name"])} for one, own in frames
        ]
    if "derived" in shown:
        found["derived"] = [
            {**one, "columns": _columns(one["columns"], one["columns"], document, about, one["name"])}
            for one in shown["derived"]
        ]
    return found


def _columns(
    shown: Sequence[Column], own: Sequence[Column], document: Mapping[str, Any], about: About, frame: str
) -> list[Column]:
    labelled = [_label(column, about) for column in shown]
    return labelled if "quality" not in document else _judge(labelled, own, document, frame)


def _label(column: Column, about: About) -> Column:
    """A group column with its labels, if it has words for any; other columns as they are."""
    words = about.column(column["name"])
    if not (words.categories or words.unknown):
        return column
    texts = [value_label(about, column["name"], value) for value in column["values"]]
    return {**column, "kind": "text", "values": texts}


def _judge(shown: Sequence[Column], own: Sequence[Column], document: Mapping[str, Any], frame: str) -> list[Column]:
    """The columns with classes after the numbers, and without the values that are suppressed."""
    rule = quality_in(document)
    classes = {one.column: one.classes for one in numbers_of(document, own, frame)}
    found: list[Column] = []
    for column in shown:
        grades = classes.get(column["name"].removesuffix(CONSISTENT), ())
        values = [None if rule.suppresses(grade) else value for grade, value in zip(grades, column["values"], strict=False)]
        found.append({**column, "values": values} if grades else column)
        number = column["name"].removesuffix("_high")
        if number in classes and number != column["name"]:
            found.append({"name": f"{number}{QUALITY}", "kind": "text", "values": list(classes[number])})
    return found
