"""The meaning of a column of texts that nobody listed: plain Python over rows. Every engine must equal it."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube
from discreet.cube.keys import KeyScan, is_key, key_weight
from discreet.cube.persons import PersonScan
from discreet.engines.reference_persons import Code, Counted, Found, Label, add_counted, cell_of, identity, read_row
from discreet.engines.texts import Places

__all__ = ["ReferenceKeys"]


class ReferenceKeys:
    """The rows that count: person, key or None, cell of the other groups, and what is read of the row."""

    def __init__(self, scan: KeyScan, rows: Iterable[Mapping[str, object]], label: Label, code: Code) -> None:
        self._scan, self._found = scan, list[str]()
        self._rows: list[tuple[object, str | None, int, Found]] = []
        for row in rows:
            person, cell = identity(row[scan.rest.person]), cell_of(scan.rest, row, label)
            found = read_row(scan.rest, row, label, code)
            if person is not None and cell is not None and found.times:
                self._rows.append((person, _key(scan, row[scan.column]), cell, found))

    def candidates(self, gone: Sequence[str], at_least: int) -> NDArray[np.int64]:
        """As of every table of keys."""
        keys_of: defaultdict[object, set[str]] = defaultdict(set)
        for person, key, *_ in self._rows:
            if key is not None and key not in gone:
                keys_of[person].add(key)
        weights: defaultdict[str, list[int]] = defaultdict(list)
        for keys in keys_of.values():
            for key in keys:
                weights[key] += [key_weight(len(keys))] if key_weight(len(keys)) else []
        self._found = sorted((key for key, own in weights.items() if len(own) >= at_least and own), key=str.encode)
        return np.array([sum(weights[key]) for key in self._found], dtype=np.int64)

    def names(self, places: NDArray[np.intp]) -> list[str]:
        """As of every table of keys."""
        return [self._found[place] for place in places]

    def totals(self, places: Places, whole: PersonScan) -> Cube:
        """As of every table of keys."""
        counted = Counted(whole)
        for person, key, rest, found in self._rows:
            place = places.null if key is None else places.named.get(key, places.other)
            if place is not None:
                counted.add(person, self._scan.cell(rest, place, places.count), found)
        return add_counted(whole, counted)


def _key(scan: KeyScan, value: object) -> str | None:
    """The key of a cell, or None where it has none."""
    if not isinstance(value, str):
        return None
    text = unicodedata.normalize("NFC", value)
    return text if is_key(text, scan.max_length) else None
