"""The sensitivity space of a request with exact totals: how far its answers move between semi-adjacent tables.

S = {θ(X) - θ(X') : equal totals, at most a(t) rows differ}. If the totals are the sizes of the classes of a partition, the
changed rows can be matched class by class, so a member of S is a sum of a(t) moves of one row *within its class*; for tables
with one-way margins an entry of a count table is at most a(k-1)/k. Proofs: docs/proofs/semi-dp.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import CountedRows, Query, RowCounts
from discreet.domain.neighbours import ReplaceOne
from discreet.domain.origins import covers
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.numbers import float_up, sqrt_up
from discreet.mechanisms import OneSign, Sensitivity
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.quotes.lattice import PublishedCounts, find_held_cells, find_known_counts, joint_places, structure_of
from discreet.quotes.view import View, view_of
from discreet.quotes.wider_lattice import wider_structure
from discreet.statistics.common import largest_of
from discreet.statistics.counts import count
from discreet.totals.description import Description
from discreet.totals.exact_totals import ExactTotals, atoms_of, exact_totals_of, star_of
from discreet.totals.given import read_totals
from discreet.totals.published import PublishedTotals
from discreet.totals.statements import TotalsStatement
from discreet.totals.structure import Blocks, Kernel, Structure
from discreet.totals.structure import Table as MarginTable
from discreet.totals.structure import Tables as MarginTables

__all__ = ["Space", "possible_places", "sensitivity", "smaller", "space_of"]

_SOME_ROWS = 2**39


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The changes of a request on the original table that the totals leave free.

    Args:
        beside: the totals and a(t).
        structure: the lattice of the row counts; None if plain noise must be used.
        settled: True if it is the lattice of all totals, in which every row counts: their classes say where a row can go.
        across: True if a row can move to another cell of the request while its class of the totals stays the same.
        tables: the columns of each table of totals that is published as a whole.
        telling: those of them that tell in which cell of the request a row is.
        held: int64, the cells of the request that can hold a record; in all others every answer is 0, whatever the table.
        cells: the number of cells of the request.
        known: the row counts where they follow from the totals in a way that is worked out; else None.
        finer: the same for queries that count rows in finer cells, or not all rows; None where nothing is worked out.
    """

    beside: ExactTotals
    structure: Structure | None
    settled: bool
    across: bool
    tables: tuple[frozenset[str], ...]
    telling: tuple[frozenset[str], ...]
    held: NDArray[np.int64]
    cells: int
    known: Blocks | MarginTables | PublishedCounts | None
    finer: Callable[[CountedRows], Space | None] = field(repr=False)

    @property
    def determined(self) -> bool:
        """True if the row counts of all cells follow from the totals in a way that is worked out here."""
        return self.known is not None

    def counting(self, query: Query) -> Space | None:
        """The space of the cells in which the query counts rows; None for other queries, or where nothing is worked out."""
        if not isinstance(query, RowCounts):
            return None
        return self if query.rows == CountedRows((), ()) else self.finer(query.rows)

    def says(self, columns: Iterable[str]) -> bool:
        """True if some published table determines how many rows have each combination of values of the columns."""
        return any(table.issuperset(columns) for table in self.tables)

    def matched_by(self, table: frozenset[str]) -> Space:
        """The same changes, where each row that goes is matched with one that agrees with it in the columns of a table.

        Other tables say nothing of such a pair: a row can move to another cell unless these columns tell it (V3).
        """
        return replace(self, across=self.across or table not in self.telling) if table else self

    def of_values(self, least: int, most: int, *, may_skip: bool) -> Sensitivity:
        """The bounds for cell sums of integers in [least, most], one for each row; with `may_skip` a row may add nothing.

        a(t) moves within classes: each changes one cell by at most the width, or two cells by at most the largest value.
        """
        low, high = (min(least, 0), max(most, 0)) if may_skip else (least, most)
        within, largest = high - low, max(abs(least), abs(most))
        return self.of_moves((within, within**2), (2 * largest, 2 * largest**2), (0, 0))

    def of_moves(self, within: tuple[int, int], across: tuple[int, int], leaves: tuple[int, int]) -> Sensitivity:
        """The bounds from ‖·‖₁ and ‖·‖₂² of what one row does to the answer: in its cell, to another cell, to no cell.

        At most a(t) such moves, each within a class of the totals: a norm of the sum is at most a(t) times the largest.
        """
        a = self.beside.adjacency.a
        moves = (within, across, leaves) if self.across else (within, leaves)
        return Sensitivity(a * max(l1 for l1, _ in moves), a * a * max(l2_squared for _, l2_squared in moves))

    def of_one_sign(self, largest: int) -> OneSign | None:
        """The bounds for cell sums of integers of one sign, at most this large; None where no record moves (Theorem L6)."""
        blocks = self.structure
        if not isinstance(blocks, Blocks):
            whole = np.array([len(self.held)], dtype=np.int64)
            blocks = Blocks(self.cells, self.held, whole[whole > 0], None)
        return OneSign(blocks, 2 * self.beside.adjacency.a * largest) if (blocks.sizes > 1).any() else None

    def of_rows(self) -> Sensitivity:
        """The bounds for the row counts: on the lattice that the totals leave, or with plain noise where they leave none."""
        return self.of_counts(may_skip=not self.settled)

    def of_counts(self, *, may_skip: bool) -> Sensitivity:
        """The bounds for the row counts: the bounds for the value 1, or less if the totals are margins of tables."""
        general = self.of_values(1, 1, may_skip=may_skip)
        a = self.beside.adjacency.a
        if isinstance(self.structure, MarginTables) and all(table.depth == 1 for table in self.structure.tables):
            return smaller(general, _of_margins(self.structure, a))
        if isinstance(self.structure, Kernel):
            return smaller(general, _of_kernel(self.structure, a))
        return general


