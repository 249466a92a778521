"""Imputation laws, the distributions that replace nulls: fixed, public, independent of the data (seed 001, section 3).

On the grid every law is a table of integer weights, one per code, computed once from the plan. A continuous law is rounded
to the nearest grid value, and its mass outside the bounds is moved to the bounds (clipped, not truncated).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from discreet.domain.categories import Value
from discreet.domain.columns import Category, Column, Date, Number
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.numbers import Amount, exact, text

__all__ = ["ImputationLaw", "Normal", "Uniform", "Weights", "check_law", "integer_weights", "law_json", "law_weights"]

# The weights of a clipped normal are rounded to multiples of 2**-48: the rounded table defines the law.
_NORMAL_SCALE = 2**48
_MAX_TOTAL = 2**62
_MAX_VALUES = 2**22  # a table of this many weights is still made in a second
_MOST_NORMAL = 10**60


@dataclass(frozen=True, slots=True, init=False)
class Uniform:
    """Uniform on [lower, upper] (default: the column's bounds at that step), rounded to the grid.

    Rounding gives the two end values half the weight of the others.
    """

    lower: Fraction | None
    upper: Fraction | None

    def __init__(self, lower: Amount | None = None, upper: Amount | None = None) -> None:
        object.__setattr__(self, "lower", None if lower is None else exact(lower, "Uniform(lower)"))
        object.__setattr__(self, "upper", None if upper is None else exact(upper, "Uniform(upper)"))


@dataclass(frozen=True, slots=True, init=False)
class Normal:
    """Normal with `mean` and `sd` > 0, clipped to [lower, upper] (default: the column's bounds), rounded to the grid."""

    mean: Fraction
    sd: Fraction
    lower: Fraction | None
    upper: Fraction | None

    def __init__(self, mean: Amount, sd: Amount, lower: Amount | None = None, upper: Amount | None = None) -> None:
        object.__setattr__(self, "mean", exact(mean, "Normal(mean)"))
        object.__setattr__(self, "sd", exact(sd, "Normal(sd)"))
        object.__setattr__(self, "lower", None if lower is None else exact(lower, "Normal(lower)"))
        object.__setattr__(self, "upper", None if upper is None else exact(upper, "Normal(upper)"))
        if not self.sd > 0:
            raise ArgumentError(f"Normal(sd)={text(self.sd)}: must be greater than 0; for a constant use Uniform(x, x)")
        if not Fraction(1, 10**12) <= self.sd <= _MOST_NORMAL or not abs(self.mean) <= _MOST_NORMAL:
            raise ArgumentError("Normal(mean, sd): mean must be within ±1e60, and sd between 1e-12 and 1e60")


@dataclass(frozen=True, slots=True, init=False)
class Weights:
    """One of several categories, each with its weight ≥ 0; categories that are not named have weight 0."""

    weights: Mapping[Value, Fraction]

    def __init__(self, weights: Mapping[Value, Amount]) -> None:
        if not isinstance(weights, Mapping) or not weights:
            raise ArgumentError("Weights: needs a mapping of categories to weights, such as {'F': 1, 'M': 1}")
        taken = {value: exact(weight, f"Weights[{printed(value)}]") for value, weight in weights.items()}
        for value, weight in taken.items():
            if weight < 0:
                raise ArgumentError(f"Weights[{printed(value)}]={text(weight)}: must not be negative")
        if not sum(taken.values()) > 0:
            raise ArgumentError("Weights: at least one weight must be greater than 0")
        object.__setattr__(self, "weights", MappingProxyType(taken))

    def __hash__(self) -> int:
        return hash(frozenset(self.weights.items()))

    def __reduce__(self) -> tuple[type[Weights], tuple[dict[Value, Fraction]]]:
        return Weights, (dict(self.weights),)


ImputationLaw = Uniform | Normal | Weights


def check_law(law: ImputationLaw, column: Column, low: int, high: int, kept: tuple[int, ...]) -> None:
    """Checks that `law` can impute a column with the codes [low, high] (numbers) or `kept` (categories).

    Raises:
        ArgumentError: a law of the wrong kind, bounds off the grid or outside, unknown categories, weights beyond 2**62,
            more than 2**22 grid values.
    """
    if isinstance(column, Category):
        if not isinstance(law, Weights):
            raise ArgumentError(f"{type(law).__name__}: a categorical column is imputed by Weights({{category: weight}})")
        values = [column.values[code] for code in kept]
        for value in law.weights:
            if column.code(value, "Weights") not in kept:
                raise ArgumentError(
                    f"Weights[{printed(value)}]: an earlier clamp has removed this category{did_you_mean(value, values)}"
                )
    else:
        if isinstance(law, Weights):
            raise ArgumentError("Weights: a number or date is imputed by Uniform() or Normal(mean, sd)")
        _law_bounds(law, column, low, high)
        if high - low >= _MAX_VALUES:
            raise ArgumentError(
                f"{type(law).__name__}: the column has {high - low + 1} grid values, and at most {_MAX_VALUES} can be "
                "imputed; take a coarser step, or clamp to narrower bounds first"
            )
    law_weights(law, column, low, high)


def law_weights(law: ImputationLaw, column: Column, low: int, high: int) -> NDArray[np.int64]:
    """The integer weights of the codes low, …, high (of all categories for `Weights`), with a sum in [1, 2**62]."""
    if isinstance(law, Weights):
        if not isinstance(column, Category):
            raise ArgumentError("Weights: only for a categorical column")
        shares = [Fraction(0)] * column.size
        for value, weight in law.weights.items():
            shares[column.code(value, "Weights")] = weight
        return integer_weights(shares)
    if isinstance(column, Category):
        raise ArgumentError(f"{type(law).__name__}: only for a numeric column")
    first, last = _law_bounds(law, column, low, high)
    weights = np.zeros(high - low + 1, dtype=np.int64)
    inside = weights[first - low : last - low + 1]
    inside[:] = _uniform_weights(last - first + 1) if isinstance(law, Uniform) else _normal_weights(law, column, first, last)
    return weights


def integer_weights(shares: list[Fraction]) -> NDArray[np.int64]:
    """Integers in the exact proportions of `shares`.

    Raises:
        ArgumentError: the smallest such integers add up to more than 2**62.
    """
    common = lcm(*(share.denominator for share in shares))
    scaled = [int(share * common) for share in shares]
    shrink = math.gcd(*scaled)
    if sum(scaled) // shrink > _MAX_TOTAL:
        raise ArgumentError("the weights need more than 62 bits in exact proportion; round them to fewer digits")
    return np.array([weight // shrink for weight in scaled], dtype=np.int64)


def _law_bounds(law: Uniform | Normal, column: Number | Date, low: int, high: int) -> tuple[int, int]:
    if law.lower is None and law.upper is None:
        return low, high
    if isinstance(column, Date):
        raise ArgumentError(f"{type(law).__name__}: dates are imputed between the column's own bounds; clamp first")
    first = low if law.lower is None else column.code(law.lower, "lower")
    last = high if law.upper is None else column.code(law.upper, "upper")
    if not low <= first <= last <= high:
        bounds = f"[{text(column.value(low))}, {text(column.value(high))}]"
        raise ArgumentError(f"{type(law).__name__}: lower ≤ upper must be within the column's bounds {bounds}")
    return first, last


def _uniform_weights(size: int) -> NDArray[np.int64]:
    weights = np.full(size, 2, dtype=np.int64)
    if size > 1:
        weights[0] = weights[-1] = 1
    return weights


@lru_cache(maxsize=4)
def _normal_weights(law: Normal, column: Number | Date, first: int, last: int) -> NDArray[np.int64]:
    step = float(column.step) if isinstance(column, Number) else 1.0
    origin = float(column.lower) if isinstance(column, Number) else float(column.first_day)
    mean, spread = float(law.mean), float(law.sd) * math.sqrt(2)
    # Edges halfway between grid values; below the first and above the last the mass is clipped to the ends.
    edges = [(origin + (code + 0.5) * step - mean) / spread for code in range(first, last)]
    below = [0.0, *(math.erfc(-edge) / 2 for edge in edges), 1.0]
    above = [1.0, *(math.erfc(edge) / 2 for edge in edges), 0.0]
    # Differences are taken in the tail where both numbers are small, to avoid cancellation.
    masses = [below[k + 1] - below[k] if below[k + 1] < 0.5 else above[k] - above[k + 1] for k in range(last - first + 1)]
    weights = np.array([max(0, round(mass * _NORMAL_SCALE)) for mass in masses], dtype=np.int64)
    if not weights.any():
        weights[0 if float(law.mean) < origin + first * step else -1] = 1
    return weights


def law_json(law: ImputationLaw) -> dict[str, object]:
    """The law as canonical JSON values."""
    if isinstance(law, Weights):
        return {"distribution": "weights", "weights": [[value, text(weight)] for value, weight in law.weights.items()]}
    bounds = {"lower": law.lower, "upper": law.upper}
    shown: dict[str, object] = {key: text(value) for key, value in bounds.items() if value is not None}
    if isinstance(law, Uniform):
        return {"distribution": "uniform", **shown}
    return {"distribution": "normal", "mean": text(law.mean), "sd": text(law.sd), **shown}
