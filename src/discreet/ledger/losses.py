"""What one person has lost by a day: the sum of the charges of all releases that can have read her rows by then.

A release that names windows reads rows of these alone. It is in the sum from the first day of the first of them on. All
other releases read whole tables, which any person can be in; they are in the sum at every day (Q3 of
docs/proofs/populations.md).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from discreet.ledger.amounts import Amounts, plus
from discreet.ledger.records import Entry, Identity
from discreet.ledger.windows import window_terms

__all__ = ["DatedCharge", "charge_by", "dated_charges"]


@dataclass(frozen=True, slots=True)
class DatedCharge:
    """A charge, and the first day of the first window that its release reads; None where it reads all rows."""

    start: dt.date | None
    charge: Amounts


def dated_charges(identity: Identity, entries: Iterable[Entry]) -> list[DatedCharge]:
    """The charges of a data set in the order of its entries, each once however many windows it is charged to."""
    terms = window_terms(identity.declaration)
    starts = {} if terms is None else terms.calendar.by_name()
    return [
        DatedCharge(starts[entry.windows[0]] if entry.windows else None, entry.charge)
        for entry in entries
        if entry.kind == "reserve"
    ]


def charge_by(charges: Sequence[DatedCharge], day: dt.date, nothing: Amounts) -> Amounts:
    """The sum of the charges of all releases that can have read rows of windows begun by a day."""
    found = [one.charge for one in charges if one.start is None or one.start <= day]
    return reduce(plus, found, nothing)
