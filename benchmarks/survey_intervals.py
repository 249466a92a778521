"""How often intervals for the population hold its number, over draws of sample and noise from five designs.

python benchmarks/survey_intervals.py [DRAWS]        prints the table of docs/accuracy.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.cube.queries import PairSum
from discreet.noise.single.laws import DiscreteLaplace
from discreet.quotes.allocate import quote
from discreet.statistics.recipe import Answers

__all__ = ["DESIGNS", "coverage", "is_too_rare", "people"]

PEOPLE, STRATA, CLUSTER, DRAWN = 40_000, 20, 20, 2_000
LARGEST = 450
"""The upper bound of the values."""


@dataclass(frozen=True, slots=True)
class People:
    """A population: the value, the stratum and the cluster of everybody."""

    values: NDArray[np.int64]
    strata: NDArray[np.int64]
    clusters: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A way to draw: the weight of everybody who is drawn, how samples are drawn, and what is declared about it.

    Args:
        weights: whole numbers.
        draw: the rows of a sample.
        design: what is declared.
        most: the greatest weight.
    """

    weights: NDArray[np.int64]
    draw: Any
    design: dp.PoissonDesign | dp.CertifiedPoissonDesign | dp.ReplacementDesign | dp.DesignEffect
    most: int


def people(generator: np.random.Generator, many: int = PEOPLE) -> People:
    """Skewed values, alike within strata and within clusters."""
    clusters = np.arange(many) // CLUSTER
    strata = clusters * STRATA // (many // CLUSTER)
    level = 3 + 0.6 * strata / STRATA + generator.normal(0, 0.45, clusters.max() + 1)[clusters]
    values = np.clip(np.exp(level + generator.normal(0, 0.5, many)), 0, LARGEST).astype(np.int64)
    return People(values, strata, clusters)


