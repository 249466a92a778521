"""How a count becomes a published range: rounded to a base, suppressed when it is small, or by classes of size.

A rule is a public function of one count. It cuts the whole numbers into ranges, and publishing the number is the same as
publishing the range in which the count lies. A range is known by its least count; `NO_LIMIT` stands for a range that has no
largest one. A rule that draws at random (random rounding) is not a function of the count: it is a release, not a fact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, unreachable

__all__ = ["NO_LIMIT", "Bands", "Rounding", "Rule", "Suppression", "printed_counts", "rule_from_words"]

NO_LIMIT = 2**62

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rounding:
    """Counts as multiples of `base`: the nearest one (the larger of two), the next below or the next above."""

    base: int
    to: str

    def least(self, counts: _Ints) -> _Ints:
        """For each count the least count that is published like it."""
        published = self._number(counts)
        before = {"nearest": self.base // 2, "down": 0, "up": self.base - 1}[self.to]
        return np.maximum(published - before, 0)

    def most(self, least: _Ints) -> _Ints:
        """The largest count of the range that begins with that count."""
        after = {"nearest": (self.base - 1) // 2, "down": self.base - 1, "up": 0}[self.to]
        return self._number(least) + after

    def words(self, least: int) -> str:
        """The range as it is published: its number."""
        return str(int(self._number(np.array([least], dtype=np.int64))[0]))

    def to_json(self) -> dict[str, object]:
        """The rule as canonical JSON values."""
        return {"rule": "rounded", "base": self.base, "to": self.to}

    def _number(self, counts: _Ints) -> _Ints:
        ahead = {"nearest": self.base // 2, "down": 0, "up": self.base - 1}[self.to]
        return np.asarray((counts + ahead) // self.base * self.base)


@dataclass(frozen=True, slots=True)
class Suppression:
    """Counts below `below` are not told apart; `zeros` says whether 0 is "hidden" among them, or "shown" as 0."""

    below: int
    zeros: str

    @property
    def _first(self) -> int:
        return 1 if self.zeros == "shown" else 0

    def least(self, counts: _Ints) -> _Ints:
        """For each count the least count that is published like it."""
        return np.where(counts < self.below, np.minimum(counts, self._first), counts)

    def most(self, least: _Ints) -> _Ints:
        """The largest count of the range that begins with that count."""
        return np.where(least == self._first, self.below - 1, least)

    def words(self, least: int) -> str:
        """The range as it is published: "fewer than 10", or its one count."""
        if least != self._first:
            return str(least)
        return f"1 to {self.below - 1}" if self._first else f"fewer than {self.below}"

    def to_json(self) -> dict[str, object]:
        """The rule as canonical JSON values."""
        return {"rule": "suppressed", "below": self.below, "zeros": self.zeros}


@dataclass(frozen=True, slots=True)
class Bands:
    """Classes of size, each by its least count; the first begins with 0 and the last has no end."""

    starts: tuple[int, ...]

    def least(self, counts: _Ints) -> _Ints:
        """For each count the least count that is published like it."""
        starts = np.array(self.starts, dtype=np.int64)
        return np.asarray(starts[np.searchsorted(starts, counts, side="right") - 1])

    def most(self, least: _Ints) -> _Ints:
        """The largest count of the range that begins with that count."""
        ends = np.array([*(start - 1 for start in self.starts[1:]), NO_LIMIT], dtype=np.int64)
        return np.asarray(ends[np.searchsorted(np.array(self.starts, dtype=np.int64), least)])

    def words(self, least: int) -> str:
        """The range as it is published: "10 to 49", "250 or more"."""
        most = int(self.most(np.array([least], dtype=np.int64))[0])
        if most == NO_LIMIT:
            return f"{least} or more"
        return str(least) if most == least else f"{least} to {most}"

    def to_json(self) -> dict[str, object]:
        """The rule as canonical JSON values."""
        return {"rule": "bands", "starts": list(self.starts)}


Rule = Rounding | Suppression | Bands


def printed_counts(rule: Rule) -> str:
    """The rule in a few words: what is published in place of a count."""
    match rule:
        case Rounding(base=base, to=to):
            where = {"nearest": "to the nearest", "down": "down to a", "up": "up to a"}[to]
            return f"rounded {where} multiple of {base}"
        case Suppression(below=below, zeros=zeros):
            return f"suppressed below {below}{', zeros shown' if zeros == 'shown' else ''}"
        case Bands(starts=starts):
            return f"in {len(starts)} classes of size"
    raise unreachable(rule)


def rule_from_words(rule: Rule, value: object, where: str) -> int:
    """The least count of the range that a caller has written as it is published: 15, "15", "fewer than 10".

    Raises:
        ArgumentError: the rule never publishes this.
    """
    told = str(value)
    if not isinstance(value, bool) and isinstance(value, int | str):
        if told.isdecimal() and len(told) <= 18:  # below NO_LIMIT
            least = int(rule.least(np.array([int(told)], dtype=np.int64))[0])
            if rule.words(least) == told:
                return least
        for least in rule.starts if isinstance(rule, Bands) else (0, 1):
            if rule.words(least) == told:
                return least
    raise ArgumentError(f"{where}: {told[:40]!r} is never published where counts are {printed_counts(rule)}")
