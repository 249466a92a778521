"""The sentences of `discreet effective --programme`: each says what one change costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Literal

from discreet.domain.neighbours import Neighbours, is_of_persons, protected_rows
from discreet.exact.figures import enumerate_texts
from discreet.exact.numbers import decimal_text, decimal_up
from discreet.pages.words.catalogue import Words
from discreet.privacy.amounts import amount_text
from discreet.privacy.coordinates import Budget
from discreet.totals.adjacency import SemiAdjacency
from discreet.totals.attributes import AttributeChange
from discreet.totals.statements import (
    ExactStatement,
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
)

__all__ = ["NOTHING", "Cost", "Line", "Told"]

NOTHING: Literal["nothing"] = "nothing"
"""What a change costs that no release sees."""

_KINDS: Mapping[type[ExactStatement], str] = {
    TotalsStatement: "totals of",
    OccupiedStatement: "occupied cells of",
    LinearStatement: "sums over",
    ImpossibleStatement: "impossible cells of",
    RangesStatement: "ranges of the counts of",
    FloorStatement: "least counts of",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """A guarantee without counting the totals, and with them: `NOTHING` is spent, or None where no bound is known."""

    advertised: Budget
    effective: Budget | Literal["nothing"] | None


@dataclass(frozen=True, slots=True)
class Line:
    """What one change costs in one plan.

    Args:
        plan: the name of its file.
        neighbours: whose data change, and how.
        about: the attribute that changes; the level that alone would be exact; None for any change.
        columns: those of the exact facts.
        a: how many rows of the compared tables differ at most; None where it is not known.
        cost: of all releases of the plan together.
    """

    plan: str
    neighbours: Neighbours
    about: AttributeChange | ExactStatement | None
    columns: tuple[str, ...]
    a: SemiAdjacency | None
    cost: Cost

    @property
    def is_level(self) -> bool:
        """True for what one exact level would cost by itself."""
        return self.about is not None and not isinstance(self.about, AttributeChange)

    def sentence(self, delta: Fraction | None, words: Words) -> str:
        """The line as people read it."""
        spent = _spent(self.cost, delta)
        if isinstance(self.about, AttributeChange):
            return words.said(self._of_attribute(self.about, spent))
        if self.about is not None:
            end = "what any change would cost is not known" if spent is None else f"any change would cost {spent}"
            return words.said(f"{self.plan}: if only the {_of_level(self.about)} were exact, {end}.")
        start = f"{self.plan}: when {_who(self.neighbours)}, all releases together cost {spent}"
        if not self.columns:
            return words.said(f"{start}, as advertised, because nothing is exact.")
        named, rows = enumerate_texts(self.columns), 1 if self.a is None else self.a.a
        if rows == 1:
            return words.said(
                f"{start}, as advertised, because no other row must change beside the exact numbers about {named}."
            )
        tied = f"up to {rows} rows differ beside the exact numbers about {named}"
        return words.said(f"{start} and not {_amount(self.cost.advertised, delta)} as advertised, because {tied}.")

    def _of_attribute(self, change: AttributeChange, spent: str | None) -> str:
        name, within = change.attribute[0], change.within
        what = f"a change of {name}" if within is None else f"a move of {name} within the same {within}"
        start = f"{self.plan}: {what}"
        if spent == NOTHING:
            return f"{start} alone costs nothing, because no release sees it."
        if spent is None:
            why = "a guarantee with a δ beside it has no known bound for two of its steps"
            return f"{self.plan}: what {what} costs is not known, because {why}."
        if change.rows.a == 1:
            return f"{start} alone costs at most {spent}."
        return f"{start} costs at most {spent}, with all that the exact numbers tie to it (up to {change.rows.a} rows)."

    def to_json(self, delta: Fraction | None) -> dict[str, object]:
        """The line as programs read it."""
        return {
            "plan": self.plan,
            "relation": self.neighbours.word,
            "changed": self._changed(),
            "columns": list(self.about.attribute) if isinstance(self.about, AttributeChange) else None,
            "within": self.about.within if isinstance(self.about, AttributeChange) else None,
            "beside": self._beside(),
            "a": None if self.a is None else self.a.a,
            "exact": None if self.a is None else self.a.exact,
            "reason": None if self.a is None else self.a.reason,
            **_costs(self.cost, delta),
        }

    def _changed(self) -> str:
        if isinstance(self.about, AttributeChange):
            return self.about.attribute[0]
        return "any (if only this were exact)" if self.is_level else "any"

    def _beside(self) -> str:
        if self.about is not None and not isinstance(self.about, AttributeChange):
            return _of_level(self.about)
        return "all of it" if self.columns else "nothing exact"


@dataclass(frozen=True, slots=True)
class Told:
    """What one person with data in every plan pays.

    Args:
        plans: the names of their files.
        cost: of all of them.
    """

    plans: tuple[str, ...]
    cost: Cost

    def sentence(self, delta: Fraction | None, words: Words) -> str:
        """The sum as people read it."""
        advertised = _amount(self.cost.advertised, delta)
        spent = _spent(self.cost, delta)
        named = enumerate_texts(self.plans)
        return words.said(f"One person's part in {named} together costs {spent}; advertised is {advertised}.")

    def to_json(self, delta: Fraction | None) -> dict[str, object]:
        """The sum as programs read it."""
        return _costs(self.cost, delta)


def _costs(cost: Cost, delta: Fraction | None) -> dict[str, object]:
    """Both amounts, with ε at δ where that was asked for; "nothing" where a change is seen by no release."""
    effective = cost.effective
    found: dict[str, object] = {"advertised": amount_text(cost.advertised), "effective": _spent(cost, None)}
    if delta is not None:
        found["epsilon_advertised"] = cost.advertised.epsilon_at(delta)
        found["epsilon_effective"] = _epsilon(effective, delta)
    return found


def _epsilon(effective: Budget | Literal["nothing"] | None, delta: Fraction) -> float | None:
    if effective is None:
        return None
    return 0.0 if effective == NOTHING else effective.epsilon_at(delta)


def _spent(cost: Cost, delta: Fraction | None) -> str | None:
    """What is spent with the totals, in words."""
    effective = cost.effective
    return effective if effective is None or effective == NOTHING else _amount(effective, delta)


def _amount(amount: Budget, delta: Fraction | None) -> str:
    stated = amount_text(amount)
    if delta is None or amount.pair is not None:
        return stated
    epsilon = amount.epsilon_at(delta)
    return f"{stated} (ε = {decimal_up(epsilon) if isfinite(epsilon) else '∞'} at δ = {decimal_text(delta)})"


def _who(neighbours: Neighbours) -> str:
    """Whose data change, and how, as a clause."""
    if is_of_persons(neighbours.word) or neighbours.rows_per_person > 1:
        return f"{protected_rows(neighbours.word) or 'all rows of one person'} are {neighbours.change}"
    return f"one row is {neighbours.change}"


def _of_level(part: ExactStatement) -> str:
    """The part in a few words."""
    return f"{_KINDS[type(part)]} {enumerate_texts(part.columns)}"
