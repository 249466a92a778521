"""Digests that stand for several fields: no other fields give the same input, and each field counts."""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest

from discreet.ledger.drafts import keyed_hash
from discreet.ledger.records import Entry, entry_body, entry_digest
from discreet.ledger.store import Store

pytestmark = pytest.mark.usefixtures("one_artist")

KEY = bytes(range(32))
RELEASES = [
    ("ab", "c", b"d"),
    ("a", "bc", b"d"),
    ("a", "b", b"cd"),
    ("abc", "", b"d"),
    ("", "abcd", b""),
    ("abcd", "", b""),
    ("a", "b", b"\0\0\0\0\0\0\0\1cd"),
    ("é", "", b"d"),
    ("", "é", b"d"),
]


def test_no_two_releases_have_the_same_hash_because_their_texts_run_together() -> None:
    """Without lengths ("ab", "c") and ("a", "bc") would be one: a snapshot would be recognised under a foreign name."""
    found = [keyed_hash(KEY, *release) for release in RELEASES]
    for one, other in combinations(found, 2):
        assert one != other


@pytest.mark.parametrize("release", RELEASES)
def test_the_hash_is_the_hmac_of_every_part_behind_its_length(release: tuple[str, str, bytes]) -> None:
    """Ledgers hold it: another way to put the parts together would recognise no release of before."""
    parts = [part.encode() if isinstance(part, str) else part for part in release]
    written = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    assert keyed_hash(KEY, *release) == hmac.digest(KEY, written, hashlib.sha256)


def test_the_key_counts_and_a_text_is_hashed_as_its_bytes() -> None:
    assert keyed_hash(KEY, "d", "n", b"s") != keyed_hash(bytes(32), "d", "n", b"s")
    assert keyed_hash(KEY, "d", "n", "sé") == keyed_hash(KEY, "d", "n", "sé".encode())
    assert keyed_hash(KEY, "d", "n", "\udcff") == keyed_hash(KEY, "d", "n", b"\xed\xb3\xbf")  # a name that is not UTF-8


def test_the_digest_of_an_entry_is_that_of_the_one_before_and_its_own_text() -> None:
    """The digest before has 64 digits always, and no body begins with one: nothing can run together."""
    entry = Entry(sequence=1, dataset="d", kind="dataset", time="t", user="u", nonce="0" * 32)
    body = entry_body(entry)
    assert body.startswith("{")
    assert entry_digest("a" * 64, body) == hashlib.sha256(("a" * 64 + body).encode()).hexdigest()
    assert entry_digest("a" * 64, body) != entry_digest("b" * 64, body)


def test_no_two_ledgers_begin_alike(tmp_path: Path) -> None:
    """Their first digests differ, so that no entry of one fits into another; their keys too, so that no hash does."""
    found = []
    for name in ("one.db", "two.db"):
        Store(tmp_path / name, 1.0).create()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            found.append(
                (*connection.execute("SELECT * FROM head").fetchone(), *connection.execute("SELECT * FROM snapshots"))
            )
    assert all(one != other for one, other in zip(*found, strict=True) if one != 0)
