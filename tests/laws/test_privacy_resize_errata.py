"""Where the printed formulas of the resize documents fail: one test per erratum, each with its counterexample."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.privacy import ApproxDP, PureDP
from discreet.privacy.amplify import Resampling

SECRET = AddRemove()


def printed_pair(proportion: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Theorem 1 as it is printed: the sum starts at i = 1 and has e^{iε}, not e^{i ε_f}."""
    c = math.ceil(proportion)
    s = proportion / c
    return math.log1p(math.expm1(epsilon) / s) / c, delta / (s * sum(math.exp(i * epsilon) for i in range(1, c)))


def test_e1_sampling_the_larger_of_both_sizes_amplifies_nothing() -> None:
    # sample(X_c, max(m, n)) with n = ñ = 100, p = 3/4 keeps every record: the functional 1.191 is then the true loss.
    functional = Resampling(100, "0.75", SECRET).functional(PureDP(1))
    everyone = Resampling(100, 1, ReplaceOne(100))
    assert float(everyone.guarantee(functional).epsilon) == pytest.approx(1.1912, abs=1e-4)
    assert Resampling(100, "0.75", ReplaceOne(100)).sampled == 75
    assert Resampling(90, "1.5", ReplaceOne(100)).sampled == 90


def test_e2_the_geometric_sum_starts_at_zero() -> None:
    # c = 2, s = 1: a path mechanism reaches (1 + e^ε)δ at distance 2; printed is e^ε δ. And c = 1 would claim δ' = 0.
    got = Resampling(10, 2, SECRET).guarantee(ApproxDP("0.5", "0.01"))
    printed = math.exp(0.5) * 0.01
    assert float(got.delta) == pytest.approx(0.0264872, abs=1e-7)
    assert printed < 0.0165
    assert Resampling(10, "0.5", SECRET).guarantee(ApproxDP("0.5", "0.01")).delta == Fraction("0.005")


@pytest.mark.parametrize(("proportion", "truth"), [(1.5, 1.856e-6), (2.0, 1.856e-6)])
def test_e3_the_printed_inverse_of_delta_is_too_large(proportion: float, truth: float) -> None:
    epsilon_f, delta_f = printed_pair(proportion, 0.1, 1e-6)
    reached = Resampling(1000, Fraction(proportion), SECRET).guarantee(ApproxDP(Fraction(epsilon_f), Fraction(delta_f)))
    assert float(reached.delta) > 1e-6
    assert float(reached.delta) == pytest.approx(truth, rel=2e-3)


def test_e5_the_number_of_samples_is_computed_exactly() -> None:
    # 0.03 as a double is below 3/100: 100 rows give 2 samples, while floating-point arithmetic gives 3.
    assert math.floor(0.03 / 1 * 1 * 100) == 3
    assert Resampling(50, Fraction(0.03), ReplaceOne(100)).sampled == 2
    assert Resampling(50, 0.03, ReplaceOne(100)).sampled == 3  # in the public interface 0.03 means 3/100


def test_e8_the_repaired_formula_is_sound_and_loose() -> None:
    for proportion, epsilon in (("1.5", "0.1"), ("1.5", 1), ("2.5", 1), ("3.2", 2)):
        plan = Resampling(1000, proportion, SECRET)
        s, c, e = float(plan.rate), plan.copies, float(Fraction(epsilon))
        repaired = math.log1p(s * math.expm1(c * e))
        assert float(plan.guarantee(PureDP(epsilon)).epsilon) < repaired


def test_e9_amplified_losses_of_one_sample_do_not_add() -> None:
    # Each release is charged its own amplified ε, but all read the same sample.
    for proportion, target, count, claimed, exact in (
        ("1/2", 1, 2, 2.0, 2.336),
        ("1/2", 1, 10, 10.0, 14.206),
        ("3/4", "0.1", 10, 1.0, 1.1105),
        ("0.1", 1, 5, 5.0, 12.200),  # whitenoise-core reports 5.0
    ):
        plan = Resampling(10**6, proportion, SECRET)
        one = plan.functional(PureDP(target))
        assert float(count * plan.guarantee(one).epsilon) == pytest.approx(claimed, rel=1e-12)
        assert float(plan.guarantee(count * one).epsilon) == pytest.approx(exact, abs=1e-3)
        # The rule: compose what reads the sample, then convert once.
        assert plan.guarantee(plan.functional(count * PureDP(target))).epsilon <= count * PureDP(target).epsilon


def test_e9_as_another_library_composes_it() -> None:
    # OpenDP 0.16 composes five amplified measurements to 2.470 where one shared sample of a tenth costs 7.698.
    claimed = 5 * math.log1p(0.1 * math.expm1(2))
    plan = Resampling(10**6, "0.1", SECRET)
    assert claimed == pytest.approx(2.470, abs=1e-3)
    assert float(plan.guarantee(5 * PureDP(2)).epsilon) == pytest.approx(7.698, abs=1e-3)


def test_e11_a_public_size_saves_what_the_printed_rate_wastes() -> None:
    # "Functional usage is affected only by p" holds, but 90 of 100 records at p = 3/2 cost far less than 150.
    few = Resampling(90, "1.5", ReplaceOne(100)).functional(PureDP(1)).epsilon
    many = Resampling(150, "1.5", ReplaceOne(100)).functional(PureDP(1)).epsilon
    assert float(few / many) == pytest.approx(0.893369 / 0.623393, rel=1e-5)
