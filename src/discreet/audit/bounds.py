"""Bounds of Clopper and Pearson, and the event that gives the largest difference of two data sets.

An event is a set of outputs {T ≥ t}. With counts of two independent samples, P(T ≥ t) is at least `below(…)` under the
first data set and at most `above(…)` under the second, each with the stated error; then no (ε, δ) with
δ < below - e^ε above can hold. The bounds of one event serve all ε at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

__all__ = ["Event", "above", "below", "best_events", "count_reached", "thresholds"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_SLACK = 1e-7
"""Relative: far more than the error of the special functions, and far less than the width of a bound."""
_MOST_THRESHOLDS = 200


@dataclass(frozen=True, slots=True)
class Event:
    """Bounds of the probability of one event: at least `low` under the first data set, at most `high` under the second."""

    low: float
    high: float

    def delta_at(self, epsilon: Fraction) -> float:
        """A lower bound of δ(ε), rounded down; not below 0."""
        return max(0.0, self.low - exp(min(float(epsilon), 700.0)) * self.high * (1 + _SLACK))

    def epsilon_at(self, delta: Fraction) -> float:
        """A lower bound of ε at this δ, rounded down; not below 0."""
        rest = (self.low - float(delta)) * (1 - _SLACK)
        return max(0.0, log(rest / self.high) - _SLACK) if rest > 0 else 0.0


def below(hits: _Ints, runs: int, error: float) -> _Floats:
    """The lower bound of Clopper and Pearson for a probability with `hits` of `runs`; wrong at most with `error`."""
    found = betaincinv(np.maximum(hits, 1), runs - hits + 1.0, error)
    return np.where(hits > 0, found * (1 - _SLACK), 0.0)


def above(hits: _Ints, runs: int, error: float) -> _Floats:
    """The upper bound of Clopper and Pearson: 1 - the lower bound of the failures."""
    # From the lower tail of the complement: 1 - error would lose the digits of a small error.
    failures = np.asarray(runs - hits)
    complement = betaincinv(np.maximum(failures, 1), hits + 1.0, error) * (1 - _SLACK)
    complement = np.where(failures > 0, complement, 0.0)
    return np.minimum(1.0, (1.0 - complement) * (1 + _SLACK))


def thresholds(first: _Floats, second: _Floats) -> _Floats:
    """Values of a statistic worth cutting at: all of them if they are few, else quantiles, close together in the tails."""
    both = np.unique(np.concatenate([np.unique(first), np.unique(second)]))
    if len(both) <= _MOST_THRESHOLDS:
        return _just_below(both)
    tail = np.logspace(-6, np.log10(0.5), _MOST_THRESHOLDS // 4)
    levels = np.concatenate([tail, 1 - tail])
    return _just_below(
        np.unique(np.concatenate([np.quantile(values, levels, method="lower") for values in (first, second)]))
    )


def _just_below(values: _Floats) -> _Floats:
    """Outputs of equal likelihood may differ in the last digits of a statistic; a threshold takes all or none of them."""
    return np.asarray(values - 1e-9 * (1 + np.abs(values)))


def best_events(
    first: _Floats, second: _Floats, cuts: _Floats, *, error: float, epsilons: tuple[Fraction, ...], delta: Fraction
) -> list[tuple[float, float]]:
    """For every ε, and for the largest ε at `delta`, the best value on the half that chooses, and the threshold of it.

    Args:
        first: the statistic under the first data set, sorted.
        second: that under the second, sorted.
        cuts: thresholds, as `thresholds` gives them.
        error: of each bound that will be made on the other half.
        epsilons: where δ(ε) is to be large.
        delta: where ε is to be large.
    """
    low = below(_count_reached(first, cuts), len(first), error)
    high = above(_count_reached(second, cuts), len(second), error)
    found = []
    for epsilon in epsilons:
        gains = low - np.exp(min(float(epsilon), 700.0)) * high
        found.append((float(gains.max()), float(cuts[gains.argmax()])))
    with np.errstate(divide="ignore"):
        ratios = np.where(low > float(delta), np.log(np.maximum(low - float(delta), 1e-300) / high), -inf)
    found.append((float(ratios.max()), float(cuts[ratios.argmax()])))
    return found


def count_reached(values: _Floats, cut: float) -> int:
    """The number of values that are at least the threshold."""
    return int(np.count_nonzero(values >= cut))


def _count_reached(ordered: _Floats, cuts: _Floats) -> _Ints:
    return np.asarray(len(ordered) - np.searchsorted(ordered, cuts, side="left"), dtype=np.int64)
