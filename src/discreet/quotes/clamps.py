"""The clamp with the least bound of the whole error, from public or released counts of where values lie.

Proof: O7 of docs/proofs/original.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from discreet.domain.columns import Number
from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.domain.words import one_line
from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, decimal_text, exact, float_up, text
from discreet.plan.table import Table
from discreet.privacy.coordinates import Budget
from discreet.quotes.allocate import quote
from discreet.quotes.assumptions import Given, Range, range_words, read_range
from discreet.quotes.whole import noise_of
from discreet.statistics.means import mean
from discreet.statistics.recipe import GroupSize

__all__ = ["Bin", "ClampChoice", "Spread", "best_clamp", "spread_of_bins", "spread_of_quantiles"]

_MOST_BINS = 2_000
_MOST_ROWS = Fraction(10**15)
_COLUMN = "values"


@dataclass(frozen=True, slots=True)
class Bin:
    """Values from `low` to `high`, both on the grid, and how many of them there are: the least and the most."""

    low: Fraction
    high: Fraction
    count: Range


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the known values of a column lie: ascending bins that hold all of them.

    Args:
        column: the column.
        bins: the bins.
        rows: how many values there are, at least.
    """

    column: Number
    bins: tuple[Bin, ...]
    rows: int

    @property
    def edges(self) -> tuple[Fraction, ...]:
        """All ends of bins, and the bounds of the column: the clamps that are tried."""
        ends = {end for one in self.bins for end in (one.low, one.high)}
        return tuple(sorted(ends | {self.column.lower, self.column.upper}))

    def cut_above(self, high: Fraction) -> Fraction:
        """Σ(x − high) over the values above, at most: every value of a bin is at its upper end."""
        return sum((one.count[1] * (one.high - high) for one in self.bins if one.high > high), Fraction(0))

    def cut_below(self, low: Fraction) -> Fraction:
        """Σ(low − x) over the values below, at most."""
        return sum((one.count[1] * (low - one.low) for one in self.bins if one.low < low), Fraction(0))


