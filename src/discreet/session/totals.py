"""Exact totals on their way from the source to the ledger, and from the ledger to releases."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

from discreet._version import __version__
from discreet.approvals.demand import Consent
from discreet.cube.cube import Cube, row_count
from discreet.cube.value_paths import KeyAxis, path_of
from discreet.domain.neighbours import Neighbours
from discreet.domain.origins import joint_columns
from discreet.domain.schema import Schema
from discreet.domain.steps import facts_of
from discreet.engines.base import CubeRequest, Engine
from discreet.errors import InternalError, LedgerError
from discreet.exact.canonical import canonical, digest
from discreet.ledger import Identity, Ledger, Publication
from discreet.totals.description import Description
from discreet.totals.published import PublishedTotals, totals_from_json, totals_of_counts

__all__ = ["ExactRequest", "has_totals", "publish_totals", "require_totals", "totals_of_payload", "totals_scan"]


@dataclass(frozen=True, slots=True)
class ExactRequest:
    """The exact totals that are to be published, the schema and relation of their table, and what must be signed before."""

    invariants: Description
    schema: Schema
    neighbours: Neighbours
    consent: Consent | None = None


def publish_totals(engine: Engine, ledger: Ledger, identity: Identity, request: ExactRequest, snapshot: str) -> bool:
    """True if the totals are in the ledger; else the attempt is marked as failed there, and the cause is not shown.

    Raises:
        LedgerError: signatures are missing, or the attempt could not be recorded; nothing was read.
    """
    described = request.invariants.to_json()
    details = canonical({"invariants": described})
    attempt = Publication("exact totals", digest(described), snapshot, details, request.consent)
    sequence = ledger.publish(identity, attempt)
    done = False
    try:
        payload = _payload(_totals_of(engine.aggregate(*totals_scan(request)), request), identity.dataset, request.schema)
        if engine.snapshot() == snapshot:  # a source that changed while it was read has no totals
            ledger.commit(sequence, payload)
            done = True
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 (the cause may depend on rows; a panic of a driver is not an Exception)
        done = False
    finally:
        if not done:
            with suppress(LedgerError):
                ledger.fail(sequence)
    return done


def has_totals(cube: Cube, request: ExactRequest, published: PublishedTotals | None) -> bool:
    """True if the source, counted by `totals_scan`, has the published totals, and no row where none can be."""
    try:
        return _totals_of(cube, request) == published
    except InternalError:
        return False


def require_totals(cube: Cube, request: ExactRequest, published: PublishedTotals | None) -> None:
    """Checks that the source, counted by `totals_scan`, still has the published totals (soundness 20).

    Raises:
        InternalError: it has others; the message has no number.
    """
    if not has_totals(cube, request, published):
        raise InternalError("the totals of the source are not the published ones")


def totals_of_payload(payload: bytes, invariants: Description, schema: Schema) -> PublishedTotals:
    """The totals that the ledger holds."""
    return totals_from_json(invariants, schema, json.loads(payload)["totals"])


def totals_scan(request: ExactRequest) -> CubeRequest:
    """The scan that counts the totals of the source, before any step."""
    start = facts_of(request.schema, request.neighbours)
    return tuple(KeyAxis(path_of(name, (), start)) for name in joint_columns(request.invariants.columns, request.schema)), ()


def _totals_of(cube: Cube, request: ExactRequest) -> PublishedTotals:
    """The totals of the source. Private until they are published.

    Raises:
        InternalError: the number of rows is not the declared one, or a row is in a cell that was declared impossible; the
            message does not contain a number.
    """
    if row_count(cube) != request.neighbours.rows:
        raise InternalError("the source has another number of rows than declared")
    return totals_of_counts(request.invariants, request.schema, (cube.keys, cube.rows))


def _payload(totals: PublishedTotals, dataset: str, schema: Schema) -> bytes:
    """The published document in the form that the ledger holds."""
    document = {"format": 1, "library": f"discreet {__version__}", "dataset": dataset, "totals": totals.to_json(schema)}
    return canonical(document).encode("ascii")
