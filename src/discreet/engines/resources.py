"""The resources that the driver may use: memory, threads, and a folder for spilled data. None of them is about the data."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.errors import ArgumentError, printed

__all__ = ["NO_LIMITS", "Limits"]

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_AMOUNT = re.compile(r"([0-9]{1,9}(?:[.][0-9]{1,9})?) ?([KMGT]i?B)")
_LEAST = 50 * 10**6
_MOST_THREADS = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The resources that the driver of a session may use. It decides by itself about those that are None.

    Limits change neither the counts nor the charge, and are not part of the declaration of a data set. They hold
    for the private database of a session; a DuckDB relation follows its connection.

    Args:
        memory: "500MB" or "1.5GiB", at least 50 MB: the memory of the driver; data that does not fit is spilled. Python,
            and the piece of a source that is staged, come on top.
        threads: the number of threads that count, 1 to 1024.
        spill: an existing folder, in which a private one is made for data that does not fit into memory; None is the
            system's folder for temporary files, which TMPDIR names.

    Raises:
        ArgumentError: an amount or a folder is not valid.
    """

    memory: str | None = None
    threads: int | None = None
    spill: str | Path | None = None

    def __post_init__(self) -> None:
        if self.memory is not None:
            _check_memory(self.memory)
        if self.threads is not None and not (type(self.threads) is int and 1 <= self.threads <= _MOST_THREADS):
            raise ArgumentError(f"threads={printed(self.threads)}: must be a whole number from 1 to {_MOST_THREADS}")
        if self.spill is not None:
            _check_folder(self.spill)


NO_LIMITS = Limits()
"""Everything is left to the driver."""


def _check_memory(memory: str) -> None:
    rule = "must be a number and a unit such as '500MB' or '1.5GiB', at least 50MB"
    match = _AMOUNT.fullmatch(memory) if isinstance(memory, str) else None
    if match is None or not Fraction(match[1]) * _UNITS[match[2]] >= _LEAST:
        raise ArgumentError(f"memory={printed(memory)}: {rule}")


def _check_folder(spill: str | Path) -> None:
    if not isinstance(spill, str | Path):
        raise ArgumentError(f"spill={printed(spill)}: must be the path of a folder")
    usable = str(spill) and os.path.isdir(spill) and os.access(spill, os.W_OK | os.X_OK)  # noqa: PTH112 (never raises)
    if not usable:
        raise ArgumentError(f"spill={printed(str(spill))}: is not a writable folder; make it first, or choose another")
