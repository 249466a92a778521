"""The principal components of several columns, from the noisy matrix of their covariances.

Every covariance is within a known half-width, so that the true matrix differs from the noisy one by a matrix of known
size: the eigenvalues differ by no more (Weyl), and an eigenvector by an angle that the gap to its neighbours bounds (Davis
and Kahan).
V6 in docs/proofs/vectors.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError, printed
from discreet.exact.figures import enumerate_texts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import CLIPPED, Asked, Completed, Extended, Free, Keys, Reads, Shape, Statistic, Written
from discreet.statistics.common import check_weight, option_string, skipped_words, skips_nulls
from discreet.statistics.estimate import Estimate
from discreet.statistics.matrices import (
    ManyNumbers,
    NamedParts,
    columns_of,
    moments_of_numbers,
    number_of_moments,
    span_of_numbers,
    spread_of,
    written_columns,
)
from discreet.statistics.moments import Moments, Normal
from discreet.statistics.possible import Bounds, Ends, Possible
from discreet.statistics.recipe import Answers, CountTable, GroupSize, Noises, Statements, in_a_group, noise_statements

__all__ = ["PrincipalComponents", "PrincipalComponentsRecipe", "components_of", "principal_components"]

Floats = NDArray[np.float64]

_OUTWARD = 1 + 1e-9
_ROUNDING = 1e-12
"""More than the errors of the eigenvalues of a matrix of at most 20 columns with entries of at most 1."""
_RANGES = 0.25
"""A column is measured from -1 to 1, and its variance is stated in squared ranges."""


def principal_components(columns: Sequence[str], k: int = 2, *, weight: Amount = 1, nulls: str | None = None) -> Statistic:
    """The first k principal components of numeric columns in each group: their variances, and the loadings of each column.

    A column counts in units of its range, from its lower to its upper bound, so that no unit decides. Columns of the release
    are called `<name>_<i>` for the variance of component i in squared ranges, and `<name>_<i>_<column>` for its loadings.

    Args:
        columns: two columns or more.
        k: the number of components.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out the rows in which one of the columns is null.

    Raises:
        PlanError: not the names of different columns, or k is not from 1 to their number.
    """
    names = columns_of("principal_components", columns)
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(names):
        raise PlanError(f"principal_components(k={printed(k)}): must be from 1 to {len(names)}, the number of columns")
    kind = PrincipalComponents(names, k)
    return Statistic(kind, None, "component", check_weight(weight), skips_nulls(nulls))


def _of(one: Statistic) -> PrincipalComponents:
    kind: Any = one.kind
    if not isinstance(kind, PrincipalComponents):
        raise InternalError(f"statistic '{one.name}' has no principal components")
    return kind


def _parts(one: Statistic) -> list[str]:
    """The ends of the names: for each component its variance, then its loadings."""
    kind = _of(one)
    places = range(1, kind.k + 1)
    return [part for place in places for part in (str(place), *(f"{place}_{name}" for name in kind.names))]


def _possible(shown: Mapping[str, Any], _ends: Ends) -> Bounds:
    """A loading is between -1 and 1. A variance is at most the sum of all, each at most a quarter of its squared range."""
    return Fraction(-1), max(Fraction(1), Fraction(len(shown["columns"]), 4))


def _whole(value: Written) -> Any:
    amount = Fraction(value.number())
    return int(amount) if amount.denominator == 1 else amount


@dataclass(frozen=True, slots=True)
class PrincipalComponents:
    """The directions in which columns, in units of their ranges, vary most, each orthogonal to those before it."""

    names: tuple[str, ...]
    k: int

    word: ClassVar = "principal_components"
    noun: ClassVar = "Principal components"
    keys: ClassVar = Keys(
        written_columns,
        {},
        {"k": _whole, "nulls": option_string},
        lacks='needs columns: write { principal_components = ["x", "y", "z"] }',
    )
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(_possible)
    counts: ClassVar = False
    reads: ClassVar[Reads] = ManyNumbers()
    shape: ClassVar[Shape] = NamedParts(_parts, number_of_moments, lambda one: {"k": _of(one).k})
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return principal_components(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        names = [shown_name(column) for column in shown["columns"]]
        skipped = skipped_words(shown)
        said = PrincipalComponents.noun
        if part:
            place, column = divmod(shown["parts"].index(part), len(names) + 1)
            said = (
                f"Loading of {names[column - 1]} in component {place + 1}"
                if column
                else f"Variance of component {place + 1}"
            )
        return f"{said} of {enumerate_texts(names)}{skipped}"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        return span_of_numbers(self.names, facts, free)

    def recipe(self, one: Statistic, asked: Asked) -> PrincipalComponentsRecipe:
        return PrincipalComponentsRecipe(moments_of_numbers(asked, self.names), self.k)


@dataclass(frozen=True, slots=True, eq=False)
class PrincipalComponentsRecipe:
    """Eigenvalues and eigenvectors of the noisy matrix of covariances."""

    whole: ClassVar = False
    moments: Moments
    k: int

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.moments.query, Fraction(1)),)

    def error(self, noises: Noises, rows: int) -> float:
        """Half of the widest interval of a variance, of rows that are spread evenly over all bounds."""
        found = self._estimates(self.moments.expected(rows), noises)
        return float(max(np.max(one.high - one.low) for one in found[:: len(self.moments.features)])) / 2

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, max(1, size.rows))

    def unit(self, rows: int) -> str:
        return f"{in_a_group(rows)} spread evenly over the bounds"

    def accuracy(self, noises: Noises) -> str:
        return ", for a variance in squared ranges"

    def statements(self, noises: Noises) -> Statements:
        return Statements(noise_statements(noises, (self.moments.query,)).shared, 0, len(self.moments.query.parts))

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return self._estimates(self.moments.normal(answers), answers.noises)

    def _estimates(self, normal: Normal, noises: Noises) -> tuple[Estimate, ...]:
        size = len(self.moments.features) - 1
        found = spread_of(normal, noises, self.moments).pairs
        middle, off = np.zeros((len(normal.values), size, size)), np.zeros((len(normal.values), size, size))
        for (i, j), one in found.items():
            middle[:, i, j] = middle[:, j, i] = (one.low + one.high) / 2
            off[:, i, j] = off[:, j, i] = (one.high - one.low) / 2
        return components_of(middle, off, self.k)

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        return ()

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def components_of(middle: Floats, off: Floats, k: int) -> tuple[Estimate, ...]:
    """For each component its variance in squared ranges and its loadings, of every matrix within `off` of the middle ones.

    Args:
        middle: symmetric matrices, shape (cells, columns, columns), of covariances of columns from -1 to 1.
        off: by how much each entry may be off.
        k: how many components.
    """
    size = middle.shape[1]
    values, vectors = np.linalg.eigh(middle)
    # The largest eigenvalue of the sizes of the entries bounds that of every matrix with entries of these sizes.
    apart = np.linalg.eigvalsh(off)[:, -1] * _OUTWARD + _ROUNDING
    found = []
    for place in range(size - 1, size - 1 - k, -1):
        value = np.clip(values[:, place], 0.0, size)
        low, high = np.clip(values[:, place] - apart, 0.0, size), np.clip(values[:, place] + apart, 0.0, size)
        found.append(_scaled(value, low, high))
        gaps = [np.abs(values[:, place] - values[:, other]) for other in (place - 1, place + 1) if 0 <= other < size]
        gap = np.minimum.reduce(gaps)
        # The sine of twice the angle is at most 2·apart/gap; a unit vector is off by twice the sine of half the angle.
        known = gap > 2 * apart * _OUTWARD
        sine = np.where(known, 2 * apart * _OUTWARD / np.where(known, gap, 1.0), 1.0)
        near = np.where(known, 2 * np.sin(np.arcsin(np.minimum(sine, 1.0)) / 4), 2.0) * _OUTWARD + _ROUNDING
        vector = vectors[:, :, place]
        largest = np.take_along_axis(vector, np.abs(vector).argmax(axis=1)[:, None], axis=1)
        vector = vector * np.where(largest < 0, -1.0, 1.0)
        for column in range(size):
            own = np.clip(vector[:, column], -1.0, 1.0)
            found.append(Estimate(own, np.maximum(own - near, -1.0), np.minimum(own + near, 1.0)))
    return tuple(found)


def _scaled(value: Floats, low: Floats, high: Floats) -> Estimate:
    shown = _RANGES * value
    return Estimate(shown, np.minimum(_RANGES * low, shown), np.maximum(_RANGES * high, shown))
