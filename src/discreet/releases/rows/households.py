"""Persons in households: rows of two releases, in which every household has as many persons as its row says.

Households are fitted first, with sizes that add up to the numbers of persons that are published; then persons, as many of
each kind as the households have room for. Where exact totals of persons cross each other in what both know, persons come
first (docs/proofs/rows.md, R10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.domain.columns import Category
from discreet.errors import ArgumentError, printed
from discreet.exact.figures import plural
from discreet.exact.given_paths import same_place
from discreet.releases.recomputed import Published
from discreet.releases.rows.approximate import Approximate
from discreet.releases.rows.chosen import classes_in
from discreet.releases.rows.compared import PublishedTable, tables_in
from discreet.releases.rows.division import Classes
from discreet.releases.rows.files import check_suffix
from discreet.releases.rows.frame import free_name
from discreet.releases.rows.labels import with_axes
from discreet.releases.rows.layout import count
from discreet.releases.rows.model import Integers, Listed, Start
from discreet.releases.rows.result import (
    Rows,
    Tell,
    check_simulated,
    document_again,
    document_of,
    interval_of,
    refuse_noise,
    rows_of,
    swept,
)
from discreet.releases.rows.sizes import MOST_CELLS, SIZES, Demand, SizeColumn, check_largest, codes_of, sizes_of, with_sizes
from discreet.releases.rows.targets import Described, begun, described
from discreet.releases.rows.words import Words, words_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Households", "fit_households"]


@dataclass(frozen=True, eq=False)
class Households:
    """Rows of households and of the persons in them.

    `simulated` and `interval` of either make its rows by themselves, as if there were no households: those of both make
    them together.

    Args:
        homes: the rows of households; the first column of their frame is the number of the household, from 0.
        persons: the rows of persons, household by household; the first column of their frame is the number of theirs. A
            household has as many persons as its row says, and they agree with it in all shared columns.
        shared: the columns that both have.
        estimated: the number of persons that their release says. There are as many, unless that is an estimate and the
            households of their release cannot have so many.
    """

    homes: Rows
    persons: Rows
    shared: tuple[str, ...]
    estimated: int
    _sizes: SizeColumn = field(repr=False)

    def simulated(self, files: int = 20) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Pairs of frames of households and persons made of these, each as if they were the data with other noise.

        What is exact in either release holds in each pair, and its persons live in its households. As for `Rows.simulated`,
        what they show is approximate, and everybody gets the same.

        Args:
            files: how many pairs, from 2 to 1,000.

        Raises:
            ArgumentError: another number; while they are made, a pair of which no sizes of households were found.
        """
        many = check_simulated(self.homes, files)
        return (self._again(place) for place in range(1, many + 1))

    def _again(self, place: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        again = _together([document_again(one, place) for one in (self.homes, self.persons)], self._sizes, None)
        return again.homes.frame, again.persons.frame

    def interval(
        self, number: Callable[[pl.DataFrame, pl.DataFrame], float], *, files: int = 20, level: float = 0.95
    ) -> Approximate:
        """A number that is computed from households and persons, with an approximate interval from `simulated` pairs.

        Args:
            number: computes it from the frame of households and that of persons.
            files: how many simulated pairs.
            level: about how often the interval should hold the number of the data.

        Raises:
            ArgumentError: as for `simulated`; a level that is not between 0 and 1; a number that is not finite.
        """
        pairs = chain([(self.homes.frame, self.persons.frame)], self.simulated(files))
        return interval_of((number(*one) for one in pairs), level)

    def save(self, homes: str | Path, persons: str | Path, *, formulas: str = "escape") -> tuple[Path, ...]:
        """Both as files, as `Rows.save` writes them; each says which release the other one is made from.

        Returns:
            The files, those of the households first.

        Raises:
            ArgumentError: as for `Rows.save`; one path for both.
        """
        places = Path(homes), Path(persons)
        if same_place(*places):
            raise ArgumentError(f"persons='{persons}': is the file of the households too; give another one")
        for one in places:
            check_suffix(one)
        return (*self.homes.save(places[0], formulas=formulas), *self.persons.save(places[1], formulas=formulas))

    def __str__(self) -> str:
        agree = f", who agree with theirs in {', '.join(self.shared)}" if self.shared else ""
        homes, persons = self.homes.made, self.persons.made
        told = [f"{homes:,} {plural('household', homes)} and {persons:,} {plural('person', persons)}{agree}"]
        if self.persons.made != self.estimated:
            told.append(
                f"persons are as many as there is room for in the households; their release estimates {self.estimated:,}"
            )
        return "\n".join(told)


def fit_households(
    homes: Published,
    persons: Published,
    *,
    size: str,
    largest: int | None = None,
    strict: bool = False,
    tell: Tell | None = None,
) -> Households:
    """Rows of two releases that go together: of households, and of the persons who live in them.

    A function of both documents, the same on every machine, and nothing is charged. Each household has as many persons as
    its row says, or more where that is an open greatest size, and there are as many persons as their release says, unless
    that is an estimate for which exact facts about households have no room. Columns of one name are shared: a person has
    those of the household. Everything exact that the rows of either release keep is kept. Who lives with whom is chance
    otherwise.

    Args:
        homes: a release with tables that agree, of a table with one row for each household.
        persons: such a release of a table with one row for each person.
        size: the column of the households that says how many persons live there: a category of whole numbers, of which the
            greatest may be open, such as "6+", or a number. In a bin of several numbers each household gets one of them.
        largest: how many persons live in a household at most, a public number, where the greatest size has no end:
            households of that size then have up to so many.
        strict: refuse releases in which noise dominates in a table, before anything is fitted.
        tell: is told how many sweeps are done, and of how many in both.

    Raises:
        ArgumentError: as for `fit_rows`, of either release; both are one; `size` is not such a column, or needs `largest`; a
            shared column is not a category with the same values in both; exact totals of persons for which no sizes of
            households were found.
    """
    documents = document_of(homes, "homes"), document_of(persons, "persons")
    if documents[0]["digest"] == documents[1]["digest"]:
        raise ArgumentError(
            "persons: is the release of the households; give the one of persons, from a table with their rows"
        )
    if strict:
        refuse_noise([table for one in documents for table in tables_in(one)])
    return _together(documents, SizeColumn(size, check_largest(largest)), tell)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """Households or persons, while their rows are made."""

    document: dict[str, Any]
    found: Described
    tables: tuple[PublishedTable, ...]
    words: Words
    tell: Tell | None
    beside: dict[str, Any]

    def swept(self) -> Start:
        return swept(self.found, self.found.targets.rows, self.words, self.tell)[1]

    def rows(self, start: Start, codes: dict[str, Integers]) -> Rows:
        made = self.found.targets.rows, start
        return rows_of(self.document, self.found, made, self.words, tables=self.tables, codes=codes, beside=self.beside)


def _together(documents: Sequence[dict[str, Any]], sizes: SizeColumn, tell: Tell | None) -> Households:
    """Rows of both documents.

    Raises:
        ArgumentError: as for `fit_households`.
    """
    homes, persons = (_side(documents, place, sizes, tell) for place in range(2))
    shared, estimated = _shared(homes.found, persons.found), persons.found.targets.rows
    _check_size(homes.found, sizes.name)
    persons, demand, first = _demanded(persons, shared)
    early = words_of(f"{_key(documents)} sizes")
    described_homes = homes.document, homes.found
    found, room = with_sizes(*described_homes, demand, sizes, lambda some: swept(some, some.targets.rows, early, None)[1])
    homes = replace(homes, found=found)
    start = homes.swept()
    living = sizes_of(room, start, homes.words)
    rooms = homes.rows(start, codes_of(homes.document, found, sizes.name, living))
    if first is None:
        persons = replace(persons, found=_with_rooms(persons.found, shared, rooms.frame, living))
    people = persons.rows(persons.swept() if first is None else first, {})
    column = free_name("household", [*rooms.frame.columns, *people.frame.columns])
    words = words_of(f"{_key(documents)} places")
    places = _placed(rooms.frame.select(shared), living, people.frame.select(shared), words)
    numbered = _numbered(rooms, column, np.arange(len(living))), _numbered(people, column, places)
    return Households(*numbered, tuple(shared), estimated, sizes)


def _key(documents: Sequence[dict[str, Any]]) -> str:
    return " ".join(one["digest"] for one in documents)


def _side(documents: Sequence[dict[str, Any]], place: int, sizes: SizeColumn, tell: Tell | None) -> _Side:
    document, of = documents[place], ("households", "persons")[place]
    beside = {"of": of, "together with": documents[1 - place]["digest"], "size": sizes.name, "largest": sizes.largest}
    told = None if tell is None else lambda done, every: tell(done + place * every, 2 * every)
    return _Side(
        document,
        (begun, described)[place](document),
        tuple(tables_in(document)),
        words_of(f"{_key(documents)} {of}"),
        told,
        beside,
    )


def _check_size(places: Described, size: str) -> None:
    """Raises ArgumentError if there is no such column of households."""
    if not (isinstance(size, str) and size in places.schema.columns):
        raise ArgumentError(
            f"size={printed(size)}: must be a column of the households, such as '{[*places.schema.columns][-1]}'"
        )


def _shared(places: Described, people: Described) -> list[str]:
    """The columns that both have, in the order of the households' document.

    Raises:
        ArgumentError: one that is not a category with the same values in both.
    """
    own, others = ({name for one in found.families for name in one.columns or [one.root.name]} for found in (places, people))
    shared = [name for name in places.schema.columns if name in own & others]
    for name in shared:
        both = places.schema[name], people.schema[name]
        values = [one.values if isinstance(one, Category) else None for one in both]
        if values[0] is None or values[0] != values[1]:
            raise ArgumentError(
                f"'{name}': households and persons both have it, and it is not a category with the same values in both; "
                "give one of them another name, or declare it alike"
            )
    return shared


# Persons --------------------------------------------------------------------------------------------------------------


def _demanded(persons: _Side, shared: Sequence[str]) -> tuple[_Side, Demand, Start | None]:
    """How many persons lists say of which kind, in the shared columns; and their rows, where these are made first.

    Raises:
        ArgumentError: as for the rows of persons; too many cells.
    """
    targets = persons.found.targets
    held = {root.axes[0] for root in targets.roots if targets.held & {*root.axes}}
    found, every = with_axes(persons.found, shared)
    told = [one for one in every if found.targets.root_of(one.axis).axes[0] in held]
    classes = classes_in(found.targets, tuple(one.axis for one in told), SIZES)
    if classes is not None:
        return persons, Demand(told, classes, found.stated), None
    persons = replace(persons, found=replace(found, kept=(*found.kept, SIZES)))
    axes = _few_cells([one.axis for one in every], found)
    start = persons.swept()
    counts = count(start.rows, axes, found.targets.sizes, start.each).ravel()
    return persons, Demand(every, Classes(np.arange(len(counts)), counts), stated=True), start


def _few_cells(axes: Sequence[int], found: Described) -> tuple[int, ...]:
    """The axes themselves.

    Raises:
        ArgumentError: they have too many cells.
    """
    if prod(found.targets.shape(axes)) > MOST_CELLS:
        raise ArgumentError(f"households: the shared columns have more than {MOST_CELLS:,} cells together")
    return tuple(axes)


def _with_rooms(people: Described, shared: Sequence[str], homes: pl.DataFrame, sizes: Integers) -> Described:
    """Persons with a list of as many of each kind as the households have room for.

    Raises:
        ArgumentError: too many cells; households of a kind that persons cannot be of.
    """
    people, axes = with_axes(people, shared)
    targets = replace(people.targets, rows=int(sizes.sum()))
    if not axes:
        return replace(people, targets=targets)
    own = _few_cells([one.axis for one in axes], people)
    counts = np.zeros(people.targets.shape(own), dtype=np.int64)
    known = [{label: level for level, label in enumerate(one.labels)} for one in axes]
    places = [[shared.index(name) for name in one.names] for one in axes]
    for row, many in zip(homes.select(shared).rows(), sizes.tolist(), strict=True):
        cell = [levels.get(tuple(row[at] for at in names)) for levels, names in zip(known, places, strict=True)]
        if many and None in cell:
            raise ArgumentError(f"households: there are some of a kind that persons cannot be of, by {', '.join(shared)}")
        if many:
            counts[tuple(cell)] += many
    listed = Listed(own, counts, SIZES)
    targets = replace(targets, lists=(*targets.lists, listed))
    return replace(people, targets=targets, kept=(*people.kept, SIZES))


def _placed(homes: pl.DataFrame, sizes: Integers, persons: pl.DataFrame, words: Words) -> Integers:
    """For each person the household: one of those of the same kind, each with as many persons as its size."""
    rooms = np.repeat(np.arange(len(sizes)), sizes)
    kinds: dict[tuple[Any, ...], int] = {}
    of_homes, of_persons = (
        np.array([kinds.setdefault(row, len(kinds)) for row in one.rows()] if one.width else [0] * many, dtype=np.int64)
        for one, many in ((homes, len(sizes)), (persons, len(rooms)))
    )
    order = words.shuffle(len(rooms))
    order = order[np.argsort(of_persons[order], kind="stable")]
    found = np.zeros(len(rooms), dtype=np.int64)
    found[order] = rooms[np.argsort(of_homes[rooms], kind="stable")]
    return found


def _numbered(rows: Rows, column: str, households: Integers) -> Rows:
    """The rows with the numbers of their households in the first column, in the order of these."""
    import polars as pl

    frame = rows.frame.insert_column(0, pl.Series(column, households))
    return replace(rows, frame=frame.sort(column, maintain_order=True))
