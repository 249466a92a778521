"""Where the files of large releases go: checked before anything is spent, put in their place after the commit.

The order of things makes a crash harmless at any moment: the files are complete and durable in a draft folder before the
ledger commits the document that describes them, and take their final name after it. So what has its final name was charged
and committed, and what was committed is found and put in its place when it is asked for again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from discreet.errors import ArgumentError, LedgerError, ReleaseFailed, printed
from discreet.exact.files import Draft, abandoned, discarded, replaced
from discreet.exact.given_paths import given_path, reason, require_writable
from discreet.exact.processes import check_polars
from discreet.plan.sizes import MOST_WHOLE_CELLS, is_large
from discreet.releases.document import FORMAT, Release
from discreet.releases.files import DOCUMENT, DRAFT, TABLE, draft_folder, drafts_in, placed, problem_of
from discreet.session.orders import Order

__all__ = ["check_folders", "document_in", "drafts_for", "given_back", "put_in_place"]


def check_folders(orders: Sequence[Order]) -> None:
    """Every large release has a folder that can take it, one of its own; no other release has any.

    Raises:
        SourceError: this process is a forked child in which no table can be written.
        ArgumentError: a folder is missing, or given for nothing, cannot be written, holds a release, or has too little room.
    """
    taken: set[Path] = set()
    for order in orders:
        folder = _folder_of(order)
        if folder is None:
            continue
        check_polars()  # which writes the table after the charge
        _check_folder(order, folder)
        if folder.resolve() in taken:
            raise ArgumentError(
                f"to='{folder}': two releases of one command have the same folder; give each a different one"
            )
        taken.add(folder.resolve())


def _folder_of(order: Order) -> Path | None:
    """Where a large release goes; None for another one."""
    cells = order.request.layout.cells
    if not is_large(order.request.layout):
        if order.to is not None:
            raise ArgumentError(
                f"to={printed(order.to)}: release '{order.name}' has {cells} rows, which its document holds; leave `to` out "
                "and write it with save(folder)"
            )
        return None
    if order.to is None:
        raise ArgumentError(
            f"release '{order.name}': has {cells} rows, more than {MOST_WHOLE_CELLS}, and is written to files; name "
            "the folder with to=folder"
        )
    return given_path(order.to, "to")


def _check_folder(order: Order, folder: Path) -> None:
    require_writable(folder, "to")
    if document_in(folder, "to") is not None or os.path.lexists(folder / TABLE):
        raise ArgumentError(f"to='{folder}': holds another release, which is not overwritten; choose another folder")
    plan = order.request
    most = plan.layout.cells * (24 * len(plan.statistics) + 4 * len(plan.group_by))
    free = shutil.disk_usage(next(path for path in (folder, *folder.absolute().parents) if path.exists())).free
    if free < most:
        raise ArgumentError(
            f"to='{folder}': has room for {free // 10**6} MB, and the table may need {most // 10**6} MB; free some, or "
            "choose another folder"
        )


def document_in(folder: Path, argument: str) -> Release | None:
    """The release whose document stands in `folder`. None where there is none that discreet has finished writing.

    A document that was cut off or changed is none, and neither is a link, a pipe or whatever else bears its name: a document
    that is written later takes its place.

    Raises:
        ArgumentError: a folder bears its name, or it was written by a newer discreet, or cannot be read.
    """
    place = folder / DOCUMENT
    try:
        mode = os.lstat(place).st_mode
        payload = place.read_bytes() if stat.S_ISREG(mode) else b""
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as wrong:
        raise ArgumentError(f"{argument}='{folder}': its '{DOCUMENT}' cannot be read ({reason(wrong)})") from None
    if stat.S_ISDIR(mode):
        raise ArgumentError(f"{argument}='{folder}': has a folder '{DOCUMENT}', which is not replaced; move it away")
    try:
        return Release(payload)
    except ArgumentError:
        if not _is_newer(payload):
            return None
    raise ArgumentError(f"{argument}='{folder}': holds a release of a newer version of discreet, which is not overwritten")


def _is_newer(payload: bytes) -> bool:
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return False
    stated = found.get("format") if isinstance(found, dict) else None
    return type(stated) is int and stated > FORMAT


# Drafts -------------------------------------------------------------------------------------------------------------------


class Entries(Protocol):
    """What is asked of a ledger about the drafts of processes that died."""

    def entries(self) -> Sequence[Any]:
        """All of them, in order, each with `kind`, `digest` and `payload_digest`."""


@contextmanager
def drafts_for(orders: Sequence[Order], ledger: Entries) -> Iterator[list[Draft | None]]:
    """A draft folder for each large release, so that a folder that cannot be written is known before anything is spent.

    They are gone again when what is done inside raises. Those that dead processes have left there are gone too, but not one
    that may be needed to give a committed release back.

    Raises:
        ArgumentError: one cannot be made, or the folder has the files of a release that was committed.
    """
    drafts: list[Draft | None] = []
    try:
        for order in orders:
            folder = _folder_of(order)
            if folder is not None:
                _clear(folder, ledger)
            drafts.append(_drafted(folder))
        yield drafts
    except BaseException:
        for draft in drafts:
            discarded(draft)
        raise


def _clear(folder: Path, ledger: Entries) -> None:
    """The drafts of dead processes are gone that are not whole, or were not committed and never will be."""
    for draft in abandoned(folder, DRAFT):
        release = document_in(draft.path, "to")
        committed = False if release is None else _committed(release, ledger)
        if committed and release is not None:
            raise ArgumentError(
                f"to='{folder}': has the files of '{release.name}', which was committed by a process that died before they "
                "were in their place: request it again, at no charge, or choose another folder"
            )
        if committed is False:
            discarded(draft)


def _committed(release: Release, ledger: Entries) -> bool | None:
    """Whether the ledger has committed the release; None where it was reserved in another ledger."""
    entries = ledger.entries()
    if any(entry.payload_digest == hashlib.sha256(release.payload).hexdigest() for entry in entries):
        return True
    shown = release.document.get("ledger")
    head = shown.get("head") if isinstance(shown, dict) else None
    return False if any(entry.digest == head for entry in entries) else None


def _drafted(folder: Path | None) -> Draft | None:
    try:
        return None if folder is None else draft_folder(folder)
    except OSError as wrong:
        raise ArgumentError(f"to='{folder}': cannot be written ({wrong.strerror}); choose another folder") from None


# After the commit ---------------------------------------------------------------------------------------------------------


def put_in_place(release: Release, draft: Draft | None, order: Order) -> Release | ReleaseFailed:
    """The committed release, its files in their folder if it has any; or the failure that says how to get them there."""
    folder = _folder_of(order)
    if draft is None or folder is None:
        return release
    try:
        placed(draft.path, folder)
        _write_document(release, folder)
    except Exception:  # noqa: BLE001 (whatever it is: all is public and stored by now, and can be put in its place later)
        done = False
    else:
        done = True
    finally:
        draft.let_go()
    return Release(release.payload, folder) if done else ReleaseFailed(ReleaseFailed.UNPLACED)


def given_back(release: Release, order: Order) -> Release:
    """A release of the ledger: a large one with its files, as they were written, in the folder of the order.

    What a crash has left in a draft folder is put in its place.

    Raises:
        ArgumentError: no folder is given, or one that cannot be written or holds another release.
        LedgerError: the files are not there, or not as they were written.
    """
    parts = release.parts
    folder = _folder_of(order) if parts else None
    if folder is None:
        return release
    there = document_in(folder, "to")
    if there is not None and there != release:
        raise ArgumentError(f"to='{folder}': holds another release than '{order.name}'; give the folder it was written to")
    problem = problem_of(parts, folder / TABLE)
    try:
        if problem:
            _recovered(release, folder, problem, order.name)
        if there is None or (folder / TABLE / DOCUMENT).exists():
            _write_document(release, folder)
        _clear_after(release, folder)
    except OSError as wrong:
        raise ArgumentError(
            f"to='{folder}': cannot be written ({wrong.strerror}); make it writable, or copy the folder"
        ) from None
    return Release(release.payload, folder)


def _recovered(release: Release, folder: Path, problem: str, name: str) -> None:
    """A draft with the files of the release takes its place."""
    draft = next((one for one in drafts_in(folder) if not problem_of(release.parts, one)), None)
    if draft is None:
        raise LedgerError(
            f"release '{name}': is committed and its charge stands, but its table is not in '{folder}' as it was written "
            f"({problem}). The ledger does not keep large tables: give the folder it was written to, restore that from a "
            "copy, or release under another name (which needs its own charge)"
        )
    placed(draft, folder)


def _write_document(release: Release, folder: Path) -> None:
    replaced(folder / DOCUMENT, lambda path: path.write_bytes(release.payload))
    (folder / TABLE / DOCUMENT).unlink(missing_ok=True)  # it came with the draft


def _clear_after(release: Release, folder: Path) -> None:
    """The drafts of dead processes are gone that are not whole, or copies of what is in its place by now."""
    for draft in abandoned(folder, DRAFT):
        if document_in(draft.path, "to") in {None, release}:
            discarded(draft)
