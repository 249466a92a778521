"""Intervals of derived numbers over 10,000 draws at small counts: at least the stated coverage, and wrong ones are rejected.

Each test rejects a true coverage of 95 % with probability at most 1e-9 (Hoeffding: 10,000 draws, 3.3 points).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, sqrt

import pytest

from discreet.noise.bits import system_bits
from discreet.noise.single.laws import DiscreteLaplace, Law, RoundedGaussian
from discreet.releases.derived.certainty import difference_interval, ratio_interval
from discreet.releases.derived.combine import _mean
from discreet.releases.derived.fieller import Interval
from discreet.releases.derived.linear import Cell, Linear

DRAWS = 10_000
LEVEL = Fraction(95, 100)
MARGIN = 0.033
LAPLACE, GAUSSIAN = DiscreteLaplace(2), RoundedGaussian(8)
TRUTHS = [(0, 3), (3, 3), (5, 10), (10, 5), (25, 10), (10, 40)]


def test_the_margin_is_that_of_the_declared_error():
    assert exp(-2 * DRAWS * MARGIN**2) < 1e-9


def outcomes(laws: tuple[Law, Law], truth: tuple[int, int], shared: int) -> Counter[tuple[Linear, Linear]]:
    """What two numbers came out as, and how often; the numerator has the denominator's noise `shared` times as well."""
    bits = system_bits()
    x, y = (law.sample(DRAWS, bits).tolist() for law in laws)
    over, under = (((Fraction(1), Cell("d", "q", place, law, tied=False)),) for place, law in enumerate(laws))
    both = (*over, (Fraction(shared), under[0][1])) if shared else over
    seen = Counter(zip(x, y, strict=True))
    return Counter(
        {
            (Linear(Fraction(truth[0] + a + shared * b), both), Linear(Fraction(truth[1] + b), under)): times
            for (a, b), times in seen.items()
        }
    )


def coverage(rule, laws, truth, shared=0) -> tuple[float, float]:
    """How often the interval holds the true ratio, and how often it is bounded."""
    held = bounded = 0
    for (over, under), times in outcomes(laws, truth, shared).items():
        found: Interval | None = rule(over, under)
        bounded += times * (found is not None)
        held += times * (found is None or found[0] <= Fraction(*truth) <= found[1])
    return held / DRAWS, bounded / DRAWS


def certified(over: Linear, under: Linear) -> Interval | None:
    return ratio_interval(over, under, LEVEL)


def delta_method(over: Linear, under: Linear) -> Interval | None:
    if under.value == 0:
        return None
    ratio = over.value / under.value
    size = Fraction(1.96 * sqrt(over.plus(-ratio, under).variance()) / abs(float(under.value)))
    return ratio - size, ratio + size


@pytest.mark.slow
@pytest.mark.one_in(21)
@pytest.mark.parametrize("laws", [(LAPLACE, LAPLACE), (GAUSSIAN, GAUSSIAN), (LAPLACE, GAUSSIAN)])
@pytest.mark.parametrize("truth", TRUTHS)
def test_certified_intervals_cover(laws, truth):
    assert coverage(certified, laws, truth)[0] >= LEVEL - Fraction(MARGIN)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("shared", [1, -2])
@pytest.mark.parametrize("truth", TRUTHS)
def test_certified_intervals_of_dependent_numbers_cover(truth, shared):
    assert coverage(certified, (LAPLACE, GAUSSIAN), truth, shared)[0] >= LEVEL - Fraction(MARGIN)


def test_the_delta_method_is_rejected():
    assert coverage(delta_method, (LAPLACE, LAPLACE), (20, 5))[0] < LEVEL - Fraction(MARGIN)


@pytest.mark.slow
def test_half_of_a_bound_is_rejected():
    def halved(over: Linear, under: Linear) -> Interval | None:
        found = certified(over, under)
        middle = over.value / under.value if under.value else Fraction(0)
        return found and ((found[0] + middle) / 2, (found[1] + middle) / 2)

    assert coverage(halved, (GAUSSIAN, GAUSSIAN), (25, 40))[0] < LEVEL - Fraction(MARGIN)


