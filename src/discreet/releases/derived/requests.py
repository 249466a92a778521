"""Derived numbers that are asked for before the releases are there: which columns, of which releases, and how.

What is asked for says nothing of rows: it is carried out on releases alone, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.errors import ArgumentError
from discreet.releases.derived.change import change
from discreet.releases.derived.combine import combine
from discreet.releases.derived.operands import Numbers, numbers
from discreet.releases.derived.ratio import ratio
from discreet.releases.derived.result import Derived
from discreet.releases.document import Release

__all__ = ["KINDS", "Derivation", "Operand", "compute"]


@dataclass(frozen=True, slots=True)
class Operand:
    """Numbers that a derived number is made of.

    Args:
        release: the name of the release that has them; empty where they are known.
        column: a column of numbers of its table; None for the first one.
        by: as for `numbers`.
        at: as for `numbers`.
        known: public constants, or numbers of a former release; they need no release of the plan.
    """

    release: str = ""
    column: str | None = None
    by: tuple[str, ...] | None = None
    at: Mapping[str, object] = field(default_factory=dict)
    known: Numbers | None = None

    def read(self, releases: Mapping[str, Release]) -> Numbers:
        """The numbers, of the releases by their names.

        Raises:
            ArgumentError: as `numbers`, or the release is not there.
        """
        if self.known is not None:
            return self.known
        if self.release not in releases:
            raise ArgumentError(f"release '{self.release}': is not there, so nothing is derived from it")
        return numbers(releases[self.release], self.column, by=self.by, at=self.at)


@dataclass(frozen=True, slots=True)
class Derivation:
    """A derived number of a release.

    Args:
        name: of its column, and of the table that it stands in.
        kind: a word of `KINDS`.
        operands: two, or for a mean as many as there are, in the order in which the plan names them.
        per: the factor of a ratio.
        confidence: each interval holds with at least this probability.
    """

    name: str
    kind: str
    operands: tuple[Operand, ...]
    per: Fraction = Fraction(1)
    confidence: Fraction = Fraction(95, 100)

    def columns(self) -> tuple[str, ...]:
        """The names of its numbers."""
        return (self.name, f"{self.name}{_RELATIVE}") if self.kind == "change" else (self.name,)

    def renamed(self, names: Mapping[str, str]) -> Derivation:
        """The same of releases that have other names now."""
        operands = (replace(one, release=names.get(one.release, one.release)) for one in self.operands)
        return replace(self, operands=tuple(operands))


def _ratio(asked: Derivation, operands: Sequence[Numbers]) -> Derived:
    over, under = operands
    return ratio(over, under, per=asked.per, confidence=asked.confidence)


def _change(asked: Derivation, operands: Sequence[Numbers]) -> Derived:
    after, before = operands
    return change(before, after, confidence=asked.confidence)


def _combine(asked: Derivation, operands: Sequence[Numbers]) -> Derived:
    return combine(*operands, confidence=asked.confidence)


KINDS: Mapping[str, Callable[[Derivation, Sequence[Numbers]], Derived]] = {
    "ratio": _ratio,
    "change": _change,
    "combine": _combine,
}
"""What can be derived, by the word of a plan. A ratio is of the first operand over the second, a change to it since that."""

_RELATIVE = "_relative"
"""After the name of a change: the relative one."""


def compute(asked: Derivation, releases: Mapping[str, Release]) -> Derived:
    """The derived numbers, in columns that are called after the derivation.

    Raises:
        ArgumentError: as `ratio`, `change`, `combine` and `numbers`, or a release is not there.
    """
    found = KINDS[asked.kind](asked, [one.read(releases) for one in asked.operands])
    columns = tuple((name, figures) for name, (_, figures) in zip(asked.columns(), found.columns, strict=True))
    return replace(found, columns=columns)
