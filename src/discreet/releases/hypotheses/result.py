"""The result of a test: a p-value that is never below the truth, with its hypothesis and what it takes for granted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.domain.words import one_line
from discreet.errors import ArgumentError
from discreet.exact.canonical import seal
from discreet.exact.numbers import Amount, decimal_up, exact

__all__ = ["LEVELS", "Tested", "rounded_up", "told"]

LEVELS = (Fraction(5, 100), Fraction(1, 100), Fraction(1, 1000))
"""The levels that a result speaks of."""

_DIGITS = 4
_ONE = "This is one test: tests that are made together on one table are to be asked together, and adjusted (Holm)"


def rounded_up(probability: float | Fraction) -> Fraction:
    """The p-value as it is printed: four digits, rounded up, at most 1."""
    return min(Fraction(1), Fraction(decimal_up(Fraction(probability), _DIGITS)))


@dataclass(frozen=True, slots=True, repr=False)
class Tested:
    """A test of a hypothesis on released numbers: post-processing, which costs nothing and touches no rows.

    Args:
        test: the word of the test, such as "independence".
        hypothesis: the null hypothesis, in a sentence.
        alternative: "two-sided", "greater" or "less".
        statistic: the number that the test looks at; larger ones speak against the hypothesis.
        statistic_words: what this number is.
        p_value: rounded up: under the hypothesis P(p_value ≤ α) ≤ α for every α, over rows and noise together.
        method: how the p-value was found.
        assumptions: what has to be true for it, in sentences.
        source: where the numbers come from, as JSON values.
        details: further public numbers, such as how many draws there were, as JSON values.
        tests: how many tests were asked together, this one among them.
        adjusted: the p-value adjusted for all of them (Holm 1979); the p-value itself where it is the only one.
    """

    test: str
    hypothesis: str
    alternative: str
    statistic: float
    statistic_words: str
    p_value: Fraction
    method: str
    assumptions: tuple[str, ...]
    source: Mapping[str, Any]
    details: Mapping[str, Any]
    tests: int = 1
    adjusted: Fraction | None = None

    def rejects(self, level: Amount = "0.05") -> bool:
        """True if the test rejects the hypothesis at this level, which all tests that were asked together share.

        Raises:
            ArgumentError: not a number strictly between 0 and 1.
        """
        asked = exact(level, "level")
        if not 0 < asked < 1:
            raise ArgumentError("level: must lie strictly between 0 and 1, such as 0.05")
        return self._shared() <= asked

    def __repr__(self) -> str:
        return one_line("Tested:", self.hypothesis, f"p ≤ {self._p()}")

    def __str__(self) -> str:
        """Hypothesis, p-value, the levels at which it is rejected, method and assumptions, one line each."""
        return "\n".join(told(self.facts()))

    def to_json(self) -> str:
        """The result as canonical JSON with a digest over itself."""
        return seal(self.facts())

    def facts(self) -> dict[str, Any]:
        """The same as JSON values, without the digest."""
        return {
            "test": self.test,
            "hypothesis": self.hypothesis,
            "alternative": self.alternative,
            "statistic": self.statistic,
            "statistic_words": self.statistic_words,
            "p_value": self._p(),
            "rejected_at": {decimal_up(level): self.rejects(level) for level in LEVELS},
            "method": self.method,
            "assumptions": list(self.assumptions),
            "source": dict(self.source),
            "details": dict(self.details),
            **self._family(),
        }

    def _family(self) -> dict[str, Any]:
        return {} if self.tests == 1 else {"tests": self.tests, "adjusted_p_value": decimal_up(self._shared(), _DIGITS)}

    def _shared(self) -> Fraction:
        return self.p_value if self.adjusted is None else self.adjusted

    def _p(self) -> str:
        return decimal_up(self.p_value, _DIGITS)


def told(facts: Mapping[str, Any]) -> list[str]:
    """The facts of a test in lines: as `Tested.facts` has them, or the document of a release."""
    return [
        f"Null hypothesis: {facts['hypothesis']}",
        f"Statistic: {facts['statistic']:.6g}, {facts['statistic_words']}",
        *_p_values(facts),
        f"Method: {facts['method']}",
        *(f"Assumed: {one}" for one in facts["assumptions"]),
    ]


def _p_values(facts: Mapping[str, Any]) -> list[str]:
    rejected = [level for level, is_rejected in facts["rejected_at"].items() if is_rejected]
    levels = f"rejected at the levels {', '.join(rejected)}" if rejected else "not rejected at the level 0.05"
    said = f"p-value: at most {facts['p_value']} ({facts['alternative']})"
    if "tests" not in facts:
        return [f"{said}; {levels}", _ONE]
    shared = facts["adjusted_p_value"]
    return [
        f"{said}, of this test by itself",
        f"This is one of {facts['tests']} tests: adjusted for all of them (Holm) at most {shared}; {levels}",
    ]
