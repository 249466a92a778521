"""The storage of entries: one SQLite file, durable before a call returns, whole after a crash. The only use of sqlite3.

Every operation is one transaction on a separate connection, under a lock that also keeps the process from forking in
the middle of one (a forked copy of SQLite's lock table would be wrong). The journal is a rollback journal and
`synchronous` is EXTRA: after COMMIT the entries, and the absence of the journal, are on disk. No table has an index:
what is read is the one B-tree that was written, and the row in `head` records where it must end.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from discreet.errors import LedgerError
from discreet.exact.files import in_draft, swept, sync_folder
from discreet.exact.processes import this_process
from discreet.ledger.formats import LAYOUTS, Layout
from discreet.ledger.holds import Holds
from discreet.ledger.one_file import JOURNAL, RESTORE, journal_stands, mount_problem, name_problem, rights_problem
from discreet.ledger.records import Entry, canonical, entry_body

__all__ = ["Store", "Transaction"]

_APPLICATION = int.from_bytes(b"dscr", "big")
_KEY_BYTES = 32
_LONG = 490  # 512 with a zero and the name of the journal

# The meaning of SQLite's result codes for a curator, and the next step.
_MEANINGS = {
    sqlite3.SQLITE_BUSY: "is locked by another process; nothing was written: try again when that process is done",
    sqlite3.SQLITE_LOCKED: "is locked; nothing was written: try again",
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full; nothing was written: free some space and try again",
    sqlite3.SQLITE_READONLY: "cannot be written; nothing was written: allow writing to the file and to its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: allow reading and writing of the file and of its folder",
    sqlite3.SQLITE_PERM: "cannot be opened: allow reading and writing of the file and of its folder",
    sqlite3.SQLITE_NOTADB: "is not a discreet ledger, or its start is damaged: check the path, or restore the newest copy",
    sqlite3.SQLITE_CORRUPT: f"is damaged: {RESTORE}",
    sqlite3.SQLITE_IOERR: "could not be read or written: check the disk, then run `discreet ledger verify`",
}
_OTHERWISE = "could not be used: run `discreet ledger verify`"

# Held while a connection is open. Re-entrant, so that the thread that forks can take it.
_GATE = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_GATE.acquire, after_in_parent=_GATE.release, after_in_child=_GATE.release)


class Transaction:
    """The ledger inside one transaction: what can be read and appended."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def _one(self, query: str, *values: object) -> tuple[object, ...] | None:
        row: tuple[object, ...] | None = self._connection.execute(query, values).fetchone()
        return row

    def head(self) -> tuple[str, int, str]:
        """The digest of the empty ledger, and the sequence number and digest of the last entry."""
        row = self._one("SELECT genesis, sequence, digest FROM head")
        if row is None or [type(value) for value in row] != [str, int, str]:
            raise ValueError("its head is missing")
        return row  # type: ignore[return-value]

    def digest(self, sequence: int) -> str:
        """The digest of an entry; empty if the entry does not exist."""
        row = self._one("SELECT digest FROM entries WHERE sequence = ?", sequence)
        return str(row[0]) if row else ""

    def entries(self, after: int) -> Iterator[tuple[int, str, str]]:
        """Number, body and digest of the entries after a number, in order. Nothing about them is checked."""
        return self._connection.execute(
            "SELECT sequence, body, digest FROM entries WHERE sequence > ? ORDER BY sequence", (after,)
        )

    def payload(self, sequence: int) -> bytes:
        """The bytes stored with an entry; empty when there are none."""
        return self._blob("SELECT payload FROM payloads WHERE sequence = ?", sequence)

    def payloads(self) -> Iterator[tuple[int, object]]:
        """Number and bytes of all stored releases, in order; of a damaged file anything."""
        yield from self._connection.execute("SELECT sequence, payload FROM payloads ORDER BY sequence")

    def list_hashed(self) -> list[int]:
        """The numbers of the attempts with a keyed hash, in order."""
        query = "SELECT sequence FROM snapshots WHERE sequence > 0 AND length(mac) = ? ORDER BY sequence"
        return [number for (number,) in self._connection.execute(query, (_KEY_BYTES,))]

    def key(self) -> bytes:
        """The key of these hashes, which never leaves the ledger."""
        key = self._blob("SELECT mac FROM snapshots WHERE sequence = ?", 0)
        if len(key) != _KEY_BYTES:
            raise sqlite3.DatabaseError("the key is lost")
        return key

    def _blob(self, query: str, sequence: int) -> bytes:
        row = self._one(query, sequence)
        return row[0] if row and isinstance(row[0], bytes) else b""

    def append(self, entry: Entry, *, payload: bytes | None = None, mac: bytes | None = None) -> None:
        """`entry` is the new head, with its payload or keyed hash."""
        execute = self._connection.execute
        execute("INSERT INTO entries VALUES (?, ?, ?)", (entry.sequence, entry_body(entry), entry.digest))
        if payload is not None:
            execute("INSERT INTO payloads VALUES (?, ?)", (entry.sequence, payload))
        if mac is not None:
            execute("INSERT INTO snapshots VALUES (?, ?)", (entry.sequence, mac))
        execute("UPDATE head SET sequence = ?, digest = ?", (entry.sequence, entry.digest))

    def integrity(self) -> str:
        """The fault that SQLite finds in the pages of the file; empty when there is none."""
        row = self._one("PRAGMA integrity_check(1)")
        return "" if row == ("ok",) else f"SQLite reports:  {row[0] if row else 'nothing'}"


