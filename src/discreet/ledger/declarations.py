"""The part of a declaration that the first entry of a data set fixes, and how the rest changes.

A declaration is a JSON object. Everything in it is fixed but the columns under "schema" that nothing else in it uses, and
those of its tables of persons, under "beside", that are not their identifiers: they belong to each plan, and a change is
recorded as an amendment (soundness 17; H1 and H2 of docs/proofs/declaration.md say why). What is not understood is fixed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from discreet.exact.canonical import canonical

__all__ = ["amend", "amendment", "changes", "dated_of", "fixed_part", "identifiers_of", "short"]

_SHOWN = 60
_COLUMNS, _BESIDE = "schema", "beside"
_FREE = frozenset({_COLUMNS, _BESIDE, "neighbours", "budget", "population", "windows"})
"""The keys of a declaration beside those that list columns. Two of these may use one: who is a person, and the windows."""


@lru_cache(maxsize=8)  # every operation compares declarations, nearly always the same two, and they may be long
def fixed_part(declaration: str) -> str:
    """The canonical JSON of what no later plan may change: all but the columns that nothing uses; columns by their names."""
    whole = json.loads(declaration)
    columns, tables = _columns(whole), _tables(whole)
    if columns is None or tables is None:
        return canonical(whole)
    used, persons = _find_used(whole), _persons_beside(whole)
    own = {_COLUMNS: _named(columns, used)}
    beside = {_BESIDE: {name: _named(listed, {persons[name]}) for name, listed in tables.items()}} if tables else {}
    return canonical({**whole, **own, **beside})


def _named(columns: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: column for name, column in columns.items() if name in names}


def _columns(declaration: Mapping[str, Any]) -> dict[str, Any] | None:
    """The columns by their names; None where all of the declaration is fixed."""
    named = _by_names(declaration.get(_COLUMNS))
    if named is None or not declaration.keys() <= _FREE | {"invariants"}:
        return None  # an unknown key may use any column
    parts = declaration.get("invariants") or []
    understood = isinstance(parts, list) and all(isinstance(part, dict) and _is_names(part.get("columns")) for part in parts)
    return named if understood else None


def _tables(declaration: Mapping[str, Any]) -> dict[str, dict[str, Any]] | None:
    """The columns of the tables of persons, by their names; None where all of the declaration is fixed."""
    written = declaration.get(_BESIDE, {})
    if not isinstance(written, dict) or written.keys() != _persons_beside(declaration).keys():
        return None
    found = {name: _by_names(listed) for name, listed in written.items()}
    known = {name: columns for name, columns in found.items() if columns is not None}
    return known if len(known) == len(found) else None


def _by_names(listed: object) -> dict[str, Any] | None:
    """Columns by their names; None where they are not written as columns are."""
    if not isinstance(listed, list):
        return None
    named = {column["name"]: column for column in listed if isinstance(column, dict) and isinstance(column.get("name"), str)}
    return named if len(named) == len(listed) else None


def _persons_beside(declaration: Mapping[str, Any]) -> dict[str, str]:
    """The identifier of each table of persons."""
    neighbours = declaration.get("neighbours")
    written = neighbours.get(_BESIDE) if isinstance(neighbours, dict) else None
    return {str(name): str(person) for name, person in written.items()} if isinstance(written, dict) else {}


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _find_used(declaration: Mapping[str, Any]) -> set[str]:
    """The columns on which the exact totals depend, the one that says whose row it is, and the one that has the windows."""
    totals = {name for part in declaration.get("invariants") or [] for name in part["columns"]}
    return totals | identifiers_of(declaration) | dated_of(declaration)


def dated_of(declaration: Mapping[str, Any]) -> set[str]:
    """The column whose days say in which window a row is, if the declaration has one."""
    windows = declaration.get("windows")
    return {str(windows["column"])} if isinstance(windows, dict) and "column" in windows else set()


def identifiers_of(declaration: Mapping[str, Any]) -> set[str]:
    """The column that says whose row it is, if the declaration has one."""
    neighbours = declaration.get("neighbours")
    return {str(neighbours["person"])} if isinstance(neighbours, dict) and "person" in neighbours else set()


# Amendments ---------------------------------------------------------------------------------------------------------------


def amendment(before: str, now: str) -> str:
    """The amendment from one declaration to another with the same `fixed_part`, as canonical JSON; empty for equal ones.

    Keys: "added" and "changed" hold columns, "left_out" names, "order" all names where columns were put in another order;
    "beside" the same of tables of persons, by their names.
    """
    if before == now:
        return ""
    kept = _amendment(_free_columns(before), _free_columns(now))
    old, new = _free_tables(before), _free_tables(now)
    tables = {name: found for name in new if (found := _amendment(old[name], new[name]))}
    kept |= {_BESIDE: tables} if tables else {}
    return canonical(kept) if kept else ""


def _amendment(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {
        "added": [column for name, column in new.items() if name not in old],
        "changed": [column for name, column in new.items() if name in old and canonical(old[name]) != canonical(column)],
        "left_out": [name for name in old if name not in new],
    }
    if [*_merge(old, found)] != [*new]:
        found["order"] = [*new]
    return {key: value for key, value in found.items() if value}


def amend(before: str, details: Mapping[str, Any]) -> str:
    """The declaration after an amendment.

    Raises:
        ValueError: it changes what is fixed, or nothing.
    """
    tables, own = _free_tables(before), {key: value for key, value in details.items() if key != _BESIDE}
    changed = details.get(_BESIDE, {})
    if not isinstance(changed, dict) or not changed.keys() <= tables.keys():
        raise ValueError("amends tables that do not exist")
    whole = {**json.loads(before), _COLUMNS: _amended(_free_columns(before), own)}
    if changed:
        whole[_BESIDE] = {name: _amended(columns, changed.get(name, {})) for name, columns in tables.items()}
    now = canonical(whole)
    if now == before or fixed_part(now) != fixed_part(before):
        raise ValueError("amends what is fixed, or nothing")
    return now


def _amended(before: Mapping[str, Any], details: Mapping[str, Any]) -> list[Any]:
    columns = _merge(before, details)
    names = details.get("order", [*columns])
    if sorted(names) != sorted(columns) or not details.keys() <= {"added", "changed", "left_out", "order"}:
        raise ValueError("amends columns that do not exist")
    return [columns[name] for name in names]


def _free_columns(declaration: str) -> dict[str, Any]:
    whole = json.loads(declaration)
    columns = _columns(whole)
    return {} if columns is None or _tables(whole) is None else columns


def _free_tables(declaration: str) -> dict[str, dict[str, Any]]:
    whole = json.loads(declaration)
    tables = _tables(whole)
    return {} if tables is None or _columns(whole) is None else tables


def _merge(columns: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that stay, in their order, and then those that were added."""
    changed = {column["name"]: column for column in details.get("changed", ())}
    left_out = set(details.get("left_out", ()))
    kept = {name: changed.get(name, column) for name, column in columns.items() if name not in left_out}
    return {**kept, **{column["name"]: column for column in details.get("added", ())}}


