"""Amplification and resize: laws by enumeration, closed forms, profiles against known optima, inverses verified."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.errors import ArgumentError
from discreet.privacy import GDP, RDP, ZCDP, ApproxDP, PureDP
from discreet.privacy import _copies as copies
from discreet.privacy._resampled import largest_mu
from discreet.privacy.amplify import Resampling, poisson, without_replacement
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace
from discreet.privacy.convert import gaussian_delta, gaussian_mu

SECRET = AddRemove()
epsilons = st.fractions(Fraction(1, 1000), 8, max_denominator=1000)
deltas = st.sampled_from([Fraction(0), Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 100)])
proportions = st.fractions(Fraction(1, 50), 4, max_denominator=50)
relations = st.one_of(st.just(SECRET), st.integers(1, 60).map(ReplaceOne), st.just(AddRemove(rows_per_person=2)))


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("proportion", ["1/2", "2/3", 1, "3/2", 2, "5/2"])
@pytest.mark.parametrize("rows", [1, 2, 4, 7])
@pytest.mark.parametrize("group", [1, 2])
def test_the_law_of_copies_by_enumeration(size: int, proportion: Any, rows: int, group: int) -> None:
    plan = Resampling(rows, proportion, ReplaceOne(size), group=group)
    everyone = [person for person in range(size) for _ in range(plan.copies)]
    assert plan.sampled == min(math.floor(Fraction(proportion) * size), rows)
    counts: dict[int, int] = {}
    for chosen in itertools.combinations(range(len(everyone)), plan.sampled or 0):
        k = sum(everyone[i] < group for i in chosen)
        counts[k] = counts.get(k, 0) + 1
    total = sum(counts.values())
    assert plan.law == tuple(Fraction(counts.get(k, 0), total) for k in range(max(counts) + 1))


def test_the_law_with_a_secret_size_is_binomial() -> None:
    assert Resampling(5, "3/2", SECRET).law == (Fraction(1, 16), Fraction(3, 8), Fraction(9, 16))
    assert Resampling(5, 2, SECRET).law == (0, 0, 1)
    assert len(Resampling(5, "3/2", AddRemove(rows_per_person=3)).law) == 7


@given(rate=st.fractions(0, 1, max_denominator=100))
def test_lemma_3_of_the_sampling_post(rate: Fraction) -> None:
    # If A is 1-DP, then A on a sample of rate ε is 2ε-DP; the tight value is at most 1.72 ε.
    amplified = poisson(PureDP(1), rate).epsilon
    assert amplified <= 2 * rate
    assert amplified <= Fraction(172, 100) * rate


@given(epsilon=epsilons, delta=deltas, rate=st.fractions(Fraction(1, 100), 1, max_denominator=100))
@example(epsilon=Fraction(800), delta=Fraction(0), rate=Fraction(1, 1000))
def test_sampling_is_the_closed_form_rounded_up(epsilon: Fraction, delta: Fraction, rate: Fraction) -> None:
    got = poisson(ApproxDP(epsilon, delta), rate)
    assert got == without_replacement(ApproxDP(epsilon, delta), rate.numerator, rate.denominator)
    assert got.delta == rate * delta
    e = float(epsilon)
    truth = e + math.log(float(rate) + (1 - float(rate)) * math.exp(-e)) if e > 1 else math.log1p(rate * math.expm1(e))
    assert float(got.epsilon) == pytest.approx(truth, rel=1e-12)
    assert got.epsilon <= epsilon
    # The profile of a sampled mechanism, taken at both ends, agrees with the closed form.
    profile = poisson(DiscreteLaplace(1 / epsilon), rate)
    assert profile.delta_at(got.epsilon) <= 1e-15
    assert profile.epsilon_at(0) >= float(got.epsilon) * (1 - 1e-15)


def test_profiles_of_samples() -> None:
    whole = DiscreteGaussian(4)
    sampled = without_replacement(whole, 1, 10)
    epsilon = Fraction(sampled.epsilon_at("1e-6"))
    assert sampled.delta_at(epsilon) <= 1.000000001e-6
    assert 0.1 * whole.delta_at(0) == pytest.approx(sampled.delta_at(0))
    assert without_replacement(whole, 0, 10).delta_at(0) == 0
    assert without_replacement(whole, 10, 10).delta_at("0.3") == pytest.approx(whole.delta_at("0.3"), rel=1e-14)
    assert sampled.delta_at(10**6) >= 0
    gaussian = poisson(GDP(1), "0.1")
    for at in ("0", "0.05", "1", "30"):
        assert gaussian.add_delta_at(at) <= gaussian.delta_at(at) * (1 + 1e-12)
    assert poisson(GDP(1), 1).delta_at(1) == gaussian_delta(1.0, 1.0)
    assert gaussian.delta_at(Fraction(gaussian.epsilon_at("1e-6"))) <= 1.000000001e-6
    assert poisson(ZCDP(1), "0.5").delta_at(1) <= ZCDP(1).delta_at(1)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 100),
    proportion=proportions,
    relation=relations,
    epsilon=epsilons,
    delta=deltas,
    group=st.integers(1, 3),
)
@example(rows=90, proportion=Fraction(3, 2), relation=ReplaceOne(100), epsilon=Fraction(1), delta=Fraction(0), group=1)
@example(rows=1, proportion=Fraction(1, 50), relation=ReplaceOne(1), epsilon=Fraction(1), delta=Fraction(0), group=3)
def test_functional_parameters_are_verified_and_tight(  # noqa: PLR0917 - drawn by name
    rows: int, proportion: Fraction, relation: Any, epsilon: Fraction, delta: Fraction, group: int
) -> None:
    plan = Resampling(rows, proportion, relation, group=group)
    assert sum(plan.law) == 1
    pure = plan.functional(PureDP(epsilon))
    assert plan.guarantee(pure).epsilon <= epsilon
    approximate = plan.functional(ApproxDP(epsilon, delta))
    back = plan.guarantee(approximate)
    assert back.epsilon <= epsilon
    assert back.delta <= delta
    assert plan.guarantee(plan.functional(ZCDP(epsilon))).rho <= epsilon
    assert plan.guarantee(plan.functional(GDP(epsilon))).mu <= epsilon
    if plan.most:
        assert plan.guarantee(PureDP(pure.epsilon * (1 + Fraction(1, 10**14)))).epsilon > epsilon
        assert float(plan.guarantee(ZCDP(1)).rho) == plan.most**2


@pytest.mark.parametrize(
    ("proportion", "rows", "relation", "epsilon_f", "delta_f"),
    [
        ("0.75", 100, SECRET, 1.19120436503011, 1.3333333333333e-6),
        ("1.5", 150, SECRET, 0.6232405136177, 5.033875583975e-7),
        ("2.5", 250, SECRET, 0.3884782516760, 2.762846596178e-7),
        ("1.5", 150, ReplaceOne(100), 0.6233934315820, 5.03553542782e-7),
        ("1.5", 90, ReplaceOne(100), 0.893369447175, 8.39995224807e-7),
        ("2.5", 90, ReplaceOne(100), 0.842271990174, 7.691612056e-7),
    ],
)
def test_functional_vectors(proportion: str, rows: int, relation: Any, epsilon_f: float, delta_f: float) -> None:
    got = Resampling(rows, proportion, relation).functional(ApproxDP(1, "1e-6"))
    assert float(got.epsilon) == pytest.approx(epsilon_f, rel=1e-12)
    assert float(got.delta) == pytest.approx(delta_f, rel=1e-11)


# Standard deviation for (1, 1e-6) and (4, 1e-6): by the repaired formula of the seed, and tight. What is saved.
SAVINGS = [
    ("0.75", 100, SECRET, 3.5431, 3.5431, 1.0, 1.0),
    ("1.5", 150, SECRET, 7.1037, 6.7709, 0.953, 0.928),
    ("2.5", 250, SECRET, 11.3483, 10.8686, 0.958, 0.922),
    ("1.5", 90, ReplaceOne(100), 7.1037, 4.7103, 0.663, 0.758),
    ("2.5", 90, ReplaceOne(100), 11.3483, 4.9848, 0.439, 0.563),
]


def seed_sigma(plan: Resampling, epsilon: float, delta: float) -> float:
    """The seed's calibration, repaired (i from 0, e^{i ε_f}): the Gaussian for its functional pair."""
    s, c = float(plan.rate), plan.copies
    inner = math.log1p(math.expm1(epsilon) / s) / c
    return 1 / gaussian_mu(inner, delta / (s * sum(math.exp(i * inner) for i in range(c))))


