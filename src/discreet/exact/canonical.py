"""The one JSON text of a value, its digest, and a document that holds its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping

__all__ = ["canonical", "digest", "digest_of_members", "has_text_keys", "seal", "seal_bytes"]

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: object) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII. Plans hold integers and exact texts, no floats."""
    return _ENCODER.encode(value)


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON text, in hexadecimal."""
    return _sha256([_bytes(value)])


def digest_of_members(body: Mapping[str, object]) -> str:
    """`digest` of an object, written piece by piece: the encoder keeps every piece of what it writes until the end."""
    return _sha256(_pieces(_members(body)))


def seal(body: Mapping[str, object]) -> str:
    """The canonical JSON text of `body` with its digest as one more member, "digest"; each member is written once."""
    return seal_bytes(body).decode("ascii")


def seal_bytes(body: Mapping[str, object]) -> bytes:
    """The same as bytes. All of it is in memory twice at most: in pieces, and put together.

    A member that is an iterator is a list there. Its elements are taken and written one by one, so that they need not be in
    memory together.
    """
    members = _members(body)
    members["digest"] = [_bytes(_sha256(_pieces(members)))]
    return b"".join(_pieces(members))


def has_text_keys(value: object) -> bool:
    """True if the names in all objects are texts: others would be sorted otherwise when they are read again."""
    if isinstance(value, Mapping):
        return all(isinstance(name, str) for name in value) and all(map(has_text_keys, value.values()))
    if isinstance(value, list | tuple):
        # Columns may have a million values: only what may hold an object is looked into.
        return not any(issubclass(one, Mapping | list | tuple) for one in set(map(type, value))) or all(
            map(has_text_keys, value)
        )
    return True


def _members(body: Mapping[str, object]) -> dict[str, list[bytes]]:
    """The canonical text of each member in pieces: of a list one for each element, which an iterator may give one by one."""
    return {
        key: [*_list_pieces(value)] if isinstance(value, list | Iterator) else [_bytes(value)] for key, value in body.items()
    }


def _list_pieces(values: Iterable[object]) -> Iterator[bytes]:
    yield b"["
    for place, value in enumerate(values):
        if place:
            yield b","
        yield _bytes(value)
    yield b"]"


def _pieces(members: Mapping[str, list[bytes]]) -> Iterator[bytes]:
    """The canonical JSON text of an object whose members are canonical texts already, in pieces."""
    yield b"{"
    for place, name in enumerate(sorted(members)):
        yield b"," if place else b""
        yield _bytes(name)
        yield b":"
        yield from members[name]
    yield b"}"


def _bytes(value: object) -> bytes:
    return canonical(value).encode("ascii")


def _sha256(pieces: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()
