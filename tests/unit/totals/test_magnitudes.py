"""How many rows must change under an exact sum: the closed form against all small tables, each row by itself."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, product

import pytest

from discreet.totals import magnitudes
from discreet.totals.magnitudes import Magnitude, rows_of_sums

SMALL = [(rows, span) for rows, span in product(range(1, 6), range(1, 5)) if rows * span <= 12]
WITHOUT_VALUES = Magnitude(span=0, full=True, rows=2, total=0)

Values = tuple[int, ...]


def tables(rows: int, span: int, total: int) -> list[Values]:
    return [one for one in combinations_with_replacement(range(span + 1), rows) if sum(one) == total]


def kept(old: Counter[int], new: Counter[int]) -> int:
    """The most rows that two tables can have alike, one by one."""
    return (old & new).total()


def by_hand(rows: int, span: int, total: int) -> int:
    """The most rows that differ where a row takes another value, and the fewest others make up for it."""
    fibre, found = tables(rows, span, total), 1
    for old, leaves, takes in product(fibre, range(span + 1), range(span + 1)):
        if leaves == takes or leaves not in old:
            continue
        rest = Counter(old) - Counter([leaves])
        fewest = [rows - kept(rest, Counter(new) - Counter([takes])) for new in fibre if takes in new]
        found = max(found, min(fewest, default=0))
    return found


def by_hand_beside_others(rows: int, span: int, total: int) -> int:
    """The same where the row comes from a group in which all count alike, and one of this group takes its place there."""
    fibre, found = tables(rows, span, total), 1
    for old, takes in product(fibre, range(span + 1)):
        fewest = [rows - kept(Counter(old), Counter(new) - Counter([takes])) for new in fibre if takes in new]
        found = max(found, min(fewest, default=0))
    return 1 + found


def differences() -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for rows, span in SMALL:
        for total in range(rows * span + 1):
            one = Magnitude(span, full=True, rows=rows, total=total)
            alone, beside = rows_of_sums([one]), rows_of_sums([one, WITHOUT_VALUES])
            truths = by_hand(rows, span, total), by_hand_beside_others(rows, span, total)
            if (alone, beside) != ((truths[0], True), (truths[1], True)):
                found.append((rows, span, total, alone, beside, truths))
    return found


def test_the_closed_form_is_what_all_tables_need() -> None:
    assert differences() == []


def hold_without_the_room_above(group: Magnitude) -> int:
    assert group.rows is not None
    assert group.total is not None
    return magnitudes._most_needed(group.rows, group.total, group.span)


def one_row_less(rows: int, total: int, span: int) -> int:
    return max(1, magnitudes._most_needed(rows, total, span) - 1)


@pytest.mark.parametrize(
    ("name", "planted"),
    [("_to_hold", hold_without_the_room_above), ("_most_for_one", one_row_less)],
)
def test_a_form_that_forgets_something_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str, planted: object) -> None:
    monkeypatch.setattr(magnitudes, name, planted)
    assert differences() != []
