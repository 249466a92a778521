"""The statements that must be signed before a release is charged, built without source or rows.

Where exact totals accompany a release, the signed quote is the one that holds for all totals, so that a board can
recompute it before they are published and without the ledger that has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.approvals.demand import Consent, Demand
from discreet.approvals.files import approvals_of
from discreet.approvals.signing import Approval
from discreet.approvals.statements import ReleaseStatement, TotalsStatement
from discreet.domain.neighbours import Neighbours
from discreet.domain.reading import CsvFiles, CsvFormat
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, printed
from discreet.exact.canonical import canonical, digest
from discreet.exact.numbers import text
from discreet.plan.plan import Plan
from discreet.privacy.coordinates import Budget, coordinates, kind_name, to_json
from discreet.session.orders import Order
from discreet.totals.description import Description

if TYPE_CHECKING:
    from discreet.ledger import Ledger
    from discreet.quotes.quote import Quote
    from discreet.session.totals import ExactRequest
    from discreet.totals.exact_totals import ExactTotals

__all__ = ["Approvals", "Approving", "Declared", "approvals_json", "reading_text"]

Approvals = Sequence[Approval] | str | Path
"""Approvals, or the folder that has their files."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The fields that statements about a data set have in common.

    Attributes:
        dataset: its name.
        schema, neighbours, invariants: what is declared of it.
        reading: the canonical JSON of the options with which the source is read, as far as no plan has them.
    """

    dataset: str
    schema: Schema
    neighbours: Neighbours
    invariants: Description | None
    reading: str = "{}"

    def before_totals(self) -> ExactTotals | None:
        """The exact totals while none are published: what is bounded with them holds for all totals."""
        if self.invariants is None or (rows := self.neighbours.rows) is None:
            return None
        from discreet.totals.exact_totals import exact_totals_of

        return exact_totals_of(self.invariants, self.schema, None, rows)

    def quote(self, request: Plan, spend: Budget) -> Quote:
        """The quote that is signed."""
        from discreet.quotes import allocate

        return allocate.quote(request, spend, self.before_totals())

    def release(self, genesis: str, name: str, quote: Quote, replaces: int) -> ReleaseStatement:
        """The statement for a release of the ledger with this first digest."""
        from discreet.releases.publish import details_json

        spend = quote.spend
        return ReleaseStatement(
            ledger=genesis,
            dataset=self.dataset,
            release=name,
            relation=canonical(self.neighbours.to_json()),
            plan=quote.plan.digest,
            reading=self.reading,
            measure=kind_name(spend),
            spend=canonical(to_json(spend)),
            amounts=tuple(map(text, coordinates(spend))),
            quote=digest(json.loads(details_json(quote))),
            replaces=replaces,
        )

    def totals(self, genesis: str, invariants: Description) -> TotalsStatement:
        """The statement for the exact totals, which are published once."""
        return TotalsStatement(
            ledger=genesis,
            dataset=self.dataset,
            relation=canonical(self.neighbours.to_json()),
            totals=digest(invariants.to_json()),
            schema=digest(self.schema.to_json()),
            reading=self.reading,
        )


def reading_text(source: object, beside: Mapping[str, tuple[object, Schema]] = MappingProxyType({})) -> str:
    """The options with which sources are read, as canonical JSON: what no plan has, and what changes its numbers.

    Args:
        source: of the table, or the format of its text files.
        beside: the source of each table of persons, and its schema.
    """
    own, others = _options(source), {name: _options(one) for name, (one, _) in beside.items()}
    told: dict[str, object] = {"csv": own} if own else {}
    if any(others.values()):
        told["beside"] = {name: {"csv": one} for name, one in others.items() if one}
    return canonical(told)


def _options(source: object) -> dict[str, object]:
    form = source.format if isinstance(source, CsvFiles) else source
    return dict(form.to_json()) if isinstance(form, CsvFormat) else {}


@dataclass(frozen=True, slots=True)
class Approving:
    """The demand of a session, and its approvals: `demand` joins the ledger with the first reservation of the data set."""

    declared: Declared
    demand: Demand | None
    approvals: Approvals

    def __post_init__(self) -> None:
        if self.demand is not None and (not isinstance(self.demand, Demand) or not self.demand.signatures):
            raise ArgumentError(f"demand={printed(self.demand)}: must be a Demand of 1 signature or more, or None")
        given = self.approvals
        if not isinstance(given, str | Path) and not all(isinstance(one, Approval) for one in given):
            raise ArgumentError("approvals: must be a folder, or a list of what approve(…) gives")

    def statement(self, ledger: Ledger, order: Order, spend: Budget) -> ReleaseStatement:
        """The statement for an order. The ledger has a file from now on, because a statement names it."""
        ledger.board.create()
        return self.release(ledger, order, spend)

    def release(self, ledger: Ledger, order: Order, spend: Budget) -> ReleaseStatement:
        """The statement for an order."""
        number = ledger.board.reserved(self.declared.dataset, order.name)
        quote = self.declared.quote(order.request, spend)
        return self.declared.release(ledger.board.genesis(), order.name, quote, number)

    def consent(self, ledger: Ledger, order: Order, spend: Budget) -> Consent | None:
        """The statement for an order, and the approvals; None where nobody demands any."""
        if not self._is_demanded(ledger):
            return None
        return Consent(self.release(ledger, order, spend), approvals_of(self.approvals), self.demand)

    def exact_request(self, ledger: Ledger, request: ExactRequest) -> ExactRequest:
        """The request for the totals of the source, with what must be signed before they are published."""
        if not self._is_demanded(ledger):
            return request
        statement = self.declared.totals(ledger.board.genesis(), request.invariants)
        return replace(request, consent=Consent(statement, approvals_of(self.approvals), self.demand))

    def _is_demanded(self, ledger: Ledger) -> bool:
        return self.demand is not None or bool(ledger.board.demands())

    def require(self, ledger: Ledger, orders: Sequence[tuple[Order, Budget]]) -> None:
        """Checks the signatures of orders before anything is published for them. The reservation checks them again.

        Raises:
            NotApproved: signatures are missing.
        """
        consents = [(order.name, self.consent(ledger, order, spend)) for order, spend in orders]
        ledger.board.require(self.declared.dataset, [(name, one) for name, one in consents if one is not None])


def approvals_json(ledger: Ledger, sequence: int) -> dict[str, Any]:
    """The approvals in a release: the signed text and the signatures; nothing where nobody had to sign."""
    written = ledger.board.approved(sequence)
    return {"approvals": json.loads(written)} if written else {}
