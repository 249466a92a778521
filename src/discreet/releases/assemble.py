"""From noisy integers to the statistics of a request with their intervals: a pure function of public numbers."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.queries import Dispersion, LevelCounts, QuantileCodes, Squares, TableCounts, WeightedSum
from discreet.domain.groups import Group, Label, group_labels, is_complete
from discreet.domain.schema import Number
from discreet.domain.steps import NumberFacts
from discreet.errors import InternalError
from discreet.mechanisms import law_of_cell
from discreet.noise.single.many import half_width_of_sum
from discreet.plan.plan import tables_of
from discreet.quotes.quote import Line, PublicCells, PublicCount, Quote, sum_half_widths
from discreet.quotes.view import counts_every_row
from discreet.releases.labels import LabelColumn, label_columns
from discreet.statistics.kinds import Count, Mean, Share, Std, Sum, Variance, levels_of, outputs
from discreet.statistics.margins import Margin, reconcile
from discreet.statistics.quantiles import quantile_estimates
from discreet.statistics.ratios import Estimate, count_estimate, mean_estimate, sum_estimate
from discreet.statistics.variances import dispersion_estimate, root_estimate, share_estimate, variance_estimate

__all__ = ["Columns", "Frame", "estimated", "frames", "group_columns"]

Noisy = Sequence[NDArray[Any]]

_COUNT_COLUMNS = ("count", "count_low", "count_high", "count_consistent", "count_whole")
_LARGEST = 2**63
_LEAST_VARIANCE = 1e-200


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One statistic of the table under its name: values with the ends of their intervals, one for every cell."""

    name: str
    estimate: Estimate

    def numbers(self) -> list[tuple[str, NDArray[Any]]]:
        """The values and the ends of their intervals, each under its own name."""
        one = self.estimate
        return [(self.name, one.value), (f"{self.name}_low", one.low), (f"{self.name}_high", one.high)]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table beside the main one: label columns, counts with intervals, and the counts that agree with other tables."""

    name: str
    labels: list[LabelColumn]
    counts: Columns
    consistent: NDArray[np.float64] | None = None


def estimated(quote: Quote, noisy: Noisy, cells: slice | None = None) -> list[Columns]:
    """The statistics of the table of the release, in the order of the request; of some of its cells or of all of them."""
    cells = slice(0, quote.plan.layout.cells) if cells is None else cells
    found: list[Columns] = []
    for line in quote.lines:
        if levels_of(line.statistic.kind):
            estimates = [_cut(one, cells) for one in _quantiles(quote, line, noisy, quote.plan.layout.cells)]
            found += [Columns(name, one) for name, one in zip(outputs(line.statistic), estimates, strict=True)]
        elif not line.tables:
            found.append(Columns(line.statistic.name, _estimate(quote, line, noisy, cells)))
    return found


def _cut(estimate: Estimate, cells: slice) -> Estimate:
    return Estimate(estimate.value[cells], estimate.low[cells], estimate.high[cells])


def frames(quote: Quote, noisy: Noisy) -> list[Frame]:
    """The histograms and tables of counts, each with the groups of the request and then its own; no two of one name."""
    found: list[Frame] = []
    for line in quote.lines:
        groupings = tables_of(line.statistic)
        agreed = _agreed(quote, line, noisy) if len(groupings) > 1 else [None] * len(groupings)
        for position, groups, consistent in zip(line.tables, groupings, agreed, strict=True):
            one = quote.measured[position]
            values = noisy[position]
            half = _every(one.law.half_widths(line.level), slice(0, len(values)))
            counts = Columns("count", count_estimate(values, half))
            name = _frame_name(line, groups, [frame.name for frame in found])
            found.append(Frame(name, _frame_labels(quote, groups), counts, consistent))
    return found


def _frame_name(line: Line, groups: Sequence[Group], taken: Sequence[str]) -> str:
    """The name of the statistic, for one of several tables with those of its groups, and a number where that is taken."""
    own = [group.column for group in groups] if len(line.tables) > 1 else []
    name = "_".join([line.statistic.name, *own])
    times = sum(other == name or other.startswith(f"{name}.") for other in taken)
    return f"{name}.{times + 1}" if times else name


def _frame_labels(quote: Quote, groups: Sequence[Group]) -> list[LabelColumn]:
    """The label columns of a frame: the groups of the request, then its own, no two of one name."""
    facts = quote.plan.facts
    named: dict[str, tuple[Label, ...]] = {}
    for column in group_columns(quote):
        named[_free(column.name, named)] = column.labels
    for group in groups:
        named[_free(group.column, named)] = group_labels(group, facts)
    return label_columns(named.items())


def _free(name: str, taken: Container[str]) -> str:
    """A column may be called like the counts, or be grouped and cut into bins at once: it then needs another name."""
    while name in _COUNT_COLUMNS or name in taken:
        name += "_group"
    return name


def _agreed(quote: Quote, line: Line, noisy: Noisy) -> list[NDArray[np.float64] | None]:
    """The tables as the least-squares estimate makes them agree; None where rows may be in some tables and not in others."""
    facts = quote.plan.facts
    groupings = tables_of(line.statistic)
    if not all(is_complete(group, facts) for grouping in groupings for group in grouping):
        return [None] * len(groupings)
    axes = list(dict.fromkeys(group for grouping in groupings for group in grouping))
    margins = []
    for position, grouping in zip(line.tables, groupings, strict=True):
        query = quote.measured[position].query
        shape = query.sizes if isinstance(query, TableCounts) else ()
        values = np.asarray(noisy[position], dtype=np.float64).reshape(shape)
        # Next to no noise has a variance of 0 as a double.
        variance = max(quote.measured[position].law.variance(), _LEAST_VARIANCE)
        margins.append(Margin(tuple(map(axes.index, grouping)), values, variance))
    every = facts.rows if counts_every_row(quote.plan) else None
    return [found.ravel() for found in reconcile(margins, n=every)]


def _estimate(quote: Quote, line: Line, noisy: Noisy, cells: slice) -> Estimate:
    counts = _counts(quote, line, noisy, cells)
    kind = line.statistic.kind
    if isinstance(kind, Count):
        return count_estimate(*counts)
    if isinstance(kind, Share):
        return share_estimate(counts, _all_rows(quote, line, noisy))
    sums = _part(quote, line.total, line.level, noisy, cells)
    if isinstance(kind, Sum):
        half = _every(sum_half_widths(quote.measured, line), cells)
        return sum_estimate(sums[0], counts[0], half, unit=line.unit, origin=line.origin)
    if isinstance(kind, Mean):
        return mean_estimate(*sums, *counts, unit=line.unit, origin=line.origin, bounds=_bounds(quote, line))
    if not isinstance(kind, Variance | Std):
        raise InternalError(f"statistic '{line.statistic.name}' has no estimate")
    variance = _variance(quote, line, noisy, cells, counts)
    return root_estimate(variance) if isinstance(kind, Std) else variance


def _variance(quote: Quote, line: Line, noisy: Noisy, cells: slice, counts: tuple[NDArray[Any], NDArray[Any]]) -> Estimate:
    one = None if line.squares is None else quote.measured[line.squares].query
    if isinstance(one, Dispersion) and line.squares is not None:
        spread = _part(quote, line.squares, line.level, noisy, cells)
        return dispersion_estimate(spread, coarse=one.coarse, rows=one.rows, width=one.width, unit=line.unit)
    if line.total is None or line.squares is None:
        nothing = np.zeros(len(counts[0]), dtype=np.float64)  # the bounds are equal: nothing varies
        return Estimate(nothing, nothing, nothing)
    if not isinstance(one, Squares):
        raise InternalError("a variance needs a sum of squares")
    sums, squares = (_part(quote, part, line.level, noisy, cells) for part in (line.total, line.squares))
    total = quote.measured[line.total].query
    if not isinstance(total, WeightedSum):
        raise InternalError("a variance needs a sum")
    return variance_estimate(sums, squares, counts, shift=one.shift, unit=line.unit, reach=total.reach())


def _quantiles(quote: Quote, line: Line, noisy: Noisy, cells: int) -> list[Estimate]:
    """Codes of the quantiles turned into values of the grid; 64-bit integers where all of the grid are, else doubles."""
    low = _lowest_code(quote, line)
    return [_values(quote, line, low, found) for found in _quantile_codes(quote, line, noisy, cells)]


def _lowest_code(quote: Quote, line: Line) -> int:
    for position in (line.tree, line.choice):
        query = None if position is None else quote.measured[position].query
        if isinstance(query, LevelCounts | QuantileCodes):
            return query.low
    raise InternalError("quantiles need a tree or a choice")


def _quantile_codes(quote: Quote, line: Line, noisy: Noisy, cells: int) -> list[Estimate]:
    """The chosen codes with the intervals of the tree, widened to hold them; all from the tree where none are chosen."""
    if line.choice is None:
        return _tree_codes(quote, line, noisy, cells)
    query = quote.measured[line.choice].query
    if not isinstance(query, QuantileCodes):
        raise InternalError("quantiles are chosen by another query")
    chosen = noisy[line.choice].reshape(cells, len(query.at)).T
    values = [chosen[query.at.index(q)] for q in levels_of(line.statistic.kind)]
    if line.tree is None:
        return [Estimate(value, np.zeros_like(value), np.full_like(value, query.size - 1)) for value in values]
    ends = _tree_codes(quote, line, noisy, cells)
    return [
        Estimate(value, np.minimum(one.low, value), np.maximum(one.high, value))
        for value, one in zip(values, ends, strict=True)
    ]


def _tree_codes(quote: Quote, line: Line, noisy: Noisy, cells: int) -> list[Estimate]:
    one = quote.measured[line.tree] if line.tree is not None else None
    if one is None or not isinstance(one.query, LevelCounts):
        raise InternalError("quantiles need a tree")
    sizes = [cells * width for width in one.query.widths()]
    levels = [part.reshape(cells, -1) for part in np.split(noisy[line.tree or 0], np.cumsum(sizes)[:-1])]
    totals = None if line.count is None else _counts(quote, line, noisy, slice(0, cells))[0]
    at = levels_of(line.statistic.kind)
    return quantile_estimates(one.query.tree, levels, law_of_cell(one.law), at, level=line.level, totals=totals)


def _values(quote: Quote, line: Line, low: int, codes: Estimate) -> Estimate:
    column = quote.plan.schema[str(line.statistic.column)]
    if not isinstance(column, Number):
        raise InternalError(f"column '{line.statistic.column}' has no numbers")
    whole = column.lower.denominator == column.step.denominator == 1 and -_LARGEST <= column.lower <= column.upper < _LARGEST

    def values(part: NDArray[Any]) -> NDArray[Any]:
        least = int(part.min())
        if int(part.max()) - least < len(part):  # one value for each code is less work than to sort
            distinct, place = np.arange(least, int(part.max()) + 1), part - least
        else:
            distinct, place = np.unique(part, return_inverse=True)
        exact = [column.value(low + int(code)) for code in distinct]
        shown = np.array([int(value) for value in exact] if whole else [float(value) for value in exact])
        return np.asarray(shown[place])

    return Estimate(values(codes.value), values(codes.low), values(codes.high))


def _bounds(quote: Quote, line: Line) -> tuple[Fraction, Fraction]:
    facts = quote.plan.facts[str(line.statistic.column)]
    if not isinstance(facts, NumberFacts) or not isinstance(facts.column, Number):
        raise InternalError(f"column '{line.statistic.column}' has no mean")
    return facts.column.value(facts.low), facts.column.value(facts.high)


def _counts(quote: Quote, line: Line, noisy: Noisy, cells: slice) -> tuple[NDArray[Any], NDArray[Any]]:
    """The counts of the cells, public or noisy, with their half-widths."""
    if isinstance(line.count, PublicCells):
        return line.count.counts()[cells], _every(0, cells)
    if isinstance(line.count, PublicCount):
        return np.full(cells.stop - cells.start, line.count.rows, dtype=np.int64), _every(0, cells)
    return _part(quote, line.count, line.level, noisy, cells)


def _part(quote: Quote, part: int | None, level: Fraction, noisy: Noisy, cells: slice) -> tuple[NDArray[Any], NDArray[Any]]:
    """The noisy answers of a measured query with their half-widths; 0 for none."""
    if part is None:
        return np.zeros(cells.stop - cells.start, dtype=np.int64), _every(0, cells)
    return noisy[part][cells], _every(quote.measured[part].law.half_widths(level), cells)


def _all_rows(quote: Quote, line: Line, noisy: Noisy) -> tuple[NDArray[Any] | int, NDArray[Any] | int]:
    """The number of rows of all groups, public or the sum of the noisy counts, with its half-width."""
    if line.every is not None:
        return line.every, 0
    if not isinstance(line.count, int):
        every = slice(0, quote.plan.layout.cells)
        return np.asarray(int(_counts(quote, line, noisy, every)[0].sum())), 0
    counts, law = noisy[line.count], law_of_cell(quote.measured[line.count].law)
    return np.asarray(_sum(counts), dtype=np.object_), half_width_of_sum(law, len(counts), line.level)


def _sum(values: NDArray[Any]) -> int:
    """The exact sum of integers; of 64-bit ones a part at a time, so that no part can overflow."""
    if values.dtype == np.object_:
        return int(values.sum())
    largest = max(int(values.max(initial=0)), -int(values.min(initial=0)), 1)
    part = max(1, 2**62 // largest)
    return sum(int(values[start : start + part].sum()) for start in range(0, len(values), part))


def _every(width: int | NDArray[Any], cells: slice) -> NDArray[Any]:
    """The half-width of each of some cells, of one for all or one for each, in integers that cannot overflow."""
    widths = np.asarray(width)
    if widths.dtype != np.object_ and int(widths.max(initial=0)) >= 2**62:
        widths = widths.astype(np.object_)
    found: NDArray[Any] = np.broadcast_to(widths[cells] if widths.ndim else widths, (cells.stop - cells.start,))
    return found


def group_columns(quote: Quote) -> list[LabelColumn]:
    """The group columns of the release, in schema order: its rows are every cell of the public domain."""
    names = (group.column for group in quote.plan.group_by)
    return label_columns(zip(names, quote.plan.layout.labels, strict=True))
