"""The lattice in which two tables with equal totals differ, for the row counts of a request.

Let θ(X) be the row counts of the cells of a request. A structure describes a lattice L with θ(X) - θ(X') ∈ L for all
tables X, X' of equal totals; noise on L leaves everything that the totals say of the cells exactly as it is.

* `Blocks`: the counts of each block add up to a public number.
* `Tables`: in each table the counts have public one-way margins over the first axes; a last axis, the depth, is free.
* `Kernel`: the counts fulfil public linear equations, for small domains.

Cells outside the structure hold 0 in every table with these totals. Everything follows from the plan, the schema and the
published totals (soundness 18 and 20); docs/proofs/semi-dp.md, "Requests".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from discreet.exact.figures import plural
from discreet.exact.lattices import rank

__all__ = ["Blocks", "Kernel", "Structure", "Table", "Tables", "describe", "exact_sums", "margin_equations"]


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The cells `order`, block after block with `sizes` cells each; `totals` are their public sums, None before these exist.

    Args:
        cells: how many cells the request has.
        order: int64, the positions of the cells that can hold a record.
        sizes: int64, each at least 1, adding up to len(order).
        totals: int64, one for each block.
    """

    cells: int
    order: NDArray[np.int64]
    sizes: NDArray[np.int64]
    totals: NDArray[np.int64] | None

    @property
    def determined(self) -> bool:
        """True if the totals determine every count."""
        return bool((self.sizes == 1).all())

    def counts(self) -> NDArray[np.int64] | None:
        """The counts of all cells where the totals say them, else None."""
        if not self.determined or self.totals is None:
            return None
        found = np.zeros(self.cells, dtype=np.int64)
        found[self.order] = self.totals
        return found

    @property
    def size(self) -> int:
        """The number of cells that can hold a record."""
        return len(self.order)

    @property
    def rank(self) -> int:
        """The number of counts that are free."""
        return self.size - len(self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One table with public margins.

    Args:
        order: int64, the positions of its cells, in the shape of the axes and then the depth.
        margins: the public counts of the levels of each axis, None before they are published.
    """

    order: NDArray[np.int64]
    margins: tuple[NDArray[np.int64], ...] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of levels of the axes with public margins."""
        return self.order.shape[:-1]

    @property
    def axes(self) -> int:
        """The number of axes that tell cells apart: an axis of one level is none."""
        return sum(levels > 1 for levels in self.shape)

    @property
    def depth(self) -> int:
        """The number of cells that share all those levels."""
        return int(self.order.shape[-1])

    @property
    def rank(self) -> int:
        """The number of counts that are free."""
        return self.order.size - 1 - sum(levels - 1 for levels in self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Disjoint tables, each with at least two axes of public margins."""

    cells: int
    tables: tuple[Table, ...]

    @property
    def determined(self) -> bool:
        """True if the totals determine every count."""
        return self.rank == 0

    def counts(self) -> NDArray[np.int64] | None:
        """The counts of all cells where the totals say them, else None."""
        if not self.determined:
            return None
        found = np.zeros(self.cells, dtype=np.int64)
        for table in self.tables:
            if table.margins is None:
                return None
            # Nothing is free: at most one axis has several levels, and its margin is the table.
            longest = max(range(len(table.shape)), key=lambda axis: table.shape[axis])
            found[table.order.ravel()] = table.margins[longest]
        return found

    @property
    def size(self) -> int:
        """The number of cells that can hold a record."""
        return sum(table.order.size for table in self.tables)

    @property
    def rank(self) -> int:
        """The number of counts that are free."""
        return sum(table.rank for table in self.tables)


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """The counts of the cells `order` fulfil `equations` @ counts = public numbers; int64, shape (equations, len(order)).

    An audit draws many copies together: then `order` has the cells of each copy one after the other.
    """

    cells: int
    order: NDArray[np.int64]
    equations: NDArray[np.int64]

    @property
    def determined(self) -> bool:
        """True if the totals determine every count."""
        return self.rank == 0

    def counts(self) -> None:
        """Counts that follow from general equations are not worked out."""
        return

    @property
    def size(self) -> int:
        """The number of cells that can hold a record."""
        return len(self.order)

    @property
    def rank(self) -> int:
        """The number of counts that are free."""
        return self.size - rank(self.equations[:, :: self.depth].tolist())

    @property
    def depth(self) -> int:
        """A number of cells, next to each other all along `order`, that no equation distinguishes: those of a place."""
        new = (np.diff(self.equations, axis=1) != 0).any(axis=0)
        return gcd(*np.diff([0, *(np.flatnonzero(new) + 1), self.equations.shape[1]]).tolist())


Structure = Blocks | Tables | Kernel


def margin_equations(table: Table) -> NDArray[np.int64]:
    """The margins of a table as rows of coefficients over its cells, in the order of `table.order`, flattened."""
    rows = []
    for axis, levels in enumerate(table.shape):
        for level in range(levels):
            inside = np.zeros(table.order.shape, dtype=np.int64)
            inside[(slice(None),) * axis + (level,)] = 1
            rows.append(inside.ravel())
    return np.array(rows, dtype=np.int64)


def exact_sums(structure: Structure) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The public sums of the counts: for each kind, for every cell the number of its sum or -1, and the sums.

    Empty before the totals are published, and for equations that are not plain sums.
    """
    if isinstance(structure, Blocks) and structure.totals is not None:
        labels = np.full(structure.cells, -1, dtype=np.int64)
        labels[structure.order] = np.repeat(np.arange(len(structure.sizes)), structure.sizes)
        return [(labels, structure.totals)]
    if not isinstance(structure, Tables) or not all(table.margins for table in structure.tables):
        return []
    found = []
    for axis in range(len(structure.tables[0].shape)):
        labels = np.full(structure.cells, -1, dtype=np.int64)
        sums: list[int] = []
        for table in structure.tables:
            shape = [-1 if position == axis else 1 for position in range(table.order.ndim)]
            numbers = (len(sums) + np.arange(table.shape[axis])).reshape(shape)
            labels[table.order] = np.broadcast_to(numbers, table.order.shape)
            sums += (table.margins or ())[axis].tolist()
        found.append((labels, np.array(sums, dtype=np.int64)))
    return found


def describe(structure: Structure) -> str:
    """The structure in a few words, for quotes and releases."""
    match structure:
        case Blocks(sizes=sizes):
            same = sizes.size and bool((sizes == sizes[0]).all())
            cells = f"{sizes[0] if same else 'several'} cells"
            return f"{sizes.size} {plural('block', sizes.size)} of {cells}, each with an exact total"
        case Tables(tables=tables):
            shapes = {table.order.shape for table in tables}
            shown = " x ".join(map(str, tables[0].shape)) if len(shapes) == 1 else "several shapes"
            return f"{len(tables)} {plural('table', len(tables))} of {shown}, with exact margins"
        case Kernel(order=order, equations=equations):
            return f"{order.size} cells under {prod(equations.shape[:1])} exact equations"
