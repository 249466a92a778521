"""The lines of a block of CSV taken apart all at once, with the meaning of `csv_lines.split_line` line by line.

A line by itself is read by an automaton: quotes change between outside and inside, commas outside separate. What a run of
quotes does depends on three facts alone: whether it is odd, and whether a comma or an end of the line stands before and
after it. Each run then sends {outside, inside} to one of them, whatever came before, or leaves it, or exchanges the two,
or is a fault from one of them. So the states of all lines follow from one running maximum and one running sum, and a
line that is well-formed takes about as long as one that is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Marks", "marks_of"]

_END, _COMMA, _QUOTE, _NUL = 1, 2, 3, 4
_KINDS = np.zeros(256, dtype=np.uint8)
_KINDS[[ord("\n"), ord(","), ord('"'), 0]] = _END, _COMMA, _QUOTE, _NUL

Places = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What the bytes of a block of whole lines are.

    Args:
        ends: the places of the line ends.
        commas: for each line, the number of commas outside of quotes.
        faults: for each line, whether its quotes are not well-formed, or a NUL stands in it.
        quoted: for each line, whether a quote stands in it.
        separators: the places of the commas outside of quotes. In a line with a fault they have no meaning.
        spare: the places of the quotes that belong to no cell: those around a cell, and one of each two within. As before.
    """

    ends: Places
    commas: NDArray[np.int32]
    faults: Truths
    quoted: Truths
    separators: Places
    spare: Places


def marks_of(data: NDArray[np.uint8]) -> Marks:
    """The marks of a block of bytes that ends with a line end.

    The places of quotes in a run of quotes are chosen from its end, which is the same text.
    """
    kinds = _KINDS[data]
    places = np.flatnonzero(kinds)
    marks = kinds[places]
    inside, wrong, spare = _quotes(kinds, places, marks)
    ends = np.flatnonzero(marks == _END)
    separators = (marks == _COMMA) & ~inside
    return Marks(
        places[ends],
        _per_line(separators, ends),
        _per_line(wrong | (marks == _NUL), ends) > 0,
        _per_line(marks == _QUOTE, ends) > 0,
        places[separators],
        spare,
    )


def _per_line(chosen: Truths, ends: Places) -> NDArray[np.int32]:
    return np.diff(np.cumsum(chosen, dtype=np.int32)[ends], prepend=np.int32(0))


def _quotes(kinds: NDArray[np.uint8], places: Places, marks: NDArray[np.uint8]) -> tuple[Truths, Truths, Places]:
    """For each mark, whether it stands inside of quotes and whether it is a fault; the places of the spare quotes."""
    quotes = np.flatnonzero(marks == _QUOTE)
    inside, wrong = np.zeros(len(marks), dtype=bool), np.zeros(len(marks), dtype=bool)
    if not len(quotes):
        return inside, wrong, quotes
    where = places[quotes]
    firsts = np.flatnonzero(np.diff(where, prepend=-2) != 1)
    lengths = np.diff(firsts, append=len(where))
    runs, odd = quotes[firsts], (lengths & 1).astype(bool)
    # Before the first byte of a block, and after its last quote, a line ends: -1 is the line end of the block itself.
    before, after = (kinds[at] - np.uint8(1) < 2 for at in (where[firsts] - 1, where[firsts] + lengths))
    inside = _inside(marks == _END, runs, closing=odd & ~before, opening=before & ~after, swapping=odd & before & after)
    within = inside[runs]
    wrong[runs] = ~after & np.where(odd, within, before & ~within)
    wrong |= (marks == _END) & inside
    kept = np.where(within | before, (lengths - (before & ~within)) >> 1, lengths)
    nth = np.arange(len(where)) - np.repeat(firsts + kept, lengths)
    return inside, wrong, where[nth >= 0]


def _inside(ends: Truths, runs: Places, *, closing: Truths, opening: Truths, swapping: Truths) -> Truths:
    """Whether each mark stands inside of quotes, given what the first quote of each run does; lines begin outside."""
    fixed, opened, swaps = ends.copy(), np.zeros(len(ends), dtype=bool), np.zeros(len(ends), dtype=np.uint8)
    fixed[runs], opened[runs], swaps[runs] = closing | opening, opening, swapping
    swaps = np.cumsum(swaps, dtype=np.uint8)  # only whether it is odd has a meaning
    places = np.arange(1, len(ends) + 1, dtype=np.int32)
    last = np.maximum.accumulate(np.where(fixed, places, np.int32(0)))  # 0: the line end before the block
    opened, swaps = np.append(False, opened), np.append(np.uint8(0), swaps)
    before = opened[last] ^ ((swaps[1:] ^ swaps[last]) & 1).astype(bool)
    return np.append(False, before[:-1])
