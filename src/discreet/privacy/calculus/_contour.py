"""The contour integral behind `compose`: δ(ε) of a sum of independent losses, with bounds (Theorems F1 and F2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, fsum, inf, isfinite, log, log1p, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.exact.numbers import float_up
from discreet.privacy.calculus._losses import UNIT, Complex, Errors, Gaussian, Grid, Loss

__all__ = ["Bounds", "Contour", "Lattice", "cumulants", "integrate", "saddle_for_delta", "saddle_for_epsilon"]

_MOST_POINTS = 1 << 20
_MOST_LATTICE = 1 << 17
_MARGIN = 30.0  # e^−30: what periodicity may cost, relative to δ
_ACCURACY = 2e-4  # of ε, relatively: what the truncation of the integral may cost


class Bounds(NamedTuple):
    """lower ≤ truth ≤ upper."""

    lower: float
    upper: float


class Lattice(NamedTuple):
    """All losses lie on offset + spacing·Z."""

    offset: Fraction
    spacing: Fraction


def cumulants(losses: Sequence[Loss], c: float) -> tuple[float, float, float]:
    """K(c), K'(c) and K''(c) of the sum."""
    parts = [loss.cumulant(c) for loss in losses]
    # fsum: K(c) enters the leading factor, whose error bound allows no growth with the number of terms.
    return fsum(p[0] for p in parts), sum(p[1] for p in parts), sum(p[2] for p in parts)


def _rough(losses: Sequence[Loss], c: float) -> tuple[float, float]:
    """The ε whose saddle point is c, and log δ there by the saddle-point approximation."""
    value, mean, variance = cumulants(losses, c)
    epsilon = mean - 1 / c - 1 / (c + 1)
    width = variance + 1 / c**2 + 1 / (c + 1) ** 2
    return epsilon, value - c * epsilon - log(c) - log1p(c) - log(2 * pi * width) / 2


def _bisect(losses: Sequence[Loss], is_right: Callable[[float, float], bool]) -> float:
    """The tilt c at which `is_right(ε, log δ)` becomes true; a few per cent are near enough."""
    _, mean, variance = cumulants(losses, 0.0)
    scale = sqrt(variance) + abs(mean)
    low, high = log(1e-5 / scale), log(1e5 / scale)
    while high - low > 0.02:
        middle = (low + high) / 2
        if is_right(*_rough(losses, exp(middle))):
            high = middle
        else:
            low = middle
    return exp(high)


def saddle_for_epsilon(losses: Sequence[Loss], epsilon: float) -> tuple[float, float]:
    """A tilt suited to this ε, and log δ there, nearly."""
    c = _bisect(losses, lambda at, _: at >= epsilon)
    return c, min(_rough(losses, c)[1], -1e-3)


