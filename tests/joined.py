"""Visits and a table of their visitors: schemas, headers and engines of both."""

from __future__ import annotations

from collections.abc import Sequence

import discreet as dp
from discreet.domain.person_relations import AddRemoveParts, AddRemovePersons, ReplacePersons, with_beside
from discreet.engines.base import ColumnType, Header
from discreet.engines.joined import JoinedEngine
from discreet.engines.reference import ReferenceEngine
from discreet.engines.reference_joins import ReferenceJoiner
from discreet.plan.table import Table

VISITS = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(["a", "b"]), amount=dp.Number(-2, 2))
PEOPLE = dp.Schema(id=dp.Identifier(), sex=dp.Category(["f", "m"]), age=dp.Number(0, 9))
INTEGER, TEXT = ColumnType("integer", "BIGINT"), ColumnType("text", "VARCHAR")
HEADERS: tuple[Header, Header] = (
    {"visitor": INTEGER, "shop": TEXT, "amount": INTEGER},
    {"id": INTEGER, "sex": TEXT, "age": INTEGER},
)
RELATION = with_beside(AddRemovePersons("visitor"), {"people": "id"})
PARTS = with_beside(AddRemoveParts("visitor"), {"people": "id"})
BESIDE = (("people", PEOPLE),)
JOINED = Table(VISITS, RELATION, beside=BESIDE).join("people")


def joined_engine(
    visits: Sequence[Sequence[object]], people: Sequence[Sequence[object]], headers: tuple[Header, Header] = HEADERS
) -> JoinedEngine:
    """The reference over both tables."""
    engine, others = ReferenceEngine(headers[0], visits), {"people": ReferenceEngine(headers[1], people)}
    return JoinedEngine(engine, others, ReferenceJoiner(engine, others))


def everybody(rows: int) -> Table:
    """The table of visits where the table of persons has so many rows, which is public, and nobody else counts."""
    return Table(VISITS, with_beside(ReplacePersons(rows, "visitor"), {"people": "id"}), beside=BESIDE)
