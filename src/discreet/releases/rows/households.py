"""Persons in households: rows of two releases, in which every household has as many persons as its row says.

Households are fitted first, with sizes that add up to the numbers of persons that are published; then persons, as many of
each kind as the households have room for (docs/proofs/rows.md, R10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.domain.columns import Category
from discreet.errors import ArgumentError, printed
from discreet.releases.recomputed import Published
from discreet.releases.rows.axes import Family
from discreet.releases.rows.chosen import choose_sums, classes_in
from discreet.releases.rows.compared import tables_in
from discreet.releases.rows.division import Classes
from discreet.releases.rows.files import check_suffix
from discreet.releases.rows.frame import free_name
from discreet.releases.rows.model import Integers, Listed, Void
from discreet.releases.rows.result import Rows, Tell, fitted, refuse_noise
from discreet.releases.rows.targets import Described, described
from discreet.releases.rows.words import Words, words_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Households", "fit_households"]

_MOST_CELLS = 1 << 18
_SIZES = "sizes of households"


@dataclass(frozen=True, eq=False)
class Households:
    """Rows of households and of the persons in them.

    `simulated` and `interval` of either make its rows by themselves, as if there were no households: use them for numbers
    of one of both tables.

    Args:
        homes: the rows of households; the first column of their frame is the number of the household, from 0.
        persons: the rows of persons, household by household; the first column of their frame is the number of theirs. A
            household has as many persons as its row says, and they agree with it in all shared columns.
        shared: the columns that both have.
    """

    homes: Rows
    persons: Rows
    shared: tuple[str, ...]

    def save(self, homes: str | Path, persons: str | Path, *, formulas: str = "escape") -> tuple[Path, ...]:
        """Both as files, as `Rows.save` writes them; each says which release the other one is made from.

        Returns:
            The files, those of the households first.

        Raises:
            ArgumentError: as for `Rows.save`; one path for both.
        """
        places = Path(homes), Path(persons)
        if places[0].absolute() == places[1].absolute():
            raise ArgumentError(f"persons='{persons}': is the file of the households too; give another one")
        for one in places:
            check_suffix(one)
        return (*self.homes.save(places[0], formulas=formulas), *self.persons.save(places[1], formulas=formulas))

    def __str__(self) -> str:
        agree = f", who agree with theirs in {', '.join(self.shared)}" if self.shared else ""
        return f"{self.homes.made:,} households and {self.persons.made:,} persons{agree}"


def fit_households(
    homes: Published,
    persons: Published,
    *,
    size: str,
    strict: bool = False,
    tell: Tell | None = None,
) -> Households:
    """Rows of two releases that go together: of households, and of the persons who live in them.

    A function of both documents, the same on every machine, and nothing is charged. Each household has as many persons as
    its row says, and there are as many persons as their release says. Columns of one name are shared: a person has those of
    the household. Everything exact that the rows of either release keep is kept. Who lives with whom is chance otherwise.

    Args:
        homes: a release with tables that agree, of a table with one row for each household.
        persons: such a release of a table with one row for each person.
        size: the column of the households that says how many persons live there: a category of whole numbers.
        strict: refuse releases in which noise dominates in a table, before anything is fitted.
        tell: is told how many sweeps are done, and of how many in both.

    Raises:
        ArgumentError: as for `fit_rows`, of either release; both are one; `size` is not such a column; a shared column is
            not a category with the same values in both; exact totals of persons for which no sizes of households were
            found, or that cross each other in the shared columns.
    """
    documents = homes.document, persons.document
    if documents[0]["digest"] == documents[1]["digest"]:
        raise ArgumentError(
            "persons: is the release of the households; give the one of persons, from a table with their rows"
        )
    tables = [tuple(tables_in(one)) for one in documents]
    if strict:
        refuse_noise([*tables[0], *tables[1]])
    places, people = map(described, documents)
    shared, key = _shared(places, people), " ".join(one["digest"] for one in documents)
    places = _with_sizes(places, people, shared, size)
    beside = [
        {"of": of, "together with": documents[1 - at]["digest"], "size": size}
        for at, of in enumerate(("households", "persons"))
    ]
    rooms = fitted(
        documents[0], places, words_of(f"{key} households"), tell=_half(tell, 0), tables=tables[0], beside=beside[0]
    )
    sizes = rooms.frame[size].fill_null(0).to_numpy()
    people = _with_rooms(people, shared, rooms.frame, sizes)
    found = fitted(documents[1], people, words_of(f"{key} persons"), tell=_half(tell, 1), tables=tables[1], beside=beside[1])
    column = free_name("household", [*rooms.frame.columns, *found.frame.columns])
    living = _placed(rooms.frame.select(shared), sizes, found.frame.select(shared), words_of(f"{key} places"))
    return Households(_numbered(rooms, column, np.arange(len(sizes))), _numbered(found, column, living), tuple(shared))


def _half(tell: Tell | None, place: int) -> Tell | None:
    """Tells of the sweeps of one of two tables as those of both."""
    return None if tell is None else lambda done, every: tell(done + place * every, 2 * every)


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


# Labels as axes -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled:
    """An axis whose levels are the labels of some columns of one family together."""

    axis: int
    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]


def _with_axes(found: Described, names: Sequence[str]) -> tuple[Described, list[_Labelled]]:
    """An axis for each family that has some of these columns: one of its own with these levels, or one more."""
    axes = []
    for place, family in enumerate(found.families):
        own = tuple(name for name in names if name in family.columns)
        if not own:
            continue
        each = [*zip(*(family.columns[name] for name in own), strict=True)]
        axis = _same_axis(found, family, each)
        if axis is None:
            axis, known = len(found.targets.sizes), {one: level for level, one in enumerate(dict.fromkeys(each))}
            found = _with_axis(found, place, np.array([known[one] for one in each], dtype=np.int64), len(known))
        root = found.families[place].root
        labels = dict(zip(root.codes[:, root.axes.index(axis)].tolist(), each, strict=True))
        axes.append(_Labelled(axis, own, tuple(labels[level] for level in sorted(labels))))
    return found, axes


def _same_axis(found: Described, family: Family, each: Sequence[tuple[Any, ...]]) -> int | None:
    """The first axis of a family, such as one of tables, whose levels are these labels; None where there is none."""
    for axis in sorted(family.root.axes):
        codes = family.root.codes[:, family.root.axes.index(axis)].tolist()
        if len({*zip(codes, each, strict=True)}) == len({*codes}) == len({*each}) == found.targets.sizes[axis]:
            return axis
    return None


def _with_axis(found: Described, place: int, codes: Integers, size: int) -> Described:
    family, targets = found.families[place], found.targets
    more = (len(targets.sizes), codes)

    def wider(root: Any) -> Any:
        return replace(root, axes=(*root.axes, more[0]), codes=np.concatenate([root.codes, more[1][:, None]], axis=1))

    families = [replace(one, root=wider(one.root)) if one is family else one for one in found.families]
    roots = tuple(wider(one) if one.axes == family.root.axes else one for one in targets.roots)
    targets = replace(targets, roots=roots, sizes=(*targets.sizes, size))
    return replace(found, targets=targets, families=tuple(families))


# Households -----------------------------------------------------------------------------------------------------------


def _with_sizes(places: Described, people: Described, shared: Sequence[str], size: str) -> Described:
    """Households with a list of their sizes, in which there is room for all persons that totals tell of.

    Raises:
        ArgumentError: `size` is not a column of sizes; too many cells; none were found.
    """
    if not (isinstance(size, str) and size in places.schema.columns):
        raise ArgumentError(
            f"size={printed(size)}: must be a column of the households, such as '{[*places.schema.columns][-1]}'"
        )
    held = {root.axes[0] for root in people.targets.roots if people.targets.held & {*root.axes}}
    people, every = _with_axes(people, shared)
    told = [one for one in every if people.targets.root_of(one.axis).axes[0] in held]
    places, axes = _with_axes(places, [*dict.fromkeys([*(name for one in told for name in one.names), size])])
    values = next((one for one in axes if size in one.names), None)
    labels = [] if values is None else [one[values.names.index(size)] for one in values.labels]
    if values is None or not all(map(_is_size, labels)):
        raise ArgumentError(
            f"size='{size}': must be a category of whole numbers from 0 on, or a number that the tables count by in bins of "
            "one value"
        )
    if prod(len(one.labels) for one in axes) > _MOST_CELLS:
        raise ArgumentError(f"size='{size}': totals of persons and sizes have more than {_MOST_CELLS:,} cells together")
    classes = classes_in(people.targets, tuple(one.axis for one in told), _SIZES)
    at, each = _cells_of(axes, told, size)
    sums = Classes(np.where(at < 0, -1, classes.labels[at]), classes.totals)
    unknown = Void((values.axis,), np.array([one is None for one in labels]), _SIZES)
    targets = replace(places.targets, voids=(*places.targets.voids, unknown))
    listed = choose_sums(targets, tuple(one.axis for one in axes), sums, each, _SIZES)
    targets = replace(targets, lists=(*targets.lists, listed))
    return replace(places, targets=targets, kept=(*places.kept, _SIZES))


def _is_size(label: object) -> bool:
    """True for a whole number from 0 on, and for null."""
    return label is None or (type(label) is int and label >= 0)


def _cells_of(axes: Sequence[_Labelled], told: Sequence[_Labelled], size: str) -> tuple[Integers, Integers]:
    """For each cell of the axes of households the cell of those of persons, -1 where these have none, and the size."""
    names = [name for one in axes for name in one.names]
    known = {
        tuple(label for labels in cell for label in labels): place
        for place, cell in enumerate(product(*(one.labels for one in told)))
    }
    others = [names.index(name) for one in told for name in one.names]
    at, sizes = [], []
    for cell in product(*(one.labels for one in axes)):
        flat = [label for labels in cell for label in labels]
        at.append(known.get(tuple(flat[place] for place in others), -1))
        sizes.append(int(flat[names.index(size)] or 0))
    return np.array(at, dtype=np.int64), np.array(sizes, dtype=np.int64)


# Persons --------------------------------------------------------------------------------------------------------------


def _with_rooms(people: Described, shared: Sequence[str], homes: pl.DataFrame, sizes: Integers) -> Described:
    """Persons with a list of as many of each kind as the households have room for.

    Raises:
        ArgumentError: too many cells; households of a kind that persons cannot be of.
    """
    people, axes = _with_axes(people, shared)
    targets = replace(people.targets, rows=int(sizes.sum()))
    if not axes:
        return replace(people, targets=targets)
    if prod(len(one.labels) for one in axes) > _MOST_CELLS:
        raise ArgumentError(f"households: the shared columns have more than {_MOST_CELLS:,} cells together")
    counts = np.zeros([len(one.labels) for one in axes], dtype=np.int64)
    known = [{label: level for level, label in enumerate(one.labels)} for one in axes]
    places = [[shared.index(name) for name in one.names] for one in axes]
    for row, many in zip(homes.select(shared).rows(), sizes.tolist(), strict=True):
        cell = [levels.get(tuple(row[at] for at in own)) for levels, own in zip(known, places, strict=True)]
        if many and None in cell:
            raise ArgumentError(f"households: there are some of a kind that persons cannot be of, by {', '.join(shared)}")
        if many:
            counts[tuple(cell)] += many
    listed = Listed(tuple(one.axis for one in axes), counts, _SIZES)
    targets = replace(targets, lists=(*targets.lists, listed))
    return replace(people, targets=targets, kept=(*people.kept, _SIZES))


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
