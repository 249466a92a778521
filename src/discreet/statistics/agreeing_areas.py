"""The numbers of rows in the areas of every level of a tree, in tables that add up from level to level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from discreet.domain.groups import Bins, CategoryGroup, Group, is_complete
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError, printed
from discreet.exact.numbers import Amount
from discreet.mechanisms import Sensitivity
from discreet.statistics.area_recipe import AreasRecipe, recipe_of
from discreet.statistics.base import (
    UNBIASED,
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
    groupings_of,
)
from discreet.statistics.common import NoColumn, check_weight, title
from discreet.statistics.count_tables import cells_of_tables, group_facts, refuse_grouped, refuse_twice
from discreet.statistics.levels import check_chain, levels_of
from discreet.statistics.possible import Possible, count_value
from discreet.statistics.tree_given import LevelShares, check_levels, given_shares, shares_json
from discreet.statistics.ways import written_groupings

__all__ = ["AgreeingAreas", "agreeing_areas"]


def agreeing_areas(
    *levels: str,
    by: Sequence[Sequence[str | Bins]] = ((),),
    weight: Amount = 1,
    shares: Mapping[str, Sequence[Amount]] | None = None,
    level_shares: Mapping[str, Amount] | None = None,
) -> Statistic:
    """The numbers of rows in the areas of every level, by further columns if some are named, in tables that add up.

    For all areas together and for each level there is a table by each of `by`, a frame of its own. Each level is measured,
    with a share of the spend that gives all tables of all levels the same relative importance. Every cell gets the unbiased
    least-squares estimate from everything that was measured, and an interval of its own. The areas inside an area add up to
    it, tables of one level agree, and both are equal to exact totals that are published alongside. The estimates are no
    whole numbers; the measured integers are in the release too.

    Args:
        levels: a hierarchy, for all of its levels; or the columns of levels, the widest areas first, each of which is
            determined by the next one.
        by: the groupings of the tables, each a list of columns or bins that cover their column; [] for the rows alone.
        weight: its share of the spend relative to the other statistics of the request.
        shares: in place of equal importance, for each level that is measured, "" for all areas together, a number for each
            table of `by`, 0 for one that is not measured there: its share of the spend, as if each table were measured as a
            whole. What is public is left out, and the others have more.
        level_shares: for some of these levels a factor of their numbers.

    Raises:
        PlanError: no level, or a grouping that is not a list of columns or is given twice; shares of other levels, of
            another number of tables, or of none at the last level.
    """
    if not levels or not all(isinstance(one, str) and one for one in levels):
        raise PlanError(
            'agreeing_areas(): must name a hierarchy or the columns of its levels, such as agreeing_areas("area")'
        )
    tables = _given(by)
    kind = AgreeingAreas(levels, tables, (), given_shares(shares, level_shares, len(tables)))
    return Statistic(kind, None, "areas", check_weight(weight))


def _given(by: object) -> tuple[tuple[str | Bins, ...], ...]:
    said = f'agreeing_areas(by={printed(by)}): must be lists of columns or bins, such as by=[[], ["sex"], ["sex", "age"]]'
    if not isinstance(by, list | tuple) or not by:
        raise PlanError(said)
    found = tuple(tuple(one) if isinstance(one, list | tuple) else (None,) for one in by)
    if not all(isinstance(column, str | Bins) for one in found for column in one):
        raise PlanError(said)
    return found


@dataclass(frozen=True, slots=True)
class LevelTables:
    """A count for each cell of each table of each level, in frames of their own."""

    one_number: bool = False

    def groupings(self, one: Statistic) -> tuple[tuple[Group, ...], ...]:
        found = _kind_of(one).tables
        if not found:
            raise InternalError(f"statistic '{one.name}' has groups that were not checked")
        return found

    def prepare(
        self, one: Statistic, check: Callable[[str | Bins | Group], Group], facts: TableFacts, *, grouped: bool
    ) -> Statistic:
        if grouped:
            refuse_grouped(one)
        kind = _kind_of(one)
        levels = levels_of(kind.levels, facts)
        areas = [check(level) for level in levels]
        check_chain(levels, facts)
        by = tuple(tuple(check(column) for column in grouping) for grouping in kind.by)
        for groups in by:
            refuse_twice(one, groups)
            _check_complete(groups, facts)
        if len(set(by)) < len(by):
            raise PlanError("agreeing_areas(): by must name different lists of columns; one of them is given twice")
        tables = tuple((*area, *groups) for groups in by for area in ((), *((one,) for one in areas)))
        check_levels(kind.shares, levels)
        return replace(one, kind=AgreeingAreas(tuple(levels), by, tables, kind.shares))

    def outputs(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def to_json(self, one: Statistic) -> dict[str, object]:
        kind = _kind_of(one)
        by = [[group_facts(group) for group in grouping] for grouping in kind.by]
        tables = [[group_facts(group) for group in grouping] for grouping in kind.tables]
        shares = {"shares": shares_json(kind.shares)} if kind.shares else {}
        return {"levels": list(kind.levels), "by": by, "tables": tables, **shares}

    def places(self, one: Statistic, facts: TableFacts) -> int:
        return cells_of_tables(self.groupings(one), facts)

    def advice(self, one: Statistic, room: Room) -> str:
        return f"take fewer levels or groups, at most {room.most} in all its tables"


def _check_complete(groups: Sequence[Group], facts: TableFacts) -> None:
    for group in groups:
        if not is_complete(group, facts):
            raise PlanError(
                f"agreeing_areas(): bins('{group.column}') leave values out, and areas can only add up over all rows; let "
                "the bins cover the column, clamp it to them, or ask for tables(…)"
            )


@dataclass(frozen=True, slots=True)
class AtTheLastLevel:
    """Rows by the areas of the last level and further groups: the areas of other levels are sums of these."""

    def columns(self, one: Statistic) -> tuple[str, ...]:
        return ()

    def check(self, one: Statistic, facts: TableFacts) -> None:
        pass

    def needs(self, one: Statistic) -> tuple[Need, ...]:
        kind = _kind_of(one)
        area = CategoryGroup(kind.levels[-1])
        tables = ((area, *(group for group in by if not isinstance(group, str | Bins))) for by in kind.by)
        return tuple(Need("groups", tuple(group.column for group in groups), groups) for groups in tables)

    def to_json(self, one: Statistic) -> dict[str, object]:
        return {}

    def recorded(self, one: Statistic, names: Mapping[str, str]) -> Statistic:
        return NoColumn().recorded(one, names)


def _kind_of(one: Statistic) -> AgreeingAreas:
    if not isinstance(one.kind, AgreeingAreas):
        raise InternalError(f"statistic '{one.name}' has no areas")
    return one.kind


def _written_levels(value: Written) -> Sequence[Any]:
    """The levels in a plan file."""
    return [item.string() for item in value.items()]


def _written_shares(value: Written) -> dict[str, Any]:
    """The shares of tables by level in a plan file."""
    return {level: [own.number() for own in one.items()] for level, one in value.mapping().items()}


def _written_numbers(value: Written) -> dict[str, Amount]:
    """Numbers by level in a plan file."""
    return {level: one.number() for level, one in value.mapping().items()}


@dataclass(frozen=True, slots=True)
class AgreeingAreas:
    """The numbers of rows in the areas of every level, in tables that add up; `tables` once a table has checked them."""

    levels: tuple[str, ...]
    by: tuple[tuple[str | Bins | Group, ...], ...]
    tables: tuple[tuple[Group, ...], ...]
    shares: tuple[LevelShares, ...] = ()

    word: ClassVar = "agreeing_areas"
    noun: ClassVar = "Number of rows in areas"
    keys: ClassVar = Keys(
        _written_levels,
        {},
        {"by": written_groupings, "shares": _written_shares, "level_shares": _written_numbers},
        lacks='needs a list of levels: write { agreeing_areas = ["area"] }',
    )
    view: ClassVar = UNBIASED
    possible: ClassVar[Possible] = staticmethod(count_value)
    counts: ClassVar = False
    reads: ClassVar[Reads] = AtTheLastLevel()
    shape: ClassVar[Shape] = LevelTables()
    completed: ClassVar[tuple[Completed, ...]] = ()
    extended: ClassVar[tuple[Extended, ...]] = ()

    @staticmethod
    def of(*columns: Any, **options: Any) -> Statistic:
        return agreeing_areas(*columns, **options)

    @staticmethod
    def title(shown: Mapping[str, Any], part: str) -> str:
        return title(part, shown) if part else AgreeingAreas.noun

    def span(self, one: Statistic, facts: TableFacts, free: Free) -> Sensitivity:
        # In units of an effect: ‖E e_x‖₁ ≤ 2^d, and ‖E(e_x - e_y)‖² ≤ 2, within one area or between two.
        most = 1 << max(map(len, self.by))
        return free.of_moves((2 * most, 2), (2 * most, 2), (most, 1))

    def recipe(self, one: Statistic, asked: Asked) -> AreasRecipe:
        groupings_of(one)
        by = tuple(tuple(group for group in grouping if not isinstance(group, str | Bins)) for grouping in self.by)
        return recipe_of(self.levels, by, self.shares, asked)
