"""Numbers and dates inside the ranges that rows have drawn: on the grid, with the released quantiles, means and sums.

Ranks decide: the rows of a range stand in a random order, and each rank has the codes of the range, but for those that a
released quantile leaves to other ranks. Then all codes move towards one end until they have the released sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from discreet.domain.columns import Date, Number
from discreet.exact.numbers import exact, text
from discreet.releases.rows.model import Integers
from discreet.releases.rows.words import Words

__all__ = ["Said", "codes_within", "own_numbers", "said_of"]

_PLAIN = {"column", "name", "statistic", "nulls", "view", "weight", "interval", "at"}
"""What a document says of a statistic that is about all rows as they are counted."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a release says of the values of a column, in codes.

    Args:
        quantiles: for each share the least code, the likeliest and the largest.
        sum: of so many rows the sum of the codes is the first times their number, plus the second; None where it says
            nothing of it.
    """

    quantiles: tuple[tuple[Fraction, tuple[int, int, int]], ...]
    sum: tuple[Fraction, Fraction] | None


def said_of(document: Mapping[str, Any], name: str, column: Number | Date) -> Said:
    """The quantiles, and the mean or the sum of a column, in the main table of a document."""
    quantiles, total = [], None
    for told in _told(document, name, column):
        if told.share is not None:
            low, value, high = (_place(one, column) for one in told.ends)
            quantiles.append((told.share, (ceil(low), round(value), floor(high))))
        elif total is None:
            total = _sum_of(told, column)
    return Said(tuple(sorted(quantiles)), total)


def own_numbers(
    document: Mapping[str, Any], name: str, column: Number | Date, codes: Integers, each: Integers
) -> dict[str, float]:
    """The same numbers of rows with these codes, by the names of their columns in the document."""
    there = codes >= 0
    order = np.argsort(codes[there], kind="stable")
    sorted_codes, until = codes[there][order], np.cumsum(each[there][order])
    found = {}
    for told in _told(document, name, column):
        if not isinstance(column, Number) or not len(until):
            continue
        total = column.lower * int(until[-1]) + column.step * int((sorted_codes * each[there][order]).sum())
        if told.share is not None:
            rank = np.searchsorted(until, max(1, ceil(told.share * int(until[-1]))))
            found[told.called] = float(column.value(int(sorted_codes[rank])))
        else:
            found[told.called] = float(total / int(until[-1]) if told.mean else total)
    return found


@dataclass(frozen=True, slots=True)
class _Told:
    """A number of the main table: its name, its value between the ends of its interval, and what it is.

    Args:
        called: its column.
        ends: the lower end, the value and the upper end.
        share: of a quantile; None for a mean or a sum.
        mean: True for a mean.
    """

    called: str
    ends: tuple[float, float, float]
    share: Fraction | None
    mean: bool


def _told(document: Mapping[str, Any], name: str, column: Number | Date) -> Iterator[_Told]:
    """What the main table says of a column, if it is about all rows as they are counted."""
    if isinstance(column, Date) or document["plan"]["group_by"]:
        return
    values = {one["name"]: one["values"][0] for one in document["columns"] if len(one.get("values", ())) == 1}
    for line in document["statistics"]:
        if line.get("column") != name or not set(line) <= _PLAIN:
            continue
        for called, share in _named(line):
            ends = tuple(values.get(f"{called}{end}") for end in ("_low", "", "_high"))
            if all(isinstance(one, int | float) for one in ends):
                yield _Told(called, ends, share, line["statistic"] == "mean")  # type: ignore[arg-type]


def _named(line: Mapping[str, Any]) -> Iterator[tuple[str, Fraction | None]]:
    """The columns of a statistic, each with its share if it is a quantile."""
    word, name = line["statistic"], line["name"]
    if word in {"mean", "sum"}:
        yield name, None
    elif word == "median":
        yield name, Fraction(1, 2)
    elif word == "quantiles":
        for one in line["at"]:
            yield f"{name}_p{text(100 * exact(one, 'at'))}", exact(one, "at")


def _place(value: float, column: Number | Date) -> Fraction:
    return Fraction(0) if isinstance(column, Date) else (Fraction(value) - column.lower) / column.step


def _sum_of(told: _Told, column: Number | Date) -> tuple[Fraction, Fraction] | None:
    if isinstance(column, Date):
        return None
    value = Fraction(told.ends[1])
    if told.mean:
        return (value - column.lower) / column.step, Fraction(0)
    return -column.lower / column.step, value / column.step


# Codes ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """Rows in the order of their ranks, none of them null: for how many each stands, and the codes that it may have."""

    each: Integers
    low: Integers
    high: Integers


Ranges = tuple[tuple[int, int], ...]


def codes_within(ranges: Sequence[Ranges], levels: Integers, each: Integers, said: Said, words: Words) -> Integers:
    """A code for each row inside a range of its level, both ends included; -1 for a level of null.

    The number of rows at or below a quantile, and the sum of all codes, are as said, as far as the ranges allow it.

    Args:
        ranges: for each level its ranges, each with the least and the largest code; none for null.
        levels: of each row.
        each: how many rows it stands for.
        said: what is released of the values.
        words: the generator.
    """
    found = np.full(len(levels), -1, dtype=np.int64)
    lows, highs = _range_of_each(ranges, levels, words)
    order = words.shuffle(len(levels))
    order = order[np.argsort(lows[order], kind="stable")]
    order = order[lows[order] >= 0]
    if len(order):
        ranked = _Ranked(each[order], lows[order], highs[order])
        _apply_quantiles(ranked, said)
        found[order] = _summed(ranked.low + words.below(ranked.high - ranked.low + 1), ranked, said)
    return found


def _range_of_each(ranges: Sequence[Ranges], levels: Integers, words: Words) -> tuple[Integers, Integers]:
    """The ends of a range for each row: of its level, or of one of several that is drawn by their sizes; -1 for null."""
    lows, highs = (np.array([one[0][end] if one else -1 for one in ranges])[levels] for end in (0, 1))
    if any(len(one) > 1 for one in ranges):
        sizes = np.array([sum(high - low + 1 for low, high in one) for one in ranges])
        drawn = words.below(np.maximum(sizes, 1)[levels])
        for level in (place for place, one in enumerate(ranges) if len(one) > 1):
            mine = np.flatnonzero(levels == level)
            before = np.cumsum([high - low + 1 for low, high in ranges[level]])
            chosen = np.array(ranges[level])[np.searchsorted(before, drawn[mine], side="right")]
            lows[mine], highs[mine] = chosen[:, 0], chosen[:, 1]
    return lows, highs


def _apply_quantiles(ranked: _Ranked, said: Said) -> None:
    """Ranks up to that of a quantile have codes up to it, ranks from it on codes from it on; in place."""
    low, high, until = ranked.low, ranked.high, np.cumsum(ranked.each)
    for share, (least, likely, most) in said.quantiles:
        rank = int(np.searchsorted(until, max(1, ceil(share * int(until[-1])))))
        code = min(max(likely, least), most)
        code = min(max(code, int(low[rank])), int(high[rank]))
        np.minimum(high[: rank + 1], code, out=high[: rank + 1])
        np.maximum(low[rank:], code, out=low[rank:])


def _summed(codes: Integers, ranked: _Ranked, said: Said) -> Integers:
    """The codes, each moved by the same share of its way to one end, so that they have the sum or are next to it."""
    if said.sum is None:
        return codes
    each, more = said.sum
    missing = round(each * int(ranked.each.sum()) + more) - int((codes * ranked.each).sum())
    room = ranked.high - codes if missing > 0 else codes - ranked.low
    every = int((room * ranked.each).sum())
    if not every or not missing:
        return codes
    wanted = min(abs(missing), every)
    moved = np.asarray(room.astype(np.object_) * wanted // every, dtype=np.int64)
    left = wanted - int((moved * ranked.each).sum())
    more_of = np.flatnonzero(room > moved)
    moved[more_of[np.cumsum(ranked.each[more_of]) <= left]] += 1
    return codes + moved if missing > 0 else codes - moved
