"""The part of its guarantee that a noise spends on one replaced row, as somebody states it who counts no exact totals."""

from __future__ import annotations

from fractions import Fraction

from discreet.mechanisms.base import Guarantee, Noise
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges

__all__ = ["advertised_part"]


def advertised_part(noise: Noise, ordinary: Sensitivity, most: Sensitivity, guarantee: Guarantee) -> Fraction:
    """The part for any one replaced row: only printed, and no amount is charged by it.

    Such a row may go to another place, where noise of two variances is less. Where a noise has no rule of its own, it is
    stated as the ratio of the norms that the guarantee goes by.

    Args:
        noise: it has `guarantee` for answers within `most` of each other.
        ordinary: the norms of what one replaced row changes.
        most: the norms of all changes that the noise hides.
        guarantee: of the noise.
    """
    row = SomeChanges(ordinary, most, keeps_places=False)
    found = noise.part_of_guarantee(row, guarantee)
    return row.ratio(guarantee) if found is None else found
