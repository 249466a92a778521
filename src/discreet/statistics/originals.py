"""Sums of a column in a request for originals: in parts, so that the prepared and the recorded sum share what they can.

The sum of what is clamped and known belongs to both. The recorded sum adds what the clamp cuts off (O4 of
docs/proofs/original.md), the prepared one what is imputed (O5).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.cube.queries import Excess, ImputedSum, NonNullCount, NullCount, Query, WeightedSum
from discreet.exact.numbers import rational_gcd
from discreet.statistics.base import Asked, Twin
from discreet.statistics.common import number_of
from discreet.statistics.totals import Parts, Total, total_of, whole_total

__all__ = ["parts_of", "weight_beside", "weight_of_nulls"]


def parts_of(asked: Asked, column: str | None, *, centred: bool) -> Parts:
    """The parts of the sum of a column: of the prepared one, or of the one as recorded."""
    twin = asked.twin(column)
    if twin is None or twin.clamped is None:
        return whole_total(total_of(asked.facts, column, centred=centred))
    total = total_of(asked.facts, twin.clamped, centred=centred)
    if not total.queries:  # a clamp that leaves one value
        return whole_total(total_of(asked.facts, column, centred=centred))
    if column == twin.recorded:
        return whole_total(total) if twin.clamped == twin.recorded else _with_excess(asked, twin, total, centred=centred)
    return whole_total(total) if twin.clamped == twin.prepared else _with_imputed(asked, twin, total)


def weight_beside(asked: Asked, total: Parts) -> Fraction:
    """The weight of a count beside a sum: a row can hardly do its worst to both at once.

    Where a row is replaced, one that becomes null changes a centred sum by half of its range only: the count is free.
    """
    added = asked.facts.compared.neighbours.appears
    return Fraction(1) if added else total.weight / 2


def nulls_beside(asked: Asked, column: str | None) -> tuple[Query, ...]:
    """The counts of the known rows and of the others, which together are all rows of an imputed column; none elsewhere."""
    twin = asked.twin(column)
    if twin is None or column != twin.prepared or twin.clamped in (None, twin.prepared):
        return ()
    known = asked.count_query(twin.recorded)
    return (known, NullCount(known.column)) if isinstance(known, NonNullCount) else ()


def weight_of_nulls(asked: Asked, total: Parts) -> Fraction:
    """The weight of the number of rows without a value: a row is in it, or in the sum and the count, so that it is free."""
    added = asked.facts.compared.neighbours.appears
    return total.weight + weight_beside(asked, total) if added else total.weight


def _with_imputed(asked: Asked, twin: Twin, total: Total) -> Parts:
    """The sum of the known values, and of those that are imputed: a row is in one of both, so that they cost as one.

    Where a row is added or removed, a known one is in the sum, in what is cut off and in a count, and a null one in what is
    imputed and in a count: what is imputed has half of the weight of the known ones.
    """
    (known,) = total.queries
    drawn = ImputedSum(replace(known, column=twin.prepared), known)
    one = Fraction(1)
    added = asked.facts.compared.neighbours.appears
    beside = (1 / _kept_share(asked, twin, total) + 1) / 2 if added else one
    return Parts(((known, 1, one), (drawn, 1, beside)), total.unit, total.origin, total.bounds, one)


def _kept_share(asked: Asked, twin: Twin, total: Total) -> Fraction:
    """The share of the sum of the clamped values, beside what the clamp cuts off; 1 without a clamp."""
    if twin.clamped == twin.recorded:
        return Fraction(1)
    low, high = _bounds(asked, twin.recorded)
    return max((total.bounds[1] - total.bounds[0]) / (high - low), Fraction(1, 2))


def _with_excess(asked: Asked, twin: Twin, total: Total, *, centred: bool) -> Parts:
    """The sum of the clamped values, and of what the clamp cuts off."""
    excess, step, moved = _excess(asked, twin, total, shared=centred)
    low, high = _bounds(asked, twin.recorded)
    share = _kept_share(asked, twin, total)
    unit = rational_gcd(total.unit, step)
    parts = (
        (total.queries[0], int(total.unit / unit), Fraction(1)),
        (excess, int(step / unit), (1 - share) / share),
    )
    return Parts(parts, unit, total.origin + moved, (low, high), 1 / share)


def _excess(asked: Asked, twin: Twin, total: Total, *, shared: bool) -> tuple[Excess, Fraction, Fraction]:
    """The query, what a step of it is worth, and by how much each value was moved.

    With `shared` both ends of its range are equally far from 0, for a row that moves changes two cells.
    """
    known, grid = number_of(asked.facts, twin.recorded)
    (low, high), (least, most) = _bounds(asked, twin.recorded), total.bounds
    whole, cut = ((low + high) / 2, (least + most) / 2) if shared else (low, low)
    moved = whole - cut
    step = rational_gcd(rational_gcd(low - whole, least - cut), grid.step)
    slope = int(grid.step / step)
    recorded = WeightedSum(twin.recorded, int((low - whole) / step), slope, known.high - known.low)
    clamped = WeightedSum(total.queries[0].column, int((least - cut) / step), slope, total.queries[0].width)
    return Excess(recorded, clamped, int((low - least - moved) / step), int((high - most - moved) / step)), step, moved


def _bounds(asked: Asked, column: str) -> tuple[Fraction, Fraction]:
    known, grid = number_of(asked.facts, column)
    return grid.value(known.low), grid.value(known.high)
