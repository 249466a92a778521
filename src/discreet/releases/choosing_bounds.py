"""The bound on groups that is chosen from public or released numbers: what `dp.choose_bound` reads them from."""

from __future__ import annotations

from discreet.errors import ArgumentError, printed
from discreet.plan.plan import Plan
from discreet.privacy.amounts import Spend, spend_of
from discreet.privacy.measures import is_budget
from discreet.quotes.best_bounds import BoundChoice, best_bound
from discreet.quotes.bounds import read_groups
from discreet.releases.document import Release

__all__ = ["choose_bound"]


def choose_bound(groups: object, request: Plan, *, spend: Spend) -> BoundChoice:
    """The bound on groups with the least bound of the mean distance between a number of persons and the released one.

    That is the noise, which grows with the bound, and what the bound leaves out, which falls (U9 of
    docs/proofs/persons.md). It takes a release, or public numbers. **Never give numbers that were read off the data.** Every
    number is taken to be at the worse end of its interval: the distance is within its bound wherever they are within theirs.

    Args:
        groups: in how many groups of the request persons are: a release of one histogram of `distinct(column, most=…)` on a
            table with one row of each person, made of the same rows; or public numbers, `{1: 800, (2, 5): (150, 170)}`.
        request: a request with `persons()` in groups, with any bound, in whose place others are tried.
        spend: what its release will cost: for a release an amount of its measure, else a measure.

    Raises:
        ArgumentError: numbers of another form, or of other groups or rows than the request; no measure.
        PlanError: the request has no persons by groups, or the spend is too little for any noise.
    """
    if isinstance(groups, Release):
        spend = spend_of(spend, groups.guarantee.measure)
    if not is_budget(spend):
        raise ArgumentError(f'spend={printed(spend)}: must be a measure here, such as dp.ZCDP("0.5")')
    return best_bound(request, spend, read_groups(groups, request))