def saddle_for_delta(losses: Sequence[Loss], log_delta: float) -> tuple[float, float]:
    """A tilt suited to this δ, and the ε there, nearly."""
    c = _bisect(losses, lambda at, value: at > 0 and value <= log_delta)
    return c, max(_rough(losses, c)[0], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Contour:
    """The transform of the sum on the line Re s = c, ready to be evaluated at any ε."""

    tilt: float
    cumulant: float
    period: float
    grid: Grid
    weights: Complex
    sizes: NDArray[np.float64]
    errors: Errors
    chernoff: tuple[tuple[float, float], ...]
    truncated: float
    lattice: Lattice | None
    most: float

    def bounds(self, epsilon: float) -> Bounds:
        """Bounds of δ(ε), ε a double."""
        if epsilon >= self.most:
            return Bounds(0.0, 0.0)
        place, value, doubt = self._sum(epsilon)
        exponent = self.cumulant - self.tilt * place
        if exponent > 700:
            return Bounds(0.0, 1.0)
        scale = exp(exponent)
        relative = UNIT * (self.errors.cumulant + 4 * abs(self.cumulant) + 6 * abs(self.tilt * place) + 64)
        centre = scale * value
        if not isfinite(centre) or not isfinite(doubt):  # an overflow: nothing is known
            return Bounds(0.0, 1.0)
        spread = (scale * (doubt + self.truncated) + abs(centre) * relative) * (1 + 2 * relative + 1e-9)
        # 1e-320: results below the normal range of doubles are rounded absolutely.
        upper = centre + spread + 1e-320
        lower = centre - spread - self._aliases(epsilon) - 1e-320
        return Bounds(max(lower, 0.0), upper if upper < 1 else 1.0)

    def _sum(self, epsilon: float) -> tuple[float, float, float]:
        """The anchor of the tilt, the trapezoidal sum and its rounding error, without the factor e^{K − c·anchor}."""
        if self.lattice is None:
            place, kernel_error = epsilon, 16.0
            terms, sizes = self.weights, self.sizes
        else:
            place, kernel, kernel_error = self._lattice_kernel(self.lattice, epsilon)
            terms, sizes = self.weights * kernel, self.sizes * np.abs(kernel)
        terms = terms * self.grid.turn(-place)
        slope = self.errors.slope + 6 * abs(place)
        doubt = float((sizes * (self.errors.constant + kernel_error + 128 + slope * self.grid.points)).sum())
        return place, float(terms.real.sum()), doubt * UNIT * 1.01

    def _lattice_kernel(self, lattice: Lattice, epsilon: float) -> tuple[float, Complex, float]:
        """The sum of (1 − e^{ε−x})e^{−s(x−x₁)} over the lattice points x ≥ x₁ > ε, in closed form."""
        offset, spacing = lattice
        at = Fraction(epsilon)
        first = offset + ((at - offset) // spacing + 1) * spacing
        g, d = float(spacing), float(first - at)
        a = exp(-self.tilt * g) * np.conj(self.grid.turn(g))
        below, above = -expm1(-d), -exp(-d) * expm1(-float(spacing - (first - at)))
        kernel = np.asarray((below + a * above) / ((1 - a) * (1 - a * exp(-g))), dtype=np.complex128)
        # Where the numerator cancels its error stays the error of its terms: hence the size of the parts.
        share = (below + above) / np.maximum(np.abs(below + a * above), 1e-300)
        return float(first), kernel, float(np.max(share)) * (64 + 128 / (self.tilt * g))

    def _aliases(self, epsilon: float) -> float:
        """An upper bound of the sum of e^{cjP} δ(ε + jP) over j ≠ 0."""
        total = _powers(self.tilt * self.period)
        if (epsilon + self.period) * (1 - 1e-12) < self.most:
            total += min(self._beyond(tilt, value, epsilon) for tilt, value in self.chernoff)
        return total * 1.001  # for all roundings together, each below 1e-9

    def _beyond(self, tilt: float, value: float, epsilon: float) -> float:
        """An upper bound of the sum over j > 0, from K(tilt) = `value`, up to roundings."""
        exponent = value - tilt * epsilon
        return exp(exponent) * _powers((tilt - self.tilt) * self.period) / (1 + tilt) if exponent < 700 else inf


def _powers(x: float) -> float:
    """The sum of e^{−jx} over j = 1, 2, …, for x > 0."""
    return -exp(-x) / expm1(-x)


def integrate(
    losses: Sequence[Loss], c: float, epsilon: float, log_delta: float, *, lattice: Lattice | None, most: Fraction | None
) -> Contour:
    """The transform of the sum of `losses`, sampled for values near `epsilon` where δ is about e^log_delta.

    `most` is the largest possible sum (None: unbounded); `lattice` holds all sums, or is None.
    """
    chernoff = tuple((k * c, cumulants(losses, k * c)[0]) for k in (1.2, 1.5, 2.0, 3.0, 5.0))
    ceiling = float_up(most) if most is not None else inf
    period = _period(c, epsilon, log_delta, chernoff, ceiling)
    if lattice is not None and period / float(lattice.spacing) > _MOST_LATTICE:
        lattice = None
    samples = _on_line(losses, c, epsilon, period) if lattice is None else _on_lattice(lattice, period)
    product: Complex = np.ones(len(samples.grid.points), dtype=np.complex128)
    for loss in losses:
        product = loss.multiply(product, c, samples.grid)
    errors = [loss.errors(c) for loss in losses]
    return Contour(
        tilt=c,
        cumulant=cumulants(losses, c)[0],
        period=samples.period,
        grid=samples.grid,
        weights=product * samples.weights,
        sizes=np.abs(samples.weights),
        errors=Errors(*(sum(error[k] for error in errors) for k in range(3))),
        chernoff=chernoff,
        truncated=samples.truncated,
        lattice=lattice,
        most=ceiling,
    )


class _Samples(NamedTuple):
    """The points at which the transform is sampled, their weights, and a bound of the rest."""

    period: float
    grid: Grid
    weights: Complex
    truncated: float


def _on_line(losses: Sequence[Loss], c: float, epsilon: float, period: float) -> _Samples:
    """The trapezoidal rule with the kernel 1/(s(s + 1)), cut off where F2 bounds the rest."""
    step = 2 * pi / period
    normal = sum(loss.variance for loss in losses if isinstance(loss, Gaussian))
    grid = Grid(step, _count(c, epsilon, cumulants(losses, c)[2], normal, step))
    s = c + 1j * grid.points
    weights = np.asarray(step / pi / (s * (s + 1)), dtype=np.complex128)
    weights[0] /= 2
    reach = step * (len(grid.points) - 1)
    truncated = exp(-normal * reach**2 / 2 * (1 - 1e-12)) / (pi * reach) * 1.001
    return _Samples(period, grid, weights, truncated)


def _on_lattice(lattice: Lattice, period: float) -> _Samples:
    """An odd number of points over one period of the transform; the kernel depends on ε and comes later."""
    points = 2 * ceil(period / float(lattice.spacing) / 2) + 1
    period = points * float(lattice.spacing)
    grid = Grid(2 * pi / period, (points + 1) // 2)
    weights = np.where(np.arange(len(grid.points)) <= points // 2, 2.0 / points, 0.0).astype(np.complex128)
    weights[0] /= 2
    return _Samples(period, grid, weights, 0.0)


def _period(c: float, epsilon: float, log_delta: float, chernoff: tuple[tuple[float, float], ...], most: float) -> float:
    """A period after which nothing of δ is left, relative to itself."""
    period = (_MARGIN - log_delta) / c
    for _ in range(60):
        left = min(value - tilt * epsilon - (tilt - c) * period - log1p(tilt) for tilt, value in chernoff)
        if left <= log_delta - _MARGIN or epsilon + period >= most:
            break
        period *= 1.2
    return period if isfinite(period) else 1.0 / c


def _count(c: float, epsilon: float, variance: float, normal: float, step: float) -> int:
    """The number of points that make the truncated part a small share of δ."""
    share = _ACCURACY * max(c * epsilon, 0.1)
    needed = c * (c + 1) * sqrt(variance + 1 / c**2) * sqrt(2 * pi) / (pi * step * share)
    if normal > 0:
        needed = min(needed, 9 / sqrt(normal) / step)
    return int(min(max(needed, 64), _MOST_POINTS))
