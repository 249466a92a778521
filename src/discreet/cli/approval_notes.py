"""The notes of `discreet check` on signatures: how many a plan or its ledger demands, and how many exist."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing

from discreet.approvals.demand import Demand, missing_words
from discreet.approvals.files import approvals_folder, approvals_in
from discreet.approvals.statements import Statement
from discreet.ledger import Ledger
from discreet.ledger.consents import demands_with
from discreet.planfile.read import PlanFile
from discreet.planfile.tree import printable
from discreet.quotes.quote import Quote
from discreet.session.approving import Declared, reading_text

__all__ = ["approval_notes", "declare_for"]


def declare_for(plan: PlanFile) -> Declared:
    """The fields that all statements about the data set of a plan share."""
    return Declared(plan.dataset, plan.schema, plan.neighbours, plan.invariants, reading_text(plan.csv, plan.beside.sources))


def approval_notes(plan: PlanFile, quotes: Mapping[str, Quote], paid: Collection[str]) -> list[str]:
    """A line for each demand and each release that needs a new charge; none where nobody must sign. Creates no ledger.

    Only valid signatures count: by keys of the list, of exactly what would be released now.
    """
    unpaid = [name for name in quotes if name not in paid]
    with closing(Ledger.open(plan.ledger)) as ledger:
        demands = demands_with(ledger.board.demands(), plan.dataset, plan.demand)
        genesis = ledger.board.genesis()
        if not genesis:
            return [f"note: {demand} must approve each release; nobody can before `discreet approve` has made the ledger"
                    for demand in demands]  # fmt: skip
        declared = declare_for(plan)
        statements = {
            name: declared.release(
                genesis,
                name,
                declared.quote(quotes[name].plan, quotes[name].spend),
                ledger.board.reserved(plan.dataset, name),
            )
            for name in (unpaid if demands else ())
        }
    return _lines(plan, demands, statements)


def _lines(plan: PlanFile, demands: tuple[Demand, ...], statements: Mapping[str, Statement]) -> list[str]:
    given = approvals_in(approvals_folder(plan.path)) if demands else ()
    return [
        printable(f"note: '{name}': {missing_words(demand, statement, given)}")
        for name, statement in statements.items()
        for demand in demands
    ]
