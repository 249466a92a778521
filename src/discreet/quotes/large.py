"""Quotes of large releases, whose numbers are written to files: what does not fit there is refused before it is spent."""

from __future__ import annotations

from discreet.errors import PlanError
from discreet.plan.sizes import MOST_WHOLE_CELLS, is_large
from discreet.quotes.areas import check_room
from discreet.quotes.quote import Quote, expected_error

__all__ = ["check_large"]


def check_large(quote: Quote) -> Quote:
    """The quote itself, when it can be released.

    Raises:
        PlanError: it is large, and so noisy, or by areas so little noisy, that its integers do not fit 64 bits.
    """
    if is_large(quote.plan):
        check_room(quote.measured)
        for line in quote.lines:
            if line.recipe.whole and expected_error(quote, line, rows=1) >= 2**53:
                raise PlanError(
                    f"spend: leaves '{line.statistic.name}' an interval beyond 2**53; a release of more than "
                    f"{MOST_WHOLE_CELLS} rows has counts in 64-bit integers: spend more"
                )
    return quote
