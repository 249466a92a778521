"""Joint intervals of variances: combinations of noises against their exact law, coverage in small groups, and mutants."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.noise.bits import system_bits
from discreet.noise.single.sums import SumOfNoises
from discreet.quotes.allocate import quote
from discreet.releases.evaluate import exact_answers, noisy_answers
from discreet.statistics import joint_noise, joint_variance
from discreet.statistics.base import statistic_json
from discreet.statistics.recipe import Answers, Noises

from .mutants import Mutant
from .replay import cubes_of

LAWS = {
    "Laplace": lambda size: LaplaceNoise(Fraction(size)),
    "Gaussian": lambda size: GaussianNoise(Fraction(size) ** 2),
}
SIZES = ((40, 7, 2), (5, 5, 5), (1, 1, 9), (300, 1, 1))
FACTORS = ((1, 4, 9), (1, 0, 3), (1, 30, 1), (2, 2, 2))
FAILING = (Fraction(1, 20), Fraction(1, 1000))


def combined(law: str, sizes: tuple[int, ...], factors: tuple[int, ...], failing: Fraction) -> tuple[float, SumOfNoises]:
    """The half-width, and the exact law of the combination."""
    laws = [LAWS[law](size) for size in sizes]
    noises = Noises({place: (place, own) for place, own in enumerate(laws)}, 1, Fraction(95, 100))  # type: ignore[misc, dict-item]
    asked = [(place, np.array([float(factor)])) for place, factor in enumerate(factors)]
    found = joint_noise.half_width_of_combination(noises, asked, failing)  # type: ignore[arg-type]
    terms = tuple((factor, own.independent) for factor, own in zip(factors, laws, strict=True) if factor)
    return float(found[0]), SumOfNoises(terms)


def combinations_hold() -> bool:
    for law in LAWS:
        for sizes in SIZES:
            for factors in FACTORS:
                for failing in FAILING:
                    width, exact = combined(law, sizes, factors, failing)
                    if exact.tail(int(width))[0] > failing:
                        return False
    return True


def test_a_combination_leaves_its_half_width_as_seldom_as_it_says() -> None:
    assert combinations_hold()
    for law in LAWS:
        for sizes in SIZES:
            width, exact = combined(law, sizes, (1, 4, 9), FAILING[0])
            rounding = 14 + 1  # of the noises, and to a whole number
            assert width <= 1.08 * exact.half_width(1 - FAILING[0]) + rounding, "wider than it has to be"


def test_noises_of_other_laws_have_the_sum_of_their_half_widths() -> None:
    mixed = {0: (0, LAWS["Laplace"](5)), 1: (1, LAWS["Gaussian"](5))}
    noises = Noises(mixed, 1, Fraction(95, 100))  # type: ignore[arg-type]
    asked = [(0, np.array([1.0])), (1, np.array([3.0]))]
    found = joint_noise.half_width_of_combination(noises, asked, Fraction(1, 10))  # type: ignore[arg-type]
    wanted = [mixed[place][1].half_widths(Fraction(95, 100)) for place in (0, 1)]
    assert found[0] == pytest.approx(wanted[0] + 3 * wanted[1])


# Coverage -----------------------------------------------------------------------------------------------------------------

CELLS = 10_000
GROUPS = {
    "few": [0, 0, 1, 20, 20],
    "one far away": [0] * 39 + [20],
    "skewed": [1] * 60 + [2] * 30 + [15] * 10,
    "alike": [20] * 50,
}
SPENDS = {"pure": dp.PureDP(2), "zCDP": dp.ZCDP(1), "GDP": dp.GDP(1)}


def table() -> dp.Table:
    names = [str(number) for number in range(CELLS)]
    schema = dp.Schema(g=dp.Category(names, required=True), x=dp.Number(0, 20, required=True))
    return dp.Table(schema, dp.AddRemove()).group_by("g")


TABLE = table()


def coverage(group: list[int], spend: Any, statistic: Any) -> tuple[float, float]:
    """How many of many groups alike have an interval that holds their variance, and the mean width."""
    quoted = quote(TABLE.agg(statistic), spend)
    one = exact_answers(quoted, cubes_of(quoted.plan, [{"g": 0, "x": x} for x in group]), system_bits())
    every = [np.repeat(answer[:1], len(answer)) for answer in one]
    noisy = noisy_answers(quoted, every, system_bits())
    values = {own.asked: answer for own, answer in zip(quoted.measured, noisy, strict=True)}
    (line,) = quoted.lines
    (found,) = line.recipe.estimates(Answers(quoted.noises(line), values, slice(0, CELLS)))
    true = float(np.var(group)) ** (0.5 if statistic.kind.word == "std" else 1)
    held = (found.low <= true * (1 + 1e-9) + 1e-9) & (true * (1 - 1e-9) - 1e-9 <= found.high)
    assert ((found.low <= found.value) & (found.value <= found.high)).all()
    return float(held.mean()), float((found.high - found.low).mean())


def all_cover() -> bool:
    """95 %, less 6.5 standard deviations of a mean of 10,000: one of twelve is below with a probability of 3e-9."""
    asked = dp.variance("x", interval="joint", nulls="skip")
    found = [coverage(group, spend, asked)[0] for group in GROUPS.values() for spend in SPENDS.values()]
    return min(found) >= 0.95 - 6.5 * (0.05 * 0.95 / CELLS) ** 0.5


def test_intervals_hold_the_variance_of_small_groups() -> None:
    assert all_cover()


def test_joint_intervals_are_narrower_than_those_over_the_box() -> None:
    large = GROUPS["skewed"] * 20
    for spend in SPENDS.values():
        joint = coverage(large, spend, dp.std("x", interval="joint", nulls="skip"))
        box = coverage(large, spend, dp.std("x", nulls="skip"))
        assert joint[0] > 0.935
        assert joint[1] < 0.75 * box[1]


MUTANTS = {
    "the noise of the sum counts once": (joint_variance.JointVarianceRecipe, "_widths", "(sums, 2 * mean)", "(sums, mean)"),
    "the noise of the count is forgotten": (
        joint_variance.JointVarianceRecipe, "_widths", "*((query, factor) for query in self.count.queries)", ""
    ),
    "a third of the half-width": (joint_variance, "joint_variance", "/ size\n        bottom", "/ size / 3\n        bottom"),
    "the factor of the count keeps no variance": (
        joint_variance, "joint_variance", "np.clip(factor, 0.0, shift + reach**2)", "0 * factor"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_the_interval_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Mutant(*MUTANTS[name]).plant(monkeypatch)
    large = [10] * 300 + [20] * 700  # the mean is far from the middle, so that every noise counts
    asked = dp.variance("x", interval="joint", nulls="skip")
    assert min(coverage(large, spend, asked)[0] for spend in SPENDS.values()) < 0.94


COMBINATIONS = {
    "scales are not raised": ("_of_laplace", "(np.log(len(sizes) / failing) + 1)", "0.3"),
    "half of the tail": ("_laplace_tail", "found = found + ", "found = found + 0.5 * "),
    "the rounding of Gaussians is left out": ("_of_gaussians", "np.add.reduce(list(factors)) / 2", "0"),
    "one side of the normal law": ("_of_gaussians", "1 - failing / 2", "1 - failing"),
}


@pytest.mark.parametrize("name", COMBINATIONS)
def test_a_mutant_of_a_combination_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Mutant(joint_noise, *COMBINATIONS[name]).plant(monkeypatch)
    assert not combinations_hold()


# The plan ------------------------------------------------------------------------------------------------------------------


def test_the_word_is_in_plan_and_document_where_it_is_asked_for() -> None:
    assert "interval" not in statistic_json(dp.std("x"))
    assert statistic_json(dp.std("x", interval="joint"))["interval"] == "joint"
    assert dp.variance("x", interval="box") == dp.variance("x")
    with pytest.raises(dp.ArgumentError, match='must be "joint"'):
        dp.variance("x", interval="narrow")


def test_intervals_that_hold_together_count_three_statements_for_every_cell() -> None:
    plan = TABLE.agg(dp.std("x", interval="joint", nulls="skip"))
    (line,) = quote(plan.simultaneous(), dp.ZCDP(1)).lines
    assert line.level == 1 - Fraction(1, 20) / (3 * plan.layout.cells)
