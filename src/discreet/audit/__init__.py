"""The library attacking itself: lower bounds of what a request leaks, from a great many runs of the code that answers.

`audit` makes worst-case neighbouring data sets, runs resampling, queries and noise as they are (engine and ledger are
left out: they add no randomness), and compares what it can distinguish with the claimed profile. See docs/audit.md.

* `attack`: One attack: two data sets, a great many runs of the kernel, an event chosen on one half and counted on the
  other
* `auditing`: The audit of a quote: every pair of data sets is attacked, and the result is compared with the claim
* `bounds`: Bounds of Clopper and Pearson, and the event that gives the largest difference of two data sets
* `canaries`: Canaries: rows whose copies and imputed values are counted after imputing, copying, sampling and filling
* `checks`: Whether what is drawn has the law that was declared: probabilities of events, held against what they
  should be
* `choice_law`: The law of chosen quantiles from its definition, for a few codes: what the choices of a kernel are
  held against
* `choices`: Tables in which one record changes the choice of quantiles the most: the heaps of `heaps`, made of rows
  of the plan
* `choosing`: Runs of choices of quantiles, one by one and jointly: what their outputs tell of two tables
* `claims`: The claim of a quote: the profile δ(ε) of the declared mechanism, for one person of the original data
* `distances`: How far apart answers are, in the measure of their noise, and the pairs that are the furthest
* `draws`: The kernel under test, run a great many times: many runs are one call, for as many copies of the cells of a
  request
* `engines`: The suite that tries an engine: the same rows through it and through the reference
* `fitting`: A table that has the published totals, found by integer programming; whether it has them is checked
  exactly afterwards
* `heaps`: The numbers of records at each code for which one record more changes the choice of quantiles the most
* `interval_law`: The law of chosen intervals from its definition, for a few codes
* `pairs`: Data sets to tell apart: neighbours, or semi-adjacent tables under exact totals, whose answers lie far
  apart
* `persons`: Tables of persons to distinguish: one without and one with all rows of a canary
* `statistics`: One number for each output, large where the first data set is the more likely one
* `tables`: Tiny tables: rows of codes with multiplicities, their cubes, and rows worth trying
"""

from discreet.audit.auditing import Attack, Audit, Point, audit, audit_quote
from discreet.audit.checks import Check
from discreet.audit.draws import Kernel

__all__ = ["Attack", "Audit", "Check", "Kernel", "Point", "audit", "audit_quote"]
