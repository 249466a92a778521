"""The demand for signatures: how many, of which keys, and who has not signed yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.approvals.keys import PublicKey, load_public_keys, public_key
from discreet.approvals.signing import Approval, is_signed
from discreet.approvals.statements import Statement, difference, document
from discreet.errors import ArgumentError, NotApproved, printed
from discreet.exact.given_paths import require_path

__all__ = ["Consent", "Demand", "Signatures", "demand_from", "is_met", "missing_words", "require_met", "signed_by"]

_MOST_KEYS = 100

Signatures = Sequence[tuple[PublicKey, bytes]]
"""Keys, each with the signature of its owner."""


@dataclass(frozen=True, slots=True)
class Demand:
    """So many signatures by the owners of different keys of a list. With 0 signatures and no keys it demands nothing.

    Args:
        signatures: how many.
        keys: the list. The names of keys are for people, and two lists with the same keys are equal.

    Raises:
        ArgumentError: fewer keys than signatures, more than 100 keys, or a key that is on the list twice.
    """

    signatures: int
    keys: tuple[PublicKey, ...]

    def __post_init__(self) -> None:
        if type(self.signatures) is not int or self.signatures < 0:
            raise ArgumentError(f"signatures={printed(self.signatures)}: must be a whole number, 0 or more")
        ordered = tuple(sorted(self.keys, key=lambda key: key.raw))
        object.__setattr__(self, "keys", ordered)
        twice = next((key for key, other in pairwise(ordered) if key == other), None)
        if twice is not None:
            raise ArgumentError(f"keys: {twice} is on the list twice, perhaps under two names; each key counts once")
        if len(ordered) > _MOST_KEYS:
            raise ArgumentError(f"keys: has {len(ordered)} keys; a list has at most {_MOST_KEYS}")
        if self.signatures > len(ordered) or (not self.signatures and ordered):
            raise ArgumentError(
                f"signatures={self.signatures}: the list has {len(ordered)} different keys; demand at least 1 signature and "
                "not more than there are keys, or 0 with no keys"
            )

    @staticmethod
    def load(path: str | Path, *, signatures: int) -> Demand:
        """The demand for signatures by the keys of a file, with one key in each line.

        Raises:
            ArgumentError: the file cannot be read, or a line is not an Ed25519 key.
        """
        return Demand(signatures, load_public_keys(require_path(path, "keys"), "keys"))

    def to_json(self) -> dict[str, Any]:
        """The demand as ledgers and releases hold it."""
        return {"signatures": self.signatures, "keys": [f"{key.text} {key.name}".strip() for key in self.keys]}

    def __str__(self) -> str:
        return f"{self.signatures} of {len(self.keys)} keys" if self.signatures else "nobody"


@dataclass(frozen=True, slots=True)
class Consent:
    """A deed, as it must be signed, and the approvals that were given.

    Where a data set has no demand of its own, `demand` holds for it from then on; where it has one, it must be this one.
    """

    statement: Statement
    approvals: tuple[Approval, ...] = ()
    demand: Demand | None = None


def demand_from(stated: object) -> Demand:
    """The demand that `to_json` wrote.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(stated, dict) or stated.keys() != {"signatures", "keys"} or not isinstance(stated["keys"], list):
        raise ArgumentError("demand: is not a list of keys with the number of their signatures")
    return Demand(stated["signatures"], tuple(public_key(str(line), "demand") for line in stated["keys"]))


# Who has signed -----------------------------------------------------------------------------------------------------------


def signed_by(demand: Demand, text: str, signatures: Signatures) -> tuple[PublicKey, ...]:
    """The different keys of the list whose owners have signed exactly this text, in the order of the list."""
    valid = {key for key, signature in signatures if key in demand.keys and is_signed(text, key, signature)}
    return tuple(key for key in demand.keys if key in valid)


def is_met(demand: Demand, text: str, signatures: Signatures) -> bool:
    """True if at least the demanded number of different keys of the list have signed this text."""
    return len(signed_by(demand, text, signatures)) >= demand.signatures


def require_met(demand: Demand, statement: Statement, approvals: Iterable[Approval], what: str) -> None:
    """Checks that enough different keys of the list have signed the statement.

    Raises:
        NotApproved: otherwise; the message says who is missing, and who has signed something else.
    """
    given = tuple(approvals)
    signatures = [(one.key, one.signature) for one in given]
    if not is_met(demand, document(statement), signatures):
        raise NotApproved(
            f"{what}: {missing_words(demand, statement, given)}; nothing was spent. `discreet approve` signs it"
        )


def missing_words(demand: Demand, statement: Statement, given: Sequence[Approval]) -> str:
    """The number of signatures, the keys that have not signed, and the keys that have signed something else."""
    signed = signed_by(demand, document(statement), [(one.key, one.signature) for one in given])
    words = f"approved by {len(signed)} of {len(demand.keys)} keys, and {demand.signatures} must approve"
    few, missing = demand.signatures - len(signed), [key for key in demand.keys if key not in signed]
    if few <= 0:
        return words
    who = ", ".join(map(str, missing))
    return f"{words}; missing {'' if few == len(missing) else f'{few} of '}{who}{_otherwise(missing, statement, given)}"


def _otherwise(missing: Sequence[PublicKey], statement: Statement, given: Sequence[Approval]) -> str:
    """The nearest other statement that each missing signer has signed."""
    notes = []
    for key in missing:
        words = [difference(statement, one.statement) for one in given if one.key == key and _is_sound(one)]
        if words := [word for word in words if word]:
            notes.append(f"{key.name or key.fingerprint} has signed {min(words, key=len)}")
    return f" ({'; '.join(notes)})" if notes else ""


def _is_sound(approval: Approval) -> bool:
    return is_signed(document(approval.statement), approval.key, approval.signature)
