"""The scan of a table of persons: whose row it is, in which cell of the request it is, and what a person counts for.

A cell is a group of the *request*, after clamps, conditions and bins: the bound is on these, and on nothing finer. What an
engine answers with is a cube of the cells of the request, whose sums are already over persons.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from discreet.cube.cube import Cube
from discreet.cube.person_numbers import Here, KnownUpTo, Parts, PersonNumber, RowsUpTo, Total, share_unit
from discreet.cube.tables import Beside
from discreet.cube.value_paths import KeyAxis, NumberPath, Path, paths_read
from discreet.cube.weights import WEIGHTINGS, Weighting, weight
from discreet.domain.bounds import MOST_GROUPS

__all__ = [
    "MOST_STEPS",
    "NOWHERE",
    "InFull",
    "PersonKey",
    "PersonScan",
    "PersonSpread",
    "PersonValue",
    "column_of",
    "is_wide",
    "part_of",
]

NOWHERE = -1
"""The place of rows that are not divided among bins at all."""

MOST_STEPS = 2**40
"""The bounds of a total are within so many steps of 0: totals of 2**40 persons of any weight stay below 2**100."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonKey:
    """One group of the request: the labels of its axis from `first` on are its places; null has the place `null`.

    Any other label, and null where `null` is None, is in no group: the row contributes nothing. A place adds `stride` times
    itself to the number of the cell.
    """

    axis: KeyAxis
    first: int
    places: int
    null: int | None
    stride: int


@dataclass(frozen=True, slots=True, eq=False)
class PersonValue:
    """A column whose codes are added up over the rows of a person in a cell.

    Args:
        column: its name in the request.
        path: how it is read.
        squared: whether the squares of 2·code − low − high, twice the distance from the middle, are added up too.
    """

    column: str
    path: NumberPath
    squared: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PersonSpread:
    """The bins, or single values, of a column among which a person is divided in each cell, by her rows there (U5).

    Args:
        axis: the labels from `first` on are the bins.
        first: the label of the first bin.
        inside: how many bins have such labels, one each.
        bins: the number of bins, that of null included.
        null: the bin of null; None where rows without a value do not count.
        outside: whether rows outside all bins count among the rows of the person, though in no bin.
    """

    axis: KeyAxis
    first: int
    inside: int
    bins: int
    null: int | None
    outside: bool

    def place(self, label: int) -> int:
        """The bin of a row; `bins` where it counts in none; `NOWHERE` where it does not count."""
        if label == self.axis.path.null_target:
            return NOWHERE if self.null is None else self.null
        if self.first <= label < self.first + self.inside:
            return label - self.first
        return self.bins if self.outside else NOWHERE


@dataclass(frozen=True, slots=True)
class InFull:
    """When a person counts with all that she has: in no more cells than `groups`, and within these bounds in each of them.

    Args:
        groups: L.
        rows: R, or None where rows do not count.
        totals: the totals that have to be within their bounds.
    """

    groups: int
    rows: int | None
    totals: tuple[Total, ...]

    def holds_in(self, rows: int, parts: Parts) -> bool:
        """True if all that a person has in a cell counts there."""
        return (self.rows is None or rows <= self.rows) and all(one.is_within(rows, parts) for one in self.totals)


@dataclass(frozen=True, slots=True, eq=False)
class PersonScan:
    """One reading of a table of persons.

    Args:
        person: the identifier. A row that is null in it contributes nothing.
        keys: the groups of the request whose columns this reading has; the cell is 0 in the others.
        sizes: how many labels each group has in the release.
        tests: the conditions: a row counts where each has the label 1.
        groups: L, in how many cells a person counts fully.
        rows: R, how many rows of a person in a cell count.
        values: the columns whose values count.
        numbers: what a person counts for in a cell, each by the names of these columns.
        spreads: among what she is divided in a cell.
        in_full: when a person counts with all that she has; None where nobody asks.
        weight: for how many rows a row stands: its code, and a row with the code 0 or null contributes nothing. None where
            each stands for itself.
        beside: the tables of persons that have the columns of some keys, tests, values and spreads.
    """

    person: str
    keys: tuple[PersonKey, ...]
    sizes: tuple[int, ...]
    tests: tuple[KeyAxis, ...]
    groups: int
    rows: int
    values: tuple[PersonValue, ...] = ()
    numbers: tuple[PersonNumber, ...] = ()
    spreads: tuple[PersonSpread, ...] = ()
    in_full: InFull | None = None
    weight: NumberPath | None = None
    beside: tuple[Beside, ...] = ()

    @property
    def cells(self) -> int:
        """The number of cells of the request."""
        return prod(self.sizes)

    @property
    def axes(self) -> tuple[KeyAxis, ...]:
        """All axes: of the groups, of the conditions, then of the bins."""
        return (*(key.axis for key in self.keys), *self.tests, *(one.axis for one in self.spreads))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, the identifier first."""
        return tuple(dict.fromkeys([self.person, *(path.name for path in self.read)]))

    @property
    def read(self) -> tuple[Path, ...]:
        """How each column of the source is read."""
        return tuple(one for path in self.paths for one in paths_read(path))

    @property
    def paths(self) -> tuple[Path, ...]:
        """How each column of the table is read: of the axes, then of the values, then of the weight."""
        weight = () if self.weight is None else (self.weight,)
        return (*(axis.path for axis in self.axes), *(one.path for one in self.values), *weight)

    @property
    def is_wide(self) -> bool:
        """True if its totals may need more than 64 bits: those of values do, and of rows that stand for others."""
        return self.weight is not None or bool(self.spreads) or any(is_wide(number) for number in self.numbers)

    @property
    def unit(self) -> int:
        """The parts into which a row is divided among bins."""
        return share_unit(self.rows)

    def share(self, rows: int, of: int) -> int:
        """What so many rows of a person in a bin count for, of so many in the cell."""
        return self.unit * rows * min(of, self.rows) // of

    @property
    def weights(self) -> list[tuple[int, ...]]:
        """For each larger one of `groups` and the cells that a person can be in: this number and its weights.

        Beyond `MOST_GROUPS` it is 0.
        """
        counts = range(self.groups, min(self.cells, MOST_GROUPS) + 1)
        return [(g, *(weight(weighting, g, self.groups, self.cells) for weighting in WEIGHTINGS)) for g in counts]


def column_of(number: int, weighting: Weighting) -> int:
    """The place, among the sums of the cube, of the total of the number at this place with these weights."""
    return number * len(WEIGHTINGS) + WEIGHTINGS.index(weighting)


def is_wide(number: PersonNumber) -> bool:
    """True if totals over persons may need more than 64 bits: those of 2**40 rows that weigh up to 2**20 each do not."""
    return not isinstance(number, Here | RowsUpTo | KnownUpTo)


def part_of(cube: Cube, part: int) -> Cube:
    """The cells of one part of what an engine answers with: 0 has the totals of numbers, the others those of spreads."""
    own = cube.keys[:, 1] == part
    return Cube(cube.keys[own], cube.rows[own], cube.nonnull[own], cube.sums[own])
