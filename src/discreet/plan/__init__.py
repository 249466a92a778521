"""A request on a prepared table: the table with its steps, the plan, its layout of scans and its sizes.

* `area_reading`: The reading of areas that are too many for one cube: level by level, and some areas at a time
* `covering`: Few sets of columns for many wanted ones, each with a bounded number of cells
* `families`: Columns of one family in one request: each of them is the same public function of a cell of the source, or it
  is refused
* `filled`: Imputed columns that are counted with their nulls, because their law is applied to the noisy counts
* `in_files`: Statistics whose tables have too many numbers for a document: they are written to files, area by area
* `keys`: Requests with groups that nobody listed: what is refused, and how many groups can be found
* `layout`: The scans of a request: the cubes that the engine fills for it, with their keys and sums
* `person_table`: A table with one row for each person, made of all rows of the person: its schema, and the scan that makes
  it
* `persons`: Requests on a table of persons: what is refused, and the scan that answers the others
* `plan`: A plan: schema, neighbours, steps and one request
* `recorded`: The table as recorded beside the prepared one: which statistics are computed of it, under which names
* `shown`: The groups that a release prints, a function of the plan alone
* `sizes`: The limits on the size of a release and of its cubes
* `table`: The table as a program sees it: immutable, without rows
* `together`: Several requests that count rows as one: their tables are measured together, and agree
* `used`: The part of a plan that its release depends on: the columns that it uses and the steps on them
* `worded`: The columns, categories, bins, numbers and frames that can have words in the releases of some requests
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.plan.plan import Plan

__all__ = ["Plan"]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"plan": __all__})  # loaded when they are first used
