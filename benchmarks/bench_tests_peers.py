"""Power of tests beside the best published private ones, which are written down here from their papers.

    python benchmarks/bench_tests_peers.py [SIMULATIONS]

* One share, and two shares given their margins: Awan and Slavković, "Differentially private uniformly most powerful tests
  for binomial data" (NeurIPS 2018); Awan and Vadhan, "Canonical noise distributions and private hypothesis tests" (2021).
  The noise is discrete Laplace plus a uniform number (Tulap), with a threshold at which the size is the level. These
  powers are sums over counts and noise, not simulations.
* Independence: Rogers and Kifer, "A new class of private chi-square hypothesis tests" (AISTATS 2017): the projected
  statistic with Gaussian noise, held against χ². Its size is known for many rows.
* Means: Swanberg, Globus-Harris, Griffith, Ritz, Groce and Bray, "Improved differentially private analysis of variance"
  (PETS 2019): F with absolute distances, held against draws at the estimated deviation. Numbers of rows are public there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from bench_tests_size import BITS, DRAW, linear
from scipy.optimize import brentq
from scipy.stats import chi2

from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.releases.hypotheses.bounded_means import Group, MeansApart
from discreet.releases.hypotheses.estimated_margins import Association, Part
from discreet.releases.hypotheses.given_margins import Corner, at_least
from discreet.releases.hypotheses.masses import binomial, hypergeometric
from discreet.releases.hypotheses.one_variance import OneVariance, Sample
from discreet.releases.hypotheses.proportions import single_p_value
from discreet.releases.hypotheses.search import rejects

LEVEL = 0.05
Floats = np.ndarray


# One number with one noise ------------------------------------------------------------------------------------------------


def tulap_at_least(law: DiscreteLaplace, t: Floats) -> Floats:
    """P(Y + U ≥ t), Y discrete Laplace and U uniform on (-1/2, 1/2)."""
    place = np.floor(t + 0.5)
    part = t + 0.5 - place
    return (1 - part) * at_least(law, place.astype(np.int64)) + part * at_least(law, place.astype(np.int64) + 1)


def optimal_power(counts: Floats, null: Floats, other: Floats, law: DiscreteLaplace) -> float:
    """Of the test that rejects above a threshold of the count with Tulap noise, at the size that is the level."""

    def size(edge: float) -> float:
        return float(null @ tulap_at_least(law, edge - counts)) - LEVEL

    edge = brentq(size, counts[0] - 200, counts[-1] + 200)
    return float(other @ tulap_at_least(law, edge - counts))


def our_power(p_value: object, counts: Floats, other: Floats, law: DiscreteLaplace) -> float:
    """P(p ≤ level) for an upper-tail test, whose p-value falls in the published number."""
    low, high = int(counts[0]) - 200, int(counts[-1]) + 200
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if p_value(middle) <= LEVEL else (middle, high)  # type: ignore[operator]
    return float(other @ at_least(law, high - counts.astype(np.int64)))


def shares() -> Iterator[str]:
    yield "| rows | ε | true share | optimum (Awan and Slavković) | `test_proportion` | of a table of two groups |"
    yield "|---|---|---|---|---|---|"
    for rows, epsilon, true in (
        (30, "1", 0.75),
        (100, "0.5", 0.65),
        (100, "0.1", 0.8),
        (1000, "0.1", 0.55),
        (10_000, "0.1", 0.51),
    ):
        alone, apart = (DiscreteLaplace(Fraction(reach) / Fraction(epsilon)) for reach in (1, 2))
        null, other = binomial(rows, 0.5), binomial(rows, true)
        counts = np.arange(rows + 1, dtype=np.float64)
        masses = [np.zeros(rows + 1), np.zeros(rows + 1)]
        for mass, one in zip(masses, (null, other), strict=True):
            mass[one.first : one.first + one.masses.size] = one.masses
        found = [optimal_power(counts, *masses, alone)]
        for law in (alone, apart):
            found.append(
                our_power(
                    lambda y, law=law, rows=rows: single_p_value(y, rows, Fraction(1, 2), law, "greater"),
                    counts,
                    masses[1],
                    law,
                )
            )
        yield f"| {rows} | {epsilon} | {true} | " + " | ".join(f"{one:.3f}" for one in found) + " |"


def given_margins() -> Iterator[str]:
    yield "| rows | ε | odds ratio | optimum (Awan and Vadhan) | `test_difference` |"
    yield "|---|---|---|---|---|"
    for rows, epsilon, odds in ((40, "1", 6.0), (200, "0.5", 2.5), (1000, "0.1", 1.8), (5000, "0.1", 1.2)):
        law, half = DiscreteLaplace(1 / Fraction(epsilon)), rows // 2
        count = hypergeometric(rows, half, half)
        tilted = np.log(np.maximum(count.masses, 1e-300)) + count.values * np.log(odds)
        other = np.exp(tilted - tilted.max())
        other /= other.sum()
        corner = Corner(rows, half, half, law)
        ours = our_power(lambda y, corner=corner: corner.p_value(y, "greater"), count.values, other, law)
        best = optimal_power(count.values, count.masses, other, law)
        yield f"| {rows} | {epsilon} | {odds} | {best:.3f} | {ours:.3f} |"


# Independence -------------------------------------------------------------------------------------------------------------


def projected(values: Floats, rows: int, sigma2: float) -> float:
    """The least projected statistic over independent tables, by Gauss and Newton, for two levels each."""
    noisy = values.ravel() / rows
    p, q = (min(max(one, 1e-6), 1 - 1e-6) for one in (noisy[:2].sum(), noisy[0] + noisy[2]))
    theta = np.array([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])
    if rows * theta.min() <= 5:
        return 0.0
    centring = np.eye(4) - 0.25
    weight = centring @ np.linalg.inv(np.diag(theta) - np.outer(theta, theta) + sigma2 / rows * np.eye(4)) @ centring
    for _ in range(8):
        theta = np.array([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])
        slopes = np.array([[q, 1 - q, -q, q - 1], [p, -p, 1 - p, p - 1]]).T
        step = np.linalg.solve(slopes.T @ weight @ slopes, slopes.T @ weight @ (noisy - theta))
        p, q = (min(max(one, 1e-6), 1 - 1e-6) for one in (p + step[0], q + step[1]))
    theta = np.array([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])
    return float(rows * (noisy - theta) @ weight @ (noisy - theta))


def independence(simulations: int) -> Iterator[str]:
    yield "| rows | ρ | association | Rogers and Kifer | `test_independence`, rows public | beside both margins |"
    yield "|---|---|---|---|---|---|"
    for rows, rho, apart in (
        (200, "1/2", 0.0),
        (200, "1/2", 0.1),
        (1000, "1/50", 0.1),
        (1000, "1/2", 0.05),
        (5000, "1/200", 0.04),
    ):
        law, edge = RoundedGaussian(1 / Fraction(rho)), chi2.isf(LEVEL, 1)
        inside = [(law, i == 0, j == 0) for i in range(2) for j in range(2)]
        cells, found = [0.25 + apart / 2, 0.25 - apart / 2, 0.25 - apart / 2, 0.25 + apart / 2], np.zeros(3)
        corner_law = RoundedGaussian(
            3 / Fraction(rho) / 4
        )  # the variance on the lattice is Δ₂²/(2ρ), Δ₂² = 6 given both margins
        for _ in range(simulations):
            table = DRAW.multinomial(rows, cells).reshape(2, 2)
            values = table + law.sample(4, BITS).reshape(2, 2)
            sides = (Part(int(one.sum()), (law,) * 2) for one in (values[0], values[:, 0]))
            one = Association(Part(int(values[0, 0]), (law,)), *sides, Part(rows, ()), inside, "two-sided")
            corner = Corner(rows, int(table[0].sum()), int(table[:, 0].sum()), corner_law)
            given = int(table[0, 0] + corner_law.sample(1, BITS)[0])
            ours = one.estimate() > 1.5 and rejects(one, LEVEL, 96)
            found += [projected(values, rows, float(law.sigma2)) > edge, ours, corner.p_value(given, "two-sided") <= LEVEL]
        yield f"| {rows} | {rho} | {apart} | " + " | ".join(f"{one:.3f}" for one in found / simulations) + " |"


# Means --------------------------------------------------------------------------------------------------------------------


def absolute_f(groups: list[Floats], epsilon: float) -> tuple[float, float]:
    """F with absolute distances and noise, and the estimated deviation; values from 0 to 1, 7 in 10 of ε for the groups."""
    rows, every = sum(one.size for one in groups), np.concatenate(groups)
    between = sum(one.size * abs(every.mean() - one.mean()) for one in groups) + DRAW.laplace(0, 4 / (0.7 * epsilon))
    within = sum(np.abs(one - one.mean()).sum() for one in groups) + DRAW.laplace(0, 3 / (0.3 * epsilon))
    free = len(groups) - 1, rows - len(groups)
    within = max(within, 1e-9)
    return between / free[0] / (within / free[1]), float(np.sqrt(np.pi / 2) * within / free[1])


def swanberg(groups: list[Floats], epsilon: float, draws: int = 199) -> bool:
    """At the level 0.05, held against draws of normal values with the estimated deviation."""
    seen, deviation = absolute_f(groups, epsilon)
    null = [
        absolute_f([0.5 + deviation * DRAW.standard_normal(one.size) for one in groups], epsilon)[0] for _ in range(draws)
    ]
    return 1 + sum(one >= seen for one in null) <= LEVEL * (draws + 1)


def released(groups: list[Floats], epsilon: str) -> list[list[int]]:
    """Sum, count and sum of squares in steps of a hundredth from the middle, with a third of ε each, and their laws."""
    found = []
    for one in groups:
        f = np.rint(one * 100) - 50
        noise = [int(law.sample(1, BITS)[0]) for law in laws_of(epsilon)]
        exactly = f.sum(), one.size, (f**2 - 1250).sum()
        found.append([int(value) + more for value, more in zip(exactly, noise, strict=True)])
    return found


def laws_of(epsilon: str) -> list[DiscreteLaplace]:
    return [DiscreteLaplace(reach * 3 / Fraction(epsilon)) for reach in (100, 2, 2500)]


def is_apart(seen: list[list[int]], epsilon: str, deviation: float) -> list[bool]:
    """`test_anova`, and `test_means` with a known deviation, which needs no variance but takes the same release."""
    laws = laws_of(epsilon)
    parts = [[linear(one[kind], laws[kind], f"{kind} {i}") for kind in range(3)] for i, one in enumerate(seen)]
    samples = [Sample(*one, 1250.0) for one in parts]
    anova = [OneVariance(samples, 50.0, most).rejects(LEVEL) for most in (float("inf"), deviation**2)]
    pairs = [
        MeansApart(-50.0, 50.0, Group(*one[:2]), Group(*other[:2]), (1, -1), deviation) for one, other in pairs_of(parts)
    ]
    return [*anova, any(one.rejects(LEVEL / len(pairs)) for one in pairs)]


def pairs_of(parts: list[list[object]]) -> Iterator[tuple[list[object], list[object]]]:
    return ((one, other) for place, one in enumerate(parts) for other in parts[place + 1 :])


def means(simulations: int) -> Iterator[str]:
    yield "| rows | ε | means of three groups | Swanberg et al. | `test_anova` | deviation known | `test_means`, known |"
    yield "|---|---|---|---|---|---|---|"
    for rows, epsilon, apart in (
        (900, "1", 0.0),
        (900, "1", 0.06),
        (3000, "1", 0.025),
        (10_000, "1", 0.01),
        (3000, "5", 0.015),
    ):
        found = np.zeros(4)
        for _ in range(simulations):
            centres = (0.5 - apart, 0.5, 0.5 + apart)
            groups = [np.clip(mean + 0.15 * DRAW.standard_normal(rows // 3), 0, 1) for mean in centres]
            found += [swanberg(groups, float(epsilon)), *is_apart(released(groups, epsilon), epsilon, 15.0)]
        words = ", ".join(f"{one:.3f}" for one in (0.5 - apart, 0.5, 0.5 + apart))
        yield f"| {rows} | {epsilon} | {words} | " + " | ".join(f"{one:.3f}" for one in found / simulations) + " |"


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for part in (shares(), given_margins(), independence(times), means(min(times, 200))):
        for line in part:
            print(line, flush=True)
        print()
