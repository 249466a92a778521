"""The file of a ledger: its names, its rights, where its journal is, and what a crash leaves while it is created."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.builders import drawn
from typer.testing import CliRunner

from discreet.cli import app
from discreet.errors import LedgerError
from discreet.ledger import Identity, Ledger, Reservation
from discreet.ledger.following import Followed
from discreet.ledger.store import Store, Transaction

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs hard links and POSIX modes")

WHO = Identity("wages", "{}", "pure-dp", (Fraction(1),))


def asks(name: str) -> Reservation:
    return Reservation(name, (Fraction(1, 10),), "plan", b"source")


def reserved(path: Path | str, name: str = "a") -> int:
    with Ledger.open(path) as ledger:
        return ledger.reserve(WHO, [asks(name)])[0]


def charges(path: Path) -> int:
    """How many reservations are on disk, read without the ledger's own code."""
    with closing(sqlite3.connect(path)) as connection:
        (found,) = connection.execute('SELECT count(*) FROM entries WHERE body LIKE \'%"kind":"reserve"%\'').fetchone()
    return int(found)


# Names ------------------------------------------------------------------------------------------------------------------


def test_a_second_hard_link_is_refused_under_either_name_and_nothing_is_charged(tmp_path: Path) -> None:
    first, second = tmp_path / "a.db", tmp_path / "x" / "b.db"
    second.parent.mkdir()
    reserved(first)
    os.link(first, second)
    for path in (first, second):
        with pytest.raises(
            LedgerError, match=r"has 2 names .* a charge could be lost: keep the name .* nothing was written"
        ):
            Ledger.open(path)
    assert charges(first) == 1
    listed = subprocess.run(
        ["find", str(tmp_path), "-xdev", "-inum", str(first.stat().st_ino)], check=True, capture_output=True, text=True
    )
    assert sorted(listed.stdout.split()) == [str(first), str(second)], "the remedy names them"
    second.unlink()
    assert reserved(first, "b")


def test_a_link_that_is_made_while_the_ledger_is_open_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    reserved(path)
    with Ledger.open(path) as ledger:
        os.link(path, tmp_path / "b.db")
        for call in (ledger.head, ledger.verify, lambda: ledger.reserve(WHO, [asks("b")]), lambda: ledger.commit(2, b"x")):
            with pytest.raises(LedgerError, match="has 2 names"):
                call()
        (tmp_path / "b.db").unlink()
        assert len(ledger.entries()) == 2


def test_a_link_that_is_made_while_a_transaction_waits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    reserved(path)
    ledger = Ledger.open(path)
    seen = Store.exists

    def linked_after(self: Store) -> bool:
        found = seen(self)
        os.link(path, tmp_path / "b.db")
        return found

    monkeypatch.setattr(Followed, "writing", _writing_after(linked_after))
    with pytest.raises(LedgerError, match="has 2 names"):
        ledger.reserve(WHO, [asks("b")])
    assert charges(path) == 1


def _writing_after(exists: Callable[[Store], bool]) -> Callable[..., object]:
    @contextmanager
    def writing(self: Followed) -> Iterator[object]:
        exists(self._store)
        with self._store.writing() as transaction:
            yield self._refresh(transaction), transaction

    return writing


WAYS: dict[str, Callable[[Path, pytest.MonkeyPatch], str]] = {
    "linked file": lambda folder, _: _linked(folder / "link.db", folder / "real" / "a.db"),
    "linked folder": lambda folder, _: _linked(folder / "folder", folder / "real") + "/a.db",
    "link to a link": lambda folder, _: _linked(folder / "two.db", Path(_linked(folder / "one.db", Path("real/a.db")))),
    "relative": lambda folder, patch: patch.chdir(folder / "real") or "a.db",  # type: ignore[func-returns-value]
    "dots": lambda folder, _: str(folder / "real" / ".." / "real" / "." / "a.db"),
    "dots behind a link": lambda folder, _: _linked(folder / "folder", folder / "real" / "deep") + "/../a.db",
}


