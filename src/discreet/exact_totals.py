"""Exact totals on their way from the source to the ledger, and from the ledger to releases."""

from __future__ import annotations

import json

from discreet._version import __version__
from discreet.cube import Cube, row_count
from discreet.errors import InternalError
from discreet.invariants import Invariants
from discreet.invariants.totals import PublishedTotals, totals_from_json, totals_of_counts
from discreet.ledger import Publication
from discreet.neighbours import Neighbours, ReplaceOne
from discreet.paths import KeyAxis, path_of
from discreet.plan import canonical, digest
from discreet.schema import Schema
from discreet.steps import facts_of

__all__ = ["publication", "totals_axes", "totals_of_cube", "totals_of_payload", "totals_payload"]


def publication(invariants: Invariants, snapshot: str) -> Publication:
    """What the ledger writes down before the totals are read."""
    described = invariants.to_json()
    return Publication("exact totals", digest(described), snapshot, canonical({"invariants": described}))


def totals_axes(invariants: Invariants, schema: Schema, neighbours: Neighbours) -> tuple[KeyAxis, ...]:
    """The keys by which the engine counts the rows: the columns of the totals, before any step."""
    start = facts_of(schema, neighbours)
    return tuple(KeyAxis(path_of(name, (), start)) for name in invariants.columns)


def totals_of_cube(cube: Cube, invariants: Invariants, schema: Schema, neighbours: Neighbours) -> PublishedTotals:
    """The totals of a cube over `totals_axes`.

    Raises:
        InternalError: another number of rows than declared, or a row in a cell that was declared impossible; no number
            is in the message.
    """
    if not isinstance(neighbours, ReplaceOne) or row_count(cube) != neighbours.rows:
        raise InternalError("the source has another number of rows than declared")
    return totals_of_counts(invariants, schema, (cube.keys, cube.rows))


def totals_payload(totals: PublishedTotals, dataset: str, schema: Schema) -> bytes:
    """The published document as the ledger keeps it; equal totals give equal bytes."""
    document = {"format": 1, "library": f"discreet {__version__}", "dataset": dataset, "totals": totals.to_json(schema)}
    return canonical(document).encode("ascii")


def totals_of_payload(payload: bytes, invariants: Invariants, schema: Schema) -> PublishedTotals:
    """The totals that `totals_payload` has written."""
    return totals_from_json(invariants, schema, json.loads(payload)["totals"])
