"""The law of a draw: whole weights that fall exponentially with the costs of the values, the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from discreet.releases.rows.model import PARTS, Integers

__all__ = ["IMPOSSIBLE", "Law", "exponentials"]

_STEPS = 512  # of the exponent to a factor of e
_LAST = 8704  # e^-17: the weight is 0
_SHIFT = 20
_WEIGHT = 24  # bits of a weight

IMPOSSIBLE = 1 << 58
"""The cost of a cell in which no row can be: more than all tables together can cost."""


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """Weights that fall exponentially with the cost: factor · cost >> 20 steps of 1/512 in the exponent.

    Args:
        factors: for rows that stand for so many their factor.
        weights: of a number of steps.
    """

    factors: Integers
    weights: Integers

    @classmethod
    def of(cls, beta: Fraction, unit: Fraction, each: Integers) -> Law:
        """The law at an inverse temperature, for costs in units of a precision.

        Args:
            beta: the inverse temperature.
            unit: the precision, per squared row, of a weight of 1.
            each: for how many rows stand.
        """
        factors = np.zeros(int(each.max(initial=1)) + 1, dtype=np.int64)
        for many in np.unique(each).tolist():
            factors[many] = max(1, round((1 << _SHIFT) * _STEPS * beta * unit * many / PARTS))
        return cls(factors, exponentials())

    def cumulated(self, costs: Integers, each: Integers) -> Integers:
        """For each row of costs the cumulated weights of its values, the last of them in [1, 2^31).

        What costs `IMPOSSIBLE` more than another value has the weight 0.
        """
        factors = self.factors[each][:, None]
        above = np.minimum(costs - costs.min(axis=1, keepdims=True), (_LAST << _SHIFT) // factors + 1)
        steps = np.minimum(above * factors >> _SHIFT, _LAST)
        narrow = max(0, costs.shape[1].bit_length() - 7)
        return np.cumsum(self.weights[steps] >> narrow, axis=1)


@cache
def exponentials() -> Integers:
    """floor(2^24 e^(-k/512)), k = 0 … 8704; the last ones are 0."""
    context = Context(prec=50)
    powers = (context.exp(context.divide(Decimal(-k), _STEPS)) for k in range(_LAST + 1))
    found = np.array([int(context.multiply(one, 1 << _WEIGHT)) for one in powers], dtype=np.int64)
    found.flags.writeable = False
    return found
