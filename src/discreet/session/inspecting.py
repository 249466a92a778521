"""The curator's look at the rows: noted in the ledger before it, and told by every release after it (soundness 43)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.base import check_ready

if TYPE_CHECKING:
    from discreet.engines.inspection import Tally
    from discreet.ledger import Ledger

__all__ = ["inspect", "inspect_tables", "inspection_facts"]


def inspect(source: Any, schema: Schema, *, dataset: str, ledger: str | Path) -> dict[str, dict[str, Tally]]:
    """For each column what becomes of its cells, in exact numbers, which no guarantee covers.

    The ledger has the entry that says so before the first row is read. What is found is for the terminal of the curator.

    Raises:
        SourceError: the source does not fit the schema, cannot be inspected, or cannot be read to its end.
        LedgerError: the ledger cannot be used; nothing was read.
    """
    return inspect_tables({"": (source, schema)}, dataset=dataset, ledger=ledger)[""]


def inspect_tables(
    tables: Mapping[str, tuple[Any, Schema]], *, dataset: str, ledger: str | Path
) -> dict[str, dict[str, dict[str, Tally]]]:
    """The same of several tables of one data set, by their names: each with its source and columns. Raises as `inspect`."""
    from discreet.engines.inspection import check_inspectable, inspect_source
    from discreet.ledger import Ledger

    with ExitStack() as opened:
        shown = {}
        for name, (source, schema) in tables.items():
            read = schema.as_read()
            engine = opened.enter_context(closing(open_source(source, read)))
            shown[name] = (check_inspectable(engine), read)
            check_ready(engine)
        with Ledger.open(ledger) as book:
            book.inspect(dataset)
        return {name: inspect_source(*one) for name, one in shown.items()}


def inspection_facts(ledger: Ledger, dataset: str) -> dict[str, str]:
    """The note of a release whose data set was inspected; nothing otherwise, as in all older releases."""
    entry = ledger.inspected(dataset)
    if not entry:
        return {}
    return {
        "inspected": f"The curator looked at the rows before this release (entry {entry} of the ledger). Its columns, "
        "bounds, categories and groups may have been chosen with knowledge of the rows, and the guarantee does not "
        "count what such a choice reveals."
    }
