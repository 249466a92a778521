"""Exact noise against NumPy's inexact `Generator.normal`, in one process and in turns, and against OpenDP where installed.

Run `python benchmarks/bench_noise.py`. Every line is the median over rounds of a ratio of times measured one after the
other, so that whatever else the machine does weighs on both. The last column is what the project promises.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from discreet.noise.bits import system_bits
from discreet.noise.counts import counts
from discreet.noise.single import scalar

DRAWS = 4_000_000
ROUNDS = 7
BITS = system_bits()
INEXACT = np.random.default_rng()


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def laws() -> list[tuple[str, Callable[[], object], float]]:
    """Name, a task that draws DRAWS numbers, and the promised speed relative to `normal`."""
    tasks: list[tuple[str, Callable[[], object], float]] = []
    for s in ("1e-3", "1", "100", "1e4", "1e6", "1e12"):
        tasks.append((f"rounded Gaussian   σ² = {s}", partial(scalar.rounded_gaussian, s, DRAWS, BITS), 1.5))
        tasks.append((f"discrete Gaussian  σ² = {s}", partial(scalar.discrete_gaussian, s, DRAWS, BITS), 1.5))
    tasks.extend(
        (f"discrete Laplace   t = {t}", partial(scalar.discrete_laplace, t, DRAWS, BITS), 1.0)
        for t in ("1e-3", "1", "20", "1e3", "1e6", "1e9")
    )
    numerators = INEXACT.integers(-(10**6), 10**6, DRAWS)
    denominators = INEXACT.integers(1, 1000, DRAWS)
    for s in ("4", "100", "1e6"):
        own = partial(scalar.discrete_gaussian_around, s, numerators, denominators, BITS)
        common = partial(scalar.discrete_gaussian_around, s, numerators, 64, BITS)
        tasks.append((f"own centres n/d    σ² = {s}", own, 0.5))
        tasks.append((f"own centres n/64   σ² = {s}", common, 0.5))
    return tasks


def compare_laws() -> list[str]:
    """Prints the table; returns the names that miss their promise."""
    tasks = laws()
    for _, task, _ in tasks:
        task()  # the table is built, the memory is known
    ratios: dict[str, list[float]] = {name: [] for name, _, _ in tasks}
    speeds: dict[str, list[float]] = {name: [] for name, _, _ in tasks}
    for _ in range(ROUNDS):
        for name, task, _ in tasks:
            base = seconds(lambda: INEXACT.normal(size=DRAWS))
            spent = seconds(task)
            ratios[name].append(base / spent)
            speeds[name].append(DRAWS / spent / 1e6)
    missed = []
    print(f"{'law':34}{'M draws/s':>10}{'× normal':>10}{'promised':>10}")
    for name, _, promised in tasks:
        ratio = statistics.median(ratios[name])
        print(f"{name:34}{statistics.median(speeds[name]):10.0f}{ratio:10.2f}{promised:10.1f}")
        if ratio < promised:
            missed.append(name)
    return missed


def compare_counts() -> list[str]:
    """Prints the times of counts for cubes; returns the names that miss their promise."""
    cells = INEXACT.multinomial(10**9, np.full(27_000, 1 / 27_000))
    small = INEXACT.poisson(3, 10**7)
    tasks: list[tuple[str, Callable[[], object], float]] = [
        (f"hypergeometric, {share:.1%} of 10^9 in 27,000 cells", partial(subset, cells, share), 0.3)
        for share in (0.001, 0.01, 0.3, 0.5, 0.9)
    ]
    tasks.append(("binomial 1/3, 10^7 cells of about 3", lambda: counts.binomial(small, "1/3", BITS), np.inf))
    tasks.append(("hypergeometric 90 %, 10^7 cells of about 3", partial(subset, small, 0.9), np.inf))
    tasks.append(("multinomial into 10, 10^6 rows of about 3", rows_of(small[: 10**6]), np.inf))
    missed = []
    print(f"\n{'counts':46}{'seconds':>10}{'promised':>10}")
    for name, task, promised in tasks:
        spent = statistics.median(seconds(task) for _ in range(3))
        print(f"{name:46}{spent:10.3f}{promised:10.1f}")
        if spent > promised:
            missed.append(name)
    return missed


def subset(cells: np.ndarray, share: float) -> np.ndarray:
    return counts.multivariate_hypergeometric(cells, int(cells.sum() * share), BITS)


def rows_of(n: np.ndarray) -> Callable[[], object]:
    return lambda: counts.multinomial_rows(n, list(range(1, 11)), BITS)


def compare_set_up() -> list[str]:
    """Prints what a parameter costs that was never seen before; returns the names that miss 10 ms."""
    missed = []
    print(f"\n{'set-up of a parameter':46}{'ms':>10}{'promised':>10}")
    for draw in (scalar.rounded_gaussian, scalar.discrete_gaussian, scalar.discrete_laplace, scalar.geometric):
        worst = max(
            statistics.median(seconds(partial(draw, f"{p}.00{i}", 1, BITS)) for i in range(1, 4))
            for p in ("0", "1", "30", "63", "65", "2303", "10000", "1000000000000")
        )
        print(f"{draw.__name__:46}{worst * 1e3:10.2f}{10:10.1f}")
        if worst > 0.010:
            missed.append(f"set-up of {draw.__name__}")
    return missed


def compare_opendp() -> None:
    """Prints how many times faster than OpenDP's exact samplers the same laws are drawn here."""
    try:
        import opendp.prelude as other  # type: ignore[import-not-found]
    except ImportError:
        print("\nOpenDP is not installed: pip install opendp")
        return
    other.enable_features("contrib")
    vector = other.vector_domain(other.atom_domain(T=int))
    gaussian = other.m.make_gaussian(vector, other.l2_distance(T=float), scale=100.0)
    laplace = other.m.make_laplace(vector, other.l1_distance(T=int), scale=100.0)
    n = 50_000
    print()
    pairs = [(gaussian, scalar.discrete_gaussian, "10000"), (laplace, scalar.discrete_laplace, "100")]
    for theirs, ours, parameter in pairs:
        slow = statistics.median(seconds(lambda: theirs([0] * n)) for _ in range(3)) / n  # noqa: B023
        fast = statistics.median(seconds(lambda: ours(parameter, DRAWS, BITS)) for _ in range(3)) / DRAWS  # noqa: B023
        print(f"OpenDP {ours.__name__}, scale 100: {1e-6 / slow:.3f} M draws/s; here × {slow / fast:,.0f}")


def main() -> int:
    missed = compare_laws() + compare_counts() + compare_set_up()
    compare_opendp()
    print("\nall promises kept" if not missed else "\nmissed: " + ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
