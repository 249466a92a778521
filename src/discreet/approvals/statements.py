"""The statement that a signature makes: one canonical text for each thing that can be approved (soundness 43).

The first line of a text says what kind of thing is approved, so that no signature can mean anything else. Below it stands
the canonical JSON of all fields. No text has a field that may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from discreet.errors import ArgumentError
from discreet.exact.canonical import canonical

__all__ = ["ChangeStatement", "ReleaseStatement", "Statement", "TotalsStatement", "difference", "document", "statement_of"]


@dataclass(frozen=True, slots=True)
class ReleaseStatement:
    """One release, made once.

    Attributes:
        ledger: the first digest of the ledger, which no other ledger has.
        dataset, release: their names.
        relation: the canonical JSON of the neighbouring relation, with the number of rows where it is public.
        plan: the digest of the plan, and so of its schema, look-ups, steps and statistics.
        reading: the canonical JSON of the options with which the source is read.
        measure: the measure of the budget.
        spend: the canonical JSON of the spend.
        amounts: the same in the coordinates in which the measure adds, as exact texts.
        quote: the digest of what the quote says of relation, queries, sensitivities, noise and scales. Where exact totals
            accompany the release, of the quote that holds for all totals.
        replaces: the number of the reservation of this name that was lost, 0 for none: a second charge is approved anew.
    """

    HEADING: ClassVar[str] = "discreet approval, version 1: a release"

    ledger: str
    dataset: str
    release: str
    relation: str
    plan: str
    reading: str
    measure: str
    spend: str
    amounts: tuple[str, ...]
    quote: str
    replaces: int = 0


@dataclass(frozen=True, slots=True)
class TotalsStatement:
    """The exact totals of a data set, published without noise.

    Attributes:
        ledger: the first digest of the ledger.
        dataset: its name.
        relation: the canonical JSON of the neighbouring relation.
        totals: the digest of the description of what is published.
        schema: the digest of the columns.
        reading: the canonical JSON of the options with which the source is read.
    """

    HEADING: ClassVar[str] = "discreet approval, version 1: exact totals"

    ledger: str
    dataset: str
    relation: str
    totals: str
    schema: str
    reading: str


@dataclass(frozen=True, slots=True)
class ChangeStatement:
    """Another list of keys.

    Attributes:
        ledger: the first digest of the ledger.
        dataset: the data set for which signatures are demanded; empty for all of the ledger.
        signatures: how many are demanded from now on; 0 for none.
        keys: the new list, each key as OpenSSH writes it, sorted.
        replaces: the mark of the list that is replaced, which no other list of this ledger has.
    """

    HEADING: ClassVar[str] = "discreet approval, version 1: another list of keys"

    ledger: str
    dataset: str
    signatures: int
    keys: tuple[str, ...]
    replaces: str


Statement = ReleaseStatement | TotalsStatement | ChangeStatement
_KINDS: tuple[type[Statement], ...] = (ReleaseStatement, TotalsStatement, ChangeStatement)


def document(statement: Statement) -> str:
    """The text that is signed."""
    values = {one.name: getattr(statement, one.name) for one in fields(statement)}
    return f"{statement.HEADING}\n{canonical(values)}\n"


def statement_of(text: str) -> Statement:
    """The statement of a signed text.

    Raises:
        ArgumentError: the text is not exactly one that `document` writes.
    """
    heading, _, rest = text.partition("\n")
    kind = next((kind for kind in _KINDS if heading == kind.HEADING), None)
    found = None if kind is None else _read(kind, rest)
    if found is not None and document(found) == text:
        return found
    raise ArgumentError("approval: what it approves is not a text that this version of discreet writes")


def _read(kind: type[Statement], text: str) -> Statement | None:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or values.keys() != {one.name for one in fields(kind)}:
        return None
    read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return kind(**read) if _has_types(kind, read) else None


def _has_types(kind: type[Statement], values: Mapping[str, Any]) -> bool:
    """True if every value has the type of its field."""
    types = {"str": str, "int": int, "tuple[str, ...]": tuple}
    right = all(type(values[one.name]) is types[str(one.type)] for one in fields(kind))
    return right and all(type(part) is str for value in values.values() if type(value) is tuple for part in value)


def difference(one: Statement, other: Statement) -> str:
    """The fields in which two statements differ, in words; "another thing" for statements of two kinds."""
    if type(one) is not type(other):
        return "another thing"
    names = [item.name for item in fields(one) if getattr(one, item.name) != getattr(other, item.name)]
    shown = [_WORDS.get(name, name) for name in names if name != "amounts" or "spend" not in names]
    return "another " + ", ".join(shown) if shown else ""


_WORDS = {"dataset": "data set", "replaces": "attempt", "reading": "way of reading the source"}
