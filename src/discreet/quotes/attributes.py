"""The part of its spend that a release costs a person of whom one attribute changes (docs/proofs/programmes.md, P1 to P4).

Queries that do not read the attribute have the same answers. In the others a row that keeps its cell changes less than one
that goes to another cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.cube.queries import Query
from discreet.domain.neighbours import ReplaceOne, is_of_persons
from discreet.domain.origins import root_of
from discreet.domain.steps import conditions_of
from discreet.exact.numbers import sqrt_up
from discreet.mechanisms import Change, Sensitivity, SomeChanges
from discreet.plan.layout import drawing_of, used_columns
from discreet.plan.plan import Plan
from discreet.plan.recorded import plain_name
from discreet.privacy.coordinates import Budget, coordinates
from discreet.quotes.one_row import row_of
from discreet.quotes.primitives import Asked
from discreet.quotes.quote import Measured, Quote
from discreet.totals.attributes import AttributeChange

__all__ = ["cost_of_change", "part_of_change"]

_MOVES = ("within", "across", "leaves")


@dataclass(frozen=True, slots=True)
class _Share:
    """What one query costs, relative to all of them, for each move of one row; and for rows that move in any way."""

    moves: Mapping[str, Fraction]
    most: Fraction


def cost_of_change(quote: Quote, change: AttributeChange) -> Budget | None:
    """What the release costs at most for tables that differ by this change of one person; None where it costs nothing.

    Raises:
        ArgumentError: the guarantee has a δ beside it, and the change is two of its steps, for which no bound is known.
    """
    part, spend = part_of_change(quote, change), quote.spend
    steps = quote.plan.neighbours.replacing
    if not part:
        return None
    if part == _most(quote):
        return spend.group(steps)
    if spend.pair is None or not spend.pair[1]:
        return type(spend).of_coordinates([part * value for value in coordinates(spend)], sqrt_up)
    # (ε, δ) came from noise of another measure, whose guarantee is scaled, and stated again at the same δ.
    parts = zip(*(one.guarantee.coordinates for one in quote.measured), strict=True)
    total = [quote.joint * part * sum(values, Fraction(0)) for values in parts]
    inner = type(quote.measured[0].guarantee).of_coordinates(total, sqrt_up)
    found: Budget = inner.group(quote.plan.neighbours.rows_per_person).as_pair(spend.pair[1], None)
    return spend if steps == 1 and coordinates(found)[0] > coordinates(spend)[0] else found


def part_of_change(quote: Quote, change: AttributeChange) -> Fraction:
    """What the release costs for this change, in the coordinates of its guarantee and relative to its spend.

    At most 1; where neighbours have a row more, a change is two of their steps. All of it where rows were drawn, because
    then a row that was not changed may stand in for one that was, and in a table of persons, whose weights depend on all of
    their rows.
    """
    plan, most = quote.plan, _most(quote)
    if not change.moved.intersection(_source_columns(plan)):
        return Fraction(0)
    if drawing_of(plan) is not None or is_of_persons(plan.neighbours.word):
        return most
    shares = [_share(quote, one, change) for one in quote.measured]
    one_by_one = sum((share.most for share in shares), Fraction(0))
    together = max(sum((share.moves[move] for share in shares), Fraction(0)) for move in _MOVES)
    return min(most, one_by_one / quote.joint, together / quote.joint)


def _most(quote: Quote) -> Fraction:
    """The whole guarantee of a release for a replaced row, relative to its spend, in its coordinates."""
    steps = quote.plan.neighbours.replacing
    return Fraction(type(quote.measured[0].guarantee).size(Sensitivity(steps, steps**2)))


def _share(quote: Quote, one: Measured, change: AttributeChange) -> _Share:
    outer = change.moved.intersection(_plain(quote.plan, _outer(quote.plan)))
    if not outer and not change.moved.intersection(_plain(quote.plan, one.query.columns())):
        return _Share(dict.fromkeys(_MOVES, Fraction(0)), Fraction(0))
    found = _change_of(quote.plan, one.query, change)
    sizes = {"within": found.within, "across": found.across, "leaves": found.leaves}
    moves = {
        move: one.share * _part(quote, one, size, change) if outer or move == "within" else Fraction(0)
        for move, size in sizes.items()
    }
    return _Share(moves, min(one.share * _most(quote), max(moves.values())))


def _part(quote: Quote, one: Measured, size: Sensitivity, change: AttributeChange) -> Fraction:
    """The part for m rows that all make a move of this size: norms of a sum are at most m times theirs, squares m² times."""
    m = 1 if quote.beside is None else change.rows.a
    moved = Sensitivity(m * size.l1, m * m * size.l2_squared)
    changes = SomeChanges(moved, one.sensitivity, keeps_places=not _touches_totals(quote, change))
    found = one.law.part_of_guarantee(changes, one.guarantee)
    return _most(quote) if found is None else found


def _touches_totals(quote: Quote, change: AttributeChange) -> bool:
    """True if a column of the change comes from the same column of the source as one of the exact totals."""
    if quote.beside is None:
        return False
    schema = quote.plan.schema
    return bool(
        {root_of(name, schema) for name in change.moved}
        & {root_of(name, schema) for name in quote.beside.invariants.columns}
    )


def _change_of(plan: Plan, query: Query, change: AttributeChange) -> Change:
    """What one row does to a query that is replaced: also where neighbours have a row more, it is there before and after.

    The row that it is replaced by has the same values in the columns that do not change.
    """
    asked = Asked(plan, plan.facts, None)
    kept = frozenset(name for name in query.columns() if plain_name(name, plan.schema) not in change.moved)
    row = replace(row_of(asked), neighbours=ReplaceOne(rows=plan.neighbours.rows or 2), kept=kept)
    return query.change(row, asked.facts)


def _source_columns(plan: Plan) -> Collection[str]:
    """The columns of the data set that the release depends on: those of its rows, where persons are made of them."""
    used = _plain(plan, used_columns(plan))
    return used if plan.persons is None else plan.persons.columns_behind(used)


def _outer(plan: Plan) -> list[str]:
    """The columns that decide in which cell of the request a row counts, and whether it counts."""
    return [*(group.column for group in plan.group_by), *(step.column for step in conditions_of(plan.steps))]


def _plain(plan: Plan, names: Iterable[str]) -> set[str]:
    return {plain_name(name, plan.schema) for name in names}
