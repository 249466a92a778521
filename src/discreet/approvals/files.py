"""Approvals as small files in a folder, one for each signature, which can be mailed and put together."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from pathlib import Path

from discreet.approvals.keys import public_key
from discreet.approvals.signing import Approval, is_signed
from discreet.approvals.statements import ReleaseStatement, document, statement_of
from discreet.errors import ArgumentError
from discreet.exact.canonical import canonical
from discreet.exact.files import make_folder, replace_file
from discreet.exact.given_paths import content_of, quote_path, reason

__all__ = ["SUFFIX", "approvals_folder", "approvals_in", "approvals_of", "read_approval", "write_approval"]

SUFFIX = ".approval"
_FORMAT = "discreet approval"
_MOST_BYTES = 100_000
_MOST_FILES = 1000


def approvals_folder(path: Path) -> Path:
    """The folder next to a plan or a ledger in which approvals wait."""
    return path.with_name(path.stem + ".approvals")


def write_approval(approval: Approval, folder: Path) -> Path:
    """The file of an approval in `folder`. A newer one of the same release by the same key takes its place.

    Raises:
        ArgumentError: the folder cannot be made or written.
    """
    what = approval.statement.release if isinstance(approval.statement, ReleaseStatement) else "list"
    slug = re.sub(r"[^a-z0-9]+", "-", what.lower()).strip("-")[:40] or "release"
    mark = re.sub(r"[^A-Za-z0-9]", "", approval.key.fingerprint.removeprefix("SHA256:"))[:12]
    content = {
        "format": _FORMAT,
        "statement": document(approval.statement),
        "key": approval.key.text,
        "signature": base64.b64encode(approval.signature).decode(),
    }
    try:
        make_folder(folder)
        place = folder / f"{slug}-{mark}{SUFFIX}"
        replace_file(place, lambda path: path.write_text(canonical(content) + "\n", encoding="ascii"))
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"approvals {quote_path(folder)}: cannot be written ({reason(wrong)})") from None
    return place


def approvals_in(folder: Path) -> tuple[Approval, ...]:
    """All approvals in a folder, which need not exist.

    Raises:
        ArgumentError: a file cannot be read, is not an approval, or its signature is not of what it says.
    """
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX) if folder.is_dir() else []
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"approvals {quote_path(folder)}: cannot be read ({reason(wrong)})") from None
    if len(files) > _MOST_FILES:
        raise ArgumentError(f"approvals {quote_path(folder)}: has more than {_MOST_FILES} files; remove what is not needed")
    return tuple(map(read_approval, files))


def approvals_of(given: Sequence[Approval] | str | Path) -> tuple[Approval, ...]:
    """The approvals that were given, or all in the folder that was given."""
    return approvals_in(Path(given)) if isinstance(given, str | Path) else tuple(given)


def read_approval(path: Path) -> Approval:
    """The approval of a file, whose signature is of what it says.

    Raises:
        ArgumentError: otherwise.
    """
    where = f"approval {quote_path(path)}"
    try:
        content = content_of(path, _MOST_BYTES + 1)
        found = json.loads(content) if len(content) <= _MOST_BYTES else None
    except OSError as wrong:
        raise ArgumentError(f"{where}: cannot be read ({reason(wrong)})") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.keys() != {"format", "statement", "key", "signature"}:
        raise ArgumentError(f"{where}: is not an approval that discreet wrote; ask for it again, and remove this file")
    if found["format"] != _FORMAT or not all(isinstance(value, str) for value in found.values()):
        raise ArgumentError(f"{where}: was written by another version of discreet")
    try:
        approval = Approval(
            statement_of(found["statement"]),
            public_key(found["key"], where),
            base64.b64decode(found["signature"], validate=True),
        )
    except (binascii.Error, ValueError) as wrong:
        raise ArgumentError(f"{where}: is damaged ({wrong}); ask for it again, and remove this file") from None
    if not is_signed(found["statement"], approval.key, approval.signature):
        raise ArgumentError(f"{where}: its signature is not of what it says; ask for it again, and remove this file")
    return approval
