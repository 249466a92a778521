"""Values as TOML text. Every invisible character is escaped, whoever has written it."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from typing import Any

from discreet.errors import InternalError
from discreet.planfile.tree import Decimal

__all__ = ["toml_key", "toml_value", "toml_visible"]


def toml_visible(value: str) -> str:
    """A TOML string in which every invisible character is escaped by its number."""
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else _escape(char) for char in quoted)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\U{ord(char):08X}"


def toml_key(key: str) -> str:
    """A key, without quotes if TOML allows that, otherwise in quotes."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_visible(key)


def toml_value(value: Any) -> str:
    """A value of `read_toml` on one line, from which `tomllib` reads the same value.

    Raises:
        InternalError: a TOML file cannot hold such a value.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return str(value)
        case str():
            return toml_visible(value)
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case list():
            return f"[{', '.join(map(toml_value, value))}]"
        case Mapping():
            entries = ", ".join(f"{toml_key(key)} = {toml_value(one)}" for key, one in value.items())
            return f"{{ {entries} }}" if entries else "{}"
    raise InternalError("a TOML file cannot hold this value")
