"""The library attacking itself: lower bounds of what a request leaks, from a great many runs of the code that answers.

`audit` makes worst-case neighbouring data sets, runs resampling, queries and noise as they are (engine and ledger are
left out: they add no randomness), and holds what it can tell apart against the profile that is claimed. See docs/audit.md.
"""

from discreet.audit.auditing import Attack, Audit, Point, audit, audit_quote
from discreet.audit.checks import Check
from discreet.audit.draws import Kernel

__all__ = ["Attack", "Audit", "Check", "Kernel", "Point", "audit", "audit_quote"]
