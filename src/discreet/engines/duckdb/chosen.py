"""The columns of a request over a table: of the source, or of a row-wise query. What computes these is loaded then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.engines.rowwise import Rowwise

__all__ = ["read_by", "table_of"]


def read_by(chosen: Rowwise | None, names: Sequence[str]) -> list[str]:
    """The columns of the source for these columns of a request, which are the same without a query."""
    return list(names) if chosen is None else chosen.reads(names)


def table_of(chosen: Rowwise | None, names: Sequence[str], table: str) -> str:
    """A table expression with these columns of a request, over a table expression with the columns that they read."""
    if chosen is None:
        return table
    from discreet.engines.duckdb.rowwise import computed_table

    return computed_table(chosen, names, table)
