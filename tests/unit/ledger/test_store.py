"""A ledger as a file: what it refuses, survives and keeps."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.builders import drawn

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Ledger
from discreet.ledger import reading as reading_module
from discreet.ledger.book import Book, Row

from .declared import amounts, asks, identity


def test_looking_creates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.check(identity(1))
        assert ledger.stored(identity(1), "a") is None
        assert (ledger.datasets(), ledger.head(), ledger.head_sequence()) == ((), "", 0)
        assert not ledger.contains(1, "")
        assert ledger.verify().intact
        with pytest.raises(LedgerError):
            ledger.spent("wages")
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(1), [asks("a", 2)])
        with pytest.raises(LedgerError):
            ledger.commit(1, b"")
        assert list(tmp_path.iterdir()) == []
        ledger.reserve(identity(1), [asks("a", 1)])
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_reading_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(1), [asks("a", "0.1")])
        real = reading_module.follow_all

        def interrupted(book: Book, rows: Sequence[Row]) -> None:
            real(book, rows)
            book.sequence -= 1  # as if the interrupt had come before the last statement
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(reading_module, "follow_all", interrupted)
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    ledger.spent("wages")
        assert ledger.spent("wages") == amounts("0.1")


def test_a_journal_without_its_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "budget.db-journal").write_bytes(b"x" * 1000)
    with pytest.raises(LedgerError, match="but its journal"):
        Ledger.open(tmp_path / "budget.db")


def test_a_ledger_is_the_same_after_it_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "ein budget #1%20?.db"
    with Ledger.open(str(path)) as ledger:
        (number,) = ledger.reserve(identity(1), [asks("a", "0.3")])
        head = ledger.head()
    with pytest.raises(LedgerError, match="closed"):
        ledger.spent("wages")
    ledger.close()
    with Ledger.open(path) as ledger:
        assert (ledger.head(), ledger.spent("wages")) == (head, amounts("0.3"))
        ledger.commit(drawn(ledger, number), b"x")
        with pytest.raises(BudgetExceeded):
            ledger.reserve(identity(1), [asks("b", "0.8")])


def test_a_relative_path_survives_a_change_of_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger.open("budget.db") as ledger:
        monkeypatch.chdir("/")
        ledger.reserve(identity(1), [asks("a", "0.3")])
    assert (tmp_path / "budget.db").is_file()


def test_a_link_to_a_ledger_is_that_ledger(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "budget.db")
    with Ledger.open(tmp_path / "link.db") as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
    with Ledger.open(tmp_path / "real" / "budget.db") as ledger:
        assert ledger.spent("wages") == amounts("0.3")


def test_paths_that_cannot_be_ledgers(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("name,age\n" * 1000)
    (tmp_path / "loop.db").symlink_to(tmp_path / "loop.db")
    os.mkfifo(tmp_path / "pipe.db")
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE entries (sequence INTEGER PRIMARY KEY, body TEXT, digest TEXT)")
    foreign.commit()
    foreign.close()
    for path, problem in {
        tmp_path / "missing" / "budget.db": "does not exist; create it",
        tmp_path / "text.db" / "budget.db": "does not exist; create it",
        tmp_path: "not a file",
        tmp_path / "pipe.db": "not a file",
        tmp_path / "empty.db": "is empty",
        tmp_path / "text.db": "is not a discreet ledger",
        tmp_path / "foreign.db": "is not a discreet ledger",
        tmp_path / "loop.db": "^ledger",
        "a\x00b": "is not a usable path",
        5: "is not a usable path",
    }.items():
        with pytest.raises(LedgerError, match=problem) as caught:
            Ledger.open(path)  # type: ignore[arg-type]
        assert str(path).replace("\x00", "\\x00") in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("PRAGMA user_version = 99", "has format 99"),
        ("PRAGMA application_id = 5", "is not a discreet ledger"),
        ("PRAGMA journal_mode = WAL", "altered"),
        ("PRAGMA auto_vacuum = FULL; VACUUM", "altered"),
        ("DROP TRIGGER entries_UPDATE", "altered"),
        ("CREATE TABLE more (a)", "altered"),
        ("CREATE VIEW more AS SELECT 1", "altered"),
    ],
)
def test_another_version_or_an_altered_layout_is_refused(tmp_path: Path, statement: str, problem: str) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(statement)
    connection.close()
    with pytest.raises(LedgerError, match=problem):
        Ledger.open(path)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries",
        "UPDATE entries SET body = ''",
        "DELETE FROM payloads",
        "UPDATE payloads SET payload = x'00'",
        "UPDATE snapshots SET mac = x'00'",
        "DELETE FROM snapshots",
    ],
)
def test_entries_cannot_be_changed_with_sql(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path) as ledger:
        (number,) = ledger.reserve(identity(1), [asks("a", "0.3")])
        ledger.commit(drawn(ledger, number), b"x")
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


def test_a_lock_that_is_not_given_up_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with Ledger.open(path, patience=0.05) as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        for call in (lambda: ledger.reserve(identity(1), [asks("b", "0.3")]), lambda: ledger.spent("wages")):
            with pytest.raises(LedgerError, match="locked by another process"):
                call()
        other.execute("ROLLBACK")
        reader = other.execute("SELECT * FROM entries")  # a reader that does not finish keeps COMMIT from happening
        reader.fetchone()
        with pytest.raises(LedgerError, match="locked by another process"):
            ledger.reserve(identity(1), [asks("b", "0.3")])
        reader.close()
        other.close()
        assert ledger.spent("wages") == amounts("0.3")
        ledger.reserve(identity(1), [asks("b", "0.3")])


def test_writes_are_durable_by_setting(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.reserve(identity(1), [asks("a", "0.3")])
        with ledger._store._connection() as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_threads_share_one_object(ledger: Ledger) -> None:
    outcomes: list[str] = []

    def work(number: int) -> None:
        try:
            (sequence,) = ledger.reserve(identity(1), [asks(f"r{number}", "0.1")])
            ledger.commit(drawn(ledger, sequence), b"%d" % number)
            outcomes.append("won")
        except BudgetExceeded:
            outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 6 + ["won"] * 10
    found = ledger.verify()
    assert (found.intact, found.entries, dict(found.spent)) == (True, 41, {"wages": (1,)})


def test_a_thread_that_looks_while_another_creates_the_file_finds_nothing_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        real = ledger._store.exists

        def overtaken() -> bool:
            there = real()
            monkeypatch.undo()  # once
            ledger.reserve(identity(1), [asks("other", "0.1")])  # as another thread does, right after the look
            return there

        monkeypatch.setattr(ledger._store, "exists", overtaken)
        assert ledger.stored(identity(1), "mine") is None
        assert ledger.spent("wages") == amounts("0.1")
        (tmp_path / "budget.db").unlink()
        with pytest.raises(LedgerError, match="disappeared"):
            ledger.stored(identity(1), "mine")


def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[3] / "docs" / "ledger.md"
    example = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(page), "exec"), {})  # noqa: S102 - our own page
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert ledger.remaining("wages-2025") == amounts("0.9")
