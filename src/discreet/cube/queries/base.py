"""The definition of a query: how far a row can change it, what it reads, how the cube answers it, and its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np

from discreet.cube.cells import Codes, Integers, some_of
from discreet.cube.cube import Cube, blocks
from discreet.cube.queries.vector_norms import Norms
from discreet.cube.scans import Scan
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError

__all__ = ["FINE", "Query", "Row", "Summed", "add_up", "change_of_sum", "numbers_added", "scan_of", "wide_times"]

FINE = 1 << 26
"""The variance of Gaussian noise in units of an answer, at least: its rounding then widens intervals by less than 0.1 %."""
_MOST_TIMES = 1 << 24  # noise that is narrow even so protects nobody

Changed = TypeVar("Changed")
Said_co = TypeVar("Said_co", covariant=True)


class Row(Protocol[Said_co]):
    """The one row that differs: what follows when it counts in a query in one of six ways. Nothing has a default."""

    def adds(self, least: int, most: int, *, at_once: int, parts: int, nullable: bool) -> Said_co:
        """It adds an integer in [least, most] to `at_once` of the `parts` coordinates of its cell, or nothing."""

    def spreads(self, alone: Norms, apart: Callable[[frozenset[str]], Norms], *, parts: int, nullable: bool) -> Said_co:
        """It adds a vector of `parts` integers to its cell, or nothing: of at most the norms `alone`, each in its own level.

        The vectors of two rows that agree in some columns are at most `apart` of these from each other.
        """

    def replaces(self, most: int) -> Said_co:
        """It is replaced in a table of a public number of rows, and the one answer changes by at most `most`."""

    def chooses(self, size: int, at: tuple[Fraction, ...], *, nullable: bool) -> Said_co:
        """It is one of the rows from which the quantiles `at` are chosen by their rank, among `size` codes."""

    def surrounds(self, size: int, at: tuple[Fraction, ...], *, nullable: bool) -> Said_co:
        """It is one of the rows by which an interval of each of the quantiles `at` is chosen, among `size` codes."""

    def is_person(self, alone: Norms, apart: Callable[[], Norms]) -> Said_co:
        """It is all rows of a person, who adds a vector of at most the norms `alone`, ‖·‖₁ and ‖·‖₂², over all cells.

        The vectors of two states of these rows are at most `apart` of these from each other.
        """


class Query(Protocol):
    """One integer, or several, for every cell of the release. Frozen and hashable; the registry is `QUERIES`."""

    def words(self) -> str:
        """The query in a few words, for quotes and releases; no two kinds have the same."""

    def contribution(self) -> str:
        """The amount that one row adds to the answer, in a sentence."""

    def columns(self) -> tuple[str, ...]:
        """The columns whose values the query reads, besides the columns of the groups of the request."""

    def widths(self) -> tuple[int, ...]:
        """The number of integers that a cell has in each level of the answer; a row counts in one of them in every level."""

    def nullable(self, facts: TableFacts) -> bool:
        """True if a row that is in a cell may add nothing to it: its value is null, or in none of the further groups."""

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        """The effect of one row on the answer, by the rule that fits: it adds, replaces or chooses."""

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> Query:
        """The query as it is measured under noise that has the variance `variance(d)` where a row counts d times.

        Most have one shape and do not ask for the noise. `rows` is the number of rows where it is public.
        """

    def is_answered_by(self, part: Scan) -> bool:
        """True if the cube of this part distinguishes what the query needs."""

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        """The exact integers of every cell of the release, level by level. Private.

        Args:
            cube: the prepared table, without marks.
            brought: the part of the layout that the cube was brought for.
            cells: for every cell of the cube, the cell of the release it belongs to, or -1, as `cells_of` gives it.
            facts: the facts of the prepared table.
        """


class Summed(Query, Protocol):
    """A query whose answer is the sum of what the rows add."""

    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer that a row which adds something adds."""


def change_of_sum(query: Summed, row: Row[Changed], facts: TableFacts) -> Changed:
    """The effect of one row on a sum over rows: it adds an integer within the reach, once in each level."""
    least, most = query.reach()
    sizes = query.widths()
    return row.adds(least, most, at_once=len(sizes), parts=sum(sizes), nullable=query.nullable(facts))


def numbers_added(query: Summed) -> str:
    """The integers that a row adds, in words."""
    least, most = query.reach()
    return f"a whole number from {least} to {most}" if least != most else str(least)


def add_up(contributions: Callable[[Cube], Integers], cube: Cube, brought: Scan, cells: Codes) -> Integers:
    """The sums of one integer for every cell of the cube over the cells of the release."""
    values = np.zeros(brought.cells, dtype=contributions(some_of(cube, slice(0))).dtype)
    for some in blocks(len(cells)):
        inside = cells[some] >= 0
        np.add.at(values, cells[some][inside], contributions(some_of(cube, some))[inside])
    return values


def scan_of(query: Query, scans: Sequence[Scan]) -> int:
    """The position of the first part from which the query can be answered.

    An imputed column is in one part only, and every part has the same values of any other column (Q2).

    Raises:
        InternalError: there is none.
    """
    found = next((position for position, part in enumerate(scans) if query.is_answered_by(part)), None)
    if found is None:
        raise InternalError(f"no cube answers '{query.words()}'")
    return found


def wide_times(variance: Callable[[int], float], fine: int, times: int) -> int:
    """So many times an answer, a power of two times `times`, that its noise has at least the variance `fine`.

    The variance grows at least as `variance` of many times does, and that is hardly rounded where one is.
    """
    alone = variance(fine) / fine
    while alone * times * times < fine and times < _MOST_TIMES:
        times *= 2
    return times
