"""The smallest level at which a test with nuisance parameters rejects, by branch and bound over a noise-aware box of them.

At the level α a test rejects where no parameters in a confidence set, which fails with probability at most α/10, have a
p-value above 0.89 α. The sets shrink as α grows, so that a test that rejects at one level rejects at every higher one, and
the smallest level is a p-value (theorem T5 of docs/proofs/tests.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Box", "Composite", "rejects", "smallest_level", "smallest_rejected"]

_OUTSIDE = 0.1  # of the level: for parameters outside the box
_APART = 0.01  # of the level: for what coupled draws are apart in
_STEPS = 16  # levels in a decade
_FIRST, _LAST = 5, 6 * _STEPS  # levels from 0.49 to 10^-6: above, the p-value is 1


@dataclass(frozen=True, slots=True)
class Box:
    """Integers between lows and highs, both included."""

    lows: tuple[int, ...]
    highs: tuple[int, ...]

    @property
    def centre(self) -> tuple[int, ...]:
        """The integers in the middle."""
        return tuple((low + high) // 2 for low, high in zip(self.lows, self.highs, strict=True))

    def halves(self) -> tuple[Box, ...]:
        """The box cut across its longest side; nothing for a point."""
        sides = [high - low for low, high in zip(self.lows, self.highs, strict=True)]
        if not any(sides):
            return ()
        axis = sides.index(max(sides))
        middle = (self.lows[axis] + self.highs[axis]) // 2
        left = (*self.highs[:axis], middle, *self.highs[axis + 1 :])
        right = (*self.lows[:axis], middle + 1, *self.lows[axis + 1 :])
        return Box(self.lows, left), Box(right, self.highs)


class Composite(Protocol):
    """A hypothesis with integer nuisance parameters."""

    def box(self, failing: float) -> Box | None:
        """Where the parameters are, but for this probability; None where nothing can be said."""

    def above(self, box: Box, apart: float, needed: float) -> float:
        """A number that no p-value in the box exceeds by more than `apart`; 1 where that is plainly above `needed`."""

    def at(self, parameters: tuple[int, ...]) -> float:
        """About the p-value at these parameters: it saves work, and decides nothing in favour of a rejection."""


def smallest_level(test: Composite, most: int) -> float:
    """A p-value: the smallest of fixed levels at which the test rejects; 1 where it does at none.

    Args:
        test: the hypothesis.
        most: how many boxes are looked at for each level; with fewer the p-value is larger, never wrong.
    """
    narrowest = test.box(_OUTSIDE * _level(_FIRST))
    if narrowest is None:
        return 1.0
    return smallest_rejected(lambda level: rejects(test, level, most), test.at(narrowest.centre))


def smallest_rejected(rejected: Callable[[float], bool], guess: float) -> float:
    """The smallest of the fixed levels that is known to be rejected, from a guess; 1 where none is."""
    fails = next((step for step in range(_LAST, _FIRST, -1) if _level(step) > guess), _FIRST)  # the first that can pass
    step, stride = fails, 1
    while not rejected(_level(step)):
        if step == _FIRST:
            return 1.0
        fails, step, stride = step - 1, max(step - stride, _FIRST), 2 * stride
    while fails > step:  # rejected at `step`; not at `fails` + 1
        middle = (fails + step + 1) // 2
        step, fails = (middle, fails) if rejected(_level(middle)) else (step, middle - 1)
    return _level(step)


def _level(step: int) -> float:
    return float(10 ** (-step / _STEPS))


def rejects(test: Composite, level: float, most: int) -> bool:
    """True if all p-values of the box are small enough, which is proved; False also where it was not decided."""
    box = test.box(_OUTSIDE * level)
    if box is None:
        return False
    needed = (1 - _OUTSIDE - _APART) * level
    left = [box]
    for _ in range(most):
        if not left:
            return True
        now = left.pop()
        if test.above(now, _APART * level, needed) <= needed:
            continue
        if test.at(now.centre) > needed:
            return False
        halves = now.halves()
        if not halves:
            return False
        left.extend(halves)
    return not left
