"""One person as the difference of two tables: the change of totals over persons, and the weights that fit a guarantee.

A query of rows has no change here. Whoever asks for one finds an internal error and no charge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from discreet.cube.queries import AreaEffects, EffectCounts, PersonsKnown, PersonTotal, PersonValues, Query, Weighed
from discreet.cube.weights import Weighting
from discreet.errors import InternalError
from discreet.mechanisms import Change, Sensitivity
from discreet.plan.plan import Plan
from discreet.privacy.measures import Target
from discreet.statistics.person_recipes import Counting
from discreet.statistics.person_values import Wanted

__all__ = ["OnePerson", "counting_of", "step_of", "weighting_for"]


def weighting_for(target: Target) -> Weighting:
    """The weights whose bounded norm is the one by which this guarantee costs: of sums for ‖·‖₁, of squares for ‖·‖₂²."""
    return "sums" if type(target).size(Sensitivity(1, 0)) else "squares"


def step_of(query: Query) -> int:
    """The number of units of an answer that are one: W for totals over persons, a power of two for effects, else 1."""
    if isinstance(query, PersonTotal | PersonsKnown | PersonValues):
        return query.unit
    effect = query.effect if isinstance(query, AreaEffects) else query
    return effect.times if isinstance(effect, EffectCounts) else 1


def counting_of(plan: Plan, weighting: Weighting) -> Counting:
    """What one person counts for in a request on a table of persons.

    Raises:
        InternalError: it is a table of rows.
    """
    scan = plan.layout.persons
    if scan is None:
        raise InternalError("a table of rows has no persons")
    return Counting(Weighed(scan.groups, scan.cells, weighting), scan.rows, Wanted.each(plan.answered), plan.facts)


Norms = tuple[int, int]
Apart = Callable[[frozenset[str]], Norms]


@dataclass(frozen=True, slots=True)
class OnePerson:
    """All rows of one person, who is in one of the two tables only (U1 of docs/proofs/persons.md)."""

    def is_person(self, l1: int, l2_squared: int) -> Change:
        """This person adds a vector of at most these norms, and nothing to the other table."""
        norms = Sensitivity(l1, l2_squared)
        return Change(norms, norms, norms)

    def adds(self, _least: int, _most: int, *, at_once: int, parts: int, nullable: bool) -> NoReturn:  # noqa: ARG002
        """No query of rows has a bound for all rows of a person."""
        raise InternalError("a query of rows, on a table of persons")

    def spreads(self, _alone: Norms, _apart: Apart, *, parts: int, nullable: bool) -> NoReturn:  # noqa: ARG002
        """No query of rows has a bound for all rows of a person."""
        raise InternalError("a query of rows, on a table of persons")

    def replaces(self, _most: int) -> NoReturn:
        """No query of rows has a bound for all rows of a person."""
        raise InternalError("a query of rows, on a table of persons")

    def chooses(self, _size: int, _at: tuple[Fraction, ...], *, nullable: bool) -> NoReturn:  # noqa: ARG002
        """No query of rows has a bound for all rows of a person."""
        raise InternalError("a query of rows, on a table of persons")

    def surrounds(self, _size: int, _at: tuple[Fraction, ...], *, nullable: bool) -> NoReturn:  # noqa: ARG002
        """No query of rows has a bound for all rows of a person."""
        raise InternalError("a query of rows, on a table of persons")
