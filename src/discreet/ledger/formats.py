"""The tables of a ledger file, version by version, and the statements that lead from one to the next.

Statements only; `store` carries them out. A layout that was published stays here for ever, so that every older file can be
brought forward, and no statement may touch a row of `entries`: the chain of digests stays what releases have shown.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LAYOUTS", "Layout"]


@dataclass(frozen=True, slots=True)
class Layout:
    """One format of a ledger file.

    Attributes:
        version: the file's `user_version`; 1, 2, … without gaps.
        schema: the statements of all its tables and triggers, exactly as SQLite keeps them.
        upgrade: the statements that give a file of the version before this schema; none for the first.
    """

    version: int
    schema: tuple[str, ...]
    upgrade: tuple[str, ...] = ()


_TABLES = {
    "entries": "sequence INTEGER PRIMARY KEY, body TEXT NOT NULL, digest TEXT NOT NULL",
    "payloads": "sequence INTEGER PRIMARY KEY, payload BLOB NOT NULL",
    # Never exported: a keyed hash of the source of each reservation; row 0 holds the key.
    "snapshots": "sequence INTEGER PRIMARY KEY, mac BLOB NOT NULL",
    # One row, the only one that changes: where `entries` must end, and the digest of no entries.
    "head": "genesis TEXT NOT NULL, sequence INTEGER NOT NULL, digest TEXT NOT NULL",
}

_STATEMENTS = (
    *(f"CREATE TABLE {table} ({columns})" for table, columns in _TABLES.items()),
    *(
        f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
        for table in ("entries", "payloads", "snapshots")
        for verb in ("UPDATE", "DELETE")
    ),
)

LAYOUTS = (
    Layout(1, _STATEMENTS),
    # The same tables, and entries that format 1 does not know: "amend", "inspect", "reading", "drawing".
    Layout(2, _STATEMENTS),
    # The same tables, and declarations and reservations that format 2 would read without what bounds them: populations and
    # windows. A discreet that knows only format 2 must not go on with such a file.
    Layout(3, _STATEMENTS),
)
"""Every layout that a released version has written, the newest last."""
