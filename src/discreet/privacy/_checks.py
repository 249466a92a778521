"""The checks that the parameters and arguments of every measure pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, decimal_up, exact, float_down, text

__all__ = [
    "check_delta",
    "exact_texts",
    "group_size",
    "not_negative",
    "positive",
    "repetitions",
    "same_kind",
    "single_amount",
    "target_down",
    "total_delta",
]

_HINT = (
    "guarantees of different measures do not add; convert both first, with g.to_approx(delta) or g.to_zcdp(), "
    "or plan with one measure from the start: ZCDP.for_approx(epsilon, delta)"
)
_M = TypeVar("_M")


def not_negative(value: Amount, name: str) -> Fraction:
    """The exact number.

    Raises:
        ArgumentError: no number, or a negative one.
    """
    number = exact(value, name)
    if not number >= 0:
        raise ArgumentError(f"{name}={text(number)}: must not be negative")
    return number


def positive(value: Amount, name: str) -> Fraction:
    """The exact number.

    Raises:
        ArgumentError: no number, or not above 0.
    """
    number = exact(value, name)
    if not number > 0:
        raise ArgumentError(f"{name}={text(number)}: must be greater than 0")
    return number


def check_delta(value: Amount) -> Fraction:
    """The exact δ.

    Raises:
        ArgumentError: no number, or outside [0, 1).
    """
    number = exact(value, "delta")
    if not 0 <= number < 1:
        raise ArgumentError(f"delta={text(number)}: must be at least 0 and less than 1")
    return number


def total_delta(delta: Fraction) -> Fraction:
    """The δ of a result itself. Raises ArgumentError where it reaches 1."""
    if not delta < 1:
        raise ArgumentError(f"delta={decimal_up(delta)}: the result would not be a guarantee at all, because δ reaches 1")
    return delta


def target_down(epsilon: Amount, delta: Amount) -> tuple[float, float]:
    """A target in doubles, rounded down: what implies the rounded target implies the target."""
    return float_down(not_negative(epsilon, "epsilon")), float_down(check_delta(delta))


def group_size(a: int) -> int:
    """The number of records in a group. Raises ArgumentError below 1."""
    if isinstance(a, bool) or not isinstance(a, int) or a < 1:
        raise ArgumentError(f"a={a!r}: the size of a group must be an integer of at least 1")
    return a


def repetitions(k: int) -> int:
    """The number of repetitions as an int. Raises ArgumentError below 0."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 0:
        raise ArgumentError(f"k={k!r}: the number of repetitions must be an integer of at least 0")
    return k


def same_kind(guarantee: _M, other: object) -> _M:
    """The other guarantee, which is of the same measure. Raises ArgumentError where it is not."""
    if not isinstance(other, type(guarantee)):
        raise ArgumentError(f"{type(guarantee).__name__} + {type(other).__name__}: {_HINT}")
    return other


def single_amount(spend: object, measure: str) -> Fraction:
    """The number that a spend of a measure with one parameter is. Raises ArgumentError."""
    if isinstance(spend, list | tuple):
        raise ArgumentError(f"spend={printed(spend)}: must be a single amount under {measure}")
    return exact(spend, "spend")  # type: ignore[arg-type]  # `exact` refuses what is not a number


def exact_texts(document: Mapping[str, Any], fields: Sequence[str]) -> list[Fraction]:
    """The numbers of these fields of a JSON object. Raises ArgumentError where one is not written as text."""
    if not all(isinstance(document[field], str) for field in fields):
        raise ArgumentError(f"measure: {', '.join(fields)} must be written as text, to stay exact")
    return [exact(document[field], field) for field in fields]
