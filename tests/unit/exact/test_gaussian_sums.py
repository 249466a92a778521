"""Sums of exp(-k²/(2s)): they hold the truth, use the whole precision, and are the same whichever way is taken."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from mpmath import mp, mpf

from discreet.exact import gaussian_sums
from discreet.exact.gaussian_sums import gaussian_sum, gaussian_tail_sum
from discreet.exact.precision import with_precision


@pytest.mark.parametrize("sigma2", [Fraction(101), Fraction(10_000), Fraction(10_001), Fraction(10**6, 7)])
@pytest.mark.parametrize("z", [0.0, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("bits", [128, 256])
def test_tails_of_the_discrete_gaussian_hold_the_sum_and_use_the_whole_precision(
    sigma2: Fraction, z: float, bits: int
) -> None:
    from flint import ctx

    sigma = float(sigma2) ** 0.5
    start = int(z * sigma) + 1
    with ctx.workprec(bits):
        found = gaussian_tail_sum(sigma2, start)
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


@pytest.mark.parametrize("s", [Fraction(1, 3), Fraction(1), Fraction(70), Fraction(150), Fraction(5000, 3)])
@pytest.mark.parametrize("bits", [80, 300, 4000])
def test_tails_on_both_sides_and_the_middle_are_the_whole(s: Fraction, bits: int) -> None:
    apart = with_precision(bits, lambda: gaussian_sum(s) - 1 - 2 * gaussian_tail_sum(s, 1))
    assert apart.contains(0)
    assert with_precision(bits, lambda: abs(apart).upper() < 2.0 ** -min(60, bits - 20))


@pytest.mark.parametrize("start", [1, 40, 400])
def test_the_formula_and_the_sum_term_by_term_agree(start: int) -> None:
    s = Fraction(1234, 3)
    formula, terms = with_precision(
        128, lambda: (gaussian_sums._euler_maclaurin(s, start), gaussian_sums._direct(s, start, 0))
    )
    assert formula.overlaps(terms)
    assert min(formula.rel_accuracy_bits(), terms.rel_accuracy_bits()) > 80


def test_where_no_formula_reaches_the_precision_the_terms_are_added() -> None:
    """At s = 101 that of Euler and Maclaurin errs by about 2^-2870."""
    found = with_precision(6000, lambda: gaussian_tail_sum(Fraction(101), 1))
    assert found.rel_accuracy_bits() > 5900
