"""Keys of people who approve, as files of OpenSSH, and what they sign."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

import discreet as dp
from discreet.approvals.keys import PublicKey
from discreet.approvals.statements import Statement

NAMES = ("anna", "ben", "cleo")


def private_key(name: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b"."))


def public(name: str) -> PublicKey:
    return PublicKey(private_key(name).public_key().public_bytes_raw(), name)


def key_file(folder: Path, name: str, passphrase: str = "") -> Path:
    """The private key of `name` in `folder`, and its public key in a file `*.pub` beside it."""
    key = private_key(name)
    secret = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    path = folder / name
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, secret))
    line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    (folder / f"{name}.pub").write_text(f"{line} {name}\n")
    return path


def board(signatures: int = 2, names: tuple[str, ...] = NAMES) -> dp.Demand:
    return dp.Demand(signatures, tuple(map(public, names)))


def signed(statement: Statement, *names: str) -> list[dp.Approval]:
    """The statement as each of these people signs it."""
    from discreet.approvals import statements

    text = statements.document(statement).encode()
    return [dp.Approval(statement, public(name), private_key(name).sign(text)) for name in names]
