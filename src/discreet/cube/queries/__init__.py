"""Primitive integer queries: what noise is added to.

Each is linear in the cube (but for `Dispersion` and those that choose, which have their own rules), one integer or several
for every cell of the release. A query is one class; `base` has the protocol that it follows. From what
a row adds the sensitivity follows without looking at any row.

* `area_effects`: Effects of tables of counts within each area of one level of a tree
* `base`: The base of every query: how far a row can change it, what it reads, how the cube answers it, what it is called
* `counts`: Counts: of rows, of rows that are not null or are null, and of rows by further groups
* `effects`: Effects of tables of counts: the interactions of exactly these groups, as whole numbers
* `originals`: Sums that tell a prepared column from the column as recorded: what a clamp cuts off, and what is imputed
* `pairs`: Sums over pairs of columns: of products, of the values or squares of one where the other is known, and of rows
* `person_spreads`: What persons count for in bins of a column and in nodes of a tree, each divided among them by her rows
* `persons`: Totals over persons in each cell, of a number of each person, with a weight that is bounded over all cells
* `products`: Sums over rows of a product of several columns, each to a power
* `ranks`: The parts of quantiles: a tree of counts over the grid of a column; codes and intervals chosen by rank
* `sums`: Sums over rows: of values, of their squares, and the squared distances of all pairs of rows
* `vector_norms`: The joint norms of the vector that a row adds to several sums: of one row, and between two rows
* `vectors`: Sums over rows of a vector: each row adds one integer to each of several sums, and its joint norm is known
* `whole_tables`: Tables of counts of which several agree once noise is in them: rows by all levels of their groups
"""

from __future__ import annotations

from discreet.cube.queries.area_effects import AreaEffects, AreaLevels
from discreet.cube.queries.base import FINE, Query, Row, scan_of
from discreet.cube.queries.counts import CountedRows, NonNullCount, NullCount, RowCount, RowCounts, TableCounts
from discreet.cube.queries.effects import EffectCounts
from discreet.cube.queries.originals import Excess, ImputedSum
from discreet.cube.queries.pairs import Factor, PairSum
from discreet.cube.queries.person_spreads import Divided, PersonBins, PersonLevels
from discreet.cube.queries.persons import PersonQuery, PersonsInFull, PersonSum, Weighed
from discreet.cube.queries.products import ProductSum
from discreet.cube.queries.ranks import LevelCounts, QuantileCodes, QuantileIntervals, around, join_public
from discreet.cube.queries.sums import Dispersion, Squares, WeightedSum
from discreet.cube.queries.vectors import Contrast, Part, VectorSum
from discreet.cube.queries.whole_tables import WholeTable

__all__ = [
    "FINE",
    "PERSON_QUERIES",
    "QUERIES",
    "AreaEffects",
    "AreaLevels",
    "Contrast",
    "CountedRows",
    "Dispersion",
    "Divided",
    "EffectCounts",
    "Excess",
    "Factor",
    "ImputedSum",
    "LevelCounts",
    "NonNullCount",
    "NullCount",
    "PairSum",
    "Part",
    "PersonBins",
    "PersonLevels",
    "PersonQuery",
    "PersonSum",
    "PersonsInFull",
    "ProductSum",
    "QuantileCodes",
    "QuantileIntervals",
    "Query",
    "Row",
    "RowCount",
    "RowCounts",
    "Squares",
    "TableCounts",
    "VectorSum",
    "Weighed",
    "WeightedSum",
    "WholeTable",
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
    VectorSum,
    EffectCounts,
    AreaEffects,
    WholeTable,
)
"""All queries of rows. The law tests go through this tuple."""

PERSON_QUERIES: tuple[type[PersonQuery], ...] = (PersonSum, PersonBins, PersonLevels, PersonsInFull)
"""All queries of persons, which have law tests of their own."""
