"""The kernels of `_zcdp` over arrays of doubles, in chunks that stay in the cache.

Theorem and error analysis (C2) are the same; only the assumption on the library is weaker, as vectorised logarithms
are: exp, log and log1p of NumPy within `_LIB`/2 = 4 units in the last place (measured: 0.7). Elements that need a rare
branch go through the scalar kernel, so the two cannot disagree about the corners.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import _zcdp

__all__ = ["zcdp_delta", "zcdp_epsilon", "zcdp_rho"]

Array = NDArray[np.float64]

_ULP = 2.0**-53 * (1 + 1e-6)
_LIB = 8
_ERROR_L = _LIB + 4
_EXP_UP = 1 + 3 * 2.0**-51  # for exp, the product and the sum: `_LIB` + 2 units of 2⁻⁵³, and two to spare
_CHUNK = 8192
_SMALL = 1.0  # below it, where δ is near 1, the fraction for L is too rough


def zcdp_delta(rho: Array, epsilon: Array) -> Array:
    """`_zcdp.zcdp_delta` for every pair of two one-dimensional arrays."""
    return _apply_in_chunks(_delta_chunk, rho, epsilon)


def zcdp_epsilon(rho: Array, delta: Array) -> Array:
    """`_zcdp.zcdp_epsilon` for every pair of two one-dimensional arrays."""
    return _apply_in_chunks(_epsilon_chunk, rho, delta)


def zcdp_rho(epsilon: Array, delta: Array) -> Array:
    """`_zcdp.zcdp_rho` for every pair of two one-dimensional arrays."""
    pairs = zip(epsilon.tolist(), delta.tolist(), strict=True)
    return np.fromiter((_zcdp.zcdp_rho(e, d) for e, d in pairs), dtype=np.float64, count=len(epsilon))


def _apply_in_chunks(kernel: Callable[[Array, Array], Array], first: Array, second: Array) -> Array:
    out = np.empty(len(first))
    with np.errstate(all="ignore"):  # overflow and NaN are caught by the final comparison of each kernel
        for start in range(0, len(first), _CHUNK):
            part = slice(start, start + _CHUNK)
            out[part] = kernel(first[part], second[part])
    return out


def _scalar_where(odd: NDArray[np.bool_], out: Array, scalar: Callable[[float, float], float], *arguments: Array) -> None:
    """`out` gets the scalar kernel's answer wherever `odd` is true."""
    for index in np.flatnonzero(odd).tolist():
        out[index] = scalar(float(arguments[0][index]), float(arguments[1][index]))


def _delta_chunk(rho: Array, epsilon: Array) -> Array:
    d = epsilon - rho
    u = np.sqrt(epsilon * epsilon + 8 * rho)
    u += epsilon
    u /= 4 * rho
    u -= 0.5
    # Anything but this is rare: small u, huge arguments, the trivial answers.
    common = (u >= _SMALL) & (d > -40) & (rho < 1e100) & (u < 1e100) & (rho > 1e-200)
    out = _delta_bound(rho, d, _delta_root(rho, d, u))
    _scalar_where(~common, out, _zcdp.zcdp_delta, rho, epsilon)
    return out


def _delta_root(rho: Array, d: Array, u: Array) -> Array:
    """`_zcdp.delta_root`, element by element, from a start of at least 1."""
    # Two Halley steps with Padé's approximation of L, which is 1e-8 off at u = 1 and far less beyond: cheaper than log1p.
    u = _halley(rho, d, u, _pade(u))
    return _halley(rho, d, u, _pade(u))


def _pade(u: Array) -> Array:
    """log(1 + 1/u) = 2 artanh t with t = 1/(2u + 1), by the quotient of degree [5/4]."""
    t = u + u
    t += 1
    np.divide(1, t, out=t)
    square = t * t
    top = 128 * square
    top -= 1470
    top *= square
    top += 1890
    bottom = 225 * square
    bottom -= 1050
    bottom *= square
    bottom += 945
    top /= bottom
    top *= t
    return top


def _halley(rho: Array, d: Array, u: Array, big_l: Array) -> Array:
    """One step towards the root of 2ρu − L = d, where `big_l` approximates L(u). Overwrites `big_l`."""
    slope = rho * u
    slope *= 2
    value = np.subtract(slope, big_l, out=big_l)
    value -= d
    value *= u
    slope *= u
    ratio = u / (u + 1)
    slope += ratio
    ratio *= 1 + ratio
    ratio *= value
    ratio *= 0.5
    value *= slope
    slope *= slope
    slope += ratio
    value /= slope
    value *= u
    return np.subtract(u, value, out=value)


def _delta_bound(rho: Array, d: Array, u: Array) -> Array:
    """`_zcdp.delta_at_order`, element by element, for u between 1e-300 and 1e165."""
    growth = u * rho
    big_l = u * np.log1p(1 / u)
    big_m = np.log1p(u)
    centre = u * (growth - d)
    exponent = centre - big_l
    exponent -= big_m
    error = np.abs(d)
    error += growth
    error *= u
    error += 3 * np.abs(centre)
    error += _ERROR_L * big_l
    error += _LIB * big_m
    error += 2 * np.abs(exponent)
    error *= _ULP
    exponent += error
    out = np.exp(exponent)
    out *= _EXP_UP
    out += 1e-323
    np.fmin(out, 1.0, out=out)  # fmin also turns NaN into 1
    return out


def _epsilon_chunk(rho: Array, delta: Array) -> Array:
    length = -np.log(delta)
    u = np.sqrt(length / rho)
    u = np.sqrt(np.maximum(length - np.log1p(u), 0.25 * np.minimum(length, 2.0)) / rho)
    u = np.minimum(u, 0.9 / delta)
    common = (u > 0.5) & (u < 1e100) & (rho < 1e100) & (rho > 1e-200) & (delta > 1e-300)
    u = _epsilon_root(rho, length, u)
    out = _epsilon_bound(rho, length, u)
    cancelled = out * u
    cancelled *= _zcdp.CANCELLED
    common &= (cancelled >= length) | (out == 0)
    _scalar_where(~common, out, _zcdp.zcdp_epsilon, rho, delta)
    return out


def _epsilon_root(rho: Array, length: Array, u: Array) -> Array:
    """`_zcdp.epsilon_root`, element by element: two of Halley's steps from a start that is near."""
    for _ in range(2):
        square = rho * u
        square *= u
        ratio = u / (u + 1)
        value = np.log1p(u)
        value += square
        value -= length
        square *= 2
        slope = square + ratio
        ratio *= ratio
        square -= ratio
        square *= value
        square *= 0.5
        value *= slope
        slope *= slope
        slope -= square
        value /= slope
        value *= u
        u = u - np.minimum(value, 0.9 * u)
    return u


def _epsilon_bound(rho: Array, length: Array, u: Array) -> Array:
    """`_zcdp.epsilon_at_order` with τ = (1 + u)ρ, element by element."""
    big_l = np.log1p(1 / u)
    big_m = np.log1p(u)
    tau = u * rho
    tau += rho
    slack = (length - big_m) / u
    top = tau + slack
    top -= big_l
    error = _LIB * (length + big_m) / u
    error += 3 * tau
    error += 4 * np.abs(slack)
    error += _ERROR_L * big_l
    error += 2 * np.abs(top)
    error *= _ULP
    top += error
    top *= _zcdp.SUM_UP
    top[top != top] = np.inf  # noqa: PLR0124 - NaN, from an overflow, becomes no guarantee
    return np.maximum(top, 0.0)
