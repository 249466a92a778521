"""The description of an operation: the types that it takes and gives, and its meaning, which never raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.domain.rowwise.tree import Value

__all__ = ["BOOLEAN", "DAY", "FLOAT", "INTEGER", "NULL", "ORDERED", "TEXT", "TYPES", "Operation", "strict"]

INTEGER, FLOAT, TEXT, BOOLEAN, DAY = "integer", "float", "text", "boolean", "date"
TYPES = (INTEGER, FLOAT, TEXT, BOOLEAN, DAY)
ORDERED = (INTEGER, FLOAT, TEXT, DAY)
NULL = "null"
"""The type of the literal NULL, which becomes whichever is asked for."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A total function of values of certain types: every choice of arguments, nulls too, has a value, or null.

    Its result has the type `gives` and, if it is a text, at most as many characters as its arguments together, or 20.

    Args:
        name: by which the tree knows it.
        takes: the types of its arguments.
        gives: the type of its value.
        meaning: the value, or None for null; called with values of these types, or None. Never raises.
        repeats: the number of first arguments that are given once or more often.
        literals: the arguments that must be literals, by their numbers.
        allows: what is wrong with these literals, in words that follow "must"; empty where nothing is.
    """

    name: str
    takes: tuple[str, ...]
    gives: str
    meaning: Callable[..., Value]
    repeats: int = 0
    literals: tuple[int, ...] = ()
    allows: Callable[[Sequence[Value]], str] = lambda _: ""

    def takes_for(self, count: int) -> tuple[str, ...] | None:
        """The types of a number of arguments; None where it does not take that many."""
        if not self.repeats:
            return self.takes if count == len(self.takes) else None
        more = count - len(self.takes)
        if more < 0 or more % self.repeats:
            return None
        return self.takes[: self.repeats] * (more // self.repeats) + self.takes


def strict(meaning: Callable[..., Value]) -> Callable[..., Value]:
    """A function that is null where an argument is."""
    return lambda *values: None if any(value is None for value in values) else meaning(*values)
