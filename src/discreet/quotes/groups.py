"""The sizes of groups that errors are stated for: the sizes in the plan where they are public, else a few round ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ArgumentError, printed
from discreet.exact.figures import number
from discreet.plan.shown import count_shown
from discreet.statistics.recipe import GroupSize

if TYPE_CHECKING:
    from discreet.plan.plan import Plan

__all__ = ["Expect", "check_expect", "middle", "percentile_words", "size_words", "sizes_of"]

_ROUND = (10, 100, 1_000, 10_000)
_MOST_ROWS = 10**15

Expect = int | Sequence[int] | None
"""The number of rows that a group is expected to have, or that each of several has, from public knowledge.

Only rows in which the column of the statistic is not null count, because only these are in its divisor.
"""


def check_expect(expect: Expect) -> tuple[int, ...]:
    """The expected sizes of groups, ascending, each once; none for None.

    Raises:
        ArgumentError: not a whole number from 1 to 1e15, or a list of such.
    """
    if expect is None:
        return ()
    given = [expect] if isinstance(expect, int) else expect
    if isinstance(given, str | bytes) or not isinstance(given, Sequence) or not given:
        raise ArgumentError(f"expect={printed(expect)}: must be the rows of a group, such as 150, or a list of such numbers")
    for rows in given:
        if type(rows) is not int or not 1 <= rows <= _MOST_ROWS:
            raise ArgumentError(f"expect={printed(rows)}: must be a whole number of rows from 1 to 1e15")
    return tuple(sorted(set(given)))


def sizes_of(plan: Plan, expect: Sequence[int] = ()) -> tuple[GroupSize, ...]:
    """The sizes that errors are stated for, ascending: of several expected ones the least, the middle and the greatest.

    Where n is public and nothing is expected it is n over the number of groups that are printed, and else 10, 100, 1,000 and
    10,000 rows.
    Where n is private, nothing is known of other groups than the expected one, so they are taken to be empty: then a share
    has the smallest divisor. A round size is stated for a table whose groups all have it.
    """
    every = plan.facts.rows
    groups = 1 if expect else max(1, count_shown(plan))
    if expect:
        chosen = sorted({expect[0], expect[len(expect) // 2], expect[-1]})
    else:
        chosen = list(_ROUND) if every is None else [max(1, every // groups)]
    return tuple(GroupSize(rows, max(rows, rows * groups if every is None else every)) for rows in chosen)


def middle(sizes: Sequence[GroupSize]) -> GroupSize:
    """The size in the middle, the greater one of two."""
    return sizes[len(sizes) // 2]


def size_words(sizes: Sequence[GroupSize]) -> str:
    """The text "in a group of 10 / 100 rows"."""
    shown = " / ".join(number(size.rows) for size in sizes)
    return f"in a group of {shown} {'row' if shown == '1' else 'rows'}"


def percentile_words(orders: Sequence[Fraction], errors: Sequence[float], sizes: Sequence[GroupSize]) -> str:
    """The errors of ranks in groups of these sizes as percentiles of a median, or as percentage points; "" for no orders.

    "; between the 44th and the 56th percentile in a group of 100 rows".
    """
    if not orders:
        return ""
    points = [min(100 * error / size.rows, 100.0) for error, size in zip(errors, sizes, strict=True)]
    if len(orders) > 1:
        return f"; ±{' / '.join(f'{one:.3g}' for one in points)} percentage points {size_words(sizes)}"
    (middle_one,) = (100 * float(q) for q in orders)
    ends = [(max(middle_one - one, 0.0), min(middle_one + one, 100.0)) for one in points]
    if len(ends) == 1:
        return f"; between the {_ordinal(ends[0][0])} and the {_ordinal(ends[0][1])} percentile {size_words(sizes)}"
    return f"; between the percentiles {' / '.join(f'{low:.3g} and {high:.3g}' for low, high in ends)} {size_words(sizes)}"


def _ordinal(percent: float) -> str:
    """A percentile in words: 46th, 51st, 0.5th."""
    shown = f"{percent:.3g}"
    teens = shown.endswith(("11", "12", "13"))
    return shown + ("th" if teens else {"1": "st", "2": "nd", "3": "rd"}.get(shown[-1], "th"))
