"""The accuracy that a sample of rows costs, in words (W6 of docs/proofs/samples.md)."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.quotes.groups import size_words
from discreet.statistics.recipe import GroupSize

__all__ = ["cost_of_sample"]


def cost_of_sample(direct: Mapping[str, float], sampled: Mapping[str, float] | None, size: GroupSize) -> list[str]:
    """The expected errors without the sample beside those with it, for the table before the sample.

    Args:
        direct: for each statistic its half-width by the same spend on all rows.
        sampled: the half-width of the noise alone, for a number of the whole table that is estimated from the sample; None
            where nothing public says which part of the table is sampled.
        size: the size of the group in the table before the sample.
    """
    lines = [f"the sample costs accuracy; for all rows, {size_words([size])}, the same spend without it would give:"]
    for name, error in direct.items():
        more = "" if sampled is None else f"; estimated from the sample ±{sampled[name]:.6g} by noise alone"
        lines.append(f"  {name}: ±{error:.6g}{more}")
    return [*lines, "  the error of the sample itself comes on top: before_sampling states both"]