def _linked(link: Path, target: Path) -> str:
    link.symlink_to(target)
    return str(link)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_the_file_leads_to_one_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """A process dies in the middle of a transaction; whoever opens the file by another way finds its journal."""
    path = tmp_path / "real" / "a.db"
    (path.parent / "deep").mkdir(parents=True)
    reserved(path)
    other = WAYS[way](tmp_path, monkeypatch)
    with Ledger.open(other) as ledger:
        assert ledger._store.path == path.resolve()
    before = path.read_bytes()
    code = (
        "import os, sys; from discreet.ledger import store; s = store.Store(sys.argv[1], 5)\n"
        "with s.writing() as t:\n"
        "    t._connection.execute('PRAGMA cache_size=1')\n"
        "    for n in range(100, 400): t._connection.execute('INSERT INTO payloads VALUES (?, ?)', (n, bytes(4000)))\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, other], check=False, capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert path.read_bytes() != before, "the crash left a file that is half written"
    assert [one.name for one in path.parent.glob("*-journal")] == ["a.db-journal"]
    with Ledger.open(path) as ledger:
        assert ledger.verify().intact
    assert path.read_bytes() == before


def test_a_file_mounted_alone_is_refused(tmp_path: Path) -> None:
    path, place = tmp_path / "a.db", tmp_path / "in a container" / "a.db"
    reserved(path)
    place.parent.mkdir()
    place.touch()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "--bind", path, place], check=False, capture_output=True).returncode:
        pytest.skip("may not mount")
    try:
        with pytest.raises(LedgerError, match=r"mounted as a single file.* mount its folder"):
            Ledger.open(place)
    finally:
        subprocess.run(["umount", place], check=True)
    assert reserved(path, "b")


@pytest.mark.parametrize("kind", ["link", "hard link", "folder"])
def test_a_planted_journal_is_refused(tmp_path: Path, kind: str) -> None:
    path, journal = tmp_path / "a.db", tmp_path / "a.db-journal"
    reserved(path)
    (tmp_path / "other").write_bytes(b"x" * 1000)
    {"link": lambda: journal.symlink_to("other"), "hard link": lambda: os.link(tmp_path / "other", journal)}.get(
        kind, journal.mkdir
    )()
    with pytest.raises(LedgerError, match=r"journal 'a\.db-journal' that is a link or no file"):
        Ledger.open(path)


