"""Errors of some tables that are met while the variances of others are the least: how much room they leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.errors import PlanError
from discreet.exact.numbers import float_up
from discreet.quotes.quote import Measured
from discreet.statistics.effect_tables import EffectsRecipe
from discreet.statistics.recipe import Noises, Recipe
from discreet.statistics.whole_tables import WholeRecipe

__all__ = ["within_errors"]

_ROUNDS = 12
_SHORT = 1e-4  # of the squared errors: aimed at, so that they are met
_NEAR = 1e-3
_LEAST = Fraction(1, 1 << 20)
"""Of quotients: where all cells of the tables with errors are public, they leave as much room as anybody can use."""

Found = tuple[tuple[Recipe, ...], tuple[Measured, ...], Fraction]


def within_errors(
    recipes: tuple[Recipe, ...],
    measure: Callable[[Sequence[Recipe]], tuple[tuple[Measured, ...], Fraction]],
    noises: Callable[[Sequence[Recipe], tuple[Measured, ...]], Sequence[Noises]],
) -> Found:
    """The recipes, the queries with their noise, and the joint factor; errors are met where weights are given besides.

    First the errors alone are divided for. What they leave is found by trying: squared quotients of half-widths and errors
    grow in proportion to the room.

    Args:
        recipes: of the statistics.
        measure: the queries with noise for recipes, and the joint factor.
        noises: what each statistic sees of them.

    Raises:
        PlanError: the spend is too small for the errors.
    """
    mixed = [place for place, one in enumerate(recipes) if _asks_both(one)]
    found: Found = recipes, *measure(recipes)
    if not mixed:
        return found
    quotient = _quotient(found, mixed, noises)
    if quotient > 1:
        raise PlanError(
            f"tables(): errors: with this spend intervals are {float_up(quotient):.4g} times as wide as their errors at "
            "best; spend more, or allow larger errors"
        )
    room, best = 1.0, found
    for _ in range(_ROUNDS):
        room *= (1 - _SHORT) / float(quotient) ** 2
        if room <= 1:
            break
        tried = _with_room(recipes, mixed, room)
        found = tried, *measure(tried)
        before, quotient = quotient, _quotient(found, mixed, noises)
        if quotient <= 1:
            best = found
        if 1 - _NEAR <= quotient <= 1 or quotient == before:
            break
    return best


def _asks_both(recipe: Recipe) -> bool:
    return isinstance(recipe, EffectsRecipe | WholeRecipe) and recipe.demand.mixed


def _with_room(recipes: Sequence[Recipe], mixed: Sequence[int], room: float) -> tuple[Recipe, ...]:
    return tuple(
        replace(one, demand=replace(one.demand, room=room))
        if place in mixed and isinstance(one, EffectsRecipe | WholeRecipe)
        else one
        for place, one in enumerate(recipes)
    )


def _quotient(
    found: Found, mixed: Sequence[int], noises: Callable[[Sequence[Recipe], tuple[Measured, ...]], Sequence[Noises]]
) -> Fraction:
    recipes, measured, _ = found
    seen, most = noises(recipes, measured), _LEAST
    for place in mixed:
        one = recipes[place]
        if isinstance(one, EffectsRecipe | WholeRecipe):
            most = max(most, one.demand.quotient(one.errors(seen[place])))
    return most
