"""Where a driver may put what does not fit into memory: a folder that nobody else can enter.

What is spilled are parts of hash tables, exact counts of cells. The files have the modes that the driver gives them; the
folder's mode keeps everybody else out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

__all__ = ["SpillFolder", "new_spill_folder", "remove_spill_folder"]


@dataclass(frozen=True, slots=True)
class SpillFolder:
    """A new, empty folder of mode 0700, and the process that made it. An empty path means that nothing may be spilled."""

    path: str
    process: int


def new_spill_folder(parent: str | Path | None = None) -> SpillFolder:
    """A folder in `parent`; None is the system's folder for temporary files, which TMPDIR names.

    Where none can be made, the path is empty: a query that needs more than the memory fails instead of spilling elsewhere.
    """
    try:
        path = mkdtemp(prefix="discreet-", dir=parent)
    except OSError:
        path = ""
    return SpillFolder(path and str(Path(path).absolute()), os.getpid())


def remove_spill_folder(folder: SpillFolder) -> None:
    """The folder and whatever is in it are gone. A forked child leaves its parent's folder alone."""
    if folder.path and folder.process == os.getpid():
        try:
            Path(folder.path).rmdir()  # nothing was spilled, nearly always
        except OSError:
            rmtree(folder.path, ignore_errors=True)
