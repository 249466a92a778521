"""Who is compared with whom: the two neighbouring relations a custodian can declare."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import SupportsIndex, cast

from discreet.errors import ArgumentError, printed

__all__ = ["AddRemove", "Neighbours", "ReplaceOne", "whole_number"]


@dataclass(frozen=True, slots=True)
class AddRemove:
    """Two tables are neighbours when one has `rows_per_person` rows more; the number of rows is private."""

    rows_per_person: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows_per_person", whole_number(self.rows_per_person, "rows_per_person", least=1))

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        return {"relation": "add-remove", "rows_per_person": self.rows_per_person}


@dataclass(frozen=True, slots=True)
class ReplaceOne:
    """Two tables of exactly `rows` rows are neighbours when they differ in `rows_per_person` rows; `rows` is public.

    A source with another number of rows fails the release, without saying how many there are (soundness 4).
    """

    rows: int
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", whole_number(self.rows, "rows", least=1))
        object.__setattr__(self, "rows_per_person", whole_number(self.rows_per_person, "rows_per_person", least=1))

    def to_json(self) -> dict[str, object]:
        """The relation as canonical JSON values."""
        return {"relation": "replace-one", "rows": self.rows, "rows_per_person": self.rows_per_person}


Neighbours = AddRemove | ReplaceOne


def whole_number(value: object, name: str, *, least: int) -> int:
    """`value` as a Python int of at least `least` and below 2**40.

    Raises:
        ArgumentError: booleans, other types, or outside the range.
    """
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ArgumentError(f"{name}={printed(value)}: must be a whole number")
    if not least <= number < 2**40:
        raise ArgumentError(f"{name}={printed(number)}: must be at least {least} and below 2**40")
    return number
