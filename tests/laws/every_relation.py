"""What holds of every neighbour relation, whoever wrote it: its words, its changes, and the law of its copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

from discreet.domain.neighbours import neighbours_of
from discreet.domain.words import neighbours_text
from discreet.mechanisms import Change, Sensitivity, change_of, quantiles_change
from discreet.privacy.amplify import Resampling

Row = tuple[str, int] | None
"""A cell and a value; None is no row."""
Moves = Callable[[list[Row]], Iterator[tuple[Row, Row]]]
"""What one row is in one table and in the other: written down for each relation a second time."""

VALUES = range(-1, 3)
ROWS: list[Row] = [(cell, value) for cell in ("x", "y", "") for value in VALUES]
"""Rows in two cells, and in none."""


def assert_written(one: Any) -> None:
    """It is read back, and has words of its own."""
    assert neighbours_of(one.to_json()) == one
    assert one.to_json()["relation"] == one.word
    assert neighbours_text(one).startswith(f"{one.word}: ")
    assert all((one.about, one.change, one.compared, one.guess, one.holds, one.size_words()))
    assert ("rows" in one.needed) == (one.rows is not None)
    assert type(one.of_size(7)) is type(one)
    assert one.allows_totals <= (one.rows is not None)  # totals make the number of rows public


def assert_changes(one: Any, moves: Moves) -> None:
    """No row changes a sum in two cells by more than `change_of` says, whatever it does."""
    said = change_of(min(VALUES), max(VALUES), at_once=1, parts=1, cells=2, nullable=False, skipped=True, neighbours=one)
    for before, after in moves(ROWS):
        moved = [_added(after, cell) - _added(before, cell) for cell in ("x", "y")]
        bound = _bound(said, before, after)
        assert sum(map(abs, moved)) <= bound.l1
        assert sum(value**2 for value in moved) <= bound.l2_squared
    choices = quantiles_change(1, cells=2, skipped=True, neighbours=one)
    largest = max(_records(before, after) for before, after in moves(ROWS))
    assert max(choices.within.l1, choices.across.l1) >= largest


def _added(row: Row, cell: str) -> int:
    return row[1] if row is not None and row[0] == cell else 0


def _bound(said: Change, before: Row, after: Row) -> Sensitivity:
    cells = {row[0] for row in (before, after) if row is not None and row[0]}
    if before is None or after is None or not (before[0] and after[0]):
        return said.leaves
    return said.within if len(cells) == 1 else said.across


def _records(before: Row, after: Row) -> int:
    """How many records are other ones, over the cells: of these choices can see each."""
    return sum(row is not None and row[0] != "" for row in (before, after))


def assert_copies(one: Any) -> None:
    """K is hypergeometric where n is public, and binomial where it is not: c = 1 copy of one row, at p = 1/2."""
    resize = Resampling(100, Fraction(1, 2), one.of_size(6))
    if one.rows is None:
        assert resize.sampled is None
        assert resize.law == (Fraction(1, 2), Fraction(1, 2))
    else:
        assert resize.sampled == 3
        assert resize.law[1] == Fraction(comb(5, 2), comb(6, 3))


def appearing(rows: list[Row]) -> Iterator[tuple[Row, Row]]:
    """A row is in one of the two tables."""
    for row in rows:
        yield None, row
        yield row, None


def replaced(rows: list[Row]) -> Iterator[tuple[Row, Row]]:
    """A row is another one."""
    yield from product(rows, rows)
