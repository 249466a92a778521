"""The difference and the relative change from one release to another."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount
from discreet.releases.derived.certainty import check_confidence, difference_interval
from discreet.releases.derived.groups import match
from discreet.releases.derived.operands import Numbers, check_units
from discreet.releases.derived.ratio import operand, ratio_figure
from discreet.releases.derived.result import Derived, figure
from discreet.releases.document import Release
from discreet.releases.notes import OTHERWISE, RANDOM

__all__ = ["RANDOM", "change"]

_ONE = Fraction(1)


def change(before: Numbers | Release, after: Numbers | Release, *, confidence: Amount = "0.95") -> Derived:
    """For each group the difference after - before, and the relative change (after - before) / before, with intervals.

    The releases may be of one data set or of two, such as the months of a series. Where the interval of `before` holds 0 the
    relative change is unbounded, and no number is given.

    Args:
        before: the earlier numbers.
        after: the later numbers, of the same statistic of the same column.
        confidence: each interval holds the true number with at least this probability.

    Raises:
        ArgumentError: numbers of different quantities, operands that share no group, or printed intervals that do not reach
            the confidence together.
    """
    level = check_confidence(confidence)
    early, late = operand(before, "before"), operand(after, "after")
    if early.quantity.dataset and late.quantity.dataset and not _alike(early, late):
        raise ArgumentError(
            f"before, after: are the {early.quantity} and the {late.quantity}; "
            "compare one statistic of one column, in one unit"
        )
    check_units(early, late)
    if set(early.keys) != set(late.keys):
        raise ArgumentError(
            f"before, after: have the group columns {', '.join(early.keys) or 'none'} and {', '.join(late.keys) or 'none'}; "
            "add up with numbers(…, by=[…]) so that they agree"
        )
    matched = match(late, early, ("after", "before"))
    differences = tuple(
        figure(last.value - first.value, difference_interval(last, first, level)) for _, last, first in matched.pairs
    )
    relative = tuple(ratio_figure(last, first, level, less=_ONE) for _, last, first in matched.pairs)
    return Derived(
        "change",
        f"the change from {early} to {late}",
        matched.keys,
        tuple(key for key, _, _ in matched.pairs),
        (("change", differences), ("relative_change", relative)),
        level,
        (early.source, late.source),
        (matched.second_only, matched.first_only),
        _notes(early, late),
    )


def _notes(early: Numbers, late: Numbers) -> tuple[str, ...]:
    """The notes on both that a reader has to know."""
    constants = not (early.quantity.dataset and late.quantity.dataset)
    other = () if constants or early.quantity.prepared == late.quantity.prepared else (OTHERWISE,)
    return (*other, *((RANDOM,) if early.quantity.random or late.quantity.random else ()))


def _alike(early: Numbers, late: Numbers) -> bool:
    """True if both are the same output of one statistic of one column."""
    first, second = early.quantity, late.quantity
    return (first.statistic, first.column, first.output) == (second.statistic, second.column, second.output)
