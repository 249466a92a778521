"""The bounds of rounding errors hold: what doubles give is compared with many digits, and a bound is never negative."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from discreet.privacy._tails import _hermite_coefficients, _upper_moment, gaussian_sum
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


@pytest.mark.parametrize("sigma2", [Fraction(10_000), Fraction(10_001), Fraction(10**6, 7)])
@pytest.mark.parametrize("z", [0.0, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("bits", [128, 256])
def test_tails_of_the_discrete_gaussian_hold_the_sum_and_use_the_whole_precision(
    sigma2: Fraction, z: float, bits: int
) -> None:
    from flint import ctx

    sigma = float(sigma2) ** 0.5
    start = int(z * sigma) + 1
    with ctx.workprec(bits):
        found = gaussian_sum(sigma2, start)
        assert found.rel_accuracy_bits() >= bits - 40
        middle, radius = (
            Fraction(int(part.man_exp()[0])) * Fraction(2) ** int(part.man_exp()[1]) for part in (found.mid(), found.rad())
        )
    with mp.workprec(bits + 60):
        unit = -mpf(sigma2.denominator) / (2 * sigma2.numerator)
        end = start + int(sigma * (bits / 4 + 10))
        term, ratio, shrink = mp.exp(unit * start * start), mp.exp(unit * (2 * start + 1)), mp.exp(2 * unit)
        truth = mpf(0)
        for _ in range(start, end):
            truth += term
            term *= ratio
            ratio *= shrink
            if term < mpmath.ldexp(truth, -bits - 50):
                break
        apart = abs(truth - mpf(middle.numerator) / middle.denominator)
        assert apart <= mpf(radius.numerator) / radius.denominator + mpmath.ldexp(truth, -bits - 30)


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("z", [0.0, 0.7, 6.0])
def test_the_remainder_of_euler_and_maclaurin_is_made_of_exact_moments(k: int, z: float) -> None:
    from flint import arb

    with mp.workdps(30):
        truth = mp.quad(lambda t: t**k * mp.exp(-t * t / 2), [z, z + 2, z + 10, z + 40])
        assert float(_upper_moment(k, arb(z))) == pytest.approx(float(truth), rel=1e-12)
        polynomial = sum(c * mpf(z) ** power for power, c in enumerate(_hermite_coefficients(k)))
        assert float(polynomial) == pytest.approx(
            float(2 ** (-mpf(k) / 2) * mp.hermite(k, z / mp.sqrt(2))), rel=1e-12, abs=1e-12
        )
