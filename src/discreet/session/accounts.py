"""The account of each data set in a ledger: its budget, what was spent, and which releases are committed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import ArgumentError, LedgerError
from discreet.exact.given_paths import require_path, stands
from discreet.ledger import Identity, Ledger
from discreet.privacy import Budget, coordinates, from_coordinates, from_json
from discreet.privacy.amounts import budget_down
from discreet.privacy.measures import is_budget

__all__ = ["Account", "accounts_of", "budget_in"]


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of a data set in one ledger.

    Args:
        dataset: its name.
        budget: all that may ever be spent.
        spent: the sum of all charges, of lost releases too.
        remaining: what is left, rounded down where it has no exact parameter.
        committed: the SHA-256 of the document of each release, by its name.
        lost: the releases that were charged and never committed, by name.
    """

    dataset: str
    budget: Budget
    spent: Budget
    remaining: Budget
    committed: Mapping[str, str]
    lost: tuple[str, ...]


def accounts_of(ledger: str | Path) -> tuple[Account, ...]:
    """The accounts of all data sets of a ledger, in the order of their declaration. Nothing is written to it.

    A ledger may also be used alone: data sets whose budget is not a measure of this package are left out.

    Raises:
        LedgerError: there is no such ledger, or it is damaged.
        ArgumentError: an unusable path.
    """
    place = require_path(ledger, "ledger")
    if not stands(place, "ledger"):
        raise LedgerError(f"ledger '{place}': there is no such file; check the path")
    with Ledger.open(place) as opened:
        known = [(identity, budget_in(identity)) for identity in map(opened.identity, opened.datasets())]
        return tuple(_account(opened, identity, budget) for identity, budget in known if budget is not None)


def budget_in(identity: Identity) -> Budget | None:
    """The budget of a declaration, if it is a measure of this package: a ledger may also be used alone."""
    try:
        budget = from_json(json.loads(identity.declaration).get("budget"))
    except ArgumentError:
        return None
    return budget if is_budget(budget) and coordinates(budget) == identity.budget else None


def _account(ledger: Ledger, identity: Identity, budget: Budget) -> Account:
    begun = [one for one in ledger.standings(identity.dataset) if one.kind == "reserve"]
    return Account(
        identity.dataset,
        budget,
        from_coordinates(type(budget), ledger.spent(identity.dataset)),
        budget_down(budget, ledger.remaining(identity.dataset)),
        {one.name: one.payload_digest for one in begun if one.state == "committed"},
        tuple(one.name for one in begun if one.state != "committed"),
    )
