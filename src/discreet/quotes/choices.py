"""Which of several noises a request gets, where a guarantee allows several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log

from discreet.errors import PlanError
from discreet.plan.plan import Plan
from discreet.quotes.persons import step_of
from discreet.quotes.quote import LEVEL, Measured, noises_behind
from discreet.statistics.count_tables import Tables
from discreet.statistics.recipe import Recipe

__all__ = ["least_noisy"]

_ROWS = 1000
"""Of a group, where an error depends on its size."""

_LEAST = 1e-300

Found = tuple[tuple[Recipe, ...], tuple[Measured, ...], Fraction]


def least_noisy(plan: Plan, kinds: Sequence[Callable[[], Found]]) -> Found:
    """What is measured with the least noisy of several kinds of noise.

    Raises:
        PlanError: none of them can be used; what the first one says.
    """
    if len(kinds) == 1:
        return kinds[0]()
    found, refused = list[Found](), list[PlanError]()
    for kind in kinds:
        try:
            found.append(kind())
        except PlanError as wrong:  # of errors that another kind may meet
            refused.append(wrong)
    if not found:
        raise refused[0]
    return min(found, key=lambda one: _spread(plan, *one[:2]))


def _spread(plan: Plan, recipes: Sequence[Recipe], measured: Sequence[Measured]) -> float:
    """The sum of the logarithms of the noises' standard deviations: smaller is better, whatever the units.

    Tables are measured by other queries under another noise. A request with some has the sum of those of its errors.
    """
    if any(isinstance(one.kind, Tables) for one in plan.answered):
        noises = noises_behind(plan, measured, LEVEL)
        return sum(log(max(recipe.error(noises, _ROWS), _LEAST)) for recipe in recipes)
    return sum(log(max(one.law.variance(), _LEAST)) - 2 * log(step_of(one.query)) for one in measured)
