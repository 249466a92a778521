"""The check that invariants fit a schema and its neighbouring relation, before anything is opened."""

from __future__ import annotations

from typing import TypeVar

from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.errors import PlanError, printed
from discreet.totals.description import Description

__all__ = ["check_invariants"]

_Described = TypeVar("_Described", bound=Description)


def check_invariants(invariants: _Described | None, schema: Schema, neighbours: Neighbours) -> _Described | None:
    """The invariants themselves; None for none.

    Raises:
        PlanError: no invariants at all, AddRemove, several rows a person, a secret sample, nothing left to protect, or no
            known semi-adjacency for them.
        SchemaError, ArgumentError: as `Description.check`.
    """
    if invariants is None:
        return None
    if not isinstance(invariants, Description) or not invariants.parts:
        raise PlanError(
            f"invariants={printed(invariants)}: must be made with Totals('state'), Margins(['a'], ['b']) and so on"
        )
    if not neighbours.allows_totals:
        raise PlanError(
            "invariants: exact totals make the number of rows public, so nobody can be added or removed; declare "
            "neighbours=ReplaceOne(rows=…)"
        )
    if neighbours.rows_per_person > 1:
        raise PlanError(
            f"invariants: with exact totals each person has one row, not rows_per_person={neighbours.rows_per_person}; "
            "make a table with one row per person first"
        )
    if neighbours.sampled is not None:
        raise PlanError(
            "invariants: exact totals are not private on the file, so the draw hides nobody from them, and the population "
            "would have no guarantee; leave out the totals, or declare no draw (sampled)"
        )
    invariants.check(schema)
    from discreet.totals.adjacency import is_vacuous, semi_adjacency

    if is_vacuous(invariants, schema, None, neighbours.rows):
        raise PlanError(
            "invariants: they determine how many rows have each combination of all columns, so nothing is left to protect; "
            "publish totals of fewer columns"
        )
    semi_adjacency(invariants, schema, None, neighbours.rows)  # raises where nothing is known
    return invariants