def space_of(plan: Plan, totals: ExactTotals) -> Space | None:
    """The changes of the request that the totals leave free; None for a resized or sampled table.

    Raises:
        PlanError: a column of the totals is imputed.
    """

    @cache  # a quote asks several times, and each one goes through the joint domain of the totals
    def counted(rows: CountedRows) -> Space | None:
        view = view_of(plan, totals.invariants.columns, rows)
        return None if view is None else _space_of_view(plan, (rows, view), totals, counted)

    return counted(CountedRows((), ()))


def _space_of_view(
    plan: Plan, seen: tuple[CountedRows, View], totals: ExactTotals, finer: Callable[[CountedRows], Space | None]
) -> Space:
    rows, view = seen
    whole, held = structure_of(plan, view, totals), find_held_cells(plan, view, totals)
    structure = wider_structure(plan, rows, totals, held) if whole is None and view.kept else whole
    lists = (part for part in totals.invariants.parts if isinstance(part, TotalsStatement) and part.only is None)
    tables = tuple(frozenset(part.columns) for part in lists)
    return Space(
        beside=totals,
        structure=structure,
        settled=whole is not None,
        across=_can_cross(plan, view, totals),
        tables=tables,
        telling=tuple(table for table in tables if _tell(table, view.shown, plan.schema)),
        held=held,
        cells=view.cells,
        known=find_known_counts(plan, view, totals, structure),
        finer=finer,
    )


def possible_places(space: Space, query: Query) -> NDArray[np.int64]:
    """The positions of the integers of the answer that can be other than 0, level by level."""
    held, done = [], 0
    for width in query.widths():
        held.append(done + (space.held[:, None] * width + np.arange(width)).ravel())
        done += space.cells * width
    return np.concatenate(held)


