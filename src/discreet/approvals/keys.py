"""Ed25519 keys in the files of OpenSSH. Other types of keys are refused by name, and so are keys that others can use."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import ArgumentError, printed
from discreet.exact.given_paths import content_of, quote_path, reason

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["TYPE", "PublicKey", "load_private_key", "load_public_keys", "public_key", "public_keys"]

TYPE = "ssh-ed25519"
_MOST_BYTES = 100_000
_PRIVATE = ("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----")
_MAGIC = b"openssh-key-v1\0"
_PRIME = 2**255 - 19
_ORDER_EIGHT = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_ANYBODY = frozenset({0, 1, _PRIME - 1, _ORDER_EIGHT, _PRIME - _ORDER_EIGHT})
"""The second coordinates of the points of small order: as keys, they accept signatures that anybody can make."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key. Two are equal when their bytes are, whatever they are called.

    Args:
        raw: 32 bytes.
        name: the comment or the principal that a file gives it, for people.

    Raises:
        ArgumentError: bytes that are not the one spelling of a key, or a key with which anybody can sign.
    """

    raw: bytes
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if len(self.raw) != 32:
            raise ArgumentError(f"key: an Ed25519 key has 32 bytes, not {len(self.raw)}")
        place = int.from_bytes(self.raw, "little") & (2**255 - 1)
        if place >= _PRIME or place in _ANYBODY:  # a second spelling of a key would count twice
            raise ArgumentError("key: is not a key that ssh-keygen makes; with such a key anybody could sign")

    @property
    def text(self) -> str:
        """The key as OpenSSH writes it, without a comment."""
        return f"{TYPE} {base64.b64encode(_blob(self.raw)).decode()}"

    @property
    def fingerprint(self) -> str:
        """The fingerprint that `ssh-keygen -l` shows."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(_blob(self.raw)).digest()).decode().rstrip("=")

    def __str__(self) -> str:
        return f"{self.name} ({self.fingerprint})" if self.name else self.fingerprint


def public_key(line: str, where: str) -> PublicKey:
    """The key of one line, as in a file `*.pub` or, with a name in front of it, in an allowed_signers file.

    Raises:
        ArgumentError: another type of key, options, or no key; the message begins with `where`.
    """
    words = line.split()
    at = next((place for place, word in enumerate(words[:2]) if word == TYPE), None)
    if at is None or len(words) < at + 2:
        raise ArgumentError(f"{where}: {_no_key(words)}")
    raw = _raw_of(_decode(words[at + 1], where), where)
    name = " ".join(words[at + 2 :]) or " ".join(words[:at])
    if not name.isprintable() or len(name) > 200:
        raise ArgumentError(f"{where}: the comment of the key must be printable and have at most 200 characters")
    return _make_key(raw, name, where)


def _no_key(words: list[str]) -> str:
    for word in words:
        if word == TYPE and word != words[0]:
            return f"has options in front of the key, which are not obeyed; write a name, '{TYPE}' and the key"
        if (word != TYPE and word.startswith(("ssh-", "ecdsa-", "sk-", "rsa-"))) or word == "cert-authority":
            return f"is a key of type {printed(word[:40])}; only {TYPE} is accepted (make one with ssh-keygen -t ed25519)"
    return f"is not a public key: write '{TYPE}', the key and a name, as in the file *.pub of ssh-keygen"


def public_keys(text: str, where: str) -> tuple[PublicKey, ...]:
    """The keys of a text with one key in each line; empty lines and lines with # in front do not count."""
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    return tuple(public_key(line, f"{where}, line {number}") for number, line in lines if line and line[0] != "#")


def load_public_keys(path: Path, what: str) -> tuple[PublicKey, ...]:
    """The keys of a file, at least one.

    Raises:
        ArgumentError: it cannot be read, or has something else in it.
    """
    where = f"{what} {quote_path(path)}"
    text = _read(path, where)
    if _PRIVATE[0] in text:
        raise ArgumentError(f"{where}: is a private key, which stays with its owner; give the file *.pub")
    found = public_keys(text, where)
    if not found:
        raise ArgumentError(f"{where}: has no key in it")
    return found


