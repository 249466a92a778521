"""How well a regression fits: the part of the variance that it explains, and the F statistic, with intervals.

The sum of the squared residuals, with the columns that explain and with the intercept alone, is a quadratic form of noisy
moments. V10 in docs/proofs/vectors.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import law_of_parts
from discreet.statistics.estimate import Estimate
from discreet.statistics.joint_noise import half_width_of_laws
from discreet.statistics.linear_sets import Asked, Residual, residual_of
from discreet.statistics.moments import Moments, Normal
from discreet.statistics.recipe import Noises

__all__ = ["FITS", "MOST_F", "Fit"]

Floats = NDArray[np.float64]

FITS: Mapping[str, str] = MappingProxyType({"r2": "R²", "f": "F statistic"})
"""What can be asked of a fit, in words."""
MOST_F = 10**9
"""An F statistic beyond this is taken to be unknown."""
_OUTWARD = 2.0**-40


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """What is said of a regression as a whole.

    Args:
        moments: of all pairs of features, the square of the last one too.
        names: some of `FITS`, in their order.
    """

    moments: Moments
    names: tuple[str, ...]

    def estimates(self, normal: Normal, noises: Noises) -> tuple[Estimate, ...]:
        """One for each name; each interval rests on three statements about the noise, of a third of its probability."""
        law, failing = law_of_parts(noises.law(self.moments.query)), (1 - noises.level) / 3
        likely = self.moments.expected(1).values[0, :-1, :-1]
        size = len(likely)
        rest = residual_of(normal, law, failing, Asked(np.eye(size), likely))
        alone = replace(
            normal,
            values=normal.values[:, [0, -1]][:, :, [0, -1]],
            part=normal.part[np.ix_([0, -1], [0, -1])],
            scale=normal.scale[np.ix_([0, -1], [0, -1])],
        )
        whole = residual_of(alone, law, failing, Asked(np.eye(1), likely[:1, :1]))
        explained = _share(rest, whole)
        found = {"r2": explained, "f": _statistic(explained, self._rows(normal, noises, failing), size)}
        return tuple(found[name] for name in self.names)

    def _rows(self, normal: Normal, noises: Noises, failing: Fraction) -> Estimate:
        count = normal.values[:, 0, 0]
        if normal.part[0, 0] < 0:
            return Estimate(count, count, count)
        law = law_of_parts(noises.law(self.moments.query))
        wide = half_width_of_laws(law, [np.full(len(count), normal.scale[0, 0])], failing) * (1 + _OUTWARD)
        return Estimate(count, count - wide, count + wide)


def _share(rest: Residual, whole: Residual) -> Estimate:
    """1 - rest/whole, from 0 to 1."""
    with np.errstate(all="ignore"):
        value = 1 - rest.value / whole.value
        low = 1 - np.maximum(rest.high, 0.0) / np.maximum(whole.low, 0.0) - _OUTWARD
        high = 1 - np.maximum(rest.low, 0.0) / whole.high + _OUTWARD
    value = np.where(whole.value > 0, np.clip(value, 0.0, 1.0), 0.0)
    low = np.where((whole.low > 0) & np.isfinite(low), np.clip(low, 0.0, 1.0), 0.0)
    high = np.where((whole.high > 0) & np.isfinite(high), np.clip(high, 0.0, 1.0), 1.0)
    return Estimate(value, np.minimum(low, value), np.maximum(high, value))


def _statistic(explained: Estimate, rows: Estimate, size: int) -> Estimate:
    """R²/(1 - R²)·(n - size)/(size - 1), which grows with R² and with n."""

    def of(share: Floats, count: Floats) -> Floats:
        with np.errstate(all="ignore"):
            found = share / (1 - share) * np.maximum(count - size, 0.0) / (size - 1)
        return np.where(np.isfinite(found), np.clip(found, 0.0, MOST_F), np.where(share >= 1, float(MOST_F), 0.0))

    value = of(explained.value, rows.value)
    low, high = of(explained.low, rows.low) * (1 - _OUTWARD), of(explained.high, rows.high) * (1 + _OUTWARD)
    return Estimate(value, np.minimum(low, value), np.maximum(np.minimum(high, MOST_F), value))
