"""The numbers of rows in several tables, margins of one: frames of their own, which agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, prod
from typing import Any, ClassVar, NoReturn

from discreet.domain.groups import BinGroup, Bins, CategoryGroup, Group, group_labels
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError, printed
from discreet.exact.numbers import Amount, exact, text
from discreet.mechanisms import Sensitivity
from discreet.statistics.base import (
    UNBIASED,
    Asked,
    Completed,
    Extended,
    Free,
    Keys,
    Reads,
    Room,
    Shape,
    Statistic,
    groupings_of,
)
from discreet.statistics.common import FilledGroups, check_weight, title
from discreet.statistics.effect_tables import effects_recipe
from discreet.statistics.own_counts import own_counts
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.recipe import Recipe
from discreet.statistics.table_axes import domain_of
from discreet.statistics.table_demands import TableDemand
from discreet.statistics.ways import written_groupings
from discreet.statistics.whole_tables import whole_recipe

__all__ = [
    "OwnTables",
    "Tables",
    "cells_of_tables",
    "group_facts",
    "refuse_grouped",
    "refuse_twice",
    "tables",
    "tables_apart",
    "tables_of",
]

_MOST_EACH = 10**9


def tables(
    *groupings: Sequence[str | Bins],
    weights: Sequence[Amount | None] | None = None,
    errors: Sequence[Amount | None] | None = None,
    weight: Amount = 1,
) -> Statistic:
    """The numbers of rows by each of the groupings, in tables that agree in everything that two of them say.

    Every table is a frame of its own. With Gaussian noise (ZCDP, GDP, ApproxDP) what is measured are the *effects*, the
    interactions of each set of columns, each once for all tables, with shares that give the least sum of the variances of
    all cells; under PureDP the tables themselves are measured, and least squares make them agree. Each cell gets the
    unbiased estimate and an interval of its own; sums of cells that mean the same are equal in all tables, and equal to
    exact totals that are published alongside. The estimates are no whole numbers; the measured integers are in the release
    too.

    `ways` makes all tables of two columns. Rows that bins leave out are counted and not printed.

    Args:
        groupings: the columns or bins of each table; [] is the number of all rows.
        weights: how much the variances of each table count in the sum that is the least; 1 without.
        errors: the half-width that the intervals of each table should have. Without weights the spend is divided so that the
            largest quotient of a half-width and its error is the least. This quotient is the error of the statistic: so
            `quote(…, error={"tables": 1})` finds the least spend that meets all of them. None, or infinity, is a table that
            is weighed instead; a weight of None or 0 is one that has an error only. Then all errors are met, or the spend is
            refused, and the weighted sum of variances is the least among those: the error of the statistic is the widest
            half-width of the tables that are weighed. A table that is public meets any error; where such tables alone are
            weighed, the others are.
        weight: the share of the spend relative to other statistics of the request.

    Raises:
        PlanError: no grouping, the empty one alone, or one that is given twice; weights or errors that are not positive, or
            not one for each table; a table with neither.
    """
    given = _given_groupings(groupings)
    kind = Tables(given, _weights(weights, len(given)), _errors(errors, len(given)))
    _check_demand(kind)
    return Statistic(kind, None, "tables", check_weight(weight))


_ANY = (inf, "inf")
"""An error that any half-width has: as a number, and as a plan file has it."""


def tables_of(
    groupings: tuple[tuple[Group, ...], ...], weights: Sequence[Fraction], errors: Sequence[Fraction | None]
) -> Statistic:
    """The statistic of tables that were checked, each with a weight, 0 for none, or an error."""
    same = len(set(weights)) == 1 and (not any(errors) or not any(weights))
    kind = Tables(groupings, () if same else tuple(weights), tuple(errors) if any(errors) else ())
    return Statistic(kind, None, Tables.word)


def _given_groupings(groupings: Sequence[Sequence[str | Bins]]) -> tuple[tuple[str | Bins, ...], ...]:
    """The groupings as they were given, each a list of columns or bins.

    Raises:
        PlanError: no grouping, the empty one alone, or something else.
    """
    asked = tuple(tuple(grouping) for grouping in groupings if isinstance(grouping, list | tuple))
    others = len(asked) < len(groupings) or not all(isinstance(by, str | Bins) for grouping in asked for by in grouping)
    if others or not any(asked):
        raise PlanError('tables(): must name different lists of columns or bins, such as tables(["a", "b"], ["a", "c"])')
    return asked


def _weights(values: Sequence[Amount | None] | None, tables: int) -> tuple[Fraction, ...]:
    """A number for each table, 0 where it does not count; none where none are given."""
    found = _each("weights", values, tables)
    return tuple(Fraction(0) if value is None else _number("weights", place, value) for place, value in found)


def _errors(values: Sequence[Amount | None] | None, tables: int) -> tuple[Fraction | None, ...]:
    """A number for each table, None where any will do; none where none are given."""
    found = _each("errors", values, tables)
    return tuple(None if value is None or value in _ANY else _number("errors", place, value) for place, value in found)


def _each(named: str, values: Sequence[Amount | None] | None, tables: int) -> list[tuple[int, Amount | None]]:
    if values is None:
        return []
    if not isinstance(values, list | tuple) or len(values) != tables:
        raise PlanError(f"tables(): {named}: must be a list with one number for each of the {tables} tables")
    return list(enumerate(values))


def _number(named: str, place: int, value: Amount) -> Fraction:
    found = exact(value, f"{named}[{place}]")
    if found == 0 and named == "weights":
        return found
    if not 0 < found < _MOST_EACH or found * _MOST_EACH <= 1:
        raise PlanError(f"tables(): {named}[{place}]={printed(value)}: must be greater than 1e-9 and below 1e9")
    return found


def _check_demand(kind: Tables) -> None:
    """Raises PlanError where a table has neither a weight nor an error."""
    if kind.errors and not any(kind.errors):
        raise PlanError("tables(): errors: must have a number for one of the tables at least; leave errors out otherwise")
    for place, weight in enumerate(kind.weights):
        if not weight and not (kind.errors and kind.errors[place]):
            raise PlanError(
                f"tables(): weights[{place}]: the table has neither a weight nor an error, and its intervals might be as "
                "wide as you like; give it one of both"
            )


@dataclass(frozen=True, slots=True)
class OwnTables:
    """A count for each cell of each table, in frames of its own."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        found = []
        for grouping in _kind_of(one).tables:
            groups = tuple(group for group in grouping if isinstance(group, CategoryGroup | BinGroup))
            if len(groups) < len(grouping):
                raise InternalError(f"statistic '{one.name}' has groups that were not checked")
            found.append(groups)
        return tuple(found)

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        if grouped:
            refuse_grouped(one)
        kind, found = _kind_of(one), []
        for grouping in kind.tables:
            groups = tuple(map(check, grouping))
            refuse_twice(one, groups)
            found.append(groups)
        if len(set(found)) < len(found):
            raise PlanError(f"{one.kind.word}(): must name different lists of columns; one of them is given twice")
        return replace(one, kind=Tables(tuple(found), kind.weights, kind.errors))

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        kind = _kind_of(one)
        errors = [None if value is None else text(value) for value in kind.errors]
        given = {"weights": list(map(text, kind.weights)), "errors": errors}
        tables = [[group_facts(group) for group in grouping] for grouping in kind.tables]
        return {"tables": tables, **{named: values for named, values in given.items() if values}}

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return cells_of_tables(self.groupings(one), facts)

    def advice(self, one: Statistic, room: Room) -> str:
        return f"take fewer groups, at most {room.most} in all its tables"


