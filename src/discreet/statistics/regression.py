"""Linear regression by least squares, over the rows in which all columns are known: coefficients with intervals.

All sums of products that the coefficients need are measured as one vector with its joint norm; what exact totals determine
is taken from them. The intervals hold the coefficients of the prepared table (V4 and V5 in docs/proofs/vectors.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.domain.categories import Value
from discreet.domain.groups import Bins, Group
from discreet.domain.steps import CategoryFacts, TableFacts
from discreet.errors import InternalError, PlanError, did_you_mean, printed
from discreet.exact.figures import enumerate_texts
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import (
    CLIPPED,
    Asked,
    Completed,
    Extended,
    Free,
    Keys,
    Need,
    Reads,
    Room,
    Shape,
    Statistic,
    Written,
)
from discreet.statistics.coefficients import CoefficientsRecipe, linear_outputs
from discreet.statistics.common import check_column_name, check_number, check_weight, number_of, option_string, skips_nulls
from discreet.statistics.moments import CONSTANT, Feature, category_features, moments_of, number_feature, vector_of
from discreet.statistics.possible import Bounds, Ends, Possible

__all__ = ["Coefficient", "Regression", "regression"]

_STEEP = 1000
"""A coefficient that moves the explained column by more than so many times its range is taken to be unknown."""
_MOST_COEFFICIENTS = 40
_MATRIX = Fraction(1, 2)
"""Errors of the matrix are multiplied by coefficients, which in units of the ranges are mostly below 1."""
INTERCEPT = "intercept"


def regression(
    y: str,
    on: str | Sequence[str],
    *,
    reference: Mapping[str, Value] | None = None,
    weight: Amount = 1,
    nulls: str | None = None,
) -> Statistic:
    """The linear regression of a numeric column on others in each group, by ordinary least squares, with an intercept.

    A category stands for one coefficient of each of its values but a reference: how much higher the mean is there. The
    columns of the release are called `<name>_intercept`, `<name>_<column>` and `<name>_<column>_<value>`.

    Args:
        y: the column that is explained, with declared bounds.
        on: the columns that explain it: numbers and categories.
        reference: for categories the value that the others are compared with; the first one where it is left out.
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out the rows in which one of the columns is null.

    Raises:
        PlanError: not the names of different columns, or a reference for another column.
    """
    columns = [on] if isinstance(on, str) else list(on) if isinstance(on, list | tuple) else None
    if not columns:
        raise PlanError(f"regression(on={printed(on)}): must name one column or more, such as on=['age', 'sex']")
    names = tuple(map(check_column_name, (y, *columns)))
    if len(set(names)) < len(names):
        raise PlanError("regression(): must name different columns; one of them is given twice")
    chosen = {} if reference is None else reference
    if not isinstance(chosen, Mapping) or not set(chosen) <= set(names[1:]):
        raise PlanError(
            f"regression(reference={printed(reference)}): must give a value for columns of on, such as {{'sex': 'f'}}"
        )
    kind = Regression(names[0], names[1:], tuple(sorted(chosen.items())), ())
    return Statistic(kind, None, f"regression_{y}", check_weight(weight), skips_nulls(nulls))


# Its form ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient.

    Args:
        column: the column, None for the intercept.
        value: the value of a category that it is for.
        against: the value that this one is compared with.
    """

    column: str | None
    value: Value | None
    against: Value | None

    @property
    def suffix(self) -> str:
        """The end of the name of its column in a release."""
        if self.column is None:
            return INTERCEPT
        return self.column if self.value is None else f"{self.column}_{self.value}"

    @property
    def words(self) -> str:
        """The coefficient in words, for pages."""
        if self.column is None:
            return "Intercept"
        if self.value is None:
            return f"Coefficient of {self.column}"
        return f"Coefficient of {self.column} {self.value} against {self.against}"


def _of(one: Statistic) -> Regression:
    kind: Any = one.kind
    if not isinstance(kind, Regression):
        raise InternalError(f"statistic '{one.name}' is not a regression")
    return kind


@dataclass(frozen=True, slots=True)
class _Columns:
    """The explained column and those that explain it, of which the cube brings all combinations of codes."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return _of(one).columns

    def check(self, one: Statistic, facts: TableFacts) -> None:
        kind = _of(one)
        check_number(replace(one, skip_nulls=True), kind.y, facts)
        for name in kind.columns:
            known, where = facts[name], f"regression('{kind.y}'): '{name}'"
            if known.nullable and not one.skip_nulls:
                raise PlanError(f'{where} can be null; impute it first, or ask for nulls="skip"')
            if isinstance(known, CategoryFacts):
                if len(known.kept) < 2:
                    raise PlanError(f"{where} has a single value, with which nothing can vary; leave it out")
                continue
            check_number(replace(one, skip_nulls=True), name, facts)
            if known.low == known.high:
                raise PlanError(f"{where} has a single value, with which nothing can vary; widen its bounds or leave it out")

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need("codes", _of(one).columns),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {"columns": list(_of(one).columns), "nulls": "skip" if one.skip_nulls else "refuse"}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        raise PlanError(f"original(): '{one.name}' is a regression, which has no such form; ask for it in another release")


@dataclass(frozen=True, slots=True)
class _Coefficients:
    """One number for each coefficient."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        return ()

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        kind = _of(one)
        found = [Coefficient(None, None, None)]
        for name in kind.on:
            found += _coefficients(name, facts, dict(kind.reference).get(name))
        if len(found) > _MOST_COEFFICIENTS:
            raise PlanError(
                f"regression('{kind.y}'): has {len(found)} coefficients, more than {_MOST_COEFFICIENTS}; leave out columns, "
                "or clamp a category to fewer values"
            )
        names = [each.suffix for each in found]
        if len(set(names)) < len(names):
            raise PlanError(
                f"regression('{kind.y}'): two coefficients would have the same name; rename a column or a category"
            )
        return replace(one, kind=replace(kind, coefficients=tuple(found)))

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return tuple(f"{one.name}_{each.suffix}" for each in _of(one).coefficients)

    def to_json(self, one: Statistic) -> dict[str, object]:
        kind = _of(one)
        of = [None if each.column is None else kind.columns.index(each.column) for each in kind.coefficients]
        about = zip(of, kind.coefficients, strict=True)
        return {
            "reference": dict(kind.reference),
            "parts": [each.suffix for each in kind.coefficients],
            "coefficients": [{"of": place, "value": each.value, "against": each.against} for place, each in about],
        }

    def places(self, one: Statistic, facts: TableFacts) -> int:
        size = len(_of(one).coefficients)
        return size * (size + 3) // 2

    def advice(self, one: Statistic, room: Room) -> str:
        return f"take fewer groups, at most {room.groups}, or fewer columns"