def load_private_key(path: Path, ask: Callable[[str], str]) -> tuple[Ed25519PrivateKey, PublicKey]:
    """A private key that only its owner can read, and its public key; its passphrase is asked where it has one.

    Raises:
        ArgumentError: the file cannot be read, others can read it, it holds another type of key, or the passphrase is wrong.
    """
    where = f"key {quote_path(path)}"
    _require_private(path, where)
    text = _read(path, where)
    raw, locked = _public_part(text, where)
    key = _open_key(text, ask(f"passphrase of {quote_path(path)}: ") if locked else None, where)
    if key.public_key().public_bytes_raw() != raw:
        raise ArgumentError(f"{where}: its two halves are not one key; restore it from a copy")
    return key, _make_key(raw, "", where)


def _require_private(path: Path, where: str) -> None:
    """Checks what ssh checks: a file of the user that anybody else can read or write is not private."""
    try:
        found = path.stat()
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"{where}: cannot be read ({reason(wrong)}); check the path") from None
    if found.st_mode & 0o077 and found.st_uid == os.getuid():
        raise ArgumentError(f"{where}: can be read or written by others; run `chmod 600` on it, as for ssh")


def _public_part(text: str, where: str) -> tuple[bytes, bool]:
    """The public key that stands in clear in a private key file, and whether a passphrase locks the rest."""
    begin, _, rest = text.strip().partition("\n")
    body, _, end = rest.rpartition("\n")
    if (begin.strip(), end.strip()) != _PRIVATE:
        raise ArgumentError(
            f"{where}: is not a private key in the format of OpenSSH; `ssh-keygen -p -f FILE` rewrites older formats, and "
            "`ssh-keygen -t ed25519` makes a new key"
        )
    whole = _decode("".join(body.split()), where)
    if not whole.startswith(_MAGIC):
        raise ArgumentError(f"{where}: is damaged; restore it from a copy")
    cipher, rest_ = _string(whole[len(_MAGIC) :], where)
    _, rest_ = _string(rest_, where)
    _, rest_ = _string(rest_, where)
    public, _ = _string(rest_[4:], where)
    return _raw_of(public, where), cipher != b"none"


def _open_key(text: str, passphrase: str | None, where: str) -> Ed25519PrivateKey:
    from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    try:
        key = load_ssh_private_key(text.encode(), None if passphrase is None else passphrase.encode())
    except UnsupportedAlgorithm as wrong:
        raise ArgumentError(
            f"{where}: its encryption is not supported ({wrong}); `ssh-keygen -p -f FILE` rewrites it"
        ) from None
    except (ValueError, TypeError, InvalidTag):
        problem = "is damaged; restore it from a copy" if passphrase is None else "the passphrase is wrong, or it is damaged"
        raise ArgumentError(f"{where}: {problem}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ArgumentError(f"{where}: only {TYPE} is accepted")
    return key


# Bytes --------------------------------------------------------------------------------------------------------------------


def _read(path: Path, where: str) -> str:
    try:
        content = content_of(path, _MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ArgumentError(f"{where}: is too large for a file of keys")
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ArgumentError(f"{where}: is not a text") from None
    except (OSError, ValueError) as wrong:
        if isinstance(wrong, ArgumentError):
            raise
        raise ArgumentError(f"{where}: cannot be read ({reason(wrong)}); check the path") from None


def _decode(text: str, where: str) -> bytes:
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        raise ArgumentError(f"{where}: the key is cut off or damaged") from None


def _string(data: bytes, where: str) -> tuple[bytes, bytes]:
    """The string at the start of `data`, which begins with its length, and the rest."""
    size = int.from_bytes(data[:4], "big")
    if len(data) < 4 + size or len(data) < 4:
        raise ArgumentError(f"{where}: the key is cut off or damaged")
    return data[4 : 4 + size], data[4 + size :]


def _raw_of(blob: bytes, where: str) -> bytes:
    kind, rest = _string(blob, where)
    if kind != TYPE.encode():
        word = kind.decode("ascii", "backslashreplace")
        raise ArgumentError(f"{where}: {_no_key([word]) if word.isprintable() else _no_key([])}")
    raw, rest = _string(rest, where)
    if rest or len(raw) != 32:
        raise ArgumentError(f"{where}: the key is cut off or damaged")
    return raw


def _blob(raw: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in (TYPE.encode(), raw))


def _make_key(raw: bytes, name: str, where: str) -> PublicKey:
    try:
        return PublicKey(raw, name)
    except ArgumentError as wrong:
        raise ArgumentError(f"{where}: {wrong}") from None
