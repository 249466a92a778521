"""The folders of large releases: checked before anything is spent, filled after the commit.

The order of the steps makes a crash harmless at any moment. The files are complete and durable in a draft folder before the
ledger commits the document that describes them, and they get their final names after the commit. So files with final names
belong to a release that was charged and committed, and a committed release whose files are still a draft is finished when
it is requested again.
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
from discreet.exact.files import Draft, discard, find_abandoned, replace_file
from discreet.exact.given_paths import reason, require_path, require_writable
from discreet.exact.processes import check_polars
from discreet.plan.sizes import MOST_WHOLE_CELLS, bytes_in_files, is_large, rows_in_files
from discreet.releases.document import FORMAT, Release
from discreet.releases.files import DOCUMENT, DRAFT, TABLE, draft_folder, drafts_in, place_draft, problem_of
from discreet.session.orders import Order

__all__ = ["check_folders", "document_in", "drafts_for", "give_back", "put_in_place", "restore"]


def check_folders(orders: Sequence[Order]) -> None:
    """Checks that every large release has a folder of its own that can take it, and that no other release has a folder.

    Raises:
        SourceError: this process is a forked child in which no table can be written.
        ArgumentError: a folder is missing, not needed, not writable, holds a release, or has too little room.
    """
    taken: set[Path] = set()
    for order in orders:
        folder = _folder_of(order)
        if folder is None:
            continue
        check_polars()  # Polars writes the table after the charge
        _check_folder(order, folder)
        if folder.resolve() in taken:
            raise ArgumentError(
                f"to='{folder}': two releases of one command have the same folder; give each a different one"
            )
        taken.add(folder.resolve())


def _folder_of(order: Order) -> Path | None:
    """The folder of a large release; None for any other release."""
    cells = rows_in_files(order.request)
    if not is_large(order.request):
        if order.to is not None:
            raise ArgumentError(
                f"to={printed(order.to)}: release '{order.name}' has {cells} rows, which its document holds; leave `to` out "
                "and write it with save(folder)"
            )
        return None
    if order.to is None:
        raise ArgumentError(
            f"release '{order.name}': has {cells} rows, more than {MOST_WHOLE_CELLS}, and is written to files; name "
            "their folder with to=folder"
        )
    return require_path(order.to, "to")


def _check_folder(order: Order, folder: Path) -> None:
    require_writable(folder, "to")
    if document_in(folder, "to") is not None or os.path.lexists(folder / TABLE):
        raise ArgumentError(f"to='{folder}': holds another release, which is not overwritten; choose another folder")
    plan = order.request
    most = bytes_in_files(plan)
    free = shutil.disk_usage(next(path for path in (folder, *folder.absolute().parents) if path.exists())).free
    if free < most:
        raise ArgumentError(
            f"to='{folder}': has room for {free // 10**6} MB, and the table may need {most // 10**6} MB; free some "
            "space, or choose another folder"
        )


def document_in(folder: Path, argument: str) -> Release | None:
    """The release whose document is in `folder`; None if there is no document that discreet has finished writing.

    A document that was cut off or changed does not count, and neither does a link, a pipe or anything else with its name: a
    document that is written later replaces it.

    Raises:
        ArgumentError: a folder has the name of the document, a newer discreet wrote it, or it cannot be read.
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
    """A ledger, as far as it is needed for the drafts of processes that died."""

    def entries(self) -> Sequence[Any]:
        """All entries, in order, each with `kind`, `digest` and `payload_digest`."""


@contextmanager
def drafts_for(orders: Sequence[Order], ledger: Entries) -> Iterator[list[Draft | None]]:
    """A draft folder for each large release, so that a folder that is not writable is found before anything is spent.

    If the block raises, the drafts are deleted. Drafts of dead processes are deleted first, except a draft that may be
    needed to give a committed release back.

    Raises:
        ArgumentError: a draft cannot be made, or the folder has the files of a committed release.
    """
    drafts: list[Draft | None] = []
    try:
        for order in orders:
            folder = _folder_of(order)
            if folder is not None:
                _clear(folder, ledger)
            drafts.append(_make_draft(folder))
        yield drafts
    except BaseException:
        for draft in drafts:
            discard(draft)
        raise


