"""The keys of a cube as columns of 64-bit integers, the way an engine groups by them.

On a coarse grid every axis is a column: engines count few groups of small keys in an array. On a fine one, neighbouring axes
are put together into one number: a hash table of millions of cells takes the time and the memory of its keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import blocks
from discreet.cube.value_paths import CategoryPath, KeyAxis

__all__ = ["Word", "unpack", "word_sql", "words_of"]

_FINE = 2**20
"""A grid of more cells is fine. Up to some 200,000 groups one number took longer than a key for each axis."""

_BOUND = 2**62


@dataclass(frozen=True, slots=True)
class Word:
    """Neighbouring axes as one number: for labels x and least labels l of two axes (x0 - l0)·size1 + x1 - l1, and so on.

    An axis by itself is left as it is. Numbers of words are in the order of their labels.
    """

    least: tuple[int, ...]
    sizes: tuple[int, ...]


def words_of(axes: Sequence[KeyAxis]) -> tuple[Word, ...]:
    """The words of these axes, in order; every axis is in one of them. Decided by public ranges alone."""
    ranges = [_range(axis) for axis in axes]
    bound = _BOUND if prod(most - least + 1 for least, most in ranges) > _FINE else 0
    words: list[Word] = []
    together = bound  # what the axes of the last word have taken of the bound; at first as if nothing were left
    for least, most in ranges:
        size = most - least + 1
        together *= size
        if words and together < bound:
            words[-1] = Word((*words[-1].least, least), (*words[-1].sizes, size))
        else:
            words.append(Word((least,), (size,)))
            together = size
    return tuple(Word((0,), word.sizes) if len(word.sizes) == 1 else word for word in words)


def _range(axis: KeyAxis) -> tuple[int, int]:
    """The least and the largest label or mark that an engine can find on an axis."""
    path = axis.path
    if isinstance(path, CategoryPath):
        return min(path.null_target, *path.targets), max(path.null_target, *path.targets)
    first, last = (path.low, path.high) if axis.cuts is None else (0, len(axis.cuts))
    return min(path.null_target, first), max(path.null_target, last)


def word_sql(word: Word, labels: Sequence[str]) -> str:
    """The number of a word, in SQL, of labels that are not null."""
    text = ""
    for label, least, size in zip(labels, word.least, word.sizes, strict=True):
        part = f"{label} - {least}" if least > 0 else f"{label} + {-least}" if least else label
        text = f"({text}) * {size} + {part}" if text else part
    return text


def unpack(words: Sequence[Word], numbers: Iterable[NDArray[np.int64]], cells: int) -> NDArray[np.int64]:
    """The labels: int64, shape (cells, axes), each axis in a separate piece of memory.

    Args:
        words: as `words_of` gives them.
        numbers: one array for each word, taken one after the other, so that they need not be in memory together.
        cells: the length of each.
    """
    keys = np.empty((cells, sum(len(word.sizes) for word in words)), dtype=np.int64, order="F")
    first = 0
    for word, number in zip(words, numbers, strict=True):
        columns = keys[:, first : first + len(word.sizes)]
        for some in blocks(cells):
            _unpack(word, number[some], columns[some])
        first += len(word.sizes)
    return keys


def _unpack(word: Word, rest: NDArray[np.int64], into: NDArray[np.int64]) -> None:
    for place in reversed(range(1, len(word.sizes))):
        above = rest // word.sizes[place]
        into[:, place] = rest - above * word.sizes[place] + word.least[place]
        rest = above
    into[:, 0] = rest + word.least[0]
