"""The intervals of derived numbers, against every outcome of small noises: coverage, the exact set, and what must fail.

Masses are summed from below, and outcomes that are left out count as misses, so that a coverage found here is at most the
true one; what has to fail is summed from above, and outcomes that are left out count as hits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, product
from math import prod, sqrt

import pytest

from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, Law, RoundedGaussian
from discreet.releases.derived import fieller, linear
from discreet.releases.derived.certainty import difference_interval
from discreet.releases.derived.combine import _weights
from discreet.releases.derived.fieller import Interval, quotient_interval
from discreet.releases.derived.linear import Cell, Linear, LogConcave

LEVEL = Fraction(95, 100)
LAPLACE, WIDE, GAUSSIAN, DISCRETE = DiscreteLaplace(1), DiscreteLaplace(2), RoundedGaussian(3), DiscreteGaussian(2)
MOST = Fraction(999, 1000)

Pair = tuple[Law, Law]
Rule = Callable[[Linear, Linear], Interval | None]


def noise(law: Law, place: int, query: str = "q") -> tuple[tuple[Fraction, Cell], ...]:
    return ((Fraction(1), Cell("draw", query, place, law, tied=False)),)


def masses(law: Law, end: int, reach: int = 14) -> dict[int, float]:
    return {k: law.pmf(k)[end] for k in range(-reach, reach + 1)}


def covered(laws: Pair, truth: tuple[int, int], rule: Rule, *, shared: int = 0, end: int = 0) -> float:
    """The probability that the rule covers alpha/beta. `shared`: how often the denominator's noise is in the numerator.

    Of each law the noises with a chance of 1 in 1,000 are left out: from below they are misses, from above they are hits.
    """
    x, y = noise(laws[0], 0), noise(laws[1], 1)
    chances = [masses(law, end, law.half_width(MOST)) for law in laws]
    hit = end * (1 - prod(sum(masses(law, 0, law.half_width(MOST)).values()) for law in laws))
    for first, second in product(*chances):
        over = Linear(Fraction(truth[0] + first), x).plus(Fraction(shared), Linear(Fraction(second), y))
        found = rule(over, Linear(Fraction(truth[1] + second), y))
        if found is None or found[0] <= Fraction(*truth) <= found[1]:
            hit += chances[0][first] * chances[1][second]
    return hit


def certified(over: Linear, under: Linear) -> Interval | None:
    return quotient_interval(over, under, LEVEL)


def delta_method(over: Linear, under: Linear) -> Interval | None:
    """What textbooks offer: a first-order series around the quotient, and a normal law."""
    if under.value == 0:
        return None
    ratio = over.value / under.value
    size = 1.96 * sqrt(over.plus(-ratio, under).variance()) / abs(float(under.value))
    return ratio - Fraction(size), ratio + Fraction(size)


TRUTHS = [(0, 1), (3, 2), (5, 8), (-4, 6), (20, 5), (1, 30)]


@pytest.mark.one_in(40)
@pytest.mark.parametrize("laws", [(LAPLACE, LAPLACE), (GAUSSIAN, LAPLACE), (GAUSSIAN, GAUSSIAN), (DISCRETE, WIDE)])
@pytest.mark.parametrize("truth", TRUTHS)
def test_a_ratio_is_covered_whatever_the_denominator(laws, truth):
    assert covered(laws, truth, certified) >= LEVEL


@pytest.mark.one_in(10)
@pytest.mark.parametrize("truth", TRUTHS)
def test_a_ratio_of_dependent_numbers_is_covered(truth):
    assert covered((LAPLACE, GAUSSIAN), truth, certified, shared=3) >= LEVEL


def test_the_delta_method_is_noticed():
    assert covered((WIDE, WIDE), (20, 5), delta_method, end=1) < LEVEL - Fraction(1, 20)


@pytest.mark.slow
def test_half_of_the_certified_width_is_noticed(monkeypatch):
    whole = linear.half_width
    monkeypatch.setattr(linear, "half_width", lambda terms, coverage: whole(terms, coverage) / 2)
    assert covered((LAPLACE, LAPLACE), (5, 8), certified, end=1) < LEVEL


@pytest.mark.slow
def test_independence_that_is_not_there_is_noticed():
    def apart(over: Linear, under: Linear) -> Interval | None:
        others = Linear(over.value, tuple((size, Cell("other", "q", 9, cell.law, tied=False)) for size, cell in over.terms))
        return quotient_interval(others, under, LEVEL)

    # A - θB with θ < 0 has the noise (3 + |θ|)·Y, which two independent noises would not reach.
    assert covered((DiscreteLaplace(Fraction(1, 5)), WIDE), (-60, 20), apart, shared=3, end=1) < LEVEL


def exact_set(a: int, b: int, laws: Pair, thetas: list[Fraction]) -> list[Fraction]:
    """The θ of Theorem D3, by enumeration: |a - θb| is at most the least q with P(|X - θY| ≤ q) ≥ 95 %."""
    chances = [masses(law, 0) for law in laws]
    found = []
    for theta in thetas:
        sizes = sorted((abs(x - theta * y), chances[0][x] * chances[1][y]) for x, y in product(*chances))
        reached = accumulate(chance for _, chance in sizes)
        half = next(size for (size, _), total in zip(sizes, reached, strict=True) if total >= LEVEL)
        if abs(a - theta * b) <= half:
            found.append(theta)
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("a", "b"), [(30, 20), (4, 12), (-9, 15), (0, 9), (200, 7)])
def test_the_enclosure_holds_the_exact_set_and_is_close_to_it(a, b):
    laws = LAPLACE, GAUSSIAN
    low, high = quotient_interval(Linear(Fraction(a), noise(laws[0], 0)), Linear(Fraction(b), noise(laws[1], 1)), LEVEL)
    width = high - low
    grid = [low - width / 4 + width * Fraction(k, 40) for k in range(61)]
    inside = exact_set(a, b, laws, grid)
    assert low <= inside[0]
    assert inside[-1] <= high
    assert inside[-1] - inside[0] >= width * Fraction(3, 4)  # the last points of a grid of 1/40, and the steps of integers


@pytest.mark.parametrize("laws", [(LAPLACE, WIDE), (GAUSSIAN, GAUSSIAN), (RoundedGaussian(400), DiscreteLaplace(30))])
def test_independent_numbers_have_a_narrower_interval_than_their_box(laws):
    over, under = Linear(Fraction(900), noise(laws[0], 0)), Linear(Fraction(400), noise(laws[1], 1))
    half = (1 + LEVEL) / 2
    box = fieller.quotient_of_box(
        *((one.value - one.half_width(half), one.value + one.half_width(half)) for one in (over, under))
    )
    found = certified(over, under)
    assert box[0] < found[0]
    assert found[1] < box[1]
    assert found[1] - found[0] < Fraction(9, 10) * (box[1] - box[0])


def test_a_denominator_that_may_be_0_is_unbounded_and_one_that_may_not_is_bounded():
    x = Linear(Fraction(5), noise(LAPLACE, 0))
    width = LAPLACE.half_width(LEVEL)
    assert certified(x, Linear(Fraction(width), noise(LAPLACE, 1))) is None
    assert certified(x, Linear(Fraction(-width), noise(LAPLACE, 1))) is None
    assert certified(x, Linear(Fraction(width + 1), noise(LAPLACE, 1))) is not None


def test_the_ratio_of_a_number_to_itself_is_1():
    x = Linear(Fraction(50), noise(LAPLACE, 0))
    assert certified(x, x) == (1, 1)


def test_signs_change_ends():
    x, y = Linear(Fraction(30), noise(LAPLACE, 0)), Linear(Fraction(20), noise(WIDE, 1))
    low, high = certified(x, y)
    assert certified(x.times(Fraction(-1)), y) == (-high, -low)
    assert certified(x, y.times(Fraction(-1))) == (-high, -low)


def test_a_difference_is_covered_and_equal_noise_leaves_none():
    x, y = Linear(Fraction(7), noise(LAPLACE, 0)), Linear(Fraction(4), noise(WIDE, 1))
    low, high = difference_interval(x, y, LEVEL)
    chance = sum(
        a * b
        for (i, a), (j, b) in product(masses(LAPLACE, 0).items(), masses(WIDE, 0).items())
        if low - 3 <= i - j <= high - 3
    )
    assert chance >= LEVEL
    assert difference_interval(x, x, LEVEL) == (0, 0)


@pytest.mark.parametrize("pair", list(product([LAPLACE, WIDE, GAUSSIAN, DISCRETE, DiscreteLaplace(9)], repeat=2)))
def test_a_mean_is_never_wider_than_its_parts(pair):
    one, two = (noise(law, place) for place, law in enumerate(pair))
    weights = _weights((one, two), LEVEL)
    assert sum(weights) == 1
    mean = Linear(Fraction(0)).plus(weights[0], Linear(Fraction(0), one)).plus(weights[1], Linear(Fraction(0), two))
    assert mean.half_width(LEVEL) <= min(law.half_width(LEVEL) for law in pair)


@pytest.mark.parametrize("law", [LAPLACE, WIDE, GAUSSIAN, DISCRETE, DiscreteLaplace(40), RoundedGaussian(900)])
def test_a_log_concave_tail_is_bounded_by_its_95_percent_width(law):
    known = LogConcave(law.half_width(LEVEL))
    for coverage in ("0.5", "0.95", "0.975", "0.99", "0.9999", "0.99999999"):
        found = known.half_width(Fraction(coverage))
        assert law.tail(found)[1] <= 1 - Fraction(coverage) + Fraction(1, 10**15)
    assert law.variance() <= known.variance()


def test_a_log_concave_width_that_is_not_stretched_is_noticed():
    """A planted error: the 95 % width used for 99 %."""
    assert LAPLACE.tail(LogConcave(LAPLACE.half_width(LEVEL)).width)[0] > Fraction(1, 100)


def test_tied_noises_share_the_failing_probability():
    cells = [Cell("draw", "q", place, LogConcave(3), tied=True) for place in range(2)]
    found = linear.half_width(((Fraction(1), cells[0]), (Fraction(-2), cells[1])), LEVEL)
    assert found == 3 * LogConcave(3).half_width((1 + LEVEL) / 2)
