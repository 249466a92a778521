"""The lines of a block of CSV taken apart all at once, with the meaning of `csv_lines.split_line` line by line.

A line by itself is read by an automaton: quotes change between outside and inside, commas outside separate. What a run of
quotes does depends on three facts alone: whether it is odd, and whether a comma or an end of the line stands before and
after it. Each run then sends {outside, inside} to one of them, whatever came before, or leaves it, or exchanges the two,
or is a fault from one of them.

All lines are read in step: one long integer has a bit for each byte of which something is true, and the carries of a sum
run from the byte where something begins to the byte where it ends. So time follows the number of bytes, and hardly what
they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CUT", "Marks", "Truths", "marks_of"]

_END, _COMMA, _QUOTE, CUT = np.frombuffer(b'\n,"\r', dtype=np.uint8)

Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What is true of each byte of a block of whole lines.

    Args:
        ends: it is a line end.
        separators: it is a comma outside of quotes.
        spare: it is a quote that belongs to no cell: one of those around a cell, or one of each two within.
        faults: it is NUL or CUT, or shows that the quotes of its line are not well-formed. In a line with a fault,
            separators and spare quotes have no meaning.
    """

    ends: Truths
    separators: Truths
    spare: Truths
    faults: Truths


def marks_of(data: NDArray[np.uint8]) -> Marks:
    """The marks of a block of bytes that ends with a line end. No line has a CUT: a carriage return ended it before."""
    ends, commas, quotes = data == _END, data == _COMMA, data == _QUOTE
    faults: Truths = (data == 0) | (data == CUT)
    if not quotes.any():
        return Marks(ends, commas, quotes, faults)
    found = _runs(_bits(quotes), _bits(ends | commas), _bits(ends), int.from_bytes(b"\x55" * (len(data) // 8 + 1), "little"))
    inside, spare, wrong = (_truths(bits, len(data)) for bits in found)
    return Marks(ends, commas & ~inside, spare, faults | wrong | (ends & inside))


def _bits(truths: Truths) -> int:
    """The integer whose bit i is truth i."""
    return int.from_bytes(np.packbits(truths, bitorder="little").tobytes(), "little")


def _truths(bits: int, count: int) -> Truths:
    """The truths of an integer, the first bits of it."""
    packed = np.frombuffer(bits.to_bytes(-(-count // 8), "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=count, bitorder="little").view(bool)


def _runs(quotes: int, edges: int, ends: int, even: int) -> tuple[int, int, int]:
    """Where the bytes are that stand inside of quotes, spare quotes, and bytes behind a run that is a fault.

    A run stands for its first byte before it has its effect, and for the byte behind it afterwards. The first byte of a
    line is behind the line end, which closes what is open. `even` are all even places.
    """
    firsts = _without(quotes, quotes << 1)
    bordered = firsts & (edges << 1 | 1)  # before the block a line ended
    evens = firsts & even
    odd = _without(_behind(quotes, evens), even) | (_behind(quotes, firsts ^ evens) & even)
    before, after = _behind(quotes, bordered), quotes << 1 & edges
    closing, opening = _without(odd, before) | ends << 1, _without(before, after)
    inside = _inside(closing, opening, swapping=odd & before & after)
    within = firsts & inside
    opened = _behind(quotes, within)
    wrong = _without((odd & opened) | _without(before, odd | opened), after)
    whole = _whole(quotes, evens)
    nth_odd = (whole & even) | _without(quotes ^ whole, even)  # the first, third, … of each run
    return inside, quotes ^ _kept(quotes, firsts, within, bordered, nth_odd), wrong


def _kept(quotes: int, firsts: int, within: int, bordered: int, nth_odd: int) -> int:
    """The quotes that belong to a cell, given the first quotes of runs: of all, of those inside, of those behind an edge.

    Of a run inside, the second of each two; of a run that opens a cell, the same behind its first; of another run all.
    """
    text = _whole(quotes, _without(firsts, within | bordered))
    inner = _whole(quotes, within)
    outer = quotes ^ text ^ inner
    return text | _without(inner, nth_odd) | _without(outer & nth_odd, firsts)


def _inside(closing: int, opening: int, swapping: int) -> int:
    """Where quotes are open, given where something closes them, opens them, or exchanges the two.

    Between places that close or open, the state changes with the number of places that exchange. So relative to the parity
    of that number since the start of the block, the state changes at places that close or open alone.
    """
    every = (1 << max(closing, opening).bit_length()) - 1
    parity = _parity(swapping, every)
    turned = (closing ^ opening) & parity
    down, up = closing ^ turned, opening ^ turned
    free = down ^ every
    # The first `up` in a stretch without `down` clears what follows, up to the next `down`; other ones are set again.
    return (((free + up) ^ free | up) & free) ^ parity


def _parity(bits: int, every: int) -> int:
    """Where the number of bits up to there, with it, is odd."""
    shift = 1
    while bits and shift < every.bit_length():
        bits ^= bits << shift & every
        shift *= 2
    return bits


def _without(some: int, others: int) -> int:
    return some ^ (some & others)


def _behind(quotes: int, firsts: int) -> int:
    """The bytes behind the runs of quotes that begin at `firsts`: a sum clears such a run and carries one to the next."""
    return _without(quotes + firsts, quotes)


def _whole(quotes: int, firsts: int) -> int:
    """All quotes of the runs that begin at `firsts`."""
    return _without(quotes, quotes + firsts)
