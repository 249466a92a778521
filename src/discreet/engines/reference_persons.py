"""The meaning of a scan of a table of persons: plain Python, one row after the other. Every engine must equal it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.cube.cube import Cube, compact
from discreet.cube.person_numbers import Part
from discreet.cube.person_rows import PersonColumn, PersonRows
from discreet.cube.persons import NOWHERE, InFull, PersonKey, PersonScan
from discreet.cube.value_paths import KeyAxis, NumberPath
from discreet.cube.weights import WEIGHTINGS, weight
from discreet.domain.codes import NULL

__all__ = [
    "Code",
    "Counted",
    "Found",
    "Label",
    "add_counted",
    "add_persons",
    "cell_of",
    "identity",
    "made_cube",
    "made_of",
    "make_rows",
    "read_row",
    "rows_of",
]

Label = Callable[[KeyAxis, Mapping[str, object]], int]
"""The label of a row."""

Code = Callable[[NumberPath, object], int | None]
Rows = Sequence[Mapping[str, object]]


class Counted:
    """For each person and cell the number of rows, the known values of each column, and the rows in each bin of spreads."""

    def __init__(self, scan: PersonScan) -> None:
        self._scan = scan
        self.rows: Counter[tuple[object, int]] = Counter()
        self.parts: dict[tuple[object, int], dict[str, Part]] = {}
        self.bins: Counter[tuple[object, int, int, int]] = Counter()

    def add(self, person: object, cell: int, found: Found) -> None:
        """One row of a person in a cell."""
        self.rows[person, cell] += found.times
        own = self.parts.setdefault((person, cell), {one.column: Part() for one in self._scan.values})
        for one, code in zip(self._scan.values, found.codes, strict=True):
            if code is not None:
                part, distance = own[one.column], 2 * code - one.path.low - one.path.high
                known, codes = part.known + found.times, part.codes + found.times * code
                own[one.column] = Part(known, codes, part.squares + found.times * distance**2)
        for place, within in enumerate(found.bins):
            if within != NOWHERE:
                self.bins[person, cell, place, within] += found.times


@dataclass(frozen=True, slots=True)
class Found:
    """What is read of a row: for how many it stands, the codes of the values, and the bins of the spreads."""

    times: int
    codes: tuple[int | None, ...]
    bins: tuple[int, ...]


def read_row(scan: PersonScan, row: Mapping[str, object], label: Label, code: Code) -> Found:
    """What is read of a row."""
    codes = (code(one.path, row[one.path.name]) for one in scan.values)
    bins = (one.place(label(one.axis, row)) for one in scan.spreads)
    return Found(times_of(scan, row, code), tuple(codes), tuple(bins))


def add_persons(scan: PersonScan, rows: Iterable[Mapping[str, object]], label: Label, code: Code) -> Cube:
    """The totals over the persons of these rows, each a value by the name of its column."""
    counted = Counted(scan)
    for row in rows:
        person, cell, found = identity(row[scan.person]), cell_of(scan, row, label), read_row(scan, row, label, code)
        if person is not None and cell is not None and found.times:
            counted.add(person, cell, found)
    return add_counted(scan, counted)


def add_counted(scan: PersonScan, counted: Counted) -> Cube:
    """The totals over persons, in cells and parts of the cube."""
    cells_of: Counter[object] = Counter(person for person, _ in counted.rows)
    totals: dict[tuple[int, int], list[int]] = {}

    def add(person: object, key: tuple[int, int], added: Sequence[int]) -> None:
        weights = [weight(weighting, cells_of[person], scan.groups, scan.cells) for weighting in WEIGHTINGS]
        padded = [*added, *(0 for _ in range(max(len(scan.numbers), 1) - len(added)))]
        weighed = [1, *(w * one for one in padded for w in weights)]
        totals[key] = [have + more for have, more in zip(totals.get(key, [0] * len(weighed)), weighed, strict=True)]

    for (person, cell), rows in counted.rows.items():
        if scan.numbers:
            add(person, (0, cell), [one.of(rows, counted.parts[person, cell]) for one in scan.numbers])
    of: Counter[tuple[object, int, int]] = Counter()
    for (person, cell, place, _), rows in counted.bins.items():
        of[person, cell, place] += rows
    for (person, cell, place, within), rows in counted.bins.items():
        bins = scan.spreads[place].bins
        if within < bins:
            add(person, (1 + place, cell * bins + within), [scan.share(rows, of[person, cell, place])])
    if scan.in_full is not None:
        last = 1 + len(scan.spreads)
        for fully in _count_in_full(scan.in_full, counted).values():
            key, width = (last, int(not fully)), len(WEIGHTINGS) * max(len(scan.numbers), 1)
            totals[key] = [totals.get(key, [0])[0] + 1, *(0 for _ in range(width))]
    return _cube_of(scan, totals)


def _count_in_full(full: InFull, counted: Counted) -> dict[object, bool]:
    """For each person whether all that she has counts."""
    cells_of: Counter[object] = Counter(person for person, _ in counted.rows)
    found = {person: cells <= full.groups for person, cells in cells_of.items()}
    for (person, cell), rows in counted.rows.items():
        found[person] &= full.holds_in(rows, counted.parts[person, cell])
    return found


def make_rows(scan: PersonRows, rows: Iterable[Mapping[str, object]], label: Label, code: Code) -> Cube:
    """The values of the persons of these rows, each combination with the number of persons that have it."""
    return made_cube(scan, Counter(made_of(scan, own, label, code, own) for own in rows_of(scan, rows, label).values()))


def rows_of(
    scan: PersonRows, rows: Iterable[Mapping[str, object]], label: Label
) -> dict[object, list[Mapping[str, object]]]:
    """The rows of each person that fulfil the conditions."""
    own: dict[object, list[Mapping[str, object]]] = {}
    for row in rows:
        person = identity(row[scan.person])
        if person is not None and all(label(axis, row) == 1 for axis in scan.tests):
            own.setdefault(person, []).append(row)
    return own


def made_of(scan: PersonRows, rows: Rows, label: Label, code: Code, of_person: Rows) -> tuple[int, ...]:
    """The codes of the columns that are made of a person's rows, and of what is known of the person beside them."""
    numbers = (_number_of(scan, one, of_person if _is_joined(scan, one) else rows, label, code) for one in scan.made)
    return tuple(one.code(number) for one, number in zip(scan.made, numbers, strict=True))


