"""Rational centres of a discrete Gaussian, a stretch at a time: nearest integer, exact rest, and the rest in doubles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError

__all__ = ["Centres", "Stretch"]

_MOST = 1 << 61  # so that every step below, and centre + noise, stays inside int64
_GUESSED = 1 << 50


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some centres: whole + rest/divisor, where |rest/divisor| ≤ 1/2 and `fraction` is that quotient rounded."""

    whole: NDArray[np.int64]
    rest: NDArray[np.int64]
    divisor: NDArray[np.int64]
    fraction: NDArray[np.float64]

    def point(self, place: int, x: int) -> Fraction:
        """The number x(x - 2f) for the fraction f of that place, exactly."""
        return x * (x - 2 * Fraction(int(self.rest[place]), int(self.divisor[place])))


class Centres:
    """All centres of one call, as numerators and positive denominators, with memory for one stretch of them."""

    __slots__ = ("_divisor", "_fraction", "_rest", "_small", "_spare", "_top", "_whole", "size")

    def __init__(self, numerators: NDArray[np.int64], denominators: int | NDArray[np.int64], stretch: int) -> None:
        top, divisor = np.asarray(numerators), np.asarray(denominators)
        _check(top, divisor)
        self.size = top.size
        self._top = top.astype(np.int64, copy=False)
        self._divisor = np.broadcast_to(divisor.astype(np.int64, copy=False), top.shape)
        self._small = top.size == 0 or max(-int(top.min()), int(top.max())) < _GUESSED
        room = min(stretch, top.size)
        self._whole, self._rest, self._spare = (np.empty(room, dtype=np.int64) for _ in range(3))
        self._fraction = np.empty(room, dtype=np.float64)

    def split(self, places: slice | NDArray[np.intp]) -> Stretch:
        """The centres of some places, valid until the next call.

        A quotient in doubles of a numerator below 2^50 errs by less than 1/4, and a floor is at most one too low: one
        step in integers sets the whole right.
        """
        top, divisor = self._top[places], self._divisor[places]
        n = top.size
        whole, rest, twice, fraction = self._whole[:n], self._rest[:n], self._spare[:n], self._fraction[:n]
        if self._small:
            np.divide(top, divisor, out=fraction)
            np.rint(fraction, out=fraction)
            whole[:] = fraction
        else:
            np.floor_divide(top, divisor, out=whole)
        np.multiply(whole, divisor, out=rest)
        np.subtract(top, rest, out=rest)
        np.left_shift(rest, 1, out=twice)
        np.abs(twice, out=twice)
        wrong = np.flatnonzero(twice > divisor)
        step = np.sign(rest[wrong])
        whole[wrong] += step
        rest[wrong] -= step * divisor[wrong]
        np.divide(rest, divisor, out=fraction)
        return Stretch(whole, rest, divisor, fraction)


def _check(top: NDArray[np.int64], divisor: NDArray[np.int64]) -> None:
    if top.dtype.kind not in "iu" or divisor.dtype.kind not in "iu" or top.ndim != 1:
        raise ArgumentError("centres: numerators must be a one-dimensional array of integers, denominators integers")
    if divisor.shape not in {(), top.shape}:
        raise ArgumentError("centres: there must be one denominator for all centres or one for each")
    if divisor.size and not (int(divisor.min()) >= 1 and int(divisor.max()) <= _MOST):
        raise ArgumentError("centres: denominators must lie in [1, 2**61]")
    if top.size and not (int(top.min()) >= -_MOST and int(top.max()) <= _MOST):
        raise ArgumentError("centres: numerators must lie within ±2**61")
