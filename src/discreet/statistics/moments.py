"""Sums of products of columns, measured as one vector: what regressions rest on.

A *feature* is a function of a row into [-1, 1]: the constant 1, a number from the midpoint of its bounds in units of half
its range, or an integer for a category. The *moment* of two features is the sum of their product over the rows in which no
column is null. Moments that exact totals determine are public; all others are the parts of one query with one noise
(docs/proofs/vectors.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Contrast, Factor, Part, Query, TableCounts, VectorSum
from discreet.domain.groups import group_labels, group_of
from discreet.domain.steps import CategoryFacts, TableFacts
from discreet.statistics.base import Asked
from discreet.statistics.common import number_of
from discreet.statistics.recipe import Answers, Counted
from discreet.statistics.totals import total_of

__all__ = [
    "CONSTANT",
    "Feature",
    "Moments",
    "Normal",
    "PublicMoment",
    "Term",
    "category_features",
    "moments_of",
    "number_feature",
    "vector_of",
]

Floats = NDArray[np.float64]
Term = tuple[Factor | Contrast, ...]
"""A product of factors of different columns; none is the constant 1."""

_FINE = 64
"""The largest sum of a vector is measured in units of 1/64 of its noise's scale, so that all others nearly reach it."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A factor over its largest size, in [-1, 1]; the constant 1 has no factor."""

    factors: Term

    @property
    def column(self) -> str | None:
        """Its column, None for the constant."""
        return self.factors[0].column if self.factors else None


CONSTANT = Feature(())


def number_feature(facts: TableFacts, column: str) -> Feature:
    """A number from the midpoint of its bounds, in units of half its range."""
    (query,) = total_of(facts, column, centred=True).queries
    low = number_of(facts, column)[0].low
    return Feature((Factor(column, low, query.first, query.slope, query.width, 1),))


def category_features(column: str, known: CategoryFacts, reference: object) -> list[Feature]:
    """A category against its reference: -1 and 1 where there are two, else 0 and 1 for each other one.

    The reference is the first one, where it is None.
    """
    codes = {known.column.values[code]: code for code in known.kept}
    base = known.kept[0] if reference is None else codes[reference]  # type: ignore[index]
    others = [code for code in known.kept if code != base]
    if len(others) == 1:
        return [Feature((Contrast(column, ((base, -1), (others[0], 1)), known.kept),))]
    return [Feature((Contrast(column, ((code, 1),), known.kept),)) for code in others]


def _size(one: Factor | Contrast) -> int:
    """The largest size of a factor, so that the feature is within [-1, 1]."""
    least, most = one.reach
    return max(abs(least), abs(most))


def size_of(term: Term) -> int:
    """The largest size of a product."""
    return prod(map(_size, term))


def term_of(one: Feature, other: Feature) -> Term | None:
    """The product of two features as factors of different columns, in a fixed order; None where it is 0 for every row."""
    if one.column is None or other.column is None or one.column != other.column:
        return tuple(sorted((*one.factors, *other.factors), key=lambda factor: factor.column))
    (first,), (second,) = one.factors, other.factors
    if isinstance(first, Factor):
        return (replace(first, power=2),)
    if not isinstance(second, Contrast) or first != second:
        return None  # a row is in one category
    # Codes are 0 and 1, or -1 and 1 where there are two categories.
    return (first,) if len(first.values) == 1 else ()


