"""The parts of persons of a table of rows, with the codes of tables of persons beside them, as one SQL statement.

All rows of a person have the same codes there. So the rows of a person can be put together first, by the columns of their
own table, and get the codes of the others afterwards (U7 of docs/proofs/persons.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from discreet.cube.joins import JoinedScan, beside_of, over_codes, place_of, rest_of
from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonKey, PersonScan, PersonSpread, PersonValue
from discreet.cube.tables import Beside
from discreet.cube.value_paths import KeyAxis, NumberPath, Path
from discreet.domain.codes import NULL
from discreet.engines.base import ColumnType, Header
from discreet.engines.dialect import Dialect
from discreet.engines.person_codes import agreed_codes_sql
from discreet.engines.persons import bin_sql, inside_sql, place_sql, square_sql
from discreet.engines.sql import labels_sql, number_code
from discreet.errors import InternalError

__all__ = ["joined_parts_sql"]

_CODE = ColumnType("integer", "BIGINT")


def joined_parts_sql(dialect: Dialect, own: str, tables: Sequence[str], scan: JoinedScan) -> str:
    """The statement that gives the parts of the whole reading, each once, as if each row had the codes of its person.

    Args:
        dialect: of the engine that will run it.
        own: a table with the parts of what `cube.joins.of_rows` asks, each once.
        tables: for each table of persons beside it, a table with what `code_parts_sql` gives, each person once.
        scan: the whole reading.
    """
    if isinstance(scan, PersonRows) and scan.everybody is not None:
        everybody = everybody_sql(dialect, tables[scan.beside.index(scan.everybody)], scan)
        return everybody if scan.table else f"{_joined_sql(dialect, own, tables, scan)} UNION ALL {everybody}"
    return _joined_sql(dialect, own, tables, scan)


def _joined_sql(dialect: Dialect, own: str, tables: Sequence[str], scan: JoinedScan) -> str:
    """The parts of persons who have rows."""
    rest, beside = rest_of(scan), beside_of(scan)
    header = {_name(table, place): _CODE for table, one in enumerate(beside) for place in range(len(one.codes.paths))}
    axes = [KeyAxis(over_codes(one.path, _named(beside, one.path)), one.cuts) for one in _axes(rest)]
    kept = _kept(scan)
    codes = [f"{_code(dialect, beside, header, one)} AS v{j}" for j, one in enumerate(rest.values) if one.path.table]
    read = ", ".join([*(f"own.{column} AS {name}" for name, column in kept.items()), *header])
    source = f"(SELECT {read} FROM {_tables(own, tables, beside)}) AS beside"
    labels = labels_sql(dialect, source, header, axes, [*kept, *codes])
    columns = ", ".join(_columns(dialect, scan))
    return f"SELECT {columns} FROM ({labels}) AS labelled WHERE {' AND '.join(_conditions(rest)) or 'true'}"


def _name(table: int, place: int) -> str:
    return f"agreed{table}_{place}"


def _named(beside: Sequence[Beside], path: Path) -> str:
    return _name(*place_of(beside, path))


def _tables(own: str, tables: Sequence[str], beside: Sequence[Beside]) -> str:
    joined = [f"{own} AS own"]
    for number, (table, one) in enumerate(zip(tables, beside, strict=True)):
        renamed = [f"agreed{place} AS {_name(number, place)}" for place in range(len(one.codes.paths))]
        codes = f"SELECT {', '.join(['p', *renamed])} FROM ({agreed_codes_sql(table, one.codes)}) AS agreed"
        join = "JOIN" if one.whole else "LEFT JOIN"
        joined.append(f"{join} ({codes}) AS beside{number} ON own.p = beside{number}.p")
    return " ".join(joined)


def _code(dialect: Dialect, beside: Sequence[Beside], header: Header, value: PersonValue) -> str:
    path = over_codes(value.path, _named(beside, value.path))
    if not isinstance(path, NumberPath):
        raise InternalError("a value is a number")
    return number_code(dialect, path, header[path.name], "BIGINT")


# What the reading asks of each table --------------------------------------------------------------------------------------


def _keys(rest: PersonScan | PersonRows) -> list[PersonKey]:
    """The groups over columns of tables of persons."""
    return [one for one in rest.keys if one.axis.path.table] if isinstance(rest, PersonScan) else []


def _labelled(rest: PersonScan | PersonRows) -> list[KeyAxis]:
    """The axes over columns of tables of persons that come before the conditions."""
    return [one.axis for one in _keys(rest)] if isinstance(rest, PersonScan) else _joined(rest.axes)


def _spreads(rest: PersonScan | PersonRows) -> Sequence[PersonSpread]:
    return rest.spreads if isinstance(rest, PersonScan) else ()


def _axes(rest: PersonScan | PersonRows) -> list[KeyAxis]:
    """The axes over columns of tables of persons: the labels k0, k1, … of the statement."""
    return [*_labelled(rest), *_joined(rest.tests), *_joined(one.axis for one in _spreads(rest))]


def _joined(axes: Iterable[KeyAxis]) -> list[KeyAxis]:
    return [one for one in axes if one.path.table]


def _places(tables: Iterable[str]) -> dict[int, int]:
    """For each place that is of the table of rows, which has no name, its place among these alone."""
    own = (place for place, table in enumerate(tables) if not table)
    return {place: number for number, place in enumerate(own)}


def _own_values(rest: PersonScan | PersonRows) -> dict[int, int]:
    return _places(one.path.table for one in rest.values)


def _own_spreads(rest: PersonScan | PersonRows) -> dict[int, int]:
    return _places(one.axis.path.table for one in _spreads(rest))


def _sums(value: PersonValue) -> tuple[str, ...]:
    return ("n", "s", "r") if value.squared else ("n", "s")


def _kept(scan: JoinedScan) -> dict[str, str]:
    """The columns of the parts of the table of rows, by other names than those of labels and codes."""
    rest = rest_of(scan)
    names = {"p": "p", "rows_n": "n"}
    if isinstance(rest, PersonScan):
        names["cell"] = "cell"
        names |= {f"bin_{number}": f"b{number}" for number in _own_spreads(rest).values()}
    else:
        names |= {f"label_{i}": f"k{i}" for i in _places(one.path.table for one in rest.axes).values()}
    if isinstance(scan, KeyScan):
        names["word"] = "word"
    for place, number in _own_values(rest).items():
        names |= {f"{word}_{number}": f"{word}{number}" for word in _sums(rest.values[place])}
    return names


def _conditions(rest: PersonScan | PersonRows) -> Iterator[str]:
    """The conditions and groups over columns of tables of persons, by the numbers of their labels."""
    yield from (inside_sql(key, f"k{i}") for i, key in enumerate(_keys(rest)))
    first = len(_labelled(rest))
    yield from (f"k{first + i} = 1" for i in range(len(_joined(rest.tests))))


def _columns(dialect: Dialect, scan: JoinedScan) -> list[str]:
    """The columns of the parts of the whole reading, in the names that the second statement knows."""
    rest = rest_of(scan)
    found = ["p", *(["word"] if isinstance(scan, KeyScan) else [])]
    if isinstance(rest, PersonScan):
        places = [f"{key.stride} * {place_sql(key, f'k{i}')}" for i, key in enumerate(_keys(rest))]
        found.append(f"CAST({' + '.join(['cell', *places])} AS INTEGER) AS cell")
        found += _bins(rest)
    else:
        own = _places(one.path.table for one in rest.axes)
        labels = (i for i in range(len(rest.axes)))
        found += [f"label_{own[i]} AS k{i}" if i in own else f"k{next(labels)} AS k{i}" for i in range(len(rest.axes))]
    found.append("rows_n AS n")
    if isinstance(rest, PersonRows) and rest.everybody:
        found.append("1 AS times")
    own = _own_values(rest)
    for j, one in enumerate(rest.values):
        if j in own:
            found += [f"{word}_{own[j]} AS {word}{j}" for word in _sums(one)]
        else:
            found += [f"{sql} AS {word}{j}" for word, sql in _sums_of_rows(dialect, one, j).items()]
    return found


def _bins(rest: PersonScan) -> Iterator[str]:
    own, first = _own_spreads(rest), len(_labelled(rest)) + len(_joined(rest.tests))
    labels = iter(range(first, first + len(rest.spreads)))
    for i, one in enumerate(rest.spreads):
        yield f"bin_{own[i]} AS b{i}" if i in own else f"{bin_sql(one, f'k{next(labels)}')} AS b{i}"


def _sums_of_rows(dialect: Dialect, value: PersonValue, j: int) -> Mapping[str, str]:
    """The sums over the rows of a person of a code that all of them have."""
    rows = dialect.wide("rows_n")
    sums = {"n": f"CASE WHEN v{j} IS NOT NULL THEN rows_n ELSE 0 END", "s": f"coalesce({rows} * {dialect.wide(f'v{j}')}, 0)"}
    return sums | ({"r": f"coalesce({rows} * {square_sql(dialect, value, j)}, 0)"} if value.squared else {})


# Persons without rows -----------------------------------------------------------------------------------------------------


def everybody_sql(dialect: Dialect, table: str, scan: PersonRows) -> str:
    """A part without any row for each person of the table of all persons, in the columns of `joined_parts_sql`.

    Persons of one id have it once; rows without an id, and what a person has in more rows than one, stand for as many
    persons as `times` says.
    """
    (one,) = (one for one in scan.beside if one.codes.every)
    header: Header = {_name(0, place): _CODE for place in range(len(one.codes.paths))}
    axes = [KeyAxis(over_codes(axis.path, _named([one], axis.path)), axis.cuts) for axis in _joined(scan.axes)]
    renamed = [f"agreed{place} AS {name}" for place, name in enumerate(header)]
    persons = f"(SELECT {', '.join(['p', 'm', *renamed])} FROM ({agreed_codes_sql(table, one.codes)}) AS agreed) AS beside"
    labels = labels_sql(dialect, persons, header, axes, ["p", "m"])
    joined = iter(range(len(axes)))
    own = [f"k{next(joined)}" if axis.path.table else f"{NULL}" for axis in scan.axes]
    nothing = [f"0 AS {word}{j}" for j, value in enumerate(scan.values) for word in _sums(value)]

    def parts(person: str, keys: Sequence[str], times: str) -> str:
        named = [f"CAST({key} AS BIGINT) AS k{i}" for i, key in enumerate(keys)]
        return ", ".join([f"{person} AS p", *named, "0 AS n", f"{times} AS times", *nothing])

    each = f"SELECT {parts('p', own, 'm')} FROM ({labels}) AS labelled"
    unknown = [str(NULL) for _ in scan.axes]
    more = f"SELECT {parts('CASE WHEN m < 0 THEN p END', unknown, 'm - 1')} FROM {table} WHERE p IS NOT NULL AND m > 1"
    return f"{each} UNION ALL {more}"
