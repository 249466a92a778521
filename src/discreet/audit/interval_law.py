"""The law of chosen intervals from its definition, for a few codes: what the choices of a kernel are held against.

Written down a second time, interval by interval (docs/proofs/intervals.md), around the values that are chosen by
`choice_law`, with the quantiles, the ranges and the level of the quote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

from discreet.audit.checks import Counted
from discreet.audit.choice_law import SHARES, law_of_choices
from discreet.audit.choices import intervals_around, is_choice, law_of_choice, law_of_intervals
from discreet.audit.draws import Kernel
from discreet.cube.queries import QuantileCodes, QuantileIntervals
from discreet.errors import InternalError
from discreet.mechanisms import ExponentialIntervals
from discreet.noise.bits import Bits
from discreet.quotes.quote import Measured, Quote

__all__ = ["interval_counts", "law_of_interval"]

_MOST_AT_ONCE = 1 << 16
_MOST_RUNS = 200_000
_LEAST_CHANCE = 1e-4

_Chances = dict[tuple[int, int], float]


def interval_counts(kernel: Kernel, quote: Quote, one: Measured, runs: int, bits: Bits) -> Iterator[Counted]:
    """The counts of all values with their intervals on a small grid, for the first and the last quantile with intervals."""
    for around in intervals_around(quote, one) if is_choice(one) else ():
        law = law_of_intervals(around)
        at = tuple(dict.fromkeys((law.at[0], law.at[-1])))
        small = _small(one, around, at)
        choice, intervals = law_of_choice(small[0]), law_of_intervals(small[1])
        counts = tuple(share * ceil(2 / law.reach) for share in SHARES)  # margins on either side of the wanted one
        runs = min(runs, _MOST_RUNS)
        sizes = [min(_MOST_AT_ONCE, runs - start) for start in range(0, runs, _MOST_AT_ONCE)]
        drawn = np.concatenate([_draw(kernel, replace(quote, measured=small), counts, copies, bits) for copies in sizes])
        chosen = law_of_choices(choice, counts)
        for place, q in enumerate(at):
            yield from _events(drawn[:, place], _joint(chosen, place, counts, q, intervals), q, runs)


def _small(one: Measured, around: Measured, at: tuple[Fraction, ...]) -> tuple[Measured, Measured]:
    """The choices of these quantiles and of their intervals on the small grid.

    Raises:
        InternalError: the queries are others.
    """
    if not isinstance(one.query, QuantileCodes) or not isinstance(around.query, QuantileIntervals):
        raise InternalError("only choices of quantiles and of their intervals have a law of intervals")
    centres = replace(one.query, size=len(SHARES), at=at)
    query = QuantileIntervals(centres, at)
    choice = replace(law_of_choice(one), size=len(SHARES), at=at)
    intervals = replace(law_of_intervals(around), size=len(SHARES), at=at)
    return (
        replace(one, query=centres, asked=centres, law=choice),
        replace(around, query=query, asked=query, law=intervals),
    )


def _draw(kernel: Kernel, quote: Quote, counts: tuple[int, ...], copies: int, bits: Bits) -> NDArray[np.int64]:
    """The values of every run, and the ends of their intervals: shape (copies, quantiles, 3)."""
    own = np.array([(0, code, count) for code, count in enumerate(counts) if count], dtype=np.int64)
    many = np.tile(own, (copies, 1))
    many[:, 0] = np.repeat(np.arange(copies), len(own))
    one, around = quote.measured
    measured = (
        replace(one, law=replace(law_of_choice(one), cells=copies)),
        replace(around, law=replace(law_of_intervals(around), cells=copies)),
    )
    chosen, ends = kernel.noisy(replace(quote, measured=measured), [many, many], bits)
    values = np.asarray(chosen, dtype=np.int64).reshape(copies, -1, 1)
    return np.concatenate([values, np.asarray(ends, dtype=np.int64).reshape(copies, -1, 2)], axis=2)


def _joint(
    chosen: dict[tuple[int, ...], float], place: int, counts: tuple[int, ...], q: Fraction, law: ExponentialIntervals
) -> dict[tuple[int, int, int], float]:
    """The probability of a value with its interval."""
    values = dict[int, float]()
    for codes, chance in chosen.items():
        values[codes[place]] = values.get(codes[place], 0.0) + chance
    return {
        (value, *ends): chance * own
        for value, chance in values.items()
        for ends, own in law_of_interval(law, counts, value, q).items()
    }


def _events(
    drawn: NDArray[np.int64], chances: dict[tuple[int, int, int], float], q: Fraction, runs: int
) -> Iterator[Counted]:
    for event, chance in sorted(chances.items()):
        if chance >= _LEAST_CHANCE:
            value, low, high = event
            hits = int((drawn == event).all(axis=1).sum())
            yield Counted(
                f"{q}-quantile {value} in {low} to {high} on a grid of {len(SHARES)}", hits, runs, (chance, chance)
            )


def law_of_interval(law: ExponentialIntervals, counts: tuple[int, ...], centre: int, q: Fraction) -> _Chances:
    """The probability of every interval around a value, where counts[c] records have code c."""
    size = len(counts)
    nested, d = list[tuple[int, int]](), 0
    while not nested or nested[-1] != (0, size - 1):
        nested.append((max(0, centre - d), min(size - 1, centre + d)))
        d = max(d + 1, 7 * d // 5)
    rate = law.reach / (2 * max(q, 1 - q))
    odds = max(law.level / (1 - law.level) / Fraction(3, 2), Fraction(38, 15))
    wanted = Fraction(ceil(log(odds) / float(rate * Fraction(1, q.denominator))), q.denominator)
    margins = [_margin(counts, low, high, q) for low, high in nested]
    weights, prior = list[float](), 1
    for k, own in enumerate(margins):
        losses = [margins[k - 1] - wanted] if k else []
        losses += [wanted - own] if k + 1 < len(nested) or not k else []
        weights.append(prior * exp(-float(rate * max(losses))))
        prior = ceil(Fraction(8, 5) * prior)
    return {ends: weight / sum(weights) for ends, weight in zip(nested, weights, strict=True)}


def _margin(counts: tuple[int, ...], low: int, high: int, q: Fraction) -> Fraction:
    """The records that an interval reaches beyond the quantile, on the side where these are fewest; 0 for everything."""
    rank = q * sum(counts) if q else Fraction(1)
    above = sum(counts[: high + 1]) - rank + Fraction(1, q.denominator)
    below = rank - sum(counts[:low])
    return min(([above] if high < len(counts) - 1 else []) + ([below] if low else []), default=Fraction(0))
