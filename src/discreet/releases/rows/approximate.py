"""About how far a number that is computed from rows may be off, from rows that were made again with simulated noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

__all__ = ["Approximate", "about"]


@dataclass(frozen=True, slots=True)
class Approximate:
    """A number of rows with an approximate interval: nothing is proved of it.

    Args:
        value: the number of the rows.
        low: the lower end.
        high: the upper end.
        level: about how often the number of the data lies between both, if the rows have everything that it depends on.
        files: how many files of rows were made for it.
    """

    value: float
    low: float
    high: float
    level: float
    files: int

    def __str__(self) -> str:
        return f"{self.value:,.6g}, approximately from {self.low:,.6g} to {self.high:,.6g} ({self.files} simulated files)"


def about(value: float, simulated: Sequence[float], level: float) -> Approximate:
    """The interval around a number of rows, less what making rows moves it by on average, from numbers of simulated rows.

    What they differ by from the number that they were made of is taken for what it differs by from the number of the data,
    and for normal; their own number makes the interval wider.
    """
    from scipy.special import stdtrit

    many = len(simulated)
    half = float(stdtrit(many - 1, (1 + level) / 2)) * stdev(simulated) * sqrt(1 + 1 / many)
    middle = 2 * value - fmean(simulated)
    return Approximate(value, middle - half, middle + half, level, many)