@pytest.mark.parametrize(("proportion", "rows", "relation", "seed", "tight", "ratio", "ratio_at_four"), SAVINGS)
def test_noise_saved_against_the_repaired_seed(  # noqa: PLR0917 - columns of a table
    proportion: str, rows: int, relation: Any, seed: float, tight: float, ratio: float, ratio_at_four: float
) -> None:
    plan = Resampling(rows, proportion, relation)
    ours = float(1 / plan.gaussian(ApproxDP(1, "1e-6")).mu)
    theirs = seed_sigma(plan, 1, 1e-6)
    assert ours == pytest.approx(tight, abs=6e-5)
    assert theirs == pytest.approx(seed, abs=6e-5)
    assert ours / theirs == pytest.approx(ratio, abs=6e-4)
    at_four = float(1 / plan.gaussian(ApproxDP(4, "1e-6")).mu) / seed_sigma(plan, 4, 1e-6)
    assert at_four == pytest.approx(ratio_at_four, abs=6e-4)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("inner", [GDP("0.4"), PureDP("0.5"), ApproxDP("0.5", 0), DiscreteLaplace(3, 2)])
@pytest.mark.parametrize("relation", [SECRET, ReplaceOne(10)])
@pytest.mark.parametrize("proportion", ["0.4", 1, "1.5", "2.5"])
def test_profiles_lie_between_the_whole_group_and_nothing(inner: Any, relation: Any, proportion: Any) -> None:
    plan = Resampling(12, proportion, relation)
    profile = plan.profile(inner)
    previous = 1.0
    for at in (Fraction(k, 5) for k in range(12)):
        delta = profile.delta_at(at)
        assert 0 <= delta <= previous * (1 + 1e-12)
        previous = delta
    pure = inner if isinstance(inner, PureDP) else getattr(inner, "guarantee", None)
    if isinstance(pure, PureDP):
        end = plan.guarantee(pure).epsilon
        assert profile.delta_at(end) <= 1e-14
        assert profile.delta_at(end * Fraction(99, 100)) > 0
    elif isinstance(inner, GDP):
        for at in (0, "0.5", 2):
            assert profile.delta_at(at) <= GDP(plan.most * inner.mu).delta_at(at) * (1 + 1e-12)
    for chance in ("0.1", "1e-3", "1e-9"):
        found = profile.epsilon_at(chance)
        assert profile.delta_at(Fraction(found)) <= float(chance)


