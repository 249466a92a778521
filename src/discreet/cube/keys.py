"""The scan of a column of texts that nobody listed, and what one person weighs in each of the texts that she has.

A *key* is a text of the column that may become a group. A person with g keys adds ⌊√(W²/g)⌋ units of 1/W to each of them
(D1 of docs/proofs/discovery.md): however many keys she has, the squares of what she adds come to at most W².
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from math import isqrt

from discreet.cube.persons import PersonScan
from discreet.domain.bounds import MOST_GROUPS

__all__ = ["MOST_KEYS", "UNIT", "KeyScan", "is_key", "key_weight"]

UNIT = 2**20
"""W: the weight of a person with one key. So fine that rounding a threshold to units costs less than a part in 10⁵ of δ."""

MOST_KEYS = MOST_GROUPS
"""A person with more keys than these has the weight 0 in each, so that the weights are a finite table."""


def key_weight(keys: int) -> int:
    """What a person with this many keys (at least 1) weighs in each of them, in units; 0 beyond `MOST_KEYS`."""
    return 0 if keys > MOST_KEYS else isqrt(UNIT * UNIT // keys)


def is_key(text: str, max_length: int) -> bool:
    """True if a text in NFC can be a group: of 1 to `max_length` characters, none of which is a control character."""
    return 0 < len(text) <= max_length and not any(_is_control(char) for char in text)


def _is_control(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


@dataclass(frozen=True, slots=True, eq=False)
class KeyScan:
    """One reading of a table of persons that keeps the texts of one column.

    Args:
        column: the column of texts.
        max_length: the most characters of a key; a longer text is no key.
        rest: the persons, the conditions, and the groups of the request but the keys.
        inner: the number of cells of the groups that stand after the keys in the request.
    """

    column: str
    max_length: int
    rest: PersonScan
    inner: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, the identifier first."""
        return tuple(dict.fromkeys([*self.rest.columns, self.column]))

    def cell(self, rest: int, place: int, places: int) -> int:
        """The cell of the request that has this cell of the other groups and this one of `places` keys."""
        outer, inner = divmod(rest, self.inner)
        return (outer * places + place) * self.inner + inner
