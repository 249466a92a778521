"""The durable account of what was spent on each data set: reserve before the data are opened, commit once.

The ledger sees names, digests, opaque text and exact amounts in additive coordinates; it knows no mechanism and no
data. `records` defines what is written, `book` what a sequence of entries means, `rules` what may come next, `drafts` makes
new entries, `store` lets them survive (the only file with sqlite3), `reading` trusts nothing that is read, and `account`
puts these together as `Ledger`.

* `attempts`: Which reservation may be attempted, which one is lost, and when its name is free again
* `following`: A ledger file and the book of its entries, which is always brought up to the head on disk
* `holds`: Who is at work on a reservation, and whether that process still lives
* `above`: What bounds the charges of a data set beside its own budget: its population, and its windows
* `amounts`: Exact amounts in the coordinates in which a measure adds: their texts, their rules, and sums that are
  fast to check
* `board`: Who must sign in a ledger before anything is charged: seen, and changed
* `consents`: Which signatures a ledger demands, and whether an entry has them
* `datasets`: One data set in a ledger: its budgets, its charges, and the numbers of its releases
* `declarations`: The part of a declaration that the first entry of a data set fixes, and how the rest changes
* `draws`: Which data sets are about one secret draw of persons, and so have one budget
* `formats`: The tables of a ledger file, version by version, and the statements that lead from one to the next
* `losses`: What one person has lost by a day: the sum of the charges of releases that can have read her rows by then
* `one_file`: The rules for the file of a ledger: one regular file with one name, its journal next to it, for its owner alone
* `populations`: Which data sets hold the same persons, and so have one budget above their own
* `windows`: The windows of a data set: ranges of days of a frozen column, each with a budget
"""

from discreet.ledger.account import Ledger
from discreet.ledger.attempts import why_lost
from discreet.ledger.book import Standing
from discreet.ledger.consents import Demanded
from discreet.ledger.records import (
    MOST_ATTEMPTS,
    Attempt,
    Entry,
    Identity,
    Publication,
    Reservation,
    StoredRelease,
    Verification,
    entry_body,
    entry_digest,
)

__all__ = [
    "MOST_ATTEMPTS",
    "Attempt",
    "Demanded",
    "Entry",
    "Identity",
    "Ledger",
    "Publication",
    "Reservation",
    "Standing",
    "StoredRelease",
    "Verification",
    "entry_body",
    "entry_digest",
    "why_lost",
]
