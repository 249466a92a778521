"""The candidates of one choice of a quantile in every cell: runs of codes of equal loss, as `quantile_choice` has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Integers", "Node", "Runs", "Slice", "pieces_of", "runs_of"]

_MOST_PIECES = 16
_MOST_CANDIDATES = 1 << 20
_WIDE = 1 << 20  # denominators from which ranks may leave 64 bits, whatever the data

Integers = NDArray[np.int64]


def pieces_of(size: int) -> int:
    """The number of pieces of a heap on a grid of this many codes: fewer on a fine grid, to save memory."""
    return max(1, min(_MOST_PIECES, _MOST_CANDIDATES // size))


@dataclass(frozen=True, slots=True)
class Node:
    """The choice of one quantile among those from `first` to `last` (not included), relative to the part that it is in.

    `over`/`unit` is its q there; `end` is the distance kept from an end of the data, in 1/unit records, where q is 0 or 1;
    `pieces` is the number of pieces into which other choices part the records at a code, 0 where there are none.
    """

    first: int
    last: int
    place: int
    over: int
    unit: int
    end: int
    pieces: int

    @property
    def largest(self) -> int:
        """The largest change of a loss by one record, in 1/unit records."""
        return max(self.over, self.unit - self.over)

    def target(self, records: NDArray[Any]) -> NDArray[Any]:
        """The number of records before it, in 1/unit records: q times all, but a distance from the ends of the data."""
        inwards: NDArray[Any] = np.minimum(records, self.end)
        if self.over == 0:
            return inwards
        return self.over * records - (inwards if self.over == self.unit else 0)


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """Records between two codes, both included, of every cell: `owner`, `code` and `count` sorted by cell and code."""

    low: Integers
    high: Integers
    owner: Integers
    code: Integers
    count: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Candidates of equal loss: `width` codes from `first`, `many` in the weight of a choice, `below` records go down."""

    first: Integers
    width: Integers
    many: Integers
    below: Integers
    loss: NDArray[Any]
    ends: Integers


@dataclass(frozen=True, slots=True, eq=False)
class _Stretches:
    """For every cell, in the order of the codes: a gap, the records at a code, a gap, …, the last gap; none is empty.

    `width` codes from `first`, all with `ahead` records before them and, where it is one code that has any, `heap` at it.
    """

    first: Integers
    width: Integers
    ahead: Integers
    heap: Integers
    owner: Integers


def runs_of(part: Slice, node: Node) -> Runs:
    """The candidates of a choice; every cell has at least one."""
    cells = len(part.low)
    upto = np.searchsorted(part.owner, np.arange(1, cells + 1))
    summed = np.concatenate([np.zeros(1, np.int64), np.cumsum(part.count)])
    before = np.concatenate([np.zeros(1, np.int64), upto[:-1]])
    stretches = _stretches(part, before, upto, summed)
    target = node.target(_wide(summed[upto] - summed[before], node))
    return _fine(stretches, target, node) if node.pieces else _whole(stretches, target, node)


def _stretches(part: Slice, before: Integers, upto: Integers, summed: Integers) -> _Stretches:
    """From the places in `part` where the records of a cell begin and end, and the records before each place."""
    cells, records = len(part.low), len(part.owner)
    first, width, ahead, heap, owner = np.zeros((5, 2 * records + cells), dtype=np.int64)
    gap = 2 * np.arange(records) + part.owner  # the gap before a record; the record itself comes next
    last = 2 * upto + np.arange(cells)
    previous = np.concatenate([np.zeros(1, np.int64), part.code[:-1]])[:records]
    starting = before[upto > before]
    previous[starting] = part.low[part.owner[starting]] - 1
    first[gap], width[gap] = previous + 1, part.code - previous - 1
    first[gap + 1], width[gap + 1], heap[gap + 1] = part.code, 1, part.count
    ahead[gap] = ahead[gap + 1] = summed[:-1] - summed[before][part.owner]
    ending = part.low - 1
    ending[upto > before] = part.code[upto[upto > before] - 1]
    first[last], width[last], ahead[last] = ending + 1, part.high - ending, summed[upto] - summed[before]
    owner[gap], owner[gap + 1], owner[last] = part.owner, part.owner, np.arange(cells)
    kept = width > 0
    return _Stretches(first[kept], width[kept], ahead[kept], heap[kept], owner[kept])


def _wide(counts: Integers, node: Node) -> NDArray[Any]:
    """Counts in integers that do not overflow when they are taken times the unit."""
    return counts if node.unit < _WIDE else counts.astype(np.object_)


def _whole(found: _Stretches, target: NDArray[Any], node: Node) -> Runs:
    """The last choice of its part: of codes alone."""
    wanted, ahead = target[found.owner], _wide(found.ahead, node)
    loss = np.maximum(node.unit * ahead - wanted, wanted - node.unit * (ahead + found.heap))
    nothing = np.zeros_like(found.width)
    return Runs(found.first, found.width, found.width, nothing, loss, _ends(found.owner, len(target)))


def _fine(found: _Stretches, target: NDArray[Any], node: Node) -> Runs:
    """A choice that parts the records: of a code and of one of p pieces of its records; half of the piece goes below.

    Piece j of E records reaches from j·E // p to (j + 1)·E // p, and its middle is ((2j + 1)·E + p) // (2p); one record more
    changes each of them by 0 or 1. The pieces of a gap are all alike, hence one candidate.
    """
    pieces = np.where(found.heap > 0, node.pieces, 1)
    run = np.repeat(np.arange(len(pieces)), pieces)
    piece = np.arange(len(run)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    heap, ahead, owner = found.heap[run], found.ahead[run], found.owner[run]
    starts, ends = ahead + piece * heap // node.pieces, ahead + (piece + 1) * heap // node.pieces
    wanted = target[owner]
    loss = np.maximum(node.unit * _wide(starts, node) - wanted, wanted - node.unit * _wide(ends, node))
    below = ((2 * piece + 1) * heap + node.pieces) // (2 * node.pieces)
    many = found.width[run] * np.where(heap > 0, 1, node.pieces)
    return Runs(found.first[run], found.width[run], many, below, loss, _ends(owner, len(target)))


def _ends(owner: Integers, cells: int) -> Integers:
    return np.searchsorted(owner, np.arange(1, cells + 1))
