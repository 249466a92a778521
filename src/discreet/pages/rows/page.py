"""The comparison of rows with the tables of their release as one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

from discreet.pages.report.files import template, write_page
from discreet.releases.rows import Rows

__all__ = ["render_rows", "write_rows_page"]

_TEMPLATE = Path(__file__).with_name("rows.html.jinja")
_MOST_PAIRS = 200


def render_rows(rows: Rows) -> str:
    """The page: no network, no scripts, everything escaped. It has every table, and nothing of a single row."""
    return template(_TEMPLATE).render(rows=rows, many=len(rows.frame), pairs=rows.apart[:_MOST_PAIRS], apart=len(rows.apart))


def write_rows_page(rows: Rows, path: str | Path) -> Path:
    """The page as a file, whole or not at all; in a folder it is called rows.html.

    Raises:
        ArgumentError: the file cannot be written.
    """
    return write_page(render_rows(rows), path, named="rows.html")
