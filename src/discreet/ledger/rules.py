"""The rules for the next entry: an attempt must fit the book. They are applied before anything is written or opened."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.approvals.demand import Consent, Demand
from discreet.approvals.signing import Approval
from discreet.errors import ArgumentError, BudgetExceeded, LedgerError, NotApproved
from discreet.exact.names import one_form, spellings
from discreet.ledger.amounts import Amounts, fits, is_short, least, minus, plus, show
from discreet.ledger.attempts import Alive, require_free_names
from discreet.ledger.book import Book
from discreet.ledger.consents import Deed, change_of, demand_in, demands_with, is_about, require_consent
from discreet.ledger.datasets import Account, account_of, fresh_account
from discreet.ledger.declarations import dated_of, fixed_part, short
from discreet.ledger.draws import draw_of, draw_terms, has_named_draw, of_same_draw
from discreet.ledger.populations import population_of, require_population
from discreet.ledger.records import Identity, Publication, Reservation, canonical, require_text
from discreet.ledger.windows import require_room_in, require_window_names

__all__ = ["require_change", "require_publishable", "require_room", "require_totals_owed", "same_identity"]

_MOST = 6
_DEPTH = 4
_ABSENT = object()


def same_identity(book: Book, identity: Identity) -> None:
    """The data set is new, or everything that its first entry has fixed is declared as it was (H2).

    Raises:
        LedgerError: otherwise, naming what differs with its two values.
    """
    _require_one_name(book, identity.dataset)
    account = account_of(book, identity.dataset)
    if account is None:
        _require_one_draw(book, identity)
        _require_one_population(book, identity)
    if account is not None and _identify(account.identity) != _identify(identity):
        raise LedgerError(
            f"dataset='{identity.dataset}' was declared otherwise in this ledger: "
            f"{_differences(account.identity, identity)}. This was fixed by the first reservation, because it says what the "
            "budget protects: give what the ledger has or, for other persons or other data, choose another data set name "
            "(and add up what both reveal). Columns on which nothing of this depends may change at any time"
        )


def _identify(identity: Identity) -> tuple[str, str, Amounts]:
    return fixed_part(identity.declaration), identity.measure, identity.budget


def _require_one_draw(book: Book, identity: Identity) -> None:
    """A new data set of a secret sample says whether its draw is one that the ledger has, and has the budget of that draw.

    Two totals for one draw would promise the population too much: once a person is known to be in it, nothing hides them.
    """
    draw, others = draw_of(identity), of_same_draw(book.accounts, identity)
    if not draw:
        return
    drawn = [one.identity for one in book.accounts.values() if draw_of(one.identity)]
    if drawn and not others and not has_named_draw(identity):
        first = drawn[0]
        raise LedgerError(
            f"dataset='{identity.dataset}': this ledger has '{first.dataset}', which is a secret sample too, and the draw "
            f"of this one has no name. If both are about the same draw of persons, write draw='{draw_of(first)}': they then "
            "have one budget. If the persons were drawn anew, give this draw another name"
        )
    for other in others:
        if draw_terms(other.identity) != draw_terms(identity):
            raise LedgerError(
                f"dataset='{identity.dataset}': draw='{draw}' is the draw of '{other.identity.dataset}' too, and data sets "
                "of one draw have one rate, one relation with the same rows, one measure and one budget; give those of "
                f"'{other.identity.dataset}' (`discreet ledger show` has them), or another name for another draw"
            )


def _require_one_population(book: Book, identity: Identity) -> None:
    """A new data set of a population that the ledger has is about the same unit, in its measure, with its budget (Q1)."""
    require_population(identity)
    terms = population_of(identity)
    known = None if terms is None else book.populations.get(terms.name)
    if terms is None or known is None or known.terms == terms:
        return
    differing = [
        word
        for word, same in (
            ("unit (the relation, the rows per person, and how an identifier is read)", known.terms.unit == terms.unit),
            ("measure", known.terms.measure == terms.measure),
            (f"budget of the population ({show(known.terms.budget)} in the ledger)", known.terms.budget == terms.budget),
        )
        if not same
    ]
    raise LedgerError(
        f"dataset='{identity.dataset}': population '{terms.name}' is the population of '{known.members[0]}' too, and data "
        "sets of one population have the same unit, the same measure and the same budget above theirs. It has another "
        f"{', another '.join(differing)}; give what the ledger has (`discreet ledger show --population`), or another name "
        "for other persons"
    )


def _require_one_name(book: Book, dataset: str) -> None:
    """At most one data set has this name: a ledger that is older than the comparison of names may hold two budgets.

    It is unknown which of them belongs to the persons, so nothing more is spent from either.
    """
    stored = spellings(dataset, book.accounts)
    if len(stored) > 1:
        raise LedgerError(
            f"dataset='{dataset}': this ledger holds {len(stored)} data sets of that name, written "
            f"{' and '.join(map(ascii, stored))}, and names are compared after Unicode normalisation (NFC): which budget is "
            "meant cannot be told, so nothing more is spent from them. `discreet ledger show` has their releases; choose "
            "another data set name, and add up what all of them reveal"
        )


def _differences(stored: Identity, asked: Identity) -> str:
    """The fixed terms that differ between two identities, with the declared (public) values of both, shortly."""
    before, now = (json.loads(fixed_part(one.declaration)) for one in (stored, asked))
    found = list(_find_differences((), before, now, _DEPTH))
    if any(place == ("invariants",) for place, _, _ in found):  # which columns are fixed follows from them
        found = [one for one in found if one[0][:1] != ("schema",)]
    terms = (("measure", stored.measure, asked.measure), ("budget", show(stored.budget), show(asked.budget)))
    if not any(place[:1] == ("budget",) for place, _, _ in found):  # else it is told in its own parameters
        found += [((word,), old, new) for word, old, new in terms if old != new]
    why = {str(one): "which says whose row it is" for one in (_unit_of(before), _unit_of(now))}
    why |= dict.fromkeys(dated_of(before) | dated_of(now), "which has the windows")
    parts = [
        f"{_name_of(place, why)}: {_write_value(old)} in the ledger, {_write_value(new)} now" for place, old, new in found
    ]
    more = [f"and {len(parts) - _MOST} more"] if len(parts) > _MOST else []
    return "; ".join([*parts[:_MOST], *more])


def _unit_of(declaration: object) -> object:
    """The column that says whose row it is, by its name; None where there is none."""
    neighbours = declaration.get("neighbours") if isinstance(declaration, dict) else None
    return neighbours.get("person") if isinstance(neighbours, dict) else None


def _find_differences(
    place: tuple[str, ...], before: object, now: object, depth: int
) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """The innermost parts, at most `depth` deep, in which two JSON values differ; parts that have names go by them."""
    if canonical(before) == canonical(now):  # as texts: 0 is not false
        return
    if not depth or not isinstance(before, dict) or not isinstance(now, dict):
        yield place, before, now
        return
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key, _ABSENT), now.get(key, _ABSENT)
        if old is _ABSENT or new is _ABSENT:
            yield (*place, key), old, new
        else:
            yield from _find_differences((*place, key), old, new, depth - 1)


def _name_of(place: tuple[str, ...], why: Mapping[str, str]) -> str:
    """The words of a plan for a part of a declaration: `rows`, `column 'state': categories`; `why` a column is fixed."""
    match place:
        case ("schema", name, *rest):
            reason = why.get(name, "which the exact totals use")
            return f"{' '.join(rest)}{' of ' if rest else ''}column '{name}', {reason}"
        case ("neighbours" | "budget", key) | ("neighbours", "sampled", key):
            return _WORDS.get(key, key)
        case ("invariants",):
            return "invariants"
    return " ".join(place)


_WORDS = {"relation": "neighbours", "kind": "measure", "persons": "rows", "of": "table of persons"}


def _write_value(value: object) -> str:
    return "not there" if value is _ABSENT else short(value)


def require_room(book: Book, identity: Identity, reservations: Sequence[Reservation], alive: Alive) -> None:
    """All `reservations`, at least one, fit together: identity, names, the exact sum of their charges, and signatures.

    Equal to what remains is accepted; anything above, in any coordinate, is refused.

    Raises:
        LedgerError: another identity, a name that is used, or exact totals that have to be published first.
        BudgetExceeded: the sum is above what remains.
        ArgumentError: the denominator of the new total would be absurdly long.
        NotApproved: signatures are missing that the ledger or a reservation asks for.
    """
    account = _account(book, identity)
    if account.totals_owed:
        raise LedgerError(
            f"dataset='{identity.dataset}': its declaration lists invariants, and their exact totals are not published "
            "yet; publish them before the first release"
        )
    require_free_names(book, account, reservations, alive)
    requested = reservations[0].charge
    for reservation in reservations[1:]:
        requested = plus(requested, reservation.charge)
    if not fits(requested, account.remaining):
        raise _describe_excess(_scope_of(account, requested), identity, requested, account.remaining)
    _require_windows(identity, account, reservations)
    above = [] if account.population is None else [account.population.spent]
    if not all(is_short(amount) for spent in (account.spent, *above) for amount in plus(spent, requested)):
        raise ArgumentError(
            f"charge: its denominator does not combine with what '{identity.dataset}' has spent; "
            "round the spend up to a decimal"
        )
    _require_signed(book, identity, reservations)


def _scope_of(account: Account, requested: Amounts) -> str:
    """Whose budget does not have what is requested: the population's where that is the only one."""
    population, dataset = account.population, f"dataset='{account.identity.dataset}'"
    if population is None or fits(requested, population.left):
        return dataset
    return f"{dataset}, population '{population.terms.name}'"


