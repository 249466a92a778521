"""The one JSON text of a value, its digest, and a document that holds its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

__all__ = ["canonical", "digest", "seal"]

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: object) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII. Plans hold integers and exact texts, no floats."""
    return _ENCODER.encode(value)


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON text, in hexadecimal."""
    return _sha256(canonical(value))


def seal(body: Mapping[str, object]) -> str:
    """The canonical JSON text of `body` with its digest as one more member, "digest"; each member is written once."""
    members = {key: canonical(value) for key, value in body.items()}
    members["digest"] = canonical(_sha256(_join(members)))
    return _join(members)


def _join(members: Mapping[str, str]) -> str:
    """The canonical JSON text of an object whose members are canonical texts already."""
    return "{" + ",".join(f"{canonical(name)}:{members[name]}" for name in sorted(members)) + "}"


def _sha256(written: str) -> str:
    return hashlib.sha256(written.encode("ascii")).hexdigest()
