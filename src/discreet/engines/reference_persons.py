"""The meaning of a scan of a table of persons: plain Python, one row after the other. Every engine must equal it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from discreet.cube.cube import Cube
from discreet.cube.persons import PersonKey, PersonScan
from discreet.cube.value_paths import KeyAxis
from discreet.cube.weights import WEIGHTINGS, weight

__all__ = ["add_persons", "cell_of", "identity"]

Label = Callable[[KeyAxis, object], int]


def add_persons(scan: PersonScan, rows: Iterable[Mapping[str, object]], label: Label) -> Cube:
    """The totals over the persons of these rows, each a value by the name of its column."""
    counted: Counter[tuple[object, int]] = Counter()
    for row in rows:
        person, cell = identity(row[scan.person]), cell_of(scan, row, label)
        if person is not None and cell is not None:
            counted[person, cell] += 1
    cells_of: Counter[object] = Counter(person for person, _ in counted)
    totals: dict[int, list[int]] = {}
    for (person, cell), n in counted.items():
        weights = [weight(weighting, cells_of[person], scan.groups, scan.cells) for weighting in WEIGHTINGS]
        added = [1, *weights, *(w * min(n, scan.rows) for w in weights)]
        totals[cell] = [have + more for have, more in zip(totals.get(cell, [0] * len(added)), added, strict=True)]
    return _cube_of(totals)


def identity(value: object) -> object:
    """The value as ids are compared: texts by their bytes, and no number is a text; None for null."""
    return value.encode(errors="surrogatepass") if isinstance(value, str) else value


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


def _cube_of(totals: Mapping[int, Sequence[int]]) -> Cube:
    cells = sorted(totals)
    numbers = np.array([totals[cell] for cell in cells], dtype=np.int64).reshape(len(cells), 1 + 2 * len(WEIGHTINGS))
    keys = np.array(cells, dtype=np.int64).reshape(-1, 1)
    return Cube(keys, numbers[:, 0], np.zeros((len(cells), 0), dtype=np.int64), numbers[:, 1:])
