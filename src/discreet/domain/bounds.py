"""The bound of what one person counts for in a request: in how many groups fully, and with how many rows in each.

Nobody is sampled. A person in more groups than the bound counts in each of them with less weight (docs/proofs/persons.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.domain.neighbours import whole_number
from discreet.errors import ArgumentError, PlanError
from discreet.exact.figures import number

__all__ = ["MOST_GROUPS", "Bound", "bound_step", "bound_words"]

MOST_GROUPS = 4096
"""A person in more groups than these has the weight 0, so that the weights are a finite table."""

_MOST_ROWS = 10**6


@dataclass(frozen=True, slots=True)
class Bound:
    """A person counts fully in up to `groups` groups of the request, with up to `rows` rows in each.

    Args:
        groups: None where it is not stated; a request without groups has one.
        rows: None where it is not stated; only requests that count persons do without it.
    """

    groups: int | None
    rows: int | None

    def to_json(self) -> dict[str, object]:
        """The step as canonical JSON values."""
        stated = {"groups": self.groups, "rows": self.rows}
        return {"step": "bound", **{key: value for key, value in stated.items() if value is not None}}


def bound_step(groups: object, rows: object) -> Bound:
    """The bound with these whole numbers, at least one of which is given.

    Raises:
        PlanError: neither is given, or one is not a whole number from 1 to 4,096 (groups) or to a million (rows).
    """
    if groups is None and rows is None:
        raise PlanError("bound(): takes a number of groups, of rows, or both, such as bound(groups=8, rows=3)")
    return Bound(_stated(groups, "groups", MOST_GROUPS), _stated(rows, "rows", _MOST_ROWS))


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
    if rows is not None:
        parts.append(f"The number of rows with which a person counts in a group is at most {number(rows)}.")
    return " ".join(parts)
