"""Sums over rows of a vector: each row adds one integer to each of several sums, and its joint norm is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import numpy as np

from discreet.cube.cells import Codes, Integers, codes_of
from discreet.cube.cube import Cube, fits_int64
from discreet.cube.queries.base import Changed, Row, add_up
from discreet.cube.queries.pairs import Factor
from discreet.cube.queries.vector_norms import Added, Norms, Product, Square, norms_alone, norms_apart
from discreet.cube.scans import Scan
from discreet.domain.codes import NULL
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError
from discreet.exact.figures import enumerate_texts, plural

__all__ = ["Contrast", "Part", "VectorSum"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """An integer for each category of a column: those of `values`, by their codes, and 0 for every other one.

    Args:
        column: the column.
        values: codes with their integers, none of which is 0.
        levels: the codes that rows can have.
    """

    column: str
    values: tuple[tuple[int, int], ...]
    levels: tuple[int, ...]

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer."""
        found = [self.of(code) for code in self.levels]
        return min(found), max(found)

    @property
    def largest(self) -> int:
        """No integer is larger."""
        return max(1, *(abs(value) for _, value in self.values))

    def of(self, code: int) -> int:
        """The integer of a category."""
        return dict(self.values).get(code, 0)

    def words(self) -> str:
        """The numbers of the column that are added up."""
        return f"codes of {self.column}"

    def integers(self, codes: Codes, kind: type[np.int64] | type[np.object_]) -> Integers:
        """The integer of every code; a null counts as 0."""
        found: Integers = np.zeros(len(codes), dtype=kind)
        for code, value in self.values:
            found = np.where(codes == code, value, found)
        return found.astype(kind)


