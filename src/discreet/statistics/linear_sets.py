"""Intervals for the solution of linear equations whose matrix and right side have noise.

With G and h the true moments, β solves Gβ = h. From noisy Ĝ = G + E and ĥ = h + e follows Ĝβ - ĥ = Eβ - e: each equation
is off by one combination of the noises, with β as its factors. Whatever is that near is a confidence set, which is enclosed
here, in every group at once; a linear function of β has a combination of its own. docs/proofs/vectors.md (V4, V5 and V10)
proves it, rounding included.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import CellLaw
from discreet.statistics.joint_noise import half_width_of_laws
from discreet.statistics.moments import Normal
from discreet.statistics.noise_matrices import bound_norm

__all__ = ["Asked", "Residual", "Solved", "residual_of", "solve"]

Floats = NDArray[np.float64]

_BOX = Fraction(1, 32)
"""That each noise is small fails with this part of the probability, and so does that their matrix is; both show only that
there is one solution, and where about."""
_OTHERS = Fraction(1, 8)
"""This part is for the equations that a function of the solution hardly depends on."""
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
        spread: upper bounds of ℓG⁻¹ℓ, G the true matrix, wherever the intervals hold: the sum of the squares by which
            explained values enter.
    """

    value: Floats
    half: Floats
    spread: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Residual:
    """The sum of the squared residuals in every group, with the ends of its interval; shape (cells,)."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What is asked of a solution.

    Args:
        outputs: linear functions of it, shape (outputs, features - 1).
        likely: a public matrix of moments of one row, positive definite: where the true matrix is nearly a multiple of it,
            intervals are narrow.
    """

    outputs: Floats
    likely: Floats

    @property
    def basis(self) -> Floats:
        """Public combinations of the equations, as many as there are: those that give the outputs in a likely group."""
        return np.asarray(self.outputs @ np.linalg.inv(self.likely))


def solve(normal: Normal, law: CellLaw, failing: Fraction, asked: Asked) -> Solved:
    """Linear functions of the solution of (all features but the last)'(all) = (all)'(the last), with intervals.

    Args:
        normal: the moments of the features, the last of which is explained by the others.
        law: the noise of every part.
        failing: each interval fails with at most this probability.
        asked: the linear functions, as many as there are equations, of full rank.
    """
    system = _System(normal)
    with np.errstate(all="ignore"):  # a group whose equations have no solution gets no interval
        value = system.solution @ asked.outputs.T
        if (system.left_parts < 0).all():
            half, spread = _of_right_side(system, law, failing, asked.outputs)
        else:
            near = _near_by(system, law, failing, asked)
            half, spread = _of_both_sides(system, law, failing, asked, near)
    known = np.isfinite(value) & np.isfinite(half) & np.isfinite(spread)
    return Solved(
        np.where(np.isfinite(value), value, 0.0),
        np.where(known, half, np.inf),
        np.where(known, np.maximum(spread, 0), np.inf),
    )


def residual_of(normal: Normal, law: CellLaw, failing: Fraction, asked: Asked) -> Residual:
    """The least Σ (y - xβ)² over all β, of the last feature y and the others x; infinite where nothing is known (V10).

    Args:
        normal: the moments of the features, that of the square of the last one too.
        law: the noise of every part.
        failing: the interval fails with at most this probability.
        asked: as in `solve`.
    """
    system = _System(normal)
    with np.errstate(all="ignore"):
        near = _near_by(system, law, failing, asked)
        ends = np.concatenate([-system.solution, np.ones((len(system.solution), 1))], axis=1)
        away = np.concatenate([near.away, np.zeros((len(ends), 1))], axis=1)
        value, sizes = _form(normal.values, ends), _form(np.abs(normal.values), np.abs(ends))
        half = _of_products(normal, law, failing * _main(), (ends, away))
        # The quadratic form is least at the solution: there it is below the value by the form of what is left, and no more
        # than 2|β̂ - β|·|residual| above it.
        half = half + 2 * (near.away * system.residual).sum(axis=1) + _ROUNDING * sizes
        form = near.back.transpose(0, 2, 1) @ system.left @ near.back
        rest = _times(np.abs(system.inverse), system.residual) + _times(system.defect, near.away)
        above = (np.sqrt(_form(np.abs(form), near.off)) + np.sqrt(_form(np.abs(system.left), rest))) ** 2
        known = np.isfinite(near.away).all(axis=1) & system.positive & np.isfinite(half + above)
    low, high = value - half * _OUTWARD, value + (half + above) * _OUTWARD
    return Residual(np.where(np.isfinite(value), value, 0.0), np.where(known, low, -np.inf), np.where(known, high, np.inf))


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


