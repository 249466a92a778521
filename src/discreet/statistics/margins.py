"""Noisy margins of one table made to agree: the generalised least-squares estimate, in closed form.

Margins that are measured apart disagree where they overlap: age × sex and age × region give two noisy numbers for each age.
A margin over the axes a splits into orthogonal effects, one for each u ⊆ a: sum the axes a∖u out, then subtract the mean
along each axis of u (the analysis of variance of a full factorial table). Effect u is the same number in every margin that
contains it, up to noise. White noise of variance s² in margin a reaches effect u as s² · |a∖u| cells, with the same
covariance in every margin up to that factor, and independently of all other effects. So the least-squares estimate of an
effect is the mean of its values, weighted by 1/(s² · |a∖u| cells), and a margin is put together from its effects again.

Cells that are known beside noisy ones, such as combinations of groups that cannot hold a row, are linear conditions K x = k.
The estimate with them is x - C Kᵀ (K C Kᵀ)⁺ (K x - k), C the covariance of x: the nearest one in the metric of C⁻¹ that
has them. It is the generalised least-squares estimate with these conditions, because observations of known cells that are
met add nothing to its sum of squares. C is a number for each effect, so that it is never written down.

The same decomposition is the basis of ResidualPlanner (Xiao, He, Zhang and Kifer, NeurIPS 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, isfinite, prod

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, printed

__all__ = ["Margin", "reconcile"]

_Axes = tuple[int, ...]

_SOLVED = 1e-26
"""A squared residual below this part of the first one is that of rounding errors."""
_MOST_STEPS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """A noisy margin: the sums of a table over all axes but `axes`, plus independent noise of one variance per cell.

    Args:
        axes: the axes of the table that stay, each once, in the order of the axes of `values`; none for the grand total.
        values: numbers, one axis for each of `axes`, and none of them empty.
        variance: of the noise of each cell, positive.
        known: of the shape of `values`, True where a value has no noise; None where all have.

    Raises:
        ArgumentError: one of these rules is broken.
    """

    axes: tuple[int, ...]
    values: NDArray[np.int64] | NDArray[np.float64]
    variance: float
    known: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if len(set(self.axes)) != len(self.axes) or min(self.axes, default=0) < 0:
            raise ArgumentError("axes: each axis of the table can occur in a margin only once, as a number from 0")
        if self.values.ndim != len(self.axes) or self.values.size == 0:
            raise ArgumentError(f"values: needs {len(self.axes)} axes, none empty, for the axes of the margin")
        if not np.all(np.isfinite(self.values)):
            raise ArgumentError("values: must be finite numbers")
        if not (self.variance > 0 and isfinite(self.variance)):
            raise ArgumentError(f"variance={printed(self.variance)}: must be positive and finite; publish exact totals as n")
        if self.known is not None and self.known.shape != self.values.shape:
            raise ArgumentError("known: must have the shape of the values")


def reconcile(margins: Sequence[Margin], *, n: int | None = None) -> list[NDArray[np.float64]]:
    """The margins, in their order and shapes, as the generalised least-squares estimate makes them agree.

    Afterwards any two margins have the same sums over the axes they share, up to rounding errors of doubles, and the grand
    total is `n` if it is given. Known cells have their values. Each cell is unbiased, with a variance that is at most the
    variance of the noisy cell.

    Args:
        margins: of one table, with independent noise.
        n: the grand total if it is public.

    Raises:
        ArgumentError: two margins give one axis different lengths.
    """
    sizes = _sizes(margins)
    effects: dict[_Axes, NDArray[np.float64]] = {}
    for margin in margins:
        variances = _effect_variances(margin, sizes)
        for axes, effect in _effects(margin).items():
            effects[axes] = effects.get(axes, 0.0) + effect / variances[axes]
    precisions = _precisions(margins, sizes)
    means = {axes: effect / precisions[axes] for axes, effect in effects.items()}
    if n is not None:
        means[()] = np.float64(n) * np.ones(())
    known = [(margin, margin.known) for margin in margins if margin.known is not None and margin.known.any()]
    if known:
        precisions[()] = precisions[()] if n is None else inf
        means = _meet(means, known, precisions, sizes)
    return [_compose(margin, means, sizes) for margin in margins]


def _meet(
    means: dict[_Axes, NDArray[np.float64]],
    known: Sequence[tuple[Margin, NDArray[np.bool_]]],
    precisions: dict[_Axes, float],
    sizes: dict[int, int],
) -> dict[_Axes, NDArray[np.float64]]:
    """The effects moved so that known cells have their values: by C Kᵀ λ with (K C Kᵀ) λ = K x - k, by conjugate gradients.

    Conditions may follow from each other: the system is solvable all the same, because the true table meets them all.
    """

    def cells(effects: dict[_Axes, NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate([_compose(margin, effects, sizes)[places] for margin, places in known])

    def spread(weights: NDArray[np.float64]) -> dict[_Axes, NDArray[np.float64]]:
        found, start = {axes: np.zeros_like(effect) for axes, effect in means.items()}, 0
        for margin, places in known:
            own, many = np.zeros(margin.values.shape), int(places.sum())
            own[places] = weights[start : start + many]
            start += many
            for axes, effect in _effects(Margin(margin.axes, own, margin.variance)).items():
                found[axes] += effect / (_cells_without(margin.axes, axes, sizes) * precisions[axes])
        return found

    wanted = np.concatenate([margin.values[places].astype(np.float64) for margin, places in known])
    weights = _solve(lambda one: cells(spread(one)), cells(means) - wanted)
    return {axes: means[axes] - moved for axes, moved in spread(weights).items()}


def _solve(apply: Callable[[NDArray[np.float64]], NDArray[np.float64]], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """X with apply(x) = right for a symmetric positive semidefinite matrix in whose range `right` is."""
    found, rest = np.zeros_like(right), right.copy()
    way, left = rest.copy(), float(rest @ rest)
    least = _SOLVED * left
    for _ in range(_MOST_STEPS):
        if left <= least:
            break
        turned = apply(way)
        bent = float(way @ turned)
        if bent <= 0 or not isfinite(left / bent):
            break  # what is left is of numbers without noise, and so a rounding error of doubles
        length = left / bent
        found, rest = found + length * way, rest - length * turned
        way, left = rest + (float(rest @ rest) / left) * way, float(rest @ rest)
    return found


def _sizes(margins: Sequence[Margin]) -> dict[int, int]:
    """The length of each axis."""
    sizes: dict[int, int] = {}
    for margin in margins:
        for axis, size in zip(margin.axes, margin.values.shape, strict=True):
            if sizes.setdefault(axis, size) != size:
                raise ArgumentError(
                    f"margins: axis {axis} has {sizes[axis]} values in one margin and {size} in another; cut them alike"
                )
    return sizes


def _subsets(axes: _Axes) -> list[_Axes]:
    return [kept for count in range(len(axes) + 1) for kept in combinations(sorted(axes), count)]


def _cells_without(axes: _Axes, kept: _Axes, sizes: dict[int, int]) -> int:
    """The number of cells of a margin over `axes` that are summed up in one cell of the margin over `kept`."""
    return prod(sizes[axis] for axis in axes if axis not in kept)


def _effect_variances(margin: Margin, sizes: dict[int, int]) -> dict[_Axes, float]:
    """For each effect of the margin the variance of its cells before centring."""
    return {kept: margin.variance * _cells_without(margin.axes, kept, sizes) for kept in _subsets(margin.axes)}


def _precisions(margins: Sequence[Margin], sizes: dict[int, int]) -> dict[_Axes, float]:
    """For each effect the sum over the margins that contain it of one over its variance."""
    precisions: dict[_Axes, float] = {}
    for margin in margins:
        for axes, variance in _effect_variances(margin, sizes).items():
            precisions[axes] = precisions.get(axes, 0.0) + 1 / variance
    return precisions


def _effects(margin: Margin) -> dict[_Axes, NDArray[np.float64]]:
    """The effects of a margin by their axes, which are in rising order: 2^k arrays of Π(size + 1) numbers in all."""
    order = np.argsort(margin.axes)
    parts: dict[_Axes, NDArray[np.float64]] = {(): np.transpose(margin.values, order).astype(np.float64)}
    for axis in sorted(margin.axes):
        split: dict[_Axes, NDArray[np.float64]] = {}
        for kept, part in parts.items():
            place = len(kept)  # the axes before this one are either kept or summed out already
            split[kept] = np.asarray(part.sum(axis=place))
            split[(*kept, axis)] = part - part.mean(axis=place, keepdims=True)
        parts = split
    return parts


def _compose(margin: Margin, effects: dict[_Axes, NDArray[np.float64]], sizes: dict[int, int]) -> NDArray[np.float64]:
    """The margin with these effects: each spread evenly over the axes that it lacks."""
    rising = sorted(margin.axes)
    table = np.zeros([sizes[axis] for axis in rising])
    for kept in _subsets(margin.axes):
        shape = [sizes[axis] if axis in kept else 1 for axis in rising]
        table += effects[kept].reshape(shape) / _cells_without(margin.axes, kept, sizes)
    return np.transpose(table, np.argsort(np.argsort(margin.axes)))
