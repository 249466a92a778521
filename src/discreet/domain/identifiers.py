"""A column that says whose row it is. Its values are compared with one another, and are in nothing that is released."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import PlanError, printed

__all__ = ["Identifier", "not_a_person"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """A column of whole numbers, texts or days whose equal values mark the rows of one person; null marks no person.

    Values are equal if they are the same number, the same day, or texts of the same bytes: " a", "a" and "A" are three
    persons. A row without a person contributes nothing. The column is not a group, a condition or a statistic.
    """

    def to_json(self) -> dict[str, object]:
        """The column as canonical JSON values."""
        return {"type": "identifier"}


def not_a_person(name: str) -> PlanError:
    """The error for an identifier where a column with declared values is needed."""
    return PlanError(
        f"column {printed(name)}: is an Identifier, which says whose row it is; it is not a group, condition or "
        "statistic. Ask for persons(), or leave it out"
    )
