"""The first rows of a release as a table for people: one cell for a number and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.cli.output import Grid
from discreet.exact.figures import decimals_for, interval, name, number, plural

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_ROWS", "number_grid"]

MOST_ROWS = 12


def number_grid(table: pl.DataFrame, *, height: int | None = None) -> list[str | Grid]:
    """The first rows of the table of a release, rounded as in the report; below them how many more there are.

    `height` is the number of all rows, where the table is only the beginning of a longer one.
    """
    shown = table.head(MOST_ROWS)
    numbers = [title for title in table.columns if f"{title}_low" in table.columns and f"{title}_high" in table.columns]
    ends = {f"{title}{end}" for title in numbers for end in ("_low", "_high")}
    titles = [title for title in table.columns if title not in ends]
    cells = [_numbers(shown, title) if title in numbers else [name(one) for one in shown[title]] for title in titles]
    grid = Grid([name(title) for title in titles], list(zip(*cells, strict=True)), frozenset(map(name, numbers)))
    more = (table.height if height is None else height) - shown.height
    return [grid, f"  … and {number(more)} more {plural('row', more)}"] if more else [grid]


def _numbers(table: pl.DataFrame, title: str) -> list[str]:
    """Each value with its interval, which is rounded outwards."""
    columns: list[Sequence[Any]] = [table[f"{title}{end}"].to_list() for end in ("", "_low", "_high")]
    rows = list(zip(*columns, strict=True))
    whole = all(value is None or isinstance(value, int) for row in rows for value in row)
    decimals = 0 if whole else decimals_for([(high - low) / 2 for _, low, high in rows])
    return [f"{number(value, decimals)} ({interval(low, high, decimals)})" for value, low, high in rows]
