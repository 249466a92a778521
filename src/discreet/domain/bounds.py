"""The bound of what one person counts for in a request: in how many groups fully, and with how many rows in each.

A row may stand for several events, as a weight says; then events are bounded.

Nobody is sampled. A person in more groups than the bound counts in each of them with less weight (docs/proofs/persons.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from discreet.domain.columns import Column, Number
from discreet.domain.neighbours import whole_number
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.figures import number

__all__ = ["MOST_GROUPS", "MOST_WEIGHT", "Bound", "bound_step", "bound_words", "check_weight"]

MOST_GROUPS = 4096
"""A person in more groups than these has the weight 0, so that the weights are a finite table."""

_MOST_ROWS = 10**6

MOST_WEIGHT = 10**6
"""A row stands for at most so many events: 2^40 rows of this weight are fewer than 2^60 events."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A person counts fully in up to `groups` groups of the request, with up to `rows` rows in each.

    Args:
        groups: None where it is not stated; a request without groups has one.
        rows: None where it is not stated; only requests that count persons do without it.
        weight: the column that says for how many rows a row of the source stands; None where each stands for itself.
    """

    groups: int | None
    rows: int | None
    weight: str | None = None

    title: ClassVar[str] = "bound()"
    """What messages call the step."""

    def to_json(self) -> dict[str, object]:
        """The step as canonical JSON values."""
        stated: dict[str, object] = {"groups": self.groups, "rows": self.rows, "weight": self.weight}
        return {"step": "bound", **{key: value for key, value in stated.items() if value is not None}}


def bound_step(groups: object, rows: object, weight: object = None) -> Bound:
    """The bound with these whole numbers, at least one of which is given, and with this column of weights, if any.

    Raises:
        PlanError: neither is given, or one is not a whole number from 1 to 4,096 (groups) or to a million (rows); a weight
            that is not the name of a column.
    """
    if weight is not None and not isinstance(weight, str):
        raise PlanError(f"bound(weight={printed(weight)}): must be the name of a column")
    if groups is None and rows is None:
        raise PlanError("bound(): takes a number of groups, of rows, or both, such as bound(groups=8, rows=3)")
    return Bound(_stated(groups, "groups", MOST_GROUPS), _stated(rows, "rows", _MOST_ROWS), weight)


class _Known(Protocol):
    """What is known of a column."""

    @property
    def column(self) -> Column:
        """The column."""


class _Facts(Protocol):
    """What is known of all columns."""

    def __getitem__(self, name: str, /) -> _Known:
        """What is known of this one; a PlanError where it is not declared."""


def check_weight(name: str | None, facts: _Facts) -> None:
    """Checks that the column of weights, if any, has whole numbers from 0 that sums of all rows have room for.

    Raises:
        PlanError: it has not, or it is not declared.
    """
    if name is None:
        return
    column = facts[name].column
    if not isinstance(column, Number) or column.lower != 0 or column.step != 1 or column.upper > MOST_WEIGHT:
        raise PlanError(
            f"bound(weight='{name}'): must be a Number from 0 by 1 to at most {MOST_WEIGHT:,}; declare the column so, such "
            "as Number(0, 1000): larger numbers are then moved to the bound"
        )


def _stated(value: object, name: str, most: int) -> int | None:
    if value is None:
        return None
    try:
        found = whole_number(value, f"bound({name})", least=1)
    except ArgumentError as wrong:
        raise PlanError(str(wrong)) from None
    if found > most:
        raise PlanError(f"bound({name}={found}): must be at most {most:,}; take a smaller bound")
    return found


def bound_words(step: Mapping[str, Any]) -> str:
    """The step, as `to_json` writes it, in a sentence."""
    groups, rows = step.get("groups"), step.get("rows")
    parts = []
    if groups is not None:
        parts.append(
            f"The number of groups in which a person counts fully is at most {number(groups)}; in more groups a person "
            f"counts with less weight in each, and beyond {number(MOST_GROUPS)} groups not at all."
        )
    weight = step.get("weight")
    if weight is not None:
        parts.append(
            f"A row stands for as many rows as '{weight}' says, a whole number within its bounds; a row without a number "
            "there, or with 0, does not count."
        )
    if rows is not None:
        parts.append(f"The number of rows with which a person counts in a group is at most {number(rows)}.")
    return " ".join(parts)
