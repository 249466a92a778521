"""`discreet test`: hypotheses tested on published numbers, printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.cli.deriving import labels_of
from discreet.cli.output import Answer
from discreet.exact.given_paths import require_path
from discreet.releases.document import Release
from discreet.releases.hypotheses.differences import test_difference
from discreet.releases.hypotheses.independence import test_independence
from discreet.releases.hypotheses.means import test_means
from discreet.releases.hypotheses.proportions import test_proportion
from discreet.releases.hypotheses.result import Tested

__all__ = ["Asked", "answer_difference", "answer_independence", "answer_means", "answer_proportion"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A test as it was typed.

    Args:
        folder: where release.json is.
        statistic: a column of numbers; None for the first one.
        by: group columns with a comma between them; None for all that are not fixed.
        at: texts such as "year=2020".
        alternative: the side.
        language: of the printed lines; None for English.
    """

    folder: str
    statistic: str | None
    by: str | None
    at: Sequence[str] | None
    alternative: str
    language: str | None

    def names(self) -> list[str] | None:
        """The group columns by their names."""
        return None if self.by is None else [one for one in self.by.split(",") if one]

    def fixed(self) -> dict[str, str]:
        """The labels that are fixed, by their columns."""
        return dict(labels_of(self.at))

    def release(self) -> Release:
        """The release. Raises ArgumentError where there is none."""
        return Release.load(require_path(self.folder, "test"))


def answer_independence(asked: Asked, draws: int) -> Answer:
    """The test of independence.

    Raises:
        ArgumentError: as `test_independence`, or no release there.
    """
    names, at = asked.names(), asked.fixed()
    found = test_independence(asked.release(), asked.statistic, by=names, at=at, alternative=asked.alternative, draws=draws)
    return _answer(found, asked)


def answer_proportion(asked: Asked, share: str, of: Sequence[str] | None, rows: int | None) -> Answer:
    """The test of one proportion.

    Raises:
        ArgumentError: as `test_proportion`, or no release there.
    """
    labels = dict(labels_of(of, "--of"))
    given: dict[str, Any] = {"statistic": asked.statistic, "at": asked.fixed(), "alternative": asked.alternative}
    return _answer(test_proportion(asked.release(), share, of=labels, rows=rows, **given), asked)


def answer_difference(asked: Asked, of: Sequence[str] | None, groups: str | None) -> Answer:
    """The test of a difference of two proportions.

    Raises:
        ArgumentError: as `test_difference`, or no release there.
    """
    two = None if groups is None else groups.split(",")
    given: dict[str, Any] = {"statistic": asked.statistic, "at": asked.fixed(), "alternative": asked.alternative}
    return _answer(
        test_difference(asked.release(), dict(labels_of(of, "--of")), by=str(asked.by), groups=two, **given), asked
    )


def answer_means(asked: Asked, over: str | None, deviation: str | None) -> Answer:
    """The test of equal means.

    Raises:
        ArgumentError: as `test_means`, or no release there.
    """
    given: dict[str, Any] = {"by": asked.by, "at": asked.fixed(), "alternative": asked.alternative}
    return _answer(test_means(asked.release(), str(asked.statistic), over=over, deviation=deviation, **given), asked)


def _answer(found: Tested, asked: Asked) -> Answer:
    """The result in the language that was asked for; the facts are those of the library."""
    from discreet.pages.words.catalogue import MAIN, words_in

    words = words_in(asked.language or MAIN, demanded=True)
    lines = [*str(found).splitlines(), "Nothing was spent."]
    return Answer([words.said(line) for line in lines], json.loads(found.to_json()))
