"""Signatures of statements, made and checked. Ed25519 signs the text itself; equal texts have equal signatures."""

from __future__ import annotations

import getpass
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from discreet.approvals.keys import PublicKey, load_private_key
from discreet.approvals.statements import Statement, document
from discreet.errors import ArgumentError
from discreet.exact.given_paths import require_path

__all__ = ["Approval", "approve", "ask_on_terminal", "is_signed", "signer"]


@dataclass(frozen=True, slots=True)
class Approval:
    """A signature of a statement by the owner of a key. It is not checked by being made: `is_signed` does that."""

    statement: Statement
    key: PublicKey
    signature: bytes = field(repr=False)


def is_signed(text: str, key: PublicKey, signature: bytes) -> bool:
    """True if the owner of the key has signed exactly this text."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(signature, text.encode("ascii"))
    except InvalidSignature:
        return False
    return True


def ask_on_terminal(question: str) -> str:
    """The passphrase that somebody types; it is not shown.

    Raises:
        ArgumentError: nobody is there to type it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)  # it would be shown, or read from a pipe
            return getpass.getpass(question)
    except (getpass.GetPassWarning, EOFError, OSError):
        raise ArgumentError("key: has a passphrase, and there is no terminal to type it; run the command in one") from None


def signer(key: str | Path, ask: Callable[[str], str] = ask_on_terminal) -> Callable[[Statement], Approval]:
    """A function that signs statements with the key of a file, whose passphrase is asked once.

    Raises:
        ArgumentError: the key cannot be used.
    """
    private, public = load_private_key(require_path(key, "key").expanduser(), ask)
    return lambda statement: Approval(statement, public, private.sign(document(statement).encode("ascii")))


def approve(statement: Statement, key: str | Path, *, ask: Callable[[str], str] = ask_on_terminal) -> Approval:
    """The statement is signed with the key of a file: look at what it says first.

    Args:
        statement: from `Session.statement`.
        key: an Ed25519 private key in the format of OpenSSH, which nobody else can read.
        ask: gives the passphrase of a key that has one; the terminal asks for it.

    Raises:
        ArgumentError: the key cannot be used.
    """
    return signer(key, ask)(statement)