def _require_windows(identity: Identity, account: Account, reservations: Sequence[Reservation]) -> None:
    """Every window that is read has room for all that is asked of it together.

    Raises:
        BudgetExceeded: one has not.
        ArgumentError: a reservation names windows that the data set does not have.
    """
    for one in reservations:
        require_window_names(account.windows, one.windows)
    if account.windows is None:
        return
    try:
        require_room_in(account.windows, identity.dataset, [(one.windows, one.charge) for one in reservations])
    except BudgetExceeded as refused:
        raise _describe_excess(refused.scope, identity, refused.requested, refused.remaining) from None
    asked = account.windows.copied()
    for one in reservations:
        asked.take(one.windows, one.charge)
    if not all(is_short(amount) for name in (*asked.own, "") for amount in asked.spent(name)):
        raise ArgumentError("charge: its denominator does not combine with what a window has spent; round the spend up")


def _require_signed(book: Book, identity: Identity, asked: Sequence[Publication | Reservation]) -> None:
    """Everything that is asked for has the signatures that the ledger and it itself ask for, and they say exactly that.

    Raises:
        NotApproved: signatures are missing, or the ledger demands other ones.
    """
    demand = demand_in([one.consent for one in asked])
    stands = book.demands.get(one_form(identity.dataset))
    if demand is not None and stands is not None and stands.demand != demand:
        raise NotApproved(
            f"dataset='{identity.dataset}': the ledger demands approval by {stands.demand} (entry {stands.sequence}), and "
            f"{demand}, which are others, are named here; nothing was spent. Give the keys of the ledger (`discreet ledger "
            "show` lists them), or change its list with `discreet ledger demand`, which needs their signatures"
        )
    if demands := demands_with(book.demands, identity.dataset, demand):
        _require_consents(book, _account(book, identity), asked, demands)


