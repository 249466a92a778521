"""Sampling designs: how the error of the draw follows from the weighted file, and in which words that is said.

An interval for the population needs the variance of the draw. A design says which sum over the rows estimates it, up to a
public factor, and what has to be true for it (W10 of docs/proofs/samples.md). None is checked: they are declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.numbers import Amount, exact, text

__all__ = [
    "BERNSTEIN",
    "DESIGNS",
    "NORMAL",
    "CertifiedPoissonDesign",
    "Design",
    "DesignEffect",
    "PoissonDesign",
    "ReplacementDesign",
    "design_of",
    "design_of_quotient",
    "read_design",
]

_HALF = Fraction(1, 2)
_MOST_EFFECT = 10**6
_MOST_ROWS = 2**40
_INDEPENDENT = "each person was drawn independently of all others, with probability 1 over the weight"

NORMAL, BERNSTEIN = "by a normal approximation", "by Bernstein's inequality"
"""What the distance of the ends of an interval rests on."""


class Design(Protocol):
    """How the rows were drawn. The registry is `DESIGNS`."""

    word: ClassVar[str]
    """Its name in plan files, documents and the names of columns."""

    tail: ClassVar[str]
    """How far the error of the draw may be from 0: `NORMAL`, an approximation, or `BERNSTEIN`, a proved bound of sums."""

    @property
    def less(self) -> Fraction:
        """What is subtracted from a weight before it is squared: the variance is at most Σ (w − less)² z² · factor."""

    @property
    def factor(self) -> Fraction:
        """The public factor of the variance."""

    @property
    def draws(self) -> int | None:
        """The number n of draws in Σ w²z² − (Σ wz)²/n; None where the second part is left out."""

    def words(self) -> str:
        """What the error of the draw rests on, in a sentence."""

    def to_json(self) -> dict[str, object]:
        """Its canonical JSON values."""


@dataclass(frozen=True, slots=True)
class PoissonDesign:
    """Each person was drawn independently of all others, with probability 1 over the weight."""

    word: ClassVar = "poisson"
    # w(w − 1) = (w − 1/2)² − 1/4: squares of weights less 1/2 are an upper bound, and hardly more.
    less: ClassVar[Fraction] = _HALF
    factor: ClassVar[Fraction] = Fraction(1)
    draws: ClassVar[None] = None
    tail: ClassVar = NORMAL

    def words(self) -> str:
        return _INDEPENDENT

    def to_json(self) -> dict[str, object]:
        return {"design": self.word}


@dataclass(frozen=True, slots=True)
class CertifiedPoissonDesign:
    """The same draw, with intervals of sums by Bernstein's inequality: proved where the draw is as declared, and wider."""

    word: ClassVar = "poisson_certified"
    less: ClassVar[Fraction] = _HALF
    factor: ClassVar[Fraction] = Fraction(1)
    draws: ClassVar[None] = None
    tail: ClassVar = BERNSTEIN

    def words(self) -> str:
        return _INDEPENDENT

    def to_json(self) -> dict[str, object]:
        return {"design": self.word}


@dataclass(frozen=True, slots=True, init=False)
class ReplacementDesign:
    """Persons were drawn one by one, each draw with the same probabilities; the weights are 1 over their expected number.

    Args:
        rows: the public number of draws, of all groups together; left out, intervals of sums are wider.
        of: the number of persons from which they were drawn without replacement, all with the same probability.
    """

    rows: int | None
    of: int | None

    word: ClassVar = "replacement"
    tail: ClassVar = NORMAL
    less: ClassVar[Fraction] = Fraction(0)

    def __init__(self, rows: int | None = None, of: int | None = None) -> None:
        _check_rows(rows)
        if of is not None and (type(of) is not int or rows is None or not rows <= of < _MOST_ROWS):
            raise ArgumentError(f"of={printed(of)}: must be a whole number of at least rows={printed(rows)} and below 2**40")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "of", of)

    @property
    def draws(self) -> int | None:
        return self.rows

    @property
    def factor(self) -> Fraction:
        """For n/(n − 1), and what a draw without replacement leaves of it: 1 − n/N."""
        left = Fraction(1) if self.of is None or self.rows is None else 1 - Fraction(self.rows, self.of)
        return left * _without_bias(self.rows)

    def words(self) -> str:
        one_by_one = "persons were drawn one by one, each draw with the same probabilities"
        if self.of is None:
            return one_by_one
        return f"{self.rows} of {self.of} persons were drawn without replacement, all with the same probability"

    def to_json(self) -> dict[str, object]:
        return {"design": self.word, **_keep_given(rows=self.rows, of=self.of)}