def test_a_path_that_is_too_long_for_the_journal_or_for_sqlite_is_refused_and_nothing_is_created(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d" * 100] * 6)
    deep.mkdir(parents=True)
    for path, problem in (
        (tmp_path / ("n" * 250), "File name too long"),
        (deep / "a.db", "too long for SQLite; give a shorter"),
    ):
        with pytest.raises(LedgerError, match=problem):
            reserved(path)
        assert not any(one.is_file() for one in path.parent.iterdir())
    assert reserved(tmp_path / ("n" * 247))


# Rights -----------------------------------------------------------------------------------------------------------------


def test_a_new_ledger_is_its_owners_alone_whatever_the_mask(tmp_path: Path) -> None:
    was = os.umask(0)
    try:
        reserved(tmp_path / "a.db")
    finally:
        os.umask(was)
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o666, 0o602, 0o620, 0o601])
def test_a_ledger_that_others_can_read_or_write_is_refused_with_the_command_that_mends_it(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "the office's ledger.db"
    reserved(path)
    with Ledger.open(path) as ledger:
        path.chmod(mode)
        for call in (lambda: Ledger.open(path), ledger.head, lambda: ledger.reserve(WHO, [asks("b")])):
            with pytest.raises(LedgerError, match=r"others than its owner: run `chmod 600 .*nothing was written") as refused:
                call()
        assert charges(path) == 1
        command = str(refused.value).split("`")[1]
        subprocess.run(shlex.split(command), check=True)
        assert ledger.reserve(WHO, [asks("b")])
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_copy_that_is_restored_with_wide_rights_is_refused_until_they_are_mended(tmp_path: Path) -> None:
    reserved(tmp_path / "a.db")
    shutil.copyfile(tmp_path / "a.db", tmp_path / "copy.db")
    (tmp_path / "copy.db").chmod(0o644)
    with pytest.raises(LedgerError, match="chmod 600"):
        Ledger.open(tmp_path / "copy.db")
    (tmp_path / "copy.db").chmod(0o600)
    assert reserved(tmp_path / "copy.db", "b")


def test_a_file_that_is_no_ledger_is_not_asked_to_change_its_rights(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("text " * 1000, encoding="utf-8")
    with pytest.raises(LedgerError, match="is not a discreet ledger"):
        Ledger.open(tmp_path / "notes.txt")


# A death while it is created --------------------------------------------------------------------------------------------


def died(folder: Path, when: str) -> None:
    """A process was killed in the first reservation of a ledger: before, at, or after the file got its name."""
    code = (
        "import os, sys; from pathlib import Path; from fractions import Fraction\n"
        "from discreet.ledger import Identity, Ledger, Reservation, store\n"
        "link = os.link\n"
        "def named(a, b):\n"
        "    if sys.argv[2] == 'after': link(a, b)\n"
        "    os.kill(os.getpid(), 9)\n"
        "os.link = named\n"
        "if sys.argv[2] == 'filling': store._fill = lambda connection: (connection.execute('BEGIN IMMEDIATE'),"
        " connection.execute('CREATE TABLE a (b)'), os.kill(os.getpid(), 9))\n"
        "who = Identity('wages', '{}', 'pure-dp', (Fraction(1),))\n"
        "Ledger.open(sys.argv[1]).reserve(who, [Reservation('a', (Fraction(1, 10),), 'plan', b'source')])\n"
    )
    run = subprocess.run([sys.executable, "-c", code, folder / "a.db", when], check=False, capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr


@pytest.mark.parametrize("when", ["filling", "before", "after"])
def test_a_process_that_dies_while_it_creates_a_ledger_is_not_in_the_way(tmp_path: Path, when: str) -> None:
    died(tmp_path, when)
    assert len([*tmp_path.glob(".*")]) == 1, "it left its draft"
    if when == "after":
        assert (tmp_path / "a.db").stat().st_nlink == 2
        with Ledger.open(tmp_path / "a.db") as ledger:
            assert ledger.entries() == ()
        assert (tmp_path / "a.db").stat().st_nlink == 1
    reserved(tmp_path / "a.db")
    assert [one.name for one in tmp_path.iterdir()] == ["a.db"], "the next that reserves removes what is left"


def test_the_name_that_an_older_discreet_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    reserved(path)
    os.link(path, tmp_path / ".a.db.0123456789abcdef.new")
    assert reserved(path, "b")
    assert [one.name for one in tmp_path.iterdir()] == ["a.db"]


def test_a_draft_that_goes_while_a_ledger_is_looked_at_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the folder was listed, the process that made the first draft in it removes that; others have left theirs."""
    path = tmp_path / "a.db"
    reserved(path)
    drafts = [tmp_path / f".discreet-draft00{number}.draft" for number in range(5)]
    for draft in drafts:
        draft.mkdir()
        os.link(path, draft / "ledger")
    scan, names = os.scandir, os.listdir

    def listed(place: Any, found: list[Any]) -> list[Any]:
        if not isinstance(place, int) and Path(place) == tmp_path:
            first = min(tmp_path / name for name in names(tmp_path) if name.endswith(".draft"))
            (first / "ledger").unlink()
            first.rmdir()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(
            os, "scandir", lambda place=".": nullcontext(listed(place, sorted(scan(place), key=lambda one: one.name)))
        )
        patch.setattr(os, "listdir", lambda place=".": listed(place, sorted(names(place))))
        assert Store(path, 0).exists()
    assert path.stat().st_nlink == 1
    assert [draft.exists() for draft in (drafts[0], drafts[-1])] == [False, True]


# A failure after the deed -----------------------------------------------------------------------------------------------


def failing(monkeypatch: pytest.MonkeyPatch, *, done: bool, readable: bool = True) -> None:
    """COMMIT reports a disk that fails, after it has done its work or without."""
    real, reading = Store.writing, Store.reading

    @contextmanager
    def writing(self: Store) -> Iterator[Transaction]:
        manager = real(self)
        transaction = manager.__enter__()
        yield transaction
        if done:
            manager.__exit__(None, None, None)
        else:
            manager.gen.close()  # type: ignore[attr-defined]
        if not readable:
            monkeypatch.setattr(Store, "reading", broken)
        raise self.error("could not be read or written: check the disk, then run `discreet ledger verify`") from OSError(5)

    def broken(self: Store) -> Iterator[Transaction]:
        raise self.error("could not be read")

    monkeypatch.setattr(Store, "writing", writing)
    monkeypatch.setattr(Store, "reading", reading)


@pytest.mark.parametrize(
    ("done", "readable", "said"),
    [
        (True, True, "after the charge was written, which stands"),
        (False, True, "check the disk"),
        (True, False, "the charge may stand"),
        (False, False, "the charge may stand"),
    ],
)
def test_an_error_of_a_charge_says_whether_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, *, done: bool, readable: bool
) -> None:
    path = tmp_path / "a.db"
    reserved(path)
    ledger = Ledger.open(path)
    failing(monkeypatch, done=done, readable=readable)
    with pytest.raises(LedgerError, match=said) as failure:
        ledger.reserve(WHO, [asks("b")])
    assert charges(path) == 1 + done
    assert ("stand" in str(failure.value)) == (done or not readable)


def test_a_totals_attempt_is_not_called_a_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.ledger import Publication

    who = Identity("wages", '{"invariants":["x"]}', "zcdp", (Fraction(1),))
    ledger = Ledger.open(tmp_path / "a.db")
    failing(monkeypatch, done=True)
    with pytest.raises(LedgerError, match="after the attempt was written"):
        ledger.publish(who, Publication("totals", "plan", b"source"))


# A damaged file through the command line -----------------------------------------------------------------------------------


def damaged(content: bytes, dice: random.Random) -> bytes:
    """The file with one kind of damage: bits, a hole, noise, a cut, pages exchanged, more behind."""
    data, place = bytearray(content), dice.randrange(len(content))
    kind = dice.randrange(6)
    if kind == 0:
        for _ in range(dice.choice([1, 2, 30])):
            bit = dice.randrange(len(data) * 8)
            data[bit // 8] ^= 1 << bit % 8
    elif kind == 1:
        data[place : place + 2000] = bytes(len(data[place : place + 2000]))
    elif kind == 2:
        data[place : place + 200] = dice.randbytes(len(data[place : place + 200]))
    elif kind == 3:
        del data[place:]
    elif kind == 4:
        one, other = dice.sample(range(len(data) // 4096), 2)
        first = slice(one * 4096, one * 4096 + 4096)
        second = slice(other * 4096, other * 4096 + 4096)
        data[first], data[second] = data[second], data[first]
    else:
        data[place % 100] = dice.randrange(256)
        data += dice.randbytes(5000)
    return bytes(data)


@pytest.mark.parametrize(
    "trials",
    [
        range(10),
        pytest.param(range(10, 60), marks=pytest.mark.slow),
        pytest.param(range(60, 3000), marks=pytest.mark.exhaustive),
    ],
)
def test_no_damaged_file_ends_a_command_in_a_traceback(tmp_path: Path, trials: range) -> None:
    path = tmp_path / "a.db"
    with Ledger.open(path) as ledger:
        for number in range(6):
            (sequence,) = ledger.reserve(WHO, [asks(f"{number}")])
            ledger.commit(drawn(ledger, sequence), b"payload %d " % number * 300)
    content = path.read_bytes()
    codes = set()
    for seed in trials:
        path.write_bytes(damaged(content, random.Random(seed)))  # noqa: S311 - reproducible
        path.with_name("a.db-journal").unlink(missing_ok=True)
        for command in ("verify", "show", "export"):
            result = CliRunner().invoke(app, ["ledger", command, str(path)])
            assert result.exit_code in {0, 2}, (seed, command, result.exception)
            assert isinstance(result.exception, SystemExit | None), (seed, command, result.exception)
            codes.add((command, result.exit_code))
    assert len(codes) == 6, "some are harmless, some are found"


@pytest.mark.parametrize("value", ["NULL", "5", "'text'", "1.5"])
def test_release_bytes_of_another_type_are_found_and_named(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.db"
    with Ledger.open(path) as ledger:
        ledger.commit(drawn(ledger, ledger.reserve(WHO, [asks("a")])[0]), b"payload")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        tables = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
        (schema,) = (sql for name, sql in tables if name == "payloads")
        for name, sql in tables:
            if "TRIGGER" in sql:
                connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'payloads'")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE payloads SET payload = {value}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'payloads'", (schema,))
        for _, sql in tables:
            if "TRIGGER" in sql:
                connection.execute(sql)
    result = CliRunner().invoke(app, ["ledger", "verify", str(path)])
    assert result.exit_code == 2, result.exception
    assert "damaged at entry 5: entry 5 has damaged release bytes" in result.stderr


def test_files_that_are_no_ledgers_are_told_in_one_sentence(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "schema.db")) as connection, connection:
        connection.execute("CREATE TABLE head (genesis, sequence, digest)")
    (tmp_path / "text.db").write_text("text " * 3000, encoding="utf-8")
    (tmp_path / "empty.db").touch()
    with (tmp_path / "sparse.db").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "folder.db").mkdir()
    for path in tmp_path.iterdir():
        path.chmod(0o600 if path.is_file() else 0o700)
        for command in ("verify", "show", "export"):
            result = CliRunner().invoke(app, ["ledger", command, str(path)])
            assert (result.exit_code, result.stderr.count("\n")) == (2, 1), (path.name, command, result.exception)