def poisson(population: People, drawn: int, generator: np.random.Generator) -> Sampled:
    """Everybody with one of a few probabilities, by themselves."""
    rate = len(population.values) // drawn
    weights = np.where(population.strata % 2, rate // 2, 2 * rate).astype(np.int64)
    return Sampled(
        weights, lambda: np.flatnonzero(generator.random(len(weights)) * weights < 1), dp.PoissonDesign(), 2 * rate
    )


def by_size(population: People, drawn: int, generator: np.random.Generator) -> Sampled:
    """Probabilities in proportion to a size that goes with the value, at most 1, by themselves."""
    sizes = population.values + 10 + generator.integers(0, 40, len(population.values))
    weights = np.clip(np.round(sizes.sum() / (drawn * sizes)), 1, 152).astype(np.int64)
    return Sampled(weights, lambda: np.flatnonzero(generator.random(len(weights)) * weights < 1), dp.PoissonDesign(), 152)


def simple(population: People, drawn: int, generator: np.random.Generator) -> Sampled:
    """So many of all, without replacement."""
    many = len(population.values)
    weights = np.full(many, many // drawn)
    design = dp.ReplacementDesign(drawn, of=many)
    return Sampled(weights, lambda: generator.permutation(many)[:drawn], design, 2 * (many // drawn))


def stratified(population: People, drawn: int, generator: np.random.Generator) -> Sampled:
    """As many of every stratum, without replacement; declared as draws with replacement from all."""
    own = [np.flatnonzero(population.strata == one) for one in range(STRATA)]
    rate = len(population.values) // drawn

    def draw() -> NDArray[np.int64]:
        return np.concatenate([generator.permutation(one)[: len(one) // rate] for one in own])

    return Sampled(np.full(len(population.values), rate), draw, dp.ReplacementDesign(drawn), 2 * rate)


def clustered(population: People, drawn: int, generator: np.random.Generator) -> Sampled:
    """Whole clusters, without replacement; declared with the design effect of the population, as its publisher would."""
    found = as_if_persons(population, drawn, generator)
    return replace(found, design=dp.DesignEffect(f"{effect(population, drawn):.1f}", drawn))


def as_if_persons(population: People, drawn: int, generator: np.random.Generator) -> Sampled:
    """The same clusters, declared as if persons had been drawn: a mistake."""
    rate, clusters = len(population.values) // drawn, population.clusters.max() + 1

    def draw() -> NDArray[np.int64]:
        return np.flatnonzero(np.isin(population.clusters, generator.permutation(clusters)[: clusters // rate]))

    return Sampled(np.full(len(population.values), rate), draw, dp.ReplacementDesign(drawn), 2 * rate)


def effect(population: People, drawn: int) -> float:
    """The variance of the mean of whole clusters over that of as many persons drawn with replacement."""
    apart = population.values - population.values.mean()
    totals = np.bincount(population.clusters, weights=apart)
    left = 1 - drawn / len(apart)
    return float(left * totals.var(ddof=1) / (CLUSTER * apart.var()))


def certified(population: People, drawn: int, generator: np.random.Generator) -> Sampled:
    """Everybody with one of a few probabilities, by themselves; sums have a proved interval."""
    return replace(poisson(population, drawn, generator), design=dp.CertifiedPoissonDesign())


DESIGNS: Mapping[str, Any] = {
    "each by itself": poisson,
    "by size, each by itself": by_size,
    "2,000 of all": simple,
    "100 of each of 20 strata": stratified,
    "100 clusters of 20, with their effect": clustered,
    "100 clusters of 20, as if persons were drawn": as_if_persons,
}


def coverage(
    sampled: Sampled, population: People, spend: Any, draws: int, generator: np.random.Generator
) -> Iterator[tuple[str, float, float, float]]:
    """For the sum and the mean: how often the interval for the population holds its number, and how often that of the file.

    The third number is the width of the interval for the file over the width of the other.
    """
    schema = dp.Schema(x=dp.Number(0, LARGEST), w=dp.Number(1, sampled.most))
    by = dp.Weight("w", most=sampled.most)
    truths = {"weighted_sum": population.values.sum(), "weighted_mean": population.values.mean()}
    for ask in (dp.weighted_sum, *([dp.weighted_mean] if sampled.design != dp.CertifiedPoissonDesign() else [])):
        asked = ask("x", by, design=sampled.design, nulls="skip")
        quoted = quote(dp.Table(schema, dp.AddRemove()).agg(asked), spend)
        (line,) = quoted.lines
        exact = sums(quoted, population, sampled, draws)
        values = {one.asked: exact[one.asked] + noise(one.law.independent, draws, generator) for one in quoted.measured}
        own, found = line.recipe.estimates(Answers(quoted.noises(line), values, slice(0, draws)))
        truth = truths[line.statistic.kind.word]
        held = ((found.low <= truth) & (found.high >= truth)).mean()
        halves = [float((one.high - one.low).mean()) / 2 for one in (found, own)]
        alone = ((own.low <= truth) & (own.high >= truth)).mean()
        yield line.statistic.kind.word, float(held), float(alone), halves[1] / halves[0]


def is_too_rare(held: float, draws: int, level: float = 0.95) -> bool:
    """True if an interval that holds with this level holds so rarely in one of ten thousand runs only."""
    many = round(held * draws)
    chance = sum(comb(draws, k) * level**k * (1 - level) ** (draws - k) for k in range(many + 1))
    return chance < 1e-4


def sums(quoted: Any, population: People, sampled: Sampled, draws: int) -> dict[PairSum, NDArray[np.int64]]:
    """The exact answers of every query on every sample."""
    codes = {"x": population.values, "w": sampled.weights - 1}
    added = {
        one.asked: np.prod(
            [factor.integers(codes[factor.column], np.int64) for factor in (one.asked.x, one.asked.y)], axis=0
        )
        for one in quoted.measured
    }
    samples = [sampled.draw() for _ in range(draws)]
    return {query: np.array([own[rows].sum() for rows in samples]) for query, own in added.items()}


def noise(law: Any, draws: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Noise of this law from doubles: for a simulation, never for a release."""
    if isinstance(law, DiscreteLaplace):
        p = 1 - np.exp(-1 / float(law.scale))
        return np.asarray(generator.geometric(p, draws) - generator.geometric(p, draws))
    return np.asarray(np.round(generator.normal(0, law.variance() ** 0.5, draws)).astype(np.int64))


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| drawn | spend | sum: held | file only | mean: held | file only | noise in the width of sum, mean |")
    print("|---|---|---|---|---|---|---|")
    for name, make in DESIGNS.items():
        for spend in (dp.ZCDP("0.2"), dp.PureDP(1)):
            generator = np.random.default_rng(20)
            population = people(generator)
            found = list(coverage(make(population, DRAWN, generator), population, spend, draws, generator))
            cells = " | ".join(f"{100 * held:.1f} % | {100 * alone:.0f} %" for _, held, alone, _ in found)
            parts = ", ".join(f"{part:.2f}" for *_, part in found)
            print(f"| {name} | {'ρ = 0.2' if isinstance(spend, dp.ZCDP) else 'ε = 1'} | {cells} | {parts} |", flush=True)


if __name__ == "__main__":
    main()
