"""Tests of hypotheses on released numbers, with p-values that are valid with noise and for every number of rows.

All of it is a function of release documents and of public draws: no rows, no ledger, no charge. The theorems are in
docs/proofs/tests.md.

* `anova`: Analysis of variance on a release: are the means of several groups equal? From sums, counts and variances by
  group
* `bounded_means`: Equality of the means of bounded values in two groups, from noisy sums and counts, for every number of
  rows
* `coefficients`: A coefficient of a regression: is it zero in the population? From the interval of a release that is stated
  for it
* `crossed`: The table of noisy counts that a test reads in a release: its cells, the law of their noise, and the sums
  that are exact
* `differences`: The difference of two proportions: is the share of rows with a label the same in two groups? By a table
  of two by two
* `estimated_margins`: Independence where margins are noisy: the p-values of all margins that the noise leaves possible,
  and their largest
* `given_margins`: Independence beside exact margins: under the hypothesis the law of the published table is known
  completely
* `in_documents`: Tests in the document of a release: made once, with the release, and adjusted for each other
* `independence`: Independence of two columns, from released counts: beside exact margins, and where margins are noisy
* `lattices`: The noise of a table beside its exact margins, as the document states it: its law, and independent draws of
  it
* `masses`: Probabilities of counts and of weighted sums of noises in double precision, each with a bound of what it
  leaves out
* `means`: The means of a column in several groups: are they equal? From released sums and counts; assumed are bounds
  alone
* `one_margin`: The noise of a table beside the exact totals of one of its columns, as a test needs it: cells of one level
  of the other
* `one_variance`: Equal means of normal values with one variance, from noisy sums, counts and sums of squares: F where
  there is no noise
* `proportions`: One proportion: is the share of rows with some labels a given number? Of a public or a noisy number of
  rows
* `requests`: Tests that are asked for before the release is there: which one, under which name, with what
* `result`: The result of a test: a p-value that is never below the truth, with its hypothesis and what it takes for
  granted
* `search`: The smallest level at which a test with nuisance parameters rejects, by branch and bound over a noise-aware
  box of them
* `several`: Several tests together: p-values adjusted so that any of them is wrong with at most the level (Holm 1979)
* `tables`: Independent tables with given margins under independence, drawn from the random bits of the system
"""
