"""The sizes of groups that errors are stated for: those of the plan where they are public, else a few round ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.errors import ArgumentError, printed
from discreet.exact.figures import number
from discreet.statistics.recipe import GroupSize

if TYPE_CHECKING:
    from discreet.plan.plan import Plan

__all__ = ["Expect", "check_expect", "middle", "size_words", "sizes_of"]

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

    Where n is public and nothing is expected it is n over the number of groups, and else 10, 100, 1,000 and 10,000 rows.
    Where n is private, nothing is known of other groups than the expected one, so they are taken to be empty: then a share
    has the smallest divisor. A round size is stated for a table whose groups all have it.
    """
    every = plan.facts.rows
    groups = 1 if expect else plan.layout.cells
    if expect:
        chosen = sorted({expect[0], expect[len(expect) // 2], expect[-1]})
    else:
        chosen = list(_ROUND) if every is None else [max(1, every // plan.layout.cells)]
    return tuple(GroupSize(rows, max(rows, rows * groups if every is None else every)) for rows in chosen)


def middle(sizes: Sequence[GroupSize]) -> GroupSize:
    """The size in the middle, the greater one of two."""
    return sizes[len(sizes) // 2]


def size_words(sizes: Sequence[GroupSize]) -> str:
    """The text "in a group of 10 / 100 rows"."""
    shown = " / ".join(number(size.rows) for size in sizes)
    return f"in a group of {shown} {'row' if shown == '1' else 'rows'}"
