"""Identifiers of SDMX and JSON-stat for columns and categories: letters, digits and a few signs, and no two alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from discreet.domain.about import key_of

__all__ = ["UNKNOWN", "code_ids", "concept_id", "unique"]

UNKNOWN = "_U"
"""The code that SDMX has for "not known"."""


def concept_id(name: str) -> str:
    """The name of a column as the identifier of a concept: it begins with a letter."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    found = re.sub(r"[^A-Za-z0-9_]+", "_", plain).strip("_").upper()
    return found if found[:1].isalpha() else f"C_{found}".rstrip("_")


def unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names, of which those that are taken have a number after them."""
    found: list[str] = []
    used = set(taken)
    for name in names:
        chosen, times = name, 1
        while chosen in used:
            times += 1
            chosen = f"{name}_{times}"
        used.add(chosen)
        found.append(chosen)
    return found


def code_ids(known: Iterable[Any]) -> Mapping[Any, str]:
    """A code for each group: the category itself where it can be a code, else one made of its letters and digits.

    No code begins like a formula, so a code is never escaped: it is the same in every format.
    """
    groups = list(known)
    wanted = [UNKNOWN if value is None else _code(key_of(value)) for value in groups]
    taken = [code for value, code in zip(groups, wanted, strict=True) if value is None]
    rest = iter(unique([code for value, code in zip(groups, wanted, strict=True) if value is not None], taken))
    return {value: UNKNOWN if value is None else next(rest) for value in groups}


def _code(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    found = re.sub(r"[^A-Za-z0-9_@$-]+", "_", plain).strip("_")
    return f"C{found}" if found[:1] in {"", "-", "@"} else found  # only these two begin a formula
