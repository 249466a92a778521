"""The noise of a table beside its exact margins, as the document states it: its law, and independent draws of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.numbers import exact
from discreet.noise.bits import Bits
from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, Law, RoundedGaussian

__all__ = ["MarginNoise", "read_noise"]

Ints = NDArray[np.int64]
_Draw = Callable[[Fraction, tuple[int, int], int, int, Bits], Ints]


@dataclass(frozen=True, slots=True)
class MarginNoise:
    """Integer noise on a table whose row and column sums are 0.

    Args:
        name: as the document has it.
        parameter: the exact variance, scale or ε of the document.
        shape: the levels of the axes that hold somebody, as the lattice has them.
        turned: whether the first axis of the lattice is the second of the table.
        a: the semi-adjacency of the totals.
    """

    name: str
    parameter: Fraction
    shape: tuple[int, int]
    turned: bool
    a: int

    def draws(self, times: int, bits: Bits) -> Ints:
        """`times` independent tables of noise, in the shape of the table."""
        drawn = _DRAWS[self.name](self.parameter, self.shape, self.a, times, bits).reshape(times, *self.shape)
        return drawn.transpose(0, 2, 1) if self.turned else drawn

    def corner(self) -> Law | None:
        """For two rows and two columns the law of the first cell, which is the noise of all four up to the sign."""
        return _CORNERS[self.name](self.parameter) if self.shape == (2, 2) and self.name in _CORNERS else None


def read_noise(document: Mapping[str, Any], names: tuple[str, ...], shape: tuple[int, int], *, turned: bool) -> MarginNoise:
    """The noise of the counts of a release with the exact margins of two columns.

    Args:
        document: of the release.
        names: the two columns.
        shape: the levels of each that hold somebody.
        turned: whether the document lists the sums of the second column first.

    Raises:
        ArgumentError: noise whose law is not known here.
    """
    written = [one for one in document["noise"] if one["query"] == "rows"]
    if len(written) != 1 or len(document["plan"]["group_by"]) != 2 or written[0]["noise"] not in _PARAMETERS:
        raise _unknown(document)
    (noise,) = written
    parts = [part["columns"] for part in document["invariants"]["totals"]["parts"]]
    if sorted(parts) != sorted([name] for name in names):
        raise _unknown(document)
    lattice = shape[::-1] if turned else shape
    if noise.get("lattice") != f"1 table of {lattice[0]} x {lattice[1]}, with exact margins":
        raise _unknown(document)
    parameter = exact(noise[_PARAMETERS[noise["noise"]]], "noise")
    return MarginNoise(noise["noise"], parameter, lattice, turned, int(document["invariants"]["semi_adjacency"]["a"]))


def _unknown(document: Mapping[str, Any]) -> ArgumentError:
    return ArgumentError(
        f"release '{document['name']}': the joint law of the noise of these cells is not known to the test; release the "
        "counts by these two columns alone, beside the exact totals of both (dp.Margins) or of neither"
    )


# Draws --------------------------------------------------------------------------------------------------------------------


def _gaussian(sigma2: Fraction, shape: tuple[int, int], _a: int, times: int, bits: Bits) -> Ints:
    from discreet.noise.lattice.margin_gaussian import margins_gaussian

    return margins_gaussian(sigma2, shape, bits, blocks=times)


def _rounded(sigma2: Fraction, shape: tuple[int, int], _a: int, times: int, bits: Bits) -> Ints:
    from discreet.noise.lattice.nearest_plane import rounded_margins

    return np.asarray(rounded_margins(sigma2, shape, bits, depth=1, blocks=times), dtype=np.int64)


def _paired(scale: Fraction, shape: tuple[int, int], _a: int, times: int, bits: Bits) -> Ints:
    """A row that sums to 0, and its negative beneath: P(v) ∝ exp(-‖v‖₁/(2 scale))."""
    from discreet.noise.lattice.sum_zero import sum_zero_laplace

    long = max(shape)
    row = sum_zero_laplace(scale, np.full(times, long, dtype=np.int64), bits).reshape(times, long)
    return np.stack([row, -row], axis=1 if shape[0] == 2 else 2)


def _hull(epsilon: Fraction, shape: tuple[int, int], a: int, times: int, bits: Bits) -> Ints:
    from discreet.noise.lattice.k_norm import k_norm_noise
    from discreet.totals.enumerate import differences
    from discreet.totals.structure import Table, margin_equations

    cells = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(*shape, 1)
    points = differences(margin_equations(Table(cells, None)), a)
    if points is None:
        raise ArgumentError("release: the hull of this noise is too large to be listed; release fewer levels")
    return k_norm_noise(points, epsilon, times, bits)


def _laplace(scale: Fraction, shape: tuple[int, int], _a: int, times: int, bits: Bits) -> Ints:
    from discreet.noise.lattice.margin_laplace import expected_cells, margins_laplace

    most = int(_MOST_TRIED / expected_cells(shape, 1))
    if times > most:
        raise ArgumentError(
            f"draws={times}: noise of this law for a table of {shape[0]} x {shape[1]} takes too long to draw so often; "
            + (f"give draws={most} or fewer" if most >= _FEWEST else "release fewer levels, or under zCDP or GDP")
        )
    return np.asarray(margins_laplace(scale, shape, bits, depth=1, blocks=times), dtype=np.int64)


def _projected(scale: Fraction, shape: tuple[int, int], _a: int, times: int, bits: Bits) -> Ints:
    from discreet.noise.lattice.projected_laplace import projected_margins

    return np.asarray(projected_margins(scale, shape, bits, depth=1, blocks=times), dtype=np.int64)


_MOST_TRIED = 2 * 10**8  # cells that are drawn in trials
_FEWEST = 400

_DRAWS: Mapping[str, _Draw] = {
    "Gaussian on the lattice": _gaussian,
    "rounded Gaussian on the lattice": _rounded,
    "K-norm on the lattice": _paired,
    "K-norm of the hull": _hull,
    "Laplace on the lattice": _laplace,
    "projected Laplace on the lattice": _projected,
}
_PARAMETERS = {
    "Gaussian on the lattice": "variance",
    "rounded Gaussian on the lattice": "variance",
    "K-norm on the lattice": "scale",
    "K-norm of the hull": "epsilon",
    "Laplace on the lattice": "scale",
    "projected Laplace on the lattice": "scale",
}
_CORNERS: Mapping[str, Callable[[Fraction], Law]] = {
    "Gaussian on the lattice": lambda sigma2: DiscreteGaussian(sigma2 / 4),
    "rounded Gaussian on the lattice": lambda sigma2: RoundedGaussian(sigma2 / 4),
    "K-norm on the lattice": lambda scale: DiscreteLaplace(scale / 2),
}
"""Of v·(1, -1; -1, 1) the weight is exp(-4v²/(2σ²)) or exp(-4|v|/(2 scale)); rounding to the plane rounds N(0, σ²/4)."""
