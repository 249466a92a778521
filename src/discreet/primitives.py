"""From statistics to the primitive integer queries behind them, and back: which counts are public, how a line is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InternalError
from discreet.exact import rational_gcd
from discreet.invariants.space import Space
from discreet.plan import Plan
from discreet.queries import NonNullCount, Query, RowCount, WeightedSum
from discreet.quotes import LEVEL, Line, Measured, PublicCells, PublicCount, half_widths
from discreet.schema import Number
from discreet.statistics import Count, Mean, Statistic, Sum
from discreet.steps import NumberFacts, TableFacts, Where, WhereIn

__all__ = ["Asked", "line_of", "may_skip", "weights_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request with what is known of its table: facts, public rows and, beside exact totals, the sensitivity space."""

    plan: Plan
    facts: TableFacts
    space: Space | None

    @property
    def filtered(self) -> bool:
        """Whether rows can fail a condition."""
        return any(isinstance(step, Where | WhereIn) for step in self.plan.steps)

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
    """The distinct primitive queries, each with the greatest weight of the statistics that share it."""
    weights: dict[Query, Fraction] = {}
    for statistic in asked.plan.statistics:
        for query in _queries(asked, statistic):
            weights[query] = max(weights.get(query, Fraction(0)), statistic.weight)
    return weights


def may_skip(asked: Asked, query: Query) -> bool:
    """Whether a row can contribute nothing at all: filtered out, in none of the bins, or null."""
    if asked.filtered or asked.plan.group_by:
        # With groups a row may lie outside all bins; where it cannot, the cross-cell bound is the larger one anyway.
        return True
    return not isinstance(query, RowCount) and asked.facts[query.column].nullable


def line_of(asked: Asked, statistic: Statistic, measured: Sequence[Measured]) -> Line:
    """How the statistic is put together from the measured queries."""
    places = {one.query: position for position, one in enumerate(measured)}
    counted = _count_query(asked, statistic.column)
    public = asked.public(counted)
    count = public if public is not None else places.get(counted)
    if isinstance(statistic, Count):
        level, halves = _halves(measured, [count])
        return Line(statistic, None, count, Fraction(1), Fraction(0), level, 0, halves[0])
    centred = isinstance(statistic, Mean) or _counts_anyway(asked, counted)
    query, unit, origin = _sum_query(asked.facts, statistic.column, centred=centred)
    total = None if query is None else places[query]
    if isinstance(statistic, Sum) and origin == 0:
        count = None
    level, halves = _halves(measured, [total, count])
    return Line(statistic, total, count, unit, origin, level, *halves)


def _queries(asked: Asked, statistic: Statistic) -> list[Query]:
    needed: list[Query] = []
    counted = _count_query(asked, statistic.column)
    centred = isinstance(statistic, Count | Mean) or _counts_anyway(asked, counted)
    if centred and asked.public(counted) is None:
        needed.append(counted)
    if not isinstance(statistic, Count):
        total = _sum_query(asked.facts, statistic.column, centred=centred)
        if total[0] is not None:
            needed.append(total[0])
    return needed


def _counts_anyway(asked: Asked, counted: Query) -> bool:
    """Whether the count behind a sum is public, or asked by another statistic of the request at no extra cost."""
    if asked.public(counted) is not None:
        return True
    others = (s for s in asked.plan.statistics if isinstance(s, Count | Mean))
    return any(_count_query(asked, other.column) == counted for other in others)


def _count_query(asked: Asked, column: str | None) -> Query:
    return NonNullCount(column) if column is not None and asked.facts[column].nullable else RowCount()


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


def _halves(
    measured: Sequence[Measured], parts: Sequence[int | PublicCount | PublicCells | None]
) -> tuple[Fraction, list[int]]:
    """The level at which the noisy parts hold together with `LEVEL` (union bound), and their largest half-widths at it."""
    noisy = sum(isinstance(part, int) for part in parts)
    level = 1 - (1 - LEVEL) / max(noisy, 1)
    widths = [half_widths(measured[part].law, level) if isinstance(part, int) else 0 for part in parts]
    return level, [int(np.max(width, initial=0)) for width in widths]
