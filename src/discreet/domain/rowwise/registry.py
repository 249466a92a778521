"""All operations, in one tuple, and the one that is meant by a name and the types of its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.domain.rowwise.arithmetic import ARITHMETIC
from discreet.domain.rowwise.casts import CASTS
from discreet.domain.rowwise.conditions import CONDITIONS
from discreet.domain.rowwise.days import DAYS
from discreet.domain.rowwise.operations import FLOAT, INTEGER, NULL, Operation
from discreet.domain.rowwise.texts import TEXTS

__all__ = ["FUNCTIONS", "OPERATIONS", "find_operation"]

OPERATIONS: tuple[Operation, ...] = (*ARITHMETIC, *CONDITIONS, *TEXTS, *DAYS, *CASTS)
"""Each takes and gives other types than its namesakes. The first that fits is meant."""

_GRAMMAR = {"negative", "and", "or", "not", "in", "between", "like", "case"}
FUNCTIONS = tuple(dict.fromkeys(one.name for one in OPERATIONS if one.name.isidentifier() and one.name not in _GRAMMAR))
"""The names that a query calls; the other operations have signs or words of their own."""


def find_operation(name: str, given: Sequence[str]) -> Operation | None:
    """The operation of this name for arguments of these types; None where there is none.

    NULL is of every type. An integer is also a double, where no operation takes the integer.
    """
    own = [one for one in OPERATIONS if one.name == name]
    for fits in (_exactly, _nearly):
        for one in own:
            takes = one.takes_for(len(given))
            if takes is not None and all(map(fits, given, takes)):
                return one
    return None


def _exactly(given: str, taken: str) -> bool:
    return given in {taken, NULL}


def _nearly(given: str, taken: str) -> bool:
    return _exactly(given, taken) or (given, taken) == (INTEGER, FLOAT)
