"""The exact totals and their effect on the guarantee: words, tables and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from discreet.domain.about import About
from discreet.domain.declared_words import list_names
from discreet.domain.neighbours import neighbours_of
from discreet.exact.figures import name, number
from discreet.exact.numbers import decimal_up
from discreet.pages.report.about import label_in
from discreet.pages.report.promise import measure_words, others_words
from discreet.pages.report.tables import MOST_ROWS
from discreet.pages.report.words import capital
from discreet.pages.words import Words
from discreet.releases.guarantee import Guarantee
from discreet.releases.labelled import title_of
from discreet.totals.words import compared_tables

__all__ = ["MOST_OPEN", "Exact", "ExactRow", "ExactTable", "exact_of", "unprotected_words"]

MOST_OPEN = 30
"""A longer table of exact totals is folded, so that nobody has to scroll past it."""


@dataclass(frozen=True, slots=True)
class ExactRow:
    """A cell and its exact numbers; none where only its existence is published."""

    labels: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExactTable:
    """Numbers that no noise covers. `columns` are the headings, of which the first `labels` name the cell.

    `rows` can be read once.
    """

    title: str
    columns: tuple[str, ...]
    labels: int
    rows: Iterator[ExactRow]
    size: str
    remark: str
    omitted: str
    folded: bool


@dataclass(frozen=True, slots=True)
class Exact:
    """The section of the page on exact totals.

    Args:
        change: the changes of one person's data that the totals allow.
        bound: the semi-adjacency a, and the reason for it.
        cost: the effect of the totals on the guarantee.
        comparison: the rows of the table of both guarantees: a label, as advertised, effectively.
        warnings: the facts about single rows that the totals reveal.
        tables: the numbers.
    """

    change: str
    bound: str
    cost: str
    comparison: tuple[tuple[str, str, str], ...]
    warnings: tuple[str, ...]
    tables: tuple[ExactTable, ...]


def exact_of(document: Mapping[str, Any], guarantee: Guarantee, about: About, words: Words) -> Exact | None:
    """The section on the exact totals of a release; None where at most the number of rows is exact.

    Raises:
        ValueError: the totals and the guarantee have different semi-adjacencies.
    """
    exact_totals = document["invariants"]
    if not exact_totals:
        return None
    adjacency = exact_totals["semi_adjacency"]
    a = guarantee.semi_adjacency
    if a is None or adjacency["a"] != a:
        raise ValueError("semi_adjacency")
    return Exact(
        change=words.said(_change_words(a)),
        bound=words.said(_bound_words(a, adjacency)),
        cost=words.said(_cost_words(guarantee)),
        comparison=tuple((words.said(a), words.said(b), words.said(c)) for a, b, c in _comparison(guarantee, a)),
        warnings=tuple(words.said(f"{capital(name(said))}.") for said in exact_totals["disclosures"]),
        tables=tuple(_table(part, about, words) for part in exact_totals["totals"]["parts"]),
    )


def unprotected_words(document: Mapping[str, Any]) -> str:
    """The exact numbers, in a sentence or two."""
    exact_totals = document["invariants"]
    if not exact_totals and neighbours_of(document["plan"]["neighbours"]).rows is not None:
        return "Nothing but the number of rows of the data set is published exactly; every other number below carries noise."
    if not exact_totals:
        return "Nothing is published exactly; every number below carries noise."
    rows = exact_totals["totals"]["rows"]
    exact = [] if rows is None else [f"the number of rows ({number(rows)})"]
    exact += [_part_words(part) for part in exact_totals["totals"]["parts"]]
    others = "Every other number below carries noise, unless these numbers determine it."
    return f"Exact and unprotected: {list_names(exact)}. {others}"


def _part_words(part: Mapping[str, Any]) -> str:
    ways = _ways(part)
    if part["part"] == "totals":
        return f"how many rows {f'each group of {ways} has' if part['only'] is None else f'some groups of {ways} have'}"
    if part["part"] == "occupied":
        return f"which {'groups' if part['only'] is None else 'of some groups'} of {ways} have any rows"
    if part["part"] == "linear":
        return f"the sums {list_names([name(one) for one in part['values']])} over {ways}"
    return f"{name(part['part'])} of {ways}"


def _ways(part: Mapping[str, Any]) -> str:
    return " × ".join(name(column) for column in part["columns"])


def _change_words(a: int) -> str:
    if a == 1:
        return (
            "The data of one person can change alone in every way that the exact totals leave open. The promise compares "
            f"{compared_tables(a)}. It does not cover what the totals themselves reveal."
        )
    return (
        "Where a change of one person's data would alter an exact total, other rows have to change with it. The promise "
        f"compares {compared_tables(a)}: the row of one person, {others_words(a)}. It does not cover what the totals "
        "themselves reveal."
    )


def _bound_words(a: int, adjacency: Mapping[str, Any]) -> str:
    """The reason for a: never the table itself, which a would then reveal."""
    known = "is exact" if adjacency["exact"] else "is a proved upper bound"
    reason = name(adjacency["reason"])
    return f"a = {number(a)} {known}. It follows from the declared columns and the totals alone ({reason})."


def _cost_words(guarantee: Guarantee) -> str:
    if guarantee.advertised == guarantee.effective:
        return "Here the totals do not weaken the guarantee: advertised and effective are the same."
    return (
        f"If nobody counted the totals, the same noise would be advertised with {measure_words(guarantee.advertised)}. "
        f"Alongside the totals it gives {measure_words(guarantee.effective)}. This effective guarantee was charged, and all "
        "other figures on this page refer to it."
    )


def _comparison(guarantee: Guarantee, a: int) -> tuple[tuple[str, str, str], ...]:
    both = guarantee.advertised, guarantee.effective
    lines = [
        ("compared tables", "tables that differ in one row", compared_tables(a)),
        ("guarantee", *map(measure_words, both)),
    ]
    if guarantee.report_delta:
        advertised = guarantee.advertised.epsilon_at(guarantee.report_delta)
        shown = [decimal_up(epsilon, 4) for epsilon in (advertised, guarantee.epsilon)]
        lines.append((f"ε at δ = {decimal_up(guarantee.report_delta)}", *shown))
    return tuple((what, left, right) for what, left, right in lines)


def _table(part: Mapping[str, Any], about: About, words: Words) -> ExactTable:
    kind, columns = part["part"], tuple(title_of(about, column) for column in part["columns"])
    if kind == "linear":
        return _linear_table(part, words)
    titles = {"totals": "Number of rows", "occupied": "Groups that have rows"}
    values = {"totals": ("rows",), "occupied": ()}.get(kind, ("value",))
    cells = part["cells"]
    labels = (
        tuple(label_in(about, *pair, words) for pair in zip(part["columns"], cell[:-1], strict=True)) for cell in cells
    )
    rows = (ExactRow(own, tuple(words.number(cell[-1]) for _ in values)) for own, cell in zip(labels, cells, strict=True))
    if part["only"] is None:
        remark = "A group that is not listed here has no rows."
    else:
        published = number(len(part["only"]))
        remark = f"Published for {published} of the groups only; a published group that is not listed here has no rows."
    title = f"{titles.get(kind) or capital(name(kind))} by {' × '.join(columns)}"
    return _make_table(title, (columns, values), rows, (len(cells), remark), words)


def _linear_table(part: Mapping[str, Any], words: Words) -> ExactTable:
    """Each name with its sum and its coefficients."""
    coefficients = part["coefficients"]
    rows = (
        ExactRow((name(one),), (words.number(value), words.said(list_names([_term(*cell) for cell in coefficients[one]]))))
        for one, value in part["values"].items()
    )
    remark = "Each row of the data adds the coefficient of its group, 0 where none is given."
    columns = ("name",), ("sum", f"coefficients by {_ways(part)}")
    return _make_table(f"Sums over {_ways(part)}", columns, rows, (len(part["values"]), remark), words)


def _term(*cell: Any) -> str:
    return f"{number(cell[-1])} for {' × '.join(map(name, cell[:-1]))}"


def _make_table(
    title: str,
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    rows: Iterator[ExactRow],
    told: tuple[int, str],
    words: Words,
) -> ExactTable:
    (labels, values), (size, remark) = columns, told
    return ExactTable(
        title=words.said(title),
        columns=labels + tuple(map(words.said, values)),
        labels=len(labels),
        rows=islice(rows, MOST_ROWS),
        size=words.number(size),
        remark=words.said(remark),
        omitted=words.number(size - MOST_ROWS) if size > MOST_ROWS else "",
        folded=size > MOST_OPEN,
    )
