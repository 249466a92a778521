"""The exact totals of a data set as requests see them: which cells can hold a record, which sums are public."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.domain.origins import covers, families, joint_columns, root_of
from discreet.domain.schema import Schema
from discreet.errors import unreachable
from discreet.totals.cells import cell_index, domain_size, positions, shape_of
from discreet.totals.description import Description
from discreet.totals.published import PublishedTotals, cell_numbers
from discreet.totals.statements import (
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
    statements_by_kind,
)

if TYPE_CHECKING:
    # Loaded where a plan has exact totals: a quote of any other begins without it.
    from discreet.totals.adjacency import SemiAdjacency

__all__ = ["Atoms", "ExactTotals", "Star", "alive_cells", "atoms_of", "equations_of", "exact_totals_of", "star_of"]


@dataclass(frozen=True, slots=True)
class ExactTotals:
    """The exact totals that are published with every statistic of a data set.

    Args:
        invariants: what is published exactly.
        adjacency: the semi-adjacency a(t), from schema and published totals only.
        totals: the published numbers, None before they are published; then a(t) is an upper bound over all totals.
    """

    invariants: Description
    adjacency: SemiAdjacency
    totals: PublishedTotals | None


def exact_totals_of(invariants: Description, schema: Schema, totals: PublishedTotals | None, rows: int) -> ExactTotals:
    """The totals of a table of `rows` rows with their semi-adjacency.

    Raises:
        PlanError: no closed form for a(t), and a domain too large for the general case.
    """
    from discreet.totals.adjacency import semi_adjacency

    return ExactTotals(invariants, semi_adjacency(invariants, schema, totals, rows), totals)


@dataclass(frozen=True, slots=True)
class Star:
    """Totals of the columns `separator` + `branch`, for each branch; no branch: of the separator alone."""

    separator: tuple[str, ...]
    branches: tuple[tuple[str, ...], ...]


def star_of(invariants: Description, schema: Schema) -> Star | None:
    """The totals as a star, None when they are none: only some cells are published, or the overlaps are of another kind.

    Totals that follow from finer ones are left out (K3); without any totals the star is the public number of rows.
    """
    parts = statements_by_kind(invariants.parts)
    if parts.linear or any(part.only is not None for part in parts.totals):
        return None
    sets = [frozenset(joint_columns(part.columns, schema)) for part in parts.totals]
    if any(not one <= {*part.columns} for one, part in zip(sets, parts.totals, strict=True)):
        return None  # two columns of one family, neither of which is finer, do not tell the column of the source
    largest = list(dict.fromkeys(one for one in sets if not any(_is_coarser(one, other, schema) for other in sets)))
    if len(largest) <= 1:
        return Star(_order(invariants, largest[0], schema) if largest else (), ())
    named = frozenset().union(*largest)
    if len(joint_columns(sorted(named), schema)) < len(named):
        return None  # two tables know different columns of one family, and neither follows from the other
    shared = {first & second for first, second in combinations(largest, 2)}
    if len(shared) > 1:
        return None
    (separator,) = shared
    branches = tuple(_order(invariants, one - separator, schema) for one in largest)
    return Star(_order(invariants, separator, schema), branches)


def _is_coarser(one: frozenset[str], other: frozenset[str], schema: Schema) -> bool:
    """True if the totals of one follow from the other's, and not the other way round."""
    return covers(other, one, schema) and not covers(one, other, schema)


def _order(invariants: Description, names: frozenset[str], schema: Schema) -> tuple[str, ...]:
    roots = {root_of(name, schema): name for name in names}
    return tuple(roots[root] for root in families(invariants.columns, schema) if root in roots)


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """The finest classes of joint cells whose totals follow from the published ones.

    Args:
        labels: for each joint cell of columns that determine those of the invariants the number of its class.
        totals: the total of each class, None before they are published.
    """

    labels: NDArray[np.int64]
    totals: NDArray[np.int64] | None


def atoms_of(exact_totals: ExactTotals, schema: Schema, columns: tuple[str, ...] | None = None) -> Atoms | None:
    """The classes for totals of some groups only: nested or disjoint sets of cells. None where the sets cross.

    Each published set, from the smallest to the whole, may contain one class that no smaller set has settled: its total is
    what remains (mathematics of laminar families).
    """
    invariants = exact_totals.invariants
    parts = statements_by_kind(invariants.parts).totals
    if statements_by_kind(invariants.parts).linear:
        return None
    columns = columns or joint_columns(invariants.columns, schema)
    groups = [np.zeros(domain_size(columns, schema), dtype=np.int64)]  # all rows, whose number is public
    groups += [_groups(part, columns, schema) for part in parts]
    labels = groups[0]
    for group in groups[1:]:  # in the order of all numbers side by side
        _, labels = np.unique(labels * (int(group.max()) + 2) + group + 1, return_inverse=True)
        labels = labels.reshape(-1).astype(np.int64)
    published = exact_totals.totals
    counts = [] if published is None else [published.counts(one, schema) for one in parts]
    every = None if published is None else published.rows
    settled = np.zeros(int(labels.max()) + 1, dtype=bool)
    totals = np.zeros(len(settled), dtype=np.int64)
    for members, place, number in _sets(labels, groups):
        rest = members[~settled[members]]
        if len(rest) > 1:
            return None
        if len(rest) == 1:
            count = every if not place else int(counts[place - 1][number]) if counts else None
            settled[rest] = True
            totals[rest] = 0 if count is None else count - int(totals[members].sum())
    return Atoms(labels.reshape(shape_of(columns, schema)), None if exact_totals.totals is None else totals)


