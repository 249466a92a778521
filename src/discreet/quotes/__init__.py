"""What a plan costs before anything is read: queries, shares, sensitivities, noise, expected errors.

* `allocate`: From a plan and a spend to a quote: which queries are asked, how the spend is divided, which noise each
  one gets
* `certainty`: How certain each noisy part has to be, so that an interval, or all intervals of a release, hold with
  probability `LEVEL`
* `lattice`: From a request and the totals to the structure of its row counts; see `structure`
* `primitives`: From statistics to the primitive integer queries behind them: what recipes have to know of a request, and
  the weights
* `public_sums`: What is public about the counts of a request: which sums of cells are known exactly, and which are at
  most so large
* `quote`: What a request costs and how exact it will be, in values and in words
* `space`: The sensitivity space of a request beside exact totals: how far its answers move between semi-adjacent
  tables
* `spend_for_errors`: The smallest spend that meets errors which a custodian asks for
* `view`: How a request sees the columns of the totals: which of their levels end in which group, and which rows drop
  out
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exact.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.quotes.quote import Quote

__all__ = ["Quote"]

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, {"quote": __all__})  # loaded when they are first used
