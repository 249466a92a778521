"""A scan of rows and of the tables of persons beside them: what each table is asked for, and how its columns go on.

The rows of a person in a table of persons become one row: of each column the code that all rows with one have, else null.
Every row of this person in the first table has these codes too (U7 of docs/proofs/persons.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonKey, PersonScan
from discreet.cube.tables import Beside
from discreet.cube.value_paths import KeyAxis, NumberPath, Path
from discreet.domain.columns import Category, Number
from discreet.errors import unreachable

__all__ = ["JoinedScan", "beside_of", "of_rows", "over_codes", "place_of", "rest_of"]

JoinedScan = PersonScan | PersonRows | KeyScan
"""The readings that tables of persons can stand beside."""


def rest_of(scan: JoinedScan) -> PersonScan | PersonRows:
    """The reading of persons, without the texts that another one keeps."""
    return scan.rest if isinstance(scan, KeyScan) else scan


def beside_of(scan: JoinedScan) -> tuple[Beside, ...]:
    """The tables of persons that the reading needs."""
    return rest_of(scan).beside


def of_rows(scan: JoinedScan) -> JoinedScan:
    """What the table of rows is asked for: the same without the columns of tables of persons.

    Cells keep their numbers: each group adds its place times the cells of the groups after it, and what is left out adds 0.
    """
    match scan:
        case KeyScan():
            return replace(scan, rest=_persons_of_rows(scan.rest))
        case PersonScan():
            return _persons_of_rows(scan)
        case PersonRows():
            values = tuple(one for one in scan.values if not one.path.table)
            return replace(scan, axes=_axes(scan.axes), tests=_axes(scan.tests), values=values, beside=())
    raise unreachable(scan)


def _persons_of_rows(scan: PersonScan) -> PersonScan:
    values = tuple(one for one in scan.values if not one.path.table)
    spreads = tuple(one for one in scan.spreads if not one.axis.path.table)
    return replace(scan, keys=_keys(scan.keys), tests=_axes(scan.tests), values=values, spreads=spreads, beside=())


def _keys(keys: Iterable[PersonKey]) -> tuple[PersonKey, ...]:
    return tuple(one for one in keys if not one.axis.path.table)


def _axes(axes: Iterable[KeyAxis]) -> tuple[KeyAxis, ...]:
    return tuple(one for one in axes if not one.path.table)


def over_codes(path: Path, name: str) -> Path:
    """The same path for a column of this name with the codes of the column instead of its values."""
    last = path.column.size - 1
    if isinstance(path, NumberPath):
        return replace(path, name=name, column=Number(0, last), called="", table="")
    return replace(path, name=name, column=Category(range(last + 1)), called="", table="")


def place_of(tables: Sequence[Beside], path: Path) -> tuple[int, int]:
    """Where a column of a table of persons is: the place of its table, and its own among the columns that are read there."""
    table = next(place for place, one in enumerate(tables) if one.table == path.table)
    names = [one.called or one.name for one in tables[table].codes.paths]
    return table, names.index(path.called or path.name)
