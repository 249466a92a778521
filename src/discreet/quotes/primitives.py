"""From statistics to the primitive integer queries behind them: what recipes have to know of a request, and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Query, RowCount, RowCounts, TableCounts
from discreet.cube.weights import Weighting
from discreet.domain.groups import group_labels
from discreet.domain.origins import root_of
from discreet.domain.steps import TableFacts, conditions_of
from discreet.errors import PlanError
from discreet.plan.filled import fillings_of
from discreet.plan.layout import filled_of
from discreet.plan.plan import Plan
from discreet.plan.recorded import originals_of
from discreet.plan.shown import empty_labels
from discreet.quotes.persons import counting_of
from discreet.quotes.space import Space
from discreet.quotes.table_sums import sums_of_table
from discreet.quotes.view import counts_every_row
from discreet.statistics import base
from discreet.statistics.base import Statistic
from discreet.statistics.counted import APART, PUBLISHED, PublicCells, PublicCount
from discreet.statistics.person_recipes import person_recipe
from discreet.statistics.public_totals import ListedTotals, PublicSum
from discreet.statistics.recipe import Counted, Recipe
from discreet.totals.statements import TotalsStatement

__all__ = ["Asked", "already_exact", "recipes_of", "weights_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request with what is known of its table: facts, public rows and, with exact totals, the sensitivity space."""

    plan: Plan
    facts: TableFacts
    space: Space | None

    @property
    def filtered(self) -> bool:
        """True if rows can fail a condition."""
        return bool(conditions_of(self.plan.steps))

    @property
    def public_rows(self) -> int | None:
        """The number of rows of all cells together, if it is public: every row counts somewhere, and n is public."""
        return self.facts.rows if counts_every_row(self.plan) else None

    @property
    def totals(self) -> tuple[ListedTotals, ...]:
        """The lists of exact totals, of all groups or of some."""
        parts = () if self.space is None else self.space.beside.invariants.parts
        lists = (part for part in parts if isinstance(part, TotalsStatement))
        return tuple(ListedTotals(frozenset(part.columns), None if part.only is None else len(part.only)) for part in lists)

    def public_counts(self, query: Query) -> Counted | None:
        """The counts, if they are public: all rows of a table whose n is public, or what the totals say (soundness 6)."""
        if isinstance(query, RowCount) and not self.plan.group_by and not self.filtered and self.facts.rows is not None:
            return PublicCount(self.facts.rows, APART if self.space is None else PUBLISHED)
        counted = None if self.space is None or self._is_beside_totals(query) else self.space.counting(query)
        return None if counted is None or counted.known is None else PublicCells(counted.known)

    def _is_beside_totals(self, query: Query) -> bool:
        """True if the query tells groups apart of which the totals say nothing: its counts are not public."""
        if self.space is None or not isinstance(query, RowCounts):
            return False
        schema = self.plan.schema
        roots = {root_of(name, schema) for name in self.space.beside.invariants.columns}
        return any(
            len(group_labels(group, self.facts)) > 1
            and (group.column not in schema.columns or root_of(group.column, schema) not in roots)
            for group in (*self.plan.group_by, *query.rows.by)
        )

    def held_cells(self, query: TableCounts) -> NDArray[np.int64] | None:
        """The positions of the cells of a table that can have rows, as far as conditions and totals say; None for all."""
        counted = None if self.space is None else self.space.counting(query)
        shape = query.sizes
        empty = [empty_labels(self.plan, group) for group in query.groups]
        if not any(empty):
            return None if counted is None else counted.held
        there = np.zeros(prod(shape), dtype=bool)
        there[slice(None) if counted is None else counted.held] = True
        for axis, places in enumerate(empty):
            there.reshape(shape).swapaxes(0, axis)[sorted(places)] = False
        return np.flatnonzero(there)

    def public_sums(self, query: TableCounts) -> list[PublicSum]:
        """The sums of cells of a table that are public, but for those that lists of all groups say."""
        return [] if self.space is None else sums_of_table(self.plan, self.space, query)

    def keeps_all(self, query: Query) -> bool:
        """True unless the lattice of the noise of a query that counts rows is that of some exact totals alone."""
        counted = None if self.space is None else self.space.counting(query)
        return counted is None or counted.settled


def already_exact(query: Query) -> PlanError:
    """The error that the answer of a query is public."""
    return PlanError(f"'{query.words()}' is already exact: it follows from what is public; ask for more")


def recipes_of(asked: Asked, weighting: Weighting) -> tuple[Recipe, ...]:
    """The recipes of the statistics of the request, in their order; those of a table of persons have these weights.

    Trees of quantiles have a single level here; their shape depends on the noise that they will get.
    """
    statistics = asked.plan.answered
    if asked.plan.layout.persons is not None:
        counting = counting_of(asked.plan, weighting)
        return tuple(person_recipe(one, counting) for one in statistics)
    originals = originals_of(asked.plan, asked.plan.layout.labels)
    if originals is not None and originals.completed and asked.space is not None:
        raise PlanError(
            "original('anywhere'): exact totals are published alongside, beside which the counts of nulls have no interval; "
            "ask for nulls='recorded'"
        )
    filled = fillings_of(filled_of(asked.plan), asked.facts)
    known = base.Asked(
        facts=asked.facts,
        statistics=statistics,
        every=asked.public_rows,
        known=asked.public_counts,
        held=asked.held_cells,
        sums=asked.public_sums,
        keeps=asked.keeps_all,
        weighting=weighting,
        originals=originals,
        totals=asked.totals,
        filled=filled,
    )
    return tuple(_recipe_of(statistic, known) for statistic in statistics)


def _recipe_of(statistic: Statistic, known: base.Asked) -> Recipe:
    """The recipe of a statistic; of one whose interval holds with any answer of those who gave none, that form."""
    (make,) = statistic.kind.completed if known.completes(statistic) else (statistic.kind.recipe,)
    found = make(statistic, known)
    for extend in statistic.kind.extended if known.extends(statistic) else ():
        found = extend(found, statistic, known)
    return found


def weights_of(asked: Asked, recipes: Sequence[Recipe]) -> dict[Query, Fraction]:
    """The distinct primitive queries, each with the greatest weight of the statistics that share it."""
    weights: dict[Query, Fraction] = {}
    for statistic, recipe in zip(asked.plan.answered, recipes, strict=True):
        for query, part in recipe.queries:
            weights[query] = max(weights.get(query, Fraction(0)), statistic.weight * part)
    return weights
