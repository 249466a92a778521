"""The effects of a request: what one row does to all of them together, and how they divide their part of the spend.

Each effect is a query with its own noise. What they cost together is the largest sum over the changes of one row, found
exactly, and less than the sum of what each costs at its worst (docs/proofs/effects.md, "Charge").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.cube.queries import EffectCounts, Query
from discreet.domain.groups import Group
from discreet.domain.origins import covers
from discreet.errors import PlanError
from discreet.exact.cached import cached_property
from discreet.mechanisms import Sensitivity
from discreet.mechanisms.effect_costs import Changes, Cost, cost_of, listed_changes
from discreet.mechanisms.effect_search import Demand, Division
from discreet.mechanisms.effect_shares import best_precisions, best_within
from discreet.mechanisms.effects import Axes, Effects
from discreet.privacy.measures import Target
from discreet.quotes.one_row import row_of
from discreet.quotes.persons import weighting_for
from discreet.quotes.primitives import Asked, already_exact
from discreet.quotes.quote import BOUND, EXACT, Measured
from discreet.statistics.effect_tables import EffectsRecipe
from discreet.statistics.recipe import Recipe

__all__ = ["Together", "charge_of", "divide_effects", "effects_among", "is_gaussian"]

_PARTS = 1 << 24  # shares are whole multiples of 1 over this, for short fractions


@dataclass(frozen=True, eq=False)
class Together:
    """The effects of a request.

    Args:
        asked: the request.
        queries: its effects.
    """

    asked: Asked
    queries: tuple[EffectCounts, ...]

    @cached_property
    def _axes(self) -> tuple[Group, ...]:
        return tuple(dict.fromkeys(group for query in self.queries for group in query.groups))

    @cached_property
    def _parts(self) -> tuple[Axes, ...]:
        """The axes of each query, ascending."""
        return tuple(tuple(sorted(map(self._axes.index, query.groups))) for query in self.queries)

    @cached_property
    def _effects(self) -> Effects:
        levels = {group: size for query in self.queries for group, size in zip(query.groups, query.levels, strict=True)}
        return Effects(tuple(levels[group] for group in self._axes), self._parts)

    @cached_property
    def _changes(self) -> Changes:
        """What one row can do; beside exact totals rows are matched by any one table of them (V3 of semi-dp)."""
        row, space = row_of(self.asked), self.asked.space
        if space is None:
            return Changes(appears=row.neighbours.appears, leaves=row.skipped)
        kept = tuple(dict.fromkeys(map(self._kept, space.tables))) or ((),)
        rows = space.beside.adjacency.a
        crossing = len(kept) > 1 and not row.skipped and self._has(*space.tables)
        lists = kept if crossing else ()
        return Changes(appears=row.neighbours.appears, leaves=row.skipped, kept=kept, rows=rows, lists=lists)

    def _has(self, *tables: frozenset[str]) -> bool:
        """True if all columns of these tables of totals are axes."""
        return frozenset().union(*tables) <= {group.column for group in self._axes}

    def _kept(self, table: frozenset[str]) -> Axes:
        """The axes in which rows agree that agree in the columns of a table of totals."""
        schema = self.asked.plan.schema
        known = (
            group.column in table or (group.column in schema.columns and covers(table, (group.column,), schema))
            for group in self._axes
        )
        return tuple(axis for axis, one in enumerate(known) if one)

    def cost(self, sensitivities: Sequence[Sensitivity], shares: Sequence[Fraction]) -> Cost:
        """What the effects cost together under Gaussian noise that gives each its share at its own sensitivity.

        The noise of query a has the variance Δ_a²/(share · μ²), of its unit; so its precision is share · unit²/Δ_a².
        """
        each = zip(self.queries, sensitivities, shares, strict=True)
        precisions = [share * query.unit**2 / one.l2_squared for query, one, share in each]
        return cost_of(self._effects, precisions, self._changes)

    def divide(
        self, weights: Mapping[Query, Fraction], sensitivities: Sequence[Sensitivity], recipes: Sequence[EffectsRecipe]
    ) -> dict[Query, Fraction]:
        """The weights of the effects, divided anew: least is the sum of variances of all cells, or what errors demand.

        Raises:
            PlanError: no change of rows keeps the totals.
        """
        if listed_changes(self._effects, self._changes) == ():
            raise already_exact(self.queries[0])
        every = sum((weights[query] for query in self.queries), Fraction(0))
        precisions = self._divide(self._values(weights, every), recipes).precisions
        each = zip(self.queries, sensitivities, precisions, strict=True)
        shares = [t * one.l2_squared / query.unit**2 for query, one, t in each]
        return self._weights(every, shares)

    def _divide(self, values: tuple[float, ...], recipes: Sequence[EffectsRecipe]) -> Division:
        """Of the sum with these values, as far as errors leave room for it."""
        if not recipes:
            return best_precisions(self._effects, Demand.of_sum(values), self._changes)
        demand = self._of_errors(recipes)
        if not recipes[0].demand.mixed:
            return best_precisions(self._effects, demand, self._changes)
        return best_within(self._effects, demand, values, recipes[0].demand.room, self._changes)

    def _values(self, weights: Mapping[Query, Fraction], every: Fraction) -> tuple[float, ...]:
        """What the variance of each effect adds to the sum that recipes weigh effects for.

        They do so for Gaussian noise and a row that appears: by √(v p), p the energy and v what the variance of the effect
        adds to that sum. So v is the square of that over p.
        """
        energies = [float(self._effects.energy(part)) for part in self._parts]
        return tuple(float(weights[query] / every) ** 2 / p for query, p in zip(self.queries, energies, strict=True))

    def _of_errors(self, recipes: Sequence[EffectsRecipe]) -> Demand:
        """The variance of a table may be its error squared, times what is the same for all of them."""
        places = {query: place for place, query in enumerate(self.queries)}
        tables = [
            (tuple((places[query], value) for query, value in adds), wanted**2)
            for recipe in recipes
            for adds, wanted in recipe.limits
        ]
        return Demand(*(tuple(one) for one in zip(*tables, strict=True)))

    def _weights(self, every: Fraction, shares: Sequence[float]) -> dict[Query, Fraction]:
        total = sum(shares)
        short = [max(1, round(one / total * _PARTS)) for one in shares]
        return {query: every * Fraction(one, sum(short)) for query, one in zip(self.queries, short, strict=True)}


def effects_among(asked: Asked, queries: Sequence[Query]) -> Together | None:
    """The effects among some queries; None where there is none."""
    found = tuple(query for query in queries if isinstance(query, EffectCounts))
    return Together(asked, found) if found else None


def divide_effects(
    asked: Asked,
    recipes: Sequence[Recipe],
    weights: dict[Query, Fraction],
    sensitivity: Callable[[Query], Sensitivity],
) -> dict[Query, Fraction]:
    """The weights, those of effects divided so that the variances of the cells of their tables add up to the least.

    Where tables have errors, the largest quotient of a half-width and its error is the least, or the errors leave room.

    Raises:
        PlanError: tables of several statistics have errors, and others of them do not.
    """
    together = effects_among(asked, tuple(weights))
    if together is None:
        return weights
    from_effects = [one for one in recipes if isinstance(one, EffectsRecipe) and one.noisy]
    wanting = [one for one in from_effects if one.demand.limited]
    if len(from_effects) > 1 and 0 < sum(one.demand.alike for one in from_effects) + len(wanting) < 2 * len(from_effects):
        raise PlanError(
            "tables(): some tables of the request have errors and others have not; name them in one statistic: "
            'tables(["a"], ["b"], errors=[10, None])'
        )
    known = [sensitivity(query) for query in together.queries]
    if not all(one.l1 for one in known):
        return weights  # the request is refused: something in it is public already
    return weights | together.divide(weights, known, wanting)


def is_gaussian(target: Target) -> bool:
    """True if a guarantee costs by the square of ‖·‖₂."""
    return weighting_for(target) == "squares"


def charge_of(asked: Asked, measured: Sequence[Measured]) -> str:
    """Whether what is charged for the effects is exactly what a change of rows can tell, or a bound of it; "" without any.

    Beside other queries the costs of both are added up.
    """
    together = effects_among(asked, [one.query for one in measured])
    if together is None:
        return ""
    if len(together.queries) < len(measured):
        return BOUND
    return EXACT if together.cost([one.sensitivity for one in measured], [one.share for one in measured]).exact else BOUND
