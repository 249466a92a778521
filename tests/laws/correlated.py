"""Noise with two variances: what is offered for a structure, and oracles that share nothing with the code."""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
from scipy.optimize import minimize

from discreet.mechanisms import Lattice, Sensitivity, Vector, candidates
from discreet.mechanisms.correlated_lattice import CORRELATED_LATTICE, CorrelatedLattice
from discreet.privacy import GDP, ZCDP
from discreet.totals.structure import Structure, Table, Tables


def table_of(shape: tuple[int, ...], depth: int) -> Tables:
    cells = prod(shape) * depth
    return Tables(cells, (Table(np.arange(cells).reshape(*shape, depth), None),))


def offered(structure: Structure, a: int, guarantee: GDP | ZCDP) -> CorrelatedLattice:
    answer = Vector(structure.cells, None, Lattice(structure, a))
    (found,) = CORRELATED_LATTICE.candidates(answer, Sensitivity(2 * a, 2 * a * a), guarantee)
    assert isinstance(found, CorrelatedLattice)
    return found


def parts_of(changes: np.ndarray, depth: int) -> np.ndarray:
    """The squared lengths within places and between them."""
    between = (changes.reshape(len(changes), -1, depth).sum(axis=-1) ** 2).sum(axis=-1) / depth
    return np.column_stack([(changes**2).sum(axis=1) - between, between])


def least_by_programme(energies: np.ndarray, weights: np.ndarray) -> float:
    """The least Σ w/t with energies @ t ≤ 1, by a solver that shares nothing with the code."""
    start = np.full(len(weights), 1 / energies.sum(axis=1).max())
    scale = float((weights / start).sum())
    found = minimize(
        lambda t: (weights / t).sum() / scale,
        start,
        jac=lambda t: -weights / t**2 / scale,
        bounds=[(1e-7, 10)] * len(weights),
        constraints=[{"type": "ineq", "fun": lambda t: 1 - energies @ t, "jac": lambda _t: -energies}],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return float((weights / (found.x / max(1, (energies @ found.x).max()))).sum())


def fits(sample: np.ndarray, points: np.ndarray, chances: np.ndarray) -> bool:
    """Pearson's chi-square beside the law, at an error rate of 1e-9."""
    from flint import arb

    expected = chances * len(sample)
    likely = expected >= 10
    place = {point: i for i, point in enumerate(map(tuple, points[likely].tolist()))}
    counts = np.zeros(int(likely.sum()) + 1)
    for point, many in Counter(map(tuple, sample.tolist())).items():
        counts[place.get(point, -1)] += many
    expected = np.append(expected[likely], max(len(sample) - expected[likely].sum(), 1e-9))
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float((arb(statistic) / 2).gamma_upper(arb(len(counts) - 1) / 2, regularized=1)) > 1e-9


def names(structure: Structure, a: int, guarantee: GDP | ZCDP) -> list[str]:
    answer = Vector(structure.cells, None, Lattice(structure, a))
    return [noise.words.name for _, noise in candidates(answer, Sensitivity(2 * a, 2 * a * a), guarantee)]
