"""Shared code of several kinds of statistics: columns they read, one number for each group, checks, and words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from discreet.domain.columns import Date, Number
from discreet.domain.groups import Bins, Group
from discreet.domain.neighbours import person_of
from discreet.domain.steps import NumberFacts, TableFacts
from discreet.errors import ArgumentError, InternalError, PlanError, printed
from discreet.exact.figures import name as shown_name
from discreet.exact.numbers import Amount, exact, text
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import Need, Room, Statistic, Written, groupings_of

__all__ = [
    "FilledGroups",
    "NoColumn",
    "NumberColumn",
    "OneNumber",
    "check_column_name",
    "check_number",
    "check_weight",
    "largest_of",
    "number_of",
    "one_column",
    "option_string",
    "skipped_words",
    "skips_nulls",
    "title",
]

_MAX_WEIGHT = 10**30


def _nothing(_one: Statistic) -> dict[str, object]:
    return {}


def _own_name(one: Statistic) -> tuple[str, ...]:
    return (one.name,)


@dataclass(frozen=True, slots=True)
class OneNumber:
    """One number for each group, in a column of the statistic's name; `written` gives its own keys in JSON.

    `named` has the columns, where the number stands a second time with another interval.
    """

    written: Callable[[Statistic], dict[str, object]] = _nothing
    named: Callable[[Statistic], tuple[str, ...]] = _own_name
    one_number: bool = True

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        return ()

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        return one

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return self.named(one)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return self.written(one)

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return 0

    def advice(self, one: Statistic, room: Room) -> str:
        raise InternalError("one number for each group is never too many")


@dataclass(frozen=True, slots=True)
class NoColumn:
    """Rows alone, and perhaps groups of its own."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def check(self, one: Statistic, facts: TableFacts) -> None:
        pass

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return tuple(Need("groups", tuple(group.column for group in groups), groups) for groups in groupings_of(one))

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        changed = next((group.column for groups in groupings_of(one) for group in groups if group.column in names), None)
        if changed is not None:
            raise PlanError(
                f"original(): '{one.name}' counts rows by '{changed}', which is clamped or imputed; ask for a histogram of "
                "it, or for prepared=False"
            )
        return one


@dataclass(frozen=True, slots=True)
class FilledGroups:
    """Groups of its own, in tables whose nulls may be counted as such, for what is imputed is added to noisy counts."""

    own: NoColumn = NoColumn()

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def check(self, one: Statistic, facts: TableFacts) -> None:
        pass

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return tuple(replace(need, how="filled") for need in self.own.needs(one))

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return self.own.recorded(one, names)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """One column of numbers, of which the cube brings all codes or the sums."""

    how: Literal["codes", "sums"]

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return (str(one.column),)

    def check(self, one: Statistic, facts: TableFacts) -> None:
        check_number(one, str(one.column), facts)

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        return (Need(self.how, self.columns(one)),)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {"nulls": "skip" if one.skip_nulls else "refuse"}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return replace(one, column=names.get(str(one.column), one.column), skip_nulls=True)


def check_column_name(column: object) -> str:
    """The column, which is a name. Raises PlanError."""
    if not isinstance(column, str):
        raise PlanError(f"column {printed(column)}: must be the name of a column of the schema")
    return column


def check_weight(weight: Amount) -> Fraction:
    """The weight as an exact number. Raises ArgumentError."""
    amount = exact(weight, "weight")
    if not amount > 0:
        raise ArgumentError(f"weight={text(amount)}: must be greater than 0; leave the statistic out instead")
    if max(amount.numerator, amount.denominator) > _MAX_WEIGHT:
        raise ArgumentError("weight: must have at most 30 digits above and below the line; round it")
    return amount


def skips_nulls(nulls: str | None) -> bool:
    """True if nulls are left out. Raises ArgumentError for another word."""
    if nulls is not None and not (isinstance(nulls, str) and nulls == "skip"):
        raise ArgumentError(f"nulls={printed(nulls)}: must be 'skip' or left out")
    return nulls == "skip"


def one_column(value: Written) -> Sequence[Any]:
    """The name of a column, in a plan file."""
    return (value.string(),)


def option_string(value: Written) -> str:
    """A word, in a plan file."""
    return value.string()


def title(noun: str, shown: Mapping[str, Any]) -> str:
    """The noun and the column in words for pages, such as: Mean of income."""
    of = shown.get("column")
    skipped = ", where it is known" if shown.get("nulls") == "skip" else ""
    return f"{noun} of {'rows' if of is None else shown_name(of)}{skipped}"


def skipped_words(shown: Mapping[str, Any]) -> str:
    """Where rows are left out in which one of several columns is null, in words for pages; else empty."""
    return ", where all are known" if shown.get("nulls") == "skip" else ""


def check_number(one: Statistic, column: str, facts: TableFacts) -> None:
    """The column is a number, and nulls are left out if it can be null.

    Raises:
        PlanError: otherwise.
    """
    known, where = facts[column], f"{one.kind.word}('{column}')"
    if not isinstance(known, NumberFacts):
        raise PlanError(f"{where}: the column is categorical; group by it and count, or declare it as a Number")
    if isinstance(known.column, Date):
        raise PlanError(f"{where}: the column is a date; count it in bins('{column}', [...])")
    if known.nullable and not one.skip_nulls:
        impute = "impute it first, or " if person_of(facts.neighbours) is None else ""  # rows of persons are not imputed
        raise PlanError(f'{where}: the column can be null; {impute}ask for {where[:-1]}, nulls="skip")')


def number_of(facts: TableFacts, column: str | None) -> tuple[NumberFacts, Number]:
    """The facts of a column of numbers, and its grid.

    Raises:
        InternalError: there is no such column, or it has no numbers: its statistic was not checked.
    """
    known = None if column is None else facts[column]
    if not isinstance(known, NumberFacts) or not isinstance(known.column, Number):
        raise InternalError(f"column '{column}' has no numbers")
    return known, known.column


def largest_of(first: Sensitivity, *others: Sensitivity) -> Sensitivity:
    """The larger one in each of both norms."""
    every = (first, *others)
    return Sensitivity(max(one.l1 for one in every), max(one.l2_squared for one in every))
