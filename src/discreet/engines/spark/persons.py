"""Persons added up by Spark, in two statements: the parts of persons over one reading of the rows, and what they add up to.

The executors keep the parts in between, in memory and on their disks, so that both statements see the same rows, whatever
the frame would give if it was read again. If some are lost the release fails. No id reaches the driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonKey, PersonScan, PersonValue
from discreet.cube.tables import PersonCodes
from discreet.cube.value_paths import KeyAxis, renamed
from discreet.engines.base import Header, PersonReading
from discreet.engines.joined_parts import joined_parts_sql
from discreet.engines.person_scans import answer_sql, parts_sql
from discreet.engines.spark.dialect import SPARK
from discreet.errors import unreachable

__all__ = ["joined_parts", "person_answer", "person_parts", "under_places"]

_ROWS, _PARTS = "{discreet_source}", "discreet_parts"


def under_places(scan: PersonReading | PersonCodes, places: Mapping[str, str]) -> PersonReading | PersonCodes:
    """The scan with each column called as in `places`."""
    match scan:
        case PersonCodes():
            paths = tuple(renamed(path, places) for path in scan.paths)
            return replace(scan, person=places[scan.person], paths=paths)
        case PersonScan():
            return replace(
                scan,
                person=places[scan.person],
                keys=tuple(_key(one, places) for one in scan.keys),
                tests=tuple(_axis(one, places) for one in scan.tests),
                values=tuple(_value(one, places) for one in scan.values),
                spreads=tuple(replace(one, axis=_axis(one.axis, places)) for one in scan.spreads),
                weight=None if scan.weight is None else replace(scan.weight, name=places[scan.weight.name]),
            )
        case PersonRows():
            return replace(
                scan,
                person=places[scan.person],
                axes=tuple(_axis(one, places) for one in scan.axes),
                tests=tuple(_axis(one, places) for one in scan.tests),
                values=tuple(_value(one, places) for one in scan.values),
            )
    raise unreachable(scan)


def _key(key: PersonKey, places: Mapping[str, str]) -> PersonKey:
    return replace(key, axis=_axis(key.axis, places))


def _axis(axis: KeyAxis, places: Mapping[str, str]) -> KeyAxis:
    return replace(axis, path=renamed(axis.path, places))


def _value(value: PersonValue, places: Mapping[str, str]) -> PersonValue:
    return replace(value, path=replace(value.path, name=places[value.path.name]))


def person_parts(session: Any, rows: Any, header: Header, scan: PersonReading | PersonCodes) -> Any:
    """The parts of persons, which the executors keep, from the rows of a frame.

    Args:
        session: the session of the frame.
        rows: the frame, read once.
        header: the types of its columns.
        scan: over the names of these columns.
    """
    return session.sql(parts_sql(SPARK, _ROWS, header, scan), discreet_source=rows).localCheckpoint(eager=True)


def joined_parts(session: Any, own: Any, codes: Sequence[Any], scan: PersonReading) -> Any:
    """The parts of the whole reading, which the executors keep, from the parts of each table; those of rows may be none."""
    names = [f"codes{place}" for place in range(len(codes))]
    tables = [f"{name} AS (SELECT * FROM {{{name}_given}})" for name in names]
    joined = joined_parts_sql(SPARK, "rows_parts", names, scan)
    rows = [] if own is None else ["rows_parts AS (SELECT * FROM {own})"]
    statement = f"WITH {', '.join([*rows, *tables])} {joined}"
    given = {f"{name}_given": one for name, one in zip(names, codes, strict=True)} | ({"own": own} if rows else {})
    return session.sql(statement, **given).localCheckpoint(eager=True)


def person_answer(session: Any, parts: Any, scan: PersonReading) -> dict[str, NDArray[Any]]:
    """The columns that `answer_cube` reads, from the parts of persons."""
    # A statement finds a frame by one name only, and the parts are named more than once.
    statement = f"WITH {_PARTS} AS (SELECT * FROM {{parts}}) SELECT * FROM ({answer_sql(SPARK, _PARTS, scan)}) AS totals"
    answer = session.sql(statement, parts=parts).toArrow()
    return {name: answer[name].to_numpy() for name in answer.column_names}
