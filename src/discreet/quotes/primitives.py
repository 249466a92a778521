"""From statistics to the primitive integer queries behind them, and back: which counts are public, how a line is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.cube.queries import (
    Dispersion,
    LevelCounts,
    NonNullCount,
    QuantileCodes,
    Query,
    RowCount,
    Squares,
    TableCounts,
    WeightedSum,
)
from discreet.cube.trees import Tree
from discreet.domain.groups import group_labels
from discreet.domain.schema import Number
from discreet.domain.steps import NumberFacts, TableFacts, conditions_of
from discreet.errors import InternalError, unreachable
from discreet.exact.numbers import rational_gcd
from discreet.plan.plan import Plan, tables_of
from discreet.quotes.quote import LEVEL, Line, Measured, PublicCells, PublicCount
from discreet.quotes.space import Space
from discreet.quotes.view import counts_every_row
from discreet.statistics.kinds import (
    Count,
    Histogram,
    Mean,
    Median,
    Quantiles,
    Share,
    Statistic,
    Std,
    Sum,
    Tables,
    Variance,
    interval_of,
    levels_of,
)

__all__ = ["Asked", "line_of", "weights_of"]

_MOST_CHOSEN = 2**22
"""Codes among which quantiles are chosen, for the sake of memory; of more a tree is asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request with what is known of its table: facts, public rows and, beside exact totals, the sensitivity space."""

    plan: Plan
    facts: TableFacts
    space: Space | None

    @property
    def filtered(self) -> bool:
        """Whether rows can fail a condition."""
        return bool(conditions_of(self.plan.steps))

    @property
    def public_rows(self) -> int | None:
        """The number of rows of all cells together, if it is public: every row counts somewhere, and n is public."""
        return self.facts.rows if counts_every_row(self.plan) else None

    def public(self, counted: Query) -> PublicCount | PublicCells | None:
        """The count, if it is public: all rows of a table whose n is public, or what the totals say (soundness 6)."""
        if not isinstance(counted, RowCount):
            return None
        if not self.plan.group_by and not self.filtered and self.facts.rows is not None:
            return PublicCount(self.facts.rows)
        if self.space is not None and self.space.structure is not None and self.space.determined:
            return PublicCells(self.space.structure)
        return None


def weights_of(asked: Asked) -> dict[Query, Fraction]:
    """The distinct primitive queries, each with the greatest weight of the statistics that share it.

    Trees of quantiles have a single level here; their shape depends on the noise that they will get.
    """
    weights: dict[Query, Fraction] = {}
    for statistic in asked.plan.statistics:
        for query, part in _parts(asked, statistic):
            weights[query] = max(weights.get(query, Fraction(0)), statistic.weight * part)
    return weights


def _parts(asked: Asked, statistic: Statistic) -> list[tuple[Query, Fraction]]:
    """The queries behind a statistic, each with the part of its weight that it needs: only quantiles divide it."""
    if not levels_of(statistic.kind):
        return [(query, Fraction(1)) for query in _queries(asked, statistic)]
    counted, chosen = _level_query(asked, statistic), _chosen_query(asked, _column(statistic))
    interval = interval_of(statistic.kind)
    if chosen is None or interval == 1:
        return [(counted, Fraction(1))]
    return [(chosen, 1 - interval), (counted, interval)] if interval else [(chosen, Fraction(1))]


def line_of(asked: Asked, statistic: Statistic, measured: Sequence[Measured]) -> Line:
    """How the statistic is put together from the measured queries."""
    places = {one.query: position for position, one in enumerate(measured)}
    trees = {one.query.column: position for position, one in enumerate(measured) if isinstance(one.query, LevelCounts)}
    chosen = {one.query.column: position for position, one in enumerate(measured) if isinstance(one.query, QuantileCodes)}
    match statistic.kind:
        case Histogram() | Tables():
            return _line(asked, statistic, tables=tuple(places[query] for query in _table_queries(asked, statistic)))
        case Median() | Quantiles():
            column, interval = _column(statistic), interval_of(statistic.kind)
            tree = trees[column] if interval or column not in chosen else None
            choice = chosen.get(column) if interval < 1 else None
            public = asked.public(_count_query(asked, statistic.column))
            return _line(asked, statistic, tree=tree, choice=choice, count=public)
    counted = _count_query(asked, statistic.column)
    public = asked.public(counted)
    count = public if public is not None else places.get(counted)
    if isinstance(statistic.kind, Count | Share):
        return _line(asked, statistic, count=count)
    dispersion = _dispersion_query(asked, statistic)
    if dispersion is not None:
        return _line(asked, statistic, count=count, squares=places[dispersion], unit=_step(asked, statistic))
    query, unit, origin = _sum_query(asked.facts, _column(statistic), centred=_centred(asked, statistic))
    total = None if query is None else places[query]
    if isinstance(statistic.kind, Sum) and origin == 0:
        count = None
    squares = None if query is None or not isinstance(statistic.kind, Variance | Std) else places[_square_query(query)]
    return _line(asked, statistic, total=total, count=count, squares=squares, unit=unit, origin=origin)


def _line(
    asked: Asked,
    statistic: Statistic,
    *,
    total: int | None = None,
    count: int | PublicCount | PublicCells | None = None,
    squares: int | None = None,
    tree: int | None = None,
    choice: int | None = None,
    tables: tuple[int, ...] = (),
    unit: Fraction = Fraction(1),
    origin: Fraction = Fraction(0),
) -> Line:
    """The line; the level of its parts depends on all lines of a request, see `levels`."""
    # The denominator of a share is a sum of noisy counts where the number of rows is private.
    every = asked.public_rows if isinstance(statistic.kind, Share) else None
    return Line(statistic, total, count, squares, tree, tables, every, unit, origin, LEVEL, choice)


def _queries(asked: Asked, statistic: Statistic) -> list[Query]:
    kind = statistic.kind
    match kind:
        case Histogram() | Tables():
            return list(_table_queries(asked, statistic))
        case Median() | Quantiles():
            raise InternalError("quantiles divide their weight between two queries")
        case Count() | Share():
            return _counted(asked, statistic)
        case Sum() | Mean():
            return [*_counted(asked, statistic), *_summed(asked, statistic)]
        case Variance() | Std():
            dispersion = _dispersion_query(asked, statistic)
            if dispersion is not None:
                return [dispersion]
            sums = _summed(asked, statistic)
            return [*_counted(asked, statistic), *sums, *map(_square_query, sums)]
    raise unreachable(kind)


def _counted(asked: Asked, statistic: Statistic) -> list[Query]:
    """The count that the statistic needs, unless it is public or not needed."""
    counted = _count_query(asked, statistic.column)
    return [counted] if _centred(asked, statistic) and asked.public(counted) is None else []


def _summed(asked: Asked, statistic: Statistic) -> list[WeightedSum]:
    """The sum that the statistic needs, unless it is always 0."""
    query, _, _ = _sum_query(asked.facts, _column(statistic), centred=_centred(asked, statistic))
    return [] if query is None else [query]


def _column(statistic: Statistic) -> str:
    if statistic.column is None:
        raise InternalError(f"statistic '{statistic.name}' has no column")
    return statistic.column


def _centred(asked: Asked, statistic: Statistic) -> bool:
    """Whether values are taken from the midpoint of their range, which needs a count to move them back."""
    return not isinstance(statistic.kind, Sum) or _counts_anyway(asked, _count_query(asked, statistic.column))


def _counts_anyway(asked: Asked, counted: Query) -> bool:
    """Whether the count behind a sum is public, or asked by another statistic of the request at no extra cost."""
    if asked.public(counted) is not None:
        return True
    others = (s for s in asked.plan.statistics if isinstance(s.kind, Count | Share | Mean | Variance | Std))
    return any(_count_query(asked, other.column) == counted for other in others)


def _count_query(asked: Asked, column: str | None) -> Query:
    return NonNullCount(column) if column is not None and asked.facts[column].nullable else RowCount()


def _table_queries(asked: Asked, statistic: Statistic) -> list[TableCounts]:
    """One table of counts for a histogram, one for each margin that is asked."""
    return [
        TableCounts(groups, tuple(len(group_labels(group, asked.facts)) for group in groups))
        for groups in tables_of(statistic)
    ]


def _level_query(asked: Asked, statistic: Statistic) -> LevelCounts:
    """A tree of one level over the grid of the column between its bounds."""
    facts = asked.facts[_column(statistic)]
    if not isinstance(facts, NumberFacts):
        raise InternalError(f"column '{statistic.column}' has no quantiles")
    size = facts.high - facts.low + 1
    return LevelCounts(_column(statistic), facts.low, Tree(size, max(size, 2), 1))


def _chosen_query(asked: Asked, column: str) -> QuantileCodes | None:
    """The choice of all quantiles of the column that are chosen by their rank; None for one code, or for too many."""
    facts = asked.facts[column]
    if not isinstance(facts, NumberFacts) or not 0 < facts.high - facts.low < _MOST_CHOSEN:
        return None
    kinds = [one.kind for one in asked.plan.statistics if one.column == column and interval_of(one.kind) < 1]
    at = sorted({q for kind in kinds for q in levels_of(kind)})
    return QuantileCodes(column, facts.low, facts.high - facts.low + 1, tuple(at)) if at else None


def _dispersion_query(asked: Asked, statistic: Statistic) -> Dispersion | None:
    """The variance as one number, where n is public; None for others, and where the sum of the column is asked anyway."""
    column, public = statistic.column, asked.public(_count_query(asked, statistic.column))
    if not isinstance(statistic.kind, Variance | Std) or column is None or not isinstance(public, PublicCount):
        return None
    facts = asked.facts[column]
    summed = any(one.column == column and isinstance(one.kind, Sum | Mean) for one in asked.plan.statistics)
    if summed or public.rows < 2 or not isinstance(facts, NumberFacts) or facts.low == facts.high:
        return None
    return Dispersion(column, facts.high - facts.low, public.rows)


def _step(asked: Asked, statistic: Statistic) -> Fraction:
    column = asked.plan.schema[_column(statistic)]
    if not isinstance(column, Number):
        raise InternalError(f"column '{statistic.column}' has no variance")
    return column.step


def _sum_query(facts: TableFacts, column: str, *, centred: bool) -> tuple[WeightedSum | None, Fraction, Fraction]:
    """The integer query behind a sum, with unit and origin: Σx = unit·query + origin·count. None when it is always 0.

    Centred at the midpoint of the bounds, which halves the reach of a record (soundness 7), when a count is at hand to
    move it back; otherwise taken from 0.
    """
    known = facts[column]
    if not isinstance(known, NumberFacts) or not isinstance(known.column, Number):
        raise InternalError(f"column '{column}' has no sum")
    lower, upper = known.column.value(known.low), known.column.value(known.high)
    origin = (lower + upper) / 2 if centred else Fraction(0)
    unit = rational_gcd(lower - origin, known.column.step if known.high > known.low else Fraction(0))
    if unit == 0:
        return None, Fraction(1), origin
    slope = int(known.column.step / unit) if known.high > known.low else 0
    return WeightedSum(column, int((lower - origin) / unit), slope, known.high - known.low), unit, origin


def _square_query(query: WeightedSum) -> Squares:
    """The squares of the same integers, less the middle of their range, which halves their reach once more."""
    largest = max(abs(query.first), abs(query.first + query.slope * query.width))
    return Squares(query.column, query.first, query.slope, query.width, largest**2 // 2)
