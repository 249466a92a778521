"""Exact numbers in, directed floats out; one canonical JSON; files that stand whole or not at all.

* `axes`: Arrays whose axes have names: in another order, and summed over some of them
* `balls`: Certified real numbers: interval arithmetic (python-flint) with enclosures in, directed doubles and rationals
  out
* `cached`: Properties that are computed once for each object, without a lock that a child could find held
* `canonical`: The one JSON text of a value, its digest, and a document that holds its own
* `clock`: The clock, for people: nothing depends on what it says
* `figures`: Numbers and names as people read them: rounded so that no interval shrinks, and without invisible
  characters
* `files`: Files and folders that stand whole or not at all, durably, and the drafts in which they are made
* `gaussian_sums`: Certified sums of exp(-k²/(2s)) over integers k, for s from nearly 0 to far beyond 10^34, at the
  working precision
* `given_paths`: Paths as people give them: text that can be a path, files that can be read at once, folders that can
  be written
* `integers`: Arrays of integers that are int64 where nothing can overflow
* `lattices`: Exact linear algebra over the integers (python-flint): ranks, kernels, normal forms, solutions, products
* `names`: When two names of data sets or releases are one: a letter with an accent is written in two ways that look
  the same
* `numbers`: Exact numbers in, directed floats out
* `on_demand`: Public names that are loaded when they are first used, so that `import discreet` and every command begin
  at once
* `precision`: The working precision of interval arithmetic, set for one computation and put back
* `processes`: Which process this is, whatever ids the system gives out again, and what a forked child cannot use
* `windows`: The windows of a calendar: half-open ranges of days with names, in the order of time
"""