# Changes and means --------------------------------------------------------------------------------------------------------


CHANGES = [(0, 0), (3, 3), (5, 10), (10, 5), (40, 25)]
"""Counts before and after."""
COARSE = DiscreteLaplace(5)
PAIRS = {"Laplace": (LAPLACE, LAPLACE), "Gaussian": (GAUSSIAN, GAUSSIAN), "unequal": (LAPLACE, COARSE)}


def difference(after: Linear, before: Linear) -> Interval:
    return difference_interval(after, before, LEVEL)


def relative(after: Linear, before: Linear) -> Interval | None:
    found = ratio_interval(after, before, LEVEL)
    return found and (found[0] - 1, found[1] - 1)


def mean_of_two(one: Linear, other: Linear) -> Interval:
    mean = _mean([one, other], LEVEL)
    half = mean.half_width(LEVEL)
    return mean.value - half, mean.value + half


def share_held(rule, laws, counts, true) -> tuple[float, float, float]:
    """How often the interval holds the true number, how often it is unbounded, and half of its mean width elsewhere."""
    held = unbounded = 0
    widths = Fraction(0)
    for (first, second), times in outcomes(laws, counts, 0).items():
        found: Interval | None = rule(first, second)
        unbounded += times * (found is None)
        held += times * (found is None or found[0] <= true <= found[1])
        widths += times * ((found[1] - found[0]) / 2 if found else 0)
    return held / DRAWS, unbounded / DRAWS, float(widths / max(DRAWS - unbounded, 1))


def cases():
    """The name, the laws, the true counts and the coverage of every line of the table."""
    for name, laws in PAIRS.items():
        for before, after in CHANGES:
            yield (
                "difference",
                name,
                laws,
                f"{before} → {after}",
                share_held(difference, laws, (after, before), after - before),
            )
        for before, after in CHANGES[1:]:
            true = Fraction(after, before) - 1
            yield "relative change", name, laws, f"{before} → {after}", share_held(relative, laws, (after, before), true)
        for true in (0, 3, 10):
            yield "mean of two", name, laws, str(true), share_held(mean_of_two, laws, (true, true), true)


@pytest.mark.one_in(18)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("counts", CHANGES)
def test_intervals_of_changes_cover(name, counts):
    before, after = counts
    assert share_held(difference, PAIRS[name], (after, before), after - before)[0] >= LEVEL - Fraction(MARGIN)
    if before:
        assert share_held(relative, PAIRS[name], (after, before), Fraction(after, before) - 1)[0] >= LEVEL - Fraction(MARGIN)


@pytest.mark.parametrize("name", PAIRS)
def test_intervals_of_means_cover_and_are_no_wider_than_one(name):
    held, _, width = share_held(mean_of_two, PAIRS[name], (3, 3), 3)
    assert held >= LEVEL - Fraction(MARGIN)
    assert width <= min(law.half_width(LEVEL) for law in PAIRS[name])


def test_a_difference_with_the_noise_of_one_count_is_rejected():
    def one_noise(after: Linear, before: Linear) -> Interval:
        middle, half = after.value - before.value, after.half_width(LEVEL)
        return middle - half, middle + half

    assert share_held(one_noise, PAIRS["Gaussian"], (5, 10), -5)[0] < LEVEL - Fraction(MARGIN)


if __name__ == "__main__":  # the tables of docs/accuracy.md
    for kind, name, _, truth, (held, unbounded, width) in cases():
        print(f"| {kind} | {name} | {truth} | {held:.1%} | {unbounded:.1%} | {width:.3g} |")
    for laws in ((LAPLACE, LAPLACE), (GAUSSIAN, GAUSSIAN)):
        for truth in TRUTHS:
            ours, bounded = coverage(certified, laws, truth)
            series = coverage(delta_method, laws, truth)[0]
            name = f"{type(laws[0]).__name__} | {truth[0]}/{truth[1]}"
            print(f"| {name} | {ours:.1%} | {1 - bounded:.1%} | {series:.1%} |")
