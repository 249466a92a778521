"""The comparison of rows with the tables of their release as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.pages.report.files import template, write_page
from discreet.pages.words import Words, words_in
from discreet.releases.labelled import title_of
from discreet.releases.rows import Rows
from discreet.releases.rows.compared import Compared, percent_within
from discreet.releases.rows.words import NAME

__all__ = ["render_rows", "write_rows_page"]

_TEMPLATE = Path(__file__).with_name("rows.html.jinja")
_MOST_PAIRS = 200


@dataclass(frozen=True, slots=True)
class _Table:
    """A line of the page: the columns of a table in words, and the share of its cells that fit."""

    title: str
    cells: int
    share: str
    width: int


@dataclass(frozen=True, slots=True)
class _Page:
    """What the page says in words."""

    title: str
    scheme: str
    share: str
    kept: str
    left: str
    noisy: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    tables: Sequence[_Table]


def render_rows(rows: Rows, language: str = "en") -> str:
    """The page: no network, no scripts, everything escaped. It has every table, and nothing of a single row.

    Raises:
        ArgumentError: no words in that language.
    """
    words = words_in(language, demanded=True)
    return template(_TEMPLATE).render(rows=rows, page=_page_of(rows, words), t=words)


def write_rows_page(rows: Rows, path: str | Path, language: str = "en") -> Path:
    """The page as a file, whole or not at all; in a folder it is called rows.html.

    Raises:
        ArgumentError: the file cannot be written, or there are no words in that language.
    """
    return write_page(render_rows(rows, language), path, named="rows.html")


def _page_of(rows: Rows, words: Words) -> _Page:
    def titled(one: Compared) -> str:
        return " × ".join(title_of(rows.about, name) for name in one.columns) or words("rows.tables.all")

    def said(facts: Sequence[str]) -> str:
        return words.enumerate([words.said(one) for one in facts])

    return _Page(
        title=rows.about.title or rows.name,
        scheme=NAME,
        share=_percent(rows.compared, words),
        kept=said(rows.kept),
        left=said(rows.left),
        noisy=[titled(one) for one in rows.compared if one.noisy],
        pairs=[(title_of(rows.about, one), title_of(rows.about, other)) for one, other in rows.apart[:_MOST_PAIRS]],
        tables=[_table(titled(one), one, words) for one in rows.compared],
    )


def _table(title: str, one: Compared, words: Words) -> _Table:
    return _Table(title, one.cells, _percent([one], words), int(percent_within([one])))


def _percent(tables: Sequence[Compared], words: Words) -> str:
    """The share of the cells of these tables within their intervals."""
    return f"{words.number(percent_within(tables), 1)} %"
