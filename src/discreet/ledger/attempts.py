"""Which reservation may be attempted, which one is lost, and when its name is free again (soundness 35). Pure.

A reservation is *reserved*, then *reading* for its first attempt, its second, … and its last. From one of them it goes to
*drawing*, which no attempt leaves but with its own commit or with a failure. docs/proofs/attempts.md has the theorems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from discreet.errors import LedgerError
from discreet.exact.names import one_form
from discreet.ledger.book import Book, Standing, standing
from discreet.ledger.datasets import Account, number_of
from discreet.ledger.records import MOST_ATTEMPTS, Attempt, Publication, Reservation

__all__ = ["ASK_AGAIN", "Alive", "find_renewed", "is_lost", "may_draw", "require_attempt", "require_free_names", "why_lost"]

Alive = Callable[[str], bool | None]
"""True if the holder of that name lives; None where nobody can know. Only a True ever keeps anybody from anything."""

ASK_AGAIN = "a new charge under this name must be asked for: `discreet release --again`, or again=True"
"""The answer to whoever wants a release whose charge is lost."""


def require_attempt(found: Standing, alive: Alive) -> None:
    """Another attempt of the reservation may begin to read.

    Raises:
        LedgerError: something was drawn for it, too many have begun, it is concluded, or a process is at work on it.
    """
    if found.state in {"committed", "failed"}:
        raise LedgerError(f"release '{found.name}': reservation {found.sequence} is {found.state} already")
    if found.holder and alive(found.holder) is True:
        raise LedgerError(_at_work(found))
    if not found.resumable:
        raise LedgerError(f"release '{found.name}': {why_lost(found)}; {ASK_AGAIN}")


def may_draw(found: Standing | None, attempt: Attempt) -> bool:
    """True if the last entry of the reservation is the attempt's own "reading": nobody else has drawn, read or given up."""
    return found is not None and (found.state, found.last) == ("reading", attempt.entry)


def is_lost(found: Standing, alive: Alive) -> bool:
    """True if an open reservation can never be committed any more: its process died drawing, or was its last attempt."""
    spent = found.state == "drawing" or (found.state == "reading" and found.attempts >= MOST_ATTEMPTS)
    return spent and alive(found.holder) is False


def find_renewed(book: Book, account: Account | None, asked: Sequence[Publication | Reservation]) -> list[Standing]:
    """The open reservations whose names are reserved again: each fails before the new one is written."""
    names = [one.name for one in asked if isinstance(one, Reservation) and one.again]
    found = [] if account is None else [standing(book, number_of(account, name)) for name in names]
    return [one for one in found if one is not None and one.state not in {"committed", "failed"}]


def require_free_names(book: Book, account: Account, asked: Sequence[Reservation], alive: Alive) -> None:
    """No two have the same name, and none the name of a release, but for one that was not committed and is wished again.

    Raises:
        LedgerError: otherwise.
    """
    times = Counter(one_form(reservation.name) for reservation in asked)
    for reservation in asked:
        name = reservation.name
        if times[one_form(name)] > 1:
            raise LedgerError(f"name='{name}': two releases of one command have the same name; rename one")
        found = standing(book, number_of(account, name))
        if found is not None:
            _require_given_up(account, found, reservation, alive)


def _require_given_up(account: Account, found: Standing, reservation: Reservation, alive: Alive) -> None:
    name = reservation.name
    if found.state == "committed":
        raise LedgerError(
            f"name='{name}': used in data set '{account.identity.dataset}' by reservation {found.sequence}, "
            "which is committed, and names are unique. Only the same plan gives a stored release "
            "back at no charge, and `discreet ledger extract` does without plan and source; anything else needs another "
            "name (and its own charge)"
        )
    if found.holder and alive(found.holder) is True:
        raise LedgerError(_at_work(found))
    if not reservation.again:
        raise LedgerError(f"name='{name}': {_why_not(found)}; {ASK_AGAIN}")


def _at_work(found: Standing) -> str:
    return (
        f"release '{found.name}': a process is at work on reservation {found.sequence} just now; wait until it has ended, "
        "then run the same command again"
    )


def _why_not(found: Standing) -> str:
    """Why an open or failed reservation does not serve what is asked now."""
    if not found.resumable:
        return why_lost(found)
    return (
        f"reservation {found.sequence} has this name, for another plan, spend or noise, and nothing was drawn for it: what "
        "was reserved then is finished at no further charge by the plan as it was"
    )


def why_lost(found: Standing) -> str:
    """Why the charge of a reservation can never become a release."""
    which = f"the charge of reservation {found.sequence} is lost"
    if found.reached == "drawing" and not found.attempts:
        return (
            f"{which}, because discreet 0.1.0 reserved it and did not write down how far it came, so that its noise counts "
            "as drawn"
        )
    if found.reached == "drawing":
        return (
            f"{which}, because making it failed or was cut off after its noise had begun to be drawn and before its commit, "
            "and noise is drawn only once for a charge"
        )
    if found.attempts >= MOST_ATTEMPTS:
        return f"{which}, because {MOST_ATTEMPTS} attempts have begun to read for it and none has come to its end"
    return f"{which}, because it was given up"
