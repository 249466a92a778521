"""Tests that are asked for before the release is there: which one, under which name, with what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.releases.document import Release
from discreet.releases.hypotheses.anova import test_anova
from discreet.releases.hypotheses.coefficients import test_coefficient
from discreet.releases.hypotheses.differences import test_difference
from discreet.releases.hypotheses.independence import test_independence
from discreet.releases.hypotheses.means import test_means
from discreet.releases.hypotheses.proportions import test_proportion
from discreet.releases.hypotheses.result import Tested

__all__ = ["TESTS", "Hypothesis"]

TESTS: Mapping[str, Callable[..., Tested]] = {
    "independence": test_independence,
    "proportion": test_proportion,
    "difference": test_difference,
    "means": test_means,
    "anova": test_anova,
    "coefficient": test_coefficient,
}
"""What can be tested, by the word of a plan."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A test of a release.

    Args:
        name: by which the document has it.
        kind: a word of `TESTS`.
        given: the arguments of the test, by their names.
    """

    name: str
    kind: str
    given: Mapping[str, Any]

    def tried_on(self, release: Release) -> Tested:
        """The test. Raises ArgumentError as the function of `TESTS` does."""
        return TESTS[self.kind](release, **self.given)
