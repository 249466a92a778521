"""The slopes of R1 and R2 are the best ones: the bounds equal their duals, which maximise over events instead.

For fixed weights the least Σ w_k δ_k(α_k) over all slopes with Σ w_k α_k = α is the largest Σ w_k G_k(b) − αb over the one
probability b (Lagrange), and with the condition of R1 the largest Σ w_k (G_k(b_k) − αb_k) over b_0 ≥ b_1 ≥ ….
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

from discreet.exact.balls import ball, lower, upper
from discreet.privacy import _slopes
from discreet.privacy._copies import binomial, hypergeometric

CASES: dict[str, Any] = {
    "normal": _slopes.Normal(Fraction(7, 10)),
    "narrow normal": _slopes.Normal(Fraction(1, 100)),
    "wide normal": _slopes.Normal(Fraction(3)),
    "steps": _slopes.Steps(Fraction(3), 2),
    "chain": _slopes.Chain(Fraction(1, 2), Fraction(1, 100)),
    "pure chain": _slopes.Chain(Fraction(7, 10), Fraction(0)),
}
USUAL = [name for name in CASES if name != "narrow normal"]  # whose δ is too small for thirty digits
LAWS = {
    "two": binomial(2, Fraction(1, 3)),
    "four": binomial(4, Fraction(2, 5)),
    "public": hypergeometric(40, 3, 20),
    "at least one": hypergeometric(7, 4, 4),
}
EPSILONS = [Fraction(1, 10), Fraction(3, 5)]


def real(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def kinks(family: Any, k: int) -> list[tuple[mpf, mpf]]:
    """The corners (b, G_k(b)) of a piecewise linear G_k, from the definitions of D2 and D3."""
    if k == 0:
        return [(mpf(0), mpf(0)), (mpf(1), mpf(1))]
    if isinstance(family, _slopes.Steps):
        shift, rate = k * family.sensitivity, 1 / real(family.scale)

        def tail(m: int) -> mpf:
            below = mp.exp(-abs(m if m > 0 else 1 - m) * rate) / (1 + mp.exp(-rate))
            return below if m > 0 else 1 - below

        return [(mpf(0), mpf(0)), *((tail(m), tail(m - shift)) for m in range(shift, 0, -1)), (mpf(1), mpf(1))]
    growth, delta = mp.exp(real(family.epsilon)), real(family.step)

    def g(x: mpf) -> mpf:
        return min(mpf(1), delta + growth * x, 1 - (1 - delta - x) / growth)

    def before(y: mpf) -> mpf:  # the largest x with g(x) ≤ y, y < 1
        kink = (1 - delta) / (1 + growth)
        return (y - delta) / growth if y <= g(kink) else 1 - delta - growth * (1 - y)

    corners = {mpf(0), mpf(1), (1 - delta) / (1 + growth), 1 - delta}
    for _ in range(k):
        corners |= {before(y) for y in corners if 0 < before(y) < 1}
    return [(b, iterated(g, b, k)) for b in sorted(corners) if 0 <= b <= 1]


def iterated(g: Callable[[mpf], mpf], x: mpf, k: int) -> mpf:
    for _ in range(k):
        x = g(x)
    return x


def curve(family: Any, k: int) -> Callable[[mpf], mpf]:
    """G_k as a function of the place: b itself, or for Gaussian noise the z with b = Φ(z)."""
    if isinstance(family, _slopes.Normal):
        shift = k * real(family.mu)
        return lambda z: mp.ncdf(z + shift)
    corners = kinks(family, k)

    def linear(b: mpf) -> mpf:
        for (x0, y0), (x1, y1) in itertools.pairwise(corners):
            if x0 <= b <= x1:
                return y0 + (y1 - y0) * (b - x0) / (x1 - x0) if x1 > x0 else y1
        return mpf(1)

    return linear


def chance(family: Any, place: mpf) -> mpf:
    """The b of a place."""
    return mp.ncdf(place) if isinstance(family, _slopes.Normal) else place


def places(family: Any, most: int, finer: int = 1) -> list[mpf]:
    """The places among which the best one is; for Gaussian noise a grid around it."""
    if isinstance(family, _slopes.Normal):
        wide = max(4, 5 * real(family.mu), 1 / real(family.mu))
        return [wide * i / 16 / finer for i in range(-48 * finer, 16 * finer + 1)]
    return sorted({b for k in range(1, most + 1) for b, _ in kinks(family, k)})


def best(value: Callable[[mpf], mpf], family: Any, most: int) -> mpf:
    """The largest value of a concave function of b, given as a function of the place."""
    candidates = places(family, most)
    values = [value(place) for place in candidates]
    top = values.index(max(values))
    if not isinstance(family, _slopes.Normal):
        return values[top]
    low, high = candidates[max(top - 1, 0)], candidates[min(top + 1, len(candidates) - 1)]
    for _ in range(50):  # golden sections
        a, b = low + (high - low) * mpf("0.382"), low + (high - low) * mpf("0.618")
        low, high = (low, b) if value(a) > value(b) else (a, high)
    return value((low + high) / 2)


def forward_dual(family: Any, law: Sequence[Fraction], alpha: mpf) -> mpf:
    curves = [curve(family, k) for k in range(len(law))]

    def value(at: mpf) -> mpf:
        return sum(real(w) * g(at) for w, g in zip(law, curves, strict=True)) - alpha * chance(family, at)

    return best(value, family, len(law) - 1)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("law", ["two", "four"])
def test_the_forward_bound_is_its_dual_rounded_up(name: str, law: str) -> None:
    with mp.workdps(30):
        for epsilon in EPSILONS:
            truth = forward_dual(CASES[name], LAWS[law], mp.exp(real(epsilon)))
            assert_rounded_up(_slopes.forward(CASES[name], LAWS[law], epsilon), truth)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("law", ["two", "four"])
def test_the_reverse_bound_is_its_dual_rounded_up(name: str, law: str) -> None:
    # v_k δ_k(αw_k/v_k) is the largest v_k G_k(b_k) − αw_k b_k, and the least over v leaves the smallest G_k(b_k): at the
    # level 1 − b, and because G_k is symmetric, 1 − b − α(1 − Σ w_k G_k(b)).
    family, weights = CASES[name], LAWS[law]
    with mp.workdps(30):
        for epsilon in (Fraction(1, 20), *EPSILONS):
            alpha = mp.exp(real(epsilon))
            curves = [curve(family, k) for k in range(len(weights))]

            def value(at: mpf, alpha: mpf = alpha, curves: Any = curves) -> mpf:
                mean = sum(real(w) * g(at) for w, g in zip(weights, curves, strict=True))
                return 1 - chance(family, at) - alpha * (1 - mean)

            assert_rounded_up(_slopes.reverse(family, weights, epsilon), max(best(value, family, len(weights) - 1), mpf(0)))


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("law", ["public", "at least one"])
def test_the_bound_for_a_public_size_is_its_dual_rounded_up(name: str, law: str) -> None:
    family, weights = CASES[name], LAWS[law]
    with mp.workdps(30):
        for epsilon in EPSILONS:
            alpha, candidates = mp.exp(real(epsilon)), places(family, len(weights) - 1, finer=3)
            # Over events b_k that do not grow with k, from the last k down: the best with b_k at most candidates[i].
            tops = [mpf(0)] * len(candidates)
            for k in reversed(range(len(weights))):
                g, w = curve(family, k), real(weights[k])
                values = [w * (g(at) - alpha * chance(family, at)) + top for at, top in zip(candidates, tops, strict=True)]
                tops = list(itertools.accumulate(values, max))
            truth, found = tops[-1], _slopes.public_size(family, weights, epsilon)
            if isinstance(family, _slopes.Normal):  # the grid is coarse
                assert truth * (1 - mpf(10) ** -20) <= found <= truth * (1 + mpf(10) ** -2)
            else:
                assert_rounded_up(found, truth)


def assert_rounded_up(found: float, truth: mpf) -> None:
    assert truth * (1 - mpf(10) ** -20) <= found <= truth * (1 + mpf(10) ** -12) + mpf(5e-324)


@pytest.mark.parametrize("name", CASES)
def test_without_a_copy_both_laws_are_the_same(name: str) -> None:
    family = CASES[name]
    for alpha in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)):
        found = family.delta(0, ball(alpha))
        assert (lower(found), upper(found)) == (float(max(1 - alpha, Fraction(0))),) * 2
