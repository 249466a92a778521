"""From cubes to a document: noisy answers, estimates, frames, files and other looks at them.

* `_solvers`: Least squares and controlled rounding where totals overlap, so that no closed form is known
* `areas`: Releases of areas of all levels in files: counted, measured and put together some areas at a time
* `assemble`: From noisy integers to the statistics of a request with their intervals: a pure function of public
  numbers
* `choosing`: Bounds of a clamp that are chosen from public or released numbers: what `dp.choose_clamp` reads them from
* `choosing_bounds`: The bound on groups that is chosen from public or released numbers: what `dp.choose_bound` reads
* `consistent`: Noisy counts made a table of non-negative integers that has the published totals exactly
* `described`: The files that a document describes: of its table, of further frames and of measured numbers
* `derived`: Derived numbers: ratios, changes and means of what releases publish, with certified intervals
* `deviations`: How far whole numbers of areas are from the unbiased counts: what a view changes, and where
* `dividing`: Whole numbers of rows for areas of one level: each wider area divided among the areas in it
* `document`: The result: numbers with error bars, the guarantee, and all that a third party needs to check both
* `domains`: What can be in a row, as a document of measured tables says it: public maps and rules
* `evaluate`: A quote carried out on its cubes: exact integers, then noisy integers
* `exports`: A release in the formats of others: what readers, offices and portals open
* `files`: A table that is too large for one document: Parquet files of a limited number of rows each, and their
  digests
* `fitting`: Whole numbers of the cells of one finest table and its sums: near all estimates together, then rounded
* `frames`: The frames that a release document holds, and what their files are called
* `guarantee`: The promise of a release to each person, in a document and in words
* `hypotheses`: Tests of hypotheses on released numbers, with p-values that are valid with noise and for every number of
  rows
* `keys`: Groups that nobody listed, found in the texts of a table
* `labelled`: A release in words: its texts in one language, and the labels of its columns, categories and numbers
* `labels`: The label columns of a table over all combinations of groups: any rows of them, and never all
* `live_cells`: The cells of several tables in which somebody can be, side by side
* `measured`: The measured integers of tables that agree, and the tables recomputed from them alone
* `measured_areas`: The measured integers of agreeing areas, and the tables of all levels recomputed from them alone
* `read_tables`: The measured integers of tables that agree, read from a document
* `recomputed`: What readers recompute agreeing numbers with: the laws of noises and the places of rows
* `nearest`: The nearest tables of real numbers that are not negative and have given sums
* `notes`: Notes on derived numbers that a reader has to know, in the words of documents; pages have them by their keys
* `plot`: The numbers of a release as bars with their intervals
* `possible`: Numbers as views show them: intervals within what is possible, and no number where everything is
  possible
* `rehearsal`: The release of a quote as if nothing were in it, to see before the charge what a reader can do with it
* `payload`: The bytes of a document: read as JSON, and written in the canonical form, with errors that say what is wrong
* `publish`: A quote carried out on its cubes and written down as a release: the last step before the ledger commits
  it
* `quality`: The reliability of numbers: a class for every number of a release, from its interval and what is public about
  it
* `rows`: Rows that are fitted to what a release has published: post-processing of its document, nothing charged
* `seen`: The cells of a table that a reader sees, and the public sums that a view of them keeps
* `tabled`: Tables as a document holds them: labels and numbers of the rows that are printed, and their public sums
* `transport`: Whole tables with given sums: the nearest ones that are not negative, rounded by an integral flow
* `whole_files`: Whole numbers of a release of areas in files, in files of their own
* `whole_areas`: Whole numbers of rows in the areas of all levels, which add up: a biased view
* `worded`: A document as people see it: labels in the place of categories, classes next to numbers, suppressed values
  left out
* `within_ranges`: Noisy counts made non-negative integers whose sums lie in public ranges
* `views`: Other looks at a release: computed from the published document alone, at no charge, and labelled as what
  they are
"""
