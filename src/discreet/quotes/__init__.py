"""The cost of a plan before anything is read: queries, shares, sensitivities, noise, expected errors.

* `advertised`: What the noise of a quote would be advertised as if nobody counted the exact totals beside it
* `allocate`: From a plan and a spend to a quote: which queries are asked, how the spend is divided, which noise each
  one gets
* `assumptions`: What is assumed of a column before anything is spent: shares and means, each a number or a range of
  numbers
* `attributes`: The part of its spend that a release costs somebody of whom one attribute changes
* `best_bounds`: The bound on groups whose noise and loss together have the least bound, of numbers of groups of persons
* `bounds`: What a bound on groups leaves out, from public or released numbers of how many groups persons are in
* `certainty`: The certainty of each noisy part with which an interval, or all intervals of a release, hold with probability
  `LEVEL`
* `choices`: Which of several noises a request gets, where a guarantee allows several
* `clamps`: The clamp with the least bound of the whole error, from public or released counts of where values lie
* `areas`: The effects of trees of areas in a request: what one row does to all of them together, and their shares
* `effects`: The effects of a request: what one row does to all of them together, and their parts of the spend
* `groups`: The sizes of groups that errors are stated for: the sizes in the plan where they are public, else a few round
  ones
* `keys`: What finding groups costs: the division of a spend among rounds and answers, and the thresholds
* `large`: Quotes of large releases: what does not fit into files is refused before it is spent
* `lattice`: From a request and the totals to the structure of its row counts; see `structure`
* `moved`: What the steps of a plan do to the numbers of a column: public facts, from the plan alone
* `off`: How far a statistic of the prepared table is from the same of the table as recorded, if something is assumed
* `one_row`: The one row that differs between compared tables: what it does to each query, and all of them beside exact
  totals
* `persons`: One person as the difference of two tables: the change of totals over persons, and the weights that fit a
  guarantee
* `primitives`: From statistics to the primitive integer queries behind them: the facts that recipes use, and the weights
* `public_ranges`: The published ranges of the counts of a request
* `public_sums`: The public facts about the counts of a request: sums of cells that are known exactly, and upper bounds
* `quote`: The cost of a request and its expected errors, in values and in words
* `row_numbers`: The n of a resize, where the number of rows is private: from a range of it that is public or released
* `sampling`: The accuracy that a sample of rows costs, in words
* `space`: The sensitivity space of a request with exact totals: how far its answers move between semi-adjacent tables
* `spend_for_errors`: The smallest spend that meets the requested errors
* `statuses`: The cost of the queries of a request together, where what a row does to a column is told apart by its nulls
* `table_sums`: The sums of cells of a table that are public: cells in which nobody can be, and what totals say of others
* `table_errors`: Errors of some tables that are met while the variances of others are the least
* `vectors`: By how much the vectors of compared tables differ, where a vector counts by its largest number
* `view`: The columns of the totals in a request: the group of each of their levels, and the rows that are excluded
* `wider_lattice`: A lattice that some of the totals leave, where all of them together leave none that has a sampler
* `whole`: The whole error of prepared numbers against the table as recorded, before anything is spent
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.quotes.quote import Quote

__all__ = ["Quote"]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"quote": __all__})  # loaded when they are first used
