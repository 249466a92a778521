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
from discreet.statistics.common import (
    check_column_name,
    check_number,
    check_weight,
    number_of,
    option_string,
    skipped_words,
    skips_nulls,
)
from discreet.statistics.fits import FITS, MOST_F, Fit
from discreet.statistics.moments import CONSTANT, Feature, category_features, moments_of, number_feature, vector_of
from discreet.statistics.possible import Bounds, Ends, Possible

__all__ = ["Coefficient", "Regression", "regression"]

_STEEP = 1000
"""A coefficient that moves the explained column by more than so many times its range is taken to be unknown."""
_MOST_COEFFICIENTS = 40
_MATRIX = Fraction(1, 2)
"""Errors of the matrix are multiplied by coefficients, which in units of the ranges are mostly below 1."""
INTERCEPT = "intercept"
POPULATION = "population"


def regression(
    y: str,
    on: str | Sequence[str],
    *,
    reference: Mapping[str, Value] | None = None,
    fit: Sequence[str] = (),
    interval: str | None = None,
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
        fit: "r2" for the part of the variance that is explained, "f" for the F statistic of all coefficients together. Both
            need the squares of the explained column, which are measured too.
        interval: "population" for intervals that hold the coefficients of the population that rows are drawn from, if the
            values of y are independent given the others, within their bounds, with means linear in the others (V11).
        weight: its share of the spend relative to the other statistics of the request.
        nulls: "skip" leaves out the rows in which one of the columns is null.

    Raises:
        PlanError: not the names of different columns, a reference for another column, or another word for fit or interval.
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
    kind = Regression(names[0], names[1:], tuple(sorted(chosen.items())), (), _fits(fit), _interval(interval))
    return Statistic(kind, None, f"regression_{y}", check_weight(weight), skips_nulls(nulls))


def _fits(fit: object) -> tuple[str, ...]:
    asked = (fit,) if isinstance(fit, str) else tuple(fit) if isinstance(fit, list | tuple) else None
    if asked is None or not set(asked) <= set(FITS) or len(set(asked)) < len(asked):
        raise PlanError(f"regression(fit={printed(fit)}): must be some of {', '.join(map(repr, FITS))}, each once")
    return tuple(one for one in FITS if one in asked)


def _interval(interval: object) -> str | None:
    if interval not in (None, POPULATION):
        raise PlanError(f"regression(interval={printed(interval)}): must be '{POPULATION}', or left out")
    return None if interval is None else POPULATION


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
        names = [*(each.suffix for each in found), *kind.fit]
        if len(set(names)) < len(names):
            raise PlanError(
                f"regression('{kind.y}'): two coefficients would have the same name; rename a column or a category"
            )
        return replace(one, kind=replace(kind, coefficients=tuple(found)))

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return tuple(f"{one.name}_{part}" for part in _of(one).parts)

    def to_json(self, one: Statistic) -> dict[str, object]:
        kind = _of(one)
        of = [None if each.column is None else kind.columns.index(each.column) for each in kind.coefficients]
        about = zip(of, kind.coefficients, strict=True)
        return {
            "reference": dict(kind.reference),
            "parts": list(kind.parts),
            "coefficients": [{"of": place, "value": each.value, "against": each.against} for place, each in about],
            **({"fit": list(kind.fit)} if kind.fit else {}),
            **({"interval": kind.interval} if kind.interval is not None else {}),
        }

    def places(self, one: Statistic, facts: TableFacts) -> int:
        size = len(_of(one).coefficients)
        return size * (size + 3) // 2 + bool(_of(one).fit)

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
    return -most, max(most, Fraction(MOST_F)) if "f" in shown.get("fit", ()) else max(most, Fraction(1))


@dataclass(frozen=True, slots=True)
class Regression:
    """The coefficients of the linear function of the columns `on` with the least squared distance from `y`."""

    y: str
    on: tuple[str, ...]
    reference: tuple[tuple[str, Value], ...]
    coefficients: tuple[Coefficient, ...]
    fit: tuple[str, ...]
    interval: str | None

    word: ClassVar = "regression"
    noun: ClassVar = "Regression"
    keys: ClassVar = Keys(
        _explained,
        {"on": _strings},
        {"nulls": option_string, "reference": _chosen, "fit": _strings, "interval": option_string},
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

    @property
    def parts(self) -> tuple[str, ...]:
        """The ends of the names of its columns in a release."""
        return (*(each.suffix for each in self.coefficients), *self.fit)

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return regression(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        y, *on = names = [shown_name(column) for column in shown["columns"]]
        skipped = skipped_words(shown)
        if not part:
            return f"{Regression.noun} of {y} on {enumerate_texts(on)}{skipped}"
        if shown["parts"].index(part) >= len(shown["coefficients"]):
            return f"{FITS[part]} in the regression of {y}{skipped}"
        found = shown["coefficients"][shown["parts"].index(part)]
        column = None if found["of"] is None else names[found["of"]]
        words = Coefficient(column, found["value"], found["against"]).words
        return f"{words} in the regression of {y}{skipped}"

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        features = self._features(facts)
        vector = vector_of(features, self.columns, self._weights(len(features)))
        alone, apart = vector.norms(frozenset())
        return free.of_moves(apart, (2 * alone[0], 2 * alone[1]), alone)

    def recipe(self, one: Statistic, asked: Asked) -> CoefficientsRecipe:
        facts, features = asked.facts, self._features(asked.facts)
        moments = moments_of(asked, features, columns=self.columns, weight=self._weights(len(features)))
        numbers = [_ends(facts, name) for name in self.on if not isinstance(facts[name], CategoryFacts)]
        limit = _limit(_ends(facts, self.y), numbers, len(self.on))
        fit = Fit(moments, self.fit) if self.fit else None
        return CoefficientsRecipe(moments, linear_outputs(facts, features), limit, fit, self.interval is not None)

    def _weights(self, features: int) -> Callable[[int, int], Fraction | None]:
        """The weight of the moment of two features: those with the explained column, the last one, have 1.

        Its square is measured where the fit is asked for.
        """
        last, square = features - 1, Fraction(1) if self.fit else None

        def weight(i: int, j: int) -> Fraction | None:
            if i == j == last:
                return square
            return Fraction(1) if last in {i, j} else _MATRIX

        return weight

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


def _ends(facts: TableFacts, name: str) -> tuple[Fraction, Fraction]:
    known, grid = number_of(facts, name)
    return grid.value(known.low), grid.value(known.high)
