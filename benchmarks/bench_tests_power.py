"""Size and power of the tests beside published private ones and beside the tests without noise.

    python benchmarks/bench_tests_power.py size [SIMULATIONS]
    python benchmarks/bench_tests_power.py power [SIMULATIONS]

`size` draws tables under the hypothesis and counts how often each level is rejected. Beside exact margins the size of two
levels each is a sum over all tables and all noise. `power` draws tables with an association. All tests of a line see
the same counts. "Gaboardi et al." is the Monte-Carlo test of independence MCIndep of "Differentially private chi-squared
hypothesis testing" (ICML 2016): χ² at the noisy margins, held against tables and noise drawn from the estimated shares.
"Without noise" is Fisher's exact test on the confidential table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from discreet.noise.bits import system_bits
from discreet.noise.single.laws import DiscreteLaplace
from discreet.releases.hypotheses.estimated_margins import Association, Part
from discreet.releases.hypotheses.given_margins import Corner
from discreet.releases.hypotheses.masses import hypergeometric
from discreet.releases.hypotheses.search import rejects

LEVELS = (0.05, 0.01, 0.001)
DRAW = np.random.default_rng(20261123)
BITS = system_bits()
BOXES = 96


def noise(epsilon: float, shape: tuple[int, ...]) -> np.ndarray:
    """Discrete Laplace noise of a table of counts under replace-one: scale 2/ε."""
    law = DiscreteLaplace(Fraction(2) / Fraction(str(epsilon)))
    return law.sample(int(np.prod(shape)), BITS).reshape(shape)


def first_cell(values: np.ndarray, epsilon: float, whole: int | None) -> Association:
    """The association of a 2 x 2 table with independent noise; `whole` where the number of rows is public."""
    law = DiscreteLaplace(Fraction(2) / Fraction(str(epsilon)))
    inside = [(law, i == 0, j == 0) for i in range(2) for j in range(2)]
    total = Part(int(values.sum()), (law,) * 4) if whole is None else Part(whole, ())
    row, column = Part(int(values[0].sum()), (law,) * 2), Part(int(values[:, 0].sum()), (law,) * 2)
    return Association(Part(int(values[0, 0]), (law,)), row, column, total, inside, "two-sided")


def is_rejected(one: Association, level: float) -> bool:
    """Whether the test rejects; a table far from it is not looked at in full."""
    if one.estimate() < 0.8 * NormalDist().inv_cdf(1 - level / 2):
        return False
    return rejects(one, level, BOXES)


# Size ---------------------------------------------------------------------------------------------------------------------


def exact_sizes(rows: int, first: int, second: int, epsilon: float) -> list[float]:
    """P(p ≤ level) for each level, by a sum over tables and noise, beside exact margins (scale of a 2 x 2 table)."""
    law = DiscreteLaplace(Fraction(2) / Fraction(str(epsilon)) / 2)
    corner, reach = Corner(rows, first, second, law), int(law.half_width(1 - Fraction(1, 10**9)))
    count = hypergeometric(rows, first, second)
    places = range(count.first - reach, count.first + count.masses.size + reach)
    p_values = np.array([corner.p_value(y, "two-sided") for y in places])
    mass = np.array([law.pmf(k)[0] for k in range(-reach, reach + 1)])
    chance = np.convolve(count.masses, mass)
    return [float(chance[p_values <= level].sum()) for level in LEVELS]


def noisy_sizes(rows: int, shares: tuple[float, float], epsilon: float, simulations: int, *, known: bool) -> list[float]:
    """How often each level is rejected where margins are noisy."""
    r, c = shares
    cells = [r * c, r * (1 - c), (1 - r) * c, (1 - r) * (1 - c)]
    rejected = np.zeros(len(LEVELS))
    for _ in range(simulations):
        values = DRAW.multinomial(rows, cells).reshape(2, 2) + noise(epsilon, (2, 2))
        one = first_cell(values, epsilon, rows if known else None)
        for place, level in enumerate(LEVELS):
            if not is_rejected(one, level):
                break
            rejected[place] += 1
    return list(rejected / simulations)


def sizes(simulations: int) -> Iterator[str]:
    yield "| margins | rows | shares | ε | 0.05 | 0.01 | 0.001 |"
    yield "|---|---|---|---|---|---|---|"
    for rows in (5, 20, 100, 1000, 10_000):
        for r, c in ((0.5, 0.5), (0.1, 0.3)):
            for epsilon in (0.01, 0.1, 1.0, 5.0):
                found = exact_sizes(rows, max(1, round(rows * r)), max(1, round(rows * c)), epsilon)
                yield f"| exact | {rows} | {r}, {c} | {epsilon} | " + " | ".join(f"{one:.5f}" for one in found) + " |"
    for epsilon in (5.0, 1.0, 0.1):
        for rows in (5, 20, 100, 1000, 10_000):
            for r, c in ((0.5, 0.5), (0.1, 0.3)):
                for known in (True, False):
                    found = noisy_sizes(rows, (r, c), epsilon, simulations, known=known)
                    words = "noisy, rows public" if known else "noisy"
                    yield f"| {words} | {rows} | {r}, {c} | {epsilon} | " + " | ".join(f"{one:.5f}" for one in found) + " |"


# Power --------------------------------------------------------------------------------------------------------------------


def without_noise(table: np.ndarray) -> float:
    rows, first, second = int(table.sum()), int(table[0].sum()), int(table[:, 0].sum())
    return Corner(rows, first, second, DiscreteLaplace(Fraction(1, 200))).p_value(int(table[0, 0]), "two-sided")


def gaboardi(values: np.ndarray, epsilon: float, rows: int, draws: int = 199) -> bool:
    """MCIndep at the level 0.05; a table with a small estimated count is not rejected, as there."""

    def statistic(tables: np.ndarray) -> np.ndarray:
        expected = np.einsum("ti,tj->tij", tables.sum(axis=2), tables.sum(axis=1)) / rows
        return ((tables - expected) ** 2 / np.maximum(expected, 1e-9)).sum(axis=(1, 2))

    clipped = np.maximum(values, 0)
    p, q = clipped.sum(axis=1) / max(1, clipped.sum()), clipped.sum(axis=0) / max(1, clipped.sum())
    expected = rows * np.outer(p, q)
    if (expected <= 5).any():
        return False
    cells = np.outer(p, q).ravel()
    drawn = DRAW.multinomial(rows, cells / cells.sum(), draws).reshape(draws, 2, 2) + noise(epsilon, (draws, 2, 2))
    return 1 + int((statistic(drawn) >= statistic(values[None])[0]).sum()) <= 0.05 * (draws + 1)


def powers(simulations: int) -> Iterator[str]:
    yield "| rows | ε | beside exact margins | noisy margins, rows public | Gaboardi et al. | without noise |"
    yield "|---|---|---|---|---|---|"
    for rows, epsilon, apart in (
        (200, 1.0, 0.10),
        (1000, 0.2, 0.10),
        (1000, 1.0, 0.05),
        (5000, 1.0, 0.02),
        (5000, 0.1, 0.05),
    ):
        found = np.zeros(4)
        cells = [0.25 + apart / 2, 0.25 - apart / 2, 0.25 - apart / 2, 0.25 + apart / 2]
        corner = DiscreteLaplace(Fraction(1) / Fraction(str(epsilon)))
        for _ in range(simulations):
            table = DRAW.multinomial(rows, cells).reshape(2, 2)
            values = table + noise(epsilon, (2, 2))
            given = Corner(rows, int(table[0].sum()), int(table[:, 0].sum()), corner)
            published = int(table[0, 0]) + int(corner.sample(1, BITS)[0])
            found += [
                given.p_value(published, "two-sided") <= 0.05,
                is_rejected(first_cell(values, epsilon, rows), 0.05),
                gaboardi(values, epsilon, rows),
                without_noise(table) <= 0.05,
            ]
        yield f"| {rows} | {epsilon} | " + " | ".join(f"{one:.3f}" for one in found / simulations) + " |"


PARTS: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {"size": (sizes, 100_000), "power": (powers, 2000)}

if __name__ == "__main__":
    part, simulations = PARTS[sys.argv[1]]
    for line in part(int(sys.argv[2]) if len(sys.argv) > 2 else simulations):
        print(line, flush=True)
