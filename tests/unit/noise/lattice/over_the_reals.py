"""Two semi-private mechanisms over the reals (Cho and Awan 2024, Algorithms 2 and 3). Floats leak: never for publication.

They show what the lattice mechanisms (`discreet.noise.lattice.k_norm`, `discreet.noise.lattice.klein`) are the exact
counterparts of, and are no part of the library. Noise in floating point leaks through its last bits (Mironov 2012). All
randomness comes from the generator of the caller, who can repeat it; noise that protects anybody
must not be repeatable.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.lattices import independent_rows
from discreet.exact.numbers import Amount, exact
from discreet.noise.lattice.cones import Points, k_norm

__all__ = ["Generator", "continuous_k_norm", "projected_gaussian"]

Reals = NDArray[np.float64]


class Generator(Protocol):
    """The methods of a NumPy generator that are used here."""

    def integers(self, low: int, /) -> int:
        """A uniform integer in [0, low)."""

    def standard_exponential(self, size: int, /) -> Reals:
        """Independent exponential numbers of mean 1."""

    def standard_gamma(self, shape: float, /) -> float:
        """A gamma number of that shape and scale 1."""

    def standard_normal(self, size: int, /) -> Reals:
        """Independent normal numbers of mean 0 and variance 1."""


def continuous_k_norm(theta: Reals, points: Points, epsilon: Amount, generator: Generator) -> Reals:
    """The statistic theta plus V, whose density is proportional to exp(-epsilon ‖v‖_K) on the span of S, K = conv(S).

    With real arithmetic this is ε-semi-DP if S holds all changes of the statistic beside the exact totals. V is a uniform
    point of K times a number of law Gamma(k + 1, 1/epsilon), k the dimension of the span; so ‖V‖_K ~ Gamma(k, 1/epsilon).
    (With the shape k instead of k + 1 the density would be infinite at 0, and the privacy loss with it.)

    Args:
        theta: the statistic, one finite number for each cell.
        points: S, integer vectors, each with its negative; see `discreet.noise.lattice.cones.k_norm`.
        epsilon: greater than 0.
        generator: a NumPy generator.
    """
    norm = k_norm(points)
    values = _checked_theta(theta, norm.dimension)
    rate = _checked_rate(epsilon, "epsilon")
    # A cone has as many offsets as its simplex has volume, in units of 1/k!: a uniform offset chooses a simplex by volume.
    cone = norm.cone_of[generator.integers(norm.polytope.pieces)]
    spacings = generator.standard_exponential(norm.rank + 1)
    uniform = (spacings[1:] / spacings.sum()) @ (norm.generators[cone] @ norm.basis).astype(np.float64)
    noise: Reals = uniform * (generator.standard_gamma(norm.rank + 1) / rate)
    return values + noise


def projected_gaussian(theta: Reals, points: Points, mu: Amount, generator: Generator) -> Reals:
    """The statistic theta plus N(0, (Δ/mu)² P): P projects onto the span of S, and Δ is the largest length |u| in S.

    With real arithmetic this is mu-semi-GDP if S holds all changes of the statistic beside the exact totals.

    Args:
        theta: the statistic, one finite number for each cell.
        points: S, integer vectors.
        mu: greater than 0.
        generator: a NumPy generator.
    """
    rows = [[int(entry) for entry in point] for point in points]
    span = np.array([rows[place] for place in independent_rows(rows)], dtype=np.float64).reshape(-1, len(rows[0]))
    values = _checked_theta(theta, span.shape[1])
    sensitivity = max(sum(entry**2 for entry in row) for row in rows) ** 0.5
    frame, _ = np.linalg.qr(span.T)
    normal = generator.standard_normal(span.shape[1])
    noise: Reals = (sensitivity / _checked_rate(mu, "mu")) * (frame @ (frame.T @ normal))
    return values + noise


def _checked_theta(theta: Reals, cells: int) -> Reals:
    values = np.asarray(theta, dtype=np.float64)
    if values.shape != (cells,) or not np.isfinite(values).all():
        raise ArgumentError(f"theta: must be {cells} finite numbers, one for each cell of the points")
    return values


def _checked_rate(value: Amount, name: str) -> float:
    number = exact(value, name)
    if number <= 0:
        raise ArgumentError(f"{name}={value!r}: must be greater than 0")
    return float(number)
