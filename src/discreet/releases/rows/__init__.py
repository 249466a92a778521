"""Rows that are fitted to what a release has published: post-processing of its document, nothing charged.

* `ahead`: Looking ahead: which levels of a column leave a level for every column that comes after it
* `approximate`: About how far a number that is computed from rows may be off
* `axes`: The columns of a document as axes, and what is drawn at once
* `chosen`: Lists that nobody stated, but facts demand
* `compared`: How rows compare with the tables that they were fitted to
* `division`: Whole numbers near wanted ones: within ranges, with given sums, inside exact totals
* `exchanges`: Exchanges of levels between rows, with which every list stands
* `facts`: What a document says exactly, as facts about the axes of rows
* `files`: Rows as a file with the words for its columns
* `fit`: Rows by sweeps of draws and exchanges with integer weights, the same on every machine
* `frame`: Rows as a frame, with the types of the document's columns
* `households`: Persons in households: rows of two releases, in which every household has as many persons as it says
* `joined`: Rows that have exact lists: one list after the other, matched where they overlap
* `labels`: Columns of one file as axes: what rows of two releases have in common
* `law`: The law of a draw: whole weights that fall exponentially with the costs
* `layout`: Where the cells of all tables lie in memory
* `model`: Everything that rows are fitted to, in integers
* `published`: The tables of a document in whole numbers, and how much they count
* `result`: The rows of a release, how they compare with its tables, and what its tables do not say
* `scaled`: Another number of rows with the same shares
* `simulated`: A document as it would be if its rows were the data and their noise had been drawn again
* `sizes`: Sizes of households: the ranges that a column says, and each size
* `start`: Where the sweeps start: all exact lists, no row in an empty cell
* `sums`: Numbers of rows with which rows can have given sums, such as sizes of households
* `targets`: What a document says of rows, put together
* `values`: Numbers and dates inside the ranges that rows have drawn
* `words`: The words of the generator: raw bits of a counter, keyed with the digest of a release
"""

from __future__ import annotations

from discreet.releases.rows.households import Households, fit_households
from discreet.releases.rows.result import Rows, fit_rows

__all__ = ["Households", "Rows", "fit_households", "fit_rows"]
