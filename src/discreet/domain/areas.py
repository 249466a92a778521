"""Areas and other public functions of a column: declarations that a schema turns into columns.

`DerivedColumn` is one column, a public map of the categories of another one. `Hierarchy` is a column of codes with all the
levels above them. Both are written down before the data are seen; the charge is that of any function of one row
(K1 of docs/proofs/areas.md).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from discreet.domain.categories import Value
from discreet.domain.columns import Category, derived_category
from discreet.domain.lookups import Cell, Lookup, read_lookup, whole_number
from discreet.domain.origins import Origin
from discreet.errors import SchemaError, did_you_mean, printed
from discreet.exact.canonical import digest

__all__ = ["DerivedColumn", "Hierarchy", "derive", "labels_in", "level_name"]


@dataclass(frozen=True, slots=True, init=False, eq=False)
class DerivedColumn:
    """A public column that a public map makes of the categories of another one, such as the region of a state.

    Categories that the map does not name, and null, are null in it. The values of the other column are those of the source,
    before any step.

    Args:
        name: the column of the look-up file that holds the new categories. A mapping needs no file, and then it is a word
            for messages.
        of: the column of the schema that it is derived from, a `Category` or a derived column.
        by: the path of a CSV or Parquet file, or a mapping from categories to new categories.
        key: the column of the file with the categories of `of`; its name where it is not given.
        required: as for a `Category`.

    Raises:
        SchemaError: a file that cannot be read, a category that is listed twice or is unknown, or no new category.
    """

    name: str
    of: str
    pairs: tuple[tuple[Cell, Cell], ...]
    places: tuple[str, ...]
    required: bool

    def __init__(
        self,
        name: str,
        *,
        of: str,
        by: Mapping[Value, Value | None] | str | Path,
        key: str | None = None,
        required: bool = False,
    ) -> None:
        for argument, given in (("name", name), ("of", of)):
            if not isinstance(given, str) or not given:
                raise SchemaError(f"DerivedColumn({argument}={printed(given)}): must be the name of a column")
        if isinstance(by, Mapping):
            pairs = [(_in_nfc(value), _in_nfc(label)) for value, label in by.items()]
            places = [f"DerivedColumn('{name}')"] * len(pairs)
        else:
            table = read_lookup(by)
            pairs = list(zip(table.column(of if key is None else key), table.column(name), strict=True))
            places = [table.at(row) for row in range(len(pairs))]
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "pairs", tuple(pairs))
        object.__setattr__(self, "places", tuple(places))
        object.__setattr__(self, "required", required)

    def column(self, source: Category) -> Category:
        """The derived column of a column of the source.

        Raises:
            SchemaError: the map names something that is not a category, or one twice, or leads to no category at all.
        """
        known: dict[object, int] = {(type(value), value): code for code, value in enumerate(source.values)}
        labels: dict[tuple[type, Cell], int] = {}
        codes = [-1] * source.size
        seen: dict[int, str] = {}
        for (value, label), place in zip(self.pairs, self.places, strict=True):
            code = _code(value, known, source, place)
            if code in seen:
                raise SchemaError(f"{place}: {printed(value)} of '{self.of}' is listed twice; {seen[code]} has it already")
            seen[code] = place
            if label is not None:
                codes[code] = labels.setdefault((type(label), label), len(labels))
        if not labels:
            raise SchemaError(f"DerivedColumn('{self.name}'): the map leads to no category")
        return derive(self.of, source, codes, [label for _, label in labels], required=self.required)


def _code(value: Cell, known: Mapping[object, int], source: Category, place: str) -> int:
    """The code of a category as a look-up table writes it: CSV has texts for the whole numbers of a column."""
    if isinstance(value, str) and type(source.values[0]) is int:
        value = whole_number(value, place)
    if value is None:
        raise SchemaError(f"{place}: the category is empty; null is null in every derived column")
    code = known.get((type(value), value))
    if code is None:
        raise SchemaError(f"{place}: {printed(value)} is not a category of the column{did_you_mean(value, source.values)}")
    return code


def derive(root: str, source: Category, codes: Sequence[int], labels: Sequence[Cell], *, required: bool) -> Category:
    """The column of these labels, one for each code of the source or -1."""
    named = [(value, None if code < 0 else labels[code]) for value, code in zip(source.values, codes, strict=True)]
    origin = Origin(root, source.values, tuple(codes), digest([list(pair) for pair in named]))
    return derived_category([label for label in labels if label is not None], origin, required=required)


def _in_nfc(value: object) -> Cell:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if value is None or isinstance(value, bool | int):
        return value
    raise SchemaError(f"by: {printed(value)} must be a category: a text, a whole number, true or false")


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Hierarchy:
    """A column of public codes with the levels above them, such as blocks, tracts, counties and states.

    A schema that declares `area=Hierarchy(table, levels=["state", "county"])` reads the codes of the last level from the
    column `area` of the source, and has a column for each level: `area.state` and `area.county`. Codes that the table does
    not have are null at every level.

    A code means one area wherever it stands in its column: codes are unique within their level, not only below their parent.

    Args:
        table: the path of a CSV or Parquet file with one row for each area of the last level, or a mapping of names to
            columns.
        levels: the columns of the table that hold the codes, the widest areas first.
        labels: for a level the column of the table with the names that people read.
        codes: "text", or "integer" where the codes of a CSV file are whole numbers in the source.
        missing: as for a `Category`.
        required: as for a `Category`, at all levels.

    Raises:
        SchemaError: a file that cannot be read; a level without a column; an empty code; an area that is listed twice or has
            two parents; codes of digits of different lengths; two labels for one code; what a `Category` refuses.
    """

    levels: tuple[str, ...]
    codes: tuple[tuple[Value, ...], ...]
    labels: Mapping[str, Mapping[Value, str]]
    missing: tuple[Value, ...]
    required: bool
    _parents: tuple[tuple[int, ...], ...] = field(repr=False)

    def __init__(
        self,
        table: Mapping[str, Sequence[Value]] | str | Path,
        *,
        levels: Sequence[str],
        labels: Mapping[str, str] | None = None,
        codes: Literal["text", "integer"] = "text",
        missing: Sequence[Value] = (),
        required: bool = False,
    ) -> None:
        if codes not in {"text", "integer"}:
            raise SchemaError(f"codes={printed(codes)}: must be 'text' or 'integer'")
        rows, named = read_lookup(table), _level_names(levels)
        cells = [_level_codes(rows, level, codes) for level in named]
        _check_tree(rows, named, cells)
        object.__setattr__(self, "levels", named)
        object.__setattr__(self, "codes", tuple(tuple(dict.fromkeys(column)) for column in cells))
        object.__setattr__(self, "labels", MappingProxyType(labels_in(rows, named, cells, labels or {})))
        source = Category(self.codes[-1], missing=missing, required=required)  # checked here, where the arguments are named
        object.__setattr__(self, "missing", source.missing)
        object.__setattr__(self, "required", source.required)
        places = [{code: place for place, code in enumerate(dict.fromkeys(column))} for column in cells]
        parents = tuple(tuple(place[code] for code in column) for place, column in zip(places, cells, strict=True))
        object.__setattr__(self, "_parents", parents)

    def columns(self, name: str) -> dict[str, Category]:
        """The column of the codes, and one for each level, as a schema has them."""
        source = Category(self.codes[-1], missing=self.missing, required=self.required)
        found = {name: source}
        for level, codes, own in zip(self.levels, self.codes, self._parents, strict=True):
            found[level_name(name, level)] = derive(name, source, own, codes, required=self.required)
        return found


def level_name(column: str, level: str) -> str:
    """The column of one level of a hierarchy."""
    return f"{column}.{level}"


def _level_names(levels: object) -> tuple[str, ...]:
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
        raise SchemaError(f"levels={printed(levels)}: must be a list of columns of the table, the widest areas first")
    named = tuple(levels)
    for level in named:
        if not isinstance(level, str) or not level:
            raise SchemaError(f"levels: {printed(level)} must be the name of a column of the table")
        if named.count(level) > 1:
            raise SchemaError(f"levels: '{level}' is named twice")
    return named


def _level_codes(table: Lookup, level: str, kind: str) -> list[Value]:
    """The codes of one level, row by row."""
    found: list[Value] = []
    for row, cell in enumerate(table.column(level)):
        if cell is None:
            raise SchemaError(f"{table.at(row)}: '{level}' is empty; every area needs a code at every level")
        found.append(whole_number(cell, f"{table.at(row)}, '{level}'") if kind == "integer" else cell)  # type: ignore[arg-type]
    _check_lengths(table, level, found)
    return found


def _check_lengths(table: Lookup, level: str, codes: Sequence[Value]) -> None:
    """Codes of digits have one length: a shorter one has lost the zeros in front of it."""
    texts = [code for code in codes if isinstance(code, str)]
    if len(texts) < len(codes) or not all(code.isascii() and code.isdecimal() for code in texts):
        return
    longest = max(map(len, texts))
    row = next((row for row, code in enumerate(texts) if len(code) < longest), None)
    if row is not None:
        raise SchemaError(
            f"{table.at(row)}: code {printed(texts[row])} of '{level}' has {len(texts[row])} digits, others have {longest}; "
            "a spreadsheet may have taken zeros away in front; write all codes with the same number of digits"
        )


def _check_tree(table: Lookup, levels: Sequence[str], cells: Sequence[Sequence[Value]]) -> None:
    """Every area has one parent, and every area of the last level one row."""
    for place in range(1, len(levels)):
        above: dict[Value, int] = {}
        for row, (code, parent) in enumerate(zip(cells[place], cells[place - 1], strict=True)):
            first = above.setdefault(code, row)
            if cells[place - 1][first] != parent:
                raise SchemaError(
                    f"{table.at(row)}: '{levels[place]}' {printed(code)} is in {printed(parent)}, and on line "
                    f"{table.first + first} in {printed(cells[place - 1][first])}; codes must be unique within their level: "
                    "write the code of the wider area in front"
                )
    seen: dict[Value, int] = {}
    for row, code in enumerate(cells[-1]):
        if seen.setdefault(code, row) != row:
            twin = table.first + seen[code]
            raise SchemaError(f"{table.at(row)}: '{levels[-1]}' {printed(code)} is listed twice; line {twin} has it too")


def labels_in(
    table: Lookup, levels: Sequence[str], cells: Sequence[Sequence[Value]], labels: Mapping[str, str]
) -> dict[str, Mapping[Value, str]]:
    """The label of each code of the levels that have some."""
    found: dict[str, Mapping[Value, str]] = {}
    for level, column in labels.items():
        if level not in levels:
            raise SchemaError(f"labels: {printed(level)} is not a level{did_you_mean(level, levels)}")
        told: dict[Value, str] = {}
        for row, (code, label) in enumerate(zip(cells[levels.index(level)], table.column(column), strict=True)):
            if label is not None and told.setdefault(code, str(label)) != str(label):
                raise SchemaError(f"{table.at(row)}: '{level}' {printed(code)} has two labels in '{column}'")
        found[level] = MappingProxyType(told)
    return found
