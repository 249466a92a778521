"""Numbers of the areas of one level on the disk, beside the few that need more than 64 bits.

Everything in it is public: noisy numbers and what follows from them. It is deleted with its folder.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discreet.cube.cells import Integers
from discreet.exact.integers import has_room, narrow

__all__ = ["Scratch"]


class Scratch:
    """Rows of whole numbers that are appended one after the other, and then read in any order.

    Args:
        path: of a file that does not exist yet.
        width: the numbers of a row.
    """

    def __init__(self, path: Path, width: int) -> None:
        self._file = path.open("x+b")
        self._width = width
        self._rows = 0
        self._wide: dict[int, Integers] = {}  # rows with numbers beyond 64 bits: of the whole of a large country

    def append(self, rows: Integers) -> None:
        """The rows are written behind those before.

        Raises:
            OSError: the disk is full.
        """
        if rows.dtype == np.object_:
            for place, row in enumerate(rows):
                if not has_room(row, 1):
                    self._wide[self._rows + place] = row
            kept = np.zeros(rows.shape, dtype=np.int64)
            for place, row in enumerate(rows):
                if self._rows + place not in self._wide:
                    kept[place] = row
            rows = kept
        self._file.seek(self._rows * self._width * 8)
        self._file.write(np.ascontiguousarray(rows).data)
        self._file.flush()
        self._rows += len(rows)

    def read(self, first: int, last: int) -> Integers:
        """The rows `first`, …, `last` - 1."""
        self._file.seek(first * self._width * 8)
        found: Integers = np.fromfile(self._file, dtype=np.int64, count=(last - first) * self._width)
        found = found.reshape(last - first, self._width)
        wide = [row for row in self._wide if first <= row < last]
        if wide:
            found = found.astype(np.object_)
            for row in wide:
                found[row - first] = self._wide[row]
        return found if not wide else narrow(found)

    def close(self) -> None:
        """The file is closed."""
        self._file.close()
