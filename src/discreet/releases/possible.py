"""Numbers as views show them: intervals within what is possible, and no number where everything is possible.

A function of the release document alone, so nothing here costs budget. The document itself keeps the raw numbers: they
are unbiased and can be added, which is what further computations need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from discreet.exact.numbers import exact, float_down, float_up
from discreet.plan.recorded import PREPARED
from discreet.releases.frames import value_columns
from discreet.statistics.possible import Bounds, Ends, count_value
from discreet.statistics.registry import by_word

__all__ = ["possible_of", "show_bounds"]

_NEAR = 2.0**-40
"""Ends of intervals are rounded outwards a few times; what is nearer than this, relatively, to a bound is at it."""

Column = Mapping[str, Any]


def show_bounds(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the numbers that views show, in its table and in its frames of counts.

    The ends of an interval are moved into what is possible: the interval of a count does not go below 0. A value is None
    where its interval is everything that is possible.
    """
    found = {**document, "columns": _show_columns(document["columns"], _bounds_of(document))}
    if "frames" in document:
        found["frames"] = [{**one, "columns": _show_columns(one["columns"], _counts_in(one))} for one in document["frames"]]
    return found


def possible_of(statistic: Mapping[str, Any], plan: Mapping[str, Any]) -> Bounds:
    """The least and the greatest possible value of a statistic of a document; None where there is no bound."""
    kind = by_word().get(statistic["statistic"])
    return (None, None) if kind is None else kind.possible(statistic, _ends_of(plan, statistic.get("covers", PREPARED)))


def _ends_of(plan: Mapping[str, Any], covers: str) -> Ends:
    """The least and the greatest value of each numeric column after the steps of a plan, or as recorded."""
    numbers = [column for column in plan["schema"] if column["type"] == "number"]
    ends = {column["name"]: (exact(column["lower"], "lower"), exact(column["upper"], "upper")) for column in numbers}
    for step in plan["steps"]:
        if covers == PREPARED and step["step"] == "clamp" and step.get("column") in ends:
            low, high = exact(step["lower"], "lower"), exact(step["upper"], "upper")
            least, greatest = ends[step["column"]]
            ends[step["column"]] = min(max(least, low), high), min(max(greatest, low), high)
    return ends


def _bounds_of(document: Mapping[str, Any]) -> dict[str, Bounds]:
    """The possible values for each column of the table that holds the values of a statistic."""
    found: dict[str, Bounds] = {}
    for statistic in document["statistics"]:
        found |= dict.fromkeys(value_columns(statistic), possible_of(statistic, document["plan"]))
    return found


def _counts_in(frame: Mapping[str, Any]) -> dict[str, Bounds]:
    """The possible values for each column of a frame with intervals: all of them are counts."""
    return {one["name"]: count_value({}, {}) for one in frame["columns"]}


def _show_columns(columns: Sequence[Column], bounds: Mapping[str, Bounds]) -> list[Column]:
    """The columns with the numbers that views show."""
    known = {one["name"]: one for one in columns}
    for name, (least, greatest) in bounds.items():
        trio = [known.get(f"{name}{end}") for end in ("", "_low", "_high")]
        if None in trio:
            continue
        values, lows, highs = (one["values"] for one in trio if one is not None)
        cut = [[_within(value, least, greatest) for value in ends] for ends in (lows, highs)]
        kept = [
            None if _is_all(low, high, least, greatest) else value for value, low, high in zip(values, *cut, strict=True)
        ]
        for end, found in (("", kept), ("_low", cut[0]), ("_high", cut[1])):
            known[f"{name}{end}"] = {**known[f"{name}{end}"], "values": found}
    return [known[one["name"]] for one in columns]


def _within(end: float, least: Fraction | None, greatest: Fraction | None) -> float:
    """The end of an interval, moved into what is possible: outwards of the bound where that is not a double."""
    if least is not None and end < least:
        return int(least) if isinstance(end, int) and least.denominator == 1 else float_down(least)
    if greatest is not None and end > greatest:
        return int(greatest) if isinstance(end, int) and greatest.denominator == 1 else float_up(greatest)
    return end


def _is_all(low: float, high: float, least: Fraction | None, greatest: Fraction | None) -> bool:
    """True if an interval within these bounds is everything possible, but for the rounding of its ends."""
    if least is None or greatest is None or least == greatest:
        return False
    near = _NEAR * max(abs(float(least)), abs(float(greatest)))
    return bool(low <= float(least) + near and high >= float(greatest) - near)
