"""Numbers whose every operation is off by the most that a rounding may be, in the direction that does the most harm.

A formula that is written for doubles is run on them; the error bound in it has to make up for all of it, and for no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mpmath import mp, mpf

UNIT = mpf(2) ** -53


@dataclass
class Machine:
    """An arithmetic: `signs[i]` says how the i-th operation is displaced; functions are off by `library` units."""

    library: int
    signs: dict[int, int] = field(default_factory=dict)
    count: int = 0
    exponent: mpf | None = None
    """What the exponential function was last asked for."""

    def rounded(self, exactly: mpf, units: int = 1) -> Worst:
        """The result of the next operation."""
        sign = self.signs.get(self.count, 0)
        self.count += 1
        return Worst(exactly * (1 + sign * units * UNIT), self)

    def number(self, value: float) -> Worst:
        """A double, without an error."""
        return Worst(mpf(value), self)


class Worst:
    """A number of a `Machine`."""

    def __init__(self, value: mpf, machine: Machine) -> None:
        """`value` is exact."""
        self.value, self.machine = value, machine

    def _with(self, other: Any, operation: Callable[[mpf, mpf], mpf]) -> Worst:
        second = other.value if isinstance(other, Worst) else mpf(other)
        exactly = operation(self.value, second)
        is_sum_with_nothing = 0 in (self.value, second) and exactly in (self.value, second, -second)
        return Worst(exactly, self.machine) if is_sum_with_nothing else self.machine.rounded(exactly)

    def __add__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Worst:
        return self._with(other, lambda a, b: b / a)

    def __neg__(self) -> Worst:
        return Worst(-self.value, self.machine)

    def __abs__(self) -> Worst:
        return Worst(abs(self.value), self.machine)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < (other.value if isinstance(other, Worst) else mpf(other)))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= (other.value if isinstance(other, Worst) else mpf(other)))

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def exp(self) -> Worst:
        self.machine.exponent = self.value
        return self.machine.rounded(mp.exp(self.value), self.machine.library)

    def log(self) -> Worst:
        return self.machine.rounded(mp.log(self.value), self.machine.library)

    def log1p(self) -> Worst:
        return self.machine.rounded(mp.log1p(self.value), self.machine.library)


def least(compute: Callable[[Machine], Any], library: int) -> tuple[mpf, Machine]:
    """The least that `compute` can give, to first order, and its machine: every operation is displaced to that side."""
    plain = Machine(library)
    middle = _value(compute(plain))
    signs = {place: -1 if _value(compute(Machine(library, {place: 1}))) > middle else 1 for place in range(plain.count)}
    worst = Machine(library, signs)
    return _value(compute(worst)), worst


def _value(result: Any) -> mpf:
    return result.value if isinstance(result, Worst) else mpf(result)
