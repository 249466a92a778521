"""Noise that leaves exact totals exact, beside as many independent draws and NumPy's inexact `Generator.normal`.

Run `python benchmarks/bench_lattice.py`. Times are processor time, medians over rounds; a ratio is the median over rounds of
times measured one after the other in this process, so that whatever else the machine does weighs on both. Then 10^4 draws of
each kind of lattice are added up: every total must be exactly 0.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import system_bits
from discreet.noise.lattice.k_norm import k_norm_noise
from discreet.noise.lattice.klein import lattice_gaussian, lattice_of
from discreet.noise.lattice.margin_gaussian import margins_gaussian, sum_zero_gaussian
from discreet.noise.lattice.sum_zero import sum_zero_laplace
from discreet.noise.single.scalar import discrete_gaussian, discrete_laplace
from discreet.totals.enumerate import differences

CELLS = 100_000
DRAWS = 10_000
ROUNDS = 9
BITS = system_bits()
INEXACT = np.random.default_rng()


@dataclass(frozen=True, slots=True)
class Task:
    """A draw, its number of cells, as many independent draws, and the promised seconds (infinite where nothing is)."""

    name: str
    cells: int
    draw: Callable[[], object]
    independent: Callable[[], object]
    bound: float = np.inf


def laplace(name: str, scale: str, sizes: NDArray[np.int64], bound: float) -> Task:
    cells = int(sizes.sum())
    draw = partial(sum_zero_laplace, scale, sizes, BITS)
    return Task(f"K-norm, {name}, scale {scale}", cells, draw, partial(discrete_laplace, scale, cells, BITS), bound)


def gaussian(name: str, sigma2: str, cells: int, draw: Callable[[], object], bound: float = np.inf) -> Task:
    return Task(f"Gaussian, {name}, σ² {sigma2}", cells, draw, partial(discrete_gaussian, sigma2, cells, BITS), bound)


def tables(name: str, sigma2: str, shape: tuple[int, ...], blocks: int, bound: float = np.inf) -> Task:
    return gaussian(name, sigma2, blocks * prod(shape), partial(margins_gaussian, sigma2, shape, BITS, blocks=blocks), bound)


def tasks() -> list[Task]:
    whole, pairs = np.array([CELLS]), np.full(CELLS // 2, 2)
    found = []
    for scale in ("200", "2"):
        found += [laplace("1 x 10^5 cells", scale, whole, 0.100), laplace("50,000 x 2 cells", scale, pairs, 0.100)]
    for sigma2 in ("4", "1e4"):
        for name, sizes in (("1 x 10^5 cells", whole), ("50,000 x 2 cells", pairs)):
            found.append(gaussian(name, sigma2, CELLS, partial(sum_zero_gaussian, sigma2, sizes, BITS), 0.060))
        found.append(tables("300 x 333, both margins", sigma2, (300, 333), 1, 0.250))
        found.append(tables("2^8, all one-way margins", sigma2, (2,) * 8, 1))
        found.append(tables("400 tables of 2^8", sigma2, (2,) * 8, 400))
        found.append(tables("15 tables of 9 x 24, both margins", sigma2, (9, 24), 15))
    return found


def seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def compare() -> list[str]:
    """Prints the table; returns the names that miss their promise."""
    missed = []
    print(f"{'noise':54}{'ms':>8}{'bound':>8}{'× independent':>15}{'× normal':>10}")
    for task in tasks():
        task.draw()  # the tables are built, the memory is known
        task.independent()
        calls = (task.draw, task.independent, partial(INEXACT.normal, size=task.cells))
        rounds = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
        spent = statistics.median(drawn for drawn, _, _ in rounds)
        slower = [statistics.median(one[0] / one[i] for one in rounds) for i in (1, 2)]
        bound = f"{task.bound * 1e3:.0f}" if np.isfinite(task.bound) else "-"
        print(f"{task.name:54}{spent * 1e3:8.1f}{bound:>8}{slower[0]:15.1f}{slower[1]:10.1f}", flush=True)
        if spent > task.bound:
            missed.append(task.name)
    return missed


def totals() -> list[str]:
    """Prints the largest total among 10^4 draws of each kind; returns the kinds where one is not 0."""
    missed = []
    print(f"\n{f'{DRAWS:,} draws':54}{'largest |total|':>16}")
    for name, sums in drawn_sums():
        largest = max(int(np.abs(one).max()) for one in sums)
        print(f"{name:54}{largest:16d}", flush=True)
        if largest:
            missed.append(f"totals of {name}")
    return missed


def drawn_sums() -> list[tuple[str, list[NDArray[Any]]]]:
    """For each kind of lattice the totals of its draws."""
    tens = np.full(DRAWS, 10)
    margins = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0]])
    chain = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5]])
    changes = differences(margins, 3)
    if changes is None:
        raise SystemExit("the differences of tables of 2 x 3 are many")
    return [
        ("K-norm, blocks of 10", [sum_zero_laplace("4", tens, BITS).reshape(DRAWS, 10).sum(axis=1)]),
        ("Gaussian, blocks of 10", [sum_zero_gaussian("8", tens, BITS).reshape(DRAWS, 10).sum(axis=1)]),
        ("Gaussian, 9 x 24, both margins", margin_sums((9, 24), 1)),
        ("Gaussian, 2^8, all one-way margins", margin_sums((2,) * 8, 1)),
        ("Gaussian, 3 x 4 x 5 with a free axis of 2", margin_sums((3, 4, 5), 2)),
        ("Gaussian, n and a weighted sum of 6 cells", [lattice_gaussian(lattice_of(chain), "8", DRAWS, BITS) @ chain.T]),
        ("K-norm of the hull, 2 x 3, both margins", [k_norm_noise(changes, "1", DRAWS, BITS) @ margins.T]),
    ]


def margin_sums(shape: tuple[int, ...], depth: int) -> list[NDArray[Any]]:
    noise = margins_gaussian("6", shape, BITS, depth=depth, blocks=DRAWS)
    axes = range(1, len(shape) + 1)
    return [noise.sum(axis=(*(other for other in axes if other != axis), -1)) for axis in axes]


def main() -> int:
    missed = compare() + totals()
    print("\nall promises kept" if not missed else "\nmissed: " + ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
