"""Damaged, older and exchanged ledger files are found, or what was changed changes nothing."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders import drawn

from discreet.errors import BudgetExceeded, DiscreetError, LedgerError
from discreet.ledger import Ledger

from .ledgers import TOTALS, UNIT, asks, identity, with_totals

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


TALLIED = "ledger"


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    """Every file of these tests lies in memory, if it can."""
    return folder


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with three data sets, commits, failures, an open reservation and exact totals."""
    path = tmp_path_factory.mktemp("written") / "budget.db"
    with Ledger.open(path) as ledger:
        a, b, _ = ledger.reserve(identity(100), [asks("a", 10), asks("b", 20), asks("c", 30)])
        (d,) = ledger.reserve(identity(7, "other"), [asks("d", 7)])
        ledger.commit(drawn(ledger, a), b"payload of a " * 400)
        ledger.fail(b)
        ledger.commit(drawn(ledger, d), b"payload of d")
        ledger.fail(ledger.publish(with_totals(), TOTALS))
        ledger.commit(ledger.publish(with_totals(), TOTALS), b"exact totals " * 400)
    return path


def accepted(path: Path) -> bool:
    """Whether the ledger is used at all; if so it shows all that was spent and gives only true bytes back."""
    try:
        with Ledger.open(path) as ledger:
            ledger.check(identity(100))
            assert ledger.spent("wages") == (60 * UNIT,)
            assert ledger.spent("other") == (7 * UNIT,)
            for units in (41, 40):
                try:
                    ledger.reserve(identity(100), [asks(f"more {units}", units)])
                    assert units == 40
                except BudgetExceeded:
                    assert units == 41
            stored = ledger.stored(identity(100), "a")
            assert stored is not None
            assert stored.payload == b"payload of a " * 400
            published = ledger.published(with_totals())
            assert published is not None
            assert published.payload == b"exact totals " * 400
    except LedgerError as error:
        assert str(path) in str(error)  # noqa: PT017 - both outcomes are checked
        return False
    return True


def flipped(content: bytes, bit: int) -> bytes:
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def flips(written: Path, path: Path, bits: list[int]) -> int:
    """How many of the flips were refused."""
    content = written.read_bytes()
    path.touch(0o600)
    refused = 0
    for bit in bits:
        path.write_bytes(flipped(content, bit))
        refused += not accepted(path)
        path.with_name(path.name + "-journal").unlink(missing_ok=True)
    return refused


