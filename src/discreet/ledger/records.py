"""The records of a ledger: frozen records, the rules for their fields, and the digest that chains them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import Any

from discreet.approvals.demand import Consent
from discreet.errors import ArgumentError
from discreet.ledger.amounts import Amounts, amounts_from, amounts_text, require_amounts, show

__all__ = [
    "MOST_ATTEMPTS",
    "STATES_ARE_WRITTEN",
    "Attempt",
    "Entry",
    "Identity",
    "Publication",
    "Reservation",
    "StoredRelease",
    "Verification",
    "can_be_attempted",
    "canonical",
    "entry_body",
    "entry_digest",
    "entry_from",
    "fields_from",
    "fields_of_all",
    "lists_invariants",
    "require_identity",
    "require_publication",
    "require_reservation",
    "require_text",
]

_MAX_NAME = 500

MOST_ATTEMPTS = 8
"""So many attempts of one reservation may begin to read (soundness 35)."""

STATES_ARE_WRITTEN = 1
"""The `Entry.protocol` of a reservation whose states are entries; 0.1.0 wrote none."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The declaration that the first entry of a data set freezes, but for columns that nothing else in it uses.

    Attributes:
        dataset: the declared name; not a content hash, so that a changed row opens no fresh budget.
        declaration: a canonical JSON object with neighbours, unit, invariants and all else that is frozen, and with the
            schema, of which later entries may amend what no invariant uses (`declarations`).
        measure: the name of the measure in which amounts add, such as "zcdp".
        budget: all that may ever be spent, coordinate by coordinate.
    """

    dataset: str
    declaration: str
    measure: str
    budget: Amounts


@dataclass(frozen=True, slots=True)
class Reservation:
    """One release that asks for its charge before the data are opened.

    Attributes:
        name: the name of the release, unique in its data set.
        charge: what it costs, in the coordinates of the identity's measure; already rounded up where it was rounded.
        plan_digest: the digest of the plan that will run.
        snapshot: an opaque text about the source. Only a keyed hash is kept, under a key that stays in the file.
        details: canonical JSON with noise laws, scales and sensitivities. Opaque.
        used_digest: the digest of the plan restricted to the columns that it uses, by which the release is recognised.
        again: a new charge is wished under a name whose release was never committed. Its older reservation fails for good.
        consent: what must be signed where signatures are demanded, and the signatures.
        windows: the windows of the data set whose rows alone are read, in order; none for a release of all rows.
    """

    name: str
    charge: Amounts
    plan_digest: str
    snapshot: bytes | str = field(repr=False)
    details: str = "{}"
    used_digest: str = ""
    again: bool = False
    consent: Consent | None = field(default=None, repr=False, compare=False)
    windows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Publication:
    """The exact totals of a data set, about to be published without noise and hence without a charge.

    Attributes:
        name: for people; not unique, and not the name of a release.
        plan_digest: the digest of what will be computed.
        snapshot: an opaque text about the source, kept as the snapshot of a `Reservation` is.
        details: canonical JSON. Opaque.
        consent: what must be signed where signatures are demanded, and the signatures.
    """

    name: str
    plan_digest: str
    snapshot: bytes | str = field(repr=False)
    details: str = "{}"
    consent: Consent | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """The state of a release or publication, with its bytes if it was committed.

    Attributes:
        sequence: the number of the reservation or publication.
        plan_digest: its plan.
        state: "reserved", "reading", "drawing", "committed" or "failed"; a publication is "reserved" until it is concluded.
        payload: the bytes; empty unless committed.
        used_digest: the digest of the part of the plan that the release uses; empty for an entry of 0.1.0.
        charge: what was charged; empty for a publication.
        details: the details of its first entry.
        attempts: how many attempts have begun to read; 0 for a publication and once it is concluded.
        alive: whether the process of the last of them lives; None where the system cannot tell.
        lost: why its charge can never become a release any more; empty while it can, and once it has.
    """

    sequence: int
    plan_digest: str
    state: str
    payload: bytes = field(default=b"", repr=False)
    used_digest: str = ""
    charge: Amounts = ()
    details: str = "{}"
    attempts: int = 0
    alive: bool | None = False
    lost: str = ""

    @property
    def resumable(self) -> bool:
        """True if it can still be finished at no further charge: nothing random has happened, and an attempt is left."""
        return can_be_attempted(self.state, self.attempts)


def can_be_attempted(state: str, attempts: int) -> bool:
    """True if a reservation of this state may have another attempt after this number of attempts to read."""
    return state in {"reserved", "reading"} and attempts < MOST_ATTEMPTS


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to make a reserved release, which `Ledger.attempt` has begun.

    Attributes:
        sequence: the number of the reservation.
        entry: the number of the attempt's own "reading" entry.
        number: 1 for the first attempt of the reservation, at most `MOST_ATTEMPTS`.
        holder: the name of the lock that this process holds until the attempt has ended.
    """

    sequence: int
    entry: int
    number: int
    holder: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger. Everything in it is public; order is by `sequence`, never by `time`.

    Attributes:
        sequence: 1, 2, 3, … over all data sets of the file, without gaps.
        dataset: the name of the data set.
        kind: "dataset", "amend", "demand", "inspect", "publish", "reserve", "reading", "drawing", "commit" or "fail".
        time: UTC, for people.
        user: the name of the user who wrote the entry, for people.
        nonce: random, so that the same entry written again after a rollback has another digest.
        name: the release or publication; empty for "dataset", "amend" and "inspect".
        reservation: the sequence number of the "reserve" or "publish" that the entry goes on with, else 0.
        charge: what the entry spends; empty unless it is a "reserve".
        plan_digest: the digest of the plan; empty for "dataset", "amend" and "inspect".
        details: canonical JSON; of "dataset" declaration, measure and budget, of "amend" the columns that changed.
        payload_digest: SHA-256 of the release bytes of a "commit", else empty.
        digest: SHA-256 of the digest of the entry before and of everything else (`entry_digest`, `entry_body`).
        used_digest: of a "reserve", the digest of the plan restricted to the columns that it uses.
        protocol: 1 for a "reserve" whose states are entries; 0 for any other entry, and for a "reserve" of 0.1.0.
        attempt: the number of the attempt of a "reading" or "drawing", else 0.
        holder: the name of the lock of the process that wrote a "reading" or "drawing", else empty.
        approvals: of a "reserve" or "publish", what was signed and the signatures, where signatures are demanded.
        windows: of a "reserve", the windows of the data set that it reads and is charged to; empty where it reads all rows.
    """

    sequence: int
    dataset: str
    kind: str
    time: str
    user: str
    nonce: str
    name: str = ""
    reservation: int = 0
    charge: Amounts = ()
    plan_digest: str = ""
    details: str = "{}"
    payload_digest: str = ""
    digest: str = ""
    used_digest: str = ""
    protocol: int = 0
    attempt: int = 0
    holder: str = ""
    approvals: str = ""
    windows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of reading a whole ledger again.

    Attributes:
        entries: how many entries were found sound, in order, from the first.
        head: the digest of the last sound entry.
        spent: (data set, total of its charges) for every data set, recomputed.
        broken: the sequence number of the first entry that is not sound; 0 when all are.
        problem: what is wrong; empty when nothing is.
        approvals: how many signatures of approvals were checked.
    """

    entries: int
    head: str
    spent: tuple[tuple[str, Amounts], ...]
    broken: int = 0
    problem: str = ""
    approvals: int = 0

    @property
    def intact(self) -> bool:
        """True if every entry, every total and every stored release is as it was written."""
        return not self.problem


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder()


