"""Approvals as entries of ledgers and releases hold them: the signed text, and the signatures by their keys."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from discreet.approvals.demand import Consent, Demand, Signatures, is_met, signed_by
from discreet.approvals.keys import PublicKey, public_key
from discreet.approvals.signing import is_signed
from discreet.approvals.statements import ReleaseStatement, Statement, document, statement_of
from discreet.errors import ArgumentError
from discreet.exact.canonical import canonical

__all__ = ["approvals_text", "check_signatures", "read_approvals", "signers_of"]


def approvals_text(demands: tuple[Demand, ...], consent: Consent | None) -> str:
    """The content of an entry: the signed text, and the signatures by keys that are demanded; empty where none are."""
    if consent is None or not demands:
        return ""
    text, given = document(consent.statement), [(one.key, one.signature) for one in consent.approvals]
    signed = {key for demand in demands for key in signed_by(demand, text, given)}
    pairs = [(key, signature) for key, signature in given if key in signed and is_signed(text, key, signature)]
    names = {key: f"{key.text} {key.name}".strip() for demand in demands for key in demand.keys}
    signatures = {names[key]: base64.b64encode(signature).decode() for key, signature in pairs}
    return canonical({"statement": text, "signatures": signatures})


def check_signatures(written: str) -> None:
    """Checks every signature of the approvals of an entry or a release.

    Raises:
        ValueError: one is not of the statement.
    """
    statement, signatures = read_approvals(written)
    keys = tuple(key for key, _ in signatures)
    if keys and not is_met(Demand(len(keys), keys), document(statement), signatures):
        raise ValueError("has a signature that is not of what it approves")


def read_approvals(written: str) -> tuple[Statement, Signatures]:
    """The statement and the signatures of `approvals_text`.

    Raises:
        ValueError: it is something else.
    """
    try:
        found = json.loads(written)
        statement = statement_of(found["statement"])
        pairs = [
            (public_key(key, "key"), base64.b64decode(text, validate=True)) for key, text in found["signatures"].items()
        ]
    except (KeyError, TypeError, AttributeError, RecursionError, binascii.Error, ArgumentError, ValueError) as wrong:
        raise ValueError("has approvals that cannot be read") from wrong
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("has two approvals by one key")
    return statement, pairs


def signers_of(release: Mapping[str, Any]) -> tuple[PublicKey, ...]:
    """The keys whose owners have approved a release, given as its document; the signatures are checked.

    Raises:
        ArgumentError: the approvals cannot be read, or are of something else.
    """
    if "approvals" not in release:
        return ()
    try:
        written = canonical(release["approvals"])
        statement, signatures = read_approvals(written)
        check_signatures(written)
        said = (release["dataset"], release["name"], release["plan_digest"])
        about = isinstance(statement, ReleaseStatement) and (statement.dataset, statement.release, statement.plan) == said
    except (ValueError, KeyError, RecursionError):
        about, signatures = False, ()
    if not about:
        raise ArgumentError("release: its approvals are not signatures of what it says; do not rely on it")
    return tuple(key for key, _ in signatures)