def test_a_flipped_bit_is_refused_or_changes_nothing(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    size = written.stat().st_size * 8
    bits = random.Random(3).sample(range(size), 150)  # noqa: S311 - reproducible
    assert 0 < flips(written, tmp_path / "budget.db", bits) < 150
    header = random.Random(4).sample(range(800), 100)  # noqa: S311 - reproducible
    assert flips(written, tmp_path / "budget.db", header) > 0
    tally["faults"] += 250


@pytest.mark.exhaustive
def test_every_flipped_bit_of_a_header_and_many_others(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    size = written.stat().st_size * 8
    bits = [*range(800), *random.Random(5).sample(range(size), 4000)]  # noqa: S311 - reproducible
    refused = flips(written, tmp_path / "budget.db", bits)
    assert refused > 1000
    tally["faults"] += len(bits)
    tally["flipped bits refused"] += refused


@pytest.mark.slow
def test_a_flipped_bit_of_an_entry_or_its_digest_is_always_found(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    content = written.read_bytes()
    with closing(sqlite3.connect(written)) as connection:
        texts = [text.encode() for row in connection.execute("SELECT body, digest FROM entries") for text in row]
    places = [content.index(text) * 8 + bit for text in texts for bit in range(0, len(text) * 8, 67)]
    assert flips(written, tmp_path / "budget.db", places) == len(places) > 200
    tally["faults"] += len(places)


def test_a_flipped_bit_of_a_release_is_found_when_it_is_read(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    content = written.read_bytes()
    path.touch(0o600)
    path.write_bytes(flipped(content, content.index(b"payload of a") * 8))
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerError, match="damaged copy of the release 'a'"):
            ledger.stored(identity(100), "a")
        found = ledger.verify()
        assert (found.intact, found.broken) == (False, 9)
        assert found.problem == "entry 9 has damaged release bytes"
        assert ledger.spent("wages") == (60 * UNIT,)
    path.write_bytes(flipped(content, content.index(b"exact totals exact") * 8))
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerError, match="damaged copy of the exact totals of 'totals'"):
            ledger.published(with_totals())
        assert ledger.verify().broken == 18


def test_a_shortened_file_is_refused(written: Path, tmp_path: Path, tally: Counter[str]) -> None:
    path = tmp_path / "budget.db"
    content = written.read_bytes()
    lengths = [*range(0, 200, 7), *range(0, len(content), 512), len(content) - 1]
    path.touch(0o600)
    for length in lengths:
        path.write_bytes(content[:length])
        assert not accepted(path), f"accepted {length} of {len(content)} bytes"
    tally["faults"] += len(lengths)


def without_triggers(path: Path, statement: str) -> None:
    """Somebody with an editor removes the triggers, changes the file, and puts them back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE entries SET body = replace(body, '0.03', '0.01') WHERE sequence = 4", 4),
        ("DELETE FROM entries WHERE sequence = 3", 3),
        ("DELETE FROM entries WHERE sequence = 13", 13),
        ("DELETE FROM entries", 1),
        ("UPDATE entries SET body = x'00' WHERE sequence = 3", 3),
        ("UPDATE entries SET digest = 7 WHERE sequence = 3", 3),
        ("UPDATE head SET sequence = 10", 19),
        ("UPDATE head SET digest = genesis", 19),
        ("UPDATE head SET genesis = digest", 1),
        ("DELETE FROM head", 1),
        ("INSERT INTO entries SELECT 19, body, digest FROM entries WHERE sequence = 18", 19),
        ("DELETE FROM payloads WHERE sequence = 13", 13),
        ("UPDATE payloads SET sequence = 10 WHERE sequence = 13", 10),
        ("DELETE FROM snapshots WHERE sequence = 3", 3),
        ("UPDATE entries SET body = replace(body, 'publish', 'reserve') WHERE sequence = 15", 15),
        ("DELETE FROM entries WHERE sequence = 18", 18),
        ("DELETE FROM payloads WHERE sequence = 18", 18),
        ("UPDATE payloads SET payload = x'00' WHERE sequence = 18", 18),
        ("DELETE FROM snapshots WHERE sequence = 15", 15),
    ],
)
def test_changed_rows_are_found_and_named(written: Path, tmp_path: Path, statement: str, broken: int) -> None:
    path = tmp_path / "budget.db"
    shutil.copy(written, path)
    without_triggers(path, statement)
    with Ledger.open(path) as ledger:
        found = ledger.verify()
        assert (found.intact, found.broken) == (False, broken)
        assert found.problem
        if "payloads" not in statement and "snapshots" not in statement:
            for call in (ledger.datasets, lambda: ledger.reserve(identity(100), [asks("e")])):
                with pytest.raises(LedgerError, match="is damaged"):
                    call()


def test_a_ledger_that_has_lost_its_key_takes_no_charge(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    shutil.copy(written, path)
    with Ledger.open(path) as ledger:
        spent = ledger.spent("wages")
        without_triggers(path, "DELETE FROM snapshots")
        with pytest.raises(LedgerError):
            ledger.reserve(identity(100), [asks("new")])
        assert ledger.spent("wages") == spent


def test_an_older_copy_is_found_by_the_head_of_a_release(tmp_path: Path) -> None:
    path, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("a")])
        shutil.copy(path, copy)
        ledger.reserve(identity(), [asks("b")])
        receipt = (ledger.head_sequence(), ledger.head())
        shutil.copy(copy, path)  # a rollback while it is open
        for _ in range(2):  # and it stays noticed
            with pytest.raises(LedgerError, match="older or another copy"):
                ledger.reserve(identity(), [asks("c")])
        assert not ledger.verify().intact
        path.unlink()
        for _ in range(2):
            with pytest.raises(LedgerError, match="disappeared"):
                ledger.reserve(identity(), [asks("c")])
        assert not path.exists()
        shutil.copy(copy, path)
    with Ledger.open(path) as ledger:  # a rollback while it was closed
        assert ledger.verify().intact
        assert not ledger.contains(*receipt)
        ledger.reserve(identity(), [asks("b")])
        assert ledger.head_sequence() == receipt[0]
        assert not ledger.contains(*receipt)


def test_a_rollback_right_after_a_reservation_is_noticed(tmp_path: Path) -> None:
    path, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("a")])
    shutil.copy(path, copy)
    with Ledger.open(path) as ledger:
        ledger.reserve(identity(), [asks("b")])
        shutil.copy(copy, path)
        with pytest.raises(DiscreetError, match="older or another copy"):
            ledger.spent("wages")


def test_a_rollback_is_noticed_by_one_who_only_read(tmp_path: Path) -> None:
    path, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    with Ledger.open(path) as writer, Ledger.open(path) as reader:
        writer.reserve(identity(), [asks("a")])
        shutil.copy(path, copy)
        writer.reserve(identity(), [asks("b")])
        assert reader.spent("wages") == (2 * UNIT,)
        shutil.copy(copy, path)
        for _ in range(2):
            with pytest.raises(LedgerError, match="older or another copy"):
                reader.spent("wages")


def test_another_ledger_in_the_same_place_is_noticed(tmp_path: Path) -> None:
    path, other = tmp_path / "budget.db", tmp_path / "other.db"
    with Ledger.open(path) as first, Ledger.open(other) as second:
        for ledger in (first, second):
            ledger.reserve(identity(), [asks("a")])
        shutil.copy(other, path)
        with pytest.raises(LedgerError, match="older or another copy"):
            first.spent("wages")


@pytest.mark.exhaustive
def test_reading_is_linear_in_the_number_of_entries(tmp_path: Path) -> None:
    def seconds(entries: int) -> float:
        path = tmp_path / f"{entries}.db"
        with Ledger.open(path) as ledger:
            ledger.reserve(identity(10**9), [asks(f"r{number}") for number in range(entries)])
        started = time.process_time()
        with Ledger.open(path) as ledger:
            assert ledger.verify().entries == entries + 1
        return time.process_time() - started

    small = min(seconds(10_000), seconds(10_001))
    assert seconds(100_000) < 30 * small
