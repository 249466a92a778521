"""A column of texts that nobody can list beforehand: its values are names of groups once they are found."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.domain.neighbours import whole_number
from discreet.errors import ArgumentError, PlanError, SchemaError, printed

__all__ = ["Text", "wrong_use"]

_MOST_LENGTH = 1_000


@dataclass(frozen=True, slots=True, init=False)
class Text:
    """A column of texts whose values are not known beforehand: `Discover` finds those that many persons have.

    A text is taken in Unicode's form NFC. One of more than `max_length` characters, an empty one, and one with control
    characters, line breaks or U+FFFD is null.

    Raises:
        SchemaError: `max_length` is not a whole number from 1 to 1,000.
    """

    max_length: int

    def __init__(self, max_length: int) -> None:
        try:
            most = whole_number(max_length, "max_length", least=1)
        except ArgumentError as wrong:
            raise SchemaError(str(wrong)) from None
        if most > _MOST_LENGTH:
            raise SchemaError(f"max_length={printed(max_length)}: must be at most {_MOST_LENGTH}; names of groups are short")
        object.__setattr__(self, "max_length", most)

    def to_json(self) -> dict[str, object]:
        """The column as canonical JSON values."""
        return {"type": "text", "max_length": self.max_length}


def wrong_use(name: str) -> PlanError:
    """The error for a column of texts where a column with declared values is needed."""
    return PlanError(
        f"column {printed(name)}: is a Text, whose values nobody listed; group by dp.Discover({printed(name)}), which finds "
        "those that many persons have"
    )