@dataclass(frozen=True, slots=True, eq=False)
class PublicMoment:
    """A moment that exact totals determine: counts of cells, with the number that a row of each adds.

    Args:
        counted: the counts of every cell of the request, or of finer cells, the last ones fastest.
        added: for each finer cell the product of the features there; 0 where a column is null.
    """

    counted: Counted
    added: tuple[float, ...]

    def values(self, answers: Answers) -> Floats:
        """The moment of every cell that estimates are made for."""
        width = len(self.added)
        if width == 1:
            return self.added[0] * self.counted.counts(answers)[0].astype(np.float64)
        start, stop = answers.cells.start * width, answers.cells.stop * width
        finer = replace(answers, cells=slice(start, stop))
        counts = self.counted.counts(finer)[0].astype(np.float64).reshape(-1, width)
        return np.asarray(counts @ np.array(self.added))


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """The moments of all pairs of features, as matrices.

    Args:
        values: shape (cells, features, features), symmetric, with noise.
        part: for each pair the part of the query whose noise it has; -1 for none.
        scale: by which the noise of the part is multiplied.
    """

    values: Floats
    part: NDArray[np.int64]
    scale: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The moments of some features: of all pairs, or of all but the squares of some.

    Args:
        features: the features.
        query: the parts that are measured.
        parts: for each measured product its place in the query.
        public: the products that are public.
        left_out: the pairs that are not asked for.
    """

    features: tuple[Feature, ...]
    query: VectorSum
    parts: Mapping[Term, int]
    public: Mapping[Term, PublicMoment]
    left_out: frozenset[tuple[int, int]]

    def normal(self, answers: Answers) -> Normal:
        """The noisy matrices of some cells."""
        cells = answers.noises.cells
        noisy = answers.values[self.query].reshape(len(self.parts), cells)[:, answers.cells]

        def value(term: Term) -> Floats:
            if term in self.public:
                return self.public[term].values(answers)
            place = self.parts[term]
            return np.asarray(noisy[place].astype(np.float64) * self._scale(term))

        return self._filled(answers.count, value)

    def expected(self, rows: int) -> Normal:
        """The matrices of one group whose rows are spread evenly over all bounds and categories, without noise."""
        return self._filled(1, lambda term: np.array([rows * float(_mean(term))]))

    def _filled(self, cells: int, value: Callable[[Term], Floats]) -> Normal:
        size, known = len(self.features), dict[Term, Floats]()
        values, part = np.zeros((cells, size, size)), np.full((size, size), -1, dtype=np.int64)
        scale = np.zeros((size, size))
        for i, one in enumerate(self.features):
            for j, other in enumerate(self.features):
                term = term_of(one, other)
                if term is None or (min(i, j), max(i, j)) in self.left_out:
                    continue
                if term not in known:
                    known[term] = value(term)
                values[:, i, j] = known[term]
                if term in self.parts:
                    part[i, j], scale[i, j] = self.parts[term], self._scale(term)
        return Normal(values, part, scale)

    def _scale(self, term: Term) -> float:
        return 1 / (self.query.parts[self.parts[term]].times * size_of(term))


def _mean(term: Term) -> Fraction:
    """The mean of a product over all codes of its columns, which are independent."""
    found = Fraction(1)
    for one in term:
        if isinstance(one, Contrast):
            found *= Fraction(sum(one.of(code) for code in one.levels), len(one.levels) * _size(one))
        else:
            # The mean square of w + 1 numbers at equal steps from -1 to 1 is (w + 2)/(3w).
            found *= Fraction(one.width + 2, 3 * one.width) if one.power == 2 else 0
    return found


# The query --------------------------------------------------------------------------------------------------------------


def moments_of(
    asked: Asked, features: Sequence[Feature], *, columns: tuple[str, ...], weight: Callable[[int, int], Fraction | None]
) -> Moments:
    """The moments of features, as a request can have them: from exact totals where these say enough, else measured.

    Args:
        asked: the request.
        features: the features.
        columns: the columns in which a row must be known.
        weight: for a pair of features the weight of its moment among all, at most 1; None where it is not needed.
    """
    every = _terms(features, weight)
    public = {term: known for term in every if (known := _public(asked, term, columns)) is not None}
    measured = {term: own for term, own in every.items() if term not in public}
    pairs = [(i, j) for i in range(len(features)) for j in range(i, len(features))]
    left_out = frozenset((i, j) for i, j in pairs if weight(i, j) is None)
    places = {term: place for place, term in enumerate(measured)}
    return Moments(tuple(features), _query(measured, columns), places, public, left_out)


def vector_of(
    features: Sequence[Feature], columns: tuple[str, ...], weight: Callable[[int, int], Fraction | None]
) -> VectorSum:
    """The query of all moments, where none is public."""
    return _query(_terms(features, weight), columns)


def _terms(features: Sequence[Feature], weight: Callable[[int, int], Fraction | None]) -> dict[Term, Fraction]:
    """The different products, each with the greatest weight of its pairs."""
    found: dict[Term, Fraction] = {}
    for i, one in enumerate(features):
        for j in range(i, len(features)):
            term, own = term_of(one, features[j]), weight(i, j)
            if term is not None and own is not None:
                found[term] = max(found.get(term, own), own)
    return found


def _query(measured: Mapping[Term, Fraction], columns: tuple[str, ...]) -> VectorSum:
    """One query, whose parts are scaled so that each of weight 1 is as large as the largest one."""
    most = _FINE * max((size_of(term) for term in measured), default=1)
    parts = tuple(Part(term, max(1, int(most * own) // size_of(term))) for term, own in measured.items())
    return VectorSum(parts, columns)


def _public(asked: Asked, term: Term, columns: tuple[str, ...]) -> PublicMoment | None:
    """The moment, if exact totals or a public number of rows determine it."""
    facts = asked.facts
    needed = dict.fromkeys([*(one.column for one in term), *(name for name in columns if facts[name].nullable)])
    if not needed:
        counted = asked.public(None)
        return None if counted is None else PublicMoment(counted, (1.0,))
    if not all(isinstance(facts[name], CategoryFacts) for name in needed):
        return None
    groups = tuple(group_of(name, facts) for name in needed)
    labels = tuple(len(group_labels(group, facts)) for group in groups)
    counted = asked.known(_counts(groups, labels))
    if counted is None:
        return None
    return PublicMoment(counted, tuple(_added(term, tuple(needed), labels, facts)))


def _counts(groups: tuple[object, ...], sizes: tuple[int, ...]) -> Query:
    return TableCounts(groups, sizes)  # type: ignore[arg-type]


def _added(term: Term, names: tuple[str, ...], sizes: tuple[int, ...], facts: TableFacts) -> list[float]:
    """For every cell of the table of these columns the product of the features; 0 where one of them is null."""
    found = []
    for cell in np.ndindex(sizes):
        at = dict(zip(names, cell, strict=True))
        kept = {name: _kept(facts, name) for name in names}
        known = all(at[name] < len(kept[name]) for name in names)
        value = prod(one.of(kept[one.column][at[one.column]]) for one in term if isinstance(one, Contrast)) if known else 0
        found.append(value / size_of(term))
    return found


def _kept(facts: TableFacts, name: str) -> tuple[int, ...]:
    known = facts[name]
    return known.kept if isinstance(known, CategoryFacts) else ()
