"""A file that is a secret sample: the exact law of adaptive transcripts for every small population, and of refused designs.

The mechanisms are literal: counts of a file with geometric noise, clamped to 0 … 4, whose odds are rational. So are the laws
of transcripts: exact, over every subset that can be drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from math import comb, e, exp, log

import pytest

from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.amplify import GaussianSample
from discreet.privacy.population import PopulationGuarantee

File = tuple[int, ...]
Law = Mapping[tuple[object, ...], Fraction]
HALF = Fraction(1, 2)
TOP = 4
ODDS = (Fraction(2), Fraction(9, 4))
"""e^ε of the two rounds."""


def clamped(count: int, odds: Fraction) -> Iterator[tuple[int, Fraction]]:
    """The law of a count with geometric noise of these odds, clamped to 0 … TOP: exactly log(odds)-DP."""
    q = 1 / odds
    for answer in range(TOP + 1):
        tail = q ** abs(answer - count)
        yield answer, tail / (1 + q) if answer in {0, TOP} else tail * (1 - q) / (1 + q)


def transcript(file: File, odds: tuple[Fraction, Fraction] = ODDS) -> Law:
    """Two rounds: ones are counted, and then ones again where there seemed to be many, else all rows."""
    law: Counter[tuple[object, ...]] = Counter()
    for first, chance in clamped(sum(file), odds[0]):
        asked = sum(file) if first >= 2 else len(file)
        for second, other in clamped(asked, odds[1]):
            law[first, second] += chance * other
    return law


def mixed(laws: Iterator[tuple[Fraction, Law]]) -> Law:
    total: Counter[tuple[object, ...]] = Counter()
    for weight, law in laws:
        for outcome, chance in law.items():
            total[outcome] += weight * chance
    return total


def poisson(population: File, rates: tuple[Fraction, ...], seen: Callable[[File], Law] = transcript) -> Law:
    """The law of the transcript where each person is drawn independently."""

    def drawn() -> Iterator[tuple[Fraction, Law]]:
        for chosen in product((False, True), repeat=len(population)):
            weight = Fraction(1)
            for rate, taken in zip(rates, chosen, strict=True):
                weight *= rate if taken else 1 - rate
            yield weight, seen(tuple(bit for bit, taken in zip(population, chosen, strict=True) if taken))

    return mixed(drawn())


def subsets(population: File, m: int) -> Law:
    """The law of the transcript where every set of m persons has the same probability."""
    weight = Fraction(1, comb(len(population), m))
    return mixed((weight, transcript(file)) for file in combinations(population, m))


def ratio(one: Law, other: Law) -> Fraction:
    """The largest ratio of probabilities, in both directions: e^loss."""
    return max(max(one[y] / other[y], other[y] / one[y]) for y in one)


def excess(one: Law, other: Law, factor: Fraction) -> Fraction:
    """H_factor, the larger of both directions."""
    outcomes = {*one, *other}
    forward = sum(
        (max(Fraction(0), one.get(y, Fraction(0)) - factor * other.get(y, Fraction(0))) for y in outcomes), Fraction(0)
    )
    back = sum(
        (max(Fraction(0), other.get(y, Fraction(0)) - factor * one.get(y, Fraction(0))) for y in outcomes), Fraction(0)
    )
    return max(forward, back)


def removals(most: int) -> Iterator[tuple[File, File]]:
    """Every population of at most `most` bits, and the same without its last person."""
    for size in range(1, most + 1):
        for population in product((0, 1), repeat=size):
            yield population, population[:-1]


def claimed(total: float, rate: Fraction) -> float:
    return PopulationGuarantee(PureDP(Fraction(total)), rate).pair(0)[0]


# W1 and W2: pure guarantees -----------------------------------------------------------------------------------------------


def test_an_adaptive_transcript_has_the_guarantee_of_its_total() -> None:
    files = [file for size in range(TOP) for file in product((0, 1), repeat=size)]
    largest = max(ratio(transcript((*file, bit)), transcript(file)) for file in files for bit in (0, 1))
    assert largest == ODDS[0] * ODDS[1]


def loss_of_two_rounds(odds: tuple[Fraction, Fraction]) -> Fraction:
    return max(
        ratio(poisson(more, (HALF,) * len(more), lambda file: transcript(file, odds)),
              poisson(less, (HALF,) * len(less), lambda file: transcript(file, odds)))
        for more, less in removals(4)
    )  # fmt: skip


def test_the_loss_of_two_adaptive_rounds_is_the_one_conversion() -> None:
    assert loss_of_two_rounds(ODDS) == 1 + HALF * (ODDS[0] * ODDS[1] - 1)  # exactly, as rationals
    loss = log(loss_of_two_rounds((Fraction(e**0.7), Fraction(e**0.8))))
    assert loss == pytest.approx(1.00827, abs=1e-5)
    assert loss <= claimed(1.5, HALF) * (1 + 1e-12)
    assert claimed(1.5, HALF) <= loss * (1 + 1e-12)


def test_converting_per_release_is_unsound() -> None:
    booked = claimed(0.7, HALF) + claimed(0.8, HALF)
    assert booked == pytest.approx(0.888, abs=5e-4)
    assert log(loss_of_two_rounds((Fraction(e**0.7), Fraction(e**0.8)))) > booked + 0.12
    assert 2 * claimed(1, Fraction(1, 10)) == pytest.approx(0.317, abs=5e-4)
    assert claimed(2, Fraction(1, 10)) == pytest.approx(0.494, abs=5e-4)


def test_two_files_of_one_draw_have_one_total() -> None:
    """A panel: both files are about the same draw, one answer from each; the sum of two conversions is too small."""

    def both(file: File) -> Law:
        return mixed(
            (one * other, {(first, second): Fraction(1)})
            for first, one in clamped(sum(file), ODDS[0])
            for second, other in clamped(len(file), ODDS[1])
        )

    loss = max(ratio(poisson(a, (HALF,) * len(a), both), poisson(b, (HALF,) * len(b), both)) for a, b in removals(3))
    separately = (1 + HALF * (ODDS[0] - 1)) * (1 + HALF * (ODDS[1] - 1))
    assert separately < loss <= 1 + HALF * (ODDS[0] * ODDS[1] - 1)


def test_inclusion_may_differ_by_person() -> None:
    """A rate that is a function of the own bit, and at most s, has the guarantee of s."""
    rates = {0: Fraction(1, 8), 1: Fraction(1, 3)}
    for more, less in removals(4):
        loss = ratio(*(poisson(one, tuple(rates[bit] for bit in one)) for one in (more, less)))
        assert loss <= 1 + rates[more[-1]] * (ODDS[0] * ODDS[1] - 1)
    attained = ratio(poisson((1,), (rates[1],)), poisson((), ()))
    assert attained == 1 + rates[1] * (ODDS[0] * ODDS[1] - 1)  # and of no smaller one


@pytest.mark.parametrize(("m", "n"), [(1, 3), (2, 4), (3, 4), (3, 3)])
def test_without_replacement_has_the_rate_of_the_draw(m: int, n: int) -> None:
    pairs = [(rest, bit) for rest in product((0, 1), repeat=n - 1) for bit in (0, 1)]
    largest = max(ratio(subsets((*rest, bit), m), subsets((*rest, 1 - bit), m)) for rest, bit in pairs)
    assert largest == 1 + Fraction(m, n) * (ODDS[0] * ODDS[1] - 1)


# W2: (ε, δ), ρ and μ ----------------------------------------------------------------------------------------------------


def leaky(file: File) -> Law:
    """Two rounds as (log 2, 1/10) and (log 9/4, 1/5) guarantees: each shows the whole file with its δ."""
    shown: Law = {(*file, "all of it"): Fraction(1)}
    kept = (Fraction(9, 10), Fraction(4, 5))
    return mixed(iter([(kept[0] * kept[1], transcript(file)), (1 - kept[0] * kept[1], shown)]))


def test_an_approximate_total_is_converted_once() -> None:
    total = ApproxDP(Fraction(log(4.5)), Fraction(3, 10))
    epsilon, delta = PopulationGuarantee(total, HALF).pair("1e-9")
    assert delta == Fraction(3, 20)  # s·δ
    worst = max(
        excess(poisson(a, (HALF,) * len(a), leaky), poisson(b, (HALF,) * len(b), leaky), Fraction(exp(epsilon)))
        for a, b in removals(4)
    )
    assert 0.9 * Fraction(28, 200) < worst <= delta  # 28/100 leak: less than 1/10 + 1/5


@pytest.mark.parametrize("total", [ZCDP("0.1"), ZCDP(2), GDP("0.5"), GDP(2)])
@pytest.mark.parametrize("rate", [Fraction(1, 100), HALF, Fraction(1)])
def test_delta_is_divided_by_the_rate(total: ZCDP | GDP, rate: Fraction) -> None:
    """ε for the population at δ is the conversion of the ε of the file at δ/s, and no δ is smaller than the truth."""
    delta = Fraction(1, 10**6)
    found = PopulationGuarantee(total, rate).epsilon_at(delta)
    inner = total.epsilon_at(delta / rate)
    assert found == pytest.approx(log(1 + float(rate) * (exp(inner) - 1)), rel=1e-12)
    assert found >= log(1 + float(rate) * (exp(inner) - 1)) * (1 - 1e-14)


@pytest.mark.parametrize("mu", ["0.5", "2"])
@pytest.mark.parametrize("rate", ["1/100", "1/2"])
def test_the_profile_of_a_sampled_gaussian_is_attained(mu: str, rate: str) -> None:
    """One person against nobody: the exact δ of the mixture at the ε that is claimed for δ = 1e-6 is δ itself."""
    claim = PopulationGuarantee(GDP(mu), rate).epsilon_at("1e-6")
    truth = GaussianSample(GDP(mu).mu, Fraction(rate)).remove_delta_at(claim)
    assert 1e-6 * (1 - 1e-6) < truth <= 1e-6
    smaller = PopulationGuarantee(ZCDP(GDP(mu).mu ** 2 / 2), rate).epsilon_at("1e-6")
    assert GaussianSample(GDP(mu).mu, Fraction(rate)).remove_delta_at(smaller) <= 1e-6


# W4: designs that are refused -------------------------------------------------------------------------------------------


def geometric(at: int, q: Fraction) -> Fraction:
    """The discrete Laplace law of scale 1/ε, q = e^−ε."""
    return q ** abs(at) * (1 - q) / (1 + q)


def test_strata_in_proportion_change_nine_counts_at_once() -> None:
    def allocation(sizes: list[int]) -> list[int]:
        return [int(Fraction(25 * size, sum(sizes)) + HALF) for size in sizes]

    before, after = allocation([5] * 10), allocation([6] + [5] * 9)
    assert (before, after) == ([3] * 10, [3] + [2] * 9)
    q = Fraction(exp(-0.1))
    loss = sum(log(geometric(0, q) / geometric(3 - drawn, q)) for drawn in after)  # the table shows 3 in every stratum
    assert loss == pytest.approx(0.9)
    assert claimed(0.1, HALF) == pytest.approx(0.0513, abs=1e-4)


@pytest.mark.parametrize(("apart", "true"), [(0, 0.1586), (5, 0.9957), (20, 1.0)])
def test_a_count_tells_the_cluster(apart: int, true: float) -> None:
    sizes = [100 + apart * cluster for cluster in range(10)]
    more = [*sizes[:-1], sizes[-1] + 1]
    q = Fraction(exp(-1))

    def chance(answer: int, clusters: list[int]) -> Fraction:
        return sum((geometric(answer - size, q) for size in clusters), Fraction(0)) / 10

    loss = max(log(chance(at, more) / chance(at, sizes)) for at in range(sizes[-1] - 3, sizes[-1] + 4))
    assert loss == pytest.approx(true, abs=1e-4)
    assert claimed(1, Fraction(1, 10)) == pytest.approx(0.1586, abs=1e-4)
    assert (loss > 6 * claimed(1, Fraction(1, 10))) == (apart > 0)


def test_sizes_change_the_rates_of_others() -> None:
    """At every answer of at most 0 a count of c rows has probability ∝ q^c, so the mean of q^c decides."""
    q = Fraction(9, 10)

    def rates(sizes: list[int]) -> list[Fraction]:
        return [min(Fraction(1), Fraction(10 * size, sum(sizes))) for size in sizes]

    def mean_power(sizes: list[int]) -> Fraction:
        product_of = Fraction(1)
        for rate in rates(sizes):
            product_of *= 1 - rate + rate * q
        return product_of

    loss = log(mean_power([1] * 100 + [900]) / mean_power([1] * 100))
    assert loss > 0.79
    assert loss > 7 * log(10 / 9)
    assert claimed(log(10 / 9), Fraction(1, 10)) < 0.012


def test_a_list_moves_everybody_behind() -> None:
    before = [0, 1] * 10
    after = [*before[:10], 0, *before[10:]]
    q = Fraction(exp(-0.1))

    def chance(answer: int, people: list[int]) -> Fraction:
        return sum((geometric(answer - sum(people[start::2]), q) for start in (0, 1)), Fraction(0)) / 2

    assert [sum(before[start::2]) for start in (0, 1)] == [0, 10]
    assert [sum(after[start::2]) for start in (0, 1)] == [5, 5]
    assert log(chance(5, after) / chance(5, before)) == pytest.approx(0.5)
    assert claimed(0.1, HALF) == pytest.approx(0.0513, abs=1e-4)


def test_two_stages_tell_the_cluster() -> None:
    """Half of one of ten clusters. At answers above all sizes a count of c rows has probability ∝ e^c."""

    def mean_power(sizes: list[int]) -> float:
        return sum(((1 + e) / 2) ** size for size in sizes) / len(sizes)

    sizes = [100 + 20 * cluster for cluster in range(10)]
    loss = log(mean_power([*sizes[:-1], sizes[-1] + 1]) / mean_power(sizes))
    assert loss == pytest.approx(0.62, abs=1e-3)
    assert loss > 7 * claimed(1, Fraction(1, 20))


def test_a_quota_takes_those_in_front_for_certain() -> None:
    """The first ten of each sex in a list of a hundred: whoever comes first is in every file."""
    people = [(place % 2, 0) for place in range(100)]

    def taken(listed: list[tuple[int, int]]) -> int:
        return sum(answer for sex in (0, 1) for _, answer in [one for one in listed if one[0] == sex][:10])

    q = Fraction(exp(-1))
    before, after = taken(people), taken([(0, 1), *people[1:]])
    assert (before, after) == (0, 1)
    assert log(geometric(1 - after, q) / geometric(1 - before, q)) == pytest.approx(1)
    assert claimed(1, Fraction(1, 5)) < 0.3


def test_a_balanced_sample_moves_with_one_value() -> None:
    """20 of 40 with half of the total of a variable: 20 persons have 1 and a yes, the others 0, until one of them has 10."""

    def samples(yes: int, with_it: int) -> int:
        return comb(20, yes) * comb(19, 20 - with_it - yes)

    # Before, every sample has ten with a yes. After, five with the one who has 10, and fifteen without.
    weights = {5: samples(5, 1), 15: samples(15, 0)}
    assert len(set(weights.values())) == 1
    q = Fraction(exp(-1))
    chance = sum(weight * geometric(15 - yes, q) for yes, weight in weights.items()) / sum(weights.values())
    loss = log(chance / geometric(15 - 10, q))
    assert loss > 4
    assert claimed(1, HALF) < 0.63