def _clear(folder: Path, ledger: Entries) -> None:
    """Deletes the drafts of dead processes that are incomplete, or were not committed and never will be."""
    for draft in find_abandoned(folder, DRAFT):
        release = document_in(draft.path, "to")
        committed = False if release is None else _is_committed(release, ledger)
        if committed and release is not None:
            raise ArgumentError(
                f"to='{folder}': has the files of '{release.name}'. A process committed it and died before the files "
                "had their final names: request it again, at no charge, or choose another folder"
            )
        if committed is False:
            discard(draft)


def _is_committed(release: Release, ledger: Entries) -> bool | None:
    """True if the ledger has committed the release; None if it was reserved in another ledger."""
    entries = ledger.entries()
    if any(entry.payload_digest == hashlib.sha256(release.payload).hexdigest() for entry in entries):
        return True
    shown = release.document.get("ledger")
    head = shown.get("head") if isinstance(shown, dict) else None
    return False if any(entry.digest == head for entry in entries) else None


def _make_draft(folder: Path | None) -> Draft | None:
    try:
        return None if folder is None else draft_folder(folder)
    except OSError as wrong:
        raise ArgumentError(f"to='{folder}': cannot be written ({wrong.strerror}); choose another folder") from None


# After the commit ---------------------------------------------------------------------------------------------------------


def put_in_place(release: Release, draft: Draft | None, order: Order) -> Release | ReleaseFailed:
    """The committed release, with its files in their folder if it has any; otherwise a failure that tells the next step."""
    folder = _folder_of(order)
    if draft is None or folder is None:
        return release
    try:
        place_draft(draft.path, folder)
        _write_document(release, folder)
    except Exception:  # noqa: BLE001 (any error: everything is public and stored by now, and the files can be moved later)
        done = False
    else:
        done = True
    finally:
        draft.let_go()
    return Release(release.payload, folder) if done else ReleaseFailed(ReleaseFailed.UNPLACED)


def give_back(release: Release, order: Order) -> Release:
    """A release of the ledger; if it is large, its files are in the folder of the order, as they were written.

    If a crash has left the files in a draft folder, they are moved to their final place.

    Raises:
        ArgumentError: no folder is given, or the folder is not writable or holds another release.
        LedgerError: the files are missing or were changed.
    """
    folder = _folder_of(order) if release.files else None
    return release if folder is None else restore(release, folder)


def restore(release: Release, folder: Path) -> Release:
    """A large release of the ledger, with its files in the folder, as they were written.

    Raises:
        ArgumentError: the folder is not writable or holds another release.
        LedgerError: the files are missing or were changed.
    """
    parts, there = release.files, document_in(folder, "to")
    if there is not None and there != release:
        raise ArgumentError(f"to='{folder}': holds another release than '{release.name}'; give the folder it was written to")
    problem = problem_of(parts, folder / TABLE)
    try:
        if problem:
            _recover(release, folder, problem, release.name)
        if there is None or (folder / TABLE / DOCUMENT).exists():
            _write_document(release, folder)
        _clear_after(release, folder)
    except OSError as wrong:
        raise ArgumentError(
            f"to='{folder}': cannot be written ({wrong.strerror}); make it writable, or copy the folder"
        ) from None
    return Release(release.payload, folder)


def _recover(release: Release, folder: Path, problem: str, name: str) -> None:
    """Moves the draft with the files of the release to its final place."""
    draft = next((one for one in drafts_in(folder) if not problem_of(release.files, one)), None)
    if draft is None:
        raise LedgerError(
            f"release '{name}': is committed and its charge stands, but its table is not in '{folder}' as it was written "
            f"({problem}). The ledger does not keep large tables: give the folder it was written to, restore that folder "
            "from a copy, or release under another name (which needs its own charge)"
        )
    place_draft(draft, folder)


def _write_document(release: Release, folder: Path) -> None:
    replace_file(folder / DOCUMENT, lambda path: path.write_bytes(release.payload))
    (folder / TABLE / DOCUMENT).unlink(missing_ok=True)  # it came with the draft


def _clear_after(release: Release, folder: Path) -> None:
    """Deletes the drafts of dead processes that are incomplete, or copies of files that have their final place by now."""
    for draft in find_abandoned(folder, DRAFT):
        if document_in(draft.path, "to") in {None, release}:
            discard(draft)
