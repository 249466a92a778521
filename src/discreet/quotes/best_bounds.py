"""The bound on groups whose noise and loss together have the least bound, of numbers of groups of persons.

Proof: U9 of docs/proofs/persons.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.domain.bounds import MOST_GROUPS, Bound
from discreet.domain.words import one_line
from discreet.errors import PlanError
from discreet.plan.plan import Plan
from discreet.privacy.coordinates import Budget
from discreet.quotes.allocate import quote
from discreet.quotes.bounds import BoundErrors, GroupsOfPersons, bound_errors
from discreet.statistics.in_full import InFull

__all__ = ["BoundChoice", "best_bound"]

_ALL_UP_TO = 100
"""Up to so many groups every bound is tried, and beyond one in each 2 %."""


@dataclass(frozen=True, slots=True)
class BoundChoice:
    """The bound with the least `whole` error of those that were tried, and its neighbours among them.

    Args:
        best: the errors of the chosen bound.
        others: those of other bounds, ascending: half and twice as many groups, where these were tried.
    """

    best: BoundErrors
    others: tuple[BoundErrors, ...]

    @property
    def groups(self) -> int:
        """The bound as `Table.bound` takes it."""
        return self.best.groups

    def __repr__(self) -> str:
        return one_line("BoundChoice:", f"groups={self.groups};", f"mean distance {self.best.whole:.4g}")

    def __str__(self) -> str:
        """The choice in words."""
        compared = (f"  bound(groups={one.groups}) has {one.whole:.6g}" for one in self.others)
        return "\n".join([str(self.best), *compared])

    def to_json(self) -> dict[str, object]:
        """The choice as JSON values."""
        return {**self.best.to_json(), "others": [one.to_json() for one in self.others]}


def best_bound(plan: Plan, spend: Budget, groups: GroupsOfPersons) -> BoundChoice:
    """The bound whose noise and loss together have the least bound of the mean distance; the larger one of two.

    Raises:
        PlanError: as `bound_errors` and `quote`.
    """
    scan = plan.layout.persons
    if scan is None or scan.cells < 2:
        raise PlanError("choose_bound(): is about a request in groups on a table that says whose row is whose")
    most = min(groups.most, MOST_GROUPS)
    found = {tried: bound_errors(quote(_with_bound(plan, tried), spend), groups) for tried in _candidates(most)}
    best = min(found.values(), key=lambda one: (one.whole, -one.groups))
    near = [max((one for one in found if 2 * one <= best.groups), default=None)]
    near += [min((one for one in found if one >= 2 * best.groups), default=None)]
    return BoundChoice(best, tuple(found[one] for one in near if one is not None))


def _candidates(most: int) -> list[int]:
    """The bounds that are tried, ascending; more groups than anybody is in lose nothing, and have more noise."""
    found = [*range(1, min(most, _ALL_UP_TO) + 1)]
    while found[-1] < most:
        found.append(min(most, found[-1] + found[-1] // 50))
    return found


def _with_bound(plan: Plan, groups: int) -> Plan:
    """The request with another bound on groups, which may cut nobody, so that nobody is asked how many it does."""
    steps = tuple(replace(step, groups=groups) if isinstance(step, Bound) else step for step in plan.steps)
    return replace(plan, steps=steps, statistics=tuple(one for one in plan.statistics if not isinstance(one.kind, InFull)))
