"""The numbers of rows in several tables, margins of one: frames of their own, which agree where they overlap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cells import Integers
from discreet.cube.queries import Query, TableCounts
from discreet.domain.groups import BinGroup, Bins, CategoryGroup, Group, group_labels, is_complete
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError
from discreet.exact.numbers import Amount
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
from discreet.statistics.common import NoColumn, check_weight, title
from discreet.statistics.counted import count_of
from discreet.statistics.counts import count_estimate
from discreet.statistics.estimate import Estimate
from discreet.statistics.margins import Margin, reconcile
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.recipe import (
    Answers,
    Counted,
    CountTable,
    GroupSize,
    Noises,
    Noisy,
    Statements,
    noise_statements,
)
from discreet.statistics.ways import written_groupings

__all__ = [
    "OwnTables",
    "Tables",
    "TablesRecipe",
    "cells_of_tables",
    "given_groupings",
    "group_facts",
    "refuse_grouped",
    "refuse_twice",
    "tables",
    "tables_apart",
    "tables_recipe",
]

_LEAST_VARIANCE = 1e-200


def tables(*groupings: Sequence[str | Bins], weight: Amount = 1) -> Statistic:
    """The numbers of rows by each of the groupings: margins of one table, such as `tables(["a", "b"], ["a", "c"])`.

    Every table is a frame of its own in the release, with the unbiased counts and, as `count_consistent`, the least-squares
    estimate in which tables agree where they overlap. All of them are one release: a row counts once in every table.

    Raises:
        PlanError: no grouping, an empty one, or one that is given twice.
    """
    return Statistic(Tables(given_groupings("tables", groupings)), None, "tables", check_weight(weight))


def given_groupings(word: str, groupings: Sequence[Sequence[str | Bins]]) -> tuple[tuple[str | Bins, ...], ...]:
    """The groupings as they were given, each a list of columns or bins.

    Raises:
        PlanError: no grouping, an empty one, or something else.
    """
    asked = tuple(tuple(grouping) if isinstance(grouping, list | tuple) else () for grouping in groupings)
    if not asked or not all(asked) or not all(isinstance(by, str | Bins) for grouping in asked for by in grouping):
        raise PlanError(f'{word}(): must name different lists of columns or bins, such as {word}(["a", "b"], ["a", "c"])')
    return asked


@dataclass(frozen=True, slots=True)
class OwnTables:
    """A count for each cell of each table, in frames of its own."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        found = []
        for grouping in _tables_of(one):
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
        found = []
        for grouping in _tables_of(one):
            groups = tuple(map(check, grouping))
            refuse_twice(one, groups)
            found.append(groups)
        if len(set(found)) < len(found):
            raise PlanError(f"{one.kind.word}(): must name different lists of columns; one of them is given twice")
        kind: Any = one.kind
        return replace(one, kind=replace(kind, tables=tuple(found)))

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {"tables": [[group_facts(group) for group in grouping] for grouping in _tables_of(one)]}

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


def _tables_of(one: Statistic) -> tuple[tuple[str | Bins | Group, ...], ...]:
    kind: Any = one.kind
    found: tuple[tuple[str | Bins | Group, ...], ...] | None = getattr(kind, "tables", None)
    if found is None:
        raise InternalError(f"statistic '{one.name}' has no tables")
    return found


def group_facts(group: object) -> dict[str, object]:
    """The group as JSON values, as a table has checked it."""
    if isinstance(group, BinGroup):
        return {"column": group.column, "edges": list(group.edges), "labels": list(group.labels)}
    return {"column": getattr(group, "column", None)}


@dataclass(frozen=True, slots=True)
class Tables:
    """The numbers of rows in several tables, each a frame of its own; names and `Bins` until a table has checked them."""

    tables: tuple[tuple[str | Bins | Group, ...], ...]

    word: ClassVar = "tables"
    noun: ClassVar = "Tables"
    keys: ClassVar = Keys(
        written_groupings, {}, {}, lacks='needs lists of columns: write { tables = [["a", "b"], ["a", "c"]] }'
    )
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = NoColumn()
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
        return tables_apart(free)

    def recipe(self, one: Statistic, asked: Asked) -> TablesRecipe:
        return tables_recipe(one, asked)


def tables_apart(free: Free) -> Sensitivity:
    """A row counts in one bin or cell of a further table, and may move to another one where it is."""
    return free.of_moves((2, 2), (2, 2), (1, 1))


def tables_recipe(one: Statistic, asked: Asked) -> TablesRecipe:
    """One table of counts for each of the statistic's groupings."""
    groupings = groupings_of(one)
    queries = [TableCounts(by, tuple(len(group_labels(group, asked.facts)) for group in by)) for by in groupings]
    # Rows may be in some tables and not in others where a grouping leaves values out.
    complete = all(is_complete(group, asked.facts) for by in groupings for group in by)
    counted = tuple(count_of(asked, query) for query in queries)
    return TablesRecipe(tuple(queries), counted, len(queries) > 1 and complete, asked.every)