class Store:
    """One ledger file, or one ledger in memory for ":memory:"."""

    def __init__(self, path: str | Path, patience: float) -> None:
        self._patience = patience
        self._owner = this_process()
        self._memory = _in_memory() if str(path) == ":memory:" else None
        try:
            self.path = Path(path) if self._memory else Path(path).resolve()
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise LedgerError(
                f"ledger={str(path)!r}: is not a usable path ({type(error).__name__}); check its spelling"
            ) from None
        self.closed = False
        self.holds = Holds(None if self._memory else self.path.parent)
        if not self._memory:
            self._require(mount_problem(self.path))

    def exists(self) -> bool:
        """True if the ledger file exists. Only its name is looked up.

        Raises:
            LedgerError: the folder is missing or unreadable, or the path does not lead to a regular, non-empty file with one
                name.
        """
        if self._memory:
            return True
        with self.translate_errors():
            if not self.path.parent.is_dir():
                raise self.error(
                    f"cannot be: the folder '{self.path.parent}' does not exist; create it, or correct the path"
                )
            try:
                self._require(name_problem(self.path))
            except FileNotFoundError:
                if journal_stands(self.path) and not os.path.lexists(self.path):  # again: it may be there by now
                    raise self.error(
                        f"is gone, but its journal '{self.path.name}{JOURNAL}' is there: restore the ledger next to it"
                    ) from None
                return False
        return True

    def create(self) -> None:
        """There is a ledger file, complete and durable, and no draft of a process that died while it made one.

        A new one has no entries. One that is there is left alone, whoever made it.
        """
        if self._memory:
            return
        with _GATE, self.translate_errors():
            if os.path.lexists(self.path):
                swept(self.path.parent)
                return
            with in_draft(self.path.parent) as draft:
                # 0600: the file holds the key of the snapshot hashes.
                os.close(os.open(draft / "ledger", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                with closing(_connect(draft / "ledger", self._patience)) as connection:
                    _fill(connection)
                with suppress(FileExistsError):
                    os.link(draft / "ledger", self.path)  # atomic, and never replaces a ledger
            sync_folder(self.path.parent)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A consistent view of the ledger. A file of an older format stays as it is; a copy in memory is brought forward."""
        with self._transaction("BEGIN") as connection:
            if self._inspect(connection) == LAYOUTS[-1]:
                yield Transaction(connection)
                return
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
                connection.backup(copy)
                self._bring_forward(copy)
                yield Transaction(copy)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """The ledger, alone; what was appended is durable when the block has ended, and undone when it raised.

        A file of an older format is brought forward in the same transaction.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            self._bring_forward(connection)
            yield Transaction(connection)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with _GATE, self.translate_errors(), self._connection() as connection:
            connection.execute(begin)
            try:
                if not self._memory:  # again: waiting for another process takes up to half a minute
                    self._require(name_problem(self.path))
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):  # closing the connection rolls back too
                        connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self.closed:
            raise self.error("was closed; open it again")
        if self._memory:
            if self._owner != this_process():
                raise self.error("belongs to the process that opened it; use a file to share a budget between processes")
            yield self._memory
            return
        with closing(_connect(self.path, self._patience)) as connection:
            yield connection

    def _bring_forward(self, connection: sqlite3.Connection) -> None:
        """The ledger has the newest layout, unless what is open is undone."""
        found = self._inspect(connection)
        for layout in LAYOUTS[found.version :]:
            for statement in layout.upgrade:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={layout.version}")
            self._inspect(connection)

    def _inspect(self, connection: sqlite3.Connection) -> Layout:
        """The layout of the ledger, which has exactly its tables and triggers."""
        pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _EXPECTED}
        if pragmas["application_id"] != _APPLICATION:
            raise self.error("is not a discreet ledger; check the path")
        version, newest = pragmas["user_version"], LAYOUTS[-1].version
        if not 1 <= version <= newest:
            raise self.error(f"has format {version}, and this discreet knows 1 to {newest}: use the one that wrote it")
        layout = LAYOUTS[version - 1]
        statements = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        altered = statements != set(layout.schema) or pragmas["auto_vacuum"] != 0
        if altered or pragmas["journal_mode"] not in ("delete", "memory"):  # the second in memory, never of a file
            raise self.error(
                "was altered or is damaged (its tables are not the tables of a ledger): restore the newest copy"
            )
        if not self._memory:
            self._require(rights_problem(self.path))
        return layout

    def _require(self, problem: str) -> None:
        if problem:
            raise self.error(problem)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """No error of the file system or of SQLite leaves as it is."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", -1) & 0xFF
            if code == sqlite3.SQLITE_CANTOPEN and len(bytes(self.path)) > _LONG:
                raise self.error(
                    f"has a path of more than {_LONG} bytes, too long for SQLite; give a shorter one"
                ) from error
            raise self.error(_MEANINGS.get(code, _OTHERWISE)) from error
        except UnicodeError as error:  # a message of SQLite that quotes damaged bytes
            raise self.error(_MEANINGS[sqlite3.SQLITE_CORRUPT]) from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise self.error(
                f"could not be used ({reason}); nothing was written: check the folder and its rights"
            ) from error

    def error(self, problem: str) -> LedgerError:
        """The error that names this ledger."""
        return LedgerError(f"ledger '{self.path}' {problem}")

    def close(self) -> None:
        """The file is closed: nothing can be read or written any more."""
        self.closed = True
        if self._memory and self._owner == this_process():
            self._memory.close()


_EXPECTED = ("application_id", "user_version", "auto_vacuum", "journal_mode")


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    address = path.as_uri() + "?mode=rw"  # never creates
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=patience)
    try:
        for pragma in ("synchronous=EXTRA", "fullfsync=ON", "trusted_schema=OFF", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _fill(connection)
    return connection


def _fill(connection: sqlite3.Connection) -> None:
    """The empty database is a ledger without entries, with a fresh identity and a fresh key."""
    newest = LAYOUTS[-1]
    identity = canonical({"format": "discreet ledger", "identity": secrets.token_hex(16), "version": newest.version})
    genesis = hashlib.sha256(identity.encode()).hexdigest()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id={_APPLICATION}")
    connection.execute(f"PRAGMA user_version={newest.version}")
    for statement in newest.schema:
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (?, 0, ?)", (genesis, genesis))
    connection.execute("INSERT INTO snapshots VALUES (0, ?)", (secrets.token_bytes(_KEY_BYTES),))
    connection.execute("COMMIT")
