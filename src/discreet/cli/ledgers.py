"""`discreet ledger show` and `discreet ledger verify`."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.cli.output import Answer, aligned
from discreet.errors import ArgumentError, LedgerError
from discreet.exact import text
from discreet.ledger import Entry, Identity, Ledger, Verification
from discreet.privacy import RDP, Budget, coordinates, from_coordinates, from_json
from discreet.spend import amount_text, number_text

__all__ = ["shown_ledger", "verified_ledger"]

Amounts = tuple[Fraction, ...]


def shown_ledger(file: Path, dataset: str | None) -> Answer:
    """Budget, charges and remainder of every data set of a ledger, or of one.

    Raises:
        LedgerError: no ledger there, damaged, or without that data set.
    """
    lines: list[str] = []
    facts = []
    with _existing(file) as ledger:
        names = ledger.datasets() if dataset is None else (dataset,)
        for name in names:
            identity = ledger.identity(name)
            entries = ledger.entries(name)
            spent, remaining = ledger.spent(name), ledger.remaining(name)
            lines += [*_account(identity, entries, spent, remaining), ""]
            facts.append(_account_facts(identity, entries, spent, remaining))
        head = ledger.head()
    lines.append(f"{len(names)} data set{'' if len(names) == 1 else 's'}; head {head}")
    return Answer(lines, {"ledger": str(file), "head": head, "datasets": facts})


def verified_ledger(file: Path) -> Answer:
    """The ledger is sound from its first entry to its last.

    Raises:
        LedgerError: it is not; the message names the first broken entry.
    """
    with _existing(file) as ledger:
        found: Verification = ledger.verify()
    if not found.intact:
        raise LedgerError(
            f"ledger '{file}' is damaged at entry {found.broken}: {found.problem}. The entries before it are sound. "
            "Restore the newest copy, and compare its head with your last release"
        )
    spent = {name: [text(value) for value in amounts] for name, amounts in found.spent}
    lines = [f"{file} is intact: {found.entries} entries", f"head {found.head}"]
    return Answer(lines, {"ledger": str(file), "intact": True, "entries": found.entries, "head": found.head, "spent": spent})


def _existing(file: Path) -> Ledger:
    if not file.exists():
        raise LedgerError(f"ledger '{file}': there is no such file; check the path")
    return Ledger.open(file)


def _account(identity: Identity, entries: tuple[Entry, ...], spent: Amounts, remaining: Amounts) -> list[str]:
    lines = [
        f"data set '{identity.dataset}' ({identity.measure})",
        *aligned([(word, _shown(identity, amounts)) for word, amounts in _totals(identity, spent, remaining).items()]),
    ]
    states = _states(entries)
    rows = [
        (str(entry.sequence), entry.time, entry.user, states[entry.sequence], _shown(identity, entry.charge), entry.name)
        for entry in entries
        if entry.kind == "reserve"
    ]
    return lines + (aligned([("entry", "time", "user", "state", "charge", "release"), *rows]) if rows else [])


def _account_facts(identity: Identity, entries: tuple[Entry, ...], spent: Amounts, remaining: Amounts) -> dict[str, Any]:
    states = _states(entries)
    return {
        "dataset": identity.dataset,
        "measure": identity.measure,
        "declaration": json.loads(identity.declaration),
        **{word: [text(value) for value in amounts] for word, amounts in _totals(identity, spent, remaining).items()},
        "releases": [
            {
                "entry": entry.sequence,
                "time": entry.time,
                "user": entry.user,
                "name": entry.name,
                "state": states[entry.sequence],
                "charge": [text(value) for value in entry.charge],
                "plan_digest": entry.plan_digest,
                "digest": entry.digest,
            }
            for entry in entries
            if entry.kind == "reserve"
        ],
    }


def _totals(identity: Identity, spent: Amounts, remaining: Amounts) -> dict[str, Amounts]:
    return {"budget": identity.budget, "spent": spent, "remaining": remaining}


def _states(entries: tuple[Entry, ...]) -> dict[int, str]:
    """Reserved (which counts as spent), committed or failed, for every reservation."""
    states = {entry.sequence: "reserved" for entry in entries if entry.kind == "reserve"}
    words = {"commit": "committed", "fail": "failed"}
    return states | {entry.reservation: words[entry.kind] for entry in entries if entry.kind in words}


def _shown(identity: Identity, amounts: Amounts) -> str:
    """The amounts in the parameters of their measure, or as they add where the declaration names none."""
    budget = _declared(identity)
    if budget is None:
        return ", ".join(number_text(value) for value in amounts)
    return amount_text(from_coordinates(type(budget), amounts))


def _declared(identity: Identity) -> Budget | None:
    """The budget of the declaration, if it is one of this package: a ledger may also be used alone."""
    try:
        budget = from_json(json.loads(identity.declaration).get("budget"))
    except ArgumentError:
        return None
    return None if isinstance(budget, RDP) or coordinates(budget) != identity.budget else budget
