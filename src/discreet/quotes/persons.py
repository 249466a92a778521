"""One person as the difference of two tables: the change of totals over persons, and the weights that fit a guarantee.

A query of rows has no change here. Whoever asks for one finds an internal error and no charge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import NoReturn

from discreet.cube.queries import PERSON_QUERIES, AreaEffects, EffectCounts, Query, Weighed, WholeTable
from discreet.cube.weights import Weighting
from discreet.domain.neighbours import AddRemoveParts, AddRemovePersons, Neighbours, ReplacePersons
from discreet.errors import InternalError
from discreet.mechanisms import Change, Sensitivity
from discreet.plan.plan import Plan
from discreet.privacy.measures import Target
from discreet.statistics.person_counting import Counting
from discreet.statistics.person_recipes import spreads_of

__all__ = ["OnePerson", "counting_of", "most_apart", "one_person", "step_of", "weighting_for"]


def weighting_for(target: Target) -> Weighting:
    """The weights whose bounded norm is the one by which this guarantee costs: of sums for ‖·‖₁, of squares for ‖·‖₂²."""
    return "sums" if type(target).size(Sensitivity(1, 0)) else "squares"


def step_of(query: Query) -> int:
    """The number of units of an answer that are one: W for totals over persons, a power of two for tables, else 1."""
    if isinstance(query, PERSON_QUERIES):
        return query.unit
    effect = query.effect if isinstance(query, AreaEffects) else query
    return effect.times if isinstance(effect, EffectCounts | WholeTable) else 1


def counting_of(plan: Plan, weighting: Weighting) -> Counting:
    """What one person counts for in a request on a table of persons.

    Raises:
        InternalError: it is a table of rows.
    """
    scan = plan.layout.persons
    if scan is None:
        raise InternalError("a table of rows has no persons")
    weighed, spreads = Weighed(scan.groups, scan.cells, weighting), spreads_of(plan.answered)
    return Counting(weighed, scan.rows, scan.numbers, spreads, plan.facts)


Norms = tuple[int, int]


def _added(alone: Norms, _apart: Callable[[], Norms]) -> Norms:
    """Of a person who is in one of the two tables only (U1)."""
    return alone


def _changed(_alone: Norms, apart: Callable[[], Norms]) -> Norms:
    """Of two states of the rows of one person, one of which may be none (U4)."""
    return apart()


@dataclass(frozen=True, slots=True)
class OnePerson:
    """The rows of one person, in which the two tables differ (docs/proofs/persons.md).

    Args:
        norms: which of the norms bound the change: of the vector that the person adds, or of a difference of two.
    """

    norms: Callable[[Norms, Callable[[], Norms]], Norms]

    def is_person(self, alone: Norms, apart: Callable[[], Norms]) -> Change:
        """The change of a total over persons."""
        norms = Sensitivity(*self.norms(alone, apart))
        return Change(norms, norms, norms)

    def adds(self, _least: int, _most: int, *, at_once: int, parts: int, nullable: bool) -> NoReturn:  # noqa: ARG002
        """No query of rows has a bound for all rows of a person."""
        raise InternalError("a query of rows, on a table of persons")

    def spreads(self, _alone: Norms, _apart: Callable[[frozenset[str]], Norms], *, parts: int, nullable: bool) -> NoReturn:  # noqa: ARG002
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


_NORMS: Mapping[type[Neighbours], Callable[[Norms, Callable[[], Norms]], Norms]] = MappingProxyType(
    {AddRemovePersons: _added, AddRemoveParts: _changed, ReplacePersons: _changed}
)
"""What the tables that a relation compares differ by. Every relation of persons is here."""


def one_person(neighbours: Neighbours) -> OnePerson:
    """The rows of one person in which neighbouring tables differ.

    Raises:
        InternalError: a relation of single rows.
    """
    if type(neighbours) not in _NORMS:
        raise InternalError(f"'{neighbours.word}' compares single rows")
    return OnePerson(_NORMS[type(neighbours)])


def most_apart(neighbours: Neighbours, most: int) -> int:
    """The largest ‖·‖₂² of a change of totals ≥ 0, to which one person adds a vector of at most this ‖·‖₂² (U4)."""
    return one_person(neighbours).norms((0, most), lambda: (0, 2 * most))[1]
