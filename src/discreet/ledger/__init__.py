"""The durable account of what was spent on each data set: reserve before the data are opened, commit once.

The ledger sees names, digests, opaque text and exact amounts in additive coordinates; it knows no mechanism and no
data. `records` says what is written, `book` what a sequence of entries means, `drafts` makes new entries, `store` lets
them survive (the only file with sqlite3), and `account` puts these together as `Ledger`.
"""

from discreet.ledger.account import Ledger
from discreet.ledger.records import Entry, Identity, Reservation, StoredRelease, Verification, entry_body, entry_digest

__all__ = ["Entry", "Identity", "Ledger", "Reservation", "StoredRelease", "Verification", "entry_body", "entry_digest"]