def test_where_a_single_threshold_is_not_enough() -> None:
    # 3 rows, n = 3, p = 3/2, ε₀ = 0.7 at ε = 0.239: the truth is 0.2219, one common event gives 0.2129.
    from discreet.privacy import _slopes

    plan = Resampling(3, "3/2", ReplaceOne(3))
    assert plan.profile(PureDP("0.7")).delta_at("0.239") == pytest.approx(0.22194, abs=1e-4)
    assert _slopes.forward(_slopes.Steps(Fraction(10, 7), 1), plan.law, Fraction("0.239")) < 0.2130


def test_both_directions_count_when_the_size_is_secret() -> None:
    profile = Resampling(4, "3/2", SECRET).profile(PureDP("0.5"))
    at = Fraction("0.2378711478257703")
    assert profile.reverse_delta_at(at) > profile.forward_delta_at(at) + 0.01
    assert profile.delta_at(at) == profile.reverse_delta_at(at)


def test_a_private_size_costs_no_less_than_the_same_rate_in_public() -> None:
    orders = [2, 4, 32]
    plan = Resampling(100, "1.5", SECRET)
    curve = plan.renyi(ZCDP("0.045"), orders)
    assert isinstance(curve, RDP)
    assert float(curve.curve[0][1]) == pytest.approx(0.241238, abs=1e-6)
    assert all(tau <= order * 4 * Fraction("0.045") for order, tau in curve.curve)
    assert Resampling(90, "1.5", ReplaceOne(100)).renyi(ZCDP("0.045"), orders).curve[0][1] < Fraction("0.36")


