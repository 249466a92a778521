"""Few sets of columns for many wanted ones: every wanted set is in one of them, and each has a bounded number of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

__all__ = ["cover"]


def cover(wanted: Sequence[frozenset[str]], sizes: Mapping[str, int], most: int) -> list[list[int]]:
    """The positions of the wanted sets in groups: the columns of a group have at most `most` cells together.

    A group begins with the largest set that is left. It takes the column next that lets it hold the most sets for its size,
    until none fits. A set that is too large by itself is alone, but for those within it.

    Args:
        wanted: sets of columns.
        sizes: of every column, at least 1.
        most: cells.
    """
    names = sorted({name for one in wanted for name in one})
    bits = {1 << place: sizes[name] for place, name in enumerate(names)}
    places = {name: 1 << place for place, name in enumerate(names)}
    masks = [sum(places[name] for name in one) for one in wanted]
    left = sorted(range(len(wanted)), key=lambda one: -prod(sizes[name] for name in wanted[one]))
    groups = []
    while left:
        mask = _grow(masks[left[0]], [masks[one] for one in left], bits, most)
        groups.append([one for one in left if not masks[one] & ~mask])
        left = [one for one in left if masks[one] & ~mask]
    return groups


def _grow(mask: int, masks: Sequence[int], sizes: Mapping[int, int], most: int) -> int:
    """The set with further columns: next is the one that adds the most wanted sets for each bit of its size."""
    cells = prod(size for bit, size in sizes.items() if mask & bit)
    while True:
        gains = dict.fromkeys((bit for bit, size in sizes.items() if not mask & bit and cells * size <= most), 0)
        if not gains:
            return mask
        for one in masks:
            rest = one & ~mask
            if rest in gains:  # one column short
                gains[rest] += 1
        best = max(gains, key=lambda bit: (gains[bit] / max(1, sizes[bit].bit_length()), -sizes[bit]))
        mask, cells = mask | best, cells * sizes[best]
