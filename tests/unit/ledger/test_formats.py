"""Files of older formats: read as they are, brought forward by the first writer, whole whatever happens meanwhile."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Identity, Ledger, Reservation
from discreet.ledger import store as store_module
from discreet.ledger.formats import LAYOUTS, Layout

WAGES = Identity("wages", '{"rows":100}', "pure", (Fraction(1),))
TOTALS = Identity("totals", '{"invariants":["n"]}', "zcdp", (Fraction(1),))
HEAD = "27b3f63c5edf92592646df067caf2da849c8e6ef4676ef0a7d1f2b5dd9914c1f"
WHEN = {"time": "2026-01-02T03:04:05+00:00", "user": "erika"}

# A file as discreet 1 wrote it in format 1, statement by statement: it must be readable for ever.
TABLES = """
CREATE TABLE entries (sequence INTEGER PRIMARY KEY, body TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE payloads (sequence INTEGER PRIMARY KEY, payload BLOB NOT NULL);
CREATE TABLE snapshots (sequence INTEGER PRIMARY KEY, mac BLOB NOT NULL);
CREATE TABLE head (genesis TEXT NOT NULL, sequence INTEGER NOT NULL, digest TEXT NOT NULL);
PRAGMA application_id=1685283698;
PRAGMA user_version=1;
"""
TRIGGER = "CREATE TRIGGER {0}_{1} BEFORE {1} ON {0} BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
ENTRIES = [
    {"kind": "dataset", "dataset": "wages", "details": r'{"budget":["1"],"declaration":"{\"rows\":100}","measure":"pure"}'},
    {"kind": "reserve", "dataset": "wages", "name": "a", "charge": ["0.1"], "plan_digest": "plan"},
    {"kind": "reserve", "dataset": "wages", "name": "b", "charge": ["1/3"], "plan_digest": "plan"},
    {
        "kind": "commit",
        "dataset": "wages",
        "name": "a",
        "reservation": 2,
        "plan_digest": "plan",
        "payload_digest": "99e046abd6eb68015f44062de4630fa3e91344288e9f4fc763237b6275266c80",
    },
    {"kind": "fail", "dataset": "wages", "name": "b", "reservation": 3, "plan_digest": "plan"},
    {
        "kind": "dataset",
        "dataset": "totals",
        "details": r'{"budget":["1"],"declaration":"{\"invariants\":[\"n\"]}","measure":"zcdp"}',
    },
    {"kind": "publish", "dataset": "totals", "name": "exact totals", "plan_digest": "plan"},
    {
        "kind": "commit",
        "dataset": "totals",
        "name": "exact totals",
        "reservation": 7,
        "plan_digest": "plan",
        "payload_digest": "fee6900ff6559f149214c86103a9ff56d26deb1923a74e3bcdc0625ccd1b2a49",
    },
]
SECRETS = {
    0: "079e996c8cf1f25a96f4750e212a0b01f4884833a25176106a0ad62953e82cc5",
    2: "fe2063a4c3c0dab630cff32fa14397e19ae0a9df538055f5d3774f239b228809",
    3: "026288e018f2dbd2b37362774ad4082016c78db45a55648227391c2e598f142c",
    7: "52fb301729e6007904cb86c2b54ec02b5bb59811e0ae82f0cc3cbec74571df0b",
}


def write_format_1(path: Path) -> None:
    path.touch(0o600)  # as every discreet has created it
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(TABLES)
        genesis = digest = "287496b80dc789966d7f72c5ad7115e6d873530f68a9a5c647111a980445ab90"
        for number, fields in enumerate(ENTRIES, start=1):
            whole = {**fields, **WHEN, "nonce": f"{number:02x}", "sequence": number}
            body = json.dumps(whole, sort_keys=True, separators=(",", ":"))
            digest = hashlib.sha256((digest + body).encode()).hexdigest()
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, body, digest))
        connection.execute("INSERT INTO head VALUES (?, ?, ?)", (genesis, len(ENTRIES), digest))
        connection.executemany("INSERT INTO payloads VALUES (?, ?)", [(4, b"release a"), (8, b"totals")])
        connection.executemany("INSERT INTO snapshots VALUES (?, ?)", [(n, bytes.fromhex(s)) for n, s in SECRETS.items()])
        for table in ("entries", "payloads", "snapshots"):
            for verb in ("UPDATE", "DELETE"):
                connection.execute(TRIGGER.format(table, verb))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "budget.db"
    write_format_1(path)
    return path


NEWEST = LAYOUTS[-1].version
NEXT = Layout(
    NEWEST + 1,
    (
        *LAYOUTS[-1].schema,
        "CREATE TABLE remarks (sequence INTEGER PRIMARY KEY, remark TEXT NOT NULL)",
        "CREATE VIEW v AS SELECT 1",
    ),
    ("CREATE TABLE remarks (sequence INTEGER PRIMARY KEY, remark TEXT NOT NULL)", "CREATE VIEW v AS SELECT 1"),
)
LAST = replace(NEXT, version=NEWEST + 2, schema=NEXT.schema[:-1], upgrade=("DROP VIEW v",))


@pytest.fixture
def later(old: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A discreet that knows two formats more."""
    with monkeypatch.context() as patch:
        patch.setattr(store_module, "LAYOUTS", (*LAYOUTS, NEXT, LAST))
        yield


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT sequence, body, digest FROM entries WHERE sequence <= 8").fetchall()


def reserve(path: Path, name: str = "c", charge: Fraction = Fraction(1, 2)) -> None:
    with Ledger.open(path) as ledger:
        ledger.reserve(WAGES, [Reservation(name, (charge,), "plan", b"source")])


def require_what_it_says(path: Path) -> None:
    """All that a ledger in format 1 says is still there."""
    with Ledger.open(path) as ledger:
        found = ledger.verify()
        assert found.intact, found.problem
        assert ledger.contains(8, HEAD)
        assert ledger.spent("wages") in ((Fraction(13, 30),), (Fraction(14, 15),))
        stored, published = ledger.stored(WAGES, "a"), ledger.published(TOTALS)
        assert stored is not None
        assert published is not None
        assert (stored.payload, published.payload) == (b"release a", b"totals")
        assert stored.plan_digest == "plan"
        with pytest.raises(BudgetExceeded):
            ledger.reserve(WAGES, [Reservation("more", (Fraction(17, 30) + Fraction(1, 10**9),), "plan", b"")])


def test_format_1_is_read_and_spent_from_for_ever(old: Path) -> None:
    require_what_it_says(old)
    reserve(old)
    require_what_it_says(old)
    with Ledger.open(old) as ledger:
        assert ledger.remaining("wages") == (Fraction(1, 15),)


def test_layouts_are_numbered_and_the_first_is_pinned() -> None:
    assert [layout.version for layout in LAYOUTS] == list(range(1, len(LAYOUTS) + 1))
    triggers = [
        TRIGGER.format(table, verb) for table in ("entries", "payloads", "snapshots") for verb in ("UPDATE", "DELETE")
    ]
    tables = [line.rstrip(";") for line in TABLES.splitlines() if line.startswith("CREATE")]
    assert sorted(LAYOUTS[0].schema) == sorted([*tables, *triggers])
    assert LAYOUTS[0].upgrade == ()
    for layout in LAYOUTS[1:]:  # formats 2 and 3 have other entries, in the same tables
        assert (layout.schema, layout.upgrade) == (LAYOUTS[0].schema, ())


@pytest.mark.usefixtures("later")
def test_reading_an_older_file_leaves_it_alone(old: Path) -> None:
    content = old.read_bytes()
    require_what_it_says(old)
    assert old.read_bytes() == content


@pytest.mark.usefixtures("later")
def test_the_first_writer_brings_a_file_forward(old: Path) -> None:
    before = rows(old)
    reserve(old)
    assert (version(old), rows(old)) == (NEWEST + 2, before)
    require_what_it_says(old)
    with Ledger.open(old) as ledger:
        ledger.fail(9)
        assert ledger.spent("wages") == (Fraction(14, 15),)


def test_a_file_of_a_later_format_is_refused(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(store_module, "LAYOUTS", (*LAYOUTS, NEXT))
        reserve(old)
    content = old.read_bytes()
    for call in (lambda: Ledger.open(old), lambda: reserve(old)):
        with pytest.raises(LedgerError, match=f"has format {NEWEST + 1}, and this discreet knows 1 to {NEWEST}"):
            call()
    assert old.read_bytes() == content


@pytest.mark.usefixtures("later")
def test_a_new_file_has_the_newest_format(tmp_path: Path) -> None:
    reserve(tmp_path / "new.db")
    assert version(tmp_path / "new.db") == NEWEST + 2
    with Ledger.open(":memory:") as ledger:
        ledger.reserve(WAGES, [Reservation("a", (Fraction(1, 2),), "plan", b"")])
        assert ledger.verify().intact


@pytest.mark.parametrize("number", [0, -1, NEWEST + 1, 99])
def test_a_format_that_never_was_is_refused(old: Path, number: int) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute(f"PRAGMA user_version={number}")
    with pytest.raises(LedgerError, match=f"has format {number}"):
        Ledger.open(old)


def test_an_upgrade_that_leads_elsewhere_is_undone(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = old.read_bytes()
    for wrong in ((), ("CREATE TABLE others (a)",), (*NEXT.upgrade, "CREATE TABLE others (a)"), ("no statement",)):
        with monkeypatch.context() as patch:
            patch.setattr(store_module, "LAYOUTS", (*LAYOUTS, replace(NEXT, upgrade=wrong)))
            with pytest.raises(LedgerError):
                reserve(old)
            with pytest.raises(LedgerError), Ledger.open(old) as ledger:
                ledger.spent("wages")
        assert old.read_bytes() == content
    require_what_it_says(old)


@pytest.mark.slow
@pytest.mark.usefixtures("later")
def test_an_upgrade_that_is_interrupted_anywhere_leaves_one_format_or_the_other(old: Path) -> None:
    content, undone, real = old.read_bytes(), 0, sqlite3.connect
    for nth in range(10**4):
        steps = 0

        def interrupted(nth: int = nth) -> bool:
            nonlocal steps
            steps += 1
            return steps > 5 * nth

        def connect(*arguments: object, stop: Callable[[], bool] = interrupted, **options: object) -> sqlite3.Connection:
            connection = real(*arguments, **options)  # type: ignore[call-overload]
            connection.set_progress_handler(stop, 1)
            return connection

        old.write_bytes(content)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store_module.sqlite3, "connect", connect)
            try:
                reserve(old)
                returned = True
            except LedgerError:
                returned = False
        undone += old.read_bytes() == content
        # A COMMIT that is interrupted after it was done leaves both; nothing leaves one without the other.
        assert (version(old), old.read_bytes() == content) in (
            [(NEWEST + 2, False)] if returned else [(1, True), (NEWEST + 2, False)]
        )
        assert rows(old)[-1][2] == HEAD
        if returned:
            break
    assert undone > 50
    require_what_it_says(old)


@pytest.mark.usefixtures("later")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_and_threads_that_bring_a_file_forward_at_once(old: Path) -> None:
    def work(number: int) -> None:
        reserve(old, f"race {number}", Fraction(1, 30))

    children = []
    for number in range(8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other libraries may have started threads
            child = os.fork()
        if not child:
            try:
                work(number)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 8
    assert version(old) == NEWEST + 2
    with Ledger.open(old) as ledger:
        assert ledger.verify().intact
        assert ledger.spent("wages") == (Fraction(13, 30) + Fraction(12, 30),)


def test_a_file_of_format_2_is_brought_forward_by_the_first_writer(tmp_path: Path) -> None:
    """It was written before there were populations: the same tables and entries, and a version that refuses newer files."""
    path = tmp_path / "budget.db"
    write_format_1(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=2")
    require_what_it_says(path)
    assert version(path) == 2
    reserve(path)
    assert version(path) == NEWEST == 3
    require_what_it_says(path)
