"""The scan of a table of persons: whose row it is, in which cell of the request it is, and what a person counts for.

A cell is a group of the *request*, after clamps, conditions and bins: the bound is on these, and on nothing finer. What an
engine answers with is a cube of the cells of the request, whose sums are already over persons.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from discreet.cube.value_paths import KeyAxis, NumberPath, Path
from discreet.cube.weights import WEIGHTINGS, Weighting, weight
from discreet.domain.bounds import MOST_GROUPS

__all__ = ["MOST_STEPS", "PersonKey", "PersonScan", "PersonValue", "column_of_total", "column_of_value"]

MOST_STEPS = 2**40
"""The bounds of a total are within so many steps of 0: totals of 2**40 persons of any weight stay below 2**100."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonKey:
    """One group of the request: the labels of its axis from `first` on are its places; null has the place `null`.

    Any other label, and null where `null` is None, is in no group: the row contributes nothing.
    """

    axis: KeyAxis
    first: int
    places: int
    null: int | None


@dataclass(frozen=True, slots=True, eq=False)
class PersonValue:
    """The total of a column over the rows of a person in a cell: Σ (step·code + origin) over its values, then clamped.

    A person without a value there has no total, and adds 0.

    Args:
        path: how the column is read.
        step: what a code is worth, in steps of the total.
        origin: what the code 0 is worth.
        low: the least total.
        high: the greatest total.
    """

    path: NumberPath
    step: int
    origin: int
    low: int
    high: int

    def clamped(self, known: int, codes: int) -> int:
        """The total of `known` ≥ 1 values whose codes add up to `codes`."""
        return min(max(self.step * codes + self.origin * known, self.low), self.high)


@dataclass(frozen=True, slots=True, eq=False)
class PersonScan:
    """One reading of a table of persons.

    Args:
        person: the identifier. A row that is null in it contributes nothing.
        keys: the groups of the request, the last one fastest.
        sizes: how many labels each group has in the release.
        tests: the conditions: a row counts where each has the label 1.
        groups: L, in how many cells a person counts fully.
        rows: R, how many rows of a person in a cell count.
        values: the columns of which each person has a total.
        weight: for how many rows a row stands: its code, and a row with the code 0 or null contributes nothing. None where
            each stands for itself.
    """

    person: str
    keys: tuple[PersonKey, ...]
    sizes: tuple[int, ...]
    tests: tuple[KeyAxis, ...]
    groups: int
    rows: int
    values: tuple[PersonValue, ...] = ()
    weight: NumberPath | None = None

    @property
    def cells(self) -> int:
        """The number of cells of the request."""
        return prod(self.sizes)

    @property
    def axes(self) -> tuple[KeyAxis, ...]:
        """All axes: of the groups, then of the conditions."""
        return (*(key.axis for key in self.keys), *self.tests)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, the identifier first."""
        read = (path.name for path in self.paths)
        return tuple(dict.fromkeys([self.person, *read]))

    @property
    def paths(self) -> tuple[Path, ...]:
        """How each column is read: of the axes, then of the values, then of the weight."""
        weight = () if self.weight is None else (self.weight,)
        return (*(axis.path for axis in self.axes), *(one.path for one in self.values), *weight)

    @property
    def is_wide(self) -> bool:
        """True if its totals may need more than 64 bits: totals of values do, and rows that stand for others."""
        return bool(self.values) or self.weight is not None

    @property
    def weights(self) -> list[tuple[int, ...]]:
        """For each larger one of `groups` and the cells that a person can be in: this number and its weights.

        Beyond `MOST_GROUPS` it is 0.
        """
        counts = range(self.groups, min(self.cells, MOST_GROUPS) + 1)
        return [(g, *(weight(weighting, g, self.groups, self.cells) for weighting in WEIGHTINGS)) for g in counts]


def column_of_total(weighting: Weighting, *, of_rows: bool) -> int:
    """The place of a total among the sums of the cube: persons by each weighting, then rows by each."""
    return WEIGHTINGS.index(weighting) + len(WEIGHTINGS) * of_rows


def column_of_value(weighting: Weighting, place: int, *, of_totals: bool) -> int:
    """The place of a sum about the value of this place: persons with a value by each weighting, then totals by each."""
    return column_of_total(weighting, of_rows=of_totals) + 2 * len(WEIGHTINGS) * (1 + place)
