"""Where the files of large releases go: checked before anything is spent, put in their place after the commit.

The order of things makes a crash harmless at any moment: the files are complete and durable in a draft folder before the
ledger commits the document that describes them, and take their final name after it. So what has its final name was charged
and committed, and what was committed is found and put in its place when it is asked for again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.durable import replaced
from discreet.errors import ArgumentError, LedgerError, ReleaseFailed, printed
from discreet.limits import MOST_WHOLE_CELLS, is_large
from discreet.parts import TABLE, discarded, draft_folder, drafts_in, placed, problem_of
from discreet.release import Release
from discreet.spend import Order

__all__ = ["check_folders", "drafts_for", "given_back", "put_in_place"]

_DOCUMENT = "release.json"


def check_folders(orders: Sequence[Order]) -> None:
    """Every large release has a folder that can take it, one of its own; no other release has any.

    Raises:
        ArgumentError: a folder is missing, or given for nothing, cannot be written, holds a release, or has too little room.
    """
    taken: list[Path] = []
    for order in orders:
        folder = _folder_of(order)
        if folder is None:
            continue
        if folder.absolute() in taken:
            raise ArgumentError(f"to='{folder}': two releases of one command have the same folder; give each its own")
        taken.append(folder.absolute())
        _check_folder(order, folder)


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
            f"release '{order.name}': has {cells} rows, more than {MOST_WHOLE_CELLS}, and is written to files; say "
            "where with to=folder"
        )
    if not isinstance(order.to, str | Path) or "\0" in str(order.to):
        raise ArgumentError(f"to={printed(order.to)}: must be the path of a folder")
    return Path(order.to)


def _check_folder(order: Order, folder: Path) -> None:
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists() or path.is_symlink())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ArgumentError(
            f"to='{folder}': cannot be written, because '{existing}' is no folder that can be; choose another"
        )
    if (folder / _DOCUMENT).exists() or (folder / TABLE).exists():
        raise ArgumentError(f"to='{folder}': holds another release, which is not overwritten; choose another folder")
    plan = order.request
    most = plan.layout.cells * (24 * len(plan.statistics) + 4 * len(plan.group_by))
    free = shutil.disk_usage(existing).free
    if free < most:
        raise ArgumentError(
            f"to='{folder}': has room for {free // 10**6} MB, and the table may need {most // 10**6} MB; free some, or "
            "choose another folder"
        )


@contextmanager
def drafts_for(orders: Sequence[Order]) -> Iterator[list[Path | None]]:
    """A draft folder for each large release, so that a folder that cannot be written is known before anything is spent.

    They are gone again when what is done inside raises.

    Raises:
        ArgumentError: one cannot be made.
    """
    drafts: list[Path | None] = []
    try:
        for order in orders:
            drafts.append(_drafted(_folder_of(order)))
        yield drafts
    except BaseException:
        for draft in drafts:
            discarded(draft)
        raise


def _drafted(folder: Path | None) -> Path | None:
    try:
        return None if folder is None else draft_folder(folder)
    except OSError as wrong:
        raise ArgumentError(f"to='{folder}': cannot be written ({wrong.strerror}); choose another folder") from None


# After the commit ---------------------------------------------------------------------------------------------------------


def put_in_place(release: Release, draft: Path | None, order: Order) -> Release | ReleaseFailed:
    """The committed release, its files in their folder if it has any; or the failure that says how to get them there."""
    folder = _folder_of(order)
    if draft is None or folder is None:
        return release
    try:
        placed(draft, folder)
        _write_document(release, folder)
    except Exception:  # noqa: BLE001 (whatever it is: all is public and stored by now, and can be put in its place later)
        done = False
    else:
        done = True
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
    if (folder / _DOCUMENT).exists() and (folder / _DOCUMENT).read_bytes() != release.payload:
        raise ArgumentError(f"to='{folder}': holds another release than '{order.name}'; give the folder it was written to")
    problem = problem_of(parts, folder / TABLE)
    try:
        if problem:
            _recovered(release, folder, problem, order.name)
        _write_document(release, folder)
    except OSError as wrong:
        raise ArgumentError(f"to='{folder}': cannot be written ({wrong.strerror}); allow it, or copy the folder") from None
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
    place = folder / _DOCUMENT
    if not place.exists():
        replaced(place, lambda path: path.write_bytes(release.payload))
