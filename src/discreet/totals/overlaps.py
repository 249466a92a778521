"""The semi-adjacency of totals and of occupied cells that cross them, such as counties, and types of facility by state.

Within a block every class of the totals meets every set of cells of which it is published that a row is there. Then three
rows are enough, and when two are is a closed form (docs/proofs/semi-adjacency.md, A11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.totals.classes import disjoint_sets

__all__ = ["Block", "blocks_of", "rows_of_blocks"]

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """Classes of cells that the same sets cross.

    Args:
        classes: how many classes there are.
        sets: how many sets, in each of which a row lies.
        rest: whether each class has cells outside of the sets.
        least: the rows of the smallest class; None before the totals are published.
        rows: the rows of all its classes; None before they are published.
    """

    classes: int
    sets: int
    rest: bool
    least: int | None
    rows: int | None


def blocks_of(lists: Sequence[_Ints], owner: _Ints, totals: _Ints | None) -> tuple[Block, ...] | None:
    """The blocks of the cells, `owner` their classes; None where sets overlap, or a class of a block misses some set."""
    held = disjoint_sets(lists, owner)
    if held is None:
        return None
    _, classes = np.unique(owner, return_inverse=True)
    classes = classes.reshape(-1)
    numbers = np.unique(owner)
    block = _connect(classes, held)
    found = []
    for number in np.unique(block):
        here = block[classes] == number
        members = np.flatnonzero(block == number)
        sets = len(np.unique(held[here & (held >= 0)]))
        rest = len(np.unique(classes[here & (held < 0)]))
        pairs = np.unique(np.stack([classes[here], held[here]]), axis=1).shape[1]
        if rest not in {0, len(members)} or pairs != len(members) * (sets + (rest > 0)):
            return None
        rows = None if totals is None else totals[numbers[members]]
        least, most = (None, None) if rows is None else (int(rows.min()), int(rows.sum()))
        found.append(Block(len(members), sets, rest > 0, least, most))
    return tuple(found)


def _connect(classes: _Ints, held: _Ints) -> _Ints:
    """For each class the smallest class to which shared sets connect it."""
    block = np.arange(int(classes.max()) + 1, dtype=np.int64)
    there = held >= 0
    while True:
        least = np.full(int(held.max(initial=0)) + 1, len(block), dtype=np.int64)
        np.minimum.at(least, held[there], block[classes[there]])
        lower = block.copy()
        np.minimum.at(lower, classes[there], least[held[there]])
        if (lower == block).all():
            return block
        block = lower


def rows_of_blocks(blocks: Sequence[Block]) -> int:
    """a(t), exactly, where two classes have rows; before the totals are published the largest over all of them (A11)."""
    return 3 if any(_takes_three(block, alone=len(blocks) == 1) for block in blocks) else 2


def _takes_three(block: Block, *, alone: bool) -> bool:
    """True if all rows of a class can be the only ones in their sets, while another row comes in.

    A row of the same block that comes in may itself be the only one in its set; one of another block leaves its own whole.
    """
    if block.classes < 2:
        return False
    least = 1 if block.least is None else block.least
    into_a_set = block.sets >= least + (2 if alone else 1)
    # Before the totals are published some of the sets may turn out to hold nobody, and there may be any number of rows.
    spare = block.rows is None or block.rows >= block.sets + 1
    return into_a_set or (block.rest and spare and block.sets >= least + (1 if alone else 0))