@dataclass(frozen=True, slots=True, init=False)
class DesignEffect:
    """Clusters, strata, calibrated weights, anything: the variance is so many times that of independent draws.

    Args:
        effect: the design effect as the publisher of the survey states it for such a number, at most a million.
        rows: as for `ReplacementDesign`.
    """

    effect: Fraction
    rows: int | None

    word: ClassVar = "effect"
    tail: ClassVar = NORMAL
    less: ClassVar[Fraction] = Fraction(0)

    def __init__(self, effect: Amount, rows: int | None = None) -> None:
        given = exact(effect, "effect")
        if not 0 < given <= _MOST_EFFECT:
            raise ArgumentError(f"effect={printed(effect)}: must be greater than 0 and at most 1e6")
        _check_rows(rows)
        object.__setattr__(self, "effect", given)
        object.__setattr__(self, "rows", rows)

    @property
    def draws(self) -> int | None:
        return self.rows

    @property
    def factor(self) -> Fraction:
        return self.effect * _without_bias(self.rows)

    def words(self) -> str:
        times = text(self.effect)
        return f"the variance of the draw is {times} times that of independent draws, as the publisher states, unchecked"

    def to_json(self) -> dict[str, object]:
        return {"design": self.word, "effect": text(self.effect), **_keep_given(rows=self.rows)}


DESIGNS: tuple[type[Design], ...] = (PoissonDesign, CertifiedPoissonDesign, ReplacementDesign, DesignEffect)
"""All of them; every other design is declared by its effect."""


def _check_rows(rows: int | None) -> None:
    if rows is not None and (type(rows) is not int or not 2 <= rows < _MOST_ROWS):
        raise ArgumentError(f"rows={printed(rows)}: must be a whole number of at least 2 and below 2**40, or left out")


def _without_bias(rows: int | None) -> Fraction:
    return Fraction(1) if rows is None else Fraction(rows, rows - 1)


def _keep_given(**numbers: int | None) -> dict[str, object]:
    return {key: value for key, value in numbers.items() if value is not None}


def design_of(given: object) -> Design | None:
    """The design, or None for none.

    Raises:
        ArgumentError: something else, with the designs that there are.
    """
    if given is not None and type(given) not in DESIGNS:
        raise ArgumentError(
            f"design={printed(given)}: must be PoissonDesign(), ReplacementDesign(…) or DesignEffect(…); strata, clusters "
            "and everything else have a design effect, which the publisher of the survey states"
        )
    return given  # type: ignore[return-value]


def design_of_quotient(given: object) -> Design | None:
    """The same for a mean, a share or a ratio.

    Raises:
        ArgumentError: as `design_of`, or a design whose bound is proved for sums only.
    """
    design = design_of(given)
    if design is not None and design.tail != NORMAL:
        raise ArgumentError("design=CertifiedPoissonDesign(): is for sums; ask for a weighted_sum, or for PoissonDesign()")
    return design


def read_design(options: Mapping[str, object]) -> Design | None:
    """The design that the keys of a plan file mean; None without any.

    Raises:
        ArgumentError: an unknown word, or keys that the design does not have.
    """
    words = {one.word: one for one in DESIGNS}
    numbers = {key: value for key, value in options.items() if key != "design"}
    word = options.get("design")
    if word is None and not numbers:
        return None
    if not isinstance(word, str) or word not in words:
        raise ArgumentError(f"design={printed(word)}: is not a design{did_you_mean(word, list(words))}")
    try:
        return words[word](**numbers)
    except TypeError:
        raise ArgumentError(f"design='{word}': does not go with {', '.join(numbers) or 'these keys'}") from None