def _coefficients(name: str, facts: TableFacts, reference: Value | None) -> list[Coefficient]:
    known = facts[name]
    if not isinstance(known, CategoryFacts):
        if reference is not None:
            raise PlanError(f"regression(reference=…): '{name}' is a number, which has no reference")
        return [Coefficient(name, None, None)]
    values = [known.column.values[code] for code in known.kept]
    against = reference if reference is not None else values[0] if values else None
    if against not in values:
        near = did_you_mean(str(against), list(map(str, values)))
        raise PlanError(f"regression(reference=…): {printed(against)} is not among the values of '{name}'{near}")
    return [Coefficient(name, value, against) for value in values if value != against]


def _strings(value: Written) -> Any:
    return [item.string() for item in value.items()]


def _chosen(value: Written) -> Any:
    return dict(item.scalars() for item in value.items())


def _explained(value: Written) -> Sequence[Any]:
    return (value.string(),)


def _limit(y: tuple[Fraction, Fraction], numbers: Sequence[tuple[Fraction, Fraction]], columns: int) -> Fraction:
    """No coefficient is taken to be larger than this, in any unit."""
    ranges = [(max(map(abs, ends)), ends[1] - ends[0]) for ends in numbers if ends[1] > ends[0]]
    steep = sum((max(Fraction(1), most) / width for most, width in ranges), Fraction(1 + columns))
    return max(map(abs, y)) + _STEEP * (y[1] - y[0]) * steep


def _possible(shown: Mapping[str, Any], ends: Ends) -> Bounds:
    y, *on = shown["columns"]
    if y not in ends:
        return None, None
    most = _limit(ends[y], [ends[name] for name in on if name in ends], len(on))
    return -most, most


@dataclass(frozen=True, slots=True)
class Regression:
    """The coefficients of the linear function of the columns `on` with the least squared distance from `y`."""

    y: str
    on: tuple[str, ...]
    reference: tuple[tuple[str, Value], ...]
    coefficients: tuple[Coefficient, ...]

    word: ClassVar = "regression"
    noun: ClassVar = "Regression"
    keys: ClassVar = Keys(
        _explained,
        {"on": _strings},
        {"nulls": option_string, "reference": _chosen},
        lacks='needs columns: write { regression = "income", on = ["age"] }',
    )
    view: ClassVar = CLIPPED
    possible: ClassVar[Possible] = staticmethod(_possible)
    counts: ClassVar = False
    reads: ClassVar[Reads] = _Columns()
    shape: ClassVar[Shape] = _Coefficients()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, the explained one first."""
        return self.y, *self.on

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return regression(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        y, *on = names = [shown_name(column) for column in shown["columns"]]
        skipped = ", where all are known" if shown.get("nulls") == "skip" else ""
        if not part:
            return f"{Regression.noun} of {y} on {enumerate_texts(on)}{skipped}"
        found = shown["coefficients"][shown["parts"].index(part)]
        column = None if found["of"] is None else names[found["of"]]
        words = Coefficient(column, found["value"], found["against"]).words
        return f"{words} in the regression of {y}{skipped}"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        features = self._features(facts)
        vector = vector_of(features, self.columns, _weights(len(features)))
        alone, apart = vector.norms(frozenset())
        return free.of_moves(apart, (2 * alone[0], 2 * alone[1]), alone)

    def recipe(self, one: Statistic, asked: Asked) -> CoefficientsRecipe:
        facts, features = asked.facts, self._features(asked.facts)
        moments = moments_of(asked, features, columns=self.columns, weight=_weights(len(features)))
        numbers = [_ends(facts, name) for name in self.on if not isinstance(facts[name], CategoryFacts)]
        limit = _limit(_ends(facts, self.y), numbers, len(self.on))
        return CoefficientsRecipe(moments, linear_outputs(facts, features), limit)

    def _features(self, facts: TableFacts) -> list[Feature]:
        """The constant, the columns that explain, and the explained column."""
        found = [CONSTANT]
        for name in self.on:
            known = facts[name]
            if isinstance(known, CategoryFacts):
                found += category_features(name, known, dict(self.reference).get(name))
            else:
                found.append(number_feature(facts, name))
        return [*found, number_feature(facts, self.y)]


def _weights(features: int) -> Callable[[int, int], Fraction | None]:
    """The weight of the moment of two features: those with the explained column, the last one, have 1; not its square."""

    def weight(i: int, j: int) -> Fraction | None:
        last = features - 1
        if i == j == last:
            return None
        return Fraction(1) if last in {i, j} else _MATRIX

    return weight


def _ends(facts: TableFacts, name: str) -> tuple[Fraction, Fraction]:
    known, grid = number_of(facts, name)
    return grid.value(known.low), grid.value(known.high)
