"""The effects of trees of areas in a request: what a change of rows does to all of them together.

Each effect of each level is a query with its own noise. What those of one tree cost together is the largest sum over the
changes of one row, found exactly (docs/proofs/areas.md, K4). Effects of several trees cost at most the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.cube.queries import AreaEffects, AreaLevels, Query
from discreet.domain.groups import Group
from discreet.domain.origins import covers
from discreet.domain.steps import conditions_of
from discreet.errors import PlanError
from discreet.exact.cached import cached_property
from discreet.mechanisms import Sensitivity
from discreet.mechanisms.effect_costs import Cost
from discreet.mechanisms.effects import Axes
from discreet.mechanisms.tree_costs import Kept, Precisions, TreeChanges, cost_in_tree
from discreet.privacy.measures import Target
from discreet.quotes.effects import is_gaussian
from discreet.quotes.one_row import row_of
from discreet.quotes.primitives import Asked
from discreet.quotes.quote import BOUND, EXACT, Measured
from discreet.quotes.view import counts_every_row
from discreet.statistics.agreeing_areas import AgreeingAreas
from discreet.statistics.base import Statistic
from discreet.statistics.levels import tree_of

__all__ = [
    "Given",
    "charge_of_areas",
    "check_areas",
    "check_room",
    "cost_of_areas",
    "divide_areas",
    "fit_areas",
    "one_row_of_areas",
    "trees_among",
]

Given = Mapping[Query, tuple[Sensitivity, Fraction]]
"""For each query its sensitivity and its share."""


@dataclass(frozen=True, eq=False)
class _InTree:
    """The effects of one tree in a request.

    Args:
        asked: the request.
        queries: its effects, all of the same levels.
    """

    asked: Asked
    queries: tuple[AreaEffects, ...]

    @cached_property
    def _axes(self) -> tuple[Group, ...]:
        return tuple(dict.fromkeys(group for query in self.queries for group in query.effect.groups))

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        levels = {
            group: size
            for query in self.queries
            for group, size in zip(query.effect.groups, query.effect.levels, strict=True)
        }
        return tuple(levels[group] for group in self._axes)

    def _part(self, query: AreaEffects) -> tuple[int, Axes]:
        return query.level, tuple(sorted(map(self._axes.index, query.effect.groups)))

    @property
    def _forks(self) -> tuple[int, ...]:
        return tree_of(self.queries[0].tree).forks

    @cached_property
    def _changes(self) -> TreeChanges:
        """What one row can do; beside exact totals rows are matched by any one table of them (V3 of semi-dp)."""
        space, anything = self.asked.space, self._of_any_row
        if space is None:
            return anything
        kept = tuple(dict.fromkeys(map(self._kept, space.tables))) or anything.kept
        return TreeChanges(anything.appears, anything.forks, kept, space.beside.adjacency.a)

    @property
    def _of_any_row(self) -> TreeChanges:
        """What one row can do that need not keep any totals."""
        row = row_of(self.asked)
        return TreeChanges(row.neighbours.appears, self._forks, (Kept(0, (), row.skipped),))

    def _kept(self, table: frozenset[str]) -> Kept:
        """What rows have in common that agree in the columns of a table of totals.

        Where these tell whether a row counts, both rows do or neither; the rows of a sample may vanish all the same.
        """
        plan, levels = self.asked.plan, self.queries[0].tree.columns
        known = (place for place, name in enumerate(levels, start=1) if covers(table, (name,), plan.schema))
        axes = (axis for axis, group in enumerate(self._axes) if self._is_told(table, group.column))
        told = tuple(step.column for step in conditions_of(plan.steps) if self._is_told(table, step.column))
        leaves = self.asked.facts.compared.vanishes or not counts_every_row(plan, told)
        return Kept(max(known, default=0), tuple(axes), leaves)

    def _is_told(self, table: frozenset[str], column: str) -> bool:
        schema = self.asked.plan.schema
        return column in table or (column in schema.columns and covers(table, (column,), schema))

    def cost(self, given: Given) -> Cost:
        """What the effects cost together under Gaussian noise that gives each its share at its own sensitivity."""
        return cost_in_tree(self._sizes, self._precisions(given), self._changes)

    def cost_of_any_row(self, given: Given) -> Cost:
        """The same for one row that need not keep the totals."""
        return cost_in_tree(self._sizes, self._precisions(given), self._of_any_row)

    def _precisions(self, given: Given) -> Precisions:
        """The noise of a query has the variance Δ²/(share · μ²), of its unit; so its precision is share · unit²/Δ²."""
        precisions = {}
        for query in self.queries:
            sensitivity, share = given[query]
            precisions[self._part(query)] = share * query.unit**2 / sensitivity.l2_squared
        return precisions


def trees_among(asked: Asked, queries: Sequence[Query]) -> tuple[_InTree, ...]:
    """The effects of areas among some queries, those of each tree together."""
    found: dict[AreaLevels, list[AreaEffects]] = {}
    for query in queries:
        if isinstance(query, AreaEffects):
            found.setdefault(query.tree, []).append(query)
    return tuple(_InTree(asked, tuple(own)) for own in found.values())


def cost_of_areas(asked: Asked, given: Given) -> Cost:
    """What all effects of areas cost together; a bound where there are several trees."""
    costs = [tree.cost(given) for tree in trees_among(asked, tuple(given))]
    most = sum((one.most for one in costs), Fraction(0))
    return Cost(most, (), exact=len(costs) < 2 and all(one.exact for one in costs))


def charge_of_areas(asked: Asked, measured: Sequence[Measured]) -> str:
    """Whether what is charged for effects of areas is exactly what a change of rows can tell, or a bound; "" without any.

    Beside other queries the costs of both are added up.
    """
    given: dict[Query, tuple[Sensitivity, Fraction]] = {
        one.query: (one.sensitivity, one.share) for one in measured if isinstance(one.query, AreaEffects)
    }
    if not given:
        return ""
    return EXACT if len(given) == len(measured) and cost_of_areas(asked, given).exact else BOUND


def one_row_of_areas(asked: Asked, measured: Sequence[Measured]) -> Fraction:
    """What one row that need not keep the totals costs, relative to the sum of its costs in every query; 1 beside others."""
    given: dict[Query, tuple[Sensitivity, Fraction]] = {one.query: (one.sensitivity, one.share) for one in measured}
    trees = trees_among(asked, tuple(given))
    if len(trees) != 1 or len(trees[0].queries) < len(given):
        return Fraction(1)
    alone = sum((one.share * one.ordinary.l2_squared / one.sensitivity.l2_squared for one in measured), Fraction(0))
    return trees[0].cost_of_any_row(given).most / alone


def divide_areas(weights: dict[Query, Fraction], sensitivity: Callable[[Query], Sensitivity]) -> dict[Query, Fraction]:
    """The weights, where those of effects of areas give them the precisions that were chosen for a row that appears.

    A query whose noise has the precision t in the effect needs a share of t·Δ²/unit², and a row that appears has the energy
    Δ²/unit² = p.
    """
    own = [query for query in weights if isinstance(query, AreaEffects)]
    asked = sum((weights[query] for query in own), Fraction(0))
    wanted = {query: weights[query] * sensitivity(query).l2_squared / query.effect.own_norms[1] for query in own}
    total = sum(wanted.values())
    return {**weights, **{query: asked * one / total for query, one in wanted.items()}} if total else weights


def fit_areas(statistics: Sequence[Statistic], targets: list[Target]) -> list[Target]:
    """The targets that leave areas Gaussian noise, where some do and areas are asked for."""
    if not any(isinstance(one.kind, AgreeingAreas) for one in statistics):
        return targets
    return [one for one in targets if is_gaussian(one)] or targets


def check_areas(queries: Sequence[Query], target: Target) -> None:
    """Checks that the effects of areas get Gaussian noise, of which their intervals are made.

    Raises:
        PlanError: another noise.
    """
    if not is_gaussian(target) and any(isinstance(query, AreaEffects) for query in queries):
        raise PlanError(
            "agreeing_areas(): needs Gaussian noise, which has no pure ε; take a budget of ZCDP, GDP or ApproxDP, or ask "
            "for tables(…) of each level"
        )


def check_room(measured: Sequence[Measured]) -> None:
    """Checks that effects of areas that are written to files are integers of 64 bits, whatever the rows are.

    Raises:
        PlanError: a table of many cells with little noise is measured in steps that are too fine.
    """
    for one in measured:
        if isinstance(one.query, AreaEffects) and not one.query.effect.is_narrow:
            raise PlanError(
                f"agreeing_areas(): the {one.query.words()} has so little noise that its integers need more than 64 bits; "
                "spend less, or take fewer groups together"
            )