def sensitivity(
    invariants: Description,
    schema: Schema,
    query: object,
    norm: int | str = 2,
    totals: PublishedTotals | Mapping[object, object] | None = None,
) -> float:
    """An upper bound of the norm over S: how much the answer can change between semi-adjacent tables, rounded up.

    Args:
        invariants: what is published exactly.
        schema: the public columns.
        query: a request made with `table.agg`, a statistic of the whole table, or the names of the columns of a table of
            counts. Of a request it is the largest of its queries: a sum counts in steps of its column's grid, squares in
            their squares, quantiles in choices or, of the deepest tree, in nodes.
        norm: 1, 2 or "K". The K-norm is the one whose unit ball is the hull of S: its sensitivity is 1.
        totals: the published totals, if they are known.

    Raises:
        ArgumentError: another norm, or no query.
    """
    if norm not in (1, 2, "K"):
        raise ArgumentError(f"norm={printed(norm)}: must be 1, 2 or 'K'")
    plan = _plan_of(schema, query)
    published = None if totals is None else read_totals(invariants, schema, totals)
    invariants.check(schema)
    space = space_of(plan, exact_totals_of(invariants, schema, published, plan.neighbours.rows or _SOME_ROWS))
    if space is None:
        raise PlanError("query: asks a table of drawn rows, which has no totals; a(t) enters through the draw instead")
    span = _largest(plan, space)
    if norm == "K":
        return 1.0 if span.l1 else 0.0
    return float(span.l1) if norm == 1 else float_up(sqrt_up(Fraction(span.l2_squared)))


def _plan_of(schema: Schema, query: object) -> Plan:
    if isinstance(query, Plan):
        return query
    table = Table(schema, ReplaceOne(rows=_SOME_ROWS))
    if isinstance(query, str):
        return table.group_by(query).agg(count())
    if isinstance(query, Sequence) and query and all(isinstance(name, str) for name in query):
        return table.group_by(*query).agg(count())
    return table.agg(query)  # type: ignore[arg-type]  # agg refuses what is not a statistic


def _largest(plan: Plan, space: Space) -> Sensitivity:
    """The largest bounds over the queries of a request; 0 for counts that the totals determine."""
    return largest_of(*(one.kind.span(one, plan.facts, space) for one in plan.answered))


def _can_cross(plan: Plan, view: View, totals: ExactTotals) -> bool:
    """True if some class of the totals may have rows in two cells; True is always right."""
    star = star_of(totals.invariants, plan.schema)
    if star is not None:
        cliques = [(*star.separator, *branch) for branch in star.branches] or [star.separator]
        return all(not _tell(clique, view.shown, plan.schema) for clique in cliques)
    atoms = None if view.free > 1 else atoms_of(totals, plan.schema, view.columns)
    if atoms is None:
        return view.cells > 1
    place = joint_places(view, view.columns).ravel()
    seen = place >= 0
    pairs = np.unique(np.stack([atoms.labels.ravel()[seen], place[seen]]), axis=1)
    return bool(len(np.unique(pairs[0])) < pairs.shape[1])


def _tell(clique: Collection[str], shown: tuple[str, ...], schema: Schema) -> bool:
    """True if the values of the clique are enough to know those of the columns that are shown."""
    return all(name in clique or (name in schema.columns and covers(clique, (name,), schema)) for name in shown)


def smaller(first: Sensitivity, second: Sensitivity) -> Sensitivity:
    """The smaller one in each of both norms: each is a bound by itself."""
    return Sensitivity(min(first.l1, second.l1), min(first.l2_squared, second.l2_squared))


def _of_margins(structure: MarginTables, a: int) -> Sensitivity:
    """P - N with equal margins, |P| = |N| = a, on tables of k axes: entries are at most u = a(k-1)/k.

    A cell that P holds u times has its level on each axis u times in N, and a cell of N shares at most k-1 of its levels.
    All cells share an axis with one level, so such an axis counts for nothing; the bound grows with k.
    """
    k = max((table.axes for table in structure.tables), default=0)
    if k == 2 and a == 3 and all(_has_pair(table) for table in structure.tables):
        a = 2  # half of the ℓ₁ norm is even where one axis has two levels: three changed rows move no more than two
    u = a * (k - 1) // k if k else 0
    if not u:
        return Sensitivity(0, 0)
    times, rest = divmod(a, u)
    return Sensitivity(2 * a, 2 * (times * u * u + rest * rest))


def _has_pair(table: MarginTable) -> bool:
    """True if one of the axes of a table of at most two has at most two levels, so that one row is minus the other."""
    return table.axes < 2 or 2 in table.shape


def _of_kernel(structure: Kernel, a: int) -> Sensitivity:
    """The exact largest norms by enumeration, where the domain is small enough; else the general bound."""
    from discreet.totals.enumerate import largest_norms

    found = largest_norms(structure.equations, a)
    return Sensitivity(2 * a, 2 * a * a) if found is None else Sensitivity(*found)