def test_groups_enter_through_the_copies_and_only_there() -> None:
    alone, pair = (Resampling(90, "1.5", ReplaceOne(100), group=a) for a in (1, 2))
    assert pair.most == 2 * alone.most
    amplified = alone.guarantee(PureDP("0.1")).group(2).epsilon
    assert pair.guarantee(PureDP("0.1")).epsilon < amplified
    assert Resampling(90, 1, ReplaceOne(100, rows_per_person=2)).law == Resampling(90, 1, ReplaceOne(100), group=2).law


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", True])
def test_bad_arguments_are_refused(bad: Any) -> None:
    with pytest.raises(ArgumentError, match="proportion="):
        Resampling(10, bad, SECRET)
    with pytest.raises(ArgumentError, match="rows="):
        Resampling(bad, 1, SECRET)
    with pytest.raises(ArgumentError, match="group="):
        Resampling(10, 1, SECRET, group=bad)
    with pytest.raises(ArgumentError, match="neighbours="):
        Resampling(10, 1, bad)
    with pytest.raises(ArgumentError):
        Resampling(10, 1, SECRET).guarantee(bad)
    with pytest.raises(ArgumentError):
        Resampling(10, 1, SECRET).functional(bad)
    with pytest.raises(ArgumentError):
        Resampling(10, 1, SECRET).profile(bad)


def test_bad_rates_are_refused() -> None:
    for bad in (-1, 2, math.nan, True, "x"):
        with pytest.raises(ArgumentError, match="rate="):
            poisson(PureDP(1), bad)
    for m, n in ((2, 1), (-1, 3), (1.5, 3), (True, 3), (0, 0)):
        with pytest.raises(ArgumentError, match="m="):
            without_replacement(PureDP(1), m, n)  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="copies"):
        Resampling(10, 10**6, SECRET).guarantee(PureDP(1))


@pytest.mark.shared
def test_resize_vectors(shared: Path) -> None:
    document = json.loads((shared / "golden" / "resize_vectors.json").read_text())
    for vector in document["resize"]:
        law = tuple(Fraction(w) for w in vector["w"])
        epsilon, delta = Fraction(str(vector["eps"])), Fraction(str(vector["delta"]))
        inner = copies.functional_epsilon(law, epsilon)
        assert float(inner) == pytest.approx(vector["eps_f"], rel=3e-15)
        assert float(copies.functional_delta(law, inner, delta)) == pytest.approx(vector["delta_f"], rel=1e-14)
        mu = largest_mu(law, ApproxDP(epsilon, delta), both=vector["name"].startswith("bin"))
        assert float(1 / mu) == pytest.approx(vector["gauss_sigma_exact"], rel=1e-12)
    for vector in document["resize_profile_lp"]:
        relation = ReplaceOne(vector["ntilde"]) if vector["relation"] == "replace" else SECRET
        plan = Resampling(vector["n"], vector["p"], relation)
        assert [float(w) for w in plan.law] == pytest.approx(vector["w"])
        outer = plan.guarantee(ApproxDP(str(vector["eps0"]), str(vector["delta0"])))
        assert float(outer.epsilon) == pytest.approx(vector["eps_out"], rel=1e-14)
        assert float(outer.delta) == pytest.approx(vector["delta_out"], rel=1e-14, abs=1e-17)
        # The linear program over all mechanisms, at every ε of its curve and in both directions.
        profile = plan.profile(ApproxDP(str(vector["eps0"]), str(vector["delta0"])))
        for at, lp, lp_reverse in vector["curve"]:
            if relation == SECRET:
                assert profile.forward_delta_at(Fraction(at)) == pytest.approx(lp, rel=1e-12, abs=1e-14)
                # With few rows the reverse direction does not reach its bound.
                assert profile.reverse_delta_at(Fraction(at)) >= (lp_reverse if plan.most > 1 else 0) * (1 - 1e-12)
            else:
                assert profile.delta_at(Fraction(at)) == pytest.approx(lp, rel=1e-12, abs=1e-14)


def test_one_record_is_a_sample_of_one() -> None:
    assert without_replacement(PureDP(1), 1, 1) == PureDP(1)
    assert without_replacement(PureDP(1), 0, 1).epsilon == 0
    with pytest.raises(ArgumentError, match="n ≥ 1"):
        without_replacement(PureDP(1), 0, 0)


def test_the_law_of_no_copies_takes_the_whole_spend() -> None:
    none = Resampling(1, "0.02", ReplaceOne(1))
    assert none.most == 0
    assert none.functional(GDP("0.7")) == GDP("0.7")
    assert none.functional(ZCDP("0.7")) == ZCDP("0.7")
