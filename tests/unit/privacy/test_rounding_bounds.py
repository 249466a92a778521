"""The bounds of rounding errors hold: what doubles give is compared with many digits, and a bound is never negative."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from discreet.privacy.calculus._losses import UNIT, Gaussian, Grid, Loss, Theta, discrete_gaussian, discrete_laplace, stack

MANY = 60


def lattice(*rows: object) -> Loss:
    (found,) = stack(list(rows))  # type: ignore[arg-type]
    return found


def exact_transform(loss: Loss, c: float, t: float) -> tuple[mpc, mpf]:
    """m(t), and K(c), from the doubles that define the loss, with many digits."""

    def moment(z: mpc) -> mpc:
        if isinstance(loss, Gaussian):
            return mp.exp(mpf(loss.variance) * z * (z + 1) / 2)
        if isinstance(loss, Theta):
            s2, s = mpf(loss.sigma2.numerator) / loss.sigma2.denominator, loss.shift
            reach = int(40 * mp.sqrt(s2) + abs(z) * s) + 10
            top = sum(mp.exp(-(x * x) / (2 * s2) + z * (s * x / s2 + s * s / (2 * s2))) for x in range(-reach, reach + 1))
            return (top / sum(mp.exp(-mpf(x * x) / (2 * s2)) for x in range(-reach, reach + 1))) ** loss.count
        total = mpc(1)
        for first, spacing, logs, count in zip(loss.first, loss.spacing, loss.logs, loss.counts, strict=True):
            atoms = (mp.exp(z * (mpf(first) + k * mpf(spacing)) + mpf(p)) for k, p in enumerate(logs.tolist()))
            total *= mp.fsum(atoms) ** int(count)
        return total

    at = moment(mpc(c, 0))
    return moment(mpc(c, t)) / at, mp.log(at.real)


CASES = {
    "laplace": lattice((discrete_laplace(Fraction(3), 1), 2), (discrete_laplace(Fraction(7, 3), 1), 5)),
    "wide laplace": lattice((discrete_laplace(Fraction(9), 25), 3)),
    "narrow gaussian": lattice((discrete_gaussian(Fraction(2), 1, 3.0), 4)),
    "gaussian": Gaussian(2.3),
    "theta": Theta(Fraction(9), 2, 5),
}


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("c", [0.3, 2.0])
def test_transforms_are_as_near_as_their_bounds_say(name: str, c: float) -> None:
    loss = CASES[name]
    bound = loss.errors(c)
    assert min(bound) >= 0
    grid = Grid(0.37, 24)
    found = loss.multiply(np.ones(len(grid.points), dtype=np.complex128), c, grid)
    with mp.workdps(MANY):
        for t, value in zip(grid.points.tolist(), found.tolist(), strict=True):
            truth, cumulant = exact_transform(loss, c, t)
            assert abs(mpc(value) - truth) <= UNIT * (bound.constant + bound.slope * t)
        assert abs(mpf(loss.cumulant(c)[0]) - cumulant) <= UNIT * (bound.cumulant + 4 * abs(cumulant))


@pytest.mark.parametrize("name", CASES)
def test_the_derivatives_are_those_of_the_cumulant(name: str) -> None:
    loss, step = CASES[name], 1e-4
    for c in (0.3, 2.0):
        left, middle, right = (loss.cumulant(c + side * step) for side in (-1, 0, 1))
        assert middle[1] == pytest.approx((right[0] - left[0]) / (2 * step), rel=1e-5)
        assert middle[2] == pytest.approx((right[1] - left[1]) / (2 * step), rel=1e-5)


@pytest.mark.parametrize("name", ["laplace", "wide laplace", "narrow gaussian"])
def test_the_bound_counts_every_operation_on_every_atom(name: str) -> None:
    # Horner's rule: a complex product and a sum for each atom, and each turn is off by as much again (C2, F2).
    loss = CASES[name]
    atoms, repetitions = loss.logs.shape[1], loss.counts.sum()  # type: ignore[union-attr]
    for c in (0.01, 1.0, 50.0):
        bound = loss.errors(c)
        assert bound.constant >= 30 * atoms * repetitions
        assert bound.cumulant >= (atoms + 8) * repetitions
        assert bound.slope > 0
    assert loss.errors(50.0).constant > loss.errors(1.0).constant
    assert loss.errors(50.0).cumulant > loss.errors(1.0).cumulant
