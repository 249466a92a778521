"""From a request and the totals to the structure of its row counts; see `structure`.

The joint domain of the columns of the totals is laid out as an array, one axis a column, its null level last. A cell of it
is *alive* unless a published total, a structural zero or a list of occupied cells says that nobody is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.domain.origins import joint_columns, root_of
from discreet.domain.steps import facts_of
from discreet.errors import InternalError
from discreet.exact.axes import in_order
from discreet.plan.plan import Plan
from discreet.quotes.view import View, positions
from discreet.totals.cells import positions as cell_positions
from discreet.totals.exact_totals import ExactTotals, Star, alive_cells, atoms_of, equations_of, star_of
from discreet.totals.known_counts import atoms_of_known_counts
from discreet.totals.statements import TotalsStatement, has_ranges
from discreet.totals.structure import Blocks, Kernel, Structure, Table, Tables

__all__ = ["PublishedCounts", "components_of_places", "find_held_cells", "find_known_counts", "joint_places", "structure_of"]

_MOST_EQUATION_CELLS = 1000
_MOST_PLACES, _MOST_CELLS_AT_PLACES = 512, 20_000
"""Of more cells a basis is reduced for their places alone: three seconds for so many."""


def structure_of(plan: Plan, view: View, exact_totals: ExactTotals) -> Structure | None:
    """The lattice of the row counts of the request, None where no exact noise fits its shape.

    None means plain noise with group privacy, which is always right: where rows drop out by a column that no total knows,
    and where the totals overlap in a way that has no sampler.
    """
    if not view.kept:
        return None
    schema, columns = plan.schema, view.columns
    alive = alive_cells(exact_totals, schema, columns)
    known = atoms_of_known_counts(exact_totals, schema, columns)
    if known is not None:
        return _blocks(view, columns, alive, known.labels, known.totals)
    star = star_of(exact_totals.invariants, schema)
    if star is not None:
        branches = [branch for branch in star.branches if any(view.grouped[name] > 1 for name in view.of(branch, schema))]
        if len(branches) < 2:
            return _star_blocks(view, exact_totals, plan, alive, star)
        if not {*star.separator, *(name for branch in star.branches for name in branch)} <= {*columns}:
            return _kernel(view, exact_totals, plan, alive)  # the request groups by finer columns than the margins
        tables = _tables(view, exact_totals, plan, alive, Star(star.separator, tuple(branches)))
        return _kernel(view, exact_totals, plan, alive) if tables is None else tables
    atoms = atoms_of(exact_totals, schema, columns)
    if atoms is not None:
        return _blocks(view, columns, alive, atoms.labels, atoms.totals)
    return _kernel(view, exact_totals, plan, alive)


def find_held_cells(plan: Plan, view: View, exact_totals: ExactTotals) -> NDArray[np.int64]:
    """The cells of the request that can hold a record, as far as the public numbers say."""
    columns = view.columns
    place = joint_places(view, columns)
    there = np.unique(place[alive_cells(exact_totals, plan.schema, columns) & (place >= 0)])
    return np.sort(positions(view, columns)[there].ravel())


@dataclass(frozen=True, slots=True, eq=False)
class PublishedCounts:
    """The counts of `cells` cells that a published table says: `rows` at their places, None before they are published."""

    cells: int
    places: NDArray[np.int64]
    rows: NDArray[np.int64] | None

    def counts(self) -> NDArray[np.int64] | None:
        """The counts of all cells."""
        if self.rows is None:
            return None
        found = np.zeros(self.cells, dtype=np.int64)
        np.add.at(found, self.places[self.places >= 0], self.rows[self.places >= 0])
        return found


def find_known_counts(
    plan: Plan, view: View, exact_totals: ExactTotals, structure: Structure | None
) -> Blocks | Tables | PublishedCounts | None:
    """The row counts of the request, where they follow from the totals in a way that is worked out here."""
    if isinstance(structure, Blocks | Tables) and structure.determined:
        return structure
    if not view.kept or view.free > 1:
        return None
    needed = {name for name in view.places if view.grouped[name] > 1 or (view.places[name] < 0).any()}
    for part in exact_totals.invariants.parts:
        joint = joint_columns(part.columns, plan.schema)
        # Two columns of a family do not tell their root, which is finer than both.
        known = needed <= set(joint) <= {*view.columns} & {*part.columns}
        if isinstance(part, TotalsStatement) and part.only is None and known:
            place = joint_places(view, joint).ravel()
            cell = np.where(place < 0, -1, positions(view, joint).ravel()[place])
            return PublishedCounts(view.cells, cell, _counts(exact_totals, joint, plan))
    return None


def _star_blocks(
    view: View, exact_totals: ExactTotals, plan: Plan, alive: NDArray[np.bool_], star: Star
) -> Structure | None:
    """Blocks by the one published table that knows every column by which the request groups or drops rows.

    Where a column is in no table, such as one of suppressed cells, blocks by all totals together. Beside occupied cells
    alone that would hold as well, but quotes of stored plans stay as they are.
    """
    columns, schema = view.columns, plan.schema
    needed = {name for name in columns if view.grouped[name] > 1 or (view.places[name] < 0).any()}
    for branch in star.branches or ((),):
        by_root = {root_of(name, schema): name for name in (*star.separator, *branch)}
        own = view.of(tuple(by_root.values()), schema)
        if needed <= set(own):
            clique = tuple(by_root[root_of(name, schema)] for name in own)
            axes = tuple(position for position, name in enumerate(columns) if name not in own)
            # Where the request groups by finer columns than the totals, several levels are of one class.
            atoms = cell_positions(clique, own, schema).reshape(tuple(len(view.places[name]) for name in own))
            return _blocks(view, own, np.asarray(alive.any(axis=axes)), atoms, _counts(exact_totals, clique, plan))
    whole = atoms_of(exact_totals, schema, columns) if has_ranges(exact_totals.invariants.parts) else None
    return None if whole is None else _blocks(view, columns, alive, whole.labels, whole.totals)


def _counts(exact_totals: ExactTotals, clique: tuple[str, ...], plan: Plan) -> NDArray[np.int64] | None:
    """The public counts of the joint levels of the clique; without columns, the number of rows."""
    if exact_totals.totals is None:
        return None
    table = exact_totals.totals.table(clique, plan.schema) if clique else None
    return np.array([facts_of(plan.schema, plan.neighbours).rows], dtype=np.int64) if table is None else table.ravel()


def _blocks(
    view: View,
    columns: tuple[str, ...],
    alive: NDArray[np.bool_],
    atoms: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
) -> Blocks | None:
    """The finest partition of the cells into blocks that are unions of atoms; None where a block has rows in no cell.

    Args:
        view: the request.
        columns: the axes of `alive` and `atoms`.
        alive: which joint cells can hold a record.
        atoms: for each joint cell the number of the class whose total is public.
        counts: the total of each class.
    """
    place = joint_places(view, columns)
    seen = alive & (place >= 0)
    pairs = np.unique(np.stack([atoms[seen], place[seen]]), axis=1)
    atom_count, place_count = int(atoms.max()) + 1, prod(view.grouped[name] for name in columns)
    block_of_place = components_of_places(pairs, atom_count, place_count)
    block_of_atom = np.full(atom_count, -1, dtype=np.int64)
    block_of_atom[pairs[0]] = block_of_place[pairs[1]]
    if (block_of_atom[np.unique(atoms[alive & (place < 0)])] >= 0).any():
        return None
    block = np.where(place < 0, -1, block_of_place[place])
    _prove(block[alive], atoms[alive])
    # The columns that are left, of totals or not, split each place further.
    rows = positions(view, columns)
    there = np.flatnonzero(block_of_place >= 0)
    order = there[np.argsort(block_of_place[there], kind="stable")]
    blocks = int(block_of_place.max(initial=-1)) + 1
    sizes = np.bincount(block_of_place[there], minlength=blocks) * rows.shape[1]
    totals = None
    if counts is not None:
        totals = np.zeros(blocks, dtype=np.int64)
        known = block_of_atom >= 0
        np.add.at(totals, block_of_atom[known], counts[known])
    return Blocks(view.cells, rows[order].ravel(), sizes.astype(np.int64), totals)


def components_of_places(pairs: NDArray[np.int64], atoms: int, places: int) -> NDArray[np.int64]:
    """For each place the number of its connected component among atoms and places, -1 for a place without atoms.

    `pairs` has the atom and the place of each pair that meets, shape (2, pairs).
    """
    number = np.full(places, -1, dtype=np.int64)
    used = np.unique(pairs[1])
    if len(np.unique(pairs[0])) == pairs.shape[1]:  # every atom is in one place: the places are the blocks
        number[used] = np.arange(len(used))
        return number
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(pairs.shape[1], np.int8), (pairs[0], atoms + pairs[1])), shape=(atoms + places,) * 2)
    _, labels = connected_components(edges, directed=False)
    number[used] = np.unique(labels[atoms + used], return_inverse=True)[1]
    return number


def joint_places(view: View, columns: tuple[str, ...]) -> NDArray[np.int64]:
    """For each joint level of the columns the position of its group in `positions(view, columns)`, -1 where it drops out."""
    place = np.zeros((), dtype=np.int64)
    dropped = np.zeros((), dtype=bool)
    # The order of `positions`: the groups of the first column vary slowest.
    for name in columns:
        own = view.places[name]
        dropped = dropped[..., None] | (own < 0)
        place = place[..., None] * view.grouped[name] + np.maximum(own, 0)
    return np.where(dropped, -1, place)


def _tables(
    view: View, exact_totals: ExactTotals, plan: Plan, alive: NDArray[np.bool_], star: Star
) -> Tables | Blocks | None:
    """One table for each group of the separator, with the branches that the request groups by as axes."""
    columns = view.columns
    parts = (star.separator, *star.branches)
    named = [name for part in parts for name in part]
    axes = [columns.index(name) for name in named]
    ascending = sorted(axes)
    others = tuple(axis for axis in range(len(columns)) if axis not in axes)
    reduced = in_order(np.asarray(alive.any(axis=others)), ascending, axes)
    for name in columns:
        if name not in star.separator and (view.places[name] < 0).any():
            return None
    sizes = [prod(view.grouped[name] for name in part) for part in parts]
    place = joint_places(view, tuple(named))
    seen = np.zeros(prod(sizes), dtype=bool)
    seen[place[reduced & (place >= 0)]] = True
    seen = seen.reshape(sizes)
    _prove_margins(place, sizes, [tuple(len(view.places[name]) for name in part) for part in parts])
    grid = positions(view, *parts)
    margins = [_margin(view, exact_totals, plan, star.separator, branch) for branch in star.branches]
    tables = []
    for block in range(sizes[0]):
        inside = seen[block]
        levels = [
            np.flatnonzero(inside.any(axis=tuple(other for other in range(inside.ndim) if other != axis)))
            for axis in range(inside.ndim)
        ]
        if not inside.any():
            continue
        if not inside[np.ix_(*levels)].all():
            return None  # structural zeros inside a table with margins have no sampler here
        known = [margin[block] for margin in margins if margin is not None]
        counts = tuple(margin[level] for margin, level in zip(known, levels, strict=True)) if known else None
        tables.append(Table(grid[block][np.ix_(*levels)], counts))
    if not tables:  # nobody is in any cell of the request, and everybody knows
        nothing = np.zeros(0, dtype=np.int64)
        return Blocks(view.cells, nothing, nothing, nothing)
    return Tables(view.cells, _without_single_levels(tables))


def _without_single_levels(tables: Sequence[Table]) -> tuple[Table, ...]:
    """The same tables without axes of one level in each of them, whose margin follows from the others; two axes stay."""
    shapes = np.array([table.shape for table in tables])
    single = np.flatnonzero((shapes == 1).all(axis=0)).tolist()
    single = single[: max(0, shapes.shape[1] - 2)]
    if not single:
        return tuple(tables)
    return tuple(
        Table(
            table.order.squeeze(axis=tuple(single)),
            None if table.margins is None else tuple(m for axis, m in enumerate(table.margins) if axis not in single),
        )
        for table in tables
    )


def _margin(
    view: View, exact_totals: ExactTotals, plan: Plan, separator: tuple[str, ...], branch: tuple[str, ...]
) -> NDArray[np.int64] | None:
    """The public counts by group of the separator and group of the branch; None before they are published."""
    published = _counts(exact_totals, (*separator, *branch), plan)
    if published is None:
        return None
    place = joint_places(view, (*separator, *branch)).ravel()
    sizes = [prod(view.grouped[name] for name in part) for part in (separator, branch)]
    counts = np.zeros(prod(sizes), dtype=np.int64)
    np.add.at(counts, place[place >= 0], published[place >= 0])
    return counts.reshape(sizes)


def _prove(labels: NDArray[np.int64], classes: NDArray[np.int64]) -> None:
    """A sum over rows by `labels` is a sum of published totals: every class of the totals has one label (soundness 18).

    Raises:
        InternalError: otherwise; noise that keeps such a sum would not be private.
    """
    pairs = np.unique(np.stack([classes, labels]), axis=1)
    if len(np.unique(pairs[0])) != pairs.shape[1]:
        raise InternalError("a sum that the noise would keep does not follow from the totals")


def _prove_margins(place: NDArray[np.int64], sizes: list[int], levels: list[tuple[int, ...]]) -> None:
    """The margins of the tables follow from the totals of the separator with each branch."""
    joint = np.arange(place.size).reshape([prod(part) for part in levels])
    flat, visible = place.ravel(), place.ravel() >= 0
    groups = np.unravel_index(np.maximum(flat, 0), sizes)
    classes = np.unravel_index(joint.ravel(), joint.shape)
    for axis in range(1, len(sizes)):
        published = classes[0] * joint.shape[axis] + classes[axis]
        margin = np.where(visible, groups[0] * sizes[axis] + groups[axis], -1)
        _prove(margin, published)


def _kernel(view: View, exact_totals: ExactTotals, plan: Plan, alive: NDArray[np.bool_]) -> Kernel | None:
    """The equations themselves, where the request shows every level of every column of the totals."""
    columns = view.columns
    whole = all(
        view.grouped[name] == len(view.places[name]) and len(np.unique(view.places[name])) == len(view.places[name])
        for name in columns
    )
    if not whole or any((view.places[name] < 0).any() for name in columns):
        return None
    place = joint_places(view, columns)
    rows = positions(view, columns)
    places, cells = int(alive.sum()), int(alive.sum()) * rows.shape[1]
    if cells > _MOST_EQUATION_CELLS and (places > _MOST_PLACES or cells > _MOST_CELLS_AT_PLACES):
        return None
    equations = equations_of(exact_totals.invariants, plan.schema, columns).reshape(-1, alive.size)[:, alive.ravel()]
    order = rows[place.ravel()[alive.ravel()]]
    return Kernel(view.cells, order.ravel(), np.repeat(equations, order.shape[1], axis=1))
