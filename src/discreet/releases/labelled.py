"""A release in words: its texts in one language, and the labels of its columns, categories and numbers.

The words come from the document, or from texts that somebody applies to it later; neither changes a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.domain.about import About, about_in, check_about, key_of, language_tag
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.figures import name
from discreet.releases.frames import further_frames

__all__ = [
    "abouts_in",
    "apply_labels",
    "apply_words",
    "fitting",
    "list_known",
    "number_title",
    "texts_of",
    "title_of",
    "unit_of",
    "value_label",
]

_OF_THE_COLUMN = frozenset({"mean", "median", "quantiles", "std", "sum"})
"""The statistics that have the unit of their column."""


def abouts_in(document: Mapping[str, Any]) -> tuple[About, ...]:
    """The texts of a document in its languages, the main one first.

    Raises:
        ArgumentError: the document holds something else in their place.
    """
    try:
        return tuple(map(about_in, document.get("about", ())))
    except (ArgumentError, TypeError, ValueError, AttributeError):
        raise ArgumentError("release: its texts cannot be read; it is not a document that discreet wrote") from None


def texts_of(document: Mapping[str, Any], language: str | None = None) -> About:
    """The texts in one language, the main one if none is named; what is missing there is in the main language.

    Raises:
        ArgumentError: the document has no texts in that language.
    """
    found = abouts_in(document)
    main = found[0] if found else About()
    if language is None:
        return main
    wanted = language_tag(language)
    for one in found:
        if one.language == wanted:
            return one.over(main)
    there = [one.language for one in found]
    raise ArgumentError(f"language={printed(language)}: the release has no texts in it{did_you_mean(wanted, there)}")


Known = tuple[Mapping[str, Sequence[str]], Sequence[str]]
"""All that can have words: the columns with the keys of their categories and bins, and the names of numbers and frames."""


def list_known(document: Mapping[str, Any]) -> Known:
    """The things that can have words in a release."""
    return _columns(document["plan"]), _names(document)


def apply_labels(document: Mapping[str, Any], about: About, known: Known) -> About:
    """The texts applied to a release; what they leave out is as the document has it.

    Raises:
        ArgumentError: words for a column, a category or a number that the release does not have.
    """
    own = about.of(str(document["name"]))
    check_about(own, *known)
    return own.over(texts_of(document))


def fitting(document: Mapping[str, Any], about: About) -> About:
    """The texts for this release, of texts for all releases of a plan: words for what it does not have are left out."""
    return about.of(str(document["name"])).within(*list_known(document))


def _columns(plan: Mapping[str, Any]) -> dict[str, list[str]]:
    """The declared columns with the keys of their categories and bins."""
    found = {one["name"]: [*map(key_of, one.get("categories", ()))] for one in plan["schema"]}
    own = [group for one in plan["statistics"] for table in one.get("tables", ()) for group in table]
    for group in [*plan["group_by"], *plan["statistics"], *own]:
        if "edges" in group:
            found[group["column"]] += [str(label) for label in group["labels"] if label is not None]
    return found


def _names(document: Mapping[str, Any]) -> list[str]:
    """The columns of numbers and the names of the frames."""
    frames = further_frames(document)
    columns = [column["name"] for one in (document, *frames) for column in one["columns"]]
    return [*columns, *(one["name"] for one in frames), *(one["name"] for one in document["statistics"])]


# Words --------------------------------------------------------------------------------------------------------------------


def title_of(about: About, column: str) -> str:
    """The words for a column of the data."""
    return about.column(column).label or name(column)


def value_label(about: About, column: str, value: object) -> str:
    """The words for a group: a category, a bin, or the rows in which the column is null."""
    words = about.column(column)
    return (words.unknown if value is None else words.categories.get(key_of(value), "")) or name(value)


def number_title(about: About, column: str, frame: str = "") -> str:
    """The words for a column of numbers; in a frame whose name has words, these where the column has none."""
    return about.statistic(column).label or (about.statistic(frame).label if frame else "") or name(column)


def apply_words(statistic: Mapping[str, Any], about: About) -> Mapping[str, Any]:
    """A statistic of a document with the words for its columns in the place of their names, for titles."""
    words = {key: title_of(about, str(statistic[key])) for key in ("column", "over", "by") if statistic.get(key)}
    pair = {"columns": [title_of(about, one) for one in statistic["columns"]]} if "columns" in statistic else {}
    return {**statistic, **words, **pair}


def unit_of(about: About, column: str, statistic: Mapping[str, Any]) -> str:
    """The unit of a column of numbers: its own, or the unit of the column that its statistic is about."""
    own = about.statistic(column).unit
    of = statistic.get("column")
    return own or (about.column(str(of)).unit if of and statistic.get("statistic") in _OF_THE_COLUMN else "")
