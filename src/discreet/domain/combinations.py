"""A public list of combinations of several columns of the source, as one column: its categories are the rows of the list.

Institutions, degrees and fields have millions of combinations, of which a few thousand exist. The list says which ones. A
row of the data is in the combination that its cells have together; one that the list does not have is null, or in a
category for all others (K6 of docs/proofs/areas.md).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from types import MappingProxyType

from discreet.domain.areas import derive, labels_in, level_name
from discreet.domain.categories import Value, check_text
from discreet.domain.columns import Category, listed_category
from discreet.domain.lookups import Lookup, read_lookup, whole_number
from discreet.domain.origins import Parts
from discreet.errors import SchemaError, did_you_mean, printed
from discreet.exact.canonical import digest

__all__ = ["Keys"]

_BETWEEN = " / "
_MOST = 2**62
"""A combination has one number among all combinations of the categories, of 64 bits."""


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Keys:
    """A public list of combinations, such as the degrees that each institution has in each field: one category each.

    A schema that declares `programme=Keys(table, columns=["institution", "degree", "field"])` reads these three columns of
    the source together. Its column `programme` has a category for each row of the list, written "A / BSc / Physics", and the
    columns `programme.institution`, `programme.degree` and `programme.field` follow from it. A request that groups by
    `programme`, or by all of its parts, has exactly the rows of the list as its groups.

    A row of the data whose cells together are not in the list is null in all of these columns, or in the category `other`.

    Args:
        table: the path of a CSV or Parquet file with one row for each combination, or a mapping of names to columns. Write
            it from public knowledge: a list of the combinations that the data happen to have would tell who is there.
        columns: the columns of the table that make a combination, which have the same names in the source.
        labels: for such a column the column of the table with the names that people read.
        integers: those of the columns whose codes in a CSV file are whole numbers in the source.
        other: the category of all rows that are in no combination of the list, also those without a value. A column of whole
            numbers has no such category, and is null there.
        required: as for a `Category`; `other` says it too, for it leaves no null.

    Raises:
        SchemaError: a file that cannot be read; fewer than two columns, or one that the table does not have; an empty cell;
            a combination that is listed twice, or written as another one is; two labels for one code; an `other` that is a
            category already.
    """

    parts: tuple[str, ...]
    labels: Mapping[str, Mapping[Value, str]]
    other: str | None
    required: bool
    _rows: tuple[tuple[Value, ...], ...] = field(repr=False)

    def __init__(
        self,
        table: Mapping[str, Sequence[Value]] | str | Path,
        *,
        columns: Sequence[str],
        labels: Mapping[str, str] | None = None,
        integers: Sequence[str] = (),
        other: str | None = None,
        required: bool = False,
    ) -> None:
        if not isinstance(required, bool):
            raise SchemaError(f"required={printed(required)}: must be True or False")
        listed, named = read_lookup(table), _part_names(columns)
        numbers = _whole(integers, named)
        cells = [_cells(listed, one, whole=one in numbers) for one in named]
        rows = tuple(zip(*cells, strict=True))
        _check_rows(listed, rows)
        other = None if other is None else _other(other, cells)
        object.__setattr__(self, "parts", named)
        object.__setattr__(self, "labels", MappingProxyType(labels_in(listed, named, cells, labels or {})))
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "required", required or other is not None)
        object.__setattr__(self, "_rows", rows)

    def columns(self, name: str) -> dict[str, Category]:
        """The column of the combinations, and one for each part, as a schema has them.

        Raises:
            SchemaError: the parts have so many categories that their combinations cannot be numbered.
        """
        others = () if self.other is None else (self.other,)
        written = (*map(_written, self._rows), *others)
        source = listed_category(written, self._listed(name), required=self.required)
        found = {name: source}
        for place, part in enumerate(self.parts):
            codes, values = _numbered([row[place] for row in self._rows])
            beside = others if isinstance(values[0], str) else ()
            codes = [*codes, *([len(values) if beside else -1] if others else [])]
            required = self.required and len(beside) == len(others)
            found[level_name(name, part)] = derive(name, source, codes, (*values, *beside), required=required)
        return found

    def _listed(self, name: str) -> Parts:
        made = [_numbered([row[place] for row in self._rows]) for place in range(len(self.parts))]
        if prod(len(values) + 1 for _, values in made) >= _MOST:
            raise SchemaError(f"column '{name}': its parts have too many categories together; list fewer columns")
        codes = tuple(tuple(own) for own, _ in made)
        known = digest([list(self.parts), *(list(row) for row in self._rows)])
        return Parts(self.parts, tuple(values for _, values in made), codes, self.other is not None, known)


def _part_names(columns: object) -> tuple[str, ...]:
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not all(map(_is_name, columns)):
        raise SchemaError(f"columns={printed(columns)}: must be a list of columns of the table")
    if len(columns) < 2:
        raise SchemaError("columns: a combination has at least two columns; one alone is a Category")
    twice = next((one for one in columns if columns.count(one) > 1), None)
    if twice is not None:
        raise SchemaError(f"columns: {printed(twice)} is named twice")
    return tuple(columns)


def _is_name(one: object) -> bool:
    return isinstance(one, str) and one != ""


def _whole(integers: object, named: Sequence[str]) -> Sequence[str]:
    if isinstance(integers, str) or not isinstance(integers, Sequence):
        raise SchemaError(f"integers={printed(integers)}: must be a list of columns")
    for one in integers:
        if one not in named:
            raise SchemaError(f"integers: {printed(one)} is not a column of the combinations{did_you_mean(one, named)}")
    return integers


def _cells(table: Lookup, name: str, *, whole: bool) -> list[Value]:
    """The codes of one column, row by row."""
    found: list[Value] = []
    for row, cell in enumerate(table.column(name)):
        known = whole_number(cell, f"{table.at(row)}, '{name}'") if whole else cell
        if known is None:
            raise SchemaError(f"{table.at(row)}: '{name}' is empty; every combination needs a code in every column")
        found.append(known)
    return found


def _written(row: Sequence[Value]) -> str:
    return _BETWEEN.join(map(str, row))


def _check_rows(table: Lookup, rows: Sequence[tuple[Value, ...]]) -> None:
    """Every combination has one row, and is written as no other one is."""
    seen: dict[str, int] = {}
    for place, row in enumerate(rows):
        first = seen.setdefault(_written(row), place)
        if first != place:
            twin = f"line {table.first + first}"
            said = "is listed twice" if rows[first] == row else "is written as another one is"
            raise SchemaError(f"{table.at(place)}: {printed(_written(row))} {said}; {twin} has it too")


def _other(other: object, cells: Sequence[Sequence[Value]]) -> str:
    """The name of the category of all other rows, in NFC."""
    if not isinstance(other, str):
        raise SchemaError(f"other={printed(other)}: must be a text, the name of a category for all other rows")
    check_text(other, "other")
    named = unicodedata.normalize("NFC", other)
    if any(named in column for column in cells):
        raise SchemaError(f"other={printed(other)}: is a code of the table; choose another name")
    return named


def _numbered(cells: Sequence[Value]) -> tuple[list[int], tuple[Value, ...]]:
    """The codes of cells, and their values in the order in which they come first."""
    places: dict[Value, int] = {}
    return [places.setdefault(cell, len(places)) for cell in cells], tuple(places)
