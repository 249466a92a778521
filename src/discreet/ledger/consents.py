"""Which signatures a ledger demands, and whether an entry has them (soundness 43).

A demand is an entry: of one data set or, with an empty name, of the whole ledger. Both hold at once. It is replaced only
with as many signatures of its own keys as it demands. What a signature must say is compared here with the entry itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.approvals.demand import Consent, Demand, demand_from, is_met, require_met
from discreet.approvals.statements import (
    ChangeStatement,
    ReleaseStatement,
    Statement,
    TotalsStatement,
    document,
)
from discreet.approvals.written import approvals_text, check_signatures, read_approvals
from discreet.errors import ArgumentError, NotApproved
from discreet.exact.canonical import canonical
from discreet.exact.names import one_form
from discreet.ledger.amounts import Amounts, amounts_from
from discreet.ledger.records import Identity

__all__ = [
    "Deed",
    "Demanded",
    "change_of",
    "count_signatures",
    "demand_after",
    "demand_details",
    "demand_in",
    "demands_on",
    "demands_with",
    "find_unsigned",
    "is_about",
    "require_consent",
    "require_consented",
]


@dataclass(frozen=True, slots=True)
class Demanded:
    """A demand that an entry has made, and its mark, which no other entry of any ledger has."""

    demand: Demand
    mark: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Deed:
    """The act of an entry, as far as the ledger knows it.

    Attributes:
        genesis: the first digest of the ledger.
        identity: the data set.
        kind: "reserve" or "publish".
        name: the release.
        plan: the digest of the plan, or of what is published.
        charge: what is paid, and `remaining`, what remained before; empty for a "publish".
        replaces: the number of the reservation that had this name; 0 for none.
    """

    genesis: str
    identity: Identity
    kind: str
    name: str
    plan: str
    charge: Amounts = ()
    remaining: Amounts = ()
    replaces: int = 0


_ROUNDED = Fraction(1, 2**76)

Demands = Mapping[str, Demanded]
"""The demands of a ledger by the form in which names are compared; the demand of the whole ledger has the name ""."""


def demands_on(demands: Demands, dataset: str) -> tuple[Demand, ...]:
    """The demands that hold for a data set: of the whole ledger, and its own."""
    found = (demands.get(scope) for scope in ("", one_form(dataset)))
    return tuple(one.demand for one in found if one is not None and one.demand.signatures)


def demands_with(demands: Demands, dataset: str, demand: Demand | None) -> tuple[Demand, ...]:
    """The demands on a data set, with one that comes to stand in the same transaction unless it has one of its own."""
    added = () if demand is None or one_form(dataset) in demands else (demand,)
    return demands_on(demands, dataset) + added


def demand_in(consents: Sequence[Consent | None]) -> Demand | None:
    """The demand that comes with what is asked for; None for none.

    Raises:
        NotApproved: two different ones.
    """
    found = [one.demand for one in consents if one is not None and one.demand is not None]
    if any(one != found[0] for one in found):
        raise NotApproved("demand: the releases of one command name different keys; nothing was spent")
    return found[0] if found else None


# Before an entry is written -----------------------------------------------------------------------------------------------


def require_consent(demands: tuple[Demand, ...], consent: Consent | None, what: str) -> None:
    """Checks that every demand is met.

    Raises:
        NotApproved: signatures are missing, or nothing was said that could have been signed.
    """
    for demand in demands:
        if consent is None:
            raise NotApproved(f"{what}: {demand} must approve it, and what they approve was not given; nothing was spent")
        require_met(demand, consent.statement, consent.approvals, what)


def change_of(genesis: str, dataset: str, demand: Demand, old: Demanded | None) -> ChangeStatement:
    """The statement that the keys of the old demand sign so that `demand` takes its place."""
    keys = tuple(sorted(key.text for key in demand.keys))
    return ChangeStatement(genesis, one_form(dataset), demand.signatures, keys, "" if old is None else old.mark)


def demand_details(demand: Demand, consent: Consent | None, old: Demanded | None) -> str:
    """The details of the entry that makes a demand, with the signatures of the demand that it replaces."""
    signed = "" if old is None else approvals_text((old.demand,), consent)
    return canonical({"demand": demand.to_json(), "approvals": signed})


# When an entry is read ----------------------------------------------------------------------------------------------------


def demand_after(demands: Demands, genesis: str, head: str, sequence: int, fields: Mapping[str, Any]) -> Demanded:
    """The demand of an entry, which has the signatures that the one before demands. These are always checked.

    Raises:
        ValueError: it is not a demand, or lacks signatures.
    """
    details = json.loads(fields["details"])
    try:
        demand = demand_from(details["demand"])
    except ArgumentError as wrong:
        raise ValueError("demands signatures in a way that this version does not know") from wrong
    scope = one_form(fields["dataset"])
    old = demands.get(scope)
    if old is not None and old.demand.signatures:
        _, signatures = read_approvals(details["approvals"])
        if not is_met(old.demand, document(change_of(genesis, scope, demand, old)), signatures):
            raise ValueError("changes who must sign without the signatures of those who had to")
    return Demanded(demand, hashlib.sha256((head + fields["details"]).encode("ascii")).hexdigest(), sequence)


def require_consented(demands: tuple[Demand, ...], written: str, deed: Deed) -> None:
    """The entry says what was signed, of this ledger and of itself, by as many keys as are demanded.

    The signatures themselves are checked by `find_unsigned`, when the whole ledger is verified.

    Raises:
        ValueError: otherwise.
    """
    statement, signatures = read_approvals(written)
    if not is_about(statement, deed):
        raise ValueError("has approvals of something else")
    signers = {key for key, _ in signatures}
    if any(len(signers.intersection(demand.keys)) < demand.signatures for demand in demands):
        raise ValueError("lacks approvals that were demanded")


def is_about(statement: Statement, deed: Deed) -> bool:
    """True if a statement is about what an entry does, in every field that the ledger knows."""
    identity = deed.identity
    relation = canonical(json.loads(identity.declaration).get("neighbours"))
    match statement:
        case ReleaseStatement():
            signed = (statement.release, statement.plan, statement.measure, statement.replaces)
            same = deed.kind == "reserve" and signed == (deed.name, deed.plan, identity.measure, deed.replaces)
            if not same or not _pays(amounts_from(list(statement.amounts)), deed.charge, deed.remaining):
                return False
        case TotalsStatement():
            if (deed.kind, deed.plan) != ("publish", statement.totals):
                return False
        case ChangeStatement():
            return False
    here = (statement.ledger, statement.dataset, statement.relation)
    return here == (deed.genesis, one_form(identity.dataset), relation)


def _pays(signed: Amounts, charge: Amounts, remaining: Amounts) -> bool:
    """True if the charge is what was signed; all that remained stands for a root of it that was rounded down.

    A root is rounded by less than 2**-79 of itself (`exact.numbers.sqrt_down`), so its square by less than `_ROUNDED`.
    """
    if signed == charge:
        return True
    near = len(signed) == len(charge) and all(
        asked <= paid <= asked * (1 + _ROUNDED) for asked, paid in zip(signed, charge, strict=True)
    )
    return near and charge == remaining


def find_unsigned(approved: Mapping[int, str]) -> tuple[int, str]:
    """The first entry with a signature that is not of what it says, and what is wrong; (0, "") if there is none."""
    for sequence, written in approved.items():
        try:
            check_signatures(written)
        except ValueError:
            return sequence, f"entry {sequence} has a signature that is not of what it approves"
    return 0, ""


def count_signatures(approved: Mapping[int, str]) -> int:
    """The number of signatures that entries hold."""
    return sum(len(read_approvals(written)[1]) for written in approved.values())
