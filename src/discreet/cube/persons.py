"""The scan of a table of persons: whose row it is, in which cell of the request it is, and what a person counts for.

A cell is a group of the *request*, after clamps, conditions and bins: the bound is on these, and on nothing finer. What an
engine answers with is a cube of the cells of the request, whose sums are already over persons.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from discreet.cube.value_paths import KeyAxis
from discreet.cube.weights import WEIGHTINGS, Weighting, weight
from discreet.domain.bounds import MOST_GROUPS

__all__ = ["PersonKey", "PersonScan", "column_of_total"]


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
class PersonScan:
    """One reading of a table of persons.

    Args:
        person: the identifier. A row that is null in it contributes nothing.
        keys: the groups of the request, the last one fastest.
        sizes: how many labels each group has in the release.
        tests: the conditions: a row counts where each has the label 1.
        groups: L, in how many cells a person counts fully.
        rows: R, how many rows of a person in a cell count.
    """

    person: str
    keys: tuple[PersonKey, ...]
    sizes: tuple[int, ...]
    tests: tuple[KeyAxis, ...]
    groups: int
    rows: int

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
        return tuple(dict.fromkeys([self.person, *(axis.name for axis in self.axes)]))

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
