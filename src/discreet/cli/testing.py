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
from discreet.releases.hypotheses.anova import test_anova
from discreet.releases.hypotheses.coefficients import test_coefficient
from discreet.releases.hypotheses.differences import test_difference
from discreet.releases.hypotheses.independence import test_independence
from discreet.releases.hypotheses.means import test_means
from discreet.releases.hypotheses.proportions import test_proportion
from discreet.releases.hypotheses.result import Tested
from discreet.releases.hypotheses.several import holm

__all__ = [
    "Asked",
    "answer_anova",
    "answer_coefficient",
    "answer_difference",
    "answer_independence",
    "answer_means",
    "answer_proportion",
]


@dataclass(frozen=True, slots=True)
class Asked:
    """A test as it was typed.

    Args:
        folder: where release.json is.
        statistic: a column of numbers; None for the first one.
        by: group columns with a comma between them, once for each test; None for all that are not fixed.
        at: texts such as "year=2020".
        alternative: the side.
        language: of the printed lines; None for English.
    """

    folder: str
    statistic: str | None
    by: Sequence[str] | None
    at: Sequence[str] | None
    alternative: str
    language: str | None

    def names(self) -> list[list[str] | None]:
        """The group columns of each test by their names."""
        return [[name for name in one.split(",") if name] for one in self.by] if self.by else [None]

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
    release = asked.release()
    given: dict[str, Any] = {"at": asked.fixed(), "alternative": asked.alternative, "draws": draws}
    return _answer([test_independence(release, asked.statistic, by=names, **given) for names in asked.names()], asked)


def answer_proportion(asked: Asked, share: str, of: Sequence[str] | None, rows: int | None) -> Answer:
    """The test of one proportion.

    Raises:
        ArgumentError: as `test_proportion`, or no release there.
    """
    labels = dict(labels_of(of, "--of"))
    given: dict[str, Any] = {"statistic": asked.statistic, "at": asked.fixed(), "alternative": asked.alternative}
    return _answer([test_proportion(asked.release(), share, of=labels, rows=rows, **given)], asked)


def answer_difference(asked: Asked, of: Sequence[str] | None, by: str, groups: str | None) -> Answer:
    """A test of a difference of two proportions for each label.

    Raises:
        ArgumentError: as `test_difference`, or no release there.
    """
    release, two = asked.release(), None if groups is None else groups.split(",")
    given: dict[str, Any] = {"statistic": asked.statistic, "at": asked.fixed(), "alternative": asked.alternative}
    labels = [dict([label]) for label in labels_of(of, "--of")] or [{}]
    return _answer([test_difference(release, one, by=by, groups=two, **given) for one in labels], asked)


def answer_means(asked: Asked, totals: Sequence[str], over: str | None, by: str | None, deviation: str | None) -> Answer:
    """A test of equal means for each column of sums.

    Raises:
        ArgumentError: as `test_means`, or no release there.
    """
    release = asked.release()
    given: dict[str, Any] = {"by": by, "at": asked.fixed(), "alternative": asked.alternative}
    return _answer([test_means(release, one, over=over, deviation=deviation, **given) for one in totals], asked)


def answer_anova(asked: Asked, totals: Sequence[str], by: str | None, groups: str | None, deviation: str | None) -> Answer:
    """An analysis of variance for each column of sums.

    Raises:
        ArgumentError: as `test_anova`, or no release there.
    """
    release, labels = asked.release(), None if groups is None else groups.split(",")
    given: dict[str, Any] = {"by": by, "groups": labels, "at": asked.fixed(), "deviation": deviation}
    return _answer([test_anova(release, one, **given) for one in totals], asked)


def answer_coefficient(asked: Asked, coefficients: Sequence[str]) -> Answer:
    """A test of each coefficient.

    Raises:
        ArgumentError: as `test_coefficient`, or no release there.
    """
    release = asked.release()
    return _answer([test_coefficient(release, one, at=asked.fixed()) for one in coefficients], asked)


def _answer(found: Sequence[Tested], asked: Asked) -> Answer:
    """The results in the language that was asked for; the facts are those of the library, and several in a list."""
    from discreet.pages.words.catalogue import MAIN, words_in

    words = words_in(asked.language or MAIN, demanded=True)
    together = holm(*found) if len(found) > 1 else tuple(found)
    lines = [line for one in together for line in (*str(one).splitlines(), "")][:-1]
    facts = [json.loads(one.to_json()) for one in together]
    said = [words.said(line) if line else "" for line in [*lines, "Nothing was spent."]]
    return Answer(said, facts[0] if len(facts) == 1 else {"tests": facts})
