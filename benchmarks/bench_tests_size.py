"""How often each test rejects where its hypothesis is true: 100,000 simulations for each number of rows.

    python benchmarks/bench_tests_size.py [SIMULATIONS] [WORD] [ROWS]

Rows and noise are drawn at once for all simulations, as the numbers that a release publishes; WORD chooses the tests whose
name has it, ROWS one number of rows. Each line has the shares of simulations in which the p-value is at most 0.05, 0.01 and
0.001, and the standard error of the first. Numbers that are plainly near the hypothesis are not looked at in full: at their
centre the p-value is above the level, so that the test does not reject.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from scipy.special import gammaincc, ndtri

from discreet.noise.bits import system_bits
from discreet.noise.lattice.sum_zero import sum_zero_laplace
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.releases.derived.linear import Cell, Linear
from discreet.releases.hypotheses.bounded_means import Group, MeansApart
from discreet.releases.hypotheses.estimated_margins import Association, Part
from discreet.releases.hypotheses.given_margins import Corner, largest_association
from discreet.releases.hypotheses.one_margin import BlockCell, OneMargin
from discreet.releases.hypotheses.one_variance import OneVariance, Sample
from discreet.releases.hypotheses.proportions import Share, single_p_value
from discreet.releases.hypotheses.search import rejects
from discreet.releases.hypotheses.tables import hypergeometric_tables

LEVELS = (0.05, 0.01, 0.001)
ROWS = (20, 100, 1000, 10_000)
NEAR = 0.7  # of the normal edge: nearer numbers are not looked at
DRAW = np.random.default_rng(20261124)
BITS = system_bits()
Ints = np.ndarray


@dataclass(frozen=True)
class Case:
    """A test under its hypothesis.

    Args:
        words: the test and its setting.
        rows: how many rows there are.
        released: so many releases, a row of integers each.
        far: for each release about how many standard deviations it is from the hypothesis.
        rejects: whether the test rejects a release at a level.
    """

    words: str
    rows: int
    released: Callable[[int], Ints]
    far: Callable[[Ints], np.ndarray]
    rejects: Callable[[tuple[int, ...], float], bool]

    def sizes(self, simulations: int) -> list[float]:
        """The share of rejections at each level."""
        values = self.released(simulations)
        far, found = self.far(values), []
        keys, places = np.unique(values, axis=0, return_inverse=True)
        left = np.ones(len(keys), dtype=bool)
        nearest = np.full(len(keys), 0.0)
        np.maximum.at(nearest, places.ravel(), far)
        for level in LEVELS:
            left &= nearest > NEAR * NormalDist().inv_cdf(1 - level / 2)
            for place in np.flatnonzero(left):
                left[place] = self.rejects(tuple(int(one) for one in keys[place]), level)
            found.append(float(left[places.ravel()].mean()))
        return found


def laplace(scale: Fraction, *shape: int) -> Ints:
    return DiscreteLaplace(scale).sample(int(np.prod(shape)), BITS).reshape(shape)


def decided(one: Association | Share, level: float) -> bool:
    """`rejects`, where neither the centre nor a corner of the box speaks against it at once."""
    box = one.box(0.1 * level)
    if box is None:
        return False
    looked = itertools.chain([box.centre], itertools.product(*zip(box.lows, box.highs, strict=True)))
    return all(one.at(place) <= 0.89 * level for place in looked if place[0] > 0) and rejects(one, level, 96)


# Tables -------------------------------------------------------------------------------------------------------------------


def given(rows: int) -> Case:
    """Beside both margins: half of the rows in the first row, 3 in 10 in the first column; ε = 1."""
    first, second, law = rows // 2, round(0.3 * rows), DiscreteLaplace(Fraction(1))
    corner = Corner(rows, first, second, law)

    def released(times: int) -> Ints:
        return (DRAW.hypergeometric(first, rows - first, second, times) + laplace(law.scale, times))[:, None]

    deviation = float(np.sqrt(first * second * 0.5 * 0.7 / rows + law.variance()))
    return Case(
        "independence, both margins exact",
        rows,
        released,
        lambda values: np.abs(values[:, 0] - float(corner.expected)) / deviation + 1,
        lambda key, level: corner.p_value(key[0], "two-sided") <= level,
    )


def beside_one(rows: int) -> Case:
    """Beside the totals of two equal groups; blocks of three cells."""
    law, totals, share = (
        BlockCell(squared=False, parameter=Fraction(4), cells=3),
        np.array([rows // 2, rows - rows // 2]),
        0.3,
    )

    def released(times: int) -> Ints:
        noise = sum_zero_laplace(law.parameter, np.full(2 * times, 3), BITS).reshape(times, 2, 3)[:, :, 0]
        return np.stack([DRAW.binomial(int(n), share, times) for n in totals], axis=1) + noise

    def table(key: tuple[int, ...]) -> Association:
        return OneMargin(
            turned=False, kept=(0, 1), totals=totals, values=np.array(key)[:, None], law=law, off=0.0
        ).association((0, 0), "two-sided")

    deviation = float(np.sqrt(rows * 0.25 * 0.21 + law.variance() / 2))
    return Case(
        "independence, one margin exact",
        rows,
        released,
        lambda values: np.abs(values[:, 0] - values[:, 1]) / 2 / deviation,
        lambda key, level: decided(table(key), level),
    )


def noisy(rows: int, shares: tuple[float, float], *, known: bool) -> Case:
    """Four cells with independent noise of ε = 1."""
    law, (r, c) = DiscreteLaplace(Fraction(2)), shares
    cells = [r * c, r * (1 - c), (1 - r) * c, (1 - r) * (1 - c)]

    def released(times: int) -> Ints:
        return DRAW.multinomial(rows, cells, times) + laplace(law.scale, times, 4)

    def table(key: tuple[int, ...]) -> Association:
        values = np.array(key).reshape(2, 2)
        inside = [(law, i == 0, j == 0) for i in range(2) for j in range(2)]
        total = Part(rows, ()) if known else Part(int(values.sum()), (law,) * 4)
        sides = (Part(int(one.sum()), (law,) * 2) for one in (values[0], values[:, 0]))
        return Association(Part(int(values[0, 0]), (law,)), *sides, total, inside, "two-sided")

    def far(values: Ints) -> np.ndarray:
        whole = np.full(len(values), rows) if known else values.sum(axis=1)
        one = np.clip((values[:, 0] + values[:, 1]) / np.maximum(whole, 1), 0, 1)
        other = np.clip((values[:, 0] + values[:, 2]) / np.maximum(whole, 1), 0, 1)
        seen = values[:, 0] - other * (values[:, 0] + values[:, 1]) - one * (values[:, 0] + values[:, 2])
        noise = law.variance() * ((1 - one) ** 2 + one**2) * ((1 - other) ** 2 + other**2)
        variance = np.maximum(whole, 0) * one * (1 - one) * other * (1 - other) + noise
        return np.abs(seen + one * other * whole) / np.sqrt(variance)

    words = "rows public" if known else "rows noisy"
    return Case(
        f"independence, noisy margins, shares {r} and {c}, {words}",
        rows,
        released,
        far,
        lambda key, level: decided(table(key), level),
    )


def drawn(rows: int) -> Case:
    """Three levels each beside both margins, 19 drawn tables: the levels below 0.05 cannot be attained."""
    first = np.array([rows // 2, rows // 4, rows - rows // 2 - rows // 4])
    statistic = largest_association(first, first[::-1].copy(), 4.0)

    def null(times: int) -> Ints:
        noise = laplace(Fraction(1), times, 2, 2)
        whole = np.concatenate([noise, -noise.sum(axis=1, keepdims=True)], axis=1)
        whole = np.concatenate([whole, -whole.sum(axis=2, keepdims=True)], axis=2)
        return hypergeometric_tables(first, first[::-1].copy(), times, BITS) + whole

    def released(times: int) -> Ints:
        seen = statistic(null(times))
        as_large = np.zeros(times, dtype=np.int64)
        for _ in range(19):
            as_large += statistic(null(times)) >= seen
        return as_large[:, None]

    return Case(
        "independence, 3 x 3, both margins exact, 19 draws",
        rows,
        released,
        lambda values: np.full(len(values), 9.0),
        lambda key, level: (1 + key[0]) / 20 <= level,
    )


# Shares -------------------------------------------------------------------------------------------------------------------


def share(rows: int, *, known: bool) -> Case:
    """A share of 3 in 10, of a public or a noisy number of rows."""
    law, pi = DiscreteLaplace(Fraction(2)), Fraction(3, 10)

    def released(times: int) -> Ints:
        inside = DRAW.binomial(rows, float(pi), times)
        both = np.stack([inside, rows - inside], axis=1) + laplace(law.scale, times, 2)
        return both[:, :1] if known else both

    def is_rejected(key: tuple[int, ...], level: float) -> bool:
        if known:
            return single_p_value(key[0], rows, pi, law, "two-sided") <= level
        return decided(Share(Part(key[0], (law,)), Part(key[1], (law,)), float(pi), None, "two-sided"), level)

    deviation = float(np.sqrt(rows * 0.21 + law.variance() * (1 if known else 0.58)))

    def far(values: Ints) -> np.ndarray:
        if known:
            return np.abs(values[:, 0] - rows * 0.3) / deviation + 1
        return np.abs(0.7 * values[:, 0] - 0.3 * values[:, 1]) / deviation

    return Case(f"a share of 0.3, rows {'public' if known else 'noisy'}", rows, released, far, is_rejected)


# Means --------------------------------------------------------------------------------------------------------------------


def linear(value: int, law: DiscreteLaplace | RoundedGaussian, name: str) -> Linear:
    return Linear(Fraction(value), ((Fraction(1), Cell("d", name, 0, law, tied=False)),))


def means(rows: int, share: float) -> Case:
    """Values 0 and 1, which have the largest variance of all with their mean; two equal groups, noisy sums and counts."""
    law, half = DiscreteLaplace(Fraction(4)), rows // 2

    def released(times: int) -> Ints:
        sums = DRAW.binomial(half, share, (times, 2))
        return np.concatenate([sums, np.full((times, 2), half)], axis=1) + laplace(law.scale, times, 4)

    def is_rejected(key: tuple[int, ...], level: float) -> bool:
        groups = [Group(linear(key[i], law, f"s{i}"), linear(key[2 + i], law, f"n{i}")) for i in (0, 1)]
        return MeansApart(0.0, 1.0, *groups, (1, -1), float("inf")).rejects(level)

    deviation = float(np.sqrt(2 * share * (1 - share) / half + 2 * law.variance() / half**2 * (1 + share**2)))

    def far(values: Ints) -> np.ndarray:
        seen = values[:, :2] / np.maximum(values[:, 2:], 1)
        return 0.7 * np.abs(seen[:, 0] - seen[:, 1]) / deviation  # Chernoff's bound begins at 2.7 deviations

    return Case(f"two means, values 0 and 1 of mean {share}", rows, released, far, is_rejected)


def anova(rows: int, law: DiscreteLaplace | RoundedGaussian, words: str, deviation: float = 10.0) -> Case:
    """Three groups of normal values rounded to steps, bounds 50 steps from their middle, means 5 from there; ε = 1, about.

    The sum and the sum of squares around the mean of normal values are independent, so both are drawn by their laws.
    """
    sizes = np.array([rows // 2, rows // 4, rows - rows // 2 - rows // 4])
    laws = [type(law)(parameter) for parameter in _scaled(law)]
    shift, groups = 1250.0, range(3)

    def released(times: int) -> Ints:
        sums = np.rint(5.0 * sizes + deviation * np.sqrt(sizes) * DRAW.standard_normal((times, 3)))
        squares = np.rint(deviation**2 * DRAW.chisquare(sizes - 1, (times, 3)) + sums**2 / sizes - shift * sizes)
        exactly = np.concatenate([sums, np.broadcast_to(sizes, (times, 3)), squares], axis=1).astype(np.int64)
        noise = [one.sample(3 * times, BITS).reshape(times, 3) for one in laws]
        return exactly + np.concatenate(noise, axis=1)

    def table(key: tuple[int, ...]) -> OneVariance:
        parts = [[linear(key[3 * kind + i], laws[kind], f"{kind} {i}") for kind in range(3)] for i in groups]
        return OneVariance([Sample(*one, shift) for one in parts], 50.0)

    def far(values: Ints) -> np.ndarray:
        total = np.array([table(tuple(int(one) for one in value)).statistic() for value in values])
        # The bounds of the test make F smaller than the published one: what is nearer than the level is not rejected.
        return -0.71 * ndtri(gammaincc(1.0, np.maximum(total, 0.0)) / 2 + 1e-300)

    words = f"analysis of variance, 3 groups, normal values, {words}"
    return Case(words, rows, released, far, lambda key, level: table(key).rejects(level))


def skewed(rows: int, law: DiscreteLaplace | RoundedGaussian, words: str) -> Case:
    """The same test where its model is wrong: exponential values, of skewness 2, cut at the bounds; ε = 1, about."""
    normal = anova(rows, law, words)
    laws, sizes = [type(law)(parameter) for parameter in _scaled(law)], [rows // 2, rows // 4, rows - rows // 2 - rows // 4]

    def released(times: int) -> Ints:
        once = max(1, 10**7 // rows)
        return np.concatenate([some(min(once, times - start)) for start in range(0, times, once)])

    def some(times: int) -> Ints:
        values = [np.clip(np.rint(10 * DRAW.standard_exponential((times, n)) - 20), -50, 50) for n in sizes]
        sums = np.stack([one.sum(axis=1) for one in values], axis=1)
        squares = np.stack([(one**2).sum(axis=1) - 1250 * one.shape[1] for one in values], axis=1)
        exactly = np.concatenate([sums, np.broadcast_to(sizes, (times, 3)), squares], axis=1).astype(np.int64)
        return exactly + np.concatenate([one.sample(3 * times, BITS).reshape(times, 3) for one in laws], axis=1)

    return Case(f"analysis of variance, 3 groups, exponential values, {words}", rows, released, normal.far, normal.rejects)


def _scaled(law: DiscreteLaplace | RoundedGaussian) -> list[Fraction]:
    """The parameters for sums, counts and squares, which a row changes by up to 50, 1 and 1,250."""
    reaches = (50, 1, 1250)
    if isinstance(law, RoundedGaussian):
        return [law.sigma2 * reach**2 for reach in reaches]
    return [law.scale * reach for reach in reaches]


def cases() -> Iterator[Case]:
    for rows in ROWS:
        yield anova(rows, DiscreteLaplace(Fraction(2)), "Laplace noise")
        yield anova(rows, RoundedGaussian(Fraction(2)), "Gaussian noise")
        yield skewed(rows, DiscreteLaplace(Fraction(2)), "Laplace noise")
        yield skewed(rows, RoundedGaussian(Fraction(2)), "Gaussian noise")
        yield given(rows)
        yield beside_one(rows)
        yield drawn(rows)
        yield share(rows, known=True)
        yield share(rows, known=False)
        yield means(rows, 0.5)
        yield means(rows, 0.1)
        for shares in ((0.5, 0.5), (0.1, 0.3)):
            yield noisy(rows, shares, known=True)
            yield noisy(rows, shares, known=False)


def main(simulations: int, word: str, rows: int | None) -> None:
    print("| test | rows | 0.05 | 0.01 | 0.001 | error of the first |\n|---|---|---|---|---|---|")
    for case in cases():
        if word in case.words and rows in {None, case.rows}:
            found = case.sizes(simulations)
            error = (max(found[0], 1 / simulations) / simulations) ** 0.5
            print(
                f"| {case.words} | {case.rows} | " + " | ".join(f"{one:.5f}" for one in found) + f" | {error:.5f} |",
                flush=True,
            )


if __name__ == "__main__":
    wanted = sys.argv[1:]
    main(
        int(wanted[0]) if wanted else 100_000,
        wanted[1] if len(wanted) > 1 else "",
        int(wanted[2]) if len(wanted) > 2 else None,
    )
