"""When two names of data sets or releases are one: a letter with an accent is written in two ways that look the same.

Names are compared in Unicode's normal form C, and in nothing else: case, letters that look alike and letters of other
alphabets make different names. New names are kept in that form; older ones are found in it and shown as they were written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["one_form", "spellings"]


def one_form(name: str) -> str:
    """The form in which names are compared and new ones are kept."""
    return unicodedata.normalize("NFC", name)


def spellings(name: str, among: Iterable[str]) -> tuple[str, ...]:
    """Those of the stored names that are this name: none or one, but for what was written before they were compared."""
    wanted = one_form(name)
    return tuple(one for one in among if one == wanted or (not one.isascii() and one_form(one) == wanted))
