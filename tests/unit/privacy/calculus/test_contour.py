"""The parts of the contour integral one by one: what F1 and F2 say of each, on contours made by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from discreet.privacy.calculus import _contour
from discreet.privacy.calculus._contour import Contour, Lattice, saddle_for_delta, saddle_for_epsilon
from discreet.privacy.calculus._losses import UNIT, Errors, Gaussian, Grid, Theta, discrete_gaussian, discrete_laplace, stack

NONE = {"constant": 0.0, "slope": 0.0, "cumulant": 0.0}


def contour(weights: list[float], sizes: list[float], **changed: Any) -> Contour:
    """A contour of which nothing is known but these terms, at t = 0, 1, 2, …."""
    given: dict[str, Any] = {
        "tilt": 1.0,
        "cumulant": 0.0,
        "period": 100.0,
        "grid": Grid(1.0, len(weights)),
        "weights": np.array(weights, dtype=np.complex128),
        "sizes": np.array(sizes),
        "errors": Errors(0.0, 0.0, 0.0),
        "chernoff": ((9.0, -math.inf),),
        "truncated": 0.0,
        "lattice": None,
        "most": math.inf,
    }
    return Contour(**{**given, **changed})


# The widths of F2 --------------------------------------------------------------------------------------------------------


def test_the_error_of_the_transform_is_counted_at_every_point() -> None:
    # Beside the transform's own: 16 units for the kernel, 128 for turning and adding, 6 for each unit of t·ε.
    def upper(epsilon: float, t: int, **errors: float) -> float:
        sizes = [0.0] * 4
        sizes[t] = 1e11
        made = contour([0.0] * 4, sizes, tilt=1e-9, errors=Errors(**{**NONE, **errors}))
        return made.bounds(epsilon).upper / 1e11 / UNIT

    assert upper(0.0, 0) == pytest.approx(144 * 1.01, rel=1e-6)
    assert upper(0.0, 0, constant=1000.0) == pytest.approx(1144 * 1.01, rel=1e-6)
    assert upper(0.0, 3, slope=1000.0) == pytest.approx(3144 * 1.01, rel=1e-6)
    assert upper(50.0, 2) == pytest.approx((144 + 6 * 50 * 2) * 1.01, rel=1e-6)


def test_the_leading_factor_has_a_relative_error() -> None:
    def width(cumulant: float, epsilon: float, tilt: float = 1.0, error: float = 0.0) -> float:
        made = contour([0.5], [0.0], tilt=tilt, cumulant=cumulant, errors=Errors(0.0, 0.0, error), period=1e9)
        low, high = made.bounds(epsilon)
        assert low < 0.5 * math.exp(cumulant - tilt * epsilon) < high
        return (high / low - 1) / 2 / UNIT

    assert width(0.0, 0.0, error=1e9) == pytest.approx(1e9, rel=1e-5)
    assert width(-500.0, 0.0) == pytest.approx(4 * 500 + 64, rel=3e-3)
    assert width(0.0, 250.0, tilt=2.0) == pytest.approx(6 * 500 + 64, rel=3e-3)
    assert width(0.0, 0.0) == pytest.approx(64, rel=0.03)


def test_what_was_left_out_widens_the_bounds_by_itself() -> None:
    made = contour([0.25], [0.0], truncated=1e-3, cumulant=math.log(2.0))
    low, high = made.bounds(0.0)
    assert high - 0.5 == pytest.approx(2e-3, rel=1e-8)
    assert 0.5 - low == pytest.approx(2e-3, rel=1e-8)
    # The factor of all widths has 1e-9 to spare, and is not an ulp of the centre.
    assert (high - 0.5) / 2e-3 - 1 == pytest.approx(1e-9, rel=0.2)


def test_a_sum_of_nothing_is_bounded_by_the_smallest_doubles() -> None:
    low, high = contour([0.0], [0.0]).bounds(0.0)
    assert low == 0
    assert 0.9e-320 < high < 1.1e-320
    assert 0.9e-320 < 1e-315 - contour([1e-315], [0.0], period=1e9).bounds(0.0).lower < 1.1e-320
    assert contour([0.5], [0.0], most=3.0).bounds(3.0) == (0.0, 0.0)
    assert contour([0.5], [0.0], most=3.0).bounds(2.9).upper > 0
    assert contour([2.0], [0.0]).bounds(0.0).upper == 1.0


# Aliases -----------------------------------------------------------------------------------------------------------------


def test_aliases_are_bounded_by_their_two_geometric_sums_and_no_more() -> None:
    tilt, period, epsilon, other, value = 0.5, 3.0, 0.7, 1.25, 0.9
    made = contour([0.5], [0.0], tilt=tilt, period=period, chernoff=((other, value), (9.0, 500.0)))
    before = sum(math.exp(-tilt * period * j) for j in range(1, 200))
    beyond = sum(math.exp(value - other * (epsilon + j * period) + tilt * j * period) / (1 + other) for j in range(1, 200))
    assert 1 < made._aliases(epsilon) / (before + beyond) < 1.0011
    low, _ = made.bounds(epsilon)
    assert low == pytest.approx(max(0.0, 0.5 * math.exp(-tilt * epsilon) - made._aliases(epsilon)), abs=1e-9)
    bounded = contour([0.5], [0.0], tilt=tilt, period=period, most=epsilon + period)
    assert 1 < bounded._aliases(epsilon) / before < 1.0011
    assert contour([0.5], [0.0], chernoff=((2.0, 701.0),))._aliases(0.0) == math.inf
    assert contour([0.5], [0.0], chernoff=((2.0, 699.0),))._aliases(0.0) < math.inf


# Saddle points -----------------------------------------------------------------------------------------------------------

LOSSES: list[Any] = [
    [Gaussian(2.0)],
    [Gaussian(0.01)],
    [Theta(Fraction(50), 1, 40)],
    [*stack([(discrete_laplace(Fraction(5), 1), 30)]), Gaussian(0.3)],
]


def exponent(losses: Any, c: float, epsilon: float) -> float:
    return float(_contour.cumulants(losses, c)[0]) - c * epsilon - math.log(c) - math.log1p(c)


@pytest.mark.parametrize("place", range(len(LOSSES)))
@pytest.mark.parametrize("c", [0.4, 3.0, 20.0])
def test_the_rough_saddle_is_stationary_and_of_that_curvature(place: int, c: float) -> None:
    losses, h = LOSSES[place], 1e-3 * c
    epsilon, value = _contour._rough(losses, c)
    left, middle, right = (exponent(losses, at, epsilon) for at in (c - h, c, c + h))
    scale = abs(middle) + 1
    assert (right - left) / (2 * h) * c == pytest.approx(0, abs=3e-5 * scale)
    curvature = (right - 2 * middle + left) / h**2
    assert value == pytest.approx(middle - math.log(2 * math.pi * curvature) / 2, abs=1e-4 * scale)


@pytest.mark.parametrize("place", range(len(LOSSES)))
def test_saddles_are_found_to_two_hundredths(place: int) -> None:
    losses = LOSSES[place]
    for c in (0.7, 5.0, 12.0):
        epsilon, value = _contour._rough(losses, c)
        found, log_delta = saddle_for_epsilon(losses, epsilon)
        assert 1 <= found / c * (1 + 1e-9) <= math.exp(0.02)
        assert log_delta == min(_contour._rough(losses, found)[1], -1e-3)
        if epsilon > 0 and value < 0:
            found, at = saddle_for_delta(losses, value)
            assert 1 <= found / c * (1 + 1e-9) <= math.exp(0.02)
            assert at == max(_contour._rough(losses, found)[0], 0.0)


def test_ends_of_the_search_for_saddles() -> None:
    losses = [Gaussian(1.0)]
    scale = 1.0 + 0.5  # the standard deviation and the mean of the loss
    for epsilon, end in ((-1e9, 1e-5), (1e9, 1e5)):
        assert saddle_for_epsilon(losses, epsilon)[0] == pytest.approx(end / scale, rel=0.03)
    assert saddle_for_epsilon(losses, -1e9)[1] == -1e-3  # log δ is near 0, and never above
    assert saddle_for_delta(losses, 100.0)[1] < 0.1  # every δ is met; ε is not below 0
    assert saddle_for_delta(losses, 100.0)[1] >= 0


# The line ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", [0.0, 0.4])
def test_what_the_line_leaves_out_is_below_its_bound(variance: float) -> None:
    losses: list[Any] = [Gaussian(variance)] if variance else stack([(discrete_laplace(Fraction(5), 1), 30)])
    c, period = 2.0, 60.0
    samples = _contour._on_line(losses, c, 1.0, period)
    step, count = 2 * math.pi / period, len(samples.grid.points)
    assert samples.grid.points[1] == pytest.approx(step, rel=1e-14)
    s = c + 1j * samples.grid.points
    expected = step / math.pi / (s * (s + 1))
    expected[0] /= 2
    assert np.allclose(samples.weights, expected, rtol=1e-13, atol=0)
    reach = step * (count - 1)
    bound = math.exp(-variance * reach**2 / 2) / (math.pi * reach)
    assert 1 <= samples.truncated / bound <= 1.0011
    t = step * np.arange(count, 4 * count)
    left_out = step / math.pi * (np.exp(-variance * t * t / 2) / np.abs((c + 1j * t) * (c + 1 + 1j * t))).sum()
    assert left_out <= samples.truncated


@pytest.mark.parametrize(
    ("c", "epsilon", "variance", "step"), [(2.0, 3.0, 0.7, 0.1), (0.3, 0.01, 2.0, 0.2), (8.0, 0.4, 0.01, 0.9)]
)
def test_the_number_of_points_makes_the_truncation_a_share_of_delta(
    c: float, epsilon: float, variance: float, step: float
) -> None:
    count = _contour._count(c, epsilon, variance, 0.0, step)
    share = c * (c + 1) * math.sqrt(variance + 1 / c**2) * math.sqrt(2 * math.pi) / (math.pi * step * count)
    assert share == pytest.approx(2e-4 * max(c * epsilon, 0.1), rel=2 / count)
    # Gaussian noise ends the transform at nine standard deviations, if that is sooner.
    assert _contour._count(c, epsilon, variance, 4.0, step) == max(64, min(count, int(4.5 / step)))
    assert _contour._count(c, epsilon, variance, 4.0, 1e-3) == 4500
    assert _contour._count(c, epsilon, variance, 0.0, 1e-12) == 1 << 20
    assert _contour._count(c, epsilon, variance, 1e6, step) == 64


def test_the_period_is_long_enough_and_not_longer() -> None:
    c, log_delta = 2.0, -14.0
    shortest = (30 - log_delta) / c
    assert _contour._period(c, 1.0, log_delta, ((3.0, -100.0),), math.inf) == shortest
    chernoff = ((2.4, 30.0), (4.0, 60.0))
    found = _contour._period(c, 1.0, log_delta, chernoff, math.inf)

    def left(period: float) -> float:
        return min(value - tilt - (tilt - c) * period - math.log1p(tilt) for tilt, value in chernoff)

    assert left(found) <= log_delta - 30 < left(found / 1.2)
    assert found > shortest
    # Where the largest loss lies within the period, nothing is beyond it.
    assert _contour._period(c, 1.0, log_delta, chernoff, 1.0 + shortest) == shortest
    assert _contour._period(c, 1.0, log_delta, chernoff, 1.1 + shortest) == pytest.approx(min(found, 1.2 * shortest))


# The lattice -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "spacing", "epsilon"), [("1/3", "1/4", 0.7), ("-2", "1/2", 1.0), ("0", "1/50", 0.305), ("0", "3", 2.9)]
)
@pytest.mark.parametrize("c", [0.2, 1.5, 6.0])
def test_the_kernel_on_a_lattice_is_its_series(offset: str, spacing: str, epsilon: float, c: float) -> None:
    lattice = Lattice(Fraction(offset), Fraction(spacing))
    g = float(lattice.spacing)
    made = contour([0.0] * 8, [0.0] * 8, tilt=c, grid=Grid(math.pi / g / 8, 8), lattice=lattice)
    first, kernel, error = made._lattice_kernel(lattice, epsilon)
    assert epsilon < first <= epsilon + g
    assert ((Fraction(first).limit_denominator(10**6) - lattice.offset) / lattice.spacing).denominator == 1
    with mp.workdps(40):
        x1, step = (
            mpf(lattice.offset.numerator) / lattice.offset.denominator,
            mpf(lattice.spacing.numerator) / lattice.spacing.denominator,
        )
        x1 += step * (mp.floor((mpf(epsilon) - x1) / step) + 1)
        for t, value in zip(made.grid.points.tolist(), kernel.tolist(), strict=True):
            s, d = mpc(c, t), x1 - mpf(epsilon)
            # Two geometric series.
            truth = 1 / (1 - mp.exp(-s * step)) - mp.exp(-d) / (1 - mp.exp(-(s + 1) * step))
            assert abs(mpc(value) - truth) <= UNIT * error * abs(truth)
    a = np.exp(-(c + 1j * made.grid.points) * g)
    d = first - epsilon
    below, above = -math.expm1(-d), math.exp(-d) - math.exp(-g)
    share = float(np.max((below + above) / np.abs(below + a * above)))
    assert error == pytest.approx(share * (64 + 128 / (c * g)), rel=1e-6)


def test_a_period_of_the_lattice_is_summed_once() -> None:
    lattice = Lattice(Fraction(0), Fraction(1, 4))
    assert _contour._on_lattice(lattice, 10.1).period == 10.75
    samples = _contour._on_lattice(lattice, 10.0)
    assert samples.period == 10.25  # an odd number of spacings
    points = 41
    assert samples.truncated == 0
    seen = samples.weights[samples.weights != 0].real
    assert seen[0] == pytest.approx(1 / points)
    assert seen[1:] == pytest.approx([2 / points] * 20)
    assert samples.grid.step == pytest.approx(2 * math.pi / 10.25)


def test_a_lattice_of_too_many_points_is_left_to_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = stack([(discrete_laplace(Fraction(4), 1), 3)])
    lattice = Lattice(Fraction(-3, 4), Fraction(1, 2))
    made = _contour.integrate(losses, 2.0, 0.3, -5.0, lattice=lattice, most=Fraction(3, 4))  # type: ignore[arg-type]
    assert made.lattice == lattice
    assert made.most == 0.75
    assert made.cumulant == _contour.cumulants(losses, 2.0)[0]  # type: ignore[arg-type]
    assert [tilt for tilt, _ in made.chernoff] == pytest.approx([2.4, 3.0, 4.0, 6.0, 10.0])
    period = _contour._period(2.0, 0.3, -5.0, made.chernoff, math.inf)
    monkeypatch.setattr(_contour, "_MOST_LATTICE", period / 0.5)
    assert _contour.integrate(losses, 2.0, 0.3, -5.0, lattice=lattice, most=None).lattice == lattice  # type: ignore[arg-type]
    monkeypatch.setattr(_contour, "_MOST_LATTICE", 10)
    assert _contour.integrate(losses, 2.0, 0.3, -5.0, lattice=lattice, most=None).lattice is None  # type: ignore[arg-type]


# The errors of the transforms --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.3, 2.0, 25.0])
def test_the_bounds_of_the_transforms_are_those_of_the_proof(c: float) -> None:
    library, variance = 8, 2.3
    assert Gaussian(variance).errors(c) == pytest.approx(
        (8 * library, 4 * variance * (2 * c + 1), 8 * variance * c * (c + 1))
    )
    theta = Theta(Fraction(49), 3, 5)
    mean = 9 / 49
    one = (16 * library + 20 * c * 3 + 20 * 7, 8 * (c + 1) * mean + 8 * mean**0.5, 8 * mean * c * (c + 1) + 4)
    assert theta.errors(c) == pytest.approx([5 * each for each in one])
    (lattice,) = stack([(discrete_gaussian(Fraction(2), 1, 3.0), 4), (discrete_gaussian(Fraction(2), 1, 3.0), 3)])
    atoms = lattice.logs.shape[1]
    reach = abs(float(lattice.first[0])) + atoms * 0.5
    one = (4 * library + 30 * atoms + 8 * c * reach, 8 * reach, 3 * library + atoms + 8 * c * reach + 1)
    assert lattice.errors(c) == pytest.approx([7 * each for each in one])
