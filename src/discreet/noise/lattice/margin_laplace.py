"""The ℓ₁ law of tables whose two margins are 0: integers with P(v) proportional to exp(-|v|₁/scale), by rejection.

All rows but the last two are drawn, each given its sum 0; S is their sum. The last two, a and b, have the sum -S, so that
|a_j| + |b_j| = max(|S_j|, |y_j|) for y = a - b, where y_j and S_j are both even or both odd. So y is drawn with a weight
exp(-|y|₁/scale), and the whole is accepted with exp(-Σ (|S_j| - |y_j|)⁺/scale): a geometric number decides it. Where cells
share a place, the last row is left out instead, and the whole is accepted with the chance that cells of a place have their
sum, relative to that of 0. Acceptance depends on nothing but the numbers drawn. Proof: docs/proofs/lattice-l1.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from math import comb, exp, lgamma, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError
from discreet.exact.balls import Ball, ball, enclosure
from discreet.exact.lattices import narrow
from discreet.noise._lazy import below_each
from discreet.noise._parameters import MOST_SCALE, positive
from discreet.noise.bits import Bits
from discreet.noise.lattice.sum_zero import sum_zero_laplace
from discreet.noise.single import scalar

__all__ = ["LEAST_SCALE", "MOST_DEPTH", "expected_cells", "margins_laplace"]

LEAST_SCALE = Fraction(1, 16)
"""Noise of a smaller scale is 0 but for a chance of e^-16 in a cell, and has no use here."""

MOST_DEPTH = 256

_TOGETHER = 1 << 20  # cells of trials that are drawn together
_ROOM = 1 << 61
_MARGIN = 1e-6  # of the logarithm of a chance: more than the arithmetic of doubles errs
_NEVER = -600.0

Integers = NDArray[Any]  # int64, or Python integers where those could overflow


def margins_laplace(scale: Fraction, shape: tuple[int, int], bits: Bits, *, depth: int, blocks: int) -> Integers:
    """Independent tables of integers with both margins 0, P(v) exactly proportional to exp(-|v|₁/scale).

    Args:
        scale: an exact rational in [1/16, 10^17].
        shape: the numbers of levels of the two axes, each at least 1.
        bits: the source of random bits.
        depth: cells for each place of `shape`, which no margin distinguishes; at most 256.
        blocks: how many tables.

    Returns:
        Integers of shape (blocks, *shape, depth).

    Raises:
        ArgumentError: for a scale or a depth out of range.
    """
    t = positive(scale, "scale", most=MOST_SCALE)
    if t < LEAST_SCALE or not 1 <= depth <= MOST_DEPTH:
        raise ArgumentError(f"scale={t}, depth={depth}: the scale must be at least 1/16 and the depth in [1, {MOST_DEPTH}]")
    rows, columns = max(shape), min(shape)
    if columns == 1:
        drawn = _draw_rows(t, (blocks * rows, depth), bits)
    else:
        drawn = _accepted(t, (rows, columns, depth), blocks, bits)
    found = drawn.reshape(blocks, rows, columns, depth)
    return narrow(found if shape == (rows, columns) else found.swapaxes(1, 2))


def expected_cells(shape: tuple[int, int], depth: int) -> float:
    """About the number of cells that are drawn for one table: those of a trial, divided by the chance of accepting it.

    The chance is a quotient of sums over lattices. The sum over tables is estimated as if rows, columns and the whole were
    independent (Good 1976), for a large scale; at a small one it is larger.
    """
    rows, columns = max(shape), min(shape)
    if columns == 1:
        return float(rows * depth)
    whole = rows * columns * depth
    tables = rows * _log_at_zero(columns * depth) + columns * _log_at_zero(rows * depth) - _log_at_zero(whole)
    if depth == 1:
        drawn = (rows - 2) * _log_at_zero(columns) - (2 * columns) * log(2)
        return (rows - 1) * columns * exp(min(700.0, drawn - tables))
    drawn = (rows - 1) * _log_at_zero(columns * depth) + columns * _log_at_zero(depth)
    return whole * exp(min(700.0, drawn - tables))


def _log_at_zero(cells: int) -> float:
    """The logarithm of the density at 0 of a sum of so many Laplace numbers of scale 1."""
    return lgamma(cells - 0.5) - lgamma(cells) - log(4 * pi) / 2


def _accepted(scale: Fraction, size: tuple[int, int, int], blocks: int, bits: Bits) -> Integers:
    """So many tables of that many rows, columns and cells at a place."""
    trial = _try_pairs if size[2] == 1 else _try_places
    each = size[0] * size[1] * size[2]
    likely = expected_cells(size[:2], size[2]) / each
    found: list[Integers] = [np.zeros((0, *size), dtype=np.int64)]
    missing = blocks
    while missing:
        together = int(min(1.5 * missing * likely + 16, _TOGETHER // each + 1))
        found.append(trial(scale, size, together, bits)[:missing])
        missing -= len(found[-1])
    return np.concatenate(found)


def _draw_rows(scale: Fraction, shape: tuple[int, ...], bits: Bits) -> Integers:
    """Independent vectors of sum 0 along the last axis, in integers that can be added and doubled."""
    count = int(np.prod(shape[:-1], dtype=np.int64))
    drawn = sum_zero_laplace(scale, np.full(count, shape[-1], dtype=np.int64), bits)
    return _widen(drawn, 8 * shape[-1] * max(1, shape[-2])).reshape(shape)


def _widen(values: Integers, factor: int) -> Integers:
    """Python integers where so many times the largest value might not fit."""
    if values.dtype != object and int(np.abs(values).max(initial=0)) * factor >= _ROOM:
        return values.astype(object)
    return values


def _try_pairs(scale: Fraction, size: tuple[int, int, int], trials: int, bits: Bits) -> Integers:
    """The tables of the trials that are accepted, one cell at each place."""
    rows, columns, _ = size
    first = _draw_rows(scale, (trials, rows - 2, columns), bits)
    total = first.sum(axis=1)
    odd = (total & 1).astype(bool)
    free = _draw_alike(scale, odd[:, :-1], bits)
    last = -free.sum(axis=1)
    y = np.concatenate([free, last[:, None]], axis=1)
    excess = np.abs(last) + np.maximum(np.abs(total) - np.abs(y), 0).sum(axis=1)
    kept = np.flatnonzero(scalar.geometric(scale, trials, bits) >= excess)
    kept = kept[_accept_odd(scale, odd[kept, :-1].sum(axis=1), bits)]
    total, y = total[kept], y[kept]
    both = np.stack([(y - total) // 2, -(y + total) // 2], axis=1)
    return np.concatenate([first[kept], both], axis=1)[..., None]


def _draw_alike(scale: Fraction, odd: NDArray[np.bool_], bits: Bits) -> Integers:
    """Independent integers, odd or even as said, with P(y) proportional to exp(-|y|/scale) among those."""
    many = int(odd.sum())
    even = 2 * _widen(scalar.discrete_laplace(scale / 2, odd.size - many, bits), 8 * odd.shape[1])
    size = 2 * _widen(scalar.geometric(scale / 2, many, bits), 8 * odd.shape[1]) + 1
    sign = 1 - 2 * (bits.words(many) & np.uint64(1)).astype(np.int64)
    found = np.zeros(odd.shape, dtype=np.result_type(even, size))
    found[~odd], found[odd] = even, size * sign
    return found


def _accept_odd(scale: Fraction, many: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """True with the chance (Σ_odd q^|y| / Σ_even q^|y|)^many = cosh(1/scale)^-many, independently."""
    powers, of_power = np.unique(many, return_inverse=True)
    bounds = np.array([_odd_bounds(scale, int(power)) for power in powers]).reshape(-1, 2)[of_power]
    return below_each(bounds, lambda place: _odd_share(scale, int(many[place])), bits)


@lru_cache(maxsize=1 << 10)
def _odd_bounds(scale: Fraction, power: int) -> tuple[float, float]:
    return enclosure(partial(_odd_share, scale, power), at_most=1.0)


def _odd_share(scale: Fraction, power: int) -> Ball:
    return (1 / (1 / ball(scale)).cosh()) ** power


def _try_places(scale: Fraction, size: tuple[int, int, int], trials: int, bits: Bits) -> Integers:
    """The tables of the trials that are accepted, several cells at each place."""
    rows, columns, depth = size
    first = _draw_rows(scale, (trials, rows - 1, columns * depth), bits).reshape(trials, rows - 1, columns, depth)
    total = first.sum(axis=(1, 3))
    logs = _log_chances(scale, depth, np.abs(total))
    bounds = np.stack([_exp_or_0(logs - _MARGIN), np.minimum(1.0, np.exp(np.maximum(logs + _MARGIN, _NEVER)))], axis=1)
    kept = below_each(bounds, lambda place: _chance(scale, depth, total[place]), bits)
    last = _split_sums(scale, -total[kept].ravel(), depth, bits).reshape(-1, 1, columns, depth)
    return np.concatenate([first[kept], last], axis=1)


def _exp_or_0(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(logs > _NEVER, np.exp(np.maximum(logs, _NEVER)), 0.0)


def _log_chances(scale: Fraction, depth: int, sums: Integers) -> NDArray[np.float64]:
    """The logarithms of Π_j A(s_j)/A(0) for each row of `sums`, to within 1e-6; A(s) belongs to cells that have the sum s.

    A(s) is proportional to e^{-s/scale} Σ_i u_i, i < depth, with u_{depth-1} = 1 and
    u_{i-1}/u_i = i(s + i)/((depth - 1 + i)(depth - i)) · (e^{2/scale} - 1). The last sum is that of s = 0.
    """
    s = np.append(sums.astype(np.float64).ravel(), 0.0)
    steepness = log(np.expm1(float(2 / scale)))
    term = total = np.zeros(s.size)
    for i in range(depth - 1, 0, -1):
        term = term + np.log(s + i) + (log(i) - log(depth - 1 + i) - log(depth - i) + steepness)
        total = np.logaddexp(total, term)
    logs = total[:-1] - total[-1] - s[:-1] / float(scale)
    return np.asarray(logs.reshape(sums.shape).sum(axis=1))


def _chance(scale: Fraction, depth: int, sums: Integers) -> Ball:
    """Π_j A(s_j)/A(0)."""
    found = ball(1)
    for one in sums.tolist():
        found *= _weight(scale, depth, abs(int(one))) / _weight(scale, depth, 0)
    return found


def _weight(scale: Fraction, depth: int, s: int) -> Ball:
    """A(s) but for a factor: q^s Σ_i C(depth - 1 + i, i) C(depth - 1 + s, s + i) y^i, y = q²/(1 - q²)."""
    y = 1 / (2 / ball(scale)).expm1()
    terms = (comb(depth - 1 + i, i) * comb(depth - 1 + s, depth - 1 - i) * y**i for i in range(depth))
    return (-ball(Fraction(s) / scale)).exp() * sum(terms, ball(0))


def _split_sums(scale: Fraction, sums: Integers, depth: int, bits: Bits) -> Integers:
    """For each sum so many integers that have it, with P(v) proportional to exp(-|v|₁/scale) among those."""
    found: Integers = np.zeros((sums.size, depth), dtype=sums.dtype)
    missing = np.arange(sums.size)
    while missing.size:
        free = _widen(scalar.discrete_laplace(scale, missing.size * (depth - 1), bits), 8 * depth)
        free = free.reshape(-1, depth - 1)
        last = sums[missing] - free.sum(axis=1)
        kept = scalar.geometric(scale, missing.size, bits) >= np.abs(last)
        drawn = np.concatenate([free[kept], last[kept, None]], axis=1)
        found = found.astype(object) if drawn.dtype == object else found
        found[missing[kept]] = drawn
        missing = missing[~kept]
    return found
