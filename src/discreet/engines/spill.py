"""The folder for data that does not fit into memory, which nobody else can enter.

The spilled data are parts of hash tables: exact counts of cells. The files have the modes that the driver gives them; the
folder's mode keeps everybody else out. The next process removes the files that a killed process has left.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from discreet.exact.files import Draft, draft_in, swept
from discreet.exact.processes import this_process

__all__ = ["SpillFolder", "new_spill_folder", "remove_spill_folder"]

_PREFIX = "discreet-"


@dataclass(frozen=True, slots=True)
class SpillFolder:
    """A new, empty folder of mode 0700, and the process that made it. An empty path means that nothing may be spilled."""

    path: str
    process: tuple[bytes, int]
    draft: Draft | None = None


def new_spill_folder(parent: str | Path | None = None) -> SpillFolder:
    """A folder in `parent`; None is the system's folder for temporary files, which TMPDIR names.

    Where none can be made, the path is empty: a query that needs more than the memory fails instead of spilling elsewhere.
    """
    try:
        place = Path(tempfile.gettempdir() if parent is None else parent)
        swept(place, _PREFIX)
        draft = draft_in(place.absolute(), _PREFIX)
    except OSError:
        return SpillFolder("", this_process())
    return SpillFolder(str(draft.path), this_process(), draft)


def remove_spill_folder(folder: SpillFolder) -> None:
    """The folder and whatever is in it are gone. A forked child leaves its parent's folder alone."""
    if folder.path and folder.process == this_process():
        try:
            Path(folder.path).rmdir()  # nothing was spilled, nearly always
        except OSError:
            rmtree(folder.path, ignore_errors=True)
    if folder.draft is not None:
        folder.draft.let_go()