def refuse_grouped(one: Statistic) -> NoReturn:
    """Raises PlanError: a statistic that names its own groups is asked in groups."""
    raise PlanError(f"{one.kind.word}(): names its own groups; ask for it with table.agg(…), without group_by")


def refuse_twice(one: Statistic, groups: Sequence[Group]) -> None:
    """Raises PlanError where a grouping names a column twice."""
    if len({group.column for group in groups}) < len(groups):
        raise PlanError(f"{one.kind.word}(): a grouping names a column twice")


def cells_of_tables(groupings: Sequence[Sequence[Group]], facts: TableFacts) -> int:
    """The number of cells of all tables together."""
    return sum(prod(len(group_labels(group, facts)) for group in groups) for groups in groupings)


def _kind_of(one: Statistic) -> Tables:
    if not isinstance(one.kind, Tables):
        raise InternalError(f"statistic '{one.name}' has no tables")
    return one.kind


def group_facts(group: object) -> dict[str, object]:
    """The group as JSON values, as a table has checked it."""
    if isinstance(group, BinGroup):
        return {"column": group.column, "edges": list(group.edges), "labels": list(group.labels)}
    return {"column": getattr(group, "column", None)}


@dataclass(frozen=True, slots=True)
class Tables:
    """The numbers of rows in several tables, each a frame of its own, with weights or errors or neither.

    Their groups are names and `Bins` until a table has checked them.
    """

    tables: tuple[tuple[str | Bins | Group, ...], ...]
    weights: tuple[Fraction, ...] = ()
    errors: tuple[Fraction | None, ...] = ()

    word: ClassVar = "tables"
    noun: ClassVar = "Tables"
    keys: ClassVar = Keys(
        written_groupings,
        {},
        {"weights": lambda value: value.scalars(), "errors": lambda value: value.scalars()},
        lacks='needs lists of columns: write { tables = [["a", "b"], ["a", "c"]] }',
    )
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = FilledGroups()
    shape: ClassVar[Shape] = OwnTables()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return tables(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part or Tables.noun, shown)

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        # In units of an effect: ‖E e_x‖₁ ≤ 2^d, and ‖E(e_x - e_y)‖² ≤ 2.
        most = 1 << max(map(len, groupings_of(one)))
        return free.of_moves((2 * most, 2), (2 * most, 2), (most, 1))

    def recipe(self, one: Statistic, asked: Asked) -> Recipe:
        domain, demand = domain_of(groupings_of(one), asked), self._demand()
        if asked.weighting == "squares" and domain.has_few_effects:
            return effects_recipe(domain, demand, asked)
        if len(domain.tables) == 1 and not domain.filled_words and not demand.limited:
            return own_counts(one, asked)  # its noise keeps exact totals, and its intervals are those of that noise
        return whole_recipe(domain, demand, asked)

    def _demand(self) -> TableDemand:
        weights, errors = self._asked()
        return TableDemand(tuple(map(float, weights)), errors)

    def _asked(self) -> tuple[tuple[Fraction, ...], tuple[Fraction | None, ...]]:
        """For each table its weight and its error; without weights those without an error weigh 1."""
        errors = self.errors or (None,) * len(self.tables)
        return self.weights or tuple(Fraction(one is None) for one in errors), errors

    def each(self) -> Iterator[tuple[tuple[Group, ...], Fraction, Fraction | None]]:
        """The groups of each table, which were checked, its weight and its error."""
        for grouping, weight, error in zip(self.tables, *self._asked(), strict=True):
            yield tuple(group for group in grouping if isinstance(group, CategoryGroup | BinGroup)), weight, error


def tables_apart(free: Free) -> Sensitivity:
    """A row counts in one bin or cell of a further table, and may move to another one where it is."""
    return free.of_moves((2, 2), (2, 2), (1, 1))
