"""Block envelopes: an immutable table from which a law is drawn exactly (docs/proofs/noise.md, Lemma D).

The integers are cut into blocks of width 2^shift and two tails. A block b owns n_b of 2^16 equally likely cells, with
n_b · unit ≥ p(x) for every x of the block, where p are the unnormalised weights. A draw takes a uniform cell, a uniform
x of its block, and accepts when V < A(x) = p(x)/(n_b · unit), V uniform. In a tail that starts at distance T, x = T + y
with y geometric of the scale r by which p falls at least, and A(x) = p(x) e^{y/r}/(n unit 2^shift (1 - e^{-1/r})). Cells
that no block owns reject. Each accepted x then has probability exactly proportional to p(x).

For every cell the table also holds thresholds on the first 16 bits of V: below `low` x is accepted whatever it is in its
block, from `high` on it is rejected. They are rounded in the safe direction, so that they never decide wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact.balls import Ball, ball, enclosure
from discreet.noise.single._weights import Weights

__all__ = ["CELLS", "Envelope", "build", "stack"]

CELLS = 1 << 16
_UP = 1 + 2.0**-40  # covers the error of `rough` (2^-41) and of every operation below
_DOWN = 1 - 2.0**-40
_TINY = 2.0**-1000


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """The table of one law, or of a family of laws cut into equal parts that share the cells.

    Blocks are numbered from the left; then come the right tail, the left tail, and "no block". The blocks of a part follow
    the blocks of the previous part.

    Attributes:
        weights: the law; of a family, any part, since they differ in their bounds alone.
        packed: per cell, (left end of the block / 2^shift) · 2^16 + low.
        block_of: per cell, the number of its block.
        high: per block, the threshold on 16 bits from which everything is rejected.
        owned: per block, n_b.
        factor: per block, 1/(n_b unit) to within 2^-51; NaN for the tails, which are always decided exactly.
        units: per part, the weight of one cell, an exact dyadic rational.
        margin: the relative distance from A within which floating point does not decide.
    """

    weights: Weights
    packed: NDArray[np.int32]
    block_of: NDArray[np.uint16]
    high: NDArray[np.uint32]
    owned: NDArray[np.int64]
    factor: NDArray[np.float64]
    units: tuple[float, ...]
    margin: float = 2.0**-40

    def tail_side(self, block: int) -> int:
        """1 for a right tail, -1 for a left tail, 0 for the blocks of the centre."""
        period = self.owned.size // len(self.units)
        return {period - 3: 1, period - 2: -1}.get(block % period, 0)

    def tail_start(self, side: int) -> int:
        """The start of the tail on that side, as a distance from 0: blocks cover [-reach 2^shift, reach 2^shift)."""
        return (self.weights.reach << self.weights.shift) + (side < 0)

    def cell_weight(self, block: int) -> Ball:
        """The exact number n_b · unit."""
        # A double is a dyadic rational of 53 bits: the conversion is exact.
        return ball(int(self.owned[block])) * ball(self.units[block * len(self.units) // self.owned.size])

    def central_acceptance(self, x: int | Fraction, block: int) -> Ball:
        """A(x) for x in a block of the centre (for a family: what its `ball` takes in the place of x)."""
        return self.weights.ball(x) / self.cell_weight(block)

    def tail_acceptance(self, x: int | Fraction, y: int, block: int) -> Ball:
        """A(x) for x in a tail, at distance tail_start + y."""
        rate = 1 / ball(self.weights.fall(self.tail_start(self.tail_side(block))))
        width = self.cell_weight(block) * (1 << self.weights.shift)
        return self.weights.ball(x) * (rate * y).exp() / (width * (1 - (-rate).exp()))


def build(weights: Weights, cells: int = CELLS) -> Envelope:
    """The envelope of a law, or of one part of a family. A millisecond or so; callers cache it per parameter."""
    left, near, far = _block_ends(weights)
    # A weight may be too small for a double. Then it is bounded by 2^-1000, and its candidates are decided exactly.
    most = np.append(np.maximum(weights.most(near) * _UP, _TINY), _tail_masses(weights))
    least = np.append(weights.least(far) * _DOWN, [0.0, 0.0])
    unit = _unit(most, cells)
    owned = _cells(most, unit)
    if weights.sides == 1:
        owned[-1] = 0  # no left tail
    width = np.maximum(owned, 1) * unit
    low = np.minimum(CELLS - 1, np.floor(CELLS * _DOWN * (least / width))).astype(np.int32)
    high = np.minimum(CELLS, np.ceil(CELLS * _UP * (most / width))).astype(np.uint32)
    owned = np.append(owned, cells - owned.sum())
    packed = (np.append(left, [0, 0, 0]).astype(np.int32) << 16) + np.append(low, 0)
    factor = np.append(1 / width[:-2], [np.nan, np.nan, np.nan])
    return Envelope(
        weights=weights,
        packed=_freeze(np.repeat(packed, owned).astype(np.int32)),
        block_of=_freeze(np.repeat(np.arange(owned.size), owned).astype(np.uint16)),
        high=_freeze(np.append(high, 0).astype(np.uint32)),
        owned=_freeze(owned),
        factor=_freeze(factor),
        units=(unit,),
    )


def stack(parts: Sequence[Envelope]) -> Envelope:
    """One table of a family from the tables of its parts, which all have the same number of blocks."""
    first, blocks = parts[0], parts[0].owned.size
    numbered = [part.block_of + np.uint16(i * blocks) for i, part in enumerate(parts)]
    return Envelope(
        weights=first.weights,
        packed=_freeze(np.concatenate([part.packed for part in parts])),
        block_of=_freeze(np.concatenate(numbered)),
        high=_freeze(np.concatenate([part.high for part in parts])),
        owned=_freeze(np.concatenate([part.owned for part in parts])),
        factor=_freeze(np.concatenate([part.factor for part in parts])),
        units=tuple(part.units[0] for part in parts),
    )


def _block_ends(weights: Weights) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Per block its left end / 2^shift, and the x nearest to 0 and farthest from it (rounded, as `rough` allows for)."""
    index = np.arange(-weights.reach * (weights.sides - 1), weights.reach)
    left = index.astype(np.float64) * (1 << weights.shift)
    right = left + ((1 << weights.shift) - 1)
    return index, np.where(index >= 0, left, right), np.where(index >= 0, right, left)


def _tail_masses(weights: Weights) -> list[float]:
    """Upper bounds of p(T)/(1 - e^{-1/r}) / 2^shift for the right and the left tail."""

    def mass(start: int) -> float:
        def exact() -> Ball:
            return weights.tail_most(start) / (1 - (-1 / ball(weights.fall(start))).exp()) / (1 << weights.shift)

        return max(enclosure(exact)[1], _TINY)

    start = weights.reach << weights.shift
    return [mass(start), mass(start + 1) * (weights.sides - 1)]


def _cells(most: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    """Numbers n_b with n_b · unit ≥ most, rounded up safely."""
    return np.maximum(1, np.ceil(most / unit * (1 + 2.0**-50))).astype(np.int64)


def _unit(most: NDArray[np.float64], cells: int) -> float:
    """About the smallest weight of a cell with which all blocks fit into the cells."""
    total, blocks = float(most.sum()), most.size
    low, high = total / cells, total / (cells - blocks - 1)  # Σ ceil(m/high) ≤ Σ m/high + blocks < cells
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (low, middle) if int(_cells(most, middle).sum()) <= cells else (middle, high)
    return high


def _freeze(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
