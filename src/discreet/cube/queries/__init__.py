"""Primitive integer queries: what noise is added to.

Each is linear in the cube (but for `Dispersion` and those that choose, which have their own rules), one integer or several
for every cell of the release. A query is one class; `base` has the protocol that it follows. From what
a row adds the sensitivity follows without looking at any row.

* `base`: The base of every query: how far a row can change it, what it reads, how the cube answers it, what it is called
* `counts`: Counts: of rows, of rows that are not null or are null, and of rows by further groups
* `originals`: Sums that tell a prepared column from the column as recorded: what a clamp cuts off, and what is imputed
* `pairs`: Sums over pairs of columns: of products, of the values or squares of one where the other is known, and of rows
* `products`: Sums over rows of a product of several columns, each to a power
* `ranks`: The parts of quantiles: a tree of counts over the grid of a column; codes and intervals chosen by rank
* `sums`: Sums over rows: of values, of their squares, and the squared distances of all pairs of rows
"""

from __future__ import annotations

from discreet.cube.queries.base import Query, Row, scan_of
from discreet.cube.queries.counts import CountedRows, NonNullCount, NullCount, RowCount, RowCounts, TableCounts
from discreet.cube.queries.originals import Excess, ImputedSum
from discreet.cube.queries.pairs import Factor, PairSum
from discreet.cube.queries.products import ProductSum
from discreet.cube.queries.ranks import LevelCounts, QuantileCodes, QuantileIntervals, around, join_public
from discreet.cube.queries.sums import Dispersion, Squares, WeightedSum

__all__ = [
    "QUERIES",
    "CountedRows",
    "Dispersion",
    "Excess",
    "Factor",
    "ImputedSum",
    "LevelCounts",
    "NonNullCount",
    "NullCount",
    "PairSum",
    "ProductSum",
    "QuantileCodes",
    "QuantileIntervals",
    "Query",
    "Row",
    "RowCount",
    "RowCounts",
    "Squares",
    "TableCounts",
    "WeightedSum",
    "around",
    "join_public",
    "scan_of",
]

QUERIES: tuple[type[Query], ...] = (
    RowCount,
    NonNullCount,
    NullCount,
    WeightedSum,
    Squares,
    TableCounts,
    LevelCounts,
    QuantileCodes,
    QuantileIntervals,
    Dispersion,
    PairSum,
    ProductSum,
    Excess,
    ImputedSum,
)
"""All of them. The law tests go through this tuple."""
