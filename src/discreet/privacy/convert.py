"""Conversions between ρ-zCDP, Rényi curves, μ-GDP and (ε, δ), each rounded to the safe side.

δ and ε are upper bounds, ρ and μ are lower bounds: never on the optimistic side, within 1e-12 of the exact value for
δ ≥ 1e-300. Every function takes scalars or NumPy arrays (which broadcast) and answers in kind. A float means its exact
binary value; int, Fraction, Decimal and text are exact numbers, rounded to a double in the safe direction first.

| function | theorem (docs/proofs/privacy.md) | certified by |
|---|---|---|
| `zcdp_*` | C1 | doubles with an error bound found beforehand |
| `rdp_*` | T1 | the same |
| `gaussian_*` | G1 | interval arithmetic |

Domains: ρ, μ, ε in [0, ∞], δ in [0, 1], orders α > 1. Raises ArgumentError outside them and for NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf, isnan, log
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.numbers import exact, float_down, float_up
from discreet.privacy import _gaussian, _zcdp, _zcdp_arrays

__all__ = [
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "rdp_delta",
    "rdp_epsilon",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]

Number = int | str | Decimal | Fraction | float
Array = NDArray[np.float64]
ArrayLike = Array | Sequence[float]


@overload
def zcdp_delta(rho: Number, epsilon: Number) -> float: ...
@overload
def zcdp_delta(rho: ArrayLike, epsilon: ArrayLike | Number) -> Array: ...
@overload
def zcdp_delta(rho: Number, epsilon: ArrayLike) -> Array: ...
def zcdp_delta(rho: Any, epsilon: Any) -> Any:
    """Every ρ-zCDP mechanism is (ε, δ)-DP for the δ returned (Theorem C1, the infimum over all orders; upper bound)."""
    if type(rho) is float and type(epsilon) is float and rho >= 0 and epsilon >= 0:
        return _zcdp.zcdp_delta(rho, epsilon)
    return _apply(_zcdp.zcdp_delta, _zcdp_arrays.zcdp_delta, _above(rho, "rho"), _below(epsilon, "epsilon"))


@overload
def zcdp_epsilon(rho: Number, delta: Number) -> float: ...
@overload
def zcdp_epsilon(rho: ArrayLike, delta: ArrayLike | Number) -> Array: ...
@overload
def zcdp_epsilon(rho: Number, delta: ArrayLike) -> Array: ...
def zcdp_epsilon(rho: Any, delta: Any) -> Any:
    """Every ρ-zCDP mechanism is (ε, δ)-DP for the ε returned (Theorem C1, the infimum over all orders; upper bound)."""
    if type(rho) is float and type(delta) is float and rho >= 0 and 0 <= delta <= 1:
        return _zcdp.zcdp_epsilon(rho, delta)
    return _apply(_zcdp.zcdp_epsilon, _zcdp_arrays.zcdp_epsilon, _above(rho, "rho"), _probability(delta))


@overload
def zcdp_rho(epsilon: Number, delta: Number) -> float: ...
@overload
def zcdp_rho(epsilon: ArrayLike, delta: ArrayLike | Number) -> Array: ...
@overload
def zcdp_rho(epsilon: Number, delta: ArrayLike) -> Array: ...
def zcdp_rho(epsilon: Any, delta: Any) -> Any:
    """Every mechanism with the ρ returned is (ε, δ)-DP: `zcdp_delta(zcdp_rho(ε, δ), ε) <= δ` holds (lower bound)."""
    return _apply(_zcdp.zcdp_rho, _zcdp_arrays.zcdp_rho, _below(epsilon, "epsilon"), _probability(delta))


@overload
def gaussian_delta(mu: Number, epsilon: Number) -> float: ...
@overload
def gaussian_delta(mu: ArrayLike, epsilon: ArrayLike | Number) -> Array: ...
@overload
def gaussian_delta(mu: Number, epsilon: ArrayLike) -> Array: ...
def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    """The exact δ(ε) of the Gaussian mechanism with μ = sensitivity/σ, rounded up (Theorem G1)."""
    return _apply(_gaussian.delta, _elementwise(_gaussian.delta), _above(mu, "mu"), _below(epsilon, "epsilon"))


@overload
def gaussian_epsilon(mu: Number, delta: Number) -> float: ...
@overload
def gaussian_epsilon(mu: ArrayLike, delta: ArrayLike | Number) -> Array: ...
@overload
def gaussian_epsilon(mu: Number, delta: ArrayLike) -> Array: ...
def gaussian_epsilon(mu: Any, delta: Any) -> Any:
    """The smallest ε with `gaussian_delta(mu, ε) <= delta`, rounded up and verified with it (Theorem G1)."""
    return _apply(_gaussian.epsilon, _elementwise(_gaussian.epsilon), _above(mu, "mu"), _probability(delta))


@overload
def gaussian_mu(epsilon: Number, delta: Number) -> float: ...
@overload
def gaussian_mu(epsilon: ArrayLike, delta: ArrayLike | Number) -> Array: ...
@overload
def gaussian_mu(epsilon: Number, delta: ArrayLike) -> Array: ...
def gaussian_mu(epsilon: Any, delta: Any) -> Any:
    """The largest μ with `gaussian_delta(μ, epsilon) <= delta`, rounded down and verified with it (Theorem G1)."""
    return _apply(_gaussian.mu, _elementwise(_gaussian.mu), _below(epsilon, "epsilon"), _probability(delta))


def rdp_delta(alphas: Sequence[Number], taus: Sequence[Number], epsilon: Number) -> float:
    """A mechanism with D_α ≤ τ at each of the orders α is (ε, δ)-DP for the δ returned (Theorem T1; upper bound)."""
    at = _single(_below(epsilon, "epsilon"), "epsilon")
    if at == inf:
        return 0.0
    return min((_rdp_delta_one(alpha, tau, at) for alpha, tau in _curve(alphas, taus)), default=1.0)


def rdp_epsilon(alphas: Sequence[Number], taus: Sequence[Number], delta: Number) -> float:
    """A mechanism with D_α ≤ τ at each of the orders α is (ε, δ)-DP for the ε returned (Theorem T1; upper bound)."""
    at = _single(_probability(delta), "delta")
    curve = _curve(alphas, taus)
    if at == 1 or any(tau == 0 for _, tau in curve):
        return 0.0
    if at == 0:
        return inf
    length = -log(at)
    bounds = (_zcdp.epsilon_at_order(_zcdp.clamp_u(alpha - 1), tau, length) for alpha, tau in curve)
    return min(bounds, default=inf)


def _rdp_delta_one(alpha: float, tau: float, epsilon: float) -> float:
    if tau == 0:
        return 0.0  # D_α = 0 means equal distributions
    d = epsilon - tau
    return 1.0 if d == -inf else _zcdp.delta_at_order(_zcdp.clamp_u(alpha - 1), d, 0.0)


def _curve(alphas: Sequence[Number], taus: Sequence[Number]) -> list[tuple[float, float]]:
    """The curve in doubles: orders rounded down, divergences up; sound because D_α does not decrease with α."""
    if len(alphas) != len(taus):
        raise ArgumentError(f"alphas, taus: must have the same length, not {len(alphas)} and {len(taus)}")
    pairs: list[tuple[float, float]] = []
    for alpha, tau in zip(alphas, taus, strict=True):
        order, bound = _single(_below(alpha, "alphas"), "alphas"), _single(_above(tau, "taus"), "taus")
        if not _above(alpha, "alphas") > 1:
            raise ArgumentError(f"alphas={alpha!r}: every order must be greater than 1")
        if pairs and order < pairs[-1][0]:
            raise ArgumentError(f"alphas={alpha!r}: the orders must be increasing")
        if order > 1:  # nothing follows from an order that is at most 1 as a double
            pairs.append((order, bound))
    return pairs


def _single(value: float | Array, name: str) -> float:
    if not isinstance(value, float):
        raise ArgumentError(f"{name}: must be a number here, not an array")
    return value


def _apply(
    scalar: Callable[[float, float], float],
    vector: Callable[[Array, Array], Array],
    first: float | Array,
    second: float | Array,
) -> float | Array:
    if isinstance(first, float) and isinstance(second, float):
        return scalar(first, second)
    try:
        a, b = np.broadcast_arrays(first, second)
    except ValueError:
        raise ArgumentError(f"arrays of shapes {np.shape(first)} and {np.shape(second)}: must broadcast together") from None
    return vector(np.ascontiguousarray(a).ravel(), np.ascontiguousarray(b).ravel()).reshape(a.shape)


def _elementwise(scalar: Callable[[float, float], float]) -> Callable[[Array, Array], Array]:
    def vector(first: Array, second: Array) -> Array:
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.fromiter((scalar(a, b) for a, b in pairs), dtype=np.float64, count=len(first))

    return vector


def _above(value: Any, name: str) -> float | Array:
    """`value` as doubles, exact numbers rounded up; refused unless in [0, ∞]."""
    return _check_argument(value, name, float_up, inf)


def _below(value: Any, name: str) -> float | Array:
    """`value` as doubles, exact numbers rounded down; refused unless in [0, ∞]."""
    return _check_argument(value, name, float_down, inf)


def _probability(value: Any) -> float | Array:
    """`value` as doubles, exact numbers rounded down; refused unless in [0, 1]."""
    return _check_argument(value, "delta", float_down, 1.0)


def _check_argument(value: Any, name: str, directed: Callable[[Fraction], float], most: float) -> float | Array:
    if isinstance(value, np.integer | np.float32 | np.float16):
        value = value.item()
    if isinstance(value, float):
        number = float(value)
    elif isinstance(value, np.ndarray | list | tuple):
        return _check_array(value, name, most)
    else:
        number = directed(exact(value, name))
    if isnan(number) or not 0 <= number <= most:
        rule = "must be at least 0" if most == inf else f"must lie between 0 and {most:g}"
        raise ArgumentError(f"{name}={value!r}: {rule}")
    return number


def _from_list(value: list[Any] | tuple[Any, ...], name: str) -> NDArray[Any]:
    """The list as an array; NumPy alone would read [True, 0.5] as numbers."""
    if any(isinstance(one, bool | np.bool_) for one in np.asarray(value, dtype=object).flat):
        raise ArgumentError(f"{name}: must be a list of numbers, without booleans")
    try:
        return np.asarray(value)
    except ValueError:
        raise ArgumentError(f"{name}: the rows of a nested list must have equal lengths") from None


def _check_array(value: Any, name: str, most: float) -> Array:
    array = value if isinstance(value, np.ndarray) else _from_list(value, name)
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise ArgumentError(f"{name}: must be an array of doubles or integers, not of {array.dtype}")
    if array.dtype.kind in "iu" and np.any(array > 2**53):
        raise ArgumentError(f"{name}: integers in arrays must be at most 2**53, to be exact as doubles")
    array = array.astype(np.float64, copy=False)
    if not (np.all(array >= 0) and np.all(array <= most)):
        rule = "must be at least 0" if most == inf else f"must lie between 0 and {most:g}"
        raise ArgumentError(f"{name}: every element {rule}, and none may be NaN")
    return array