def _sets(labels: NDArray[np.int64], groups: Sequence[NDArray[np.int64]]) -> Iterator[tuple[NDArray[np.int64], int, int]]:
    """The classes of each published set, the place of its list and its number there; the smallest sets first."""
    first = np.unique(labels, return_index=True)[1]
    found = []
    for place, group in enumerate(groups):
        own = group[first]  # a class is within one set of each list, or in none of it
        order = np.argsort(own, kind="stable")
        numbers, starts, sizes = np.unique(own[order], return_index=True, return_counts=True)
        every = zip(sizes.tolist(), starts.tolist(), numbers.tolist(), strict=True)
        found += [(size, place, number, order[start : start + size]) for size, start, number in every if number >= 0]
    for _, place, number, members in sorted(found, key=lambda one: one[0]):
        yield members, place, number


def _groups(part: TotalsStatement, columns: tuple[str, ...], schema: Schema) -> NDArray[np.int64]:
    """For each joint cell of `columns` the number of its cell among the published ones, or -1."""
    cells = positions(part.columns, columns, schema)
    if part.only is None:
        return cells
    listed = np.full(domain_size(part.columns, schema), -1, dtype=np.int64)
    for cell in part.only:
        index = cell_index(cell, part.columns, schema)
        listed[index] = index
    return listed[cells]


def alive_cells(exact_totals: ExactTotals, schema: Schema, columns: tuple[str, ...] | None = None) -> NDArray[np.bool_]:
    """The joint cells of columns that determine those of the invariants, which can hold a record by the public numbers."""
    columns = columns or joint_columns(exact_totals.invariants.columns, schema)
    alive = np.ones(domain_size(columns, schema), dtype=bool)
    for part in exact_totals.invariants.parts:
        dead = np.zeros(domain_size(part.columns, schema), dtype=bool)
        match part:
            case ImpossibleStatement(cells=cells):
                dead[[cell_index(cell, part.columns, schema) for cell in cells]] = True
            case TotalsStatement() | OccupiedStatement() if exact_totals.totals is not None:
                known = exact_totals.totals.counts(part, schema) == 0
                if part.only is None:
                    dead = known
                else:
                    listed = [cell_index(cell, part.columns, schema) for cell in part.only]
                    dead[listed] = known[listed]
            case RangesStatement() if exact_totals.totals is not None:
                _, most = exact_totals.totals.ranges(part)
                dead[cell_numbers(part, schema)] = most == 0
            case TotalsStatement() | OccupiedStatement() | LinearStatement() | RangesStatement() | FloorStatement():
                pass  # not published yet, or a sum, which is not read cell by cell: every cell may hold a record
            case _:
                raise unreachable(part)
        alive &= ~dead[positions(part.columns, columns, schema)]
    return alive.reshape(shape_of(columns, schema))


def equations_of(invariants: Description, schema: Schema, columns: tuple[str, ...] | None = None) -> NDArray[np.int64]:
    """The published sums as rows of coefficients over the joint cells, the number of rows first."""
    columns = columns or joint_columns(invariants.columns, schema)
    cells = domain_size(columns, schema)
    rows = [np.ones(cells, dtype=np.int64)]
    for part in invariants.parts:
        match part:
            case TotalsStatement():
                group = _groups(part, columns, schema)
                rows += [(group == number).astype(np.int64) for number in np.unique(group[group >= 0])]
            case LinearStatement():
                rows += _sums(part, columns, schema)
            case OccupiedStatement() | ImpossibleStatement() | RangesStatement() | FloorStatement():
                pass  # not sums of rows that are known; some say which cells can hold a record
            case _:
                raise unreachable(part)
    return np.stack(rows)


def _sums(part: LinearStatement, columns: tuple[str, ...], schema: Schema) -> list[NDArray[np.int64]]:
    place = positions(part.columns, columns, schema)
    found = []
    for row in part.rows:
        coefficients = np.zeros(domain_size(part.columns, schema), dtype=np.int64)
        for cell, value in row:
            coefficients[cell_index(cell, part.columns, schema)] = value
        found.append(coefficients[place])
    return found
