"""Effects: the interactions of exactly these columns, as integer queries, and how far a change of rows moves each of them.

A table of counts is the sum of its effects, one for each set of columns, and they are orthogonal. So tables that are put
together from the same noisy effects agree, and an effect that exact totals determine needs no noise. The integer query of
an effect a is the margin of its columns with n_i·I - J applied along each: N_a times its projection, N_a = Π n_i. With
independent noise of variance s_a in each effect a change costs μ² = Σ (its energy in a)/s_a (docs/proofs/effects.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries.effects import centred
from discreet.exact.axes import in_order
from discreet.totals.enumerate import forms_of_differences

__all__ = [
    "Effects",
    "beside",
    "compose",
    "effects_of",
    "exchanged",
    "leaving",
    "measure",
    "project",
    "replaced",
    "replaced_in",
    "restore",
    "times",
    "worst_replacement",
]

Integers = NDArray[Any]
Axes = tuple[int, ...]
Energies = tuple[tuple[Fraction, ...], ...]

_MOST_REDUCED = 10_000  # tables of a rows: their pairs are weighed in some seconds
_INSIDE = 1 << 62


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects `parts` of a full product of columns.

    Args:
        sizes: the number of levels of each column, null among them where it is one.
        parts: for each effect its columns, ascending; none of them has a single level.
    """

    sizes: tuple[int, ...]
    parts: tuple[Axes, ...]

    def energy(self, part: Axes) -> Fraction:
        """The squared length of one row in an effect, Π (1 - 1/n_i)."""
        return prod((1 - Fraction(1, self.sizes[axis]) for axis in part), start=Fraction(1))

    def scale(self, part: Axes) -> int:
        """N_a: the integer query is so many times the projection."""
        return prod(self.sizes[axis] for axis in part)

    def variance(self, table: Axes, variances: Mapping[Axes, Fraction]) -> Fraction:
        """The variance of a cell of a table that is put together from effects of these variances."""
        found = Fraction(0)
        for part in _subsets(_telling(self.sizes, table)):
            outside = prod(self.sizes[axis] for axis in table if axis not in part)
            found += variances[part] * self.energy(part) / outside**2
        return found


def effects_of(sizes: Sequence[int], tables: Iterable[Axes]) -> Effects:
    """The effects of the tables by these columns, each once; the empty one, the number of rows, is among them."""
    parts = dict.fromkeys(part for table in tables for part in _subsets(_telling(sizes, table)))
    return Effects(tuple(sizes), tuple(sorted(parts, key=lambda part: (len(part), part))))


def measure(effects: Effects, part: Axes, counts: Integers) -> Integers:
    """The integer query of one effect: shape of its columns, from the counts of all cells."""
    found = counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in part))
    return _centred(found, [effects.sizes[axis] for axis in part])


def project(effects: Effects, part: Axes, measured: Integers) -> Integers:
    """⊗(n_i I - J) q: N_a² times the effect itself, of a (noisy) integer query q. Noise outside the effect is left out."""
    return _centred(measured, [effects.sizes[axis] for axis in part])


def compose(effects: Effects, table: Axes, projected: Mapping[Axes, Integers]) -> tuple[Integers, int]:
    """The counts of a table, in the order of its axes, from its projected queries: numerators over a public denominator.

    They are int64 where none of the sums can leave it, else integers of Python.
    """
    ascending = sorted(table)
    sizes = [effects.sizes[axis] for axis in ascending]
    parts = [*_subsets(_telling(effects.sizes, table))]
    outside = {part: prod(effects.sizes[axis] for axis in table if axis not in part) for part in parts}
    narrow = sum(outside[part] * _most(projected[part]) for part in parts) < _INSIDE
    found: Integers = np.zeros(sizes, dtype=np.int64 if narrow else np.object_)
    for part in parts:
        shape = [effects.sizes[axis] if axis in part else 1 for axis in ascending]
        found += projected[part].astype(found.dtype, copy=False).reshape(shape) * outside[part]
    return in_order(found, ascending, table), prod(sizes) ** 2


def times(values: Integers, factor: int) -> Integers:
    """The values times a positive factor: int64 where all of them fit, else integers of Python."""
    if values.dtype == np.object_ and _most(values) < _INSIDE:
        values = values.astype(np.int64)
    return np.asarray((values if factor * _most(values) < _INSIDE else values.astype(np.object_)) * factor)


