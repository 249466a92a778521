"""The tests of a release in sentences: hypothesis, p-value, method and what is assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.exact.figures import name
from discreet.pages.words import Words
from discreet.releases.hypotheses.result import told

__all__ = ["Test", "tests_of"]


@dataclass(frozen=True, slots=True)
class Test:
    """A test by its name, and its sentences."""

    name: str
    lines: tuple[str, ...]


def tests_of(document: Mapping[str, Any], words: Words) -> tuple[Test, ...]:
    """The tests that a document has, in the language of the page; one that could not be made says why."""
    return tuple(Test(name(one["name"]), tuple(map(words.said, _lines(one)))) for one in document.get("tests", ()))


def _lines(one: Mapping[str, Any]) -> list[str]:
    if "failed" in one:
        return [f"This test was not made: {name(one['failed'])}"]
    return [name(line) for line in told(one)]