def changes(before: str, details: Mapping[str, Any]) -> Iterator[str]:
    """An amendment in words, one for each thing that it changes."""
    yield from _changes(_free_columns(before), details)
    for table, own in details.get(_BESIDE, {}).items():
        yield from (f"table '{table}': {one}" for one in _changes(_free_tables(before)[table], own))


def _changes(columns: Mapping[str, Any], details: Mapping[str, Any]) -> Iterator[str]:
    for column in details.get("added", ()):
        yield f"column '{column['name']}' added"
    for name in details.get("left_out", ()):
        yield f"column '{name}' left out"
    for column in details.get("changed", ()):
        yield from _find_changes(columns[column["name"]], column)
    if "order" in details:
        yield "columns in another order"


def _find_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if canonical(old) == canonical(new):
            continue
        where = f"column '{now['name']}': {key}"
        if isinstance(old, list) and isinstance(new, list) and (said := _list_changes(old, new)):
            yield f"{where} {said}"
        elif old is None or new is None:
            yield f"{where} {short(new)} added" if old is None else f"{where} {short(old)} left out"
        else:
            yield f"{where} {short(old)} is now {short(new)}"


def _list_changes(old: list[Any], new: list[Any]) -> str:
    """The names that came and went; empty where only the order, or a type, is another."""
    came = [value for value in new if value not in old]
    went = [value for value in old if value not in new]
    words = [f"{word} {short(some)}" for word, some in (("with", came), ("without", went)) if some]
    return " and ".join(words)


def short(value: object) -> str:
    """A declared value in a few characters: texts as they are, everything else as JSON."""
    shown = value if isinstance(value, str) else "nothing" if value is None else canonical(value)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
