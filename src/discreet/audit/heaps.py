"""The numbers of records at each code for which one record more changes the choice of quantiles the most.

A heap of equal codes wins a choice by how deep the wanted rank lies in it. Where the rank lies just inside of it, on the
side of the other records, a record more among these makes the heap less likely by e^(range/2) and every code beyond it more
likely by as much. Three shapes are made of that:

* Two heaps: one choice of the tree is balanced like that; all choices before it are sure.
* A chain: every choice on the way to an end of the tree is, each inside of the part that the one before leaves, and the
  record that differs lies at the far end of all of them. The losses of all levels add up.
* A fork: the first choice and both of those after it are, for a record that leaves one end of the data for the other.

How deep is best depends on the noise that is really there, which is under test, so that several depths are offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log

from discreet.mechanisms import ExponentialQuantiles

__all__ = ["Heaps", "shapes"]

_PIECES = 16
_DEPTHS = (1.0, 0.5, 0.2, 0.07)
"""At 1 other codes than the heap win about one time in twenty; the rest shows choices that are sharper than declared."""
_FEW = 4
_SURE = 6
"""By how much a piece of a heap that holds the wanted rank beats the next one where a choice is sure: a logarithm."""
_MOST = 1 << 30
_MOST_SINGLE = 3


@dataclass(frozen=True, slots=True)
class Heaps:
    """Records of one cell on a few codes, and the record that differs.

    Args:
        counts: how many records have the first code, the second one, and so on; codes ascend.
        to: the number of the code that gets more.
        of: the number of the code that has as many less where records are replaced.
        path: which quantiles the difference is seen in, as places among those that are asked.
    """

    counts: tuple[int, ...]
    to: int
    of: int
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    """One choice of the tree: its place, its q in the part that it is made in, and the choices that lead to it."""

    place: int
    inner: Fraction
    parts: bool
    path: tuple[int, ...]
    upper: bool | None


def shapes(law: ExponentialQuantiles, codes: int, records: int | None) -> Iterator[Heaps]:
    """The shapes worth trying.

    Args:
        law: the law of the choices.
        codes: how many different codes a record can have.
        records: how many records the cell has, None where they may be as many as it takes.
    """
    tree = {choice.place: choice for choice in _tree(law.at)}
    for depth in _DEPTHS:
        for upper in (True, False):
            path = _side(tree, law, upper)[: codes - 1]
            yield from _chain(law, path, upper=upper, depth=depth, records=records)
        if records is not None and codes > 3:
            yield from _fork(tree, law, depth=depth, records=records)
        for choice in _choose_attacks(tree):
            for sure in {False, len(choice.path) > 1}:
                yield from _two(law, choice, depth=depth, sure=sure, records=records)


def _tree(at: tuple[Fraction, ...]) -> Iterator[_Choice]:
    todo: list[tuple[int, int, Fraction, Fraction, tuple[int, ...], bool | None]]
    todo = [(0, len(at), Fraction(0), Fraction(1), (), None)]
    while todo:
        first, last, low, high, before, upper = todo.pop()
        if first == last:
            continue
        place = (first + last) // 2
        path = (*before, place)
        yield _Choice(place, (at[place] - low) / (high - low), last - first > 1, path, upper)
        todo += [(first, place, low, at[place], path, False), (place + 1, last, at[place], high, path, True)]


def _side(tree: dict[int, _Choice], law: ExponentialQuantiles, upper: bool) -> list[_Choice]:  # noqa: FBT001
    """The choices from the first one to the choice of the largest quantile, or of the smallest."""
    return [tree[place] for place in tree[len(law.at) - 1 if upper else 0].path]


def _choose_attacks(tree: dict[int, _Choice]) -> list[_Choice]:
    """The choices worth attacking one by one: the first, and those whose q is furthest from the middle of their part."""
    root, *others = sorted(tree.values(), key=lambda one: (len(one.path) > 1, -abs(one.inner - Fraction(1, 2))))
    return [root, *others[: _MOST_SINGLE - 1]]


def _inside(law: ExponentialQuantiles, choice: _Choice, depth: float) -> float:
    """The number of records by which the wanted rank is inside the heap."""
    candidates = law.size * (_PIECES if choice.parts else 1)
    return depth * (log(candidates) + 3) * float(max(choice.inner, 1 - choice.inner)) / float(law.reach)


def _find_margin(law: ExponentialQuantiles) -> float:
    """The distance from an end of the data within which the smallest and the largest record are looked for."""
    return 2 * log(law.size) / float(law.reach)


def _two(law: ExponentialQuantiles, choice: _Choice, *, depth: float, sure: bool, records: int | None) -> Iterator[Heaps]:
    """Two heaps, with the wanted rank just inside of the larger one."""
    for upper in (True, False) if choice.upper is None else (choice.upper,):
        q = float(law.at[choice.place] if upper else 1 - law.at[choice.place])
        inside = _inside(law, choice, depth)
        if records is None:
            heap, others = _free(law, q, inside, sure=sure)
        else:
            others = records - round(q * records + inside) if q < 1 else round(min(_find_margin(law), records / 2) - inside)
            others = min(max(others, 1), max(records - 1, 0))
            heap = records - others
        counts = (heap, others) if upper else (others, heap)
        if q > 0 and min(counts) > 0 and max(counts) <= _MOST:
            yield Heaps(counts, to=int(upper), of=1 - int(upper), path=choice.path)


def _free(law: ExponentialQuantiles, q: float, inside: float, *, sure: bool) -> tuple[int, int]:
    """The records of the heap and of the others, where there may be as many as it takes."""
    if q == 1:
        others = max(1, round(_find_margin(law) - inside))
        return 4 * others + ceil(2 * _find_margin(law)), others
    others = _FEW
    if sure and q > 0:
        others = max(others, ceil(_PIECES * _SURE / float(law.reach) * (1 - q) / q))
    return ceil((inside + q * others) / (1 - q)), others


def _chain(
    law: ExponentialQuantiles, path: list[_Choice], *, upper: bool, depth: float, records: int | None
) -> Iterator[Heaps]:
    """A heap for each choice of the path, and a few records at the end of it."""
    counts = _build_chain(law, path, upper, depth, _FEW)
    if records is not None:
        largest = 1
        while sum(_build_chain(law, path, upper, depth, 2 * largest)) <= records:
            largest *= 2
        step = largest
        while step := step // 2:
            if sum(_build_chain(law, path, upper, depth, largest + step)) <= records:
                largest += step
        counts = _build_chain(law, path, upper, depth, largest)
        counts[0] += records - sum(counts)
    if not path or min(counts) < 1 or max(counts) > _MOST:
        return
    places = path[-1].path
    last = len(counts) - 1
    for of in sorted({0, last - 1}):
        if upper:
            yield Heaps(tuple(counts), to=last, of=of, path=places)
        else:
            yield Heaps(tuple(reversed(counts)), to=0, of=last - of, path=places)


def _fork(tree: dict[int, _Choice], law: ExponentialQuantiles, *, depth: float, records: int) -> Iterator[Heaps]:
    """The first choice and both of those after it, for a record that leaves one end of the data for the other."""
    root, *after = sorted((one for one in tree.values() if len(one.path) < 3), key=lambda one: (len(one.path), one.place))
    if len(after) < 2:
        return
    lower, upper = after
    half = float(root.inner) * records + _inside(law, root, depth)
    low = round(float(lower.inner) * half - _inside(law, lower, depth))
    high = round(float(1 - upper.inner) * (records - half) - _inside(law, upper, depth))
    counts = (low, round(half) - low, records - round(half) - high, high)
    if min(counts) > 0:
        yield Heaps(counts, to=3, of=0, path=(lower.place, root.place, upper.place))


def _build_chain(law: ExponentialQuantiles, path: list[_Choice], upper: bool, depth: float, base: int) -> list[int]:  # noqa: FBT001
    """The heaps from the first choice to the last, and the records at the end."""
    heaps = [base]
    for choice in reversed(path):
        q = min(float(choice.inner if upper else 1 - choice.inner), 0.9)
        rest = sum(heaps)
        heaps.append(ceil((_inside(law, choice, depth) + q * rest) / (1 - q)))
    return heaps[::-1]