def _form(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray(np.einsum("ci,cij,cj->c", vectors, matrices, vectors))


def _main() -> Fraction:
    """The part of the probability that is left for what is asked."""
    return 1 - 2 * _BOX - _OTHERS


# Where the matrix is exact ----------------------------------------------------------------------------------------------


def _of_right_side(system: _System, law: CellLaw, failing: Fraction, outputs: Floats) -> tuple[Floats, Floats]:
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
    return np.where(system.positive[:, None], half, np.inf), _spread(system, outputs, system.defect)


def _noise_of_each(system: _System, law: CellLaw, failing: Fraction) -> Floats:
    """Half-widths of the noise on the right sides, which hold together."""
    wide = float(law.half_width(1 - failing / max(1, len(system.right_parts))))
    return np.broadcast_to(wide * system.right_scale, system.right.shape)


def _spread(system: _System, outputs: Floats, growth: Floats) -> Floats:
    """Bounds of ℓG⁻¹ℓ: v = G⁻¹ℓ differs from inverse·ℓ by at most growth·|v|."""
    found = []
    for output in outputs:
        way = system.inverse @ output
        near = _enclose(growth, _times(growth, np.abs(way)))
        found.append(way @ output + (near + _ROUNDING * np.abs(way)) @ np.abs(output))
    return np.stack(found, axis=1)


# Where it has noise -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """What holds of all groups but with a small part of the probability.

    Args:
        away: |β̂ - β| is at most this, entry by entry; infinite where there may be no single solution.
        off: for each row of the basis, |row·(Eβ - e)| is at most this.
        back: from the rows of the basis to the solution: inverse · basis⁻¹.
        growth: |inverse·matrix - 1 - inverse·E| is at most this, entry by entry.
        stretch: G⁻¹ is at most so many times the inverse of Ĝ, as quadratic forms.
    """

    away: Floats
    off: Floats
    back: Floats
    growth: Floats
    stretch: Floats


def _near_by(system: _System, law: CellLaw, failing: Fraction, asked: Asked) -> _Near:
    """An enclosure of the joint confidence set (V5)."""
    wide = float(law.half_width(1 - failing * _BOX / max(1, len(_parts(system)))))
    inverse, solution, defect = np.abs(system.inverse), np.abs(system.solution), system.defect
    left, right = wide * system.left_scale, wide * system.right_scale
    rest = _times(inverse, system.residual)
    start = _times(inverse, _times(np.broadcast_to(left, system.left.shape), solution) + right) + rest
    growth = inverse @ left + defect
    by_norm, stretch = _within_norms(system, law, failing * _BOX, asked.likely)
    away = np.fmin(_enclose(growth, start), by_norm)
    each, basis = failing * _OTHERS / len(asked.basis), asked.basis
    back = system.inverse @ np.linalg.inv(basis)
    for _ in range(_ROUNDS):
        off = _combined(system, law, each, (basis, away))
        closer = _times(np.abs(back), off) + rest + _times(defect, away)
        away = np.minimum(away, closer * _OUTWARD)
    return _Near(away, _combined(system, law, each, (basis, away)), back, growth, stretch)


def _parts(system: _System) -> set[int]:
    return {int(part) for part in (*system.left_parts.ravel(), *system.right_parts) if part >= 0}


def _within_norms(system: _System, law: CellLaw, failing: Fraction, likely: Floats) -> tuple[Floats, Floats]:
    """Bounds of |β̂ - β| and of G⁻¹ against Ĝ⁻¹ from ‖E‖ and ‖e‖, in coordinates in which the likely matrix is 1.

    There (Ĝ - E)(β̂ - β) is e - Eβ̂ but for the residual, and the least eigenvalue of Ĝ - E is at least that of Ĝ less ‖E‖.
    """
    turn = np.linalg.inv(np.linalg.cholesky(likely))
    numbers = sorted(_parts(system))
    matrices = [turn @ np.where(system.left_parts == part, system.left_scale, 0.0) @ turn.T for part in numbers]
    columns = [(turn @ np.where(system.right_parts == part, system.right_scale, 0.0))[:, None] for part in numbers]
    of_matrix, of_right = (bound_norm(law, _nonzero(np.array(one)), failing / 2) for one in (matrices, columns))
    turned = turn @ system.left @ turn.T
    sizes = np.linalg.eigvalsh((turned + turned.transpose(0, 2, 1)) / 2)
    largest = np.abs(sizes).max(axis=1)
    least = sizes[:, 0] - 2.0**-36 * largest
    gap = np.where(least - of_matrix > 1e-9 * largest, least - of_matrix, np.nan)
    length = np.linalg.norm(system.solution @ np.linalg.inv(turn), axis=1)
    residual = np.linalg.norm(system.residual @ np.abs(turn).T, axis=1)
    far = (of_matrix * length + of_right + residual) / gap * _OUTWARD
    away = far[:, None] * np.linalg.norm(turn, axis=0)
    stretch = least / gap * _OUTWARD
    return np.where(np.isfinite(away), away, np.inf), np.where(np.isfinite(stretch), stretch, np.inf)


def _nonzero(matrices: Floats) -> Floats:
    return np.asarray(matrices[np.abs(matrices).max(axis=(1, 2)) > 0])


def _of_both_sides(system: _System, law: CellLaw, failing: Fraction, asked: Asked, near: _Near) -> tuple[Floats, Floats]:
    """The half-widths: of each output the combination of its own row of the basis, and little of all others (V5)."""
    own = _combined(system, law, failing * _main(), (asked.basis, near.away))
    ways = np.abs(asked.outputs @ near.back)
    rest = _times(np.abs(system.inverse), system.residual) + _times(system.defect, near.away)
    half = []
    for place, output in enumerate(asked.outputs):
        off = near.off.copy()
        off[:, place] = np.where(np.isfinite(off[:, place]), own[:, place], np.inf)
        half.append((ways[:, place] * off).sum(axis=1) + rest @ np.abs(output))
    known = system.positive & np.isfinite(near.away).all(axis=1)
    widths = np.where(known[:, None], np.stack(half, axis=1) * _OUTWARD, np.inf)
    quadratic = np.stack([(system.inverse @ one) @ one for one in asked.outputs], axis=1)
    by_norm = np.abs(quadratic) * near.stretch[:, None] * _OUTWARD
    return widths, np.fmin(_spread(system, asked.outputs, near.growth), by_norm)


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


def _of_products(normal: Normal, law: CellLaw, failing: Fraction, place: tuple[Floats, Floats]) -> Floats:
    """The half-width of rEr for every r so near to the given vectors, E the noise of all moments."""
    ends, away = place
    finite = np.where(np.isfinite(away), away, 0.0)
    known: dict[int, Floats] = {}
    more: dict[int, Floats] = {}
    for (i, j), part in np.ndenumerate(normal.part):
        if part >= 0:
            scale = normal.scale[i, j]
            known[int(part)] = known.get(int(part), 0.0) + scale * ends[:, i] * ends[:, j]
            off = np.abs(ends[:, i]) * finite[:, j] + finite[:, i] * (np.abs(ends[:, j]) + finite[:, j])
            more[int(part)] = more.get(int(part), 0.0) + scale * off
    return half_width_of_laws(law, [np.abs(own) + more[part] for part, own in known.items()], failing)
