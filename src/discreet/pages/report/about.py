"""The words at the head of the page: what a release says about itself, and the meaning of the classes of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.domain.about import About
from discreet.exact.numbers import text
from discreet.pages.words import Words
from discreet.releases.labelled import value_label
from discreet.releases.quality import CLASSES, quality_in

__all__ = ["about_facts", "label_in", "quality_words"]

_FACTS = ("universe", "period", "publisher", "contact", "licence")


def about_facts(about: About, words: Words) -> tuple[tuple[str, str], ...]:
    """The facts that the texts have, each with its word."""
    return tuple((words(f"report.{key}"), getattr(about, key)) for key in _FACTS if getattr(about, key))


def label_in(about: About, column: str, value: object, words: Words) -> str:
    """The words for a group of a column, in the language of the page where it has no label."""
    own = about.column(column)
    return value_label(about, column, value) if own.categories or own.unknown else words.name(value)


def quality_words(document: Mapping[str, Any]) -> str:
    """The meaning of the flags of the tables; empty where the release has no rule of quality."""
    if "quality" not in document:
        return ""
    rule = quality_in(document)
    good, caution = (f"{text(100 * end)}\u00a0%" for end in (rule.good, rule.caution))
    words = [*CLASSES.items()]
    ends = (f"up to {good}", f"up to {caution}", "beyond")
    said = ", ".join(f"{letter} {word} ({end})" for (letter, word), end in zip(words, ends, strict=True))
    left_out = " Values of class c are left out (–)." if rule.suppress else ""
    measure = "the larger of its coefficient of variation and the width of its interval over all that is possible"
    return f"Each number has a class by {measure}: {said}.{left_out}"
