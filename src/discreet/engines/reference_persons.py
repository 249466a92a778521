"""The meaning of a scan of a table of persons: plain Python, one row after the other. Every engine must equal it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from discreet.cube.cube import Cube, compact
from discreet.cube.person_rows import PersonColumn, PersonRows
from discreet.cube.persons import PersonKey, PersonScan
from discreet.cube.value_paths import KeyAxis, NumberPath
from discreet.cube.weights import WEIGHTINGS, weight
from discreet.domain.codes import NULL

__all__ = ["Code", "Counted", "Label", "add_counted", "add_persons", "cell_of", "identity", "make_rows", "times_of"]

Label = Callable[[KeyAxis, object], int]
Code = Callable[[NumberPath, object], int | None]


class Counted:
    """For each person and cell the number of rows and, of each value, the known rows and the sum of their codes."""

    def __init__(self) -> None:
        self.rows: Counter[tuple[object, int]] = Counter()
        self.known: Counter[tuple[object, int, int]] = Counter()
        self.codes: Counter[tuple[object, int, int]] = Counter()

    def add(self, person: object, cell: int, times: int, codes: Iterable[int | None]) -> None:
        """One row of a person in a cell, with its codes of all values, so many times."""
        self.rows[person, cell] += times
        for place, found in enumerate(codes):
            if found is not None:
                self.known[person, cell, place] += times
                self.codes[person, cell, place] += times * found


def add_persons(scan: PersonScan, rows: Iterable[Mapping[str, object]], label: Label, code: Code) -> Cube:
    """The totals over the persons of these rows, each a value by the name of its column."""
    counted = Counted()
    for row in rows:
        person, cell, times = identity(row[scan.person]), cell_of(scan, row, label), times_of(scan, row, code)
        if person is not None and cell is not None and times:
            counted.add(person, cell, times, [code(value.path, row[value.path.name]) for value in scan.values])
    return add_counted(scan, counted)


def add_counted(scan: PersonScan, counted: Counted) -> Cube:
    """The totals over persons."""
    cells_of: Counter[object] = Counter(person for person, _ in counted.rows)
    totals: dict[int, list[int]] = {}
    for (person, cell), n in counted.rows.items():
        added = [1, min(n, scan.rows)]
        for place, value in enumerate(scan.values):
            has = counted.known[person, cell, place]
            added += [1, value.clamped(has, counted.codes[person, cell, place])] if has else [0, 0]
        weights = [weight(weighting, cells_of[person], scan.groups, scan.cells) for weighting in WEIGHTINGS]
        weighed = [1, *(w * one for one in added for w in weights)]
        totals[cell] = [have + more for have, more in zip(totals.get(cell, [0] * len(weighed)), weighed, strict=True)]
    return _cube_of(scan, totals)


def make_rows(scan: PersonRows, rows: Iterable[Mapping[str, object]], label: Label, code: Code) -> Cube:
    """The values of the persons of these rows, each combination with the number of persons that have it."""
    own: dict[object, list[Mapping[str, object]]] = {}
    for row in rows:
        person = identity(row[scan.person])
        if person is not None and all(label(axis, row[axis.name]) == 1 for axis in scan.tests):
            own.setdefault(person, []).append(row)
    persons = Counter(tuple(one.code(_number_of(scan, one, of, label, code)) for one in scan.made) for of in own.values())
    keys = np.array(list(persons), dtype=np.int64).reshape(len(persons), len(scan.made))
    nothing = np.zeros((len(persons), 0), dtype=np.int64)
    return compact(Cube(keys, np.array(list(persons.values()), dtype=np.int64), nothing, nothing))


def _number_of(
    scan: PersonRows, one: PersonColumn, rows: Sequence[Mapping[str, object]], label: Label, code: Code
) -> int | None:
    """What is made of all rows of a person; None for null."""
    if one.how == "rows":
        return len(rows)
    if one.how == "total":
        value = scan.values[one.place]
        codes = [known for row in rows if (known := code(value.path, row[value.path.name])) is not None]
        return value.clamped(len(codes), sum(codes)) if codes else None
    axis = scan.axes[one.place]
    labels = {label(axis, row[axis.name]) for row in rows} - {NULL}
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
    if any(label(axis, row[axis.name]) != 1 for axis in scan.tests):
        return None
    cell = 0
    for key, size in zip(scan.keys, scan.sizes, strict=True):
        place = _place_of(key, label(key.axis, row[key.axis.name]))
        if place is None:
            return None
        cell = cell * size + place
    return cell


def _place_of(key: PersonKey, label: int) -> int | None:
    if label == key.axis.path.null_target:
        return key.null
    return label - key.first if key.first <= label < key.first + key.places else None


def _cube_of(scan: PersonScan, totals: Mapping[int, Sequence[int]]) -> Cube:
    cells, width = sorted(totals), len(WEIGHTINGS) * 2 * (1 + len(scan.values))
    numbers = np.array([totals[cell] for cell in cells], dtype=np.object_).reshape(len(cells), 1 + width)
    keys, rows = np.array(cells, dtype=np.int64).reshape(-1, 1), numbers[:, 0].astype(np.int64)
    sums = numbers[:, 1:] if scan.is_wide else numbers[:, 1:].astype(np.int64)
    return Cube(keys, rows, np.zeros((len(cells), 0), dtype=np.int64), sums)