def _most(values: Integers) -> int:
    """The largest size of any of them."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


def restore(effects: Effects, table: Axes, measured: Mapping[Axes, Integers]) -> tuple[Integers, int]:
    """The counts of a table from (noisy) integer queries of its effects: numerators over one public denominator."""
    parts = _subsets(_telling(effects.sizes, table))
    return compose(effects, table, {part: project(effects, part, measured[part].astype(object)) for part in parts})


def leaving(effects: Effects) -> Energies:
    """The energies of one row that appears or vanishes, or of a replaced one that counts in one of both tables alone."""
    return (tuple(effects.energy(part) for part in effects.parts),)


def replaced(effects: Effects, but: Iterable[int] = ()) -> Energies:
    """The energies of one replaced row that counts before and after, for each set of columns in which it may differ.

    Args:
        effects: the effects.
        but: the columns in which it does not differ.
    """
    telling = [axis for axis in _telling(effects.sizes, range(len(effects.sizes))) if axis not in set(but)]
    return tuple(
        tuple(replaced_in(effects, part, changed) for part in effects.parts) for changed in _subsets(telling) if changed
    )


def beside(effects: Effects, a: int, lists: Sequence[Axes]) -> Energies:
    """At least the energies of semi-adjacent tables beside exact totals, where every row counts; the least over the lists.

    Rows that differ can be matched so that each keeps its part of any one list of totals, and a rows move no further than
    a times one of them. This is exact for lists that are functions of a finest one.

    Args:
        effects: the effects.
        a: how many rows may differ.
        lists: the columns of each list of totals; none for a list of some groups only, beside which no effect is free.
    """
    choices = [replaced(effects, one) for one in lists]
    best = min(choices, key=lambda energies: max((sum(one) for one in energies), default=Fraction(0)))
    return tuple(tuple(a * a * energy for energy in one) for one in best)


def exchanged(effects: Effects, a: int, lists: Sequence[Axes]) -> Energies | None:
    """Exactly the energies of tables that differ in at most a rows and agree in all lists; None for too many of them.

    Only which rows agree on which columns matters. Rows have at most a levels of a column of the lists, the same ones before
    and after, and 2a of another: smaller columns will do, with the true numbers of levels in the energies.
    """
    listed = set(chain.from_iterable(lists))
    shape = tuple(min(size, a if axis in listed else 2 * a) for axis, size in enumerate(effects.sizes))
    if comb(prod(shape) + a - 1, a) > _MOST_REDUCED:
        return None
    found = forms_of_differences(_sums(shape, lists), a, [_products(effects, part, shape) for part in effects.parts])
    if found is None:
        return None
    scales = [effects.scale(part) for part in effects.parts]
    return tuple(tuple(map(Fraction, row, scales)) for row in found.tolist() if any(row))


def _products(effects: Effects, part: Axes, shape: Sequence[int]) -> NDArray[np.int64]:
    """Π (n_i [x_i = y_i] - 1) for each two cells: N_a times the product of two rows in the effect."""
    found = np.ones((1, 1), dtype=np.int64)
    for axis, size in enumerate(shape):
        own = effects.sizes[axis] * np.eye(size, dtype=np.int64) - 1 if axis in part else np.ones((size, size), np.int64)
        found = np.kron(found, own)
    return found


def worst_replacement(sizes: Sequence[int], columns: Axes, shares: Mapping[Axes, Fraction]) -> tuple[Fraction, Axes]:
    """The largest Σ energy/variance of one replaced row, and the columns in which it differs, in d·2^d steps.

    With f(D) = Σ_a w_a Π_{i in a and D} (-1/(n_i - 1)), a row that differs in D costs 2(Σ w_a - f(D)); one column after the
    other is added to all sets of those before it.

    Args:
        sizes: the number of levels of every column.
        columns: those in which a row may differ, all with two levels or more.
        shares: for each effect of these columns w_a, its energy over its variance.
    """
    found: Integers = np.full((2,) * len(columns), Fraction(0), dtype=object)
    for part, share in shares.items():
        found[tuple(int(axis in part) for axis in columns)] += share
    for place, axis in enumerate(columns):
        without, having = np.take(found, 0, axis=place), np.take(found, 1, axis=place)
        found = np.stack([without + having, without - having / (sizes[axis] - 1)], axis=place)
    least = int(np.argmin(found.ravel()))
    changed = tuple(axis for axis, one in zip(columns, np.unravel_index(least, found.shape), strict=True) if one)
    return 2 * (sum(shares.values(), Fraction(0)) - found.ravel()[least]), changed


def replaced_in(effects: Effects, part: Axes, changed: Axes) -> Fraction:
    """2 p_a (1 - Π (-1/(n_i - 1))) over the columns of the effect in which the row differs; 0 where there are none."""
    both = [axis for axis in part if axis in changed]
    if not both:
        return Fraction(0)
    return 2 * effects.energy(part) * (1 - prod(Fraction(-1, effects.sizes[axis] - 1) for axis in both))


def _centred(values: Integers, sizes: Sequence[int]) -> Integers:
    """n_i·I - J along each axis, in integers that cannot overflow."""
    found = np.asarray(values)
    # n·x - Σ x is at most 2n times the largest x.
    wide = found.dtype != object and _most(found) * 2 ** len(sizes) * prod(sizes) >= _INSIDE
    return centred(found.astype(object) if wide else found, sizes)


def _sums(shape: tuple[int, ...], lists: Sequence[Axes]) -> NDArray[np.int64]:
    """The number of rows and the totals of each list, as rows of coefficients over the cells."""
    cells = np.arange(prod(shape)).reshape(shape)
    rows = [np.ones(cells.size, dtype=np.int64)]
    for columns in lists:
        labels = np.zeros(cells.size, dtype=np.int64)
        for axis in columns:
            labels = labels * shape[axis] + np.unravel_index(cells.ravel(), shape)[axis]
        rows += [(labels == label).astype(np.int64) for label in np.unique(labels)]
    return np.stack(rows)


def _telling(sizes: Sequence[int], columns: Iterable[int]) -> Axes:
    """The columns that have more than one level."""
    return tuple(sorted(axis for axis in columns if sizes[axis] > 1))


def _subsets(columns: Sequence[int]) -> Iterator[Axes]:
    return chain.from_iterable(combinations(columns, many) for many in range(len(columns) + 1))
