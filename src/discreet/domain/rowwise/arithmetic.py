"""Operations on numbers: 64-bit integers that cannot overflow, and finite doubles.

Integers are computed exactly, and doubles as IEEE 754 says; a result that is not in the type is null. Left out are functions
whose last digit differs between systems, such as logarithms.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from discreet.domain.rowwise.operations import FLOAT, INTEGER, Operation, strict

__all__ = ["ARITHMETIC", "finite", "nearest_whole", "whole"]


def whole(number: int) -> int | None:
    """The number, if it has 64 bits."""
    return number if -(2**63) <= number < 2**63 else None


def finite(number: float) -> float | None:
    """The number, if it is one."""
    return number if math.isfinite(number) else None


def nearest_whole(number: float) -> int | None:
    """The integer nearest to a finite double, ties to even."""
    return whole(round(number))


def _quotient(a: int, b: int) -> int | None:
    """Rounded towards zero."""
    return None if b == 0 else whole(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def _remainder(a: int, b: int) -> int | None:
    """With the sign of the dividend."""
    return None if b == 0 else abs(a) % abs(b) * (1 if a >= 0 else -1)


def _divide(a: float, b: float) -> float | None:
    return None if b == 0 else finite(a / b)


def _round(number: float) -> float:
    """The nearest integer, ties away from zero. What is cut off is exact."""
    cut = math.trunc(number)
    return float(cut + (math.copysign(1, number) if abs(number - cut) >= 0.5 else 0))


def _integers(name: str, function: Callable[..., Any], count: int = 2) -> Operation:
    return Operation(name, (INTEGER,) * count, INTEGER, strict(lambda *values: whole(function(*values))))


def _doubles(name: str, function: Callable[..., Any], count: int = 2) -> Operation:
    return Operation(name, (FLOAT,) * count, FLOAT, strict(lambda *values: finite(function(*values))))


ARITHMETIC = (
    _integers("+", operator.add),
    _integers("-", operator.sub),
    _integers("*", operator.mul),
    _doubles("+", operator.add),
    _doubles("-", operator.sub),
    _doubles("*", operator.mul),
    Operation("/", (FLOAT, FLOAT), FLOAT, strict(_divide)),
    Operation("//", (INTEGER, INTEGER), INTEGER, strict(_quotient)),
    Operation("%", (INTEGER, INTEGER), INTEGER, strict(_remainder)),
    _integers("negative", operator.neg, 1),
    _doubles("negative", operator.neg, 1),
    _integers("abs", abs, 1),
    _doubles("abs", abs, 1),
    _doubles("round", _round, 1),
    _doubles("floor", lambda number: float(math.floor(number)), 1),
    _doubles("ceil", lambda number: float(math.ceil(number)), 1),
)
