"""The tables as they stand on the page: a cross table where there is one, the list, and a place to point at; key numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.domain.about import About
from discreet.domain.neighbours import neighbours_of
from discreet.exact.numbers import decimal_up
from discreet.pages.report.cross import MOST_CELLS, CrossTable, cross_of, exact_subtotals, noisy_subtotals, partial_columns
from discreet.pages.report.tables import NumberTable, Row
from discreet.pages.words import Words
from discreet.releases.guarantee import Guarantee

__all__ = ["Key", "Sheet", "key_numbers", "sheets_of"]

_MOST_KEYS = 6
_MOST_LISTED = 12
_NARROW = 36
"""So many characters of small print are a third of a page wide."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table on the page: its place, its cross table if there is one, and its rows if they are `few`."""

    anchor: str
    table: NumberTable
    cross: CrossTable | None
    few: tuple[Row, ...]

    @property
    def is_long(self) -> bool:
        """True if its heads have to stay in sight, and a filter helps."""
        return not self.few or len(self.few) > _MOST_LISTED

    @property
    def is_narrow(self) -> bool:
        """True if three of its rows fit next to each other on paper."""
        widths = (sum(map(len, (*row.labels, row.value, row.interval))) for row in self.few)
        return bool(self.few) and max(widths) <= _NARROW


@dataclass(frozen=True, slots=True)
class Key:
    """A key number: what it says, in words, and perhaps its interval."""

    value: str
    words: str
    interval: str = ""


def sheets_of(tables: Iterable[NumberTable], document: Mapping[str, Any], about: About, words: Words) -> tuple[Sheet, ...]:
    """The tables in their order, those with few cells as cross tables too, with the subtotals that the release has."""
    read = [_read(table) for table in tables]
    families = {table.family for table, _ in read if table.family}
    exact = exact_subtotals(document, about, words)
    subtotals = {one: noisy_subtotals(pair for pair in read if pair[0].family == one and pair[1]) for one in families}
    partial, found = partial_columns(document["plan"]), []
    for place, (table, few) in enumerate(read):
        own = {"": {}, "rows": exact}.get(table.family, subtotals.get(table.family, {}))
        found.append(Sheet(f"table-{place + 1}", table, cross_of(table, few, own, partial) if few else None, few))
    return tuple(found)


def _read(table: NumberTable) -> tuple[NumberTable, tuple[Row, ...]]:
    """The table with its rows, if they are few; else they are read when the page is written."""
    if table.omitted or table.count > MOST_CELLS:
        return table, ()
    few = tuple(table.rows)
    return replace(table, rows=iter(few)), few


def key_numbers(document: Mapping[str, Any], guarantee: Guarantee, sheets: Sequence[Sheet], words: Words) -> tuple[Key, ...]:
    """The key numbers: the numbers themselves where they are few, else how many there are, and how good."""
    single = [sheet for sheet in sheets if len(sheet.few) == 1]
    keys = [Key(one.few[0].value, one.table.title, one.few[0].interval) for one in single[:_MOST_KEYS]]
    rows = neighbours_of(document["plan"]["neighbours"]).rows
    if rows is not None:
        keys.append(Key(words.number(rows), words("report.keys.rows")))
    if document["plan"]["group_by"]:
        groups = document["table"]["rows"] if "table" in document else len(document["columns"][0]["values"])
        keys.append(Key(words.number(groups), words("report.keys.groups")))
    flags = Counter(row.flag for sheet in sheets for row in sheet.few if row.flag)
    if flags:
        good = words.number(100 * flags["a"] // flags.total())
        keys.append(Key(f"{good}\u00a0%", words("report.keys.good")))
    delta = words.figures(decimal_up(guarantee.report_delta))
    promised = words("report.keys.delta", delta=delta) if guarantee.report_delta else words("report.keys.pure")
    keys.append(Key(f"ε\u00a0=\u00a0{words.figures(decimal_up(guarantee.epsilon, 4))}", promised))
    return tuple(keys)
