"""The groups of operands, matched by their labels; missing ones are listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.errors import ArgumentError
from discreet.releases.derived.operands import Key, Numbers
from discreet.releases.derived.reading import Published

__all__ = ["Matched", "match"]


@dataclass(frozen=True, slots=True)
class Matched:
    """The groups that two operands share.

    Args:
        keys: the columns of the groups: the columns of the first operand.
        pairs: for each group the number of the first operand and of the second.
        first_only: groups that the second operand has no number for.
        second_only: groups of the second operand that the first has no number for.
    """

    keys: tuple[str, ...]
    pairs: tuple[tuple[Key, Published, Published], ...]
    first_only: tuple[Key, ...]
    second_only: tuple[Key, ...]


def match(first: Numbers, second: Numbers, names: tuple[str, str]) -> Matched:
    """Every group of the first operand with the group of the second that has its labels.

    The second operand may have fewer group columns: its number then stands for all groups that share its labels.

    Raises:
        ArgumentError: the second operand has a group column that the first has not, or they share no group.
    """
    extra = [name for name in second.keys if name not in first.keys]
    if extra:
        raise ArgumentError(
            f"{names[1]}: has the group column '{extra[0]}', which {names[0]} has not; "
            f"add it up with numbers(…, by=[…]), or take one group with at={{'{extra[0]}': …}}"
        )
    places = [first.keys.index(name) for name in second.keys]
    pairs = tuple(_pairs(first, second, places))
    if not pairs:
        raise ArgumentError(f"{names[0]}, {names[1]}: share no group; their labels must be the same texts")
    met = {tuple(key[place] for place in places) for key in first.cells}
    found = {key for key, _, _ in pairs}
    return Matched(
        first.keys,
        pairs,
        tuple(key for key in first.cells if key not in found),
        tuple(key for key in second.cells if key not in met),
    )


def _pairs(first: Numbers, second: Numbers, places: list[int]) -> Iterator[tuple[Key, Published, Published]]:
    for key, number in first.cells.items():
        other = second.cells.get(tuple(key[place] for place in places))
        if other is not None:
            yield key, number, other
