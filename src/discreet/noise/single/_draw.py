"""Draws from block envelopes, a chunk at a time: a few passes over arrays for all, certified arithmetic for the rest.

Which draws need a closer look depends only on random bits. Each is decided from the same uniform V: first its 16 bits,
then 64 bits against A in double precision with a margin that covers every rounding error, then as many more bits, and
as many bits of A, as it takes. V is extended, never drawn again: drawing it again would bias the law.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.noise._lazy import LazyUniform
from discreet.noise.bits import Bits
from discreet.noise.single import _reference
from discreet.noise.single._centres import Centres, Stretch
from discreet.noise.single.tables import Envelope

__all__ = ["STRIDE", "draw", "draw_around"]

STRIDE = 1 << 16  # what stays in the cache of a core during the first test
_CHUNK = 1 << 18  # what goes through the second test together
_FAMILY_CHUNK = 1 << 20  # the places whose rejected candidates are drawn again together
_INSIDE = 1 << 62  # values below it keep int64, also after a centre of at most 2^61 was added
_SLACK = 2.0**-50  # more than the rounding of V to 53 bits and of the products below, all of them at most 1


def draw(table: Envelope, size: int, bits: Bits) -> NDArray[np.int64]:
    """`size` independent draws. An array of Python integers in the (unseen) case that one does not fit into int64."""
    out = np.empty(size, dtype=np.int64)
    scratch = _Scratch(min(size, STRIDE))
    done = 0
    while done < size:
        candidates = out[done : done + _CHUNK]
        rejected, beyond = _candidates(table, candidates, scratch, bits)
        if beyond:
            out = out.astype(object)
            candidates = out[done : done + _CHUNK]
            for position, x in beyond:
                candidates[position] = x
        done += _close_gaps(candidates, rejected)
    return out


def draw_around(table: Envelope, centres: Centres, bits: Bits) -> NDArray[np.int64]:
    """One draw about every centre, from the table of a family `centred_weights`. Python integers as in `draw`."""
    out: NDArray[Any] = np.empty(centres.size, dtype=np.int64)
    scratch = _Scratch(min(centres.size, STRIDE))
    for start in range(0, centres.size, _FAMILY_CHUNK):
        stop = min(start + _FAMILY_CHUNK, centres.size)
        todo: list[slice | NDArray[np.intp]] = [slice(i, min(i + STRIDE, stop)) for i in range(start, stop, STRIDE)]
        while todo:
            again = []
            for places in todo:
                x = out[places] if isinstance(places, slice) else np.empty(places.size, dtype=np.int64)
                x, rejected = _around(table, x, centres.split(places), scratch, bits)
                if x.dtype == object:
                    out = out.astype(object)
                out[places] = x
                again.append(rejected + places.start if isinstance(places, slice) else places[rejected])
            left = np.concatenate(again)
            todo = [left[i : i + STRIDE] for i in range(0, left.size, STRIDE)]
    return out


def _around(
    table: Envelope, x: NDArray[Any], centres: Stretch, scratch: _Scratch, bits: Bits
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """One candidate about every centre, in x where it can be; and the places rejected."""
    rejected, beyond = _candidates(table, x, scratch, bits, centres)
    if beyond:
        x = x.astype(object)
        for position, far in beyond:
            x[position] = far
    x[rejected] = 0  # a rejected candidate means nothing, and may lie anywhere
    x += centres.whole
    return x, rejected


class _Scratch:
    """Memory that the strides of one call share: fresh pages for each would cost more than the arithmetic."""

    __slots__ = ("cells", "packed", "room")

    def __init__(self, size: int) -> None:
        self.cells = np.empty(size, dtype=np.intp)
        self.packed = np.empty(size, dtype=np.int32)
        self.room = np.empty(size, dtype=np.uint64)

    def random(self, count: int, kind: type[np.unsignedinteger[Any]], bits: Bits) -> NDArray[Any]:
        """`count` uniform numbers of that kind, valid until the next call."""
        room = self.room.view(kind)[:count]
        bits.fill(room)
        return room


def _close_gaps(candidates: NDArray[Any], rejected: NDArray[np.intp]) -> int:
    """Moves the last accepted candidates into the places of rejected ones; returns how many there are.

    The moves depend on which places were rejected and not on the values, which stay independent draws of the law.
    """
    kept = candidates.size - rejected.size
    if not rejected.size:
        return kept
    split = int(np.searchsorted(rejected, kept))
    spare = np.ones(rejected.size, dtype=bool)
    spare[rejected[split:] - kept] = False
    candidates[rejected[:split]] = candidates[kept:][spare]
    return kept


class _Open(NamedTuple):
    """Candidates that the first 16 bits of V did not accept: where they stand, their cells, and these bits."""

    places: NDArray[np.intp]
    cells: NDArray[np.intp]
    v16: NDArray[np.uint16]


def _candidates(
    table: Envelope, out: NDArray[Any], scratch: _Scratch, bits: Bits, centres: Stretch | None = None
) -> tuple[NDArray[np.intp], list[tuple[int, int]]]:
    """One candidate for every place of `out`; the places rejected, and accepted values that int64 does not hold."""
    found = []
    for start in range(0, out.size, STRIDE):
        cases = _first_test(table, out[start : start + STRIDE], scratch, bits, centres)
        if cases.places.size:
            found.append(_Open(cases.places + start, cases.cells, cases.v16))
    if not found:
        return np.empty(0, dtype=np.intp), []
    together = _Open(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
    return _second_test(table, together, out, bits, centres)


def _first_test(table: Envelope, out: NDArray[Any], scratch: _Scratch, bits: Bits, centres: Stretch | None) -> _Open:
    """A candidate for every place of `out`, and which of them need a closer look."""
    n = out.size
    packed, cells = scratch.packed[:n], scratch.cells[:n]
    cells[:] = scratch.random(n, np.uint16, bits)
    if len(table.units) > 1 and centres is not None:
        _into_parts(cells, len(table.units), centres.fraction, scratch)
    np.take(table.packed, cells, out=packed, mode="clip")  # 16 bits never leave the table: "clip" only skips a check
    v16 = scratch.random(n, np.uint16, bits)
    places = np.flatnonzero(v16 >= packed.astype(np.uint16))
    v16 = v16.take(places)
    _place(packed, table.weights.shift, out, scratch, bits)
    return _Open(places, cells.take(places), v16)


def _into_parts(cells: NDArray[np.intp], parts: int, fraction: NDArray[np.float64], scratch: _Scratch) -> None:
    """A uniform cell of the part (a power of two of them) in which the fraction lies, up to its rounding error."""
    place = scratch.room[: cells.size].view(np.float64)
    np.add(fraction, 0.5, out=place)
    place *= parts
    np.minimum(place, parts - 1, out=place)
    np.floor(place, out=place)
    place *= 1 << 16
    cells += place.astype(np.intp)
    cells >>= parts.bit_length() - 1  # part · (2^16 / parts) + a uniform cell among 2^16 / parts


def _place(packed: NDArray[np.int32], shift: int, out: NDArray[Any], scratch: _Scratch, bits: Bits) -> None:
    """Gives every place x = left end of the block + uniform offset below 2^shift."""
    if shift == 0:
        packed >>= 16
        out[:] = packed
        return
    packed &= np.int32(-(1 << 16))
    if shift <= 16:  # (left · 2^16 + 16 uniform bits) / 2^(16 - shift), rounded down
        packed += scratch.random(packed.size, np.uint16, bits)
        packed >>= 16 - shift
        out[:] = packed
        return
    kind: type[np.unsignedinteger[Any]] = np.uint32 if shift <= 32 else np.uint64
    offset = scratch.random(packed.size, kind, bits)
    offset >>= kind(8 * offset.itemsize - shift)
    out[:] = packed
    out <<= shift - 16
    out |= offset if shift <= 32 else offset.view(np.int64)


def _second_test(
    table: Envelope, cases: _Open, out: NDArray[Any], bits: Bits, centres: Stretch | None
) -> tuple[NDArray[np.intp], list[tuple[int, int]]]:
    """Decides the open cases: the places rejected, and accepted values that int64 does not hold."""
    block = table.block_of.take(cases.cells)
    possible = np.flatnonzero(cases.v16 < table.high.take(block))
    block, where = block.take(possible), cases.places.take(possible)
    v = cases.v16.take(possible).astype(np.uint64)
    v <<= np.uint64(48)
    v |= bits.words(possible.size) >> np.uint64(16)
    x = out.take(where).astype(np.float64)
    if centres is not None:
        x *= x - 2 * centres.fraction.take(where)
    a = table.weights.rough(x)
    a *= table.factor.take(block)
    yes, unsure = _compare(v, a, table.margin)
    beyond: list[tuple[int, int]] = []
    for i in np.flatnonzero(unsure).tolist():
        place, uniform = int(where[i]), LazyUniform(bits, value=int(v[i]), known=64)
        point = _itself if centres is None else partial(centres.point, place)
        candidate, yes[i] = _decide(table, int(out[place]), int(block[i]), uniform, point)
        if -_INSIDE <= candidate < _INSIDE:
            out[place] = candidate
        elif yes[i]:
            beyond.append((place, candidate))
    rejected = np.ones(cases.places.size, dtype=bool)
    rejected[possible[yes]] = False
    return cases.places[rejected], beyond


def _compare(v: NDArray[np.uint64], a: NDArray[np.float64], margin: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The places where V < A for sure, and the places that are not sure. V is known to 64 bits; NaN is never sure."""
    known = (v >> np.uint64(11)).astype(np.float64) * 2.0**-53  # V lies in [known, known + 2^-53]
    yes = known <= a * (1 - margin) - _SLACK
    no = known >= a * (1 + margin) + _SLACK
    return yes, ~(yes | no)


def _itself(x: int) -> int | Fraction:
    return x


def _decide(
    table: Envelope, x: int, block: int, uniform: LazyUniform, point: Callable[[int], int | Fraction]
) -> tuple[int, bool]:
    """The candidate (a tail's is drawn here) and whether it is accepted, by certified arithmetic."""
    side = table.tail_side(block)
    if side == 0:
        return x, uniform.below(lambda: table.central_acceptance(point(x), block))
    start = table.tail_start(side)
    y = _reference.geometric(table.weights.fall(start), uniform.bits)
    x = side * (start + y)
    return x, uniform.below(lambda: table.tail_acceptance(point(x), y, block))
