"""Where a derived column comes from: a public map from the codes of another column, and what such maps say of each other.

Columns with one root are a *family*: the values of all of them are functions of one cell of the source. Null of the root is
null of every one of them (K1 and K2 of docs/proofs/areas.md). A column may also be put together from several of the
source, by a public list of combinations (K6).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Columns",
    "Origin",
    "Parts",
    "between",
    "covers",
    "determines",
    "families",
    "finest",
    "joint_columns",
    "root_of",
    "shared_columns",
    "tell_all",
    "together",
]

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Origin:
    """The root of a derived column and its public map.

    Args:
        of: the column of the source that it is derived from.
        values: the categories of that column.
        codes: for each of them the code of this one; -1 for null.
        digest: SHA-256 of the map, value by value, in hexadecimal.
    """

    of: str
    values: tuple[str | int | bool, ...] = field(repr=False)
    codes: tuple[int, ...] = field(repr=False)
    digest: str

    def to_json(self) -> dict[str, object]:
        """The origin as a schema states it: the map by its digest."""
        return {"of": self.of, "map": self.digest}


@dataclass(frozen=True, slots=True)
class Parts:
    """The columns of the source whose cells together are one column, and the public list of their combinations.

    The categories of the column are the combinations in the order of the list, and with `other` a last one for all others.

    Args:
        columns: the columns of the source.
        values: the categories of each.
        codes: for each column the code of every combination of the list.
        other: True if a row that no combination of the list has is in the last category; it is null otherwise.
        digest: SHA-256 of the list, row by row, in hexadecimal.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str | int | bool, ...], ...] = field(repr=False)
    codes: tuple[tuple[int, ...], ...] = field(repr=False)
    other: bool
    digest: str

    def to_json(self) -> dict[str, object]:
        """The list as a schema states it: by its digest."""
        return {"combinations_of": list(self.columns), "list": self.digest, **({"others": True} if self.other else {})}


class Coded(Protocol):
    """A column with codes 0, …, size - 1."""

    @property
    def size(self) -> int:
        """The number of codes."""


class Columns(Protocol):
    """Declared columns by their names. A schema is one."""

    def __getitem__(self, name: str, /) -> Coded:
        """The column of this name."""


def root_of(name: str, columns: Columns) -> str:
    """The column of the source that holds the values: the column itself, or the root of a derived one."""
    origin = getattr(columns[name], "origin", None)
    return name if origin is None else str(origin.of)


def families(names: Iterable[str], columns: Columns) -> dict[str, tuple[str, ...]]:
    """The names by their roots, in their order, each once."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(root_of(name, columns), []).append(name)
    return {root: tuple(names) for root, names in found.items()}


def _levels(name: str, columns: Columns) -> Codes:
    """For each code of the root, null last, the level of the column: its code, or its size for null."""
    column = columns[name]
    origin: Origin | None = getattr(column, "origin", None)
    if origin is None:
        return np.arange(column.size + 1, dtype=np.int64)
    codes = np.array([*origin.codes, -1], dtype=np.int64)
    return np.where(codes < 0, column.size, codes)


def between(fine: str, coarse: str, columns: Columns) -> Codes | None:
    """For each level of the column `fine`, null last, the level of `coarse`; None where it does not determine one.

    Gives:
        int64, shape (size of fine + 1,): codes of `coarse`, and its size for null.
    """
    if root_of(fine, columns) != root_of(coarse, columns):
        return None
    own, other = _levels(fine, columns), _levels(coarse, columns)
    found = np.full(columns[fine].size + 1, columns[coarse].size, dtype=np.int64)
    found[own] = other
    return found if bool((found[own] == other).all()) else None


def together(first: str, second: str, columns: Columns) -> Codes | None:
    """The pairs of levels of two columns that some value of their root has; None where they have no root in common.

    Gives:
        int64, shape (pairs, 2), null as the size of its column.
    """
    if root_of(first, columns) != root_of(second, columns):
        return None
    return np.unique(np.stack([_levels(first, columns), _levels(second, columns)], axis=1), axis=0)


def determines(fine: str, coarse: str, columns: Columns) -> bool:
    """True if the value of the first column is enough to know that of the second: it is the same, or a finer one."""
    return fine == coarse or between(fine, coarse, columns) is not None


def tell_all(names: Iterable[str], columns: Columns) -> bool:
    """True if the values of some columns of one family are enough together to know the value of their root."""
    levels = np.stack([_levels(name, columns) for name in names], axis=1)
    return len(np.unique(levels, axis=0)) == len(levels)


def covers(some: Iterable[str], others: Iterable[str], columns: Columns) -> bool:
    """True if the values of some columns are enough to know those of the others."""
    known = tuple(some)
    return all(any(determines(one, other, columns) for one in known) for other in others)


def says_more(listed: Iterable[str], own: Iterable[str], columns: Columns) -> bool:
    """True if some listed column is another function of values that own columns show, and does not determine all of these.

    Counts by the listed columns then say something of counts by the own ones that no margin of the latter has: how many
    people a state has, of counts by county.
    """
    families_of_own = families(own, columns)
    return any(
        not covers((name,), families_of_own[root], columns)
        for name in listed
        if (root := root_of(name, columns)) in families_of_own and name not in families_of_own[root]
    )


def shared_columns(first: tuple[str, ...], second: tuple[str, ...], columns: Columns) -> tuple[str, ...]:
    """The columns among both whose values follow from either."""
    both = dict.fromkeys((*first, *second))
    return tuple(name for name in both if covers(first, (name,), columns) and covers(second, (name,), columns))


def joint_columns(names: Iterable[str], columns: Columns) -> tuple[str, ...]:
    """One column for each family, which determines all that are named: the finest of them, or the root.

    Every combination of the values of the named columns that some row can have is one of values of these, and no other (K3).
    """
    return tuple(finest(own, columns) or root for root, own in families(names, columns).items())


def finest(names: Iterable[str], columns: Columns) -> str | None:
    """The first of these columns of one family that determines all of them; None where none does."""
    named = tuple(names)
    for fine in named:
        if all(fine == other or between(fine, other, columns) is not None for other in named):
            return fine
    return None
