"""Tables as a document holds them: labels and numbers of the rows that are printed, their public sums, and what is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from discreet.domain.groups import Group
from discreet.plan.plan import Plan
from discreet.plan.shown import empty_labels, hides_rows
from discreet.quotes.public_sums import PublicSums, show_sums, sums_of_frame
from discreet.quotes.quote import Quote
from discreet.releases.assemble import Frame
from discreet.releases.frames import column_json
from discreet.releases.labels import LabelColumn, all_rows, find_printed
from discreet.statistics.counted import ADD_UP
from discreet.totals.statements import has_ranges

__all__ = ["Numbers", "columns_json", "frame_json", "list_sums", "told_of"]

Numbers = list[tuple[str, NDArray[Any]]]


def frame_json(quote: Quote, frame: Frame, groups: tuple[Group, ...]) -> dict[str, Any]:
    """A further frame with these groups of its own, with its public sums."""
    return {
        "name": frame.name,
        **({} if quote.beside is None else told_of(frame.told, quote, groups)),
        "columns": _frame_columns(frame),
        **list_sums(sums_of_frame(quote.plan, quote.beside, groups), frame.labels, quote.plan, groups),
    }


def list_sums(sums: PublicSums, labels: Sequence[LabelColumn], plan: Plan, own: Sequence[Group] = ()) -> dict[str, Any]:
    """The public sums of the rows that are printed, of the table or of a frame with groups of its own."""
    shown = find_printed(labels, all_rows(labels))
    if isinstance(shown, slice):
        return sums.to_json()
    groups = [group for group in (*plan.group_by, *own) for _ in group.names]
    empty = [replace(one, hidden=empty_labels(plan, group)) for one, group in zip(labels, groups, strict=True)]
    possible = find_printed(empty, all_rows(empty))
    return show_sums(sums, shown, ~shown & possible if not isinstance(possible, slice) else ~shown).to_json()


def _frame_columns(frame: Frame) -> list[dict[str, Any]]:
    return columns_json(frame.labels, all_rows(frame.labels), frame.counts.numbers())


def columns_json(labels: Sequence[LabelColumn], rows: slice, numbers: Numbers) -> list[dict[str, Any]]:
    """Labels, then numbers, of the rows that are printed, as the document holds them."""
    shown = find_printed(labels, rows)
    named = [column_json(one.name, one.values(rows, shown)) for one in labels]
    return named + [column_json(name, values[shown].tolist()) for name, values in numbers]


def told_of(words: Mapping[str, str], quote: Quote, own: Sequence[Group] = ()) -> dict[str, str]:
    """The words for the counts of a table or of a frame with groups of its own, which may have rows that are not printed.

    Noise keeps sums, but no published range: a count of fewer than 10 rows may come out as 12.
    """
    if words.get("totals") != ADD_UP:
        return dict(words)
    hidden = " with those that are not printed" if hides_rows(quote.plan, (*quote.plan.group_by, *own)) else ""
    ranged = quote.beside is not None and has_ranges(quote.beside.invariants.parts)
    return {**words, "totals": f"{ADD_UP}{hidden}{', but need not lie in the published ranges' if ranged else ''}"}