@dataclass(frozen=True, slots=True)
class Part:
    """times · the product of the factors, which are of different columns: what a row adds to one of the sums.

    `times` brings the noise of all sums, which is the same, to the size of each.
    """

    factors: tuple[Factor | Contrast, ...]
    times: int

    @property
    def largest(self) -> int:
        """No intermediate integer of a row is larger, before it is multiplied."""
        return prod(one.largest for one in self.factors)

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer that a row adds, over all pairs of codes (B1)."""
        ends = (1, 1)
        for one in self.factors:
            corners = [end * other for end in ends for other in one.reach]
            ends = min(corners), max(corners)
        return self.times * ends[0], self.times * ends[1]


@dataclass(frozen=True, slots=True)
class VectorSum:
    """The sums of several parts over the rows in which none of the columns is null, with one noise for all of them.

    The sensitivity is the joint norm of the vector that a row adds, and not the sum of the norms of its parts
    (V1 to V3 in docs/proofs/vectors.md).

    Args:
        parts: what a row adds to each sum.
        known: the columns in which a row must be known to count.
    """

    parts: tuple[Part, ...]
    known: tuple[str, ...]

    def words(self) -> str:
        size = len(self.parts)
        return f"{size} {plural('sum', size)} of products of {enumerate_texts(self.known)}"

    def contribution(self) -> str:
        alone = self._alone
        return f"each row adds a vector of {len(self.parts)} whole numbers, whose sizes add up to at most {alone[0]}"

    def columns(self) -> tuple[str, ...]:
        return self.known

    def widths(self) -> tuple[int, ...]:
        """A row counts once in each sum."""
        return (1,) * len(self.parts)

    def reach(self) -> tuple[int, int]:
        """The least and the greatest integer of any part."""
        ends = [part.reach for part in self.parts]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def nullable(self, facts: TableFacts) -> bool:
        return any(facts[column].nullable for column in self.known)

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.spreads(self._alone, self._apart, parts=len(self.parts), nullable=self.nullable(facts))

    def choose_shape(self, variance: Callable[[int], float], rows: int | None) -> VectorSum:
        return self

    def is_answered_by(self, part: Scan) -> bool:
        return all(part.has_codes(column) for column in self.known)

    def answer(self, cube: Cube, brought: Scan, cells: Codes, facts: TableFacts) -> Integers:
        return np.concatenate([self._sum(part, cube, brought, cells) for part in self.parts])

    def _sum(self, part: Part, cube: Cube, brought: Scan, cells: Codes) -> Integers:
        kind: type[np.int64] | type[np.object_] = np.int64 if fits_int64(part.largest) else np.object_

        def summed(some: Cube) -> Integers:
            known = np.logical_and.reduce([codes_of(brought, some, column) != NULL for column in self.known])
            ones: Integers = np.ones(len(some.rows), dtype=kind)
            numbers = (one.integers(codes_of(brought, some, one.column), kind) for one in part.factors)
            return np.asarray(np.where(known, some.rows, 0).astype(kind) * reduce(np.multiply, numbers, ones))

        sums = add_up(summed, cube, brought, cells)
        return part.times * (sums if fits_int64(part.largest * part.times) else sums.astype(np.object_))

    def norms(self, kept: frozenset[str]) -> tuple[Norms, Norms]:
        """The joint norms of the vector of a row, and those between two rows that agree in the columns `kept`."""
        return self._alone, self._apart(kept)

    def each(self) -> tuple[VectorSum, ...]:
        """A query for each part by itself, over the same rows."""
        return tuple(replace(self, parts=(part,)) for part in self.parts)

    @property
    def _alone(self) -> Norms:
        return norms_alone(self._added)

    def _apart(self, kept: frozenset[str]) -> Norms:
        return norms_apart(self._added, kept)

    @property
    def _added(self) -> Added:
        """The vector as its norms see it: the places of each column, and its products and squares."""
        factors: dict[str, list[Factor | Contrast]] = {}
        for part in self.parts:
            for one in part.factors:
                own = factors.setdefault(one.column, [])
                if not _is_square(part) and one not in own:
                    own.append(one)
        products, squares = [], []
        for part in self.parts:
            if _is_square(part):
                squares.append(self._square(part))
            else:
                named = ((one.column, factors[one.column].index(one)) for one in part.factors)
                products.append(Product(part.times, tuple(named)))
        places = ((column, _places(own, alike=_alike(column, own, products))) for column, own in factors.items())
        return Added(tuple(places), tuple(products), tuple(squares))

    def _square(self, part: Part) -> Square:
        """A square is covered where the sum of its own factor is there, and counts for as much (V2)."""
        (one,) = part.factors
        if not isinstance(one, Factor):
            raise InternalError("only numbers are squared")
        (low, high), (least, most), root = one.ends, one.reach, replace(one, power=1)
        linear = [other.times for other in self.parts if other.factors == (root,)]
        covered = low == -high and any(times >= part.times * high for times in linear)
        return Square(one.column, part.times * most, part.times * (most - least), covered)


def _is_square(part: Part) -> bool:
    return len(part.factors) == 1 and isinstance(part.factors[0], Factor) and part.factors[0].power == 2


def _places(factors: Sequence[Factor | Contrast], *, alike: bool) -> tuple[tuple[int, ...], ...]:
    """The integers of the factors of one column where a norm can be greatest: at its ends, or in each category.

    Of categories that all parts treat alike, two are enough: two rows are in the same one, or in different ones.
    """
    numbers = [one for one in factors if isinstance(one, Factor)]
    contrasts = [one for one in factors if isinstance(one, Contrast)]
    if numbers:
        return tuple(dict.fromkeys(tuple(one.first + one.slope * code for one in numbers) for code in (0, numbers[0].width)))
    if not contrasts:
        return ((),)
    found = dict.fromkeys(tuple(one.of(code) for one in contrasts) for code in contrasts[0].levels)
    apart = [place for place in found if any(place)]
    return tuple(place for place in found if not alike or place not in apart[2:])


def _alike(column: str, factors: Sequence[Factor | Contrast], products: Sequence[Product]) -> bool:
    """True if each category of the column has its own factor, and to exchange two of these changes nothing."""
    contrasts = [one for one in factors if isinstance(one, Contrast)]
    if not all(len(one.values) == 1 and one.values[0][1] == contrasts[0].values[0][1] for one in contrasts):
        return False
    every = Counter(products)
    return all(Counter(_exchanged(column, number, one) for one in products) == every for number in range(1, len(contrasts)))


def _exchanged(column: str, number: int, one: Product) -> Product:
    """The part with the factor `number` of the column for its first one, and the other way round."""
    swap = {0: number, number: 0}
    return replace(one, factors=tuple((name, swap.get(own, own) if name == column else own) for name, own in one.factors))