def require_change(book: Book, dataset: str, demand: Demand, approvals: Sequence[Approval]) -> Consent:
    """A demand may take the place of the one that stands, if there is one: enough of its keys have signed that.

    Raises:
        NotApproved: they have not.
        LedgerError: nothing would change.
    """
    if dataset:
        require_text(dataset, "dataset")
    old = book.demands.get(one_form(dataset))
    consent = Consent(change_of(book.genesis, dataset, demand, old), tuple(approvals))
    what = f"the demand of data set '{dataset}'" if dataset else "the demand of the ledger"
    if demand == (Demand(0, ()) if old is None else old.demand):
        raise LedgerError(f"{what}: is {'none' if old is None else demand} already; nothing was written")
    if old is not None and old.demand.signatures:
        require_consent((old.demand,), consent, f"a change of {what}")
    return consent


def _require_consents(
    book: Book, account: Account, asked: Sequence[Publication | Reservation], demands: tuple[Demand, ...]
) -> None:
    paid, windows = (Fraction(0),) * len(account.meters), None if account.windows is None else account.windows.copied()
    for one in asked:
        what = f"release '{one.name}'" if isinstance(one, Reservation) else "publishing the exact totals"
        require_consent(demands, one.consent, what)
        deed = Deed(book.genesis, account.identity, "publish", one.name, one.plan_digest)
        if isinstance(one, Reservation):
            older = account.releases.get(one.name, 0)
            remaining = minus(account.remaining, paid)
            if windows is not None:
                remaining = least([remaining, windows.left(one.windows)])
                windows.take(one.windows, one.charge)
            deed = replace(deed, kind="reserve", charge=one.charge, remaining=remaining, replaces=older)
            paid = plus(paid, one.charge)
        if one.consent is None or not is_about(one.consent.statement, deed):
            raise NotApproved(f"{what}: what was signed is not what is asked for; nothing was spent")


def require_publishable(book: Book, identity: Identity, publication: Publication) -> None:
    """The exact totals of the data set may be published now: owed, and signed where that is demanded.

    Raises:
        LedgerError: otherwise.
    """
    require_totals_owed(book, identity)
    _require_signed(book, identity, (publication,))


def require_totals_owed(book: Book, identity: Identity) -> None:
    """The exact totals of the data set may be published: declared, and not published before.

    Raises:
        LedgerError: another identity, no invariants in its declaration, or totals that are published already.
    """
    account = _account(book, identity)
    if account.published:
        raise LedgerError(
            f"dataset='{identity.dataset}': its exact totals are published already, by entry "
            f"{book.concluded[account.published][0]}, and are published once; use those"
        )
    if not account.totals_owed:
        raise LedgerError(
            f"dataset='{identity.dataset}': its declaration lists no invariants, so nothing can be published exactly; "
            "exact totals are declared together with a new data set, before its first release"
        )


def _account(book: Book, identity: Identity) -> Account:
    same_identity(book, identity)
    return account_of(book, identity.dataset) or fresh_account(book, identity)


def _describe_excess(scope: str, identity: Identity, requested: Amounts, remaining: Amounts) -> BudgetExceeded:
    refused = BudgetExceeded("", requested, remaining, scope)
    over = f"{show(refused.difference)} (in the coordinates in which {identity.measure} adds)"
    advice = f"the largest spend that fits is {show(remaining)}" if any(remaining) else "nothing more can be released"
    return refused.worded(scope, show(requested), show(remaining), over, advice)
