"""The means of a column in several groups: are they equal? From released sums and counts; assumed are bounds alone."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import inf
from typing import Any

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, exact, float_up
from discreet.releases.derived.linear import Linear
from discreet.releases.derived.operands import Key, Numbers, numbers
from discreet.releases.derived.reading import bounds_of, outputs_of
from discreet.releases.document import Release
from discreet.releases.hypotheses.bounded_means import MOMENTS, Group, MeansApart
from discreet.releases.hypotheses.crossed import check_facts, check_labels, check_rows
from discreet.releases.hypotheses.independence import check_alternative
from discreet.releases.hypotheses.result import Tested, rounded_up
from discreet.releases.hypotheses.search import smallest_rejected

__all__ = ["check_deviation", "count_of_column", "group_column", "sum_line", "test_means"]

_MOST_GROUPS = 12
_SIDES = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}
_METHOD = (
    "the smallest level at which no mean and no numbers of rows that the release leaves possible explain the difference, by "
    "Chernoff's bound for values between their bounds; several pairs of groups share the level (Bonferroni)"
)


def test_means(
    release: Release,
    total: str,
    *,
    over: str | None = None,
    by: str | None = None,
    at: Mapping[str, object] | None = None,
    deviation: Amount | None = None,
    alternative: str = "two-sided",
) -> Tested:
    """Tests whether a column has one mean in all groups, with a p-value that is valid for every number of rows and noise.

    Args:
        release: sums and counts of the column, by groups.
        total: the column of sums, such as "sum_wage".
        over: the counts of the same column, such as "count_wage"; left out: the one that the release has.
        by: the group column; left out: the only one that `at` does not fix. Others are added up.
        at: only the groups with these labels.
        deviation: what is publicly known to be at least the standard deviation of the column in each population; without it
            the largest that the bounds allow counts, and the test has less power.
        alternative: "two-sided"; of two groups also "greater" or "less" for the mean of the first against the second.

    Raises:
        ArgumentError: no sums or counts of one column, noise whose law is not known here, too few or too many groups, or
            rows that are not independent.
    """
    check_alternative(alternative)
    check_rows(release)
    check_labels(at, "at")
    line = sum_line(release, total)
    column, counted = line["column"], count_of_column(release, line["column"], over)
    name = group_column(release, by, at or {})
    sums, counts = (_numbers(release, one, name, at) for one in (total, counted))
    groups = {key: Group(_linear(sums, key), _linear(counts, key)) for key in sums.cells if key != (None,)}
    _check_groups(groups, name, alternative)
    check_facts(release, [name, *(at or {})])
    bounds = bounds_of(release.document, line)
    if bounds is None:
        raise ArgumentError(f"total={printed(total)}: the bounds of {column} are not known from the release")
    known = check_deviation(deviation)
    pairs = [
        MeansApart(float(bounds[0]), float(bounds[1]), first, second, _SIDES[alternative], known)
        for first, second in combinations(groups.values(), 2)
    ]
    largest = max(pairs, key=MeansApart.estimate)
    p_value = min(1.0, len(pairs) * min(smallest_rejected(one.rejects, 0.0) for one in pairs))
    return Tested(
        test="means",
        hypothesis=f"the mean of {column}, as clamped, is the same in all groups of {name} in the population of the rows",
        alternative=alternative,
        statistic=largest.estimate(),
        statistic_words="the largest difference of two published means",
        p_value=rounded_up(p_value),
        method=_METHOD,
        assumptions=(
            *(
                [f"the standard deviation of {column} is at most {known:g} in each population"]
                if deviation is not None
                else []
            ),
            "the rows of the table are independent draws from the populations of their groups",
            f"the values of {column} are between the bounds that the release states; nothing else about their law",
        ),
        source=sums.source,
        details={"groups": len(groups), "pairs": len(pairs)},
    )


test_means.__test__ = False  # type: ignore[attr-defined]


def sum_line(release: Release, total: str) -> Mapping[str, Any]:
    """The statistic of a column of sums. Raises ArgumentError where it is not one."""
    known = outputs_of(release.document)
    if not isinstance(total, str) or total not in known or known[total]["statistic"] != "sum":
        sums = [name for name, line in known.items() if line["statistic"] == "sum"]
        raise ArgumentError(
            f"total={printed(total)}: is not a column of sums of release '{release.document['name']}' (it has "
            f"{', '.join(sums) or 'none'}); release the sum and the count of the column"
        )
    return known[total]


def count_of_column(release: Release, column: str, over: str | None) -> str:
    """The name of the counts of a column. Raises ArgumentError where there are none."""
    known = [
        name
        for name, line in outputs_of(release.document).items()
        if line["statistic"] == "count" and line["column"] == column and name == line["name"]
    ]
    if over not in known and not (over is None and known):
        raise ArgumentError(
            f"over={printed(over)}: is not a count of {column} in release '{release.document['name']}'; release "
            f'count("{column}") with its sum'
        )
    return str(over or known[0])


def group_column(release: Release, by: str | None, at: Mapping[str, object]) -> str:
    """The column of the groups. Raises ArgumentError for another one."""
    keys = [one["name"] for one in release.document["columns"][: len(release.document["plan"]["group_by"])]]
    free = [name for name in keys if name not in at]
    if by is None and len(free) == 1:
        return str(free[0])
    if not isinstance(by, str) or by not in free:
        raise ArgumentError(f"by={printed(by)}: name one group column out of {', '.join(map(printed, free)) or 'none'}")
    return by


def _numbers(release: Release, chosen: str, name: str, at: Mapping[str, object] | None) -> Numbers:
    whole = len(release.document["plan"]["group_by"]) == 1 + len(at or {})
    return numbers(release, chosen, by=None if whole else [name], at=at)


def _linear(found: Numbers, key: Key) -> Linear:
    cell = found.cells.get(key)
    if not isinstance(cell, Linear) or any(term.tied or type(term.law) not in MOMENTS for _, term in cell.terms):
        raise ArgumentError(
            f"{found}: the law of the noise of these numbers is not known to the test; release sums and counts by these "
            "groups without exact totals"
        )
    return cell


def check_deviation(deviation: Amount | None) -> float:
    """The variance is at most its square; infinite where nothing is known. Raises ArgumentError for 0 or less."""
    if deviation is None:
        return inf
    value = exact(deviation, "deviation")
    if value <= 0:
        raise ArgumentError(f"deviation={printed(deviation)}: must be above 0")
    return float_up(value)


def _check_groups(groups: Mapping[Key, Group], name: str, alternative: str) -> None:
    if not 2 <= len(groups) <= _MOST_GROUPS:
        raise ArgumentError(f"by={printed(name)}: has {len(groups)} groups; a test takes 2 to {_MOST_GROUPS}")
    if alternative != "two-sided" and len(groups) != 2:
        raise ArgumentError(f'alternative={printed(alternative)}: only two groups have a side; use "two-sided"')
