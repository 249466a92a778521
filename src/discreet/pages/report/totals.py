"""The exact totals and their effect on the guarantee: words, tables and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from discreet.domain.about import About
from discreet.domain.neighbours import neighbours_of
from discreet.exact.figures import name
from discreet.exact.numbers import decimal_up
from discreet.pages.report.about import label_in
from discreet.pages.report.promise import measure_words, others_words, tables_words
from discreet.pages.report.tables import MOST_ROWS
from discreet.pages.report.words import capital
from discreet.pages.words import Words
from discreet.releases.guarantee import Guarantee
from discreet.releases.labelled import title_of

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
        change=_change_words(a, words),
        bound=_bound_words(a, adjacency, words),
        cost=_cost_words(guarantee, words),
        comparison=_comparison(guarantee, a, words),
        warnings=tuple(words.said(f"{capital(name(said))}.") for said in exact_totals["disclosures"]),
        tables=tuple(_table(part, about, words) for part in exact_totals["totals"]["parts"]),
    )


def unprotected_words(document: Mapping[str, Any], words: Words) -> str:
    """The exact numbers, in a sentence or two in the language of `words`."""
    exact_totals = document["invariants"]
    if not exact_totals:
        public = neighbours_of(document["plan"]["neighbours"]).rows is not None
        return words("report.unprotected.only_rows" if public else "report.unprotected.nothing")
    rows = exact_totals["totals"]["rows"]
    exact = [] if rows is None else [words("report.unprotected.rows", n=words.number(rows))]
    exact += [_part_words(part, words) for part in exact_totals["totals"]["parts"]]
    return words("report.unprotected.these", parts=words.enumerate(exact))


def _part_words(part: Mapping[str, Any], words: Words) -> str:
    kind, ways, every = part["part"], _ways(part), part.get("only") is None  # sums have no such key
    if kind == "totals":
        return words("report.unprotected.each" if every else "report.unprotected.some", ways=ways)
    if kind == "occupied":
        return words("report.unprotected.occupied" if every else "report.unprotected.some_occupied", ways=ways)
    if kind == "ranges":
        return words("report.unprotected.ranges" if every else "report.unprotected.some_ranges", ways=ways)
    if kind == "linear":
        return words("report.unprotected.sums", names=words.enumerate([name(one) for one in part["values"]]), ways=ways)
    return words("report.unprotected.other", part=name(kind), ways=ways)


def _ways(part: Mapping[str, Any]) -> str:
    return " × ".join(name(column) for column in part["columns"])


def _change_words(a: int, words: Words) -> str:
    tables = tables_words(a, words)
    if a == 1:
        return words("report.exact.change_alone", tables=tables)
    return words("report.exact.change_others", tables=tables, others=others_words(a, words))


def _bound_words(a: int, adjacency: Mapping[str, Any], words: Words) -> str:
    """The reason for a: never the table itself, which a would then reveal."""
    key = "report.exact.bound_exact" if adjacency["exact"] else "report.exact.bound_upper"
    return words(key, a=words.number(a), reason=words.said(name(adjacency["reason"])))


def _cost_words(guarantee: Guarantee, words: Words) -> str:
    if guarantee.advertised == guarantee.effective:
        return words("report.exact.cost_none")
    one, other = (measure_words(measure, words) for measure in (guarantee.advertised, guarantee.effective))
    return words("report.exact.cost", one=one, other=other)


def _comparison(guarantee: Guarantee, a: int, words: Words) -> tuple[tuple[str, str, str], ...]:
    both = guarantee.advertised, guarantee.effective
    advertised, effective = (measure_words(measure, words) for measure in both)
    lines = [
        (words("report.exact.compared"), words("report.exact.one_row"), tables_words(a, words)),
        (words("report.exact.guarantee"), advertised, effective),
    ]
    if guarantee.report_delta:
        found = guarantee.advertised.epsilon_at(guarantee.report_delta)
        one, other = (words.figures(decimal_up(epsilon, 4)) for epsilon in (found, guarantee.epsilon))
        lines.append((words("report.exact.at_delta", delta=words.figures(decimal_up(guarantee.report_delta))), one, other))
    return tuple(lines)


def _table(part: Mapping[str, Any], about: About, words: Words) -> ExactTable:
    kind, columns = part["part"], tuple(title_of(about, column) for column in part["columns"])
    if kind == "linear":
        return _linear_table(part, words)
    values = {"occupied": (), "totals": (words("report.exact.rows"),), "ranges": (words("report.exact.rows"),)}.get(
        kind, (words("report.exact.value"),)
    )
    cells = part["cells"]
    labels = (tuple(label_in(about, *pair, words) for pair in zip(part["columns"], cell, strict=False)) for cell in cells)
    shown = _range_words if kind == "ranges" else _number_words
    rows = (ExactRow(own, tuple(shown(cell, words) for _ in values)) for own, cell in zip(labels, cells, strict=True))
    if part["only"] is None:
        remark = words("report.exact.all_listed")
    else:
        remark = words("report.exact.some_listed", n=words.number(len(part["only"])))
    ways = " × ".join(columns)
    known = kind in {"totals", "occupied", "ranges"}
    title = (
        words(f"report.exact.title_{kind}", ways=ways)
        if known
        else words("report.exact.title_other", kind=capital(name(kind)), ways=ways)
    )
    return _make_table(title, (columns, values), rows, (len(cells), remark), words)


def _number_words(cell: Sequence[Any], words: Words) -> str:
    return words.number(cell[-1])


def _range_words(cell: Sequence[Any], words: Words) -> str:
    """The range as its two ends; a published number that is not its range stands before it."""
    published, least, most = str(cell[-3]), cell[-2], cell[-1]
    low, high = words.number(least), None if most is None else words.number(most)
    if high is None:
        ends = words("report.exact.or_more", low=low)
    else:
        ends = low if least == most else words("report.exact.range", low=low, high=high)
    if published.isdecimal() and least != most:
        return words("report.exact.rounded", n=words.number(int(published)), range=ends)
    return ends


def _linear_table(part: Mapping[str, Any], words: Words) -> ExactTable:
    """Each name with its sum and its coefficients."""
    coefficients = part["coefficients"]
    rows = (
        ExactRow((name(one),), (words.number(value), words.enumerate([_term(cell, words) for cell in coefficients[one]])))
        for one, value in part["values"].items()
    )
    ways = _ways(part)
    columns = (words("report.exact.name"),), (words("report.exact.sum"), words("report.exact.coefficients", ways=ways))
    told = len(part["values"]), words("report.exact.linear")
    return _make_table(words("report.exact.title_linear", ways=ways), columns, rows, told, words)


def _term(cell: Sequence[Any], words: Words) -> str:
    return words("report.exact.term", n=words.number(cell[-1]), group=" × ".join(map(words.name, cell[:-1])))


def _make_table(
    title: str,
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    rows: Iterator[ExactRow],
    told: tuple[int, str],
    words: Words,
) -> ExactTable:
    (labels, values), (size, remark) = columns, told
    return ExactTable(
        title=title,
        columns=labels + values,
        labels=len(labels),
        rows=islice(rows, MOST_ROWS),
        size=words.number(size),
        remark=remark,
        omitted=words.number(size - MOST_ROWS) if size > MOST_ROWS else "",
        folded=size > MOST_OPEN,
    )
