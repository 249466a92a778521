"""How many names are found of texts that nobody listed, beside thresholds with a bound on the names of a person.

    python benchmarks/keys_found.py [REPOSITORY…]

Without an argument made-up persons: 10,000 of them, with a log-normal number of different words (median 22), drawn from
100,000 words of Zipf's law. With Git repositories the authors of their commits, by e-mail address, and the words of two
letters or more in their messages: real names, which are measured and never kept. All at ε = 1 and δ = 10⁻⁶, for neighbours
that differ by a person. The peers choose L of a person's words at random, for each L of a list; Gaussian thresholds have
half of δ for the noise, like ours. Floating-point noise of the right laws.
"""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction
from math import expm1, log, log1p

import numpy as np
from scipy.stats import norm

from discreet.cube.keys import MOST_KEYS, UNIT, key_weight
from discreet.mechanisms.thresholds import threshold_for
from discreet.privacy import GDP

PERSONS, WORDS, EPSILON, DELTA = 10_000, 100_000, 1.0, 1e-6
BOUNDS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
RUNS = 5


def persons(chosen: np.random.Generator) -> list[np.ndarray]:
    many = np.clip(np.round(np.exp(chosen.normal(log(22), 1.3, PERSONS))), 1, 4_000).astype(int)
    ranks = 1 / np.arange(1, WORDS + 1)
    edges = np.cumsum(ranks) / ranks.sum()
    return [np.unique(np.searchsorted(edges, chosen.random(2 * n)))[:n] if n < 4_000 else np.arange(n) for n in many]


def authors(repository: str) -> list[np.ndarray]:
    """For each author of a commit the different words of the messages, by numbers."""
    form = ["--format=%x1e%ae%x1f%B"]
    log_of = subprocess.run(["git", "-C", repository, "log", *form], capture_output=True, check=True)  # noqa: S607
    own: dict[str, set[str]] = {}
    for commit in log_of.stdout.decode("utf-8", "replace").split("\x1e")[1:]:
        author, _, message = commit.partition("\x1f")
        own.setdefault(author, set()).update(re.findall("[a-z_]{2,}", message.lower()))
    numbers = {word: number for number, word in enumerate(sorted(set().union(*own.values())))}
    return [np.array(sorted(map(numbers.__getitem__, one))) for one in own.values() if one]


def cut(words: list[np.ndarray], bound: int, chosen: np.random.Generator) -> np.ndarray:
    kept = [one if len(one) <= bound else chosen.choice(one, bound, replace=False) for one in words]
    return np.bincount(np.concatenate(kept), minlength=WORDS)


def each_delta(delta: float, bound: int) -> float:
    return -expm1(log1p(-delta) / bound)


def laplace(words: list[np.ndarray], bound: int, chosen: np.random.Generator) -> int:
    counts, scale = cut(words, bound, chosen), bound / EPSILON
    least = 1 + scale * log(1 / (2 * each_delta(DELTA, bound)))
    return int(((counts > 0) & (counts + chosen.laplace(0, scale, WORDS) >= least)).sum())


def gaussian(words: list[np.ndarray], bound: int, chosen: np.random.Generator) -> int:
    counts, sigma = cut(words, bound, chosen), bound**0.5 / float(GDP.for_approx(1, Fraction(1, 2 * 10**6)).mu)
    least = 1 + sigma * norm.isf(each_delta(DELTA / 2, bound))
    return int(((counts > 0) & (counts + chosen.normal(0, sigma, WORDS) >= least)).sum())


def weighted(words: list[np.ndarray], parts: tuple[float, ...], chosen: np.random.Generator) -> int:
    mu, found, left = GDP.for_approx(1, Fraction(1, 2 * 10**6)).mu, np.zeros(WORDS, dtype=bool), words
    for part in map(Fraction, map(str, parts)):
        one = threshold_for(UNIT**2 / (mu**2 * part), Fraction(1, 2 * 10**6) * part, 1)
        left = [kept for words_of in left if 0 < len(kept := words_of[~found[words_of]]) <= MOST_KEYS]
        weights = np.concatenate([np.full(len(kept), key_weight(len(kept))) for kept in left])
        totals = np.bincount(np.concatenate(left), weights, minlength=WORDS)
        noisy = totals + chosen.normal(0, float(one.sigma2) ** 0.5, WORDS)
        found |= (totals > 0) & (noisy >= one.least)
    return int(found.sum())


def main() -> None:
    for repository in sys.argv[1:]:
        print(repository)
        measure(authors(repository), np.random.default_rng(1))
    if not sys.argv[1:]:
        chosen = np.random.default_rng(1)
        measure(persons(chosen), chosen)


def measure(words: list[np.ndarray], chosen: np.random.Generator) -> None:
    print(f"{len(words)} persons, median {np.median([len(one) for one in words]):.0f} words")
    for name, law in (("Laplace threshold", laplace), ("Gaussian threshold", gaussian)):
        found = {bound: np.mean([law(words, bound, chosen) for _ in range(RUNS)]) for bound in BOUNDS}
        best = max(found, key=lambda bound: found[bound])
        print(f"{name}: best L = {best}: {found[best]:.0f}; L = 1: {found[1]:.0f}")
    for parts in ((1.0,), (0.2, 0.8)):
        found_by_us = [weighted(words, parts, chosen) for _ in range(RUNS)]
        print(f"weights, {len(parts)} rounds: {np.mean(found_by_us):.0f} (± {np.std(found_by_us) / RUNS**0.5:.0f})")


if __name__ == "__main__":
    main()