@dataclass(frozen=True, slots=True, eq=False)
class TablesRecipe:
    """Tables of noisy counts.

    Args:
        asked: the tables.
        counted: the counts of each of them, public where exact totals determine them.
        agree: whether they are made to agree as well.
        every: the number of rows in each of them, where it is public.
    """

    whole: ClassVar = False
    asked: tuple[TableCounts, ...]
    counted: tuple[Counted, ...]
    agree: bool
    every: int | None

    @property
    def _noisy(self) -> tuple[Query, ...]:
        return tuple(query for one in self.counted for query in one.queries)

    @property
    def queries(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((query, Fraction(1)) for query in self._noisy)

    def error(self, noises: Noises, rows: int) -> float:
        return float(max((noises.largest(query) for query in self._noisy), default=0))

    def widest(self, noises: Noises, size: GroupSize) -> float:
        return self.error(noises, size.rows)

    def unit(self, rows: int) -> str:
        return ""

    def accuracy(self, noises: Noises) -> str:
        return ""

    def statements(self, noises: Noises) -> Statements:
        # Each of several tables has its own intervals.
        return Statements(noise_statements(noises, self._noisy).shared, 0, 1)

    def estimates(self, answers: Answers) -> tuple[Estimate, ...]:
        return ()

    def tables(self, answers: Answers) -> tuple[CountTable, ...]:
        agreed = self._reconcile(answers) if self.agree else [None] * len(self.asked)
        found = []
        for query, counted, consistent in zip(self.asked, self.counted, agreed, strict=True):
            counts = count_estimate(*_every_cell(query, counted, answers))
            error = max((answers.noises.largest(one) for one in counted.queries), default=0)
            found.append(CountTable(query.groups, counts, consistent, counted.told(answers.noises, error)))
        return tuple(found)

    def _reconcile(self, answers: Answers) -> list[Any]:
        """The tables as the least-squares estimate makes them agree."""
        axes = list(dict.fromkeys(group for query in self.asked for group in query.groups))
        counts = [_every_cell(query, one, answers) for query, one in zip(self.asked, self.counted, strict=True)]
        empty = [self._empty_cells(one, answers.noises, *found) for one, found in zip(self.counted, counts, strict=True)]
        levels = self._levels(axes, empty)
        margins = []
        for query, counted, (values, half) in zip(self.asked, self.counted, counts, strict=True):
            cells = np.ix_(*(levels[group] for group in query.groups))
            # Next to no noise has a variance of 0 as a double, and exact totals have none.
            variance = max((answers.noises.law(one).variance() for one in counted.queries), default=0.0)
            table = np.asarray(values, dtype=np.float64).reshape(query.sizes)[cells]
            known = self._known_cells(counted, answers.noises, half).reshape(query.sizes)[cells]
            margins.append(Margin(tuple(map(axes.index, query.groups)), table, max(variance, _LEAST_VARIANCE), known))
        found = []
        for query, agreed in zip(self.asked, reconcile(margins, n=self.every), strict=True):
            whole = np.zeros(query.sizes)
            whole[np.ix_(*(levels[group] for group in query.groups))] = agreed
            found.append(whole.ravel())
        return found

    @staticmethod
    def _known_cells(counted: Counted, noises: Noises, half: Integers) -> NDArray[np.bool_]:
        """The cells without noise of a table that has some with noise: 0, because no row can be there, or published."""
        exact = np.asarray(half == 0, dtype=bool)
        return exact if _says_exact(counted, noises) and not exact.all() else np.zeros(len(exact), dtype=bool)

    @staticmethod
    def _empty_cells(counted: Counted, noises: Noises, values: Integers, half: Integers) -> NDArray[np.bool_]:
        """The cells of a table that are 0 without noise, because exact totals say so."""
        told = _says_exact(counted, noises)
        return np.asarray((values == 0) & (half == 0), dtype=bool) if told else np.zeros(len(values), dtype=bool)

    def _levels(self, axes: Sequence[Group], empty: Sequence[NDArray[np.bool_]]) -> dict[Group, NDArray[np.intp]]:
        """For each group the levels that can hold a row: the others are 0 in every table, and stay it."""
        found = {}
        for group in axes:
            there: list[NDArray[np.bool_]] = []
            for query, cells in zip(self.asked, empty, strict=True):
                if group in query.groups:
                    place = query.groups.index(group)
                    others = tuple(axis for axis in range(len(query.sizes)) if axis != place)
                    there.append(np.asarray(~cells.reshape(query.sizes).all(axis=others)))
            alive = np.flatnonzero(np.any(there, axis=0))
            found[group] = alive if len(alive) else np.arange(len(there[0]))
        return found

    def told(self, noises: Noises, *, totals: bool) -> Mapping[str, str]:
        return {}


def _says_exact(counted: Counted, noises: Noises) -> bool:
    """True if a cell without noise is one that exact totals tell, and not one whose noise is hardly ever there."""
    return all(noises.law(query).keeps_totals or noises.law(query).held is not None for query in counted.queries)


def _every_cell(query: TableCounts, counted: Counted, answers: Answers) -> Noisy:
    """The counts of all cells of a table, for every cell of the request, with the half-widths of their noise."""
    cells = answers.noises.cells * prod(query.sizes)
    return counted.counts(Answers(answers.noises, answers.values, slice(0, cells)))