def canonical(value: object) -> str:
    """The canonical JSON of `value`: keys sorted, no blanks, ASCII only."""
    return _ENCODER.encode(value)


def entry_body(entry: Entry) -> str:
    """The canonical JSON of `entry`: every field but its digest, fields at their default left out, amounts as text."""
    values = {item.name: getattr(entry, item.name) for item in fields(Entry) if item.name != "digest"}
    kept = {name: value for name, value in values.items() if value != _DEFAULTS.get(name)}
    if entry.charge:
        kept["charge"] = amounts_text(entry.charge)
    return canonical(kept)


_DEFAULTS = {item.name: item.default for item in fields(Entry) if item.default is not MISSING}


def entry_digest(previous: str, body: str) -> str:
    """The digest of an entry: SHA-256, in hexadecimal, of the digest before it followed by its `entry_body`."""
    return hashlib.sha256((previous + body).encode("ascii")).hexdigest()


def entry_from(body: str, digest: str) -> Entry:
    """The entry that `entry_body` wrote.

    Raises:
        ValueError: `body` is something else.
    """
    values = fields_from(body)
    try:
        values["charge"] = amounts_from(values.get("charge", []))
        values["windows"] = tuple(values.get("windows", ()))
        return Entry(digest=digest, **values)
    except (TypeError, AttributeError) as error:
        raise ValueError("its fields are not the fields of an entry") from error


