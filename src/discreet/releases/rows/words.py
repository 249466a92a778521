"""The words of the generator: raw bits of a counter, keyed with the digest of a release.

The rows are a function of a public document, so their draws are public too: anybody can recompute them. Nothing here draws
noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.random import Philox
from numpy.typing import NDArray

__all__ = ["NAME", "Words", "words_of"]

Integers = NDArray[np.int64]

NAME = "rows 2"
"""The scheme. A change of any constant that rows depend on is another scheme, with another name."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Uniform numbers from the raw words of Philox 4x64, whose stream NumPy keeps for ever."""

    source: Philox

    def draw(self, many: int) -> Integers:
        """Uniform integers of 32 bits."""
        return (self.source.random_raw(many) >> np.uint64(32)).astype(np.int64)

    def below(self, limits: Integers) -> Integers:
        """Uniform integers from 0 to below each of some limits, but for 2^-32 of its weight for each of them."""
        drawn = self.draw(len(limits))
        if len(limits) and int(limits.max()) >= 1 << 31:
            return np.asarray(drawn.astype(np.object_) * limits >> 32, dtype=np.int64)
        return drawn * limits >> 32

    def choose(self, cumulated: Integers) -> Integers:
        """For each row of cumulated weights, the last of them in [1, 2^31), the position that is drawn."""
        limits = (self.draw(len(cumulated)) * cumulated[:, -1]) >> 32
        return np.asarray((cumulated <= limits[:, None]).sum(axis=1))

    def shuffle(self, many: int) -> Integers:
        """A uniform order of so many things."""
        return np.argsort(self.source.random_raw(many), kind="stable")


def words_of(digest: str) -> Words:
    """The words that belong to the digest of a release."""
    key = sha256(f"{NAME} {digest}".encode()).digest()
    return Words(Philox(key=int.from_bytes(key[:16], "little"), counter=0))
