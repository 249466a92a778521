"""The meaning of tables of persons beside a table of rows: plain Python, row by row. Every engine must equal it.

First the rows of each person in a table of persons become one row: of each column the code that all rows with one have, else
null. Then each row of the first table gets the codes of its person. Only then does anything else happen to it. Where a table
has all persons, rows of others are left out, and who has no row still is a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from discreet.cube.cube import Cube
from discreet.cube.joins import JoinedScan, beside_of, rest_of
from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonScan
from discreet.cube.tables import Beside, PersonCodes
from discreet.cube.value_paths import CategoryPath, KeyAxis, NumberPath
from discreet.domain.codes import NULL
from discreet.engines.base import PersonReading
from discreet.engines.reference_keys import ReferenceKeys
from discreet.engines.reference_persons import Code, Label, add_persons, identity, made_cube, made_of, make_rows, rows_of
from discreet.engines.texts import KeyTable

__all__ = ["ReferenceJoiner", "agreed_codes"]


class Reading(Protocol):
    """Rows of Python values, and what their cells mean."""

    def named_rows(self) -> Iterator[Mapping[str, object]]:
        """The rows, each a value by the name of its column."""

    def label(self, axis: KeyAxis, row: Mapping[str, object]) -> int:
        """The label of one of these rows."""

    def code(self, path: NumberPath, value: object) -> int | None:
        """The code of a number or date of these rows; None for null."""


class ReferenceJoiner:
    """Rows of Python values with the codes of their persons."""

    def __init__(self, engine: Reading, others: Mapping[str, Reading]) -> None:
        self._engine, self._others = engine, dict(others)

    def add_persons(self, scan: PersonReading) -> Cube:
        """The totals over persons, or one row of each, row by row."""
        if isinstance(scan, PersonScan):
            return add_persons(scan, self._rows(scan), *self._meaning())
        if scan.everybody is None:
            return make_rows(scan, self._rows(scan), *self._meaning())
        return self._rows_of_everybody(scan, scan.everybody)

    def _rows_of_everybody(self, scan: PersonRows, everybody: Beside) -> Cube:
        """One row of each person of the table of all persons, with or without rows of her own."""
        label, code = self._meaning()
        own = {} if scan.table else rows_of(scan, self._rows(scan), label)
        persons = Counter(
            made_of(scan, own.get(person, []), label, code, [codes])
            for person, codes in persons_of(self._others[everybody.table], everybody.codes)
        )
        return made_cube(scan, persons)

    def can_keep_keys(self) -> bool:
        """True."""
        return True

    def open_keys(self, scan: KeyScan) -> AbstractContextManager[KeyTable]:
        """The texts of the rows, row by row."""
        return nullcontext(ReferenceKeys(scan, self._rows(scan), *self._meaning()))

    def close(self) -> None:
        """Does nothing: nothing was opened."""

    def _rows(self, scan: JoinedScan) -> Iterator[Mapping[str, object]]:
        """The rows of the first table, each with the codes of its person in the place of values."""
        codes = {one.table: agreed_codes(self._others[one.table], one.codes) for one in beside_of(scan)}
        for row in self._engine.named_rows():
            person = identity(row[rest_of(scan).person])
            if any(one.whole and person not in codes[one.table] for one in beside_of(scan)):
                continue
            own: dict[str, object] = {}
            for one in beside_of(scan):
                names = [path.called or path.name for path in one.codes.paths]
                found = codes[one.table].get(person, [None] * len(names))
                own |= zip(names, found, strict=True)
            yield {**row, **own}

    def _meaning(self) -> tuple[Label, Code]:
        """The labels and codes of cells: of values in the first table, of codes in the others."""
        own_label, own_code = self._engine.label, self._engine.code

        def label(axis: KeyAxis, row: Mapping[str, Any]) -> int:
            return label_of_code(axis, row[axis.name]) if axis.path.table else own_label(axis, row)

        def code(path: NumberPath, value: Any) -> int | None:
            return code_within(path, value) if path.table else own_code(path, value)

        return label, code


def agreed_codes(engine: Reading, scan: PersonCodes) -> dict[object, list[int | None]]:
    """For each person the code of each column, where all rows with a value have the same; a null id is nobody."""
    found: dict[object, list[set[int]]] = {}
    for row in engine.named_rows():
        person = identity(row[scan.person])
        if person is not None:
            own = found.setdefault(person, [set() for _ in scan.paths])
            for codes, path in zip(own, scan.paths, strict=True):
                codes.update({engine.label(KeyAxis(path), row)} - {NULL})
    return {person: [one.pop() if len(one) == 1 else None for one in own] for person, own in found.items()}


def persons_of(engine: Reading, scan: PersonCodes) -> Iterator[tuple[object, Mapping[str, int | None]]]:
    """A person for each row, with her codes by the names of their columns: her id, or None where no row has it.

    Who has several rows has all her codes once, and of a person for each further row nothing is known.
    """
    names = [path.called or path.name for path in scan.paths]
    agreed, seen = agreed_codes(engine, scan), set()
    for row in engine.named_rows():
        person = identity(row[scan.person])
        if person is None:
            labels = (engine.label(KeyAxis(path), row) for path in scan.paths)
            yield None, dict(zip(names, (None if one == NULL else one for one in labels), strict=True))
        elif person in seen:
            yield None, dict.fromkeys(names)
        else:
            seen.add(person)
            yield person, dict(zip(names, agreed[person], strict=True))


def label_of_code(axis: KeyAxis, code: int | None) -> int:
    """The label of a code of the column, or of null."""
    path = axis.path
    if code is None:
        return path.null_target
    if isinstance(path, CategoryPath):
        return path.targets[code]
    target = min(max(code, path.low), path.high)
    return target if axis.cuts is None else sum(cut <= target for cut in axis.cuts)


def code_within(path: NumberPath, code: int | None) -> int | None:
    """The code of a number after the clamps on it."""
    return None if code is None else min(max(code, path.low), path.high)
