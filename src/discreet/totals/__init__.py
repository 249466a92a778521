"""Exact totals with private statistics (semi-differential privacy): what is published exactly, and the compared tables.

`description` says which totals are exact, `totals` holds their published values, `adjacency` computes the semi-adjacency
parameter a(t) from schema and published totals alone. Statements and proofs: docs/proofs/semi-adjacency.md.

* `exact_totals`: The exact totals of a data set as requests see them: which cells can hold a record, which sums are public
* `attributes`: The changes of one attribute alone, or of an area within a larger one: which rows and columns exact totals
  tie to them
* `cells`: The levels of the columns of an invariant, and the cells of their joint domain
* `checking`: Checks that invariants fit a schema and its neighbours, before anything is opened
* `classes`: Classes of cells: what the published sums do not tell apart, and what they settle
* `components`: The invariants taken apart: components that share no column, their possible cells, and what their sums
  tell apart
* `contradictions`: Published totals that cannot all be true
* `disclosure`: The disclosures of the published totals: what they say about single rows, and whether they leave anything
  to protect
* `enumerate`: The differences of tables with equal sums, one by one, for small domains
* `general`: Bounds on a(t) for one component whose sums do not settle every class: overlapping margins, zeros inside
  tables, weights
* `given`: Totals as a caller writes them: {"state": {"Alabama": 12, ...}, ("state", "county"): {("Alabama",
  "Autauga"): 3, ...}}
* `graver`: The Graver basis of a small integer matrix: the exchanges out of which all differences of equal totals are
  made
* `known_counts`: The classes of cells whose rows follow from totals together with the counts that published ranges leave as
  they are
* `laminar`: Ranges for the rows of sets of cells that are pairwise nested or disjoint: the tree of the sets, and what
  follows
* `magnitude_cells`: The coefficients of an exact sum of a number column: its values, for all rows or for those of each
  group
* `magnitudes`: The semi-adjacency of exact sums of a magnitude: the total of age, over all rows or within the groups of a
  partition
* `overlaps`: The semi-adjacency of totals and of occupied cells that cross them, such as counties, and types of facility by
  state
* `published`: The published values of the invariants: private counts in, public numbers out, and their canonical JSON
  form
* `ranges`: The semi-adjacency of ranges of counts: rounded and suppressed totals, classes of size, public lower bounds
* `reading`: Reads columns, cells and coefficients as a caller writes them, before any schema is known
* `recovered`: Ranges that say more than they show: a suppressed count that follows from the other published numbers by
  subtraction
* `rules`: How a count becomes a published range: rounded to a base, suppressed when it is small, or by classes of size
* `statements`: The parts of a description of exact statistics: frozen values, and their canonical JSON form
* `structure`: The lattice in which two tables with equal totals differ, for the row counts of a request
* `words`: What is published exactly, and the one sentence on the tables that a guarantee compares, in words
"""
