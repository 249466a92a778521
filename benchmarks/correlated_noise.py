"""The noise beside exact margins with a free column, next to the best Gaussian: by enumeration of all changes.

The best Gaussian has one variance for each interaction of the axes, found by a convex programme over all changes of a rows.
Standard deviations are relative to it: of the cells of the table, and of the sums of places (the table of the margins).

    python benchmarks/correlated_noise.py
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Lattice, Noise, Sensitivity, Vector, candidates
from discreet.mechanisms.correlated_lattice import CorrelatedLattice
from discreet.mechanisms.shares import best_shares
from discreet.privacy import GDP
from discreet.totals.enumerate import differences
from discreet.totals.structure import Table, Tables, margin_equations

CASES = (
    ((2, 2), 2, 2),
    ((2, 2), 3, 2),
    ((2, 2), 5, 2),
    ((2, 3), 2, 3),
    ((3, 3), 2, 3),
    ((4, 3), 2, 3),
    ((4, 4), 2, 3),
    ((5, 5), 2, 3),
    ((2, 2, 2), 2, 3),
)
"""The places, the cells at each, and a."""


def interactions(shape: tuple[int, ...], depth: int) -> Iterator[tuple[bool, NDArray[np.float64]]]:
    """The projectors on every interaction that the margins leave free, and whether it is one of places alone."""
    axes = (*shape, depth)
    for chosen in (one for size in range(1, len(axes) + 1) for one in combinations(range(len(axes)), size)):
        if len(shape) not in chosen and len(chosen) < 2:
            continue
        matrix = np.ones((1, 1))
        for axis, levels in enumerate(axes):
            mean = np.full((levels, levels), 1 / levels)
            matrix = np.kron(matrix, np.eye(levels) - mean if axis in chosen else mean)
        yield len(shape) not in chosen, matrix


def best(shape: tuple[int, ...], depth: int, a: int) -> tuple[float, float]:
    """The least mean variance of a cell at μ = 1, and the mean variance of a sum of a place under the same noise."""
    changes = differences(margin_equations(table_of(shape, depth).tables[0]), a)
    if changes is None:
        raise SystemExit("too many changes to list")
    found = list(interactions(shape, depth))
    # Multiples of the number of cells are integers: exact fractions for the programme.
    scale = prod(shape) * depth
    energies = np.unique(np.rint([scale * ((changes @ one) * changes).sum(axis=1) for _, one in found]), axis=1).T
    weights = [round(float(np.trace(one))) for _, one in found]
    rows = [tuple(int(value) for value in row) for row in energies.tolist() if any(row)]
    shares = best_shares([tuple(Fraction(value, scale) for value in row) for row in rows], weights)
    traces = [weight * float(share) for weight, share in zip(weights, shares.variances, strict=True)]
    between = sum(trace for (alone, _), trace in zip(found, traces, strict=True) if alone)
    return sum(traces) / scale, between * depth / prod(shape)


def table_of(shape: tuple[int, ...], depth: int) -> Tables:
    cells = prod(shape) * depth
    return Tables(cells, (Table(np.arange(cells).reshape(*shape, depth), None),))


def of_sums(noise: Noise, shape: tuple[int, ...], depth: int) -> float:
    """The variance of a sum of a place, rounding aside."""
    free = prod(shape) - 1 - sum(shape) + len(shape)
    variance = noise.between if isinstance(noise, CorrelatedLattice) else noise.sigma2  # type: ignore[attr-defined]
    return float(variance) * depth * free / prod(shape)


def main() -> None:
    print(
        "| places | cells at each | a | white: table | white: places | chosen: table | chosen: places |\n"
        "|---|---|---|---|---|---|---|"
    )
    for shape, depth, a in CASES:
        structure, (cell, place) = table_of(shape, depth), best(shape, depth, a)
        answer = Vector(structure.cells, None, Lattice(structure, a))
        noises = {
            noise.words.name: (variance, noise)
            for variance, noise in candidates(answer, Sensitivity(2 * a, 2 * a * a), GDP(1))
        }
        parts = []
        for name in ("rounded Gaussian on the lattice", "correlated Gaussian on the lattice"):
            variance, noise = noises[name]
            parts += [sqrt(variance / cell), sqrt(of_sums(noise, shape, depth) / place)]
        print(f"| {' × '.join(map(str, shape))} | {depth} | {a} | " + " | ".join(f"{part:.3f}" for part in parts) + " |")


if __name__ == "__main__":
    main()