@dataclass(frozen=True, slots=True)
class ClampChoice:
    """A clamp, and the bound of the whole error for which it was chosen.

    Args:
        low: the lower bound.
        high: the upper bound.
        rows: the number of values, at least.
        noise: how far noise moves a mean with this clamp, at most: the half-width that its quote states, but in few rows.
        off: by how much the clamp moves the mean, at most: at both ends together, as if they did not make up for each other.
        cut: how many values the clamp may cut off at an end before it is too narrow: the half-width of the noise of a sum
            for each unit of the range.
    """

    low: Fraction
    high: Fraction
    rows: int
    noise: float
    off: float
    cut: float

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The clamp as `Table.clamp` takes it."""
        return self.low, self.high

    @property
    def whole(self) -> float:
        """Noise and what the clamp moves the mean by: no clamp has a smaller bound, but for the rounding of noise."""
        return self.noise + self.off

    def __repr__(self) -> str:
        return one_line("ClampChoice:", f"{text(self.low)} to {text(self.high)};", f"mean ±{self.whole:.4g}")

    def __str__(self) -> str:
        """The choice in words."""
        lines = (
            f"clamp to {decimal_text(self.low)} … {decimal_text(self.high)}",
            f"  whole error of a mean of {self.rows:,} values against the unclamped one, at most: ±{self.whole:.6g}",
            f"  = noise {self.noise:.6g} + {self.off:.6g} off",
            f"  to narrow an end pays as long as at most {self.cut:.3g} values are cut off there, of however many",
        )
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """The choice as JSON values."""
        return {
            "clamp": [text(self.low), text(self.high)],
            "rows": self.rows,
            "noise": self.noise,
            "off": self.off,
            "whole": self.whole,
            "cut": self.cut,
        }


def spread_of_bins(column: Number, counts: Mapping[tuple[Amount, Amount], Given]) -> Spread:
    """Where values lie, from counts by bins: each a number, or the least and the most.

    Raises:
        ArgumentError: bins that are not pairs, reversed, outside the column, overlap or leave a gap; counts below 0.
    """
    bins = []
    for ends, count in counts.items():
        if not isinstance(ends, tuple | list) or len(ends) != 2:
            raise ArgumentError(f"histogram[{printed(ends)}]: must be a pair (low, high) of the ends of a bin")
        low, high = (exact(end, "histogram: an end") for end in ends)
        if not column.lower <= low <= high <= column.upper:
            bounds = range_words((column.lower, column.upper))
            raise ArgumentError(f"histogram[{text(low)}, {text(high)}]: must be within the column's bounds, {bounds}")
        bins.append(Bin(low, high, read_range(count, f"histogram[{text(low)}, {text(high)}]", (Fraction(0), _MOST_ROWS))))
    return make_spread(column, sorted(bins, key=lambda one: (one.low, one.high)))


def spread_of_quantiles(column: Number, quantiles: Mapping[Amount, Amount], rows: int) -> Spread:
    """Where values lie, from quantiles: of `rows` values at most the share 1 − q is above the q-quantile, and q below it.

    Raises:
        ArgumentError: an order outside [0, 1], values outside the column or that fall as the order grows.
    """
    known = {Fraction(0): column.lower, Fraction(1): column.upper}
    for order, value in quantiles.items():
        q = exact(order, "quantiles: an order")
        if not 0 <= q <= 1:
            raise ArgumentError(f"quantiles[{text(q)}]: the order must be from 0 to 1")
        known[q] = exact(value, f"quantiles[{text(q)}]")
    points = sorted(known.items())
    if any(not column.lower <= low <= high <= column.upper for (_, low), (_, high) in pairwise(points)):
        raise ArgumentError("quantiles: their values must be within the bounds of the column and not fall as orders grow")
    bins = [Bin(low, high, (rows * (b - a), rows * (b - a))) for (a, low), (b, high) in pairwise(points)]
    return make_spread(column, bins)


def make_spread(column: Number, bins: Sequence[Bin]) -> Spread:
    """Where values lie, of ascending bins.

    Raises:
        ArgumentError: they do not hold all values of the column once, or there are too many.
    """
    if not bins or len(bins) > _MOST_BINS:
        raise ArgumentError(f"histogram: has {len(bins)} bins; give 1 to {_MOST_BINS}, which hold all values of the column")
    gaps = any(second.low > first.high + column.step or second.low < first.high for first, second in pairwise(bins))
    if gaps or bins[0].low > column.lower or bins[-1].high < column.upper:
        bounds = range_words((column.lower, column.upper))
        raise ArgumentError(f"histogram: its bins must hold each value from {bounds} once; mend gaps, overlaps and ends")
    rows = int(sum(one.count[0] for one in bins))
    if rows < 1:
        raise ArgumentError("histogram: may hold no value at all; nothing follows from it")
    return Spread(column, tuple(bins), rows)


def best_clamp(spread: Spread, spend: Budget, neighbours: Neighbours) -> ClampChoice:
    """The clamp at edges of bins with the least bound for a mean, of noise and of what it cuts off; the wider one of two.

    The noise is in proportion to the range of the clamp, up to its rounding to the grid. So it is found for the whole range,
    and stated for the chosen clamp.

    Raises:
        PlanError: as `quote`.
    """
    whole = (spread.column.lower, spread.column.upper)
    edges = [edge for edge in spread.edges if ((edge - whole[0]) / spread.column.step).denominator == 1]
    width = float(whole[1] - whole[0])
    per_unit = _noise(spread, whole, spend, neighbours) * spread.rows / width if width else 0.0
    low, high = _least(spread, edges, per_unit)
    off = float_up((spread.cut_above(high) + spread.cut_below(low)) / spread.rows)
    return ClampChoice(low, high, spread.rows, _noise(spread, (low, high), spend, neighbours), off, per_unit)


def _least(spread: Spread, edges: Sequence[Fraction], per_unit: float) -> Range:
    """The pair of edges with the least bound: what may be cut off, and the noise of the range."""
    places = np.array([float(edge) for edge in edges])
    most = np.array([float(one.count[1]) for one in spread.bins])
    above = np.maximum(np.array([float(one.high) for one in spread.bins]) - places[:, None], 0) @ most
    below = np.maximum(places[:, None] - np.array([float(one.low) for one in spread.bins]), 0) @ most
    ranges = places[None, :] - places[:, None]
    bound = np.where(ranges < 0, np.inf, above[None, :] + below[:, None] + per_unit * ranges)
    widest = np.where(bound <= bound.min() * (1 + 1e-12), ranges, -1.0).argmax()
    low, high = np.unravel_index(widest, ranges.shape)
    return edges[int(low)], edges[int(high)]


def _noise(spread: Spread, bounds: Range, spend: Budget, neighbours: Neighbours) -> float:
    """How far noise moves a mean with this clamp, at most; 0 where the clamp leaves one value."""
    if bounds[0] == bounds[1]:
        return 0.0
    table = Table(Schema(**{_COLUMN: spread.column}), neighbours).clamp({_COLUMN: bounds})
    asked = mean(_COLUMN, nulls="skip")
    quoted = quote(table.agg(asked), spend)
    return noise_of(quoted, quoted.lines[0], GroupSize(spread.rows, spread.rows), drawn=False)
