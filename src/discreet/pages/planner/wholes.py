"""The whole errors of a release on the page: what its steps move each number by, at each position of two sliders.

The sliders are the share of nulls that are imputed and the share of values that a clamp cuts off at each end. For each
position there is a table from the library, which the page adds to the noise that it looks up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, overload

from discreet.errors import PlanError
from discreet.exact.numbers import decimal_up, exact, text
from discreet.plan.plan import Plan
from discreet.quotes.groups import sizes_of
from discreet.quotes.moved import Moved
from discreet.quotes.off import Off
from discreet.quotes.quote import Quote
from discreet.quotes.whole import columns_of, holds_for_all_rows, most_of, offs_of

__all__ = ["drawn_in", "whole_facts"]

_NULLS = tuple(Fraction(one, 100) for one in (0, 1, 2, 5, 10, 20, 30, 50))
_CUT = tuple(Fraction(one, 1000) for one in (0, 1, 2, 5, 10, 20, 50, 100, 200))
_START = Fraction(5, 100), Fraction(1, 100)
"""What the sliders stand at first: an example, for nothing is known."""

Parts = list[list[tuple[float, int] | None]]
"""For each statistic and size what comes to the noise, and 1 where something is drawn; None where no form is known."""


def whole_facts(settings: Sequence[tuple[str, Plan]], quote: Quote) -> dict[str, Any] | None:
    """The positions of both sliders, and for each setting of a resize and each position what comes to the noise.

    None where the table as recorded has other groups, where the rows before a resize are private, and where nothing is
    moved.

    Args:
        settings: by the key of each setting of the other controls the request.
        quote: the quote of the release as it is planned.
    """
    columns, held = columns_of(settings[0][1]), [holds_for_all_rows(line.recipe) for line in quote.lines]
    nulls = _NULLS if any(one.law is not None for one in columns) else _NULLS[:1]
    cut = _CUT if any(one.kept != one.bounds for one in columns) else _CUT[:1]
    try:
        parts = {
            key: [[_only(held, _parts(plan, columns, quote.expect, (share, beyond))) for beyond in cut] for share in nulls]
            for key, plan in settings
        }
    except PlanError:
        return None
    every = [one for by_share in parts.values() for row in by_share for found in row for sizes in found for one in sizes]
    if not any(one and one[0] for one in every):
        return None
    return {
        "nulls": [text(one) for one in nulls],
        "cut": [text(one) for one in cut],
        "start": [_position(nulls, _START[0]), _position(cut, _START[1])],
        "parts": parts,
        "most": [_round_value(most_of(quote, line)) for line in quote.lines],
    }


def _only(held: Sequence[bool], parts: Parts) -> Parts:
    """The same without the statistics whose error depends on how the rows lie."""
    return [found if holds else [None] * len(found) for holds, found in zip(held, parts, strict=True)]


def _parts(plan: Plan, columns: Sequence[Moved], expect: Sequence[int], shares: tuple[Fraction, Fraction]) -> Parts:
    """What comes to the noise of each statistic by size, if these shares are null and beyond each end of the clamps."""
    given: dict[str, dict[str, Fraction]] = {
        "nulls": {one.column: shares[0] for one in columns if one.law is not None},
        "above": {one.column: shares[1] for one in columns if "above" in one.open},
        "below": {one.column: shares[1] for one in columns if "below" in one.open},
    }
    by_size = offs_of(plan, columns, sizes_of(plan, expect), given)
    return [[_show(found[place]) for found in by_size] for place in range(len(plan.answered))]


def _show(off: Off | None) -> tuple[float, int] | None:
    if off is None:
        return None
    return _round_value(off.expected + off.draws), int(off.draws > 0)


@overload
def _round_value(value: float) -> float: ...
@overload
def _round_value(value: None) -> None: ...
def _round_value(value: float | None) -> float | None:
    return None if value is None else float(decimal_up(exact(value, "value"), 9))


def _position(among: Sequence[Fraction], wanted: Fraction) -> int:
    return among.index(wanted) if wanted in among else 0


def drawn_in(whole: dict[str, Any] | None) -> tuple[bool, ...]:
    """For each statistic whether something is drawn for it at some position of the sliders; empty for no facts."""
    if whole is None:
        return ()
    every = [found for by_share in whole["parts"].values() for row in by_share for found in row]
    return tuple(any(one and one[1] for found in every for one in found[place]) for place in range(len(every[0])))
