"""What the noise of a quote would be advertised as if nobody counted the exact totals beside it. Only printed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.exact.numbers import sqrt_up
from discreet.mechanisms.part_costs import advertised_part
from discreet.privacy.coordinates import Budget
from discreet.privacy.measures import Target
from discreet.quotes.quote import Measured

if TYPE_CHECKING:
    from discreet.privacy.amplify import Resampling
    from discreet.privacy.subsample import Subsample

__all__ = ["advertise"]


def advertise(
    spend: Budget, measured: Sequence[Measured], together: Fraction, sampled: Resampling | Subsample | None
) -> Budget:
    """The guarantee that the noise of the queries has for one replaced row, `together` of the sum of what each has."""
    inner = [_ordinary_guarantee(one) for one in measured]
    parts = zip(*(one.coordinates for one in inner), strict=True)
    total = type(inner[0]).of_coordinates([together * sum(part, Fraction(0)) for part in parts], sqrt_up)
    if spend.pair is not None and spend.pair[1]:
        return total.as_pair(spend.pair[1], sampled)
    return total if sampled is None else total.through(sampled.law)


def _ordinary_guarantee(one: Measured) -> Target:
    """The guarantee of the noise for one replaced row: the stated one, scaled by what that row costs of it."""
    kind = type(one.guarantee)
    ratio = advertised_part(one.law, one.ordinary, one.sensitivity, one.guarantee)
    return kind.of_coordinates([ratio * value for value in one.guarantee.coordinates], sqrt_up)
