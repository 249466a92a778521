"""The first rows of a release as a table for people: one cell for a number and its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.cli.output import Grid
from discreet.exact.figures import decimals_for, interval, name, number, plural
from discreet.releases.worded import CONSISTENT, QUALITY

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_ROWS", "number_grid"]

MOST_ROWS = 12

_MOST_LETTERS = 60

NO_WORDS: Mapping[str, str] = MappingProxyType({})


def number_grid(table: pl.DataFrame, *, height: int | None = None, words: Mapping[str, str] = NO_WORDS) -> list[str | Grid]:
    """The first rows of the table of a release, rounded as in the report; below them how many more there are.

    `height` is the number of all rows, where the table is only the beginning of a longer one; `words` has the titles of
    columns that are not called by their names.
    """
    shown = table.head(MOST_ROWS)
    numbers = [title for title in table.columns if f"{title}_low" in table.columns and f"{title}_high" in table.columns]
    ends = {f"{title}{end}" for title in numbers for end in ("_low", "_high")}
    titles = [title for title in table.columns if title not in ends]
    cells = [_numbers(shown, title) if title in numbers else _labels(shown, title) for title in titles]
    heads = {title: _cut(words.get(title) or name(title)) for title in titles}
    right = frozenset(heads[title] for title in numbers)
    grid = Grid([*heads.values()], list(zip(*cells, strict=True)), right)
    more = (table.height if height is None else height) - shown.height
    return [grid, f"  … and {number(more)} more {plural('row', more)}"] if more else [grid]


def _labels(table: pl.DataFrame, title: str) -> list[str]:
    """The labels of a column; of counts that agree with other tables, "–" for one that is left out."""
    if title.endswith(CONSISTENT):
        return [number(None) if one is None else name(one) for one in table[title]]
    return [_cut(name(one)) for one in table[title]]


def _cut(text: str) -> str:
    """The beginning of a long label: its column would push all others off the terminal."""
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _numbers(table: pl.DataFrame, title: str) -> list[str]:
    """Each value with its interval, which is rounded outwards."""
    columns: list[Sequence[Any]] = [table[f"{title}{end}"].to_list() for end in ("", "_low", "_high")]
    rows = list(zip(*columns, strict=True))
    whole = all(value is None or isinstance(value, int) for row in rows for value in row)
    halves = [(high - low) / 2 for _, low, high in rows if low is not None]
    decimals = 0 if whole else decimals_for(halves)
    judged = f"{title}{QUALITY}" in table.columns
    return [_number(value, (low, high), decimals, judged=judged) for value, low, high in rows]


def _number(value: float | None, ends: tuple[float | None, float | None], decimals: int, *, judged: bool) -> str:
    """The value with its interval; neither where the value is left out because of its class, or unbounded."""
    low, high = ends
    if low is None or high is None:
        return number(None) if judged else "unbounded"
    return (
        number(value, decimals)
        if value is None and judged
        else f"{number(value, decimals)} ({interval(low, high, decimals)})"
    )
