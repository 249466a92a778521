"""Derived numbers: ratios, changes and means of what releases publish, with certified intervals, at no charge.

All of it is a function of release documents alone: no rows, no ledger, no randomness. The theorems are in
docs/proofs/derived.md.

* `before_sampling`: Numbers of the table before its rows were sampled, with certified intervals
* `certainty`: Intervals of a ratio and of a difference of two published numbers, at a confidence that is proved for
  both together
* `change`: The difference and the relative change from one release to another
* `combine`: The inverse-variance mean of several releases of one quantity
* `fieller`: The interval of a ratio by the law of its numerator less θ times its denominator, and over a box
* `groups`: The groups of operands, matched by their labels; missing ones are listed
* `in_documents`: Derived numbers in the document of a release: computed with it, recorded beside its numbers with
  where they come from
* `linear`: Numbers that are linear in integer noises, and certified half-widths of what is linear in them
* `operands`: The operands of a derived number: a column of a release, or public constants
* `poststratified`: Means of strata put together by the exact, public sizes of the strata
* `ratio`: The ratio of two quantities: rates, weighted means, indices, shares of shares
* `reading`: The noise behind a published number, read from the document that publishes it
* `requests`: Derived numbers that are asked for before the releases are there: which columns, of which releases, and
  how
* `result`: A table of derived numbers with their intervals, in words, as CSV and as JSON
"""