def fields_from(body: str) -> dict[str, Any]:
    """The fields that are in an `entry_body`, not interpreted.

    Raises:
        ValueError: `body` is not a JSON object, or has something after it.
    """
    found = fields_of_all([body])
    if not found:
        raise ValueError("is not a JSON object")
    return found[0]


def fields_of_all(bodies: list[str]) -> list[dict[str, Any]]:
    """`fields_from` of each of `bodies`; an empty list if one of them is not exactly one JSON object."""
    scan: Any = _DECODER.scan_once  # type: ignore[attr-defined]  # set by its __init__
    try:
        decoded = [scan(body, 0) for body in bodies]
    except (ValueError, StopIteration, RecursionError):
        return []
    whole = all(end == len(body) for (_, end), body in zip(decoded, bodies, strict=True))
    return [fields for fields, _ in decoded] if whole and all(type(fields) is dict for fields, _ in decoded) else []


def require_text(value: object, name: str) -> None:
    """`value` is a short name that can be printed: not empty, no control characters, no blanks at its ends."""
    if not isinstance(value, str) or not value or not value.isprintable() or value != value.strip():
        raise ArgumentError(f"{name}={value!r}: must be printable text, not empty and without blanks at its ends")
    if len(value) > _MAX_NAME:
        raise ArgumentError(f"{name}='{value[:40]}…': must have at most {_MAX_NAME} characters, not {len(value)}")


def _object_in(text: object) -> dict[str, Any]:
    parsed = json.loads(text.encode()) if isinstance(text, str) else None
    if not isinstance(parsed, dict):
        raise TypeError("no text of a JSON object")
    return parsed


def require_json_object(value: object, name: str, *, read: Callable[[Any], object] = _object_in) -> None:
    """`value` is the text of a JSON object, and so `read` can read it."""
    try:
        read(value)
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError is a ValueError
        raise ArgumentError(f"{name}: must be the canonical JSON text of an object") from None


def require_identity(identity: Identity) -> None:
    """The fields of `identity` can be written and compared."""
    require_text(identity.dataset, "dataset")
    require_text(identity.measure, "measure")
    require_json_object(identity.declaration, "declaration", read=lists_invariants)
    require_amounts(identity.budget, "budget")


@lru_cache(maxsize=4)  # every operation reads the declaration, nearly always the same one, and it may be long
def lists_invariants(declaration: str) -> bool:
    """True if a declaration, the text of a JSON object, has anything but an empty value under its key "invariants"."""
    return bool(_object_in(declaration).get("invariants"))


def require_publication(publication: Publication | Reservation) -> None:
    """The fields of `publication` can be written; those that a reservation shares with it likewise."""
    require_text(publication.name, "name")
    require_text(publication.plan_digest, "plan_digest")
    require_json_object(publication.details, "details")
    if not isinstance(publication.snapshot, bytes | str):
        raise ArgumentError(f"snapshot: must be bytes or text, not {type(publication.snapshot).__name__}")


def require_reservation(reservation: Reservation, coordinates: int) -> None:
    """The fields of `reservation` can be written, and its charge has as many `coordinates` as the budget."""
    require_publication(reservation)
    require_amounts(reservation.charge, "charge")
    if len(reservation.charge) != coordinates:
        raise ArgumentError(
            f"charge={show(reservation.charge)}: must have {coordinates} coordinates like the budget, "
            f"not {len(reservation.charge)}"
        )
