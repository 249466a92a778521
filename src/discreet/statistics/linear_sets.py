"""Confidence sets for the solution of linear equations whose matrix and right side have noise.

With G and h the true moments, β solves Gβ = h. From noisy Ĝ = G + E and ĥ = h + e follows Ĝβ - ĥ = Eβ - e: each equation
is off by one combination of the noises, with β as its factors. Whatever is that near is the confidence set; it is enclosed
here, in every group at once. docs/proofs/vectors.md (V4 and V5) proves it, rounding included.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.base import CellLaw
from discreet.statistics.joint_noise import half_width_of_laws
from discreet.statistics.moments import Normal

__all__ = ["Asked", "Solved", "solve"]

Floats = NDArray[np.float64]

_BOX = Fraction(1, 16)
"""The box of all noises, which only shows that there is one solution, fails with this part of the probability."""
_SURE = Fraction(1, 1000)
"""Where the matrix is exact, the same bounds what rounding has left of it."""
_ROUNDS = 4
_OUTWARD = 1 + 1e-9
_ROUNDING = 2.0**-44
"""More than the roundings of a sum of some hundred products, relative to the sizes of these."""


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Linear functions of the solution in every group.

    Args:
        value: shape (cells, outputs).
        half: the half-widths of their intervals; infinite where the equations may have no single solution.
    """

    value: Floats
    half: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What is asked of a solution.

    Args:
        outputs: linear functions of it, shape (outputs, features - 1).
        basis: public combinations of the equations, as many as there are, whose errors are bounded one by one: those that
            give the outputs in a likely group make the intervals narrow.
    """

    outputs: Floats
    basis: Floats


def solve(normal: Normal, law: CellLaw, failing: Fraction, asked: Asked) -> Solved:
    """Linear functions of the solution of (all features but the last)'(all) = (all)'(the last), with intervals.

    Args:
        normal: the moments of the features, the last of which is explained by the others.
        law: the noise of every part.
        failing: intervals fail with at most this probability: all of them together, or each where only the right side has
            noise.
        asked: the linear functions.
    """
    system = _System(normal)
    with np.errstate(all="ignore"):  # a group whose equations have no solution gets no interval
        value = system.solution @ asked.outputs.T
        if (system.left_parts < 0).all():
            half = _of_right_side(system, law, failing, asked.outputs)
        else:
            half = _of_both_sides(system, law, failing, asked)
    return Solved(np.where(np.isfinite(value), value, 0.0), np.where(np.isfinite(half), half, np.inf))


class _System:
    """The equations of all groups, with an approximate inverse and an approximate solution."""

    def __init__(self, normal: Normal) -> None:
        self.left, self.right = normal.values[:, :-1, :-1], normal.values[:, :-1, -1]
        self.left_parts, self.left_scale = normal.part[:-1, :-1], normal.scale[:-1, :-1]
        self.right_parts, self.right_scale = normal.part[:-1, -1], normal.scale[:-1, -1]
        # The true matrix is that of squares and products. One that is not positive gets no interval, and some value.
        sizes, vectors = np.linalg.eigh(self.left)
        floor = np.maximum(sizes[:, -1:], 1.0) * 1e-9
        self.positive = (sizes > floor).all(axis=1)
        inverse = np.where(sizes > floor, 1 / np.where(sizes > floor, sizes, 1.0), 0.0)
        self.inverse = (vectors * inverse[:, None, :]) @ vectors.transpose(0, 2, 1)
        self.solution = _times(self.inverse, self.right)

    @property
    def defect(self) -> Floats:
        """|inverse · matrix - 1|, with what rounding may hide."""
        size = self.left.shape[1]
        exact = np.abs(self.inverse @ self.left - np.eye(size))
        return np.asarray(exact + _ROUNDING * (np.abs(self.inverse) @ np.abs(self.left)))

    @property
    def residual(self) -> Floats:
        """|matrix · solution - right side|, with what rounding may hide."""
        sizes = _times(np.abs(self.left), np.abs(self.solution)) + np.abs(self.right)
        return np.asarray(np.abs(_times(self.left, self.solution) - self.right) + _ROUNDING * sizes)


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray((matrices @ vectors[..., None])[..., 0])


def _of_right_side(system: _System, law: CellLaw, failing: Fraction, outputs: Floats) -> Floats:
    """The half-widths where the matrix is exact: a linear function of the noise, each for itself (V4)."""
    ways = np.abs(outputs @ system.inverse)
    found = []
    for output in range(len(outputs)):
        factors: dict[int, Floats] = {}
        for row, (part, scale) in enumerate(zip(system.right_parts, system.right_scale, strict=True)):
            if part >= 0:
                factors[int(part)] = factors.get(int(part), 0.0) + ways[:, output, row] * scale
        found.append(half_width_of_laws(law, list(factors.values()), failing * (1 - _SURE)))
    # β - solution = inverse·(noise + residual) - defect·(β - solution), and the last is at most the whole by then.
    near = _enclose(
        system.defect, _times(np.abs(system.inverse), system.residual + _noise_of_each(system, law, failing * _SURE))
    )
    rest = _times(np.abs(outputs), _times(system.defect, near)) + _times(ways, system.residual)
    half = (np.stack(found, axis=1) + rest) * _OUTWARD
    return np.where(system.positive[:, None], half, np.inf)


def _noise_of_each(system: _System, law: CellLaw, failing: Fraction) -> Floats:
    """Half-widths of the noise on the right sides, which hold together."""
    wide = float(law.half_width(1 - failing / max(1, len(system.right_parts))))
    return np.broadcast_to(wide * system.right_scale, system.right.shape)


def _of_both_sides(system: _System, law: CellLaw, failing: Fraction, asked: Asked) -> Floats:
    """The half-widths of an enclosure of the joint confidence set (V5): all of them hold together."""
    parts = {int(part) for part in (*system.left_parts.ravel(), *system.right_parts) if part >= 0}
    wide = float(law.half_width(1 - failing * _BOX / max(1, len(parts))))
    inverse, solution, defect = np.abs(system.inverse), np.abs(system.solution), system.defect
    left, right = wide * system.left_scale, wide * system.right_scale
    rest = _times(inverse, system.residual)
    start = _times(inverse, _times(np.broadcast_to(left, system.left.shape), solution) + right) + rest
    near = _enclose(inverse @ left + defect, start)
    each = failing * (1 - _BOX) / len(asked.basis)
    back = system.inverse @ np.linalg.inv(asked.basis)
    for _ in range(_ROUNDS):
        off = _combined(system, law, each, (asked.basis, near))
        closer = _times(np.abs(back), off) + rest + _times(defect, near)
        near = np.minimum(near, closer * _OUTWARD)
    off = _combined(system, law, each, (asked.basis, near))
    half = _times(np.abs(asked.outputs @ back), off) + _times(np.abs(asked.outputs), rest + _times(defect, near))
    return np.where(system.positive[:, None] & np.isfinite(near).all(axis=1, keepdims=True), half * _OUTWARD, np.inf)


def _enclose(growth: Floats, start: Floats) -> Floats:
    """The vectors d with d ≤ growth·d + start are at most this; infinite where there may be no bound.

    If growth·x + start < x for some x > 0, the spectral radius of the growth is below 1, and d ≤ x.
    """
    size = growth.shape[1]
    start = start + np.finfo(np.float64).tiny
    with np.errstate(all="ignore"):
        # A singular matrix would stop all groups: one that is not well below 1 in any norm is left out first.
        radius = np.abs(np.linalg.eigvals(np.where(np.isfinite(growth), growth, 1e6))).max(axis=1)
        safe = radius < 0.99
        matrices = np.where(safe[:, None, None], np.eye(size) - growth, np.eye(size))
        found = np.linalg.solve(matrices, np.where(safe[:, None], start, 1.0)[..., None])[..., 0] * (1 + 1e-6)
        shrinks = _times(growth, found) + start < found * (1 - 1e-9)
        holds: NDArray[np.bool_] = np.asarray(np.stack([safe, (found > 0).all(axis=1), shrinks.all(axis=1)]).all(axis=0))
    return np.where(np.expand_dims(holds, 1), found, np.inf)


def _combined(system: _System, law: CellLaw, failing: Fraction, place: tuple[Floats, Floats]) -> Floats:
    """For each row of the basis the half-width of row·(Eβ - e), for every β so near to the solution; infinite for all β."""
    basis, near = place
    finite = np.where(np.isfinite(near), near, 0.0)
    found = []
    for row in basis:
        known: dict[int, Floats] = {}
        more: dict[int, Floats] = {}
        for (i, j), part in np.ndenumerate(system.left_parts):
            if part >= 0:
                own = row[i] * system.left_scale[i, j]
                known[int(part)] = known.get(int(part), 0.0) + own * system.solution[:, j]
                more[int(part)] = more.get(int(part), 0.0) + abs(own) * finite[:, j]
        for i, part in enumerate(system.right_parts):
            if part >= 0:
                known[int(part)] = known.get(int(part), 0.0) - row[i] * system.right_scale[i] + np.zeros(len(finite))
        factors = [np.abs(own) + more.get(part, 0.0) for part, own in known.items()]
        found.append(half_width_of_laws(law, factors, failing))
    return np.where(np.isfinite(near).all(axis=1, keepdims=True), np.stack(found, axis=1), np.inf)