def made_cube(scan: PersonRows, persons: Mapping[tuple[int, ...], int]) -> Cube:
    """The cube of these combinations, each with the number of persons that have it."""
    keys = np.array(list(persons), dtype=np.int64).reshape(len(persons), len(scan.made))
    nothing = np.zeros((len(persons), 0), dtype=np.int64)
    return compact(Cube(keys, np.array(list(persons.values()), dtype=np.int64), nothing, nothing))


def _is_joined(scan: PersonRows, one: PersonColumn) -> bool:
    """True if a column is made of labels of a table of persons: these are known without any row."""
    return one.how not in ("rows", "total") and scan.axes[one.place].path.table != ""


def _number_of(scan: PersonRows, one: PersonColumn, rows: Rows, label: Label, code: Code) -> int | None:
    """What is made of all rows of a person; None for null."""
    if one.how == "rows":
        return len(rows)
    if one.how == "total":
        path, total = scan.values[one.place].path, scan.totals[one.place]
        codes = [known for row in rows if (known := code(path, row[path.name])) is not None]
        return total.clamped(len(codes), sum(codes)) if codes else None
    axis = scan.axes[one.place]
    labels = {label(axis, row) for row in rows} - {NULL}
    if one.how == "distinct":
        return len(labels)
    if not labels or (one.how == "only" and len(labels) > 1):
        return None
    return max(labels) if one.how == "latest" else min(labels)


def identity(value: object) -> object:
    """The value as ids are compared: texts by their bytes, and no number is a text; None for null.

    A double is no id, where each cell has a type of its own.
    """
    if isinstance(value, float):
        return None
    return value.encode(errors="surrogatepass") if isinstance(value, str) else value


def times_of(scan: PersonScan, row: Mapping[str, object], code: Code) -> int:
    """For how many rows the row stands; 0 where it does not count."""
    return 1 if scan.weight is None else code(scan.weight, row[scan.weight.name]) or 0


def cell_of(scan: PersonScan, row: Mapping[str, object], label: Label) -> int | None:
    """The cell of the request that the row is in; None where it fails a condition or is in no group."""
    if any(label(axis, row) != 1 for axis in scan.tests):
        return None
    cell = 0
    for key in scan.keys:
        place = _place_of(key, label(key.axis, row))
        if place is None:
            return None
        cell += key.stride * place
    return cell


def _place_of(key: PersonKey, label: int) -> int | None:
    if label == key.axis.path.null_target:
        return key.null
    return label - key.first if key.first <= label < key.first + key.places else None


def _cube_of(scan: PersonScan, totals: Mapping[tuple[int, int], Sequence[int]]) -> Cube:
    keys, width = sorted(totals), len(WEIGHTINGS) * max(len(scan.numbers), 1)
    numbers = np.array([totals[key] for key in keys], dtype=np.object_).reshape(len(keys), 1 + width)
    cells = np.array([(cell, part) for part, cell in keys], dtype=np.int64).reshape(len(keys), 2)
    sums = numbers[:, 1:] if scan.is_wide else numbers[:, 1:].astype(np.int64)
    return Cube(cells, numbers[:, 0].astype(np.int64), np.zeros((len(keys), 0), dtype=np.int64), sums)
